"""Readouts that mark k more nodes, one after the other, and refine after each: power that grows with k."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.cost import MOST_STEPS, check_steps
from twinwl.isomorphism.keys import absorbed
from twinwl.isomorphism.partitions import (
    Partitions,
    copied,
    largest_cell,
    marked,
    room_for,
    split_until_discrete,
    started,
    value,
)
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int64, UInt64
    from twinwl.isomorphism.rooted import RootedBlock, Subgraphs
    from twinwl.refinement.content_keys import KeyedMessages


def marked_wl(block: RootedBlock, n_marks: int) -> UInt64:
    """Return the key of what some marks lead to in each subgraph, its root marked from the start.

    The value of a stable partition with no mark left is its colours, as with ``rooted-wl``. With marks left,
    it is that and the multiset of the values with one mark less, after each node of the largest cell was
    marked in turn. Nodes that an automorphism maps to each other lead to equal values, which are computed
    once.
    """
    graphs = block.as_subgraphs()
    subgraph_ptr = graphs.subgraph_ptr
    _check_size(graphs, n_marks)
    out = np.empty((len(block), 2), np.uint64)
    searches: dict[int, Search] = {}  # one per range, so that each goes on where it was interrupted

    def read(index: int, last: int) -> int:
        n = int(subgraph_ptr[index + 1] - subgraph_ptr[index])
        held = searches.get(last)
        if held is None or held.parts.order.shape[1] < n:
            most = int(np.diff(subgraph_ptr[index : last + 1]).max())
            searches[last] = _room_for_search(n_marks, most)
        return int(_search(index, last, graphs, searches[last], STEPS_PER_PIECE, out))

    sizes = np.diff(subgraph_ptr)
    run_ranges(read, balanced_ranges(np.concatenate([[0], np.cumsum(sizes ** min(3, n_marks + 1))]), None))
    return out


def _check_size(graphs: Subgraphs, n_marks: int) -> None:
    """Refuse subgraphs with so many sequences of marks that the end would never come."""
    ptr, indptr = graphs.subgraph_ptr, graphs.messages.indptr
    sizes, entries = np.diff(ptr), np.diff(ptr + indptr[ptr])
    if (sizes.astype(np.float64) ** n_marks * entries).sum() <= MOST_STEPS:
        return
    cells = _largest_cells(graphs, room_for(1, int(sizes.max())))
    what = f"the readout 'marked-wl-{n_marks}' of {len(cells):,} rooted subgraphs"
    what += f" with up to {cells.max():,} like nodes"
    check_steps(float((cells.astype(np.float64) ** n_marks * entries).sum()), what)


class Search(NamedTuple):
    """A walk over sequences of marks, depth first.

    Row d of the partitions is the one after d marks, and the last row is spare.

    Attributes
    ----------
    parts : Partitions
        With n_marks + 2 rows.
    at : array of int64, shape (4, n_marks + 2)
        For each depth: the start of the cell that marks are taken from, its length, how many of its nodes are
        done with, and how many leaves were seen. The last column of row 0 is the present depth, or -1.
    sums : array of uint64, shape (4, n_marks + 1)
        For each depth: the partition's own value, and the sum of those it leads to.
    leaves, values : arrays of uint64, shape (n_marks + 1, n, 2)
        For each depth: the leaves that were seen, and the values they stand for.
    """

    parts: Partitions
    at: Int64
    sums: UInt64
    leaves: UInt64
    values: UInt64


@kernel
def _room_for_search(n_marks: int, n: int) -> Search:
    at = np.zeros((4, n_marks + 2), np.int64)
    at[0, n_marks + 1] = -1
    return Search(
        room_for(n_marks + 2, n),
        at,
        np.zeros((4, n_marks + 1), np.uint64),
        np.empty((n_marks + 1, n, 2), np.uint64),
        np.empty((n_marks + 1, n, 2), np.uint64),
    )


@kernel
def _largest_cells(graphs: Subgraphs, parts: Partitions) -> Int64:
    """Return the length of the largest cell of each subgraph with its root marked; marks only split it."""
    subgraph_ptr, roots, messages, label_keys = graphs
    out = np.empty(len(roots), np.int64)
    for index in range(len(roots)):
        first = subgraph_ptr[index]
        n = subgraph_ptr[index + 1] - first
        started(parts, 0, first, n, messages, label_keys)
        marked(parts, 0, roots[index] - first, first, messages)
        out[index] = parts.length[0, largest_cell(parts, 0, n)]
    return out


@kernel
def _search(index: int, last: int, graphs: Subgraphs, search: Search, most_steps: int, out: UInt64) -> int:
    """Write the keys of subgraphs ``index..last``; return the one that is under way after ``most_steps``."""
    subgraph_ptr, roots, messages, label_keys = graphs
    parts, at = search.parts, search.at
    n_marks = at.shape[1] - 2
    spare = n_marks + 1
    steps = 0
    while index < last:
        first = subgraph_ptr[index]
        n = subgraph_ptr[index + 1] - first
        depth = at[0, spare]
        if depth < 0:
            steps += started(parts, 0, first, n, messages, label_keys)
            steps += marked(parts, 0, roots[index] - first, first, messages)
            depth = 0
            _enter(search, depth, first, n, messages)
        while depth >= 0:
            if steps > most_steps:
                at[0, spare] = depth
                return index
            if at[2, depth] == at[1, depth]:
                depth = _leave(search, depth, index, out)
                continue
            node = parts.order[depth, at[0, depth] + at[2, depth]]
            copied(parts, depth, depth + 1, n)
            steps += n + marked(parts, depth + 1, node, first, messages)
            if depth + 1 == n_marks or parts.n_cells[depth + 1] == n:
                a, b = value(parts, depth + 1, first, n, messages)
                _add(search, depth, a, b)
                continue
            copied(parts, depth + 1, spare, n)
            steps += n + split_until_discrete(parts, spare, first, n, messages)
            a, b = value(parts, spare, first, n, messages)
            if not _is_known(search, depth, a, b):
                depth += 1
                _enter(search, depth, first, n, messages)
        at[0, spare] = -1
        index += 1
        if steps > most_steps:
            break
    return index


@kernel
def _leave(search: Search, depth: int, index: int, out: UInt64) -> int:
    """Hand the value of a depth to the one above it, or write it if there is none; return that depth."""
    a, b = search.sums[0, depth], search.sums[1, depth]
    if search.at[1, depth]:
        a, b = absorbed(a, b, search.sums[2, depth], search.sums[3, depth])
    above = depth - 1
    if above < 0:
        out[index, 0], out[index, 1] = a, b
    else:
        known = search.at[3, above] - 1
        search.values[above, known, 0], search.values[above, known, 1] = a, b
        _add(search, above, a, b)
    return above


@kernel
def _is_known(search: Search, depth: int, a: np.uint64, b: np.uint64) -> bool:
    """Tell whether a leaf was seen before at this depth: then count its value again, else note the leaf."""
    leaves, values = search.leaves[depth], search.values[depth]
    n_known = search.at[3, depth]
    for known in range(n_known):
        if leaves[known, 0] == a and leaves[known, 1] == b:
            _add(search, depth, values[known, 0], values[known, 1])
            return True
    leaves[n_known, 0], leaves[n_known, 1] = a, b
    search.at[3, depth] += 1
    return False


@kernel
def _enter(search: Search, depth: int, first: int, n: int, messages: KeyedMessages) -> None:
    """Start with the partition of a depth: note its own value, and the cell to take marks from."""
    parts, at, sums = search.parts, search.at, search.sums
    sums[0, depth], sums[1, depth] = value(parts, depth, first, n, messages)
    sums[2, depth], sums[3, depth] = np.uint64(0), np.uint64(0)
    start = largest_cell(parts, depth, n)
    length = parts.length[depth, start]
    at[0, depth], at[1, depth], at[2, depth], at[3, depth] = start, length if length > 1 else 0, 0, 0


@kernel
def _add(search: Search, depth: int, a: np.uint64, b: np.uint64) -> None:
    """Count the value that one more node of a depth's cell leads to."""
    search.sums[2, depth] += a
    search.sums[3, depth] += b
    search.at[2, depth] += 1
