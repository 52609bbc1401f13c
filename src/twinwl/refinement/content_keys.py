"""Content keys: 128 bits that identify a colour by its rooted tree alone.

Colours are numbered by first occurrence, so their numbers mean nothing outside one alphabet. A content key is
a function of the rooted tree that a colour stands for: equal on every machine, in every process and in every
version. It makes hashes stable, and alphabets that were built separately can be merged by it. Two trees share
a key with a chance of about 2⁻¹²⁸ per pair: improbable, not impossible. **Any change here breaks every stored
hash.**
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.graphs.labels import Label, label_token
from twinwl.refinement.alphabet import Alphabet
from twinwl.refinement.colours import messages_of
from twinwl.refinement.round_kernels import blended
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

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
    codes = _message_keys(alphabet.edge_labels, directed=alphabet.directed)
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


def node_keys(batch: GraphBatch, n_threads: int | None = None) -> Iterator[UInt64]:
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
    ranges = balanced_ranges(messages.indptr[graph_ptr] + graph_ptr, n_threads)
    keys = label_keys(batch.node_vocabulary, b"twl1 label").take(batch.node_labels, axis=0)
    while True:
        yield keys
        following = np.empty_like(keys)

        def hear(low: int, high: int) -> None:
            # Called within this turn of the loop.
            _next_keys(graph_ptr[low], graph_ptr[high], messages, keys, keys, following)  # noqa: B023

        run_ranges(hear, ranges, n_threads)
        keys = following


def label_keys(labels: Iterable[Label], purpose: bytes) -> UInt64:
    """Return a 128-bit key for each label, different for each purpose; shape (n_labels, 2)."""
    digests = [blake2b(label_token(label), digest_size=16, person=purpose).digest() for label in labels]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def keyed_messages(batch: GraphBatch) -> KeyedMessages:
    """Return the messages of a batch, with edge labels if there are any."""
    messages = messages_of(batch, batch.edge_labels, len(batch.edge_vocabulary))
    # A batch without edges has an empty vocabulary, and no messages.
    code_keys = _message_keys(batch.edge_vocabulary or None, directed=batch.directed)
    return KeyedMessages(messages.indptr, messages.indices, messages.codes, code_keys)


def _message_keys(edge_labels: tuple[Label, ...] | None, *, directed: bool) -> UInt64:
    """Return a key for each kind of message: the edge label and, in directed graphs, the direction."""
    labels: tuple[Label, ...] = (None,) if edge_labels is None else edge_labels
    kinds: list[Label] = list(labels)
    if directed:
        kinds = [(label, side) for label in labels for side in ("out", "in")]
    return label_keys(kinds, b"twl1 message")


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


@kernel
def absorbed_codes(code_keys: UInt64) -> UInt64:
    """Return code keys for which `sum_messages` with the salt ``ABSORBED`` absorbs each code into a key."""
    out = np.empty_like(code_keys)
    for code in range(len(code_keys)):
        out[code, 0], out[code, 1] = blended(code_keys[code, 0], code_keys[code, 1], _COMING)
    return out


def row_keys(rows: Int64 | UInt64) -> UInt64:
    """Return one key, shape (n, 2), for each row of numbers, shape (n, k).

    >>> keys = row_keys(np.array([[1, 2], [2, 1], [1, 2]]))
    >>> bool((keys[0] == keys[2]).all()), bool((keys[0] == keys[1]).any())
    (True, False)
    """
    if (
        rows.shape[1] == 1
        and rows.dtype == np.int64
        and len(rows)
        and 0 <= rows.min() <= rows.max() < len(rows)
    ):
        # Few different numbers, such as rooted sizes: work each out once.
        return _key_per_row(np.arange(rows.max() + 1)[:, None]).take(rows[:, 0], axis=0)
    return _key_per_row(np.ascontiguousarray(rows))


def digest_keys(values: Iterable[bytes]) -> UInt64:
    """Return one key, shape (n, 2), for each byte string."""
    digests = b"".join(blake2b(value, digest_size=16, person=b"twl1 readout").digest() for value in values)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def hexadecimal(key: UInt64) -> str:
    """Write a key of two words as 32 digits.

    >>> hexadecimal(np.array([1, 255], dtype=np.uint64))
    '000000000000000100000000000000ff'
    """
    return f"{int(key[0]):016x}{int(key[1]):016x}"


@kernel
def _key_per_row(rows: Int64 | UInt64) -> UInt64:
    keys = np.empty((len(rows), 2), np.uint64)
    for row in range(len(rows)):
        a, b = np.uint64(0), np.uint64(0)
        for column in range(rows.shape[1]):
            a, b = absorbed(a, b, np.uint64(rows[row, column]), np.uint64(column))
        keys[row, 0], keys[row, 1] = a, b
    return keys


@kernel
def absorbed_rows(keys: UInt64, values: UInt64) -> UInt64:
    """Return the key of each key followed by a value, all of shape (n, 2)."""
    out = np.empty_like(keys)
    for row in range(len(keys)):
        out[row, 0], out[row, 1] = absorbed(keys[row, 0], keys[row, 1], values[row, 0], values[row, 1])
    return out
