"""From colours of nodes to one sparse row per graph: the counting half of equations (2) and (3)."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from twinwl.arguments import pointer
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.colours import balanced_ranges, run_ranges
from twinwl.refinement.identities import LARGE, rooted_sizes, sizes_of_graphs

# Rooted sizes exist for about this many nodes at a time, so that they are still in the cache when summed.
_NODES_PER_BLOCK = 1 << 14
# Ranking all against all beats sorting up to about this many nodes.
_RANK_UP_TO = 256
_LANES = 32  # a multiple of these nodes leaves the vectorised loop no remainder
_DIGIT_BITS = 8
_WEIGHT_BITS = 32
_WEIGHT_MASK = (1 << _WEIGHT_BITS) - 1
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
    offsets = pointer(n_colours)
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
        for start, stop in pairwise(bounds[first : last + 1].tolist()):
            low, high = int(graph_ptr[start]), int(graph_ptr[stop])
            sizes = sizes_of_large.get(start)
            if sizes is None:
                sizes = np.ones((n_rounds, high - low), np.int32)
                if weigh_by_size:
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
    end = 0
    room = np.empty((3, _RANK_UP_TO), np.int32)
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        row_begin = end
        if stop - begin <= _RANK_UP_TO:
            end = _sum_ranked(begin, stop, nodes, room, end, rows)
        else:
            end = _sum_sorted(begin, stop, nodes, end, rows)
        rows.lengths[graph + 1] = end - row_begin


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
def _sum_sorted(begin: int, stop: int, nodes: _Nodes, end: int, rows: _Rows) -> int:
    """Write the row of the graph of nodes ``begin..stop`` by a radix sort of the nodes by colour."""
    colours, low, sizes = nodes
    offsets, data, columns, _ = rows
    # An item is a colour and, in its lower half, a weight.
    items, sorted_items = np.empty((2, stop - begin), np.int64)
    last_digit = (1 << _DIGIT_BITS) - 1
    for h in range(len(colours)):
        n = 0
        for node in range(begin, stop):
            items[n] = (np.int64(colours[h, node]) << _WEIGHT_BITS) | sizes[h, node - low]
            n += int(colours[h, node] >= 0)
        shift = _WEIGHT_BITS
        while (offsets[h + 1] - offsets[h] - 1) >> (shift - _WEIGHT_BITS) > 0:
            place_of_digit = np.zeros(last_digit + 2, np.int64)
            for item in items[:n]:
                place_of_digit[((item >> shift) & last_digit) + 1] += 1
            place_of_digit = np.cumsum(place_of_digit)
            for item in items[:n]:
                digit = (item >> shift) & last_digit
                sorted_items[place_of_digit[digit]] = item
                place_of_digit[digit] += 1
            items, sorted_items = sorted_items, items
            shift += _DIGIT_BITS
        before = -1
        for item in items[:n]:
            colour = item >> _WEIGHT_BITS
            if colour != before:
                data[end] = 0
                columns[end] = colour + offsets[h]
                end += 1
                before = colour
            data[end - 1] += item & _WEIGHT_MASK
    return end
