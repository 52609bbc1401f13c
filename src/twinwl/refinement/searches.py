"""Breadth-first search from many roots: the number of nodes that each reaches, level by level.

Cheapest if balls are small compared with the graph. Memory is linear in the number of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.refinement.round_kernels import stirred

if TYPE_CHECKING:
    from twinwl.refinement.graph_arrays import Graph

# The neighbour lists of this many nodes are prefetched before the first of them is read: cache misses then
# overlap, which made searches of large graphs two to three times as fast.
_AHEAD = 128
_LAST_STAMP = np.uint8(255)
_TURNED = np.uint64(0x9E3779B97F4A7C15)  # distinguishes incoming from outgoing arcs


@kernel
def search(
    roots: Int64, first: int, last: int, graph: Graph, below: Int32, most_steps: int, sizes: Int32
) -> tuple[int, int]:
    """Search from the roots ``first..last``, stopping early after about ``most_steps`` arcs.

    Parameters
    ----------
    roots : array of int64
        Nodes of the graph.
    below : array of int32, shape (n, n_iter + 1)
        Number of nodes that hang at most h below each; shape (0, n_iter + 1) if there are none.
    sizes : array of int32, shape (n_iter + 1, n)
        The columns of the roots are filled.

    Returns
    -------
    first, steps
        The first root that was not searched from, and the number of arcs walked.
    """
    n, n_iter = len(graph.indptr) - 1, len(sizes) - 1
    # One byte per node, so that as much as possible stays in the cache; reset when stamps run out.
    seen = np.zeros(n, np.uint8)
    stamp = np.uint8(0)
    queue = np.empty(n + 1, np.int32)  # written one place ahead
    ahead = np.empty((3, _AHEAD), np.int64)
    size = np.empty(n_iter + 1, np.int32)
    steps = 0
    while first < last and steps <= most_steps:
        if stamp == _LAST_STAMP:
            seen[:] = 0
            stamp = np.uint8(0)
        stamp += np.uint8(1)
        root = roots[first]
        seen[root] = stamp
        queue[0] = root
        begin, end = 0, 1
        for h in range(n_iter + 1):
            size[h] = below[root, h] if len(below) else 1
        for level in range(1, n_iter + 1):
            tail, walked = _next_level(begin, end, graph, stamp, seen, queue, ahead)
            steps += walked
            if tail == end:
                break
            begin, end = end, tail
            for h in range(level, n_iter + 1):
                if len(below) == 0:
                    size[h] += end - begin
                else:
                    for place in range(begin, end):
                        size[h] += below[queue[place], h - level]
        for h in range(n_iter + 1):
            sizes[h, root] = size[h]
        first += 1
    return first, steps


@kernel
def _next_level(
    begin: int, end: int, graph: Graph, stamp: np.uint8, seen: NDArray[np.uint8], queue: Int32, ahead: Int64
) -> tuple[int, int]:
    """Append the new neighbours of nodes ``begin..end`` of the queue; return its end and the arcs walked."""
    start, stop, touched = ahead[0], ahead[1], ahead[2]
    base, indptr, indices = graph.base, graph.indptr, graph.indices
    last_arc = len(indices) - 1
    tail = end
    steps = 0
    while begin < end and tail < len(seen) and last_arc >= 0:  # without arcs there is nothing to prefetch
        n_ahead = min(_AHEAD, end - begin)
        for place in range(n_ahead):
            node = queue[begin + place]
            start[place], stop[place] = indptr[node], indptr[node + 1]
        for place in range(n_ahead):
            touched[place] = indices[min(start[place], last_arc)]
        for place in range(n_ahead):
            for arc in range(start[place], stop[place]):
                other = indices[arc] - base
                queue[tail] = other
                tail += int(seen[other] != stamp)
                seen[other] = stamp
            steps += stop[place] - start[place]
        begin += n_ahead
    return tail, steps


def representatives(graph: Graph) -> Int64:
    """Return for each node the first node with the same neighbours, which may be itself.

    Swapping two such nodes is an automorphism, so their sizes are equal. In directed graphs both incoming and
    outgoing arcs must be the same.
    """
    indptr = graph.indptr - graph.indptr[0]
    indices = graph.indices[graph.indptr[0] : graph.indptr[-1]] - np.int32(graph.base)
    heard_ptr, heard = indptr, indices
    if graph.directed:
        shape = (len(indptr) - 1, len(indptr) - 1)
        ones = np.ones(len(indices), np.int8)
        turned = sparse.csr_matrix((ones, indices, indptr), shape=shape).tocsc()
        heard_ptr, heard = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
    keys = _keys_of_lists(indptr, indices) + _TURNED * _keys_of_lists(heard_ptr, heard)
    return _first_alike(np.argsort(keys, kind="stable"), keys, indptr, indices, heard_ptr, heard)


@kernel
def _keys_of_lists(ptr: Int64, items: Int32) -> UInt64:
    """Return a 64-bit key for each list; equal lists have equal keys."""
    keys = np.zeros(len(ptr) - 1, np.uint64)
    for owner in range(len(keys)):
        for place in range(ptr[owner], ptr[owner + 1]):
            keys[owner] += stirred(np.uint64(items[place] + 1))
    return keys


@kernel
def _first_alike(
    order: Int64, keys: UInt64, ptr: Int64, items: Int32, other_ptr: Int64, other_items: Int32
) -> Int64:
    """Compare the lists of nodes with equal keys, because different lists may share a key."""
    first = np.arange(len(order))
    for place in range(1, len(order)):
        node, before = order[place], first[order[place - 1]]
        if (
            keys[node] == keys[before]
            and _alike(ptr, items, before, node)
            and _alike(other_ptr, other_items, before, node)
        ):
            first[node] = before
    return first


@kernel
def _alike(ptr: Int64, items: Int32, a: int, b: int) -> bool:
    length = ptr[a + 1] - ptr[a]
    if ptr[b + 1] - ptr[b] != length:
        return False
    offset = 0
    while offset < length and items[ptr[a] + offset] == items[ptr[b] + offset]:
        offset += 1
    return bool(offset == length)
