"""Identity passing: how many nodes each node reaches within h steps.

Two ways give the same numbers. Bitsets pass whole identity sets along the arcs, one machine word for graphs
of up to 64 nodes: O(arcs · ⌈n/64⌉) a round. Breadth-first search walks each ball once: the sum of ball sizes,
and memory linear in n. Each graph takes the cheaper one; a sample of its balls tells which that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from twinwl.arguments import checked, integer
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, UInt64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["rooted_sizes", "sizes_of_graphs"]

_WORD_BITS = 64
_USUAL_DEGREE = 4  # atoms hear from no more than four others
# One step of a search misses the cache where the words of a bitset stream through it: measured 4 to 8 times.
_SEARCH_STEP_IN_WORDS = 6
_SAMPLED_ROOTS = 8
_WORDS_ALWAYS_CHEAPER = 4
_BITSET_WORDS_AT_MOST = 1 << 23  # 64 MiB for each of the two buffers
_ALONE_FROM = 1 << 14  # a graph of this many nodes is spread over threads by itself


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

    def small(first: int, last: int) -> None:
        sizes_of_graphs(first, last, batch.graph_ptr, batch.indptr, batch.indices, n_iter, _ALONE_FROM, out)

    run_ranges(small, balanced_ranges(work, n_threads))
    for graph in np.flatnonzero(batch.nodes_per_graph >= _ALONE_FROM).tolist():
        _sizes_of_large_graph(batch, graph, n_iter, out, n_threads)
    return out


def _sizes_of_large_graph(
    batch: GraphBatch, graph: int, n_iter: int, out: Int32, n_threads: int | None
) -> None:
    low, high = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
    if _words_are_cheaper(low, high, batch.indptr, batch.indices, n_iter, out):
        _pass_words(low, high, batch.indptr, batch.indices, n_iter, 0, out)
        return
    steps = np.arange(high - low + 1, dtype=np.int64) * _SEARCH_STEP_IN_WORDS
    run_ranges(
        lambda first, last: _search(
            low, high, low + first, low + last, batch.indptr, batch.indices, n_iter, 0, out
        ),
        balanced_ranges(steps, n_threads),
    )


@njit(cache=True, nogil=True)
def sizes_of_graphs(
    first: int,
    last: int,
    graph_ptr: Int64,
    indptr: Int64,
    indices: Int32,
    n_iter: int,
    alone_from: int,
    out: Int32,
) -> None:
    """Fill ``out`` for graphs ``first..last``, leaving out those of ``alone_from`` nodes or more.

    Columns of ``out`` are counted from the first node of the batch, or from the first node of graph ``first``
    where ``out`` is only as wide as the graphs asked for.
    """
    shift = 0 if out.shape[1] == graph_ptr[-1] else graph_ptr[first]
    here = np.empty(_WORD_BITS, np.uint64)
    there = np.empty(_WORD_BITS, np.uint64)
    near = np.empty(_WORD_BITS * _USUAL_DEGREE, np.int64)
    for graph in range(first, last):
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
        if high - low <= _WORD_BITS and _neighbours(low, high, indptr, indices, near) <= _USUAL_DEGREE:
            _pass_along_few(high - low, low - shift, near, n_iter, here, there, out)
        elif high - low <= _WORD_BITS:
            _pass_one_word(low, high, indptr, indices, n_iter, shift, here, there, out)
        elif high - low < alone_from:
            if _words_are_cheaper(low, high, indptr, indices, n_iter, out):
                _pass_words(low, high, indptr, indices, n_iter, shift, out)
            else:
                _search(low, high, low, high, indptr, indices, n_iter, shift, out)


@njit(cache=True, nogil=True, inline="always")
def _popcount(word: np.uint64) -> np.int32:
    """Count set bits; LLVM recognises the idiom and emits one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _neighbours(low: int, high: int, indptr: Int64, indices: Int32, near: Int64) -> int:
    """Write four neighbours of each node, itself where there are fewer; return the largest degree."""
    most = 0
    last_arc = len(indices) - 1
    if last_arc < 0:
        near[: (high - low) * _USUAL_DEGREE] = np.arange((high - low) * _USUAL_DEGREE) // _USUAL_DEGREE
        return most
    for place in range(high - low):
        start = indptr[low + place]
        degree = indptr[low + place + 1] - start
        most = max(most, degree)
        for offset in range(_USUAL_DEGREE):
            other = np.int64(indices[min(start + offset, last_arc)]) - low
            near[place * _USUAL_DEGREE + offset] = other if offset < degree else place
    return most


@njit(cache=True, nogil=True)
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
            out[h, first_column + place] = _popcount(word)
        here, there = there, here


@njit(cache=True, nogil=True, inline="always")
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
    """Identity passing for a graph of up to 64 nodes: one word a node, all of it in registers and L1."""
    n = high - low
    for place in range(n):
        here[place] = np.uint64(1) << np.uint64(place)
        out[0, low + place - shift] = 1
    for h in range(1, n_iter + 1):
        for place in range(n):
            word = here[place]
            for arc in range(indptr[low + place], indptr[low + place + 1]):
                word |= here[indices[arc] - low]
            there[place] = word
            out[h, low + place - shift] = _popcount(word)
        here, there = there, here


@njit(cache=True, nogil=True)
def _pass_words(
    low: int, high: int, indptr: Int64, indices: Int32, n_iter: int, shift: int, out: Int32
) -> None:
    """Identity passing with several words a node; only copies once nothing grows any more."""
    n = high - low
    n_words = (n + _WORD_BITS - 1) // _WORD_BITS
    here = np.zeros(n * n_words, np.uint64)
    there = np.empty(n * n_words, np.uint64)
    for place in range(n):
        here[place * n_words + place // _WORD_BITS] = np.uint64(1) << np.uint64(place % _WORD_BITS)
        out[0, low + place - shift] = 1
    growing = True
    for h in range(1, n_iter + 1):
        if not growing:
            out[h, low - shift : high - shift] = out[h - 1, low - shift : high - shift]
            continue
        growing = False
        for place in range(n):
            own = place * n_words
            for word in range(n_words):
                there[own + word] = here[own + word]
            for arc in range(indptr[low + place], indptr[low + place + 1]):
                other = (indices[arc] - low) * n_words
                for word in range(n_words):
                    there[own + word] |= here[other + word]
            size = np.int32(0)
            for word in range(n_words):
                size += _popcount(there[own + word])
            growing |= size != out[h - 1, low + place - shift]
            out[h, low + place - shift] = size
        here, there = there, here


@njit(cache=True, nogil=True)
def _search(
    low: int,
    high: int,
    first_root: int,
    last_root: int,
    indptr: Int64,
    indices: Int32,
    n_iter: int,
    shift: int,
    out: Int32,
) -> int:
    """Breadth-first search from each root to depth ``n_iter``; returns the number of arcs it walked."""
    seen = np.full(high - low, -1, np.int32)
    queue = np.empty(high - low, np.int32)
    walked = 0
    for root in range(first_root, last_root):
        seen[root - low] = root - first_root
        queue[0] = root
        head, tail = 0, 1
        out[0, root - shift] = 1
        for h in range(1, n_iter + 1):
            level_end = tail
            # The last level is only counted: its nodes are never walked from.
            for place in range(head, level_end):
                node = queue[place]
                for arc in range(indptr[node], indptr[node + 1]):
                    heard = indices[arc]
                    if seen[heard - low] != root - first_root:
                        seen[heard - low] = root - first_root
                        queue[tail] = heard
                        tail += 1
                walked += indptr[node + 1] - indptr[node]
            head = level_end
            out[h, root - shift] = tail
    return walked


@njit(cache=True, nogil=True)
def _words_are_cheaper(low: int, high: int, indptr: Int64, indices: Int32, n_iter: int, out: Int32) -> bool:
    """Tell from a sample of balls whether bitsets cost less than searches."""
    n = high - low
    n_words = (n + _WORD_BITS - 1) // _WORD_BITS
    if n_words <= _WORDS_ALWAYS_CHEAPER:
        return True
    if n * n_words > _BITSET_WORDS_AT_MOST:
        return False
    scratch = np.empty((n_iter + 1, _SAMPLED_ROOTS), out.dtype)
    walked = 0
    stride = n // _SAMPLED_ROOTS
    for sample in range(_SAMPLED_ROOTS):
        root = low + sample * stride
        walked += _search(low, high, root, root + 1, indptr, indices, n_iter, root - sample, scratch)
    words = (indptr[high] - indptr[low] + n) * n_words * n_iter
    return words <= walked * _SEARCH_STEP_IN_WORDS * (n // _SAMPLED_ROOTS)
