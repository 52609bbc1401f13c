"""A check, before training, that dense matrices of the graphs fit into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.memory import check_fits

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

__all__ = ["check_dense"]

_BYTES_OF_FLOAT = 4


def check_dense(
    batch: GraphBatch, batch_size: int, n_matrices: int, name: str, max_memory: int | None
) -> None:
    """Refuse graphs that are too large for dense matrices.

    Parameters
    ----------
    batch
        The graphs.
    batch_size
        Number of graphs in a training batch.
    n_matrices
        Number of n × n matrices that a graph needs at most in one training step.
    name
        Name of the method, for the message.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    """
    if not len(batch):
        return
    sizes = batch.nodes_per_graph
    largest = int(sizes.argmax())
    count = min(batch_size, len(batch))
    needed = int(sizes[largest]) ** 2 * count * n_matrices * _BYTES_OF_FLOAT
    others = "" if count == 1 else f" in a batch of {count}"
    check_fits(
        needed,
        max_memory,
        f"graph {largest} has {int(sizes[largest]):,} nodes: {name} keeps up to {n_matrices} dense matrices "
        f"of its size{others}, which",
        "leave out the largest graphs, lower batch_size or hidden, or raise max_memory",
    )
