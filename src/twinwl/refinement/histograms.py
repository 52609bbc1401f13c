"""From colours of nodes to one sparse row a graph: the counting half of equations (2) and (3)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from twinwl.refinement.identities import sizes_of_graphs
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int32, Int64, Ints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["colour_histograms"]

# Graphs are taken in blocks of about this many nodes: the sizes of a block stay in the cache, and beside the
# result itself memory does not grow with the batch.
_NODES_A_BLOCK = 1 << 15
_ALL_GRAPHS = 1 << 62
_ROWS_AT_MOST = np.iinfo(np.int32).max


def colour_histograms(
    batch: GraphBatch,
    colours: Int32,
    n_colours: list[int],
    *,
    weigh_by_size: bool,
    n_threads: int | None = None,
) -> tuple[Float64, Ints, Int64]:
    """Sum over each graph's nodes, by round and colour, either ones or rooted sizes.

    Parameters
    ----------
    batch
        The graphs.
    colours : array of int32, shape (n_iter + 1, n_nodes)
        Colours by round; nodes of colour -1 are left out.
    n_colours
        Number of colours of each round; columns are ordered by round, then colour.
    weigh_by_size
        Add up rooted sizes, equation (3), instead of counting nodes.

    Returns
    -------
    data, indices, indptr
        The arrays of a CSR matrix with sorted indices, one row a graph.
    """
    n_rounds = len(colours)
    offsets = np.concatenate([[0], np.cumsum(n_colours)]).astype(np.int64)
    index_dtype: type[np.signedinteger] = np.int32 if offsets[-1] <= _ROWS_AT_MOST else np.int64
    # The number of entries is known only afterwards: reserve the most there can be (pages never touched
    # cost nothing) and give the rest back at the end.
    data = np.empty(n_rounds * batch.n_nodes, np.float64)
    indices = np.empty(n_rounds * batch.n_nodes, index_dtype)
    indptr = np.zeros(len(batch) + 1, np.int64)
    blocks = _blocks(batch.graph_ptr)
    wave = len(balanced_ranges(batch.graph_ptr * n_rounds, n_threads))
    end = 0
    for begin in range(0, len(blocks), wave):
        ranges = blocks[begin : begin + wave]
        parts: dict[int, tuple[Float64, Ints]] = {}

        def count(first: int, last: int) -> None:
            parts[first] = _block(batch, colours, offsets, first, last, weigh_by_size, index_dtype, indptr)  # noqa: B023

        run_ranges(count, ranges)
        for first, last in ranges:
            part_data, part_indices = parts[first]
            data[end : end + len(part_data)] = part_data
            indices[end : end + len(part_data)] = part_indices
            indptr[first + 1 : last + 1] += end
            end += len(part_data)
    data.resize(end, refcheck=False)
    indices.resize(end, refcheck=False)
    return data, indices, indptr


def _blocks(graph_ptr: Int64) -> list[tuple[int, int]]:
    """Cut the graphs into consecutive ranges of about `_NODES_A_BLOCK` nodes."""
    n_graphs = len(graph_ptr) - 1
    marks = np.arange(_NODES_A_BLOCK, graph_ptr[-1], _NODES_A_BLOCK)
    cuts = np.unique(np.searchsorted(graph_ptr, marks))
    bounds = [0, *(cut for cut in cuts.tolist() if 0 < cut < n_graphs), n_graphs]
    return list(pairwise(bounds))


def _block(
    batch: GraphBatch,
    colours: Int32,
    offsets: Int64,
    first: int,
    last: int,
    weigh_by_size: bool,
    index_dtype: type[np.signedinteger],
    indptr: Int64,
) -> tuple[Float64, Ints]:
    low, high = int(batch.graph_ptr[first]), int(batch.graph_ptr[last])
    n_rounds = len(colours)
    sizes = np.empty((n_rounds, high - low if weigh_by_size else 0), np.int32)
    if weigh_by_size:
        sizes_of_graphs(
            first, last, batch.graph_ptr, batch.indptr, batch.indices, n_rounds - 1, 1 << 62, sizes
        )
    data = np.empty(n_rounds * (high - low), np.float64)
    indices = np.empty(n_rounds * (high - low), index_dtype)
    end = _sum_by_colour(first, last, batch.graph_ptr, colours, sizes, offsets, data, indices, indptr)
    return data[:end], indices[:end]


@njit(cache=True, nogil=True)
def _sum_by_colour(
    first: int,
    last: int,
    graph_ptr: Int64,
    colours: Int32,
    sizes: Int32,
    offsets: Int64,
    data: Float64,
    indices: Ints,
    indptr: Int64,
) -> int:
    """Write the rows of graphs ``first..last``; the pointer counts from the first of them.

    A small hash table a graph finds equal colours; it stays in L1, where a counter for every colour of the
    alphabet would not.
    """
    low = graph_ptr[first]
    most = 1
    for graph in range(first, last):
        most = max(most, graph_ptr[graph + 1] - graph_ptr[graph])
    length = 16
    while length < 2 * most:
        length *= 2
    mask = length - 1
    stamps = np.zeros(length, np.int64)
    colour_at = np.empty(length, np.int32)
    entry_at = np.empty(length, np.int64)
    weighted = sizes.shape[1] > 0
    stamp = 0
    end = 0
    for graph in range(first, last):
        for h in range(len(colours)):
            stamp += 1
            begin = end
            for node in range(graph_ptr[graph], graph_ptr[graph + 1]):
                colour = colours[h, node]
                if colour < 0:
                    continue
                weight = sizes[h, node - low] if weighted else 1
                slot = ((colour * 0x9E3779B1) >> 7) & mask
                while stamps[slot] == stamp and colour_at[slot] != colour:
                    slot = (slot + 1) & mask
                if stamps[slot] != stamp:
                    stamps[slot] = stamp
                    colour_at[slot] = colour
                    entry_at[slot] = end
                    indices[end] = colour + offsets[h]
                    data[end] = weight
                    end += 1
                else:
                    data[entry_at[slot]] += weight
            _sort_entries(data, indices, begin, end)
        indptr[graph + 1] = end
    return end


@njit(cache=True, nogil=True)
def _sort_entries(data: Float64, indices: Ints, begin: int, end: int) -> None:
    """Sort one graph's entries of one round by column."""
    if end - begin > 64:  # noqa: PLR2004  (where n log n overtakes insertion)
        order = np.argsort(indices[begin:end], kind="mergesort")
        indices[begin:end] = indices[begin:end][order]
        data[begin:end] = data[begin:end][order]
        return
    for place in range(begin + 1, end):
        column, value = indices[place], data[place]
        gap = place
        while gap > begin and indices[gap - 1] > column:
            indices[gap], data[gap] = indices[gap - 1], data[gap - 1]
            gap -= 1
        indices[gap], data[gap] = column, value
