"""Content keys: 128 bits that name a colour by its rooted tree alone.

Colours are numbered by first occurrence, so their numbers mean nothing outside one alphabet. A content key is
a function of the rooted tree that a colour stands for: equal on every machine, in every process, for ever. It
makes hashes stable and lets alphabets that were built apart be merged. Two trees share a key with a chance of
about 2⁻¹²⁸ a pair: improbable, not impossible. **Any change here breaks every stored hash.**
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from twinwl.graphs.labels import label_token
from twinwl.refinement.mixing import blended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.arrays import Int64, Ints, UInt64
    from twinwl.graphs.labels import Label
    from twinwl.refinement.alphabet import Alphabet

__all__ = ["content_keys", "fold_keys", "label_keys"]

# Digits of the golden ratio, e and pi: one salt for each place a key is used in.
_HEARD = np.uint64(0x9E3779B97F4A7C15)
_OWN = np.uint64(0xB7E151628AED2A6A)
_WHOLE = np.uint64(0x243F6A8885A308D3)


def content_keys(alphabet: Alphabet) -> list[UInt64]:
    """Return the content keys of all colours, one array of shape (n_colours, 2) a round.

    >>> from twinwl import GraphBatch
    >>> from twinwl.refinement.colours import refine
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> star = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3)]])
    >>> path_keys, star_keys = (content_keys(refine(graph, 1).alphabet)[1] for graph in (path, star))
    >>> bool((path_keys[0] == star_keys[1]).all())  # an end of a path hears what a leaf of a star hears
    True
    """
    keys = [label_keys(alphabet.labels, b"twl1 " + alphabet.initial.encode())]
    codes = _message_keys(alphabet)
    for part in alphabet.rounds:
        out = np.empty((part.n_colours, 2), np.uint64)
        _keys_of_signatures(part.sig_ptr, part.sig_items, part.stride, codes, keys[-1], out)
        keys.append(out)
    return keys


def label_keys(labels: Iterable[Label], purpose: bytes) -> UInt64:
    """Return a 128-bit key for each label, apart for each purpose; shape (n_labels, 2)."""
    digests = [
        hashlib.blake2b(label_token(label), digest_size=16, person=purpose).digest() for label in labels
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def _message_keys(alphabet: Alphabet) -> UInt64:
    """Return a key for each kind of message: the edge label and, where directed, the direction."""
    edge_labels: tuple[Label, ...] = (None,) if alphabet.edge_labels is None else alphabet.edge_labels
    kinds: list[Label] = list(edge_labels)
    if alphabet.directed:
        kinds = [(label, side) for label in edge_labels for side in ("out", "in")]
    return label_keys(kinds, b"twl1 message")


@njit(cache=True, nogil=True)
def _keys_of_signatures(
    sig_ptr: Int64, sig_items: Ints, stride: int, codes: UInt64, keys: UInt64, out: UInt64
) -> None:
    """Combine own key and the sum of the heard keys; the sum needs no order, so none is imposed."""
    for colour in range(len(sig_ptr) - 1):
        start, stop = sig_ptr[colour], sig_ptr[colour + 1]
        own = sig_items[start]
        a, b = blended(keys[own, 0], keys[own, 1], _OWN)
        for place in range(start + 1, stop):
            code, heard = divmod(sig_items[place], stride)
            x, y = blended(keys[heard, 0] ^ codes[code, 0], keys[heard, 1] + codes[code, 1], _HEARD)
            a += x
            b += y
        out[colour, 0], out[colour, 1] = blended(a, b, _WHOLE + np.uint64(stop - start))


@njit(cache=True, nogil=True)
def fold_keys(group_ptr: Int64, keys: UInt64, extras: UInt64, out: UInt64) -> None:
    """Fold a multiset of (key, extra) pairs of each group into one key, whatever their order.

    Parameters
    ----------
    group_ptr : array of int64, shape (n_groups + 1,)
    keys, extras : arrays of uint64, shape (n, 2)
    out : array of uint64, shape (n_groups, 2)
    """
    for group in range(len(group_ptr) - 1):
        start, stop = group_ptr[group], group_ptr[group + 1]
        a, b = _WHOLE, _OWN
        for place in range(start, stop):
            x, y = blended(extras[place, 0], extras[place, 1], _OWN)
            x, y = blended(keys[place, 0] ^ x, keys[place, 1] + y, _HEARD)
            a += x
            b += y
        out[group, 0], out[group, 1] = blended(a, b, _WHOLE + np.uint64(stop - start))
