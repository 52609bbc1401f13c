"""Rooted subgraphs in blocks of bounded memory, and an error before they outgrow the machine."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from twinwl.arrays import Int64

__all__ = ["check_memory", "pairs_by_hops", "root_blocks", "without_features"]

# A block holds about this many nodes and arcs of rooted subgraphs, a few megabytes, and never fewer than the
# batch has nodes: each cut goes over all of them once.
_BLOCK_ENTRIES = 1 << 17
# What one (root, node) pair may cost where no two share a colour: its key, its places in the hash table,
# its signature and its entry in the pooling matrix.
_BYTES_A_PAIR = 96
_FALLBACK_MEMORY = 8 << 30


def without_features(batch: GraphBatch) -> GraphBatch:
    """Return the batch without its continuous features, which no colour depends on."""
    if batch.node_features is None:
        return batch
    return GraphBatch.unchecked(
        indptr=batch.indptr,
        indices=batch.indices,
        graph_ptr=batch.graph_ptr,
        node_labels=batch.node_labels,
        node_vocabulary=batch.node_vocabulary,
        edge_labels=batch.edge_labels,
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None,
        directed=batch.directed,
    )


def pairs_by_hops(batch: GraphBatch, hops: int) -> Int64:
    """Return the number of (root, node) pairs of the whole batch for 0, 1, …, ``hops`` hops.

    >>> pairs_by_hops(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2).tolist()
    [3, 7, 9]
    """
    return rooted_sizes(batch, hops).sum(axis=1, dtype=np.int64)


def check_memory(batch: GraphBatch, hops: tuple[int, ...], max_memory: int | None) -> Int64:
    """Return `pairs_by_hops`, or refuse rooted subgraphs that might not fit.

    Parameters
    ----------
    batch
        The graphs.
    hops
        Radius of each layer.
    max_memory
        Bytes; None means half of the machine's memory.
    """
    limit = _half_of_memory() if max_memory is None else max_memory
    pairs = pairs_by_hops(batch, max(hops, default=0))
    needed = int(_BYTES_A_PAIR * pairs[list(set(hops))].sum())
    if needed > limit:
        radius = max(hops)
        fewer = f"at radius {radius - 1} there are {pairs[radius - 1]:,}; " if radius else ""
        raise TwinWLError(
            f"the rooted subgraphs of {len(batch)} graph(s) hold {pairs[radius]:,} (root, node) pairs at "
            f"radius {radius}, which may need {_readable(needed)}, more than the {_readable(limit)} allowed: "
            f"use fewer hops ({fewer}max_memory raises the limit) or fewer graphs at a time"
        )
    return pairs


def root_blocks(batch: GraphBatch, hops: int, entries: int | None = None) -> list[tuple[int, int]]:
    """Cut the nodes into consecutive ranges whose rooted subgraphs are a block's worth of memory.

    Parameters
    ----------
    batch, hops
        The graphs and the radius.
    entries
        Nodes and arcs of a block together; None chooses. Ranges end where graphs end, unless one graph is
        more than that.
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


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # no POSIX here
        return _FALLBACK_MEMORY


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:,.1f} MiB"
