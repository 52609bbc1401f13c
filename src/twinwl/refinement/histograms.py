"""From colours of nodes to one sparse row per graph: the counting half of equations (2) and (3)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.refinement.colours import balanced_ranges, run_ranges
from twinwl.refinement.identities import LARGE, rooted_sizes, sizes_of_graphs

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

# Rooted sizes exist for about this many nodes at a time, so that they are still in the cache when summed.
_NODES_PER_BLOCK = 1 << 14
# Ranking all against all beats sorting up to about this many nodes.
_RANK_UP_TO = 256
_LANES = 32  # a multiple of these nodes leaves the vectorised loop no remainder
_DIGIT_BITS = 8
_LAST_COLOUR = np.iinfo(np.int32).max
_ROWS_AT_MOST = np.iinfo(np.int32).max


class _Nodes(NamedTuple):
    """Colours by round and node, and weights of nodes; columns of ``sizes`` begin with node ``low``."""

    colours: Int32
    low: int
    sizes: Int32


class _Rows(NamedTuple):
    """Where rows of the matrix are written; round h owns the columns from ``offsets[h]`` on."""

    offsets: Int64
    data: Float64
    columns: Ints
    lengths: Int64


def colour_histograms(
    batch: GraphBatch,
    colours: Int32,
    n_colours: list[int],
    *,
    weigh_by_size: bool,
) -> tuple[Float64, Ints, Int64]:
    """Sum over each graph's nodes, by round and colour, either ones or rooted sizes.

    Parameters
    ----------
    batch
        The graphs.
    colours : array of int32, shape (n_iter + 1, n_nodes)
        Colours by round; nodes of colour -1 are ignored.
    n_colours
        Number of colours of each round; columns are ordered by round, then colour.
    weigh_by_size
        Add up rooted sizes, equation (3), instead of counting nodes.

    Returns
    -------
    data, indices, indptr
        The arrays of a CSR matrix with sorted indices, one row per graph.
    """
    n_rounds, graph_ptr = len(colours), batch.graph_ptr
    offsets = np.concatenate([[0], np.cumsum(n_colours)]).astype(np.int64)
    index_dtype: type[np.signedinteger] = np.int32 if offsets[-1] <= _ROWS_AT_MOST else np.int64
    # The number of entries is known only afterwards: reserve the most there can be (pages never touched
    # cost nothing), write each block of graphs to its place there, and close the gaps at the end.
    data = np.empty(n_rounds * batch.n_nodes, np.float64)
    indices = np.empty(n_rounds * batch.n_nodes, index_dtype)
    indptr = np.zeros(len(batch) + 1, np.int64)
    large = np.flatnonzero(batch.nodes_per_graph >= LARGE) if weigh_by_size else np.empty(0, np.int64)
    sizes_of_large = {graph: rooted_sizes(batch[graph], n_rounds - 1) for graph in large.tolist()}
    marks = np.searchsorted(graph_ptr, np.arange(0, batch.n_nodes, _NODES_PER_BLOCK))
    bounds = np.unique(np.concatenate([[0], marks, large, large + 1, [len(batch)]]))

    def write(first: int, last: int) -> None:
        room = np.ones(n_rounds * int(np.diff(graph_ptr[bounds[first : last + 1]]).max()), np.int32)
        for start, stop in pairwise(bounds[first : last + 1].tolist()):
            low, high = int(graph_ptr[start]), int(graph_ptr[stop])
            sizes = room[: n_rounds * (high - low)].reshape(n_rounds, high - low)
            if start in sizes_of_large:
                sizes = sizes_of_large[start]
            elif weigh_by_size:
                sizes_of_graphs(batch, start, stop, low, sizes)
            rows = _Rows(offsets, data[n_rounds * low :], indices[n_rounds * low :], indptr)
            _write_rows(start, stop, graph_ptr, _Nodes(colours, low, sizes), rows)

    run_ranges(write, balanced_ranges(graph_ptr[bounds] * n_rounds))
    np.cumsum(indptr, out=indptr)
    for start, stop in pairwise(bounds.tolist()):
        begin, length = n_rounds * int(graph_ptr[start]), int(indptr[stop] - indptr[start])
        data[indptr[start] : indptr[stop]] = data[begin : begin + length]
        indices[indptr[start] : indptr[stop]] = indices[begin : begin + length]
    data.resize(int(indptr[-1]), refcheck=False)
    indices.resize(int(indptr[-1]), refcheck=False)
    return data, indices, indptr


@kernel
def _write_rows(first: int, last: int, graph_ptr: Int64, nodes: _Nodes, rows: _Rows) -> None:
    """Write the rows of graphs ``first..last``, one behind the other, and their lengths."""
    colours, low, sizes = nodes
    offsets, data, columns, lengths = rows
    end = 0
    room = np.empty((3, _RANK_UP_TO), np.int32)
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        row_begin = end
        if stop - begin <= _RANK_UP_TO:
            end = _sum_ranked(begin, stop, nodes, room, end, rows)
        else:
            for h in range(len(colours)):
                weights = sizes[h, begin - low : stop - low]
                end = _sum_sorted(
                    colours[h, begin:stop], weights, offsets[h], offsets[h + 1], end, data, columns
                )
        lengths[graph + 1] = end - row_begin


@kernel
def _sum_ranked(begin: int, stop: int, nodes: _Nodes, room: Int32, end: int, rows: _Rows) -> int:
    """Write the row of the graph of nodes ``begin..stop``: a node's place is the number of smaller colours.

    Nodes of one colour get the same place, and places are in order. Counting takes n² steps, but without
    branches and vectorised: for small graphs that is faster than hashing or sorting.
    """
    colours, low, sizes = nodes
    offsets, data, columns, _ = rows
    ranked, sums, colour_at = room[0], room[1], room[2]
    n = stop - begin
    n_padded = (n + _LANES - 1) // _LANES * _LANES
    for place in range(n, n_padded):
        ranked[place] = _LAST_COLOUR
    for h in range(len(colours)):
        for place in range(n):
            ranked[place] = colours[h, begin + place]
            sums[place] = colour_at[place] = 0
        for place in range(n):
            colour = ranked[place]
            rank = np.int32(0)
            for other in range(n_padded):
                # Without the outer cast the sum is 64 bits wide, and half as many fit into a vector
                # instruction.
                rank = np.int32(rank + np.int32(ranked[other] < colour))
            sums[rank] += sizes[h, begin - low + place] if colour >= 0 else 0
            colour_at[rank] = colour
        for place in range(n):
            # Places without a node are overwritten by the next entry.
            data[end] = sums[place]
            columns[end] = colour_at[place] + offsets[h]
            end += int(sums[place] > 0)
    return end


@kernel
def _sum_sorted(
    colours: Int32, weights: Int32, first_column: int, end_column: int, end: int, data: Float64, columns: Ints
) -> int:
    """Write one graph's entries of one round, by a radix sort of its nodes by colour."""
    items = np.empty((2, len(colours)), np.int32)
    sorted_items = np.empty((2, len(colours)), np.int32)
    n = 0
    for place in range(len(colours)):
        items[0, n], items[1, n] = colours[place], weights[place]
        n += int(colours[place] >= 0)
    begin = np.empty(1 << _DIGIT_BITS, np.int32)
    last_digit = (1 << _DIGIT_BITS) - 1
    shift = 0
    while (end_column - first_column - 1) >> shift > 0:
        begin[:] = 0
        for place in range(n):
            begin[(items[0, place] >> shift) & last_digit] += 1
        before = 0
        for digit in range(1 << _DIGIT_BITS):
            begin[digit], before = before, before + begin[digit]
        for place in range(n):
            digit = (items[0, place] >> shift) & last_digit
            there = begin[digit]
            sorted_items[0, there], sorted_items[1, there] = items[0, place], items[1, place]
            begin[digit] = there + 1
        items, sorted_items = sorted_items, items
        shift += _DIGIT_BITS
    for place in range(n):
        if place == 0 or items[0, place] != items[0, place - 1]:
            data[end] = 0
            columns[end] = items[0, place] + first_column
            end += 1
        data[end - 1] += items[1, place]
    return end
