"""Pooling matrices: how often each colour occurs in the rooted subgraphs of each graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from twinwl.compilation.kernel import kernel
from twinwl.graphs.selection import pointer

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64

__all__ = ["Pool", "PoolBuilder"]


class Pool(NamedTuple):
    """One ``P_k`` in CSR form, one row per graph.

    ``colours`` and ``counts`` are aligned; within a graph colours are in order of first occurrence.
    """

    indptr: Int64
    colours: Int32
    counts: Int32


class PoolBuilder:
    """Count colours by graph, one block of rooted subgraphs after another.

    Parameters
    ----------
    graph_ptr : array of int64, shape (n_graphs + 1,)
        Node range of each graph.
    """

    def __init__(self, graph_ptr: Int64) -> None:
        self._graph_ptr = graph_ptr
        self._sizes = np.zeros(len(graph_ptr) - 1, np.int64)
        self._colours: list[Int32] = []
        self._counts: list[Int32] = []
        self._split = False

    def add(self, low: int, subgraph_ptr: Int64, colour_of_pair: Int32) -> None:
        """Count the subgraphs of the roots ``low, low + 1, …``; blocks come in order."""
        high = low + len(subgraph_ptr) - 1
        first = int(np.searchsorted(self._graph_ptr, low, side="right")) - 1
        last = int(np.searchsorted(self._graph_ptr, high, side="left"))
        bounds = np.clip(self._graph_ptr[first : last + 1], low, high) - low
        colours, counts, sizes = _count(subgraph_ptr[bounds], colour_of_pair)
        # A graph larger than a block comes in parts; the parts are joined at the end.
        self._split |= bool(self._sizes[first] > 0)
        self._sizes[first:last] += sizes
        self._colours.append(colours)
        self._counts.append(counts)

    def finished(self) -> Pool:
        """Return the matrix."""
        indptr = pointer(self._sizes)
        colours = np.concatenate([*self._colours, np.empty(0, np.int32)])
        counts = np.concatenate([*self._counts, np.empty(0, np.int32)])
        if self._split:
            matrix = csr_array((counts, colours, indptr), shape=(len(self._sizes), int(colours.max()) + 1))
            matrix.sum_duplicates()
            indptr, colours, counts = matrix.indptr.astype(np.int64), matrix.indices, matrix.data
        return Pool(indptr, colours.astype(np.int32, copy=False), counts.astype(np.int32, copy=False))


@kernel
def _count(pair_ptr: Int64, colour_of_pair: Int32) -> tuple[Int32, Int32, Int64]:
    """Count the colours within each range of pairs; one small hash table per graph stays in the cache."""
    n_graphs = len(pair_ptr) - 1
    most = 1
    for graph in range(n_graphs):
        most = max(most, pair_ptr[graph + 1] - pair_ptr[graph])
    length = 16
    while length < 2 * most:
        length *= 2
    mask = length - 1
    stamps = np.full(length, -1, np.int64)
    entry_at = np.empty(length, np.int64)
    colours = np.empty(len(colour_of_pair), np.int32)
    counts = np.empty(len(colour_of_pair), np.int32)
    sizes = np.zeros(n_graphs, np.int64)
    end = 0
    for graph in range(n_graphs):
        begin = end
        for pair in range(pair_ptr[graph], pair_ptr[graph + 1]):
            colour = colour_of_pair[pair]
            slot = ((np.int64(colour) * 0x9E3779B1) >> 7) & mask
            while stamps[slot] == graph and colours[entry_at[slot]] != colour:
                slot = (slot + 1) & mask
            if stamps[slot] == graph:
                counts[entry_at[slot]] += 1
            else:
                stamps[slot] = graph
                entry_at[slot] = end
                colours[end] = colour
                counts[end] = 1
                end += 1
        sizes[graph] = end - begin
    return colours[:end].copy(), counts[:end].copy(), sizes
