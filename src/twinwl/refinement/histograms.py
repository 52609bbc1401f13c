"""From colours of nodes to one sparse row per graph: the counting half of equations (2) and (3).

`colour_histograms` is the only public function. Its kernels write the entries of one graph after another:
`_sum_ranked` those of a small graph, `_sum_sorted` those of a larger one.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from twinwl.arguments import pointer
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.colours import balanced_ranges, run_ranges
from twinwl.refinement.identities import LARGE, rooted_sizes, sizes_of_graphs

# Rooted sizes are computed for about this many nodes at a time, so that they are still in the cache when they
# are added up.
_NODES_PER_BLOCK = 1 << 14
# Up to about this many nodes, comparing all colours with all others is faster than sorting them.
_RANK_UP_TO = 256
_LANES = 32  # loops over a multiple of this many nodes are vectorised without a remainder
_DIGIT_BITS = 8
_WEIGHT_BITS = 32
_WEIGHT_MASK = (1 << _WEIGHT_BITS) - 1
_INT32_MAX = np.iinfo(np.int32).max


class _Nodes(NamedTuple):
    """Colours and weights of nodes.

    Attributes
    ----------
    colours : array of int32, shape (n_rounds, n_nodes)
        -1 for nodes to ignore.
    low : int
        First node of the block of graphs that is being written.
    sizes : array of int32, shape (n_rounds, n_nodes of the block)
        Weights of the nodes from ``low`` on.
    """

    colours: Int32
    low: int
    sizes: Int32


class _Rows(NamedTuple):
    """Where the rows of the matrix are written.

    Attributes
    ----------
    offsets : array of int64, shape (n_rounds + 1,)
        The columns of round h are ``offsets[h]..offsets[h + 1]``.
    data, columns : arrays, shape (at least n_rounds * n_nodes of the block,)
        Values and columns of the entries of the block.
    lengths : array of int64, shape (n_graphs + 1,)
        Number of entries of each graph of the batch, one place later; the sums become the row pointer.
    """

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
    index_dtype: type[np.signedinteger] = np.int32 if offsets[-1] <= _INT32_MAX else np.int64
    # The number of entries is known only afterwards. So reserve the most there can be (pages that are never
    # touched cost nothing), write each block of graphs to its place, and close the gaps at the end.
    data = np.empty(n_rounds * batch.n_nodes, np.float64)
    indices = np.empty(n_rounds * batch.n_nodes, index_dtype)
    indptr = np.zeros(len(batch) + 1, np.int64)
    large = np.flatnonzero(batch.nodes_per_graph >= LARGE) if weigh_by_size else np.empty(0, np.int64)
    sizes_of_large = {graph: rooted_sizes(batch[graph], n_rounds - 1) for graph in large.tolist()}
    # Blocks: about _NODES_PER_BLOCK nodes each, and every large graph alone, because its sizes were computed
    # on all threads above.
    block_starts = np.searchsorted(graph_ptr, np.arange(0, batch.n_nodes, _NODES_PER_BLOCK))
    bounds = np.unique(np.concatenate([[0], block_starts, large, large + 1, [len(batch)]]))

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
    # Entries only move towards the front, and from the first block to the last, so none is overwritten.
    for start, stop in pairwise(bounds.tolist()):
        begin, length = n_rounds * int(graph_ptr[start]), int(indptr[stop] - indptr[start])
        data[indptr[start] : indptr[stop]] = data[begin : begin + length]
        indices[indptr[start] : indptr[stop]] = indices[begin : begin + length]
    # In place, so that the unused part is given back.
    data.resize(int(indptr[-1]), refcheck=False)
    indices.resize(int(indptr[-1]), refcheck=False)
    return data, indices, indptr


@kernel
def _write_rows(first: int, last: int, graph_ptr: Int64, nodes: _Nodes, rows: _Rows) -> None:
    """Write the rows of graphs ``first..last``, one behind the other, and their lengths."""
    # Not a literal 0, which is of another type: numba would compile both functions below a second time.
    end = np.int64(0)
    scratch = np.empty((3, _RANK_UP_TO), np.int32)
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        row_begin = end
        if stop - begin <= _RANK_UP_TO:
            end = _sum_ranked(begin, stop, nodes, scratch, end, rows)
        else:
            end = _sum_sorted(begin, stop, nodes, end, rows)
        rows.lengths[graph + 1] = end - row_begin


@kernel
def _sum_ranked(begin: int, stop: int, nodes: _Nodes, scratch: Int32, end: int, rows: _Rows) -> int:
    """Write the row of the graph of nodes ``begin..stop``, from entry ``end`` on; return the new end.

    A colour is added up at its *rank*, the number of nodes with a smaller colour. Nodes of one colour have
    the same rank, and ranks are in the order of colours. Counting takes n² steps, but vectorised and without
    branches: for small graphs that is faster than hashing or sorting.

    ``scratch`` has the shape (3, 256): the colours of all nodes, and sum and colour of each rank.
    """
    colours, low, sizes = nodes
    offsets, data, columns, _ = rows
    colour_of_node, sums, colour_at = scratch[0], scratch[1], scratch[2]
    n = stop - begin
    n_padded = (n + _LANES - 1) // _LANES * _LANES
    for place in range(n, n_padded):
        colour_of_node[place] = _INT32_MAX  # not below any colour, so never counted
    for h in range(len(colours)):
        for place in range(n):
            colour_of_node[place] = colours[h, begin + place]
            sums[place] = colour_at[place] = 0
        for place in range(n):
            colour = colour_of_node[place]
            rank = np.int32(0)
            for other in range(n_padded):
                # Without the outer cast the sum is 64 bits wide, and half as many fit into a vector
                # instruction.
                rank = np.int32(rank + np.int32(colour_of_node[other] < colour))
            sums[rank] += sizes[h, begin - low + place] if colour >= 0 else 0
            colour_at[rank] = colour
        for place in range(n):
            # A rank without a node has the sum 0: it is overwritten by the next entry, without a branch.
            data[end] = sums[place]
            columns[end] = colour_at[place] + offsets[h]
            end += int(sums[place] > 0)
    return end


@kernel
def _sum_sorted(begin: int, stop: int, nodes: _Nodes, end: int, rows: _Rows) -> int:
    """Write the row of the graph of nodes ``begin..stop`` by a radix sort of the nodes by colour.

    Entries are written from place ``end`` on; returns the new end.
    """
    colours, low, sizes = nodes
    offsets, data, columns, _ = rows
    # An item of 64 bits is a colour and, in its lower half, the weight of the node.
    items, sorted_items = np.empty(stop - begin, np.int64), np.empty(stop - begin, np.int64)
    last_digit = (1 << _DIGIT_BITS) - 1
    for h in range(len(colours)):
        n = 0
        for node in range(begin, stop):
            items[n] = (np.int64(colours[h, node]) << _WEIGHT_BITS) | sizes[h, node - low]
            n += int(colours[h, node] >= 0)  # an item of colour -1 is overwritten by the next
        shift = _WEIGHT_BITS
        # One pass per digit that the largest colour of the round has.
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
