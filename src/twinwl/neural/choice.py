"""The choice of a path by measurement: the colour quotient, or states shared within a graph; the hops."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Int64
from twinwl.errors import warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.memory import allowed_memory, readable
from twinwl.neural.node_states import NodeSlicer
from twinwl.neural.quotient import BYTES_PER_PAIR, RootMark, build_quotient
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from twinwl.neural.distinct_subgraphs import DistinctSubgraphs

# A sample has as many graphs as a mini-batch, unless these are large.
_SAMPLED_GRAPHS = 32
_SAMPLED_PAIRS = 1 << 20
# The largest graph with at most so many pairs shows how many of them share a state: some seconds.
_MEASURED_PAIRS = 1 << 24
# The quotient is prepared before training, so it has to save at least half of the rows.
_LEAST_SAVING = 2.0
# A state and its gradient, its rectified units and their signs, and the numbers of what it hears.
_BYTES_PER_UNIT, _BYTES_PER_ROW = 13, 128
# A network of torch's own operations keeps about so many tensors per step, and needs some more at a time.
_TENSORS_PER_STEP, _TENSORS_AT_ONCE = 7, 4


def colours_per_pair(
    batch: GraphBatch,
    hops: tuple[int, ...],
    root_mark: RootMark,
    max_memory: int | None,
    *,
    edge_labels: bool,
) -> float | None:
    """Measure on a sample of the graphs how many (root, node) pairs have a colour of their own.

    Returns
    -------
    float or None
        None if the quotient does not pay: if it has more than half as many rows in a mini-batch as there are
        without it, or, with the share of the sample, would not fit into memory.
    """
    pairs = _pairs_of_graphs(batch, hops)
    chosen = np.unique(np.linspace(0, len(batch) - 1, min(len(batch), _SAMPLED_GRAPHS)).astype(np.int64))
    before = np.cumsum(pairs[chosen])
    sample = chosen[: max(1, int(np.searchsorted(before, _SAMPLED_PAIRS, side="right")))]
    if not pairs[sample].sum():
        return 1.0
    part = batch[sample]
    quotient = build_quotient(part, len(hops), hops, root_mark=root_mark, edge_labels=edge_labels)
    n_colours = sum(quotient.n_colours[1:])
    if _rows_without(part, hops, root_mark, edge_labels=edge_labels) < _LEAST_SAVING * n_colours:
        return None
    share = min(1.0, n_colours / int(pairs[sample].sum()))
    return share if share * BYTES_PER_PAIR * int(pairs.sum()) <= allowed_memory(max_memory) else None


class Step(NamedTuple):
    """A training step: its number of graphs, bytes per row, the memory allowed, and the roots drawn."""

    batch_size: int
    per_row: int
    max_memory: int | None
    roots: float | None = None


def hops_that_fit(
    batch: GraphBatch, hops: tuple[int, ...], root_mark: RootMark, step: Step, *, edge_labels: bool
) -> tuple[int, ...]:
    """Return the hops, smaller where the states of a mini-batch might not fit into memory, with a warning.

    It is that of the largest graphs, with as many states per pair as one of them has.
    """
    allowed = allowed_memory(step.max_memory)
    wanted, first_need = hops, 0
    while True:
        pairs = _pairs_of_graphs(batch, hops).astype(np.float64)
        rows = pairs * _states_per_pair(batch, hops, root_mark, pairs, edge_labels=edge_labels)
        if step.roots is not None:
            sizes = np.maximum(batch.nodes_per_graph, 1)
            share = step.roots / sizes if isinstance(step.roots, int) else max(step.roots, 1 / sizes.max())
            rows = np.minimum(rows, len(hops) * pairs * np.minimum(1.0, share))
        need = int(np.sort(rows)[-step.batch_size :].sum() * step.per_row)
        first_need = first_need or need
        if need <= allowed or not max(hops):
            break
        hops = smaller(hops)
    if hops != wanted:
        warn_caller(
            f"hops: the rooted subgraphs of {step.batch_size} graphs with hops {wanted} may need "
            f"{readable(first_need)}, more than the {readable(allowed)} allowed, so hops are {hops} (up to "
            f"{readable(need)}); lower batch_size, sample with roots, or raise max_memory to keep them"
        )
    return hops


def smaller(hops: tuple[int, ...]) -> tuple[int, ...]:
    """Return the hops without the largest radius.

    >>> smaller((1, 2, 3))
    (1, 2, 2)
    """
    return tuple(min(radius, max(hops) - 1) for radius in hops)


def bytes_per_row(hidden: int) -> int:
    """Return the memory of a state of a GIN in a training step."""
    return _BYTES_PER_UNIT * hidden + _BYTES_PER_ROW


def bytes_per_entry(hidden: int, depth: int) -> int:
    """Return the memory of a node, message or pair of nodes in a step of a network of torch's operations."""
    return 4 * hidden * (_TENSORS_PER_STEP * depth + _TENSORS_AT_ONCE)


def too_large_subgraph(
    batch: GraphBatch, radius: int, per_entry: int, max_memory: int | None, *, pairs: bool
) -> str | None:
    """Say which rooted subgraph would not fit into memory even alone; None if each of them does.

    ``pairs`` says whether there is a state for each pair of nodes. No subgraph is cut.
    """
    sizes = rooted_sizes(batch, radius)[radius]
    size = int(sizes.max(initial=0))
    need, allowed = per_entry * (size * size if pairs else size), allowed_memory(max_memory)
    if need <= allowed:
        return None
    graph = int(np.searchsorted(batch.graph_ptr, sizes.argmax(), side="right")) - 1
    return (
        f"the rooted subgraph of radius {radius} with {size:,} nodes in graph {graph} needs about "
        f"{readable(need)}, more than the {readable(allowed)} allowed"
    )


def too_large_step(
    distinct: list[DistinctSubgraphs], per_entry: list[int], batch_size: int, max_memory: int | None
) -> str | None:
    """Say how much memory the mini-batch of the largest graphs would need; None if it fits.

    ``per_entry`` has the bytes per entry of the subgraphs of each radius.
    """
    need = sum(part.entries_of_graphs() * n_bytes for part, n_bytes in zip(distinct, per_entry, strict=True))
    total, allowed = int(np.sort(need)[-batch_size:].sum()), allowed_memory(max_memory)
    if total <= allowed:
        return None
    n_graphs = min(batch_size, distinct[0].n_graphs)
    return (
        f"the distinct rooted subgraphs of {n_graphs} graphs may need {readable(total)}, more than the "
        f"{readable(allowed)} allowed"
    )


def _states_per_pair(
    batch: GraphBatch,
    hops: tuple[int, ...],
    root_mark: RootMark,
    pairs: np.ndarray,
    *,
    edge_labels: bool,
) -> float:
    """Measure on a large graph how many states there are per (root, node) pair, over all layers."""
    graph = int(np.where(pairs <= _MEASURED_PAIRS, pairs, -1).argmax())
    if not 0 < pairs[graph] <= _MEASURED_PAIRS:
        return float(len(hops))
    part = batch[np.array([graph])]
    return float(_rows_without(part, hops, root_mark, edge_labels=edge_labels) / pairs[graph])


def _rows_without(batch: GraphBatch, hops: tuple[int, ...], root_mark: RootMark, *, edge_labels: bool) -> int:
    """Return the number of rows of some graphs without the quotient."""
    edges = batch.edge_vocabulary if edge_labels and batch.edge_labels is not None else None
    slicer = NodeSlicer(batch, hops, root_mark, batch.node_vocabulary, edges)
    return sum(layer.n_rows for layer in slicer.take(np.arange(len(batch))).layers)


def _pairs_of_graphs(batch: GraphBatch, hops: tuple[int, ...]) -> Int64:
    """Return the number of (root, node) pairs of each graph, summed over the different radii."""
    radii = sorted(set(hops))
    sizes = rooted_sizes(batch, radii[-1])[radii].sum(axis=0, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs: Int64 = before[batch.graph_ptr[1:]] - before[batch.graph_ptr[:-1]]
    return pairs
