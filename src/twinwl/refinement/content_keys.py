"""Content keys: 128 bits that identify a colour by its rooted tree alone.

Colours are numbered by first occurrence, so their numbers mean nothing outside one alphabet. A content key is
a function of the rooted tree that a colour stands for: equal on every machine, in every process and in every
version. It makes hashes stable, and alphabets that were built separately can be merged by it. Two trees share
a key with a chance of about 2⁻¹²⁸ per pair: improbable, not impossible. **Any change here breaks every stored
hash.**

There are two kinds of keys, which cannot be compared with each other:

- Keys by round (`content_keys` of the colours of an alphabet, `node_keys` of the nodes of a batch). They
  change in every round, and a path of n nodes takes n / 2 rounds until its colours are stable: n² steps.
- Keys of stable classes (`stable_classes`), in O((nodes + arcs) log nodes) steps for any number of rounds. A
  class is a set of nodes of one graph that have had the same colour so far. The idea is Hopcroft's: when a
  class splits, its largest part keeps the key of the class. So a node changes its key only if its class
  shrinks to half or less, at most log(n) times, and only the neighbours of changed nodes are updated.

In this order: keys by round, the functions that combine keys (`fold_keys`, `absorb` and others), and stable
classes with their kernels. Every key is a row of two 64-bit words, called a and b (or x and y) in kernels.
Sums of keys wrap around, which is intended.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, label_token
from twinwl.refinement.colours import Alphabet, balanced_ranges, messages_of, read_only_messages, run_ranges
from twinwl.refinement.round_kernels import blend

# One salt for each role of a key: received from a neighbour, the node's own, the whole. Any three different
# numbers would do (these are digits of the golden ratio, e and pi), but they are part of the definition.
RECEIVED = np.uint64(0x9E3779B97F4A7C15)
OWN = np.uint64(0xB7E151628AED2A6A)
WHOLE = np.uint64(0x243F6A8885A308D3)

# Two more salts: one for the value that is absorbed, one for the result (digits of the square roots of 2 and
# 3).
_VALUE = np.uint64(0x6A09E667F3BCC908)
ABSORBED = np.uint64(0xBB67AE8584CAA73B)


class KeyedMessages(NamedTuple):
    """Senders and receivers of messages, and a key for each kind of message.

    Attributes
    ----------
    indptr : array of int64, shape (n_nodes + 1,)
        Node v receives the messages ``indptr[v]..indptr[v + 1]``.
    indices : array of int32, shape (n_messages,)
        Sender of each message.
    codes : array of int32, shape (n_messages,)
        Kind of each message; empty if there is one kind only.
    code_keys : array of uint64, shape (n_kinds, 2)
        Key of each kind.
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
    >>> bool((path_keys[0] == star_keys[1]).all())  # an end of a path and a leaf of a star look alike
    True
    """
    # "twl1" is part of stored hashes, also of those of version 2.
    keys = [label_keys(alphabet.labels, b"twl1 " + alphabet.initial.encode())]
    code_keys = message_keys(
        alphabet.edge_labels, ("out", "in") if alphabet.directed else (), b"twl1 message"
    )
    for part in alphabet.rounds:
        # A signature is treated as a node that receives its items: the same arithmetic as for nodes.
        own = part.sig_ptr[:-1]
        kinds, colours = np.divmod(np.delete(part.sig_items, own), part.stride)
        # Without the own colours only the items are left, so each signature is one entry shorter.
        indptr = part.sig_ptr - np.arange(part.n_colours + 1)
        # The kinds are passed even if there is only one: the shortcut of `next_keys` for a single kind
        # assumes that senders are receivers too. Here the senders are colours of the previous round. (The
        # number of kinds, 1, is not used.)
        messages = read_only_messages(indptr, colours.astype(np.int32), kinds.astype(np.int32), 1)
        out = np.empty((part.n_colours, 2), np.uint64)
        before = keys[-1].take(part.sig_items[own], axis=0)
        next_keys(0, part.n_colours, KeyedMessages(*messages[:3], code_keys), before, keys[-1], RECEIVED, out)
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
    ranges = balanced_ranges(messages.indptr[graph_ptr] + graph_ptr)  # one step per message and per node
    keys = label_keys(batch.node_vocabulary, b"twl1 label").take(batch.node_labels, axis=0)
    while True:
        yield keys
        following = np.empty_like(keys)

        def advance(low: int, high: int) -> None:
            # Only called within this iteration, so the variables of the loop are the right ones.
            next_keys(graph_ptr[low], graph_ptr[high], messages, keys, keys, RECEIVED, following)  # noqa: B023

        run_ranges(advance, ranges)
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
    """Return a key for each kind of message, shape (n_kinds, 2).

    A kind is an edge label and, if ``ends`` are named, the end of the arc that sends the message. Kinds are
    numbered as the codes are: by label, then by end.
    """
    labels = edge_labels or (None,)  # empty without labels, or without edges
    return label_keys([(label, end) for label in labels for end in ends] if ends else labels, purpose)


@kernel
def next_keys(
    first: int, last: int, messages: KeyedMessages, own: UInt64, keys: UInt64, salt: np.uint64, out: UInt64
) -> None:
    """Write the keys of the next round for nodes ``first..last``.

    Parameters
    ----------
    own : array of uint64, shape (n_nodes, 2)
        The key that each node has in this round.
    keys : array of uint64, shape (n_senders, 2)
        The keys of the senders. For nodes of a batch it is ``own`` itself.
    salt
        ``RECEIVED`` for content keys; ``ABSORBED`` for the colours inside rooted subgraphs, with the keys of
        codes from `absorbing_codes`. The salt also chooses the formula: with ``RECEIVED`` the own key is
        added to the multiset, with ``ABSORBED`` the multiset is absorbed into the own key.
    out : array of uint64, shape (n_nodes, 2)
    """
    indptr, indices, codes, code_keys = messages
    # With one kind of message a node sends the same key to all neighbours, so it is computed once per node.
    sent = np.empty((0 if len(codes) else last - first, 2), np.uint64)
    for place in range(len(sent)):
        x, y = keys[first + place, 0] ^ code_keys[0, 0], keys[first + place, 1] + code_keys[0, 1]
        sent[place, 0], sent[place, 1] = blend(x, y, salt)
    # One loop for the rest: the processor mixes words while it waits for what the senders sent.
    for node in range(first, last):
        a, b = np.uint64(0), np.uint64(0)
        if salt == RECEIVED:
            a, b = blend(own[node, 0], own[node, 1], OWN)
        start, stop = indptr[node], indptr[node + 1]
        if len(codes):
            for message in range(start, stop):
                sender, code = indices[message], codes[message]
                x, y = keys[sender, 0] ^ code_keys[code, 0], keys[sender, 1] + code_keys[code, 1]
                x, y = blend(x, y, salt)
                a += x
                b += y
        else:
            for message in range(start, stop):
                # Unsigned: for a signed index numba adds a test whether it is negative.
                row = np.uint64(indices[message] - first)
                a += sent[row, 0]
                b += sent[row, 1]
        if salt == RECEIVED:
            n_items = np.uint64(stop - start + 1)  # the own key counts too
            out[node, 0], out[node, 1] = blend(a, b, WHOLE + n_items)
        else:
            out[node, 0], out[node, 1] = absorb(own[node, 0], own[node, 1], a, b)


@kernel
def fold_keys(group_ptr: Int64, keys: UInt64, extras: UInt64, out: UInt64) -> None:
    """Combine the multiset of (key, extra) pairs of each group into one key, independent of their order.

    Parameters
    ----------
    group_ptr : array of int64, shape (n_groups + 1,)
        Range of the rows of each group.
    keys, extras : arrays of uint64, shape (n, 2)
        Both must be well mixed already, as all keys are: a pair is combined by an exclusive or and a sum, and
        plain numbers could cancel out.
    out : array of uint64, shape (n_groups, 2)
    """
    for group in range(len(group_ptr) - 1):
        start, stop = group_ptr[group], group_ptr[group + 1]
        a, b = WHOLE, OWN
        for place in range(start, stop):
            x, y = blend(keys[place, 0] ^ extras[place, 0], keys[place, 1] + extras[place, 1], RECEIVED)
            a += x
            b += y
        out[group, 0], out[group, 1] = blend(a, b, WHOLE + np.uint64(stop - start))


@kernel
def absorb(a: np.uint64, b: np.uint64, value_a: np.uint64, value_b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the key of the sequence (key, value), both of two words; their order matters.

    The value may be any two numbers, because it is mixed here before it is combined with the key.
    """
    x, y = blend(value_a, value_b, _VALUE)
    return blend(a ^ x, b + y, ABSORBED)


def absorbing_codes(code_keys: UInt64) -> UInt64:
    """Return code keys with which `next_keys` and the salt ``ABSORBED`` absorb each code into a key.

    This is the half of `absorb` that only depends on the code: computed once per code, not per message.
    """
    return np.column_stack(blend(*_words(code_keys), _VALUE))


def absorb_rows(keys: UInt64, values: UInt64) -> UInt64:
    """Return the key of each sequence (key, value), row by row; all arrays have the shape (n, 2)."""
    return np.column_stack(absorb(*_words(keys), *_words(values)))


def _words(keys: UInt64) -> UInt64:
    """Return the first and the second words of keys, shape (2, n).

    `blend` and `absorb` work on whole arrays of words just as on single ones.
    """
    return np.ascontiguousarray(keys.T)


def row_keys(rows: Int64 | UInt64) -> UInt64:
    """Return one key, shape (n, 2), for each row of numbers, shape (n, k).

    >>> keys = row_keys(np.array([[1, 2], [2, 1], [1, 2]]))
    >>> bool((keys[0] == keys[2]).all()), bool((keys[0] == keys[1]).any())
    (True, False)
    """
    if rows.shape[1] == 1 and len(rows) and 0 <= rows.min() <= rows.max() < len(rows):
        # Few different numbers, such as rooted sizes: compute the key of each number once.
        return _key_per_row(np.arange(rows.max() + 1)[:, None]).take(rows[:, 0], axis=0)
    return _key_per_row(rows)


def _key_per_row(rows: Int64 | UInt64) -> UInt64:
    a, b = np.zeros((2, len(rows)), np.uint64)
    for column, numbers in enumerate(_words(rows.astype(np.uint64))):
        a, b = absorb(a, b, numbers, np.full(len(rows), column, np.uint64))
    return np.column_stack([a, b])


def hexadecimal(key: UInt64) -> str:
    """Write a key of two words as 32 digits.

    >>> hexadecimal(np.array([1, 255], dtype=np.uint64))
    '000000000000000100000000000000ff'
    """
    return f"{int(key[0]):016x}{int(key[1]):016x}"


# Stable classes. Two tables hold their whole state, one row per node of the batch each.
#
# Columns of `words`, two words each: the key of a node's class, the sum of the keys it receives, and its
# signature, which is made of both. From round 1 on, _SUM always belongs to the present keys of the
# neighbours: `_change_key` takes the old key out of it and adds the new one. SIGNATURE is only as recent as
# the last time that the node was signed; `sign_all` brings it up to date in the end.
KEY, _SUM, SIGNATURE, _N_WORDS = 0, 2, 4, 6
# Columns of `marks`. The nodes of a graph stand at positions, those of a class side by side. So a class is a
# range of positions, and the first of these is its name. In each round the nodes of a class that have the
# same signature form a *group*, named by the first of its nodes that was found, its *leader*. What a row
# stands for depends on the column:
#
# - Row = node. _POSITION: where the node stands. CLASS: its class. _GROUP: the leader of its group.
#   _QUEUED_IN: the last round in which it was put into a queue.
# - Row = position. NODE: the node that stands there.
# - Row = class. LENGTH: its number of nodes. _N_QUEUED: how many of them are in the queue of this round;
#   these stand at the end of the class.
# - Row = leader. _COUNT: number of nodes of its group. _SLOT: the group's slot in the hash table. _GOES_TO,
#   later in the same column: the position where the next node of the group goes.
# - Lists, which begin in the row of the graph's first node. _QUEUE and _OTHER_QUEUE: the nodes to look at in
#   even and in odd rounds. _TOUCHED: the classes that have queued nodes.
# - Row = position. _MOVED: a copy of NODE while a class is rearranged.
#
# In the end `sign_all` writes the length of each node's class to _COUNT, with row = node.
#
# A class of seven nodes, four of them queued, which `_group` has moved to its end:
#
#     position    begin           middle               end
#     NODE        | a   b   c     | d   e   f   g     |
#     signature     as before       s   s   t   s           leaders: d (group of d, e, g) and f (group of f)
#
# `_split` makes three classes of it: a b c | d e g | f. Of the two largest, the one of smaller signature
# keeps the key; the nodes of the others change theirs.
_POSITION, CLASS, _GROUP, _QUEUED_IN = 0, 1, 2, 3
NODE = 4
LENGTH, _N_QUEUED = 5, 6
_COUNT, _SLOT, _GOES_TO = 7, 8, 8
_QUEUE, _OTHER_QUEUE, _TOUCHED, _MOVED, _N_MARKS = 9, 10, 11, 12, 13


# A node is looked at up to log(n) times before its graph is stable: only an estimate, to share out the work.
_VISITS_PER_NODE = 16
# The salt of individualised nodes (digits of the square root of 5).
_MARK = np.uint64(0x3C6EF372FE94F82B)


class Classes(NamedTuple):
    """The classes of all nodes, and the scratch arrays of one thread.

    Attributes
    ----------
    messages : KeyedMessages
    directed : bool
    words : array of uint64, shape (n_nodes, 6)
        See the columns above. Threads share the array, but each works on the rows of its own graphs.
    marks : array of int32, shape (n_nodes, 13)
        As ``words``.
    slots : array of int32, shape (a power of two,)
        Scratch: a hash table of leaders, each plus one; 0 is empty. All zero between two rounds.
    notes : array of int32, shape (most_nodes, n_notes)
        Scratch for a caller that reads the classes (`twinwl.isomorphism.canonical`).
    round : array of int64, shape (1,)
        Number of the current round of the graph that the thread works on.
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
    class whose nodes have different signatures splits by signature. The largest part (in a tie, the one with
    the smallest signature) keeps the key of the class; each other part gets its signature as key. The last
    round is the first without a split.

    >>> from twinwl import GraphBatch
    >>> signatures, class_size = stable_signatures(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    >>> class_size.tolist(), bool((signatures[0] == signatures[2]).all())
    ([2, 1, 2], True)
    """
    classes = stable_classes(batch)
    return classes.words[:, SIGNATURE:].copy(), classes.marks[:, _COUNT].copy()


def stable_classes(batch: GraphBatch) -> Classes:
    """Return the stable classes of all graphs, without scratch arrays."""
    graph_ptr, messages = batch.graph_ptr, keyed_messages(batch)
    words = np.zeros((batch.n_nodes, _N_WORDS), np.uint64)
    labels = label_keys(batch.node_vocabulary, b"twl1 label")
    words[:, KEY : KEY + 2] = labels.take(batch.node_labels, axis=0)
    marks = np.empty((batch.n_nodes, _N_MARKS), np.int32)
    no_room = np.empty(0, np.int32), np.empty((0, 0), np.int32), np.zeros(1, np.int64)
    classes = Classes(messages, batch.directed, words, marks, *no_room)

    def refine_some(first: int, last: int) -> None:
        room = with_scratch(classes, int(batch.nodes_per_graph[first:last].max(initial=0)))
        _refine_graphs(first, last, graph_ptr, room)

    run_ranges(refine_some, balanced_ranges((messages.indptr[graph_ptr] + graph_ptr) * _VISITS_PER_NODE))
    return classes


def with_scratch(classes: Classes, most_nodes: int, n_notes: int = 0) -> Classes:
    """Return the classes with scratch arrays for one thread, for graphs of up to ``most_nodes`` nodes."""
    slots = np.zeros(1 << max(4, (2 * most_nodes).bit_length()), np.int32)  # at most half full
    notes = np.empty((most_nodes, n_notes), np.int32)
    return classes._replace(slots=slots, notes=notes, round=np.zeros(1, np.int64))


@kernel
def _refine_graphs(first: int, last: int, graph_ptr: Int64, classes: Classes) -> None:
    """Write the stable classes of graphs ``first..last``."""
    words, marks = classes.words, classes.marks
    for graph in range(first, last):
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
        for node in range(low, high):
            # One class holds all nodes, and all are queued. Round 0 splits it by label, because the
            # signatures are the keys of the labels.
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

    The queue of round ``classes.round`` holds ``n_queued`` nodes. In each round the queued nodes are signed
    and grouped by signature, then their classes split by group, and nodes with a new key queue themselves
    and their neighbours for the next round. Nothing is queued if no class has split.
    """
    marks, n_round = classes.marks, classes.round[0]
    while n_queued > 0:
        n_classes = _group(n_round, low, n_queued, classes)
        # Not a plain 0: it has another type, so the kernels would be compiled a second time.
        n_queued = np.int64(0)  # type: ignore[assignment]
        for place in range(low, low + n_classes):
            begin = marks[place, _TOUCHED]
            end = begin + marks[begin, LENGTH]
            changed_from, middle, keeper = _split(n_round, begin, classes)
            for position in range(changed_from, end):
                changed = np.int64(marks[position, NODE])
                # Nodes in front of ``middle`` were not queued: their _GROUP is from an earlier round.
                if position < middle or marks[changed, _GROUP] != keeper:
                    n_queued = _change_key(n_round, low, n_queued, changed, classes)
        n_round += 1
    classes.round[0] = n_round


@kernel
def sign_all(low: int, high: int, classes: Classes) -> None:
    """Write the last signature and the size of the class (to _COUNT) of each node of a graph.

    Every node is signed again, because `_group` skips nodes that are alone in their class.
    """
    marks = classes.marks
    for node in range(low, high):
        _sign(node, classes)
        marks[node, _COUNT] = marks[marks[node, CLASS], LENGTH]


@kernel
def individualise(node: int, level: int, low: int, classes: Classes) -> None:
    """Give a node of a stable partition a class of its own, and refine until the classes are stable again.

    Its new key depends on ``level``, the number of nodes that were individualised before it, so that the
    order of these nodes shows in the keys.
    """
    words, marks = classes.words, classes.marks
    begin = marks[node, CLASS]
    marks[begin, LENGTH] -= 1
    end = begin + marks[begin, LENGTH]
    _move(node, end, marks)
    marks[node, CLASS] = end
    marks[end, LENGTH] = 1
    words[node, SIGNATURE], words[node, SIGNATURE + 1] = blend(
        words[node, KEY], words[node, KEY + 1], _MARK + np.uint64(level)
    )
    # As if the key had changed in the round before: the neighbours are then queued for the current round.
    run_rounds(low, _change_key(classes.round[0] - 1, low, np.int64(0), node, classes), classes)


@kernel
def _move(node: int, there: int, marks: Int32) -> None:
    """Swap a node with the one at position ``there``."""
    here, other = marks[node, _POSITION], marks[there, NODE]
    marks[here, NODE], marks[there, NODE] = other, node
    marks[other, _POSITION], marks[node, _POSITION] = here, there


@kernel
def _group(n_round: int, low: int, n_queued: int, classes: Classes) -> int:
    """Sign all queued nodes, move them to the end of their classes, and group them by signature.

    One hash table serves all classes: a signature contains the key of its class, so nodes of different
    classes never share one. `_split` empties the slots that are filled here. Returns the number of classes
    with queued nodes, which are listed in _TOUCHED.
    """
    words, marks, slots = classes.words, classes.marks, classes.slots
    n_classes = 0
    queue = _QUEUE + (n_round & 1)
    mask = np.uint64(len(slots) - 1)
    for place in range(low, low + n_queued):
        node = np.int64(marks[place, queue])
        begin = marks[node, CLASS]
        if n_round > 0:
            if marks[begin, LENGTH] == 1:  # it cannot split
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
            leader = slots[slot] - 1
            if words[leader, SIGNATURE] == a and words[leader, SIGNATURE + 1] == b:
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == 0:
            slots[slot] = node + 1
            marks[node, _COUNT] = 0
            marks[node, _SLOT] = slot
        group = slots[slot] - 1
        marks[node, _GROUP] = group
        marks[group, _COUNT] += 1
    return n_classes


@kernel
def _split(n_round: int, begin: int, classes: Classes) -> tuple[int, int, int]:
    """Make each group of a class a class of its own.

    Nodes that are not queued have received nothing new since they were last signed. So they all have the same
    signature and form one more group, at the front of the class. The largest group keeps the key of the
    class; in a tie, the one with the smallest signature.

    Returns
    -------
    changed_from, middle, keeper
        The nodes from position ``changed_from`` on get a new key, except for those of the group ``keeper``
        (-1 if the front group keeps the key, or if there is none to keep). ``middle`` is where the front
        group ends: only nodes from there on have a valid entry in _GROUP.
    """
    words, marks, slots = classes.words, classes.marks, classes.slots
    end = begin + marks[begin, LENGTH]
    middle = end - marks[begin, _N_QUEUED]
    marks[begin, _N_QUEUED] = 0
    # The group that keeps the key: at first the one in front, of which ``largest_node`` is a node. If all
    # nodes of the class are queued, that group is empty (``largest_size`` is 0), and the first leader takes
    # its place.
    changed_from, keeper, largest_size, largest_node = middle, -1, middle - begin, marks[begin, NODE]
    for position in range(middle, end):
        node = marks[position, NODE]
        if marks[node, _GROUP] == node:  # a leader
            slots[marks[node, _SLOT]] = 0  # empty for the next round
            n = marks[node, _COUNT]
            a, b = words[node, SIGNATURE], words[node, SIGNATURE + 1]
            x, y = words[largest_node, SIGNATURE], words[largest_node, SIGNATURE + 1]
            if n > largest_size or (n == largest_size and (a, b) < (x, y)):
                changed_from, keeper, largest_size, largest_node = begin, node, n, node
    if n_round == 0:
        # All sums are still zero, so every node has to send its key once, whether its class splits or not.
        changed_from, keeper = begin, -1
    if largest_size == end - begin:  # a single group: no split, so after round 0 there is nothing to send
        return (begin if n_round == 0 else end), middle, -1
    # Sort the nodes behind the front group by group, as in a counting sort: first where each group begins.
    marks[begin, LENGTH] = middle - begin
    cursor = middle
    for position in range(middle, end):
        node = marks[position, NODE]
        marks[position, _MOVED] = node
        if marks[node, _GROUP] == node:
            marks[cursor, LENGTH] = marks[node, _COUNT]
            marks[node, _GOES_TO] = cursor
            cursor += marks[node, _COUNT]
    for position in range(middle, end):
        node = marks[position, _MOVED]
        group = marks[node, _GROUP]
        there = marks[group, _GOES_TO]
        marks[group, _GOES_TO] = there + 1
        marks[there, NODE] = node
        marks[node, _POSITION] = there
    for position in range(middle, end):
        node = marks[position, NODE]
        group = marks[node, _GROUP]
        # The end of the group less its size.
        marks[node, CLASS] = marks[group, _GOES_TO] - marks[group, _COUNT]
    return changed_from, middle, keeper


@kernel
def _change_key(n_round: int, low: int, n_queued: int, node: int, classes: Classes) -> int:
    """Make a node's signature its key, update the sums of its neighbours, and queue it and these.

    Returns the new length of the next round's queue.
    """
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
            # The code is that of the message which the node receives. The last bit of a directed code tells
            # which end of the arc sends; the message the other way comes from the other end.
            code = (codes[message] ^ classes.directed) if len(codes) else 0
            x, y = blend(new_a ^ code_keys[code, 0], new_b + code_keys[code, 1], RECEIVED)
            if n_round > 0:  # in round 0 the neighbours have not received a key before
                old_x, old_y = blend(old_a ^ code_keys[code, 0], old_b + code_keys[code, 1], RECEIVED)
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
    a, b = blend(words[node, KEY], words[node, KEY + 1], OWN)
    n_items = np.uint64(indptr[node + 1] - indptr[node] + 1)  # the own key counts too, as in `next_keys`
    words[node, SIGNATURE], words[node, SIGNATURE + 1] = blend(
        a + words[node, _SUM], b + words[node, _SUM + 1], WHOLE + n_items
    )
