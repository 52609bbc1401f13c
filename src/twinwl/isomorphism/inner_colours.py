"""Readouts that refine colours inside each rooted subgraph.

``wl`` and ``rooted-wl`` run 1-WL, the root marked or not. ``rooted-fwl2`` runs folklore 2-WL: three-
dimensional power, cubic cost. ``marked-wl-K`` marks K more nodes, one after the other, and refines after
each: power that grows with K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinwl.arguments import Bool, Int32, Int64, UInt64, pointer
from twinwl.compilation import kernel
from twinwl.isomorphism.rooted import MOST_STEPS, RootedBlock, Subgraphs, check_steps
from twinwl.refinement.colours import STEPS_PER_PIECE, balanced_ranges, run_ranges
from twinwl.refinement.content_keys import (
    ABSORBED,
    KeyedMessages,
    absorbed,
    absorbed_codes,
    row_keys,
    sum_messages,
)
from twinwl.refinement.round_kernels import stirred


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
    out = np.empty((len(block), 2), np.uint64)
    messages = block.messages._replace(code_keys=absorbed_codes(block.messages.code_keys))

    def refine(first: int, last: int) -> int:
        return int(_refine(first, last, block.graphs.graph_ptr, messages, keys, STEPS_PER_PIECE, out))

    run_ranges(refine, [(0, len(block))])
    return out


@kernel
def _refine(
    index: int,
    end: int,
    subgraph_ptr: Int64,
    messages: KeyedMessages,
    keys: UInt64,
    most_steps: int,
    out: UInt64,
) -> int:
    """Write one key per subgraph: its size, the round s it is stable in, its colours in round s + 1.

    Each subgraph is refined on its own, with keys of contents for colours, so that values compare between
    batches. *Stable on its own* would be a trap: a hexagon and K3,3 are stable at once with one colour each.
    One more round shows the neighbours of the stable colours; two graphs that agree on that agree in all
    later rounds. ``keys``, of shape (n_nodes, 2), are those of the labels and change from round to round.
    Returns the first subgraph that was not read after about ``most_steps``.
    """
    following = np.empty_like(keys)
    steps = 0
    while index < end and steps <= most_steps:
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        n_colours, n_before, n_rounds = n_distinct(keys, first, last), 0, 0
        a, b = np.uint64(0), np.uint64(0)
        while n_colours != n_before:
            sum_messages(first, last, messages, keys, ABSORBED, following)
            a, b = np.uint64(0), np.uint64(0)
            for node in range(first, last):
                x, y = absorbed(keys[node, 0], keys[node, 1], following[node, 0], following[node, 1])
                keys[node, 0], keys[node, 1] = x, y
                a += x
                b += y
            n_before, n_colours = n_colours, n_distinct(keys, first, last)
            n_rounds += 1
            steps += messages.indptr[last] - messages.indptr[first] + last - first
        out[index, 0], out[index, 1] = absorbed(a, b, np.uint64(last - first), np.uint64(n_rounds - 1))
        index += 1
    return index


@kernel
def n_distinct(keys: UInt64, first: int, last: int) -> int:
    """Count the different keys in a range of rows, by their first word.

    A round only ever splits colours, so counting them shows when they are stable.
    """
    length = 16
    while length < 2 * (last - first):
        length *= 2
    mask = np.uint64(length - 1)
    slots = np.zeros(length, np.int64)  # the place of a key, plus one
    n_different = 0
    for place in range(first, last):
        slot = keys[place, 0] & mask
        while slots[slot] and keys[slots[slot] - 1, 0] != keys[place, 0]:
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
    graphs = block.as_subgraphs()
    out = np.empty((len(block), 2), np.uint64)

    def refine(index: int, last: int) -> int:
        return int(_refine_pairs(index, last, graphs, STEPS_PER_PIECE, out))

    run_ranges(refine, balanced_ranges(pointer(np.diff(graphs.subgraph_ptr) ** 3), None))
    return out


@kernel
def _refine_pairs(index: int, end: int, graphs: Subgraphs, most_steps: int, out: UInt64) -> int:
    """Write the keys of subgraphs ``index..end``; return the first one left after about ``most_steps``.

    As in `_refine`, a key is the size, the round s in which pairs are stable, and their colours in s + 1.
    """
    steps = 0
    while index < end and steps <= most_steps:
        a, b = _initial_pairs(index, graphs)
        n_colours, n_before, n_rounds = n_distinct(a.reshape(-1, 1), 0, a.size), 0, 0
        while n_colours != n_before:
            sides = pair_sides(a, b)
            new_a, new_b = np.empty_like(a), np.empty_like(b)
            hear_pairs(0, len(a), a, b, sides, new_a, new_b)
            a, b = new_a, new_b
            n_before, n_colours = n_colours, n_distinct(a.reshape(-1, 1), 0, a.size)
            n_rounds += 1
            steps += len(a) ** 3
        out[index, 0], out[index, 1] = absorbed(a.sum(), b.sum(), np.uint64(len(a)), np.uint64(n_rounds - 1))
        index += 1
    return index


@kernel
def _initial_pairs(index: int, graphs: Subgraphs) -> tuple[UInt64, UInt64]:
    """Colour (u, v) by both labels, which of them is the root, whether they are one, and what joins them."""
    indptr, indices, codes, code_keys = graphs.messages
    label_keys, root = graphs.label_keys, graphs.root[index]
    first, last = graphs.subgraph_ptr[index], graphs.subgraph_ptr[index + 1]
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
    """Some partitions of the n nodes of one graph, one per row, and room to work on them.

    The cell that starts at place s holds the nodes ``order[row, s : s + length[row, s]]``; its key is the
    content of their colour in 128 bits. Only cells that hear something new are looked at again, so a mark
    costs about as much as what it changes.

    Attributes
    ----------
    messages : KeyedMessages
        Those of this graph, its nodes numbered from 0.
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

    messages: KeyedMessages
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
def _rooted_partition(index: int, graphs: Subgraphs, n_rows: int) -> Partitions:
    """Return room for some partitions of a subgraph; the first is the stable one with the root marked."""
    first, last = graphs.subgraph_ptr[index], graphs.subgraph_ptr[index + 1]
    indptr, indices, codes, code_keys = graphs.messages
    begin, end, n = indptr[first], indptr[last], last - first
    own_indptr, own_indices = indptr[first : last + 1] - begin, indices[begin:end] - np.int32(first)
    parts = Partitions(
        KeyedMessages(own_indptr, own_indices, codes[begin:end], code_keys),
        np.empty((n_rows, n), np.uint64),
        np.empty((n_rows, n), np.uint64),
        np.empty((n_rows, n), np.int32),
        np.zeros((n_rows, n), np.int32),
        np.empty((n_rows, n), np.int32),
        np.ones(n_rows, np.int32),
        np.empty((2, n), np.uint64),
        np.empty((3, n), np.int32),
        np.zeros(n, np.bool_),
    )
    for node in range(n):
        parts.new[0, node] = parts.key_a[0, node] = graphs.label_keys[first + node, 0]
        parts.new[1, node] = parts.key_b[0, node] = graphs.label_keys[first + node, 1]
        parts.order[0, node] = node
    parts.length[0, 0] = n
    _divide(parts, 0, 0)
    waiting = 0
    place = 0
    while place < n:
        if parts.length[0, place] > 1:
            parts.queue[0, waiting] = place
            parts.queued[place] = True
            waiting += 1
        place += parts.length[0, place]
    _split_cells(parts, 0, waiting)
    _mark(parts, 0, graphs.root[index] - first)
    return parts


@kernel
def _mark(parts: Partitions, row: int, node: int) -> None:
    """Give a node a cell of its own and refine to stability."""
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
    _split_cells(parts, row, _queue_hearers(parts, row, node, 0, 0))


@kernel
def _copy(parts: Partitions, source: int, target: int) -> None:
    """Copy a partition to another row."""
    parts.key_a[target], parts.key_b[target] = parts.key_a[source], parts.key_b[source]
    parts.order[target], parts.cell[target] = parts.order[source], parts.cell[source]
    parts.length[target], parts.n_cells[target] = parts.length[source], parts.n_cells[source]


@kernel
def _largest_cell(parts: Partitions, row: int) -> int:
    """Return the start of the largest cell, among equals that of the smallest key."""
    best, most = 0, 0
    place = 0
    while place < parts.order.shape[1]:
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
def _value(parts: Partitions, row: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a stable partition: each cell's length, its key, and what its nodes hear.

    Two graphs have equal values if and only if 1-WL cannot tell their initial partitions apart. Where each
    node has a cell of its own, that is if and only if the partitions are isomorphic, because each node and
    its neighbours are named.
    """
    total_a, total_b = np.uint64(0), np.uint64(0)
    place, n = 0, parts.order.shape[1]
    while place < n:
        length = parts.length[row, place]
        a, b = _signature(parts, row, parts.order[row, place])
        a, b = absorbed(a, b, np.uint64(length), np.uint64(0))
        total_a += a
        total_b += b
        place += length
    return absorbed(total_a, total_b, np.uint64(n), np.uint64(parts.n_cells[row]))


@kernel
def _split_cells(parts: Partitions, row: int, waiting: int) -> None:
    """Split cells until none has nodes that hear different things; the first queue holds those to look at.

    All cells of a turn are looked at before any of them changes, so that keys do not depend on their order. A
    cell that stays whole keeps its key, because it has no news for others.
    """
    order, length = parts.order[row], parts.length[row]
    here = 0
    while waiting:
        for index in range(waiting):
            start = parts.queue[here, index]
            parts.queued[start] = False
            for place in range(start, start + length[start]):
                node = order[place]
                parts.new[0, node], parts.new[1, node] = _signature(parts, row, node)
        n_split = 0
        for index in range(waiting):
            start = parts.queue[here, index]
            span = length[start]
            if _divide(parts, row, start):
                parts.queue[2, n_split] = start
                parts.queue[here, n_split] = span  # behind what was read
                n_split += 1
        following = 1 - here
        waiting = 0
        for index in range(n_split):
            start = parts.queue[2, index]
            for place in range(start, start + parts.queue[here, index]):
                waiting = _queue_hearers(parts, row, order[place], following, waiting)
        here = following


@kernel
def _signature(parts: Partitions, row: int, node: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a node's key and of the multiset of its neighbours' keys."""
    indptr, indices, codes, code_keys = parts.messages
    a, b = np.uint64(0), np.uint64(0)
    for message in range(indptr[node], indptr[node + 1]):
        code = codes[message] if len(codes) else 0
        a += stirred(parts.key_a[row, indices[message]] ^ code_keys[code, 0])
        b += stirred(parts.key_b[row, indices[message]] + code_keys[code, 1])
    return absorbed(parts.key_a[row, node], parts.key_b[row, node], a, b)


@kernel
def _queue_hearers(parts: Partitions, row: int, node: int, queue: int, waiting: int) -> int:
    """Queue the cells that hear from a node and could be split; return how many wait now."""
    indptr, indices, _, _ = parts.messages
    for message in range(indptr[node], indptr[node + 1]):
        start = parts.cell[row, indices[message]]
        if not parts.queued[start] and parts.length[row, start] > 1:
            parts.queued[start] = True
            parts.queue[queue, waiting] = start
            waiting += 1
    return waiting


@kernel
def _divide(parts: Partitions, row: int, start: int) -> bool:
    """Split a cell by the new keys of its nodes, which become their keys, if they differ; return whether."""
    new_a, new_b, order = parts.new[0], parts.new[1], parts.order[row]
    last = start + parts.length[row, start]
    begin = start
    while (
        begin < last
        and new_a[order[begin]] == new_a[order[start]]
        and new_b[order[begin]] == new_b[order[start]]
    ):
        begin += 1
    if begin == last:
        return False
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
    return True


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
    _check_size(graphs, n_marks)
    out = np.empty((len(block), 2), np.uint64)

    def read(index: int, last: int) -> int:
        return int(_read_marked(index, last, graphs, n_marks, STEPS_PER_PIECE, out))

    work = np.diff(graphs.subgraph_ptr) ** min(3, n_marks + 1)
    run_ranges(read, balanced_ranges(pointer(work), None))
    return out


def _check_size(graphs: Subgraphs, n_marks: int) -> None:
    """Refuse subgraphs with so many sequences of marks that the end would never come."""
    ptr, indptr = graphs.subgraph_ptr, graphs.messages.indptr
    sizes, entries = np.diff(ptr), np.diff(ptr + indptr[ptr])
    if (sizes.astype(np.float64) ** n_marks * entries).sum() <= MOST_STEPS:
        return
    cells = _largest_cells(graphs)
    what = f"the readout 'marked-wl-{n_marks}' of {len(cells):,} rooted subgraphs"
    what += f" with up to {cells.max():,} like nodes"
    check_steps(float((cells.astype(np.float64) ** n_marks * entries).sum()), what)


@kernel
def _largest_cells(graphs: Subgraphs) -> Int64:
    """Return the length of the largest cell of each subgraph with its root marked; marks only split it."""
    out = np.empty(len(graphs.root), np.int64)
    for index in range(len(out)):
        parts = _rooted_partition(index, graphs, 1)
        out[index] = parts.length[0, _largest_cell(parts, 0)]
    return out


@kernel
def _read_marked(index: int, last: int, graphs: Subgraphs, n_marks: int, most_steps: int, out: UInt64) -> int:
    """Write the keys of subgraphs ``index..last``; return the first one left after about ``most_steps``."""
    steps = 0
    while index < last and steps <= most_steps:
        # Row d of the partitions is the one after d marks, and the last row is spare.
        parts = _rooted_partition(index, graphs, n_marks + 2)
        out[index, 0], out[index, 1] = _value_of_marks(parts, n_marks)
        steps += parts.order.shape[1] ** 3
        index += 1
    return index


@kernel
def _value_of_marks(  # noqa: C901  (a walk)
    parts: Partitions, n_marks: int
) -> tuple[np.uint64, np.uint64]:
    """Return the value of the partition in row 0, and of all that marks lead to.

    Depth first with a stack of its own, for numba cannot load recursive functions from a cache.
    """
    # By depth: the next place and the end of the cell that marks are taken from, the number of leaves that
    # were seen, and whether the partition one deeper has a leaf.
    n = parts.order.shape[1]
    at = np.zeros((n_marks + 1, 4), np.int64)
    own, total = np.empty((n_marks + 1, 2), np.uint64), np.zeros((n_marks + 1, 2), np.uint64)
    known = np.empty((n_marks + 1, n, 4), np.uint64)  # leaves, and the values they stand for
    depth, is_new, spare = 0, True, n_marks + 1
    while True:
        if is_new:
            own[depth, 0], own[depth, 1] = _value(parts, depth)
            total[depth] = at[depth] = 0
            if depth < n_marks and parts.n_cells[depth] < n:
                at[depth, 0] = _largest_cell(parts, depth)
                at[depth, 1] = at[depth, 0] + parts.length[depth, at[depth, 0]]
        if at[depth, 0] == at[depth, 1]:  # all nodes of the cell were marked: hand the value up
            a, b = own[depth]
            if at[depth, 1]:
                a, b = absorbed(a, b, total[depth, 0], total[depth, 1])
            if depth == 0:
                return a, b
            depth, is_new = depth - 1, False
            found = at[depth, 2]
            at[depth, 2] += at[depth, 3]
            known[depth, found, 2], known[depth, found, 3] = a, b
            total[depth] += known[depth, found, 2:]
            continue
        _copy(parts, depth, depth + 1)
        _mark(parts, depth + 1, parts.order[depth, at[depth, 0]])
        at[depth, 0] += 1
        at[depth, 3] = depth + 1 < n_marks and parts.n_cells[depth + 1] < n
        leaves, n_leaves = known[depth], at[depth, 2]
        found = n_leaves
        if at[depth, 3]:
            # A leaf names all nodes, so an automorphism maps nodes that lead to equal leaves to each other.
            _copy(parts, depth + 1, spare)
            while parts.n_cells[spare] < n:
                _mark(parts, spare, parts.order[spare, _largest_cell(parts, spare)])
            leaves[n_leaves, 0], leaves[n_leaves, 1] = _value(parts, spare)
            found = 0
            while leaves[found, 0] != leaves[n_leaves, 0] or leaves[found, 1] != leaves[n_leaves, 1]:
                found += 1
        is_new = found == n_leaves
        if is_new:
            depth += 1
        else:
            total[depth] += leaves[found, 2:]
