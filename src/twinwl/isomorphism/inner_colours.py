"""Readouts that refine colours inside each rooted subgraph.

``wl`` and ``rooted-wl`` run 1-WL, the root marked or not. ``rooted-fwl2`` runs folklore 2-WL: three-
dimensional power, cubic cost. ``marked-wl-K`` marks K more nodes, one after the other, and refines after
each: power that grows with K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinwl.arrays import Bool, Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.isomorphism.rooted import MOST_STEPS, RootedBlock, Subgraphs, check_steps
from twinwl.refinement.content_keys import KeyedMessages, absorbed, row_keys
from twinwl.refinement.round_kernels import stirred
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges


def wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph."""
    return _stable_keys(block, marked=False)


def rooted_wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph, its root marked from the start.

    Marks of distance would add nothing: with the root marked, colours know it after h rounds.
    """
    return _stable_keys(block, marked=True)


def _stable_keys(block: RootedBlock, *, marked: bool) -> UInt64:
    keys = block.label_keys
    if marked:
        keys[block.root] = row_keys(keys[block.root])
    words = np.ascontiguousarray(keys.T)
    out = np.empty((len(block), 2), np.uint64)
    state = np.zeros(2, np.int64)
    graphs = block.graphs.graph_ptr, block.messages

    def refine(first: int, last: int) -> int:
        return int(_refine(first, last, *graphs, words, state, STEPS_PER_PIECE, out))

    run_ranges(refine, [(0, len(block))])
    return out


@kernel
def _refine(
    first_subgraph: int,
    last_subgraph: int,
    subgraph_ptr: Int64,
    messages: KeyedMessages,
    words: UInt64,
    state: Int64,
    most_steps: int,
    out: UInt64,
) -> int:
    """Write one key per subgraph: its size, the round s it is stable in, its colours in round s + 1.

    Each subgraph is refined on its own, with keys of contents for colours, so that values compare between
    batches. *Stable on its own* would be a trap: a hexagon and K3,3 are stable at once with one colour each.
    One more round shows the neighbours of the stable colours; two graphs that agree on that agree in all
    later rounds.

    ``words``, of shape (2, n_nodes), are the keys of the nodes, which change from round to round. Returns the
    first subgraph that is not done with after about ``most_steps``; ``state`` keeps its number of colours and
    of rounds.
    """
    indptr = messages.indptr
    key_a, key_b = words[0], words[1]
    said, following = np.empty_like(words), np.empty_like(words)
    n_colours, stable_round = state[0], state[1]
    steps = 0
    for index in range(first_subgraph, last_subgraph):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        if n_colours == 0:
            n_colours = n_distinct(key_a, first, last)
        while True:
            if steps > most_steps:
                state[0], state[1] = n_colours, stable_round
                return index
            steps += indptr[last] - indptr[first] + last - first
            _pass(first, last, messages, words, said, following)
            n_following = n_distinct(key_a, first, last)
            if n_following == n_colours:
                break
            n_colours = n_following
            stable_round += 1
        a, b = np.uint64(0), np.uint64(0)
        for node in range(first, last):
            a += key_a[node]
            b += key_b[node]
        out[index, 0], out[index, 1] = absorbed(a, b, np.uint64(last - first), np.uint64(stable_round))
        n_colours, stable_round = 0, 0
    return last_subgraph


@kernel
def _pass(
    first: int, last: int, messages: KeyedMessages, words: UInt64, said: UInt64, following: UInt64
) -> None:
    """Give nodes ``first..last`` their keys of the next round."""
    indptr, indices, codes, code_keys = messages
    if not len(codes):  # a node says the same to all its neighbours
        for node in range(first, last):
            said[0, node], said[1, node] = absorbed(
                words[0, node], words[1, node], code_keys[0, 0], code_keys[0, 1]
            )
    for node in range(first, last):
        a, b = np.uint64(0), np.uint64(0)
        for message in range(indptr[node], indptr[node + 1]):
            other = indices[message]
            x, y = said[0, other], said[1, other]
            if len(codes):
                code = codes[message]
                x, y = absorbed(words[0, other], words[1, other], code_keys[code, 0], code_keys[code, 1])
            a += x
            b += y
        following[0, node], following[1, node] = absorbed(words[0, node], words[1, node], a, b)
    for node in range(first, last):
        words[0, node], words[1, node] = following[0, node], following[1, node]


@kernel
def n_distinct(words: UInt64, first: int, last: int) -> int:
    """Count the different words in a range; a round only ever splits colours, so counting shows stability."""
    length = 16
    while length < 2 * (last - first):
        length *= 2
    mask = np.uint64(length - 1)
    slots = np.zeros(length, np.int64)  # the place of a word, plus one
    n_different = 0
    for place in range(first, last):
        slot = words[place] & mask
        while slots[slot] and words[slots[slot] - 1] != words[place]:
            slot = (slot + np.uint64(1)) & mask
        if not slots[slot]:
            slots[slot] = place + 1
            n_different += 1
    return n_different


def rooted_fwl2(block: RootedBlock) -> UInt64:
    """Return the key of the stable colours of all pairs of nodes, the root marked.

    A pair (u, v) hears, for each node w, the colours of (u, w) and (w, v) together. That costs O(n³) time a
    round and O(n²) memory for a subgraph of n nodes.
    """
    subgraph_ptr = block.graphs.graph_ptr
    messages, label_keys = block.messages, block.label_keys
    out = np.empty((len(block), 2), np.uint64)

    def refine(index: int, last: int) -> int:
        n = int(subgraph_ptr[index + 1] - subgraph_ptr[index])
        if n**3 > STEPS_PER_PIECE:
            first, end = subgraph_ptr[index], subgraph_ptr[index + 1]
            out[index] = _refined_large(*_initial_pairs(first, end, block.root[index], messages, label_keys))
            return index + 1
        graphs = subgraph_ptr, block.root, messages, label_keys
        return int(_refine_pairs(index, last, *graphs, STEPS_PER_PIECE, out))

    run_ranges(refine, [(0, len(block))])
    return out


def _refined_large(a: UInt64, b: UInt64) -> tuple[np.uint64, np.uint64]:
    """Return the key of one subgraph, going through its pairs in pieces and on threads."""
    n = len(a)
    rows = balanced_ranges(np.arange(n + 1, dtype=np.int64) * n * n, None)
    n_colours, stable_round = n_distinct(a.ravel(), 0, a.size), 0
    while True:
        sides = pair_sides(a, b)
        new_a, new_b = np.empty_like(a), np.empty_like(b)
        run_ranges(lambda low, high: hear_pairs(low, high, a, b, sides, new_a, new_b), rows)  # noqa: B023  (called here)
        a, b = new_a, new_b
        n_following = n_distinct(a.ravel(), 0, a.size)
        if n_following == n_colours:
            break
        n_colours, stable_round = n_following, stable_round + 1
    return _key(a, b, stable_round)


@kernel
def _refine_pairs(
    first_subgraph: int,
    last_subgraph: int,
    subgraph_ptr: Int64,
    roots: Int32,
    messages: KeyedMessages,
    label_keys: UInt64,
    most_steps: int,
    out: UInt64,
) -> int:
    """Write one key per subgraph, up to one that is large by itself or until ``most_steps`` are done."""
    steps = 0
    for index in range(first_subgraph, last_subgraph):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        if steps > most_steps or (last - first) ** 3 > most_steps:
            return index
        a, b = _initial_pairs(first, last, roots[index], messages, label_keys)
        n_colours = n_distinct(a.ravel(), 0, a.size)
        stable_round = 0
        while True:
            sides = pair_sides(a, b)
            new_a, new_b = np.empty_like(a), np.empty_like(b)
            hear_pairs(0, last - first, a, b, sides, new_a, new_b)
            a, b = new_a, new_b
            steps += (last - first) ** 3
            n_following = n_distinct(a.ravel(), 0, a.size)
            if n_following == n_colours:
                break
            n_colours = n_following
            stable_round += 1
        out[index, 0], out[index, 1] = _key(a, b, stable_round)
    return last_subgraph


@kernel
def _key(a: UInt64, b: UInt64, stable_round: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a subgraph: size, the round s its pairs are stable in, their colours in s + 1."""
    return absorbed(a.sum(), b.sum(), np.uint64(len(a)), np.uint64(stable_round))


@kernel
def _initial_pairs(
    first: int, last: int, root: int, messages: KeyedMessages, label_keys: UInt64
) -> tuple[UInt64, UInt64]:
    """Colour (u, v) by both labels, which of them is the root, whether they are one, and what joins them."""
    indptr, indices, codes, code_keys = messages
    n = last - first
    a = np.zeros((n, n), np.uint64)
    b = np.zeros((n, n), np.uint64)
    for u in range(n):
        for message in range(indptr[first + u], indptr[first + u + 1]):
            code = codes[message] if len(codes) else 0
            v = indices[message] - first
            # A sum, because two arcs may join a pair, one each way.
            a[u, v] += code_keys[code, 0]
            b[u, v] += code_keys[code, 1]
    for u in range(n):
        for v in range(n):
            kind = np.uint64((first + u == root) + 2 * (first + v == root) + 4 * (u == v))
            x, y = absorbed(a[u, v], b[u, v], kind, kind)
            x, y = absorbed(x, y, label_keys[first + u, 0], label_keys[first + u, 1])
            a[u, v], b[u, v] = absorbed(x, y, label_keys[first + v, 0], label_keys[first + v, 1])
    return a, b


@kernel
def pair_sides(a: UInt64, b: UInt64) -> tuple[UInt64, UInt64, UInt64, UInt64]:
    """Absorb each colour for either of the two places it can stand in, outside the cubic loop."""
    left_a, left_b = np.empty_like(a), np.empty_like(b)
    right_a, right_b = np.empty_like(a), np.empty_like(b)
    for u in range(len(a)):
        for v in range(len(a)):
            left_a[u, v], left_b[u, v] = absorbed(a[u, v], b[u, v], np.uint64(1), np.uint64(2))
            # Transposed, so that the inner loop walks both along rows.
            right_a[v, u], right_b[v, u] = absorbed(a[u, v], b[u, v], np.uint64(3), np.uint64(4))
    return left_a, left_b, right_a, right_b


@kernel
def hear_pairs(
    low: int,
    high: int,
    a: UInt64,
    b: UInt64,
    sides: tuple[UInt64, UInt64, UInt64, UInt64],
    new_a: UInt64,
    new_b: UInt64,
) -> None:
    """Write what pairs (u, v) become in the next round, for u in ``low..high``."""
    left_a, left_b, right_a, right_b = sides
    for u in range(low, high):
        for v in range(len(a)):
            total_a, total_b = np.uint64(0), np.uint64(0)
            for w in range(len(a)):
                total_a += stirred(left_a[u, w] ^ right_a[v, w])
                total_b += stirred(left_b[u, w] + right_b[v, w])
            new_a[u, v], new_b[u, v] = absorbed(a[u, v], b[u, v], total_a, total_b)


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
