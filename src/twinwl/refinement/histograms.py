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
_RANK_UP_TO = 128
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
    if wave == 1:
        for first, last in blocks:
            end += _rows(
                batch, colours, offsets, first, last, weigh_by_size, data[end:], indices[end:], indptr
            )
    else:
        end = _rows_by_waves(batch, colours, offsets, blocks, wave, weigh_by_size, data, indices, indptr)
    np.cumsum(indptr, out=indptr)
    data.resize(end, refcheck=False)
    indices.resize(end, refcheck=False)
    return data, indices, indptr


def _rows_by_waves(
    batch: GraphBatch,
    colours: Int32,
    offsets: Int64,
    blocks: list[tuple[int, int]],
    wave: int,
    weigh_by_size: bool,
    data: Float64,
    indices: Ints,
    indptr: Int64,
) -> int:
    """Let each thread fill a buffer with one block's rows, then put the buffers in order; repeat."""
    most = max(int(batch.graph_ptr[last] - batch.graph_ptr[first]) for first, last in blocks)
    room = [
        (np.empty(len(colours) * most), np.empty(len(colours) * most, indices.dtype)) for _ in range(wave)
    ]
    end = 0
    for begin in range(0, len(blocks), wave):
        ranges = blocks[begin : begin + wave]
        buffer_of = dict(zip(ranges, room, strict=False))
        written: dict[int, int] = {}

        def count(first: int, last: int) -> None:
            buffers = buffer_of[first, last]  # noqa: B023  (called within this turn of the loop)
            written[first] = _rows(batch, colours, offsets, first, last, weigh_by_size, *buffers, indptr)  # noqa: B023

        run_ranges(count, ranges)
        for block in ranges:
            length = written[block[0]]
            part_data, part_indices = buffer_of[block]
            data[end : end + length] = part_data[:length]
            indices[end : end + length] = part_indices[:length]
            end += length
    return end


def _blocks(graph_ptr: Int64) -> list[tuple[int, int]]:
    """Cut the graphs into consecutive ranges of about `_NODES_A_BLOCK` nodes."""
    n_graphs = len(graph_ptr) - 1
    marks = np.arange(_NODES_A_BLOCK, graph_ptr[-1], _NODES_A_BLOCK)
    cuts = np.unique(np.searchsorted(graph_ptr, marks))
    bounds = [0, *(cut for cut in cuts.tolist() if 0 < cut < n_graphs), n_graphs]
    return list(pairwise(bounds))


def _rows(
    batch: GraphBatch,
    colours: Int32,
    offsets: Int64,
    first: int,
    last: int,
    weigh_by_size: bool,
    data: Float64,
    indices: Ints,
    indptr: Int64,
) -> int:
    """Write the rows of graphs ``first..last`` and their lengths; return the number of entries."""
    n_rounds = len(colours)
    n_nodes = int(batch.graph_ptr[last] - batch.graph_ptr[first])
    sizes = np.empty((n_rounds, n_nodes if weigh_by_size else 0), np.int32)
    if weigh_by_size:
        graphs = batch.graph_ptr, batch.indptr, batch.indices
        sizes_of_graphs(first, last, *graphs, n_rounds - 1, _ALL_GRAPHS, sizes)
    return _sum_by_colour(first, last, batch.graph_ptr, colours, sizes, offsets, data, indices, indptr)


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
    row_lengths: Int64,
) -> int:
    """Write the rows of graphs ``first..last`` one after the other, and the length of each.

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
    distinct = np.empty(most, np.int32)
    sums = np.empty(most, np.float64)
    weighted = sizes.shape[1] > 0
    stamp = 0
    end = 0
    for graph in range(first, last):
        row_begin = end
        for h in range(len(colours)):
            stamp += 1
            n_distinct = 0
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
                    entry_at[slot] = n_distinct
                    distinct[n_distinct] = colour
                    sums[n_distinct] = weight
                    n_distinct += 1
                else:
                    sums[entry_at[slot]] += weight
            _write_sorted(distinct, sums, n_distinct, offsets[h], data, indices, end)
            end += n_distinct
        row_lengths[graph + 1] = end - row_begin
    return end


@njit(cache=True, nogil=True)
def _write_sorted(
    distinct: Int32, sums: Float64, n_distinct: int, offset: int, data: Float64, indices: Ints, begin: int
) -> None:
    """Write one graph's entries of one round, sorted by column."""
    if n_distinct > _RANK_UP_TO:
        order = np.argsort(distinct[:n_distinct])
        for place in range(n_distinct):
            indices[begin + place] = distinct[order[place]] + offset
            data[begin + place] = sums[order[place]]
        return
    # Counting the smaller ones takes n² steps without a branch, many in one instruction: for the few
    # colours of a usual graph faster than any sort.
    for place in range(n_distinct):
        colour = distinct[place]
        rank = np.int32(0)
        for other in range(n_distinct):
            rank += np.int32(distinct[other] < colour)
        indices[begin + rank] = colour + offset
        data[begin + rank] = sums[place]
