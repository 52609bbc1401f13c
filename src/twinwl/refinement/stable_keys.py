"""Keys of the stable colours of 1-WL, in O((nodes + arcs) log nodes) steps for any number of rounds.

Content keys change in every round, and a path of n nodes takes n / 2 rounds: n² steps. Here a class of nodes
keeps its key until it splits, and then its largest part still keeps it. So a node changes its key only when
its class is halved, and only the neighbours of changed nodes are updated. **Any change here breaks every
stored hash.**

Whether stable colours determine a graph, and which class to look into where they do not.

All nodes of a stable class Q have the same relations to a stable class P. If a node is related to all of P
in the same way, the pair holds no information. If every node of Q singles out one node of P (for example
its only neighbour there, or the only one that is not), Q *hangs on* P: equally many nodes of Q belong to
each node of P, and which ones is a matter of names. So where classes hang on one another like a forest, the
colours determine the graph: any two graphs with these classes and relations are isomorphic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.refinement.content_keys import HEARD, OWN, WHOLE, KeyedMessages, keyed_messages, label_keys
from twinwl.refinement.round_kernels import blended
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

# Columns of `words`, two words each: the key of a node's class, the sum of the keys it receives, its
# signature.
KEY, _SUM, SIGNATURE, _N_WORDS = 0, 2, 4, 6
# Columns of `marks`. A class is a range of positions, identified by its begin; a group, the nodes of a class
# with one signature, is identified by the first that was found.
# By node: its position, class and group, and the last round that queued it. By position: which node is there.
# By class: its length, and how many of its nodes are queued. By group: how many nodes it has, and where the
# next one goes. Lists: the queues of this round and the next, classes with queued nodes, nodes on the move.
_POSITION, CLASS, _GROUP, _QUEUED_IN = 0, 1, 2, 3
NODE = 4
LENGTH, _N_QUEUED = 5, 6
_COUNT, _NEXT = 7, 8
_QUEUE, _OTHER_QUEUE, _TOUCHED, _MOVED, _N_MARKS = 9, 10, 11, 12, 13


_LOG_NODES = 4  # a node is looked at up to log(n) times before a graph is stable
# Digits of the square root of 5: the salt of individualised nodes.
_MARK = np.uint64(0x3C6EF372FE94F82B)


class Classes(NamedTuple):
    """The classes of all nodes, who sends messages to whom, and the room to work of a thread.

    The room is the slots of a hash table, notes on relations of classes, and the number of the round.
    """

    messages: KeyedMessages
    directed: bool
    words: UInt64
    marks: Int32
    slots: Int32
    notes: Int32
    round: Int64


def stable_signatures(batch: GraphBatch, n_threads: int | None = None) -> tuple[UInt64, Int32]:
    """Return the key of each node's last signature, shape (n_nodes, 2), and the size of its class.

    At first the nodes of a graph that have the same label are a class, and the label's key is its key. The
    signature of a node is its class's key with the multiset of the keys it receives. In each round every
    class whose nodes have different signatures splits: the one that most of its nodes have (of several the
    smallest) keeps the key of the class, and each of the others becomes the key of a new class. The last
    round is the first without a split.

    >>> from twinwl import GraphBatch
    >>> signatures, class_size = stable_signatures(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    >>> class_size.tolist(), bool((signatures[0] == signatures[2]).all())
    ([2, 1, 2], True)
    """
    classes = stable_classes(batch, n_threads)
    return classes.words[:, SIGNATURE:].copy(), classes.marks[:, _COUNT].copy()


def stable_classes(batch: GraphBatch, n_threads: int | None = None) -> Classes:
    """Return the stable classes of all graphs, without room to work."""
    graph_ptr, messages = batch.graph_ptr, keyed_messages(batch)
    words = np.zeros((batch.n_nodes, _N_WORDS), np.uint64)
    labels = label_keys(batch.node_vocabulary, b"twl1 label")
    words[:, KEY : KEY + 2] = labels.take(batch.node_labels, axis=0)
    marks = np.empty((batch.n_nodes, _N_MARKS), np.int32)
    no_room = np.empty(0, np.int32), np.empty((0, _N_NOTES), np.int32), np.zeros(1, np.int64)
    classes = Classes(messages, batch.directed, words, marks, *no_room)

    def refine_some(first: int, last: int) -> int:
        room = with_room(classes, int(batch.nodes_per_graph[first:last].max(initial=0)))
        return int(_refine_graphs(first, last, graph_ptr, room, STEPS_PER_PIECE >> _LOG_NODES))

    run_ranges(refine_some, balanced_ranges(messages.indptr[graph_ptr] + graph_ptr, n_threads), n_threads)
    return classes


def with_room(classes: Classes, most_nodes: int) -> Classes:
    """Return the classes with room for one thread to split those of graphs of up to ``most_nodes``."""
    slots = np.zeros(1 << max(4, (2 * most_nodes).bit_length()), np.int32)
    notes = np.empty((most_nodes, _N_NOTES), np.int32)
    return classes._replace(slots=slots, notes=notes, round=np.zeros(1, np.int64))


@kernel
def _refine_graphs(first: int, last: int, graph_ptr: Int64, classes: Classes, most_steps: int) -> int:
    """Refine graphs ``first..last``; return the first that is left after about ``most_steps``."""
    words, marks, indptr = classes.words, classes.marks, classes.messages.indptr
    steps = 0
    while first < last and steps <= most_steps:
        low, high = graph_ptr[first], graph_ptr[first + 1]
        for node in range(low, high):
            marks[node, _POSITION] = marks[node, NODE] = marks[node, _QUEUE] = node
            marks[node, CLASS] = low
            marks[node, _QUEUED_IN] = -1
            marks[node, LENGTH] = high - low
            marks[node, _N_QUEUED] = 0
            words[node, SIGNATURE] = words[node, KEY]
            words[node, SIGNATURE + 1] = words[node, KEY + 1]
        classes.round[0] = 0
        run_rounds(low, high - low, classes)
        sign_all(low, high, classes)
        steps += indptr[high] - indptr[low] + high - low
        first += 1
    return first


@kernel
def run_rounds(low: int, n_queued: int, classes: Classes) -> None:
    """Split the classes of the graph that starts at node ``low`` until none splits.

    ``classes.round`` holds the round in which the first ``n_queued`` nodes of the queue are looked at.
    """
    marks, n_round = classes.marks, classes.round[0]
    while n_queued > 0:
        n_classes = _group(n_round, low, n_queued, classes)
        # A plain 0 has another type, for which kernels would be compiled too.
        n_queued = np.int64(0)  # type: ignore[assignment]
        for place in range(low, low + n_classes):
            begin = marks[place, _TOUCHED]
            end = begin + marks[begin, LENGTH]
            start, middle, keeps = _split(n_round, begin, classes)
            for position in range(start, end):
                changed = np.int64(marks[position, NODE])
                if position < middle or marks[changed, _GROUP] != keeps:
                    n_queued = _tell(n_round, low, n_queued, changed, classes)
        n_round += 1
    classes.round[0] = n_round


@kernel
def sign_all(low: int, high: int, classes: Classes) -> None:
    """Write the last signature and the size of the class of each node of a graph."""
    marks = classes.marks
    for node in range(low, high):
        _sign(node, classes)
        marks[node, _COUNT] = marks[marks[node, CLASS], LENGTH]


@kernel
def individualise(node: int, level: int, low: int, classes: Classes) -> None:
    """Give a node a class of its own where classes are stable, and split what follows.

    Its key depends on ``level``, so that nodes that are individualised one after the other stay apart.
    """
    words, marks = classes.words, classes.marks
    begin, here = marks[node, CLASS], marks[node, _POSITION]
    marks[begin, LENGTH] -= 1
    end = begin + marks[begin, LENGTH]
    other = marks[end, NODE]
    marks[here, NODE], marks[end, NODE] = other, node
    marks[other, _POSITION], marks[node, _POSITION] = here, end
    marks[node, CLASS] = end
    marks[end, LENGTH] = 1
    words[node, SIGNATURE], words[node, SIGNATURE + 1] = blended(
        words[node, KEY], words[node, KEY + 1], _MARK + np.uint64(level)
    )
    run_rounds(low, _tell(classes.round[0] - 1, low, np.int64(0), node, classes), classes)


@kernel
def _group(n_round: int, low: int, n_queued: int, classes: Classes) -> int:
    """Move queued nodes to the end of their classes, and find the first with the same signature for each."""
    words, marks, slots = classes.words, classes.marks, classes.slots
    n_classes = 0
    queue = _QUEUE + (n_round & 1)
    mask = np.uint64(len(slots) - 1)
    for place in range(low, low + n_queued):
        node = np.int64(marks[place, queue])
        begin = marks[node, CLASS]
        if n_round > 0:
            if marks[begin, LENGTH] == 1:  # nothing to split
                continue
            _sign(node, classes)
        if marks[begin, _N_QUEUED] == 0:
            marks[low + n_classes, _TOUCHED] = begin
            n_classes += 1
        marks[begin, _N_QUEUED] += 1
        here, there = marks[node, _POSITION], begin + marks[begin, LENGTH] - marks[begin, _N_QUEUED]
        other = marks[there, NODE]
        marks[here, NODE], marks[there, NODE] = other, node
        marks[other, _POSITION], marks[node, _POSITION] = here, there
        a, b = words[node, SIGNATURE], words[node, SIGNATURE + 1]
        slot = a & mask
        while slots[slot] > 0:
            known = slots[slot] - 1
            if words[known, SIGNATURE] == a and words[known, SIGNATURE + 1] == b:
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == 0:
            slots[slot] = node + 1
            marks[node, _COUNT] = 0
            marks[node, _NEXT] = slot
        group = slots[slot] - 1
        marks[node, _GROUP] = group
        marks[group, _COUNT] += 1
    return n_classes


@kernel
def _split(n_round: int, begin: int, classes: Classes) -> tuple[int, int, int]:
    """Make a class of each group of a class.

    Nodes that are not queued have received nothing new, so they have one signature and are a group too.

    Returns
    -------
    start, middle, keeps
        The nodes from position ``start`` on have new keys, except for the group ``keeps``, which only those
        from ``middle`` on can belong to.
    """
    words, marks, slots = classes.words, classes.marks, classes.slots
    end = begin + marks[begin, LENGTH]
    middle = end - marks[begin, _N_QUEUED]
    marks[begin, _N_QUEUED] = 0
    start, keeps, most, largest = middle, -1, middle - begin, marks[begin, NODE]
    for position in range(middle, end):
        node = marks[position, NODE]
        if marks[node, _GROUP] == node:
            slots[marks[node, _NEXT]] = 0
            n = marks[node, _COUNT]
            a, b = words[node, SIGNATURE], words[node, SIGNATURE + 1]
            x, y = words[largest, SIGNATURE], words[largest, SIGNATURE + 1]
            if n > most or (n == most and (a < x or (a == x and b < y))):
                start, keeps, most, largest = begin, node, n, node
    if n_round == 0:  # the first classes are those of labels, each with its own key
        start, keeps = begin, -1
    if most == end - begin:
        return (begin if n_round == 0 else end), middle, -1
    marks[begin, LENGTH] = middle - begin
    cursor = middle
    for position in range(middle, end):
        node = marks[position, NODE]
        marks[position, _MOVED] = node
        if marks[node, _GROUP] == node:
            marks[cursor, LENGTH] = marks[node, _COUNT]
            marks[node, _NEXT] = cursor
            cursor += marks[node, _COUNT]
    for position in range(middle, end):
        node = marks[position, _MOVED]
        group = marks[node, _GROUP]
        there = marks[group, _NEXT]
        marks[group, _NEXT] = there + 1
        marks[there, NODE] = node
        marks[node, _POSITION] = there
    for position in range(middle, end):
        node = marks[position, NODE]
        group = marks[node, _GROUP]
        marks[node, CLASS] = marks[group, _NEXT] - marks[group, _COUNT]
    return start, middle, keeps


@kernel
def _tell(n_round: int, low: int, n_queued: int, node: int, classes: Classes) -> int:
    """Make a node's signature its key, and queue it and its neighbours; return the queue's length."""
    words, marks = classes.words, classes.marks
    indptr, indices, codes, code_keys = classes.messages
    old_a, old_b = words[node, KEY], words[node, KEY + 1]
    new_a, new_b = words[node, SIGNATURE], words[node, SIGNATURE + 1]
    words[node, KEY], words[node, KEY + 1] = new_a, new_b
    n_queued = _queue(n_round, low, n_queued, node, marks)
    first, last = indptr[node], indptr[node + 1]
    x = y = np.uint64(0)
    for message in range(first, last):
        if message == first or len(codes):
            # Messages pass from the tail of an arc to its head, and from its head to its tail.
            code = (codes[message] ^ classes.directed) if len(codes) else 0
            x, y = blended(new_a ^ code_keys[code, 0], new_b + code_keys[code, 1], HEARD)
            if n_round > 0:
                old_x, old_y = blended(old_a ^ code_keys[code, 0], old_b + code_keys[code, 1], HEARD)
                x -= old_x
                y -= old_y
        other = np.int64(indices[message])
        words[other, _SUM] += x
        words[other, _SUM + 1] += y
        n_queued = _queue(n_round, low, n_queued, other, marks)
    return n_queued


@kernel
def _queue(n_round: int, low: int, n_queued: int, node: int, marks: Int32) -> int:
    """Put a node into the next round's queue, once."""
    if marks[node, _QUEUED_IN] == n_round:
        return n_queued
    marks[node, _QUEUED_IN] = n_round
    marks[low + n_queued, _QUEUE + 1 - (n_round & 1)] = node
    return n_queued + 1


@kernel
def _sign(node: int, classes: Classes) -> None:
    """Write a node's signature: its key, the sum of the keys it receives, and their number."""
    words, indptr = classes.words, classes.messages.indptr
    a, b = blended(words[node, KEY], words[node, KEY + 1], OWN)
    n_heard = np.uint64(indptr[node + 1] - indptr[node] + 1)
    words[node, SIGNATURE], words[node, SIGNATURE + 1] = blended(
        a + words[node, _SUM], b + words[node, _SUM + 1], WHOLE + n_heard
    )


# What is known of the relations of a class to another.
_ALIKE, _SINGLES_ONE_OUT, _OTHER = 0, 1, 2
# Columns of `notes`, one row per node of a graph. By class: the number of classes that it has other relations
# with, the exclusive or of those, the relation to itself, and a list of classes. By class, heard by another:
# the number of messages, those of the first kind, that kind, a second kind, and the class that heard it. By
# node: the last node that heard it.
_DEGREE, _PARTNERS, _INNER, _LIST = 0, 1, 2, 3
_HEARD, _OF_FIRST, _FIRST, _SECOND, _HEARD_BY = 4, 5, 6, 7, 8
_LAST, _N_NOTES = 9, 10
_NO_KIND, _MANY_KINDS = -1, -2


@kernel
def class_to_split(low: int, high: int, classes: Classes) -> int:
    """Return a class on which it depends what the graph is, or -1 if the stable classes determine the graph.

    The graph has the nodes ``low..high``.
    """
    _note_relations(low, high, classes)
    marks, notes = classes.marks, classes.notes
    n_leaves = 0
    begin = low
    while begin < high:
        if notes[begin - low, _DEGREE] == 1:
            notes[n_leaves, _LIST] = begin
            n_leaves += 1
        begin += marks[begin, LENGTH]
    # Take away classes that hang on one other, until none is left that does.
    while n_leaves > 0:
        n_leaves -= 1
        leaf = notes[n_leaves, _LIST]
        if notes[leaf - low, _DEGREE] != 1 or notes[leaf - low, _INNER] != _ALIKE:
            continue
        stem = notes[leaf - low, _PARTNERS]
        if _relation(leaf, stem, low, classes) != _SINGLES_ONE_OUT:
            continue
        notes[leaf - low, _DEGREE] = 0
        notes[stem - low, _DEGREE] -= 1
        notes[stem - low, _PARTNERS] ^= leaf
        if notes[stem - low, _DEGREE] == 1:
            notes[n_leaves, _LIST] = stem
            n_leaves += 1
    return _smallest_left(low, high, classes)


@kernel
def _note_relations(low: int, high: int, classes: Classes) -> None:
    """Note with how many classes, and with which, each class has relations that differ from node to node."""
    marks, notes = classes.marks, classes.notes
    indptr, indices, _, _ = classes.messages
    for place in range(high - low):
        notes[place, _HEARD_BY] = notes[place, _LAST] = -1
    begin = low
    while begin < high:
        place = begin - low
        notes[place, _DEGREE] = notes[place, _PARTNERS] = notes[place, _INNER] = 0
        if marks[begin, LENGTH] > 1:
            node = marks[begin, NODE]
            _hear(node, begin, low, classes)
            for message in range(indptr[node], indptr[node + 1]):
                other = marks[indices[message], CLASS]
                if notes[other - low, _HEARD_BY] != begin:  # a single node, or seen before
                    continue
                relation = _judged(begin, other, low, classes)
                notes[other - low, _HEARD_BY] = -1
                if other == begin:
                    notes[place, _INNER] = relation
                elif relation != _ALIKE:
                    notes[place, _DEGREE] += 1
                    notes[place, _PARTNERS] ^= other
        begin += marks[begin, LENGTH]


@kernel
def _hear(node: int, begin: int, low: int, classes: Classes) -> None:
    """Count what a node, the first of its class, hears from each class of several nodes."""
    marks, notes = classes.marks, classes.notes
    indptr, indices, codes, _ = classes.messages
    for message in range(indptr[node], indptr[node + 1]):
        other = marks[indices[message], CLASS]
        if marks[other, LENGTH] == 1:
            continue
        code = codes[message] if len(codes) else 0
        row = other - low
        if notes[row, _HEARD_BY] != begin:
            notes[row, _HEARD_BY] = begin
            notes[row, _HEARD] = notes[row, _OF_FIRST] = 0
            notes[row, _FIRST] = code
            notes[row, _SECOND] = _NO_KIND
        notes[row, _HEARD] += 1
        if code == notes[row, _FIRST]:
            notes[row, _OF_FIRST] += 1
        elif notes[row, _SECOND] in (_NO_KIND, code):
            notes[row, _SECOND] = code
        else:
            notes[row, _SECOND] = _MANY_KINDS
        heard = indices[message] - low
        if notes[heard, _LAST] == node:  # twice from the same node: arcs both ways
            notes[row, _SECOND] = _MANY_KINDS
        notes[heard, _LAST] = node


@kernel
def _judged(begin: int, other: int, low: int, classes: Classes) -> int:
    """Tell what the counts of `_hear` mean."""
    row, notes = other - low, classes.notes
    n = classes.marks[other, LENGTH] - (other == begin)
    heard, of_first = notes[row, _HEARD], notes[row, _OF_FIRST]
    if notes[row, _SECOND] == _MANY_KINDS:
        return _OTHER
    if of_first == n:
        return _ALIKE
    if of_first == heard and heard in (1, n - 1):
        return _SINGLES_ONE_OUT
    if heard == n and of_first in (1, n - 1):
        return _SINGLES_ONE_OUT
    return _OTHER


@kernel
def _relation(begin: int, other: int, low: int, classes: Classes) -> int:
    """Tell what a node of one class knows about another class that it hears."""
    indptr, indices, _, _ = classes.messages
    node = classes.marks[begin, NODE]
    for message in range(indptr[node], indptr[node + 1]):  # clear what was noted when it heard them before
        classes.notes[indices[message] - low, _LAST] = -1
        classes.notes[classes.marks[indices[message], CLASS] - low, _HEARD_BY] = -1
    _hear(node, begin, low, classes)
    return _judged(begin, other, low, classes)


@kernel
def _smallest_left(low: int, high: int, classes: Classes) -> int:
    """Return the smallest class that was not taken away (of several the one with the smallest key), or -1."""
    words, marks, notes = classes.words, classes.marks, classes.notes
    chosen = -1
    begin = low
    while begin < high:
        length = marks[begin, LENGTH]
        if length > 1 and (notes[begin - low, _DEGREE] > 0 or notes[begin - low, _INNER] == _OTHER):
            if chosen < 0 or length < marks[chosen, LENGTH]:
                chosen = begin
            elif length == marks[chosen, LENGTH]:
                node, best = marks[begin, NODE], marks[chosen, NODE]
                a, x = words[node, KEY], words[best, KEY]
                if a < x or (a == x and words[node, KEY + 1] < words[best, KEY + 1]):
                    chosen = begin
        begin += length
    return chosen
