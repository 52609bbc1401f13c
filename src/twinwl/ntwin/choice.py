"""The choice of a path by measurement: the colour quotient, or states shared within a graph; the hops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import warn_caller
from twinwl.memory import allowed_memory, readable
from twinwl.ntwin.blocks import BYTES_PER_PAIR
from twinwl.ntwin.node_states import NodeSlicer
from twinwl.ntwin.quotient import build_quotient
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.ntwin.settings import RootMark

__all__ = ["colours_per_pair", "hops_that_fit"]

# A sample has as many graphs as a mini-batch, unless these are large.
_SAMPLED_GRAPHS = 32
_SAMPLED_PAIRS = 1 << 20
# The quotient is prepared before training, so it has to save at least half of the rows.
_LEAST_SAVING = 2.0
# A state and its gradient, its rectified units and their signs, and the numbers of what it hears.
_BYTES_PER_UNIT, _BYTES_PER_ROW = 13, 128


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
    edges = part.edge_vocabulary if edge_labels and part.edge_labels is not None else None
    quotient = build_quotient(part, len(hops), hops, root_mark=root_mark, edge_labels=edge_labels)
    without = NodeSlicer(part, hops, root_mark, part.node_vocabulary, edges).take(np.arange(len(part)))
    n_colours = sum(quotient.n_colours[1:])
    if sum(layer.n_rows for layer in without.layers) < _LEAST_SAVING * n_colours:
        return None
    share = min(1.0, n_colours / int(pairs[sample].sum()))
    return share if share * BYTES_PER_PAIR * int(pairs.sum()) <= allowed_memory(max_memory) else None


def hops_that_fit(
    batch: GraphBatch,
    hops: tuple[int, ...],
    hidden: int,
    batch_size: int,
    max_memory: int | None,
    roots: float | None = None,
) -> tuple[int, ...]:
    """Return the hops, smaller where the states of a mini-batch might not fit into memory, with a warning.

    The bound is that of the largest graphs in one mini-batch, if no two pairs shared a state.
    """
    allowed = allowed_memory(max_memory)
    wanted, first_need = hops, 0
    while True:
        pairs = _pairs_of_graphs(batch, hops).astype(np.float64)
        if roots is not None:
            sizes = np.maximum(batch.nodes_per_graph, 1)
            pairs *= np.minimum(1.0, roots / sizes if isinstance(roots, int) else max(roots, 1 / sizes.max()))
        largest = np.sort(pairs)[-batch_size:]
        need = int(largest.sum() * (_BYTES_PER_UNIT * hidden + _BYTES_PER_ROW))
        first_need = first_need or need
        if need <= allowed or not max(hops):
            break
        hops = tuple(min(radius, max(hops) - 1) for radius in hops)
    if hops != wanted:
        warn_caller(
            f"hops: the rooted subgraphs of {batch_size} graphs with hops {wanted} may need "
            f"{readable(first_need)}, more than the {readable(allowed)} allowed, so hops are {hops} (up to "
            f"{readable(need)}); lower batch_size, sample with roots, or raise max_memory to keep them"
        )
    return hops


def _pairs_of_graphs(batch: GraphBatch, hops: tuple[int, ...]) -> Int64:
    """Return the number of (root, node) pairs of each graph, summed over the different radii."""
    radii = sorted(set(hops))
    sizes = rooted_sizes(batch, radii[-1])[radii].sum(axis=0, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs: Int64 = before[batch.graph_ptr[1:]] - before[batch.graph_ptr[:-1]]
    return pairs
