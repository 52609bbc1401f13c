"""Identity passing: the number of nodes that each node reaches within h steps.

In a graph of up to 64 nodes identity sets pass along arcs, one machine word per set: O(arcs) per round. In a
larger one, trees are counted in O(nodes) per round, and the core they hang on is handled by searches or by
bitsets, whichever is cheaper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.compilation.kernel import kernel
from twinwl.refinement.core_sizes import sizes_of_core, sizes_of_large_core
from twinwl.refinement.cores import is_core, peeled, spread, whole
from twinwl.refinement.graph_arrays import Graphs, graphs_of
from twinwl.refinement.target_blocks import popcount
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int32
    from twinwl.graphs.batch import GraphBatch

LARGE = 1 << 12
"""A graph of this many nodes is cut into pieces and distributed over threads."""
_WORD_BITS = 64
_USUAL_DEGREE = 4  # atoms rarely have more than four neighbours
_FIRST_UNKNOWN = 2  # the rounds before are known: a node alone, and with its neighbours


def rooted_sizes(batch: GraphBatch, n_iter: int, n_threads: int | None = None) -> Int32:
    """Return ``|t_h(v)|`` for h = 0..n_iter and every node: the size of its rooted subgraph.

    In a directed batch arcs are followed in their direction.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes)

    >>> from twinwl import GraphBatch
    >>> rooted_sizes(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2)
    array([[1, 1, 1],
           [2, 3, 2],
           [3, 3, 3]], dtype=int32)
    """
    n_iter = checked("n_iter", n_iter, integer(0))
    if len(batch) == 1 and batch.n_nodes >= LARGE:
        return sizes_of_large_graph(batch, 0, n_iter, n_threads)
    out = np.empty((n_iter + 1, batch.n_nodes), np.int32)
    arcs_before_graph = batch.indptr[batch.graph_ptr]
    work = (arcs_before_graph + batch.graph_ptr) * max(1, n_iter)

    def fill(first: int, last: int) -> None:
        sizes_of_graphs(batch, first, last, n_iter, 0, out)

    run_ranges(fill, balanced_ranges(work, n_threads), n_threads)
    for graph in np.flatnonzero(batch.nodes_per_graph >= LARGE).tolist():
        sizes = sizes_of_large_graph(batch, graph, n_iter, n_threads)
        out[:, batch.graph_ptr[graph] : batch.graph_ptr[graph + 1]] = sizes
    return out


def sizes_of_graphs(batch: GraphBatch, first: int, last: int, n_iter: int, low: int, out: Int32) -> None:
    """Fill ``out`` for graphs ``first..last`` except large ones; its columns begin with node ``low``."""
    n_nodes = batch.nodes_per_graph[first:last]
    graphs = graphs_of(batch)
    # Kernels are compiled when they are first called, so each kind of graphs has its own.
    if n_nodes.min(initial=LARGE) <= _WORD_BITS:
        _sizes_of_sparse_graphs(first, last, graphs, n_iter, low, out)
        nodes = batch.indptr[batch.graph_ptr[first] : batch.graph_ptr[last] + 1]
        if np.diff(nodes).max(initial=0) > _USUAL_DEGREE:
            _sizes_of_small_graphs(first, last, graphs, n_iter, low, out)
    if ((n_nodes > _WORD_BITS) & (n_nodes < LARGE)).any():
        _sizes_of_middling_graphs(first, last, graphs, n_iter, LARGE, low, out)


def sizes_of_large_graph(batch: GraphBatch, graph: int, n_iter: int, n_threads: int | None) -> Int32:
    """Return the rooted sizes of one graph, in pieces and on threads; shape (n_iter + 1, n)."""
    low, high = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
    out = np.empty((n_iter + 1, high - low), np.int32)
    degrees = np.diff(batch.indptr[low : high + 1])
    if n_iter < _FIRST_UNKNOWN or not degrees.any():
        out[:] = 1
        out[1:] += degrees.astype(np.int32)
        return out
    graphs = graphs_of(batch)
    if is_core(low, high, graphs):
        nothing = np.empty((0, n_iter + 1), np.int32)
        return sizes_of_large_core(whole(low, high, graphs), nothing, n_iter, n_threads)
    core, nodes, order, parent = peeled(low, high, graphs, n_iter, 0, out)
    if len(nodes):
        below = np.ascontiguousarray(out[:, nodes if len(core.anchors) else slice(0)].T)
        out[:, nodes] = sizes_of_large_core(core, below, n_iter, n_threads)
    spread(order, parent, n_iter, 0, out)
    return out


@kernel
def _sizes_of_sparse_graphs(first: int, last: int, graphs: Graphs, n_iter: int, low: int, out: Int32) -> None:
    """Fill the columns of graphs whose identity sets fit a word and whose degrees are at most four.

    Each node gets four neighbours, padded with itself, so there is no branch and no loop over arcs.
    """
    graph_ptr, indptr, indices = graphs.graph_ptr, graphs.indptr, graphs.indices
    here, there = np.empty(_WORD_BITS, np.uint64), np.empty(_WORD_BITS, np.uint64)
    near = np.empty(_WORD_BITS * _USUAL_DEGREE, np.int64)
    last_arc = len(indices) - 1
    for graph in range(first, last):
        begin, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        most = _USUAL_DEGREE + 1 if n > _WORD_BITS else 0
        for node in range(n if n <= _WORD_BITS else 0):
            start = indptr[begin + node]
            degree = indptr[begin + node + 1] - start
            most = max(most, degree)
            for offset in range(_USUAL_DEGREE):
                arc = min(last_arc, start + offset)
                other = np.int64(indices[arc]) - begin if arc >= 0 else 0
                near[node * _USUAL_DEGREE + offset] = other if offset < degree else node
        if most > _USUAL_DEGREE:
            continue
        for node in range(n):
            here[node] = np.uint64(1) << np.uint64(node)
            out[0, begin - low + node] = 1
        for h in range(1, n_iter + 1):
            for node in range(n):
                few = node * _USUAL_DEGREE
                word = here[node] | here[near[few]] | here[near[few + 1]]
                word |= here[near[few + 2]] | here[near[few + 3]]
                there[node] = word
                out[h, begin - low + node] = popcount(word)
            here, there = there, here


@kernel
def _sizes_of_small_graphs(first: int, last: int, graphs: Graphs, n_iter: int, low: int, out: Int32) -> None:
    """Fill the columns of graphs whose identity sets fit a word and that have a node of larger degree."""
    graph_ptr, indptr, indices = graphs.graph_ptr, graphs.indptr, graphs.indices
    here, there = np.empty(_WORD_BITS, np.uint64), np.empty(_WORD_BITS, np.uint64)
    for graph in range(first, last):
        begin, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        growing = False
        for node in range(n if n <= _WORD_BITS else 0):
            here[node] = np.uint64(1) << np.uint64(node)
            growing |= indptr[begin + node + 1] - indptr[begin + node] > _USUAL_DEGREE
        if not growing:
            continue
        for node in range(n):
            out[0, begin - low + node] = 1
        for h in range(1, n_iter + 1):
            if not growing:
                for column in range(begin - low, begin - low + n):
                    out[h, column] = out[h - 1, column]
                continue
            growing = False
            for node in range(n):
                word = here[node]
                for arc in range(indptr[begin + node], indptr[begin + node + 1]):
                    word |= here[np.uint64(indices[arc] - begin)]  # a signed index might count from the end
                there[node] = word
                growing |= bool(word != here[node])
                out[h, begin - low + node] = popcount(word)
            here, there = there, here


@kernel
def _sizes_of_middling_graphs(
    first: int, last: int, graphs: Graphs, n_iter: int, large: int, low: int, out: Int32
) -> None:
    """Fill the columns of graphs that are neither small nor large."""
    graph_ptr, indptr = graphs.graph_ptr, graphs.indptr
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        if not _WORD_BITS < stop - begin < large:
            continue
        column = begin - low
        if n_iter < _FIRST_UNKNOWN or indptr[begin] == indptr[stop]:
            for node in range(stop - begin):
                out[0, column + node] = 1
                for h in range(1, n_iter + 1):
                    out[h, column + node] = indptr[begin + node + 1] - indptr[begin + node] + 1
            continue
        if is_core(begin, stop, graphs):
            sizes_of_core(whole(begin, stop, graphs), n_iter, column, out)
            continue
        core, nodes, order, parent = peeled(begin, stop, graphs, n_iter, column, out)
        sizes = np.empty((n_iter + 1, len(nodes)), np.int32)
        sizes_of_core(core, n_iter, 0, sizes)
        for h in range(n_iter, 0, -1):
            for place in range(len(nodes)):
                there = column + nodes[place]
                out[h, there] = sizes[h, place] + out[1, there] - 1
        spread(order, parent, n_iter, column, out)
