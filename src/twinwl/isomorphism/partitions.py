"""Ordered partitions of the nodes of one graph: mark a node, refine to stability, mark on until all differ.

A cell holds the nodes of one colour, and its key is the content of that colour in 128 bits. Only cells that
hear something new are looked at again, so a mark costs about as much as what it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.keys import absorbed
from twinwl.refinement.mixing import stirred

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, UInt64
    from twinwl.refinement.content_keys import KeyedMessages

_MARK = np.uint64(0x3C6EF372FE94F82B)  # digits of the square root of 5
_FEW = 24  # so few nodes are sorted by insertion


class Partitions(NamedTuple):
    """Room for several partitions of the same n nodes, one per row, and for the work on them.

    Nodes are numbered from 0 within their graph. The cell that starts at place s holds the nodes
    ``order[row, s : s + length[row, s]]``.

    Attributes
    ----------
    key_a, key_b : arrays of uint64, shape (n_rows, n)
        The two words of each node's key.
    order : array of int32, shape (n_rows, n)
        The nodes, cell after cell.
    cell : array of int32, shape (n_rows, n)
        The start of each node's cell.
    length : array of int32, shape (n_rows, n)
        The length of the cell that starts at a place.
    n_cells : array of int32, shape (n_rows,)
    new : array of uint64, shape (2, n)
    queue : array of int32, shape (3, n)
        Cells to look at, cells of the next turn, cells that were split.
    queued : array of bool, shape (n,)
    """

    key_a: UInt64
    key_b: UInt64
    order: Int32
    cell: Int32
    length: Int32
    n_cells: Int32
    new: UInt64
    queue: Int32
    queued: Bool


@kernel
def room_for(n_rows: int, n: int) -> Partitions:
    """Return room for some partitions of n nodes."""
    return Partitions(
        np.empty((n_rows, n), np.uint64),
        np.empty((n_rows, n), np.uint64),
        np.empty((n_rows, n), np.int32),
        np.empty((n_rows, n), np.int32),
        np.empty((n_rows, n), np.int32),
        np.empty(n_rows, np.int32),
        np.empty((2, n), np.uint64),
        np.empty((3, n), np.int32),
        np.zeros(n, np.bool_),
    )


@kernel
def started(
    parts: Partitions, row: int, first: int, n: int, messages: KeyedMessages, label_keys: UInt64
) -> int:
    """Write the stable partition of the graph with nodes ``first..first + n``; return the number of steps."""
    for node in range(n):
        parts.new[0, node], parts.new[1, node] = label_keys[first + node, 0], label_keys[first + node, 1]
        parts.order[row, node] = node
        parts.cell[row, node] = 0
    parts.length[row, 0] = n
    parts.n_cells[row] = 1
    _divide(parts, row, 0)
    waiting = 0
    place = 0
    while place < n:
        if parts.length[row, place] > 1:
            parts.queue[0, waiting] = place
            parts.queued[place] = True
            waiting += 1
        place += parts.length[row, place]
    return _refined(parts, row, waiting, first, messages)


@kernel
def marked(parts: Partitions, row: int, node: int, first: int, messages: KeyedMessages) -> int:
    """Give a node a cell of its own and refine to stability; return the number of steps."""
    key_a, key_b, order, cell = parts.key_a[row], parts.key_b[row], parts.order[row], parts.cell[row]
    key_a[node], key_b[node] = absorbed(key_a[node], key_b[node], _MARK, _MARK)
    start = cell[node]
    length = parts.length[row, start]
    if length > 1:
        place = start
        while order[place] != node:
            place += 1
        order[place], order[start] = order[start], node
        for place in range(start + 1, start + length):
            cell[order[place]] = start + 1
        parts.length[row, start], parts.length[row, start + 1] = 1, length - 1
        parts.n_cells[row] += 1
    return length + _refined(parts, row, _alerted(parts, row, node, 0, 0, first, messages), first, messages)


@kernel
def copied(parts: Partitions, source: int, target: int, n: int) -> None:
    """Copy a partition to another row."""
    for place in range(n):
        parts.key_a[target, place] = parts.key_a[source, place]
        parts.key_b[target, place] = parts.key_b[source, place]
        parts.order[target, place] = parts.order[source, place]
        parts.cell[target, place] = parts.cell[source, place]
        parts.length[target, place] = parts.length[source, place]
    parts.n_cells[target] = parts.n_cells[source]


@kernel
def largest_cell(parts: Partitions, row: int, n: int) -> int:
    """Return the start of the largest cell, among equals that of the smallest key."""
    best, most = 0, 0
    place = 0
    while place < n:
        length = parts.length[row, place]
        if length > most:
            best, most = place, length
        elif length == most:
            one, other = parts.order[row, place], parts.order[row, best]
            if parts.key_a[row, one] < parts.key_a[row, other]:
                best = place
        place += length
    return best


@kernel
def split_until_discrete(parts: Partitions, row: int, first: int, n: int, messages: KeyedMessages) -> int:
    """Mark a node of the largest cell again and again, until each node has its own; return the steps."""
    steps = 0
    while parts.n_cells[row] < n:
        start = largest_cell(parts, row, n)
        steps += n + marked(parts, row, parts.order[row, start], first, messages)
    return steps


@kernel
def value(
    parts: Partitions, row: int, first: int, n: int, messages: KeyedMessages
) -> tuple[np.uint64, np.uint64]:
    """Return the key of a stable partition: each cell's length, its key, and what its nodes hear.

    Two graphs have equal values if and only if 1-WL cannot tell their initial partitions apart. Where each
    node has a cell of its own, that is if and only if the partitions are isomorphic, because each node and
    its neighbours are named.
    """
    total_a, total_b = np.uint64(0), np.uint64(0)
    place = 0
    while place < n:
        length = parts.length[row, place]
        a, b = _heard(parts, row, parts.order[row, place], first, messages)
        a, b = absorbed(a, b, np.uint64(length), np.uint64(0))
        total_a += a
        total_b += b
        place += length
    return absorbed(total_a, total_b, np.uint64(n), np.uint64(parts.n_cells[row]))


@kernel
def _refined(parts: Partitions, row: int, waiting: int, first: int, messages: KeyedMessages) -> int:
    """Split cells until none has nodes that hear different things; the first queue holds those to look at.

    All cells of a turn are looked at before any of them changes, so that keys do not depend on their order. A
    cell that stays whole keeps its key, because it has no news for others.
    """
    steps = 0
    order, length = parts.order[row], parts.length[row]
    here = 0
    while waiting:
        for index in range(waiting):
            start = parts.queue[here, index]
            parts.queued[start] = False
            for place in range(start, start + length[start]):
                node = order[place]
                parts.new[0, node], parts.new[1, node] = _heard(parts, row, node, first, messages)
                steps += messages.indptr[first + node + 1] - messages.indptr[first + node] + 8
        n_split = 0
        for index in range(waiting):
            start = parts.queue[here, index]
            span = length[start]
            if _is_mixed(parts, row, start):
                _divide(parts, row, start)
                parts.queue[2, n_split] = start
                parts.queue[here, n_split] = span  # behind what was read
                n_split += 1
        following = 1 - here
        waiting = 0
        for index in range(n_split):
            start = parts.queue[2, index]
            for place in range(start, start + parts.queue[here, index]):
                waiting = _alerted(parts, row, order[place], following, waiting, first, messages)
        here = following
    return steps


@kernel
def _heard(
    parts: Partitions, row: int, node: int, first: int, messages: KeyedMessages
) -> tuple[np.uint64, np.uint64]:
    """Return the key of a node's key and of the multiset of its neighbours' keys."""
    indptr, indices, codes, code_keys = messages
    a, b = np.uint64(0), np.uint64(0)
    for message in range(indptr[first + node], indptr[first + node + 1]):
        other = indices[message] - first
        code = codes[message] if len(codes) else 0
        a += stirred(parts.key_a[row, other] ^ code_keys[code, 0])
        b += stirred(parts.key_b[row, other] + code_keys[code, 1])
    return absorbed(parts.key_a[row, node], parts.key_b[row, node], a, b)


@kernel
def _alerted(
    parts: Partitions, row: int, node: int, queue: int, waiting: int, first: int, messages: KeyedMessages
) -> int:
    """Queue the cells that hear from a node and could be split; return how many wait now."""
    for message in range(messages.indptr[first + node], messages.indptr[first + node + 1]):
        start = parts.cell[row, messages.indices[message] - first]
        if not parts.queued[start] and parts.length[row, start] > 1:
            parts.queued[start] = True
            parts.queue[queue, waiting] = start
            waiting += 1
    return waiting


@kernel
def _is_mixed(parts: Partitions, row: int, start: int) -> bool:
    """Tell whether the new keys of a cell's nodes differ."""
    node = parts.order[row, start]
    a, b = parts.new[0, node], parts.new[1, node]
    for place in range(start + 1, start + parts.length[row, start]):
        node = parts.order[row, place]
        if parts.new[0, node] != a or parts.new[1, node] != b:
            return True
    return False


@kernel
def _divide(parts: Partitions, row: int, start: int) -> None:
    """Split a cell by the new keys of its nodes, which become their keys."""
    new_a, new_b = parts.new[0], parts.new[1]
    last = start + parts.length[row, start]
    order = parts.order[row]
    _sort(order, start, last, new_a)
    begin = start
    for place in range(start, last):
        node = order[place]
        if new_a[node] != new_a[order[begin]] or new_b[node] != new_b[order[begin]]:
            begin = place
            parts.n_cells[row] += 1
        parts.key_a[row, node], parts.key_b[row, node] = new_a[node], new_b[node]
        parts.cell[row, node] = begin
        parts.length[row, begin] = place + 1 - begin


@kernel
def _sort(order: Int32, start: int, last: int, words: UInt64) -> None:
    """Sort a range of nodes by a word each."""
    if last - start > _FEW:
        part = order[start:last].copy()
        order[start:last] = part[np.argsort(words[part], kind="mergesort")]
        return
    for place in range(start + 1, last):
        node = order[place]
        hole = place
        while hole > start and words[order[hole - 1]] > words[node]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = node
