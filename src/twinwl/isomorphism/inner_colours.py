"""Readouts that refine colours inside each rooted subgraph.

- ``wl`` and ``rooted-wl`` run 1-WL; ``rooted-wl`` marks the root first.
- ``rooted-fwl2`` runs folklore 2-WL, which is as strong as 3-WL, at cubic cost.
- ``marked-wl-K`` marks K more nodes, one after the other, and refines after each mark. It gets stronger with
  every mark.

In this order: 1-WL, folklore 2-WL, and marks, with the partitions that these refine. A colour is identified
by its key, two 64-bit words that depend on its content alone, so that values compare between batches.
"""

from typing import NamedTuple

import numpy as np

from twinwl.arguments import pointer
from twinwl.arrays import Bool, Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.isomorphism.rooted import RootedBlock, Subgraphs
from twinwl.refinement import content_keys
from twinwl.refinement.colours import balanced_ranges, run_ranges
from twinwl.refinement.content_keys import ABSORBED, KeyedMessages, absorb, next_keys, row_keys
from twinwl.refinement.round_kernels import stir

_USUAL_ROUNDS = 16  # assumed number of rounds until colours are stable, to estimate the work of threads


def wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph."""
    return _stable_keys(block, marked=False)


def rooted_wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph, its root marked from the start.

    Marking nodes by their distance from the root would add nothing: with the root marked, a colour contains
    the distance after h rounds.
    """
    return _stable_keys(block, marked=True)


def _stable_keys(block: RootedBlock, *, marked: bool) -> UInt64:
    subgraph_ptr, root, messages, keys = block.as_subgraphs()
    if marked:
        keys[root] = row_keys(keys[root])  # as if the root had a label of its own
    messages = messages._replace(code_keys=content_keys.absorbing_codes(messages.code_keys))
    out = np.empty((len(block), 2), np.uint64)

    def refine(first: int, last: int) -> None:
        _refine(first, last, subgraph_ptr, messages, keys, out)

    work = (messages.indptr[subgraph_ptr] + subgraph_ptr) * _USUAL_ROUNDS  # a step per message and per node
    run_ranges(refine, balanced_ranges(work))
    return out


@kernel
def _refine(
    begin: int, end: int, subgraph_ptr: Int64, messages: KeyedMessages, keys: UInt64, out: UInt64
) -> None:
    """Write one key for each subgraph: its size, the round s it is stable in, its colours in round s + 1.

    Each subgraph is refined on its own, until a round splits no colour. The colours of this last round count,
    although the partition was stable before it: a hexagon and K3,3 both start with one colour, which is
    stable at once, and only the next round shows that their nodes have different degrees. Two graphs that
    agree in the round after stability agree in all later rounds.

    Parameters
    ----------
    keys : array of uint64, shape (n_nodes, 2)
        Keys of the labels; overwritten in each round.
    out : array of uint64, shape (n_subgraphs, 2)
    """
    following = np.empty_like(keys)
    for index in range(begin, end):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        n_colours, n_before, n_rounds = n_distinct(keys, first, last), 0, 0
        a, b = np.uint64(0), np.uint64(0)
        while n_colours != n_before:
            next_keys(first, last, messages, keys, keys, ABSORBED, following)
            a, b = np.uint64(0), np.uint64(0)
            for node in range(first, last):
                keys[node, 0], keys[node, 1] = following[node, 0], following[node, 1]
                a += keys[node, 0]
                b += keys[node, 1]
            n_before, n_colours = n_colours, n_distinct(keys, first, last)
            n_rounds += 1
        out[index, 0], out[index, 1] = absorb(a, b, np.uint64(last - first), np.uint64(n_rounds - 1))


@kernel
def n_distinct(keys: UInt64, first: int, last: int) -> int:
    """Count the different keys in a range of rows of an array of shape (n, 1) or (n, 2).

    A round only ever splits colours, so counting them shows when they are stable. Only the first words are
    compared: two of them are equal by chance with a probability of 2⁻⁶⁴ per pair.
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

    In each round a pair (u, v) receives, for each node w, the colours of (u, w) and (w, v) together. For a
    subgraph of n nodes that takes O(n³) time per round and O(n²) memory.
    """
    graphs = block.as_subgraphs()
    out = np.empty((len(block), 2), np.uint64)

    def refine(first: int, last: int) -> None:
        _refine_pairs(first, last, graphs, out)

    run_ranges(refine, balanced_ranges(pointer(np.diff(graphs.subgraph_ptr) ** 3)))
    return out


@kernel
def _refine_pairs(first: int, last: int, graphs: Subgraphs, out: UInt64) -> None:
    """Write the keys of subgraphs ``first..last``.

    As in `_refine`, a key is the size, the round s in which pairs are stable, and their colours in s + 1. The
    matrices ``a`` and ``b``, shape (n, n), hold the two words of the colours of all pairs.
    """
    for index in range(first, last):
        a, b = _initial_pairs(index, graphs)
        n_colours, n_before, n_rounds = n_distinct(a.reshape(-1, 1), 0, a.size), 0, 0
        while n_colours != n_before:
            a, b = pass_pairs(a, b)
            n_before, n_colours = n_colours, n_distinct(a.reshape(-1, 1), 0, a.size)
            n_rounds += 1
        out[index, 0], out[index, 1] = absorb(a.sum(), b.sum(), np.uint64(len(a)), np.uint64(n_rounds - 1))


@kernel
def _initial_pairs(index: int, graphs: Subgraphs) -> tuple[UInt64, UInt64]:
    """Colour (u, v) by both labels, which of them is the root, whether u is v, and the arcs between them."""
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
            x, y = absorb(a[u, v], b[u, v], kind, kind)
            x, y = absorb(x, y, label_keys[first + u, 0], label_keys[first + u, 1])
            a[u, v], b[u, v] = absorb(x, y, label_keys[first + v, 0], label_keys[first + v, 1])
    return a, b


@kernel
def pass_pairs(a: UInt64, b: UInt64) -> tuple[UInt64, UInt64]:
    """Return the keys of all pairs (u, v), two matrices of words, after one more round."""
    # A colour is that of (u, w) or of (w, v). It is mixed for either role here, outside the cubic loop, so
    # that the loop itself only combines and stirs.
    left_a, left_b = absorb(a, b, np.uint64(1), np.uint64(2))
    right_a, right_b = absorb(a, b, np.uint64(3), np.uint64(4))
    # Transposed, so that the inner loop reads both matrices along rows.
    right_a, right_b = np.ascontiguousarray(right_a.T), np.ascontiguousarray(right_b.T)
    new_a, new_b = np.empty_like(a), np.empty_like(b)
    for u in range(len(a)):
        for v in range(len(a)):
            total_a, total_b = np.uint64(0), np.uint64(0)
            for w in range(len(a)):
                total_a += stir(left_a[u, w] ^ right_a[v, w])
                total_b += stir(left_b[u, w] + right_b[v, w])
            new_a[u, v], new_b[u, v] = absorb(a[u, v], b[u, v], total_a, total_b)
    return new_a, new_b


def marked_wl(block: RootedBlock, n_marks: int) -> UInt64:
    """Return the key of each subgraph after ``n_marks`` marks, its root marked from the start.

    The value of a stable partition with no mark left is that of its colours, as with ``rooted-wl``. With
    marks left, it is made of this and of the multiset of the values with one mark less, after each node of
    the largest cell was marked in turn. Nodes that an automorphism maps to each other lead to equal values,
    which are computed once.
    """
    graphs = block.as_subgraphs()
    out = np.empty((len(block), 2), np.uint64)

    def read(first: int, last: int) -> None:
        _write_marked_keys(first, last, graphs, n_marks, out)

    # An estimate to balance threads, at most a cube: higher powers could overflow 64 bits, and automorphisms
    # spare most sequences of several marks anyway.
    work = np.diff(graphs.subgraph_ptr) ** min(3, n_marks + 1)
    run_ranges(read, balanced_ranges(pointer(work)))
    return out


_MARK = np.uint64(0x3C6EF372FE94F82B)  # absorbed by the key of a marked node (digits of the square root of 5)
_INSERTION_SORT_UP_TO = 24  # nodes


class Partition(NamedTuple):
    """A partition of the n nodes of one subgraph into cells, and scratch arrays to refine it.

    The nodes are listed cell after cell, so a cell is a range of places and is named by its first place. Only
    cells that receive a changed key are looked at again, so the cost of a mark depends on what it changes.
    For example, the cells {4, 0, 2} and {1, 3} of five nodes::

        place     0  1  2 | 3  4
        order     4  0  2 | 1  3      cell[0] = cell[2] = cell[4] = 0, cell[1] = cell[3] = 3
        length    3       | 2         (other entries are not used)

    Attributes
    ----------
    messages : KeyedMessages
        Those of this subgraph, its nodes numbered from 0.
    keys : array of uint64, shape (n, 2)
        The content of each node's colour in 128 bits. The nodes of a cell have one key.
    cells : array of int32, shape (3, n)
        Three rows: ``order``, the nodes, cell after cell; ``cell``, the place where each node's cell starts;
        ``length``, the number of nodes of the cell that starts at a place.
    new_keys : array of uint64, shape (n, 2)
        What the keys become if a node's cell splits.
    lists : array of int32, shape (2, n)
        The nodes whose keys have changed, and the cells that receive them.
    listed : array of bool, shape (n,)
        Whether the cell that starts at a place is in the second list.
    """

    messages: KeyedMessages
    keys: UInt64
    cells: Int32
    new_keys: UInt64
    lists: Int32
    listed: Bool


@kernel
def _write_marked_keys(first: int, last: int, graphs: Subgraphs, n_marks: int, out: UInt64) -> None:
    """Write the keys of subgraphs ``first..last``."""
    for index in range(first, last):
        # Partition d is the one after d marks. One more, the last, is scratch to compute leaves in.
        out[index, 0], out[index, 1] = _key_after_marks(
            _rooted_partitions(index, graphs, n_marks + 2), n_marks
        )


@kernel
def _key_after_marks(  # noqa: C901  (a walk)
    parts: Partition, n_marks: int
) -> tuple[np.uint64, np.uint64]:
    """Return the key of partition 0 with ``n_marks`` marks left: the value that `marked_wl` describes.

    A depth-first search over sequences of marks. It keeps a stack of its own, because numba cannot load
    recursive functions from a cache.

    To find equivalent marks, each gets a *leaf*: what results from marking more nodes, always the first of
    the largest cell, until each node has a cell of its own. Two marks with equal leaves are equivalent by an
    automorphism, so the value of the first is used for the second. (Unequal leaves prove nothing; then the
    value is computed.)
    """
    n = len(parts.listed)
    # All arrays are indexed by depth, the number of marks so far. next_place, cell_end: place of the next
    # node to mark, and end of the cell that it is in. n_known: number of different leaves of the marks so
    # far. has_leaf: whether the mark that is tried has a leaf: it has none if the value is as cheap to
    # compute, that is at the last mark, or if each node has a cell of its own already.
    next_place, cell_end, n_known, has_leaf = np.zeros((4, n_marks + 1), np.int64)
    # The value of the partition's own colours, and the sum of the values of the marks so far.
    own, total = np.zeros((2, n_marks + 1, 2), np.uint64)
    # The key of each different leaf, and the value of its mark. Place n_known is free: without a leaf, it is
    # used for each mark anew.
    leaves, values = np.empty((2, n_marks + 1, n, 2), np.uint64)
    depth, entered, spare = 0, True, _partition_at(n_marks + 1, parts)
    while True:
        part = _partition_at(depth, parts)
        if entered:
            own[depth, 0], own[depth, 1] = _partition_key(part)
            total[depth] = 0
            next_place[depth] = cell_end[depth] = n_known[depth] = 0
            start = _largest_cell(part)
            if depth < n_marks and part.cells[2, start] > 1:
                next_place[depth], cell_end[depth] = start, start + part.cells[2, start]
        # All nodes of the cell were marked: return the value to one mark less.
        if next_place[depth] == cell_end[depth]:
            a, b = own[depth]
            if cell_end[depth]:  # 0 if no mark was left, or no cell of several nodes to choose from
                a, b = absorb(a, b, total[depth, 0], total[depth, 1])
            if depth == 0:
                return a, b
            depth, entered = depth - 1, False
            found = n_known[depth]
            values[depth, found, 0], values[depth, found, 1] = a, b
            total[depth] += values[depth, found]
            # Without a leaf the value cannot be used again, and its place stays free.
            n_known[depth] += has_leaf[depth]
            continue
        deeper = _partition_at(depth + 1, parts)
        deeper.keys[:], deeper.cells[:] = part.keys, part.cells
        _mark(deeper, np.int64(part.cells[0, next_place[depth]]))
        next_place[depth] += 1
        found = n_known[depth]
        start = _largest_cell(deeper)
        has_leaf[depth] = depth + 1 < n_marks and deeper.cells[2, start] > 1
        if has_leaf[depth]:
            # Each node of a leaf has a key of its own, so equal leaves map the nodes onto each other.
            spare.keys[:], spare.cells[:] = deeper.keys, deeper.cells
            while spare.cells[2, start] > 1:
                _mark(spare, np.int64(spare.cells[0, start]))
                start = _largest_cell(spare)
            leaves[depth, found, 0], leaves[depth, found, 1] = _partition_key(spare)
            found = 0  # the search ends at the latest with the new leaf itself
            while not _are_equal(leaves[depth], found, n_known[depth]):
                found += 1
        entered = found == n_known[depth]
        if entered:
            depth += 1
        else:
            total[depth] += values[depth, found]


@kernel
def _rooted_partitions(index: int, graphs: Subgraphs, n_parts: int) -> Partition:
    """Return ``n_parts`` partitions of a subgraph; the first is stable and has the root marked.

    ``keys`` and ``cells`` have one more axis at the front, by which `_partition_at` selects a single
    partition. The other arrays are shared.
    """
    first, last = graphs.subgraph_ptr[index], graphs.subgraph_ptr[index + 1]
    indptr, indices, codes, code_keys = graphs.messages
    begin, end, n = indptr[first], indptr[last], last - first
    own_indptr, own_indices = indptr[first : last + 1] - begin, indices[begin:end] - np.int32(first)
    parts = Partition(
        KeyedMessages(own_indptr, own_indices, codes[begin:end], code_keys),
        np.empty((n_parts, n, 2), np.uint64),
        np.zeros((n_parts, 3, n), np.int32),
        graphs.label_keys[first:last].copy(),
        np.empty((2, n), np.int32),
        np.zeros(n, np.bool_),
    )
    part = _partition_at(0, parts)
    order, length = part.cells[0], part.cells[2]
    # One cell of all nodes, all of them listed as changed. `_divide_cell` splits it by ``new_keys``, the keys
    # of the labels. If all labels are equal it changes nothing, so keys and list are filled here.
    part.keys[:] = part.new_keys
    length[0] = n
    for node in range(n):
        order[node] = part.lists[0, node] = node
    _divide_cell(part, np.int32(0), np.int64(0))  # for literals, numba would compile it once more
    _refine_cells(part, n)
    _mark(part, graphs.root[index] - first)
    return parts


@kernel
def _partition_at(place: int, parts: Partition) -> Partition:
    """Return the partition at a place of `_rooted_partitions`."""
    messages, keys, cells, new_keys, lists, listed = parts
    return Partition(messages, keys[place], cells[place], new_keys, lists, listed)


@kernel
def _mark(part: Partition, node: int) -> None:
    """Give a node a cell of its own and refine to stability."""
    keys, order, cell, length = part.keys, part.cells[0], part.cells[1], part.cells[2]
    keys[node, 0], keys[node, 1] = absorb(keys[node, 0], keys[node, 1], _MARK, _MARK)
    start = cell[node]
    if length[start] > 1:
        place = start
        while order[place] != node:
            place += 1
        order[place], order[start] = order[start], node
        for place in range(start + 1, start + length[start]):
            cell[order[place]] = start + 1
        length[start], length[start + 1] = 1, length[start] - 1
    part.lists[0, 0] = node
    _refine_cells(part, np.int64(1))


@kernel
def _largest_cell(part: Partition) -> int:
    """Return the start of the largest cell; in a tie, the one with the smallest key."""
    order, length = part.cells[0], part.cells[2]
    best = place = 0
    while place < len(order):
        smaller = part.keys[order[place], 0] < part.keys[order[best], 0]
        if length[place] > length[best] or (length[place] == length[best] and smaller):
            best = place
        place += length[place]
    return best


@kernel
def _partition_key(part: Partition) -> tuple[np.uint64, np.uint64]:
    """Return the key of a stable partition: each cell's length, its key, and the keys its nodes receive.

    Two graphs have equal values if and only if 1-WL cannot tell their initial partitions apart. If each node
    has a cell of its own, this is the case if and only if the partitions are isomorphic, because the value
    then lists each node with its neighbours.
    """
    order, length = part.cells[0], part.cells[2]
    total_a, total_b = np.uint64(0), np.uint64(0)
    place = n_cells = 0
    while place < len(order):
        a, b = _signature(part, order[place])
        a, b = absorb(a, b, np.uint64(length[place]), np.uint64(0))
        total_a += a
        total_b += b
        n_cells += 1
        place += length[place]
    return absorb(total_a, total_b, np.uint64(len(order)), np.uint64(n_cells))


@kernel
def _refine_cells(part: Partition, n_changed: int) -> None:
    """Split cells until the nodes of each receive the same keys; the first list holds the changed nodes.

    The new keys of all cells of a round are computed before any of them changes, so that keys do not depend
    on the order of cells. A cell that does not split keeps its key: nothing changes for its neighbours.
    """
    indptr, indices, _, _ = part.messages
    order, cell, length = part.cells[0], part.cells[1], part.cells[2]
    changed, waiting = part.lists[0], part.lists[1]
    while n_changed:
        n_waiting = 0
        # Messages pass both ways along every edge and arc, so a node sends to those that it receives from.
        for node in changed[:n_changed]:
            for message in range(indptr[node], indptr[node + 1]):
                start = cell[indices[message]]
                if length[start] > 1 and not part.listed[start]:
                    part.listed[start] = True
                    waiting[n_waiting] = start
                    n_waiting += 1
        for start in waiting[:n_waiting]:
            part.listed[start] = False
            for node in order[start : start + length[start]]:
                part.new_keys[node, 0], part.new_keys[node, 1] = _signature(part, node)
        n_changed = 0
        for start in waiting[:n_waiting]:
            n_changed = _divide_cell(part, start, np.int64(n_changed))


@kernel
def _signature(part: Partition, node: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a node's key and of the multiset of its neighbours' keys."""
    indptr, indices, codes, code_keys = part.messages
    keys = part.keys
    a, b = np.uint64(0), np.uint64(0)
    for message in range(indptr[node], indptr[node + 1]):
        code = codes[message] if len(codes) else 0
        a += stir(keys[indices[message], 0] ^ code_keys[code, 0])
        b += stir(keys[indices[message], 1] + code_keys[code, 1])
    return absorb(keys[node, 0], keys[node, 1], a, b)


@kernel
def _divide_cell(part: Partition, start: int, n_changed: int) -> int:
    """Split a cell whose nodes have different new keys, which become their keys; list these nodes."""
    keys, new_keys = part.keys, part.new_keys
    order, cell, length = part.cells[0], part.cells[1], part.cells[2]
    last = start + length[start]
    begin = start
    while begin < last and _are_equal(new_keys, order[begin], order[start]):
        begin += 1
    if begin == last:
        return n_changed
    _sort(order, start, last, new_keys)
    begin = start
    for place in range(start, last):
        node = order[place]
        if not _are_equal(new_keys, node, order[begin]):
            begin = place
        keys[node, 0], keys[node, 1] = new_keys[node, 0], new_keys[node, 1]
        cell[node] = begin
        length[begin] = place + 1 - begin
        part.lists[0, n_changed] = node
        n_changed += 1
    return n_changed


@kernel
def _are_equal(keys: UInt64, one: int, other: int) -> bool:
    return keys[one, 0] == keys[other, 0] and keys[one, 1] == keys[other, 1]


@kernel
def _sort(order: Int32, start: int, last: int, keys: UInt64) -> None:
    """Sort a range of nodes by the first words of their keys.

    Most cells have few nodes, for which insertion sort is faster.
    """
    if last - start > _INSERTION_SORT_UP_TO:
        part = order[start:last].copy()
        order[start:last] = part[np.argsort(keys[part, 0], kind="mergesort")]
        return
    for place in range(start + 1, last):
        node = order[place]
        hole = place
        while hole > start and keys[order[hole - 1], 0] > keys[node, 0]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = node
