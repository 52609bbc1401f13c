"""Identity passing: how many nodes each node reaches within h steps.

A graph of up to 64 nodes passes identity sets along its arcs, one machine word per set: O(arcs) a round. In a
larger one, trees are counted in O(nodes) a round, and the core they hang on is searched or passes bitsets,
whichever is cheaper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.compilation.kernel import kernel
from twinwl.refinement.core_sizes import sizes_of_core, sizes_of_large_core
from twinwl.refinement.cores import core_of, spread
from twinwl.refinement.target_blocks import popcount
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, UInt64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["LARGE", "rooted_sizes", "sizes_of_graphs"]

LARGE = 1 << 12
"""A graph of this many nodes is cut into pieces and spread over threads by itself."""
_WORD_BITS = 64
_USUAL_DEGREE = 4  # atoms hear from no more than four others
_FIRST_UNKNOWN = 2  # the rounds before are known: a node alone, and with its neighbours


def rooted_sizes(batch: GraphBatch, n_iter: int, n_threads: int | None = None) -> Int32:
    """Return ``|t_h(v)|`` for h = 0..n_iter and every node: the size of its rooted subgraph.

    Arcs are followed in their direction where the batch is directed.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes)

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> rooted_sizes(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2)
    array([[1, 1, 1],
           [2, 3, 2],
           [3, 3, 3]], dtype=int32)
    """
    n_iter = checked("n_iter", n_iter, integer(0))
    out = np.empty((n_iter + 1, batch.n_nodes), np.int32)
    arcs_before_graph = batch.indptr[batch.graph_ptr]
    work = (arcs_before_graph + batch.graph_ptr) * max(1, n_iter)

    def fill(first: int, last: int) -> None:
        sizes_of_graphs(batch, first, last, n_iter, 0, out)

    run_ranges(fill, balanced_ranges(work, n_threads), n_threads)
    for graph in np.flatnonzero(batch.nodes_per_graph >= LARGE).tolist():
        _sizes_of_large_graph(batch, graph, n_iter, out, n_threads)
    return out


def sizes_of_graphs(batch: GraphBatch, first: int, last: int, n_iter: int, low: int, out: Int32) -> None:
    """Fill ``out`` for graphs ``first..last``, large ones left out; its columns begin with node ``low``."""
    n_nodes = batch.nodes_per_graph[first:last]
    graphs = first, last, batch.graph_ptr, batch.indptr, batch.indices
    # Kernels are compiled when they are first called, so each kind of graphs has its own.
    if n_nodes.min(initial=LARGE) <= _WORD_BITS:
        _sizes_of_small_graphs(*graphs, n_iter, low, out)
    if ((n_nodes > _WORD_BITS) & (n_nodes < LARGE)).any():
        _sizes_of_middling_graphs(*graphs, batch.directed, n_iter, LARGE, low, out)


def _sizes_of_large_graph(
    batch: GraphBatch, graph: int, n_iter: int, out: Int32, n_threads: int | None
) -> None:
    low, high = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
    degrees = np.diff(batch.indptr[low : high + 1])
    if n_iter < _FIRST_UNKNOWN or not degrees.any():
        out[:, low:high] = 1
        out[1:, low:high] += degrees.astype(np.int32)
        return
    order, parent, nodes, base, core_ptr, core_indices, anchors, depths = core_of(
        low, high, batch.indptr, batch.indices, batch.directed, n_iter, low, out
    )
    if len(nodes):
        core = base, core_ptr, core_indices, anchors, depths, degrees[nodes], batch.directed
        below = np.ascontiguousarray(out[:, low + nodes if len(anchors) else slice(0)].T)
        out[:, low + nodes] = sizes_of_large_core(*core, below, n_iter, n_threads)
    spread(order, parent, n_iter, low, out)


@kernel
def _sizes_of_small_graphs(
    first: int,
    last: int,
    graph_ptr: Int64,
    indptr: Int64,
    indices: Int32,
    n_iter: int,
    low: int,
    out: Int32,
) -> None:
    """Fill the columns of graphs whose identity sets fit a word."""
    here = np.empty(_WORD_BITS, np.uint64)
    there = np.empty(_WORD_BITS, np.uint64)
    near = np.empty(_WORD_BITS * _USUAL_DEGREE, np.int64)
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        if stop - begin > _WORD_BITS:
            continue
        if _neighbours(begin, stop, indptr, indices, near) <= _USUAL_DEGREE:
            _pass_along_few(stop - begin, begin - low, near, n_iter, here, there, out)
        else:
            _pass_one_word(begin, stop, indptr, indices, n_iter, low, here, there, out)


@kernel
def _sizes_of_middling_graphs(
    first: int,
    last: int,
    graph_ptr: Int64,
    indptr: Int64,
    indices: Int32,
    directed: bool,
    n_iter: int,
    large: int,
    low: int,
    out: Int32,
) -> None:
    """Fill the columns of graphs that are neither small nor large."""
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
        order, parent, nodes, base, core_ptr, core_indices, anchors, depths = core_of(
            begin, stop, indptr, indices, directed, n_iter, column, out
        )
        if len(nodes) > 0:
            degrees = np.empty(len(nodes), np.int64)
            for place in range(len(nodes)):
                degrees[place] = indptr[begin + nodes[place] + 1] - indptr[begin + nodes[place]]
            sizes = sizes_of_core(base, core_ptr, core_indices, anchors, depths, degrees, directed, n_iter)
            for h in range(n_iter + 1):
                for place in range(len(nodes)):
                    out[h, column + nodes[place]] = sizes[h, place]
        spread(order, parent, n_iter, column, out)


@kernel
def _neighbours(low: int, high: int, indptr: Int64, indices: Int32, near: Int64) -> int:
    """Write four neighbours of each node, itself where there are fewer; return the largest degree."""
    most = 0
    last_arc = len(indices) - 1
    for place in range(high - low):
        start = indptr[low + place]
        degree = indptr[low + place + 1] - start
        most = max(most, degree)
        for offset in range(_USUAL_DEGREE):
            other = np.int64(indices[min(start + offset, last_arc)]) - low if last_arc >= 0 else 0
            near[place * _USUAL_DEGREE + offset] = other if offset < degree else place
    return most


@kernel
def _pass_along_few(
    n: int, first_column: int, near: Int64, n_iter: int, here: UInt64, there: UInt64, out: Int32
) -> None:
    """Identity passing for a graph of up to 64 nodes of the usual degrees: no branch, no loop over arcs."""
    for place in range(n):
        here[place] = np.uint64(1) << np.uint64(place)
        out[0, first_column + place] = 1
    for h in range(1, n_iter + 1):
        for place in range(n):
            few = place * _USUAL_DEGREE
            word = here[place] | here[near[few]] | here[near[few + 1]]
            word |= here[near[few + 2]] | here[near[few + 3]]
            there[place] = word
            out[h, first_column + place] = popcount(word)
        here, there = there, here


@kernel
def _pass_one_word(
    low: int,
    high: int,
    indptr: Int64,
    indices: Int32,
    n_iter: int,
    shift: int,
    here: UInt64,
    there: UInt64,
    out: Int32,
) -> None:
    """Identity passing for a graph of up to 64 nodes: one word per node, all of it in registers and L1."""
    n = high - low
    for place in range(n):
        here[place] = np.uint64(1) << np.uint64(place)
        out[0, low + place - shift] = 1
    growing = True
    for h in range(1, n_iter + 1):
        if not growing:
            for column in range(low - shift, high - shift):
                out[h, column] = out[h - 1, column]
            continue
        growing = False
        for place in range(n):
            word = here[place]
            for arc in range(indptr[low + place], indptr[low + place + 1]):
                word |= here[np.uint64(indices[arc] - low)]  # a signed place might count from the end
            there[place] = word
            growing |= bool(word != here[place])
            out[h, low + place - shift] = popcount(word)
        here, there = there, here
