"""Rooted subgraphs in blocks of bounded memory, and an error if they need too much memory."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from twinwl.memory import check_fits
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["BYTES_PER_PAIR", "check_memory", "pairs_by_hops", "root_blocks"]

# A block has about this many nodes and arcs of rooted subgraphs, a few megabytes, but at least as many as the
# batch has nodes, because each cut visits all of them.
_BLOCK_ENTRIES = 1 << 17
# Cost of one (root, node) pair if no two share a colour: its key, its places in the hash table, its signature
# and its entry in the pooling matrix.
BYTES_PER_PAIR = 96


def pairs_by_hops(batch: GraphBatch, hops: int) -> Int64:
    """Return the number of (root, node) pairs of the whole batch for 0, 1, …, ``hops`` hops.

    >>> from twinwl import GraphBatch
    >>> pairs_by_hops(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2).tolist()
    [3, 7, 9]
    """
    return rooted_sizes(batch, hops).sum(axis=1, dtype=np.int64)


def check_memory(
    batch: GraphBatch, hops: tuple[int, ...], max_memory: int | None, colours_per_pair: float = 1.0
) -> Int64:
    """Return `pairs_by_hops`, or refuse rooted subgraphs that might not fit into memory.

    Parameters
    ----------
    batch
        The graphs.
    hops
        Radius of each layer.
    max_memory
        Limit in bytes; None means half of the machine's memory.
    colours_per_pair
        The share of pairs with a colour of their own, if it was measured on a sample; 1 is the worst case.
    """
    radius = max(hops, default=0)
    pairs = pairs_by_hops(batch, radius)
    fewer = f"at radius {radius - 1} there are {pairs[radius - 1]:,}; " if radius else ""
    check_fits(
        int(colours_per_pair * BYTES_PER_PAIR * pairs[list(set(hops))].sum()),
        max_memory,
        f"the rooted subgraphs of {len(batch)} graph(s) hold {pairs[radius]:,} (root, node) pairs at radius "
        f"{radius}, which in the worst case",
        f"use fewer hops ({fewer}max_memory raises the limit) or fewer graphs at a time",
    )
    return pairs


def root_blocks(batch: GraphBatch, hops: int, entries: int | None = None) -> list[tuple[int, int]]:
    """Cut the nodes into consecutive ranges whose rooted subgraphs have about the size of a block.

    Parameters
    ----------
    batch, hops
        The graphs and the radius.
    entries
        Nodes plus arcs of a block; None chooses. Ranges end where graphs end, unless a graph is larger than
        a block.
    """
    if not batch.n_nodes:
        return []
    entries = max(_BLOCK_ENTRIES, batch.n_nodes) if entries is None else entries
    sizes = rooted_sizes(batch, hops)[hops].astype(np.int64)
    arcs_before_graph = batch.indptr[batch.graph_ptr]
    graph = np.repeat(np.arange(len(batch)), batch.nodes_per_graph)
    degree = np.zeros(len(batch), np.int64)
    np.maximum.at(degree, graph, np.diff(batch.indptr))
    arcs = np.minimum(sizes * degree[graph], np.diff(arcs_before_graph)[graph])
    before = np.concatenate([[0], np.cumsum(sizes + arcs)])
    bounds = [0]
    while bounds[-1] < batch.n_nodes:
        low = bounds[-1]
        high = int(np.searchsorted(before, before[low] + entries, side="right")) - 1
        at_graph = int(batch.graph_ptr[np.searchsorted(batch.graph_ptr, high, side="right") - 1])
        bounds.append(at_graph if at_graph > low else max(high, low + 1))
    return list(pairwise(bounds))
