"""Whether stable colours determine a graph, and which class to look into where they do not.

All nodes of a stable class Q have the same relations to a stable class P. If a node is related to all of P
in the same way, the pair holds no information. If every node of Q singles out one node of P (for example
its only neighbour there, or the only one that is not), Q *hangs on* P: equally many nodes of Q belong to
each node of P, and which ones is a matter of names. So where classes hang on one another like a forest, the
colours determine the graph: any two graphs with these classes and relations are isomorphic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.compilation.kernel import kernel
from twinwl.refinement.stable_keys import CLASS, KEY, LENGTH, NODE, Classes

if TYPE_CHECKING:
    from twinwl.arrays import Int32
    from twinwl.refinement.content_keys import KeyedMessages

# What is known of the relations of a class to another.
_ALIKE, _SINGLES_ONE_OUT, _OTHER = 0, 1, 2
# Columns of `notes`, one row per node of a graph. By class: the number of classes that it has other relations
# with, the exclusive or of those, the relation to itself, and a list of classes. By class, heard by another:
# the number of messages, those of the first kind, that kind, a second kind, and the class that heard it. By
# node: the last node that heard it.
_DEGREE, _PARTNERS, _INNER, _LIST = 0, 1, 2, 3
_HEARD, _OF_FIRST, _FIRST, _SECOND, _HEARD_BY = 4, 5, 6, 7, 8
_LAST, N_NOTES = 9, 10
_NO_KIND, _MANY_KINDS = -1, -2


@kernel
def class_to_split(low: int, high: int, messages: KeyedMessages, classes: Classes, notes: Int32) -> int:
    """Return a class on which it depends what the graph is, or -1 if the stable classes determine the graph.

    Parameters
    ----------
    low, high
        The nodes of the graph.
    notes : array of int32, shape (at least high - low, N_NOTES)
        Room to work in.
    """
    _note_relations(low, high, messages, classes.marks, notes)
    n_leaves = 0
    begin = low
    marks = classes.marks
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
        if _relation(leaf, stem, low, messages, marks, notes) != _SINGLES_ONE_OUT:
            continue
        notes[leaf - low, _DEGREE] = 0
        notes[stem - low, _DEGREE] -= 1
        notes[stem - low, _PARTNERS] ^= leaf
        if notes[stem - low, _DEGREE] == 1:
            notes[n_leaves, _LIST] = stem
            n_leaves += 1
    return _smallest_left(low, high, classes, notes)


@kernel
def _note_relations(low: int, high: int, messages: KeyedMessages, marks: Int32, notes: Int32) -> None:
    """Note with how many classes, and with which, each class has relations that differ from node to node."""
    indptr, indices, _, _ = messages
    for place in range(high - low):
        notes[place, _HEARD_BY] = notes[place, _LAST] = -1
    begin = low
    while begin < high:
        place = begin - low
        notes[place, _DEGREE] = notes[place, _PARTNERS] = notes[place, _INNER] = 0
        if marks[begin, LENGTH] > 1:
            node = marks[begin, NODE]
            _hear(node, begin, low, messages, marks, notes)
            for message in range(indptr[node], indptr[node + 1]):
                other = marks[indices[message], CLASS]
                if notes[other - low, _HEARD_BY] != begin:  # a single node, or seen before
                    continue
                relation = _judged(begin, other, low, marks, notes)
                notes[other - low, _HEARD_BY] = -1
                if other == begin:
                    notes[place, _INNER] = relation
                elif relation != _ALIKE:
                    notes[place, _DEGREE] += 1
                    notes[place, _PARTNERS] ^= other
        begin += marks[begin, LENGTH]


@kernel
def _hear(node: int, begin: int, low: int, messages: KeyedMessages, marks: Int32, notes: Int32) -> None:
    """Count what a node, the first of its class, hears from each class of several nodes."""
    indptr, indices, codes, _ = messages
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
def _judged(begin: int, other: int, low: int, marks: Int32, notes: Int32) -> int:
    """Tell what the counts of `_hear` mean."""
    row = other - low
    n = marks[other, LENGTH] - (other == begin)
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
def _relation(begin: int, other: int, low: int, messages: KeyedMessages, marks: Int32, notes: Int32) -> int:
    """Tell what a node of one class knows about another class that it hears."""
    node = marks[begin, NODE]
    _forget(node, low, messages, marks, notes)
    _hear(node, begin, low, messages, marks, notes)
    return _judged(begin, other, low, marks, notes)


@kernel
def _forget(node: int, low: int, messages: KeyedMessages, marks: Int32, notes: Int32) -> None:
    """Clear what was noted when the node was heard before."""
    for message in range(messages.indptr[node], messages.indptr[node + 1]):
        heard = messages.indices[message]
        notes[heard - low, _LAST] = -1
        notes[marks[heard, CLASS] - low, _HEARD_BY] = -1


@kernel
def _smallest_left(low: int, high: int, classes: Classes, notes: Int32) -> int:
    """Return the smallest class that was not taken away (of several the one with the smallest key), or -1."""
    words, marks, _, _ = classes
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
