"""Content keys: 128 bits that identify a colour by its rooted tree alone.

Colours are numbered by first occurrence, so their numbers mean nothing outside one alphabet. A content key is
a function of the rooted tree that a colour stands for: equal on every machine, in every process and in every
version. It makes hashes stable, and alphabets that were built separately can be merged by it. Two trees share
a key with a chance of about 2⁻¹²⁸ per pair: improbable, not impossible. **Any change here breaks every stored
hash.**

Content keys change in every round, and a path of n nodes takes n / 2 rounds until its colours are stable: n²
steps. The keys of *stable* colours take O((nodes + arcs) log nodes) steps for any number of rounds. A class
of nodes keeps its key until it splits, and then its largest part still keeps it. So a node changes its key
only when its class is halved, and only the neighbours of changed nodes are updated.

In this order: content keys of colours (`content_keys`) and of nodes (`node_keys`), the functions that combine
keys (`fold_keys`, `absorbed` and others), and stable classes (`stable_classes`) with their kernels.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, label_token
from twinwl.refinement.colours import Alphabet, balanced_ranges, messages_of, run_ranges
from twinwl.refinement.round_kernels import blended

# Digits of the golden ratio, e and pi: one salt for each place a key is used in.
HEARD = np.uint64(0x9E3779B97F4A7C15)
OWN = np.uint64(0xB7E151628AED2A6A)
WHOLE = np.uint64(0x243F6A8885A308D3)


class KeyedMessages(NamedTuple):
    """Senders and receivers of messages, and a key for each kind of message.

    ``codes`` is the kind of each message, empty if there is one kind only; ``code_keys`` has one row per
    kind.
    """

    indptr: Int64
    indices: Int32
    codes: Int32
    code_keys: UInt64


def content_keys(alphabet: Alphabet) -> list[UInt64]:
    """Return the content keys of all colours, one array of shape (n_colours, 2) per round.

    >>> from twinwl import GraphBatch
    >>> from twinwl.refinement.colours import refine
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> star = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3)]])
    >>> path_keys, star_keys = (content_keys(refine(graph, 1).alphabet)[1] for graph in (path, star))
    >>> bool((path_keys[0] == star_keys[1]).all())  # an end of a path hears what a leaf of a star hears
    True
    """
    keys = [label_keys(alphabet.labels, b"twl1 " + alphabet.initial.encode())]
    codes = message_keys(alphabet.edge_labels, ("out", "in") if alphabet.directed else (), b"twl1 message")
    for part in alphabet.rounds:
        # A signature is a node that hears its items: the same arithmetic as for nodes.
        own = part.sig_ptr[:-1]
        kinds, colours = np.divmod(np.delete(part.sig_items, own), part.stride)
        indptr = part.sig_ptr - np.arange(part.n_colours + 1)
        messages = KeyedMessages(indptr, colours.astype(np.int32), kinds.astype(np.int32), codes)
        out = np.empty((part.n_colours, 2), np.uint64)
        _next_keys(0, part.n_colours, messages, keys[-1].take(part.sig_items[own], axis=0), keys[-1], out)
        keys.append(out)
    return keys


def node_keys(batch: GraphBatch) -> Iterator[UInt64]:
    """Yield the content key of each node's colour in round 0, 1, … without end, shape (n_nodes, 2).

    Edge labels are used if there are any. The keys are exactly those of `content_keys`, but need no alphabet:
    a node's key follows from the keys it receives.

    >>> from twinwl import GraphBatch
    >>> rounds = node_keys(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    >>> [len(np.unique(keys, axis=0)) for keys, _ in zip(rounds, range(3))]
    [1, 2, 2]
    """
    messages = keyed_messages(batch)
    graph_ptr = batch.graph_ptr
    ranges = balanced_ranges(messages.indptr[graph_ptr] + graph_ptr)
    keys = label_keys(batch.node_vocabulary, b"twl1 label").take(batch.node_labels, axis=0)
    while True:
        yield keys
        following = np.empty_like(keys)

        def hear(low: int, high: int) -> None:
            # Called within this turn of the loop.
            _next_keys(graph_ptr[low], graph_ptr[high], messages, keys, keys, following)  # noqa: B023

        run_ranges(hear, ranges)
        keys = following


def label_keys(labels: Iterable[Label], purpose: bytes) -> UInt64:
    """Return a 128-bit key for each label, different for each purpose; shape (n_labels, 2)."""
    return digest_keys(map(label_token, labels), purpose)


def digest_keys(values: Iterable[bytes], purpose: bytes = b"twl1 readout") -> UInt64:
    """Return a 128-bit key for each byte string, different for each purpose; shape (n, 2)."""
    digests = b"".join(blake2b(value, digest_size=16, person=purpose).digest() for value in values)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def keyed_messages(batch: GraphBatch) -> KeyedMessages:
    """Return the messages of a batch, with edge labels if there are any."""
    messages = messages_of(batch, batch.edge_labels, len(batch.edge_vocabulary))
    code_keys = message_keys(batch.edge_vocabulary, ("out", "in") if batch.directed else (), b"twl1 message")
    return KeyedMessages(*messages[:3], code_keys)


def message_keys(edge_labels: tuple[Label, ...] | None, ends: tuple[str, ...], purpose: bytes) -> UInt64:
    """Return a key for each kind of message: the edge label and, if ends are named, one of these."""
    labels = edge_labels or (None,)  # empty without labels, or without edges
    return label_keys([(label, end) for label in labels for end in ends] if ends else labels, purpose)


@kernel
def _next_keys(
    first: int, last: int, messages: KeyedMessages, own: UInt64, keys: UInt64, out: UInt64
) -> None:
    """Write the keys of the next round for nodes ``first..last``, whose messages come only from each other.

    ``own`` holds the key that each of them has, and ``keys`` those that they hear.
    """
    sum_messages(first, last, messages, keys, HEARD, out)
    for node in range(first, last):
        a, b = blended(own[node, 0], own[node, 1], OWN)
        n_items = np.uint64(messages.indptr[node + 1] - messages.indptr[node] + 1)  # its own colour is one
        out[node, 0], out[node, 1] = blended(a + out[node, 0], b + out[node, 1], WHOLE + n_items)


@kernel
def sum_messages(
    first: int, last: int, messages: KeyedMessages, keys: UInt64, salt: np.uint64, out: UInt64
) -> None:
    """Write the sum of the keys of the messages that nodes ``first..last`` receive from each other.

    A sum does not depend on the order, so nothing needs sorting.

    Parameters
    ----------
    keys, out : arrays of uint64, shape (n_nodes, 2)
    salt
        Keys for different purposes use different salts.
    """
    indptr, indices, codes, code_keys = messages
    # If there is one kind of message only, a node sends the same to all neighbours: computed once.
    sent = np.empty((0 if len(codes) else last - first, 2), np.uint64)
    for place in range(len(sent)):
        x, y = keys[first + place, 0] ^ code_keys[0, 0], keys[first + place, 1] + code_keys[0, 1]
        sent[place, 0], sent[place, 1] = blended(x, y, salt)
    for node in range(first, last):
        a, b = np.uint64(0), np.uint64(0)
        for message in range(indptr[node], indptr[node + 1]):
            sender = indices[message]
            if len(codes):
                code = codes[message]
                x, y = keys[sender, 0] ^ code_keys[code, 0], keys[sender, 1] + code_keys[code, 1]
                x, y = blended(x, y, salt)
            else:
                x, y = sent[sender - first, 0], sent[sender - first, 1]
            a += x
            b += y
        out[node, 0], out[node, 1] = a, b


@kernel
def fold_keys(group_ptr: Int64, keys: UInt64, extras: UInt64, out: UInt64) -> None:
    """Combine the multiset of (key, extra) pairs of each group into one key, independent of their order.

    Parameters
    ----------
    group_ptr : array of int64, shape (n_groups + 1,)
    keys, extras : arrays of uint64, shape (n, 2)
        Both must be mixed already, as all keys are; here they are only combined.
    out : array of uint64, shape (n_groups, 2)
    """
    for group in range(len(group_ptr) - 1):
        start, stop = group_ptr[group], group_ptr[group + 1]
        a, b = WHOLE, OWN
        for place in range(start, stop):
            x, y = blended(keys[place, 0] ^ extras[place, 0], keys[place, 1] + extras[place, 1], HEARD)
            a += x
            b += y
        out[group, 0], out[group, 1] = blended(a, b, WHOLE + np.uint64(stop - start))


# Digits of the square roots of 2 and 3: one salt for what comes in, one for the whole.
_COMING = np.uint64(0x6A09E667F3BCC908)
ABSORBED = np.uint64(0xBB67AE8584CAA73B)


@kernel
def absorbed(
    a: np.uint64, b: np.uint64, value_a: np.uint64, value_b: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the key of a key followed by a value; order matters."""
    x, y = blended(value_a, value_b, _COMING)
    return blended(a ^ x, b + y, ABSORBED)


def absorbed_codes(code_keys: UInt64) -> UInt64:
    """Return code keys for which `sum_messages` with the salt ``ABSORBED`` absorbs each code into a key."""
    return np.column_stack(blended(*_words(code_keys), _COMING))


def absorbed_rows(keys: UInt64, values: UInt64) -> UInt64:
    """Return the key of each key followed by a value, all of shape (n, 2)."""
    return np.column_stack(absorbed(*_words(keys), *_words(values)))


def _words(keys: UInt64) -> UInt64:
    """Return the first and the second words of keys: functions of words take arrays of them too."""
    return np.ascontiguousarray(keys.T)


def row_keys(rows: Int64 | UInt64) -> UInt64:
    """Return one key, shape (n, 2), for each row of numbers, shape (n, k).

    >>> keys = row_keys(np.array([[1, 2], [2, 1], [1, 2]]))
    >>> bool((keys[0] == keys[2]).all()), bool((keys[0] == keys[1]).any())
    (True, False)
    """
    if rows.shape[1] == 1 and len(rows) and 0 <= rows.min() <= rows.max() < len(rows):
        # Few different numbers, such as rooted sizes: work each out once.
        return _key_per_row(np.arange(rows.max() + 1)[:, None])[rows[:, 0]]
    return _key_per_row(rows)


def _key_per_row(rows: Int64 | UInt64) -> UInt64:
    a, b = np.zeros((2, len(rows)), np.uint64)
    for column, numbers in enumerate(_words(rows.astype(np.uint64))):
        a, b = absorbed(a, b, numbers, np.full(len(rows), column, np.uint64))
    return np.column_stack([a, b])


def hexadecimal(key: UInt64) -> str:
    """Write a key of two words as 32 digits.

    >>> hexadecimal(np.array([1, 255], dtype=np.uint64))
    '000000000000000100000000000000ff'
    """
    return f"{int(key[0]):016x}{int(key[1]):016x}"


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

    The room is the slots of a hash table, notes of whoever looks at the classes, and the number of the round.
    """

    messages: KeyedMessages
    directed: bool
    words: UInt64
    marks: Int32
    slots: Int32
    notes: Int32
    round: Int64


def stable_signatures(batch: GraphBatch) -> tuple[UInt64, Int32]:
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
    classes = stable_classes(batch)
    return classes.words[:, SIGNATURE:].copy(), classes.marks[:, _COUNT].copy()


def stable_classes(batch: GraphBatch) -> Classes:
    """Return the stable classes of all graphs, without room to work."""
    graph_ptr, messages = batch.graph_ptr, keyed_messages(batch)
    words = np.zeros((batch.n_nodes, _N_WORDS), np.uint64)
    labels = label_keys(batch.node_vocabulary, b"twl1 label")
    words[:, KEY : KEY + 2] = labels.take(batch.node_labels, axis=0)
    marks = np.empty((batch.n_nodes, _N_MARKS), np.int32)
    no_room = np.empty(0, np.int32), np.empty((0, 0), np.int32), np.zeros(1, np.int64)
    classes = Classes(messages, batch.directed, words, marks, *no_room)

    def refine_some(first: int, last: int) -> None:
        room = with_room(classes, int(batch.nodes_per_graph[first:last].max(initial=0)))
        _refine_graphs(first, last, graph_ptr, room)

    run_ranges(refine_some, balanced_ranges(messages.indptr[graph_ptr] + graph_ptr << _LOG_NODES))
    return classes


def with_room(classes: Classes, most_nodes: int, n_notes: int = 0) -> Classes:
    """Return the classes with room for one thread to split those of graphs of up to ``most_nodes``."""
    slots = np.zeros(1 << max(4, (2 * most_nodes).bit_length()), np.int32)
    notes = np.empty((most_nodes, n_notes), np.int32)
    return classes._replace(slots=slots, notes=notes, round=np.zeros(1, np.int64))


@kernel
def _refine_graphs(first: int, last: int, graph_ptr: Int64, classes: Classes) -> None:
    """Write the stable classes of graphs ``first..last``."""
    words, marks = classes.words, classes.marks
    for graph in range(first, last):
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
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
    begin = marks[node, CLASS]
    marks[begin, LENGTH] -= 1
    end = begin + marks[begin, LENGTH]
    _move(node, end, marks)
    marks[node, CLASS] = end
    marks[end, LENGTH] = 1
    words[node, SIGNATURE], words[node, SIGNATURE + 1] = blended(
        words[node, KEY], words[node, KEY + 1], _MARK + np.uint64(level)
    )
    run_rounds(low, _tell(classes.round[0] - 1, low, np.int64(0), node, classes), classes)


@kernel
def _move(node: int, there: int, marks: Int32) -> None:
    """Let a node and the one at another position change places."""
    here, other = marks[node, _POSITION], marks[there, NODE]
    marks[here, NODE], marks[there, NODE] = other, node
    marks[other, _POSITION], marks[node, _POSITION] = here, there


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
        _move(node, begin + marks[begin, LENGTH] - marks[begin, _N_QUEUED], marks)
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
            if n > most or (n == most and (a, b) < (x, y)):
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
