"""Graphs as dense matrices, padded to the largest, and an error if they need too much memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from twinwl.memory import check_fits

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.graphs.batch import GraphBatch

__all__ = ["DenseGraphs", "check_dense", "dense_graphs"]

_BYTES_OF_FLOAT = 4


class DenseGraphs(NamedTuple):
    """Some graphs, padded with dummy nodes.

    Attributes
    ----------
    x : tensor of float, shape (n_graphs, n, n_columns)
    adjacency : tensor of float, shape (n_graphs, n, n)
    is_node : tensor of bool, shape (n_graphs, n)
    """

    x: torch.Tensor
    adjacency: torch.Tensor
    is_node: torch.Tensor


def dense_graphs(graphs: GraphInput) -> DenseGraphs:
    """Convert graphs to dense matrices.

    >>> from twinwl.baselines.batching.examples import GraphInput
    >>> edge = torch.tensor([[0, 1], [1, 0]])
    >>> dense_graphs(GraphInput(torch.ones(2, 1), edge, torch.tensor([0, 0]), 1)).adjacency
    tensor([[[0., 1.],
             [1., 0.]]])
    """
    sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
    n = max(1, int(sizes.max())) if len(sizes) else 1
    starts = sizes.cumsum(0) - sizes
    place = torch.arange(len(graphs.x), device=graphs.x.device) - starts[graphs.graph_of_node]
    x = graphs.x.new_zeros(graphs.n_graphs, n, graphs.x.shape[1])
    x[graphs.graph_of_node, place] = graphs.x
    source, target = graphs.edge_index
    adjacency = graphs.x.new_zeros(graphs.n_graphs, n, n)
    adjacency[graphs.graph_of_node[source], place[source], place[target]] = 1
    return DenseGraphs(x, adjacency, torch.arange(n, device=sizes.device) < sizes[:, None])


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
        Number of n × n matrices that a graph needs in one training step.
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
        f"graph {largest} has {int(sizes[largest]):,} nodes: {name} keeps {n_matrices} dense matrices of its "
        f"size{others}, which",
        "leave out the largest graphs, lower batch_size or hidden, or raise max_memory",
    )
