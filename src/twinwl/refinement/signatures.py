"""Signatures into dense colours: verified injective compression at the speed of hashing.

A signature is a node's own colour and the sorted multiset of what it hears. Where its digits fit into 126
bits they are packed, and the packed key *is* the signature; where they do not, the key is a hash and every
hit is compared with the stored signature. Either way two nodes share a colour only if their signatures are
equal: speed is that of hashing, correctness never rests on luck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from twinwl.refinement.mixing import stirred

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, Ints, UInt64

__all__ = ["absorb", "collect", "grow_slots", "tabulate"]

# All arithmetic on keys is on unsigned 64-bit words; a plain int literal would turn it into floats.
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_WORD = np.uint64(64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xD6E8FEB86659FD93)

# The two top bits of a key's first word tell its kind: packed (00), hashed (10) or unseen (11).
_HASHED = np.uint64(0b10 << 62)
_UNSEEN = np.uint64(0b11 << 62)
_BELOW_KIND = np.uint64((1 << 62) - 1)
PACKED_BITS = 126

# Nodes are looked up in blocks. Where the table is larger than the cache, a first pass over the block touches
# every line that the second will need, so that misses overlap instead of queueing.
_BLOCK = 256
_SLOTS_IN_CACHE = 1 << 19
_INSERTION_SORT_UP_TO = 32


@njit(cache=True, nogil=True, inline="always")
def _slot_hash(high: np.uint64, low: np.uint64, hash_mask: np.uint64) -> np.uint64:
    return stirred((high * _SPREAD) ^ low) & hash_mask


@njit(cache=True, nogil=True, inline="always")
def _key_of(
    own: int, items: Ints, start: int, stop: int, bits: int, packed_bits: int, hash_mask: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the two words of a signature's key; digits are written one higher, so that none is zero."""
    high = _ZERO
    low = np.uint64(own) + _ONE
    if (stop - start + 1) * bits <= packed_bits:
        shift = np.uint64(bits)
        for place in range(start, stop):
            high = (high << shift) | (low >> (_WORD - shift))
            low = (low << shift) | (np.uint64(items[place]) + _ONE)
        return high, low
    high = low * _SPREAD
    for place in range(start, stop):
        digit = np.uint64(items[place]) + _ONE
        low = stirred(low ^ digit)
        high = (high ^ digit) * _STIR + _SPREAD
    return ((stirred(high) & hash_mask) & _BELOW_KIND) | _HASHED, low & hash_mask


@njit(cache=True, nogil=True)
def collect(  # noqa: C901  (a kernel: one pass, no calls)
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    codes: Int32,
    colours: Int32,
    stride: int,
    bits: int,
    packed_bits: int,
    hash_mask: np.uint64,
    items: Ints,
    keys: UInt64,
) -> None:
    """Write sorted items and key of the signatures of nodes ``first..last``.

    Parameters
    ----------
    indptr, indices, codes
        Messages; ``codes`` is empty where all are alike.
    colours : array of int32, shape (n_nodes,)
        Colours of the round before; -1 where unseen.
    stride
        Number of colours of the round before: an item is ``code * stride + colour``.
    bits
        Width of a digit.
    items : array, shape (n_messages of the block,)
        Out: sorted items, from the first message of the block on.
    keys : array of uint64, shape (n_nodes of the block, 2)
        Out: keys, from the first node of the block on.
    """
    base = indptr[first]
    plain = len(codes) == 0
    for node in range(first, last):
        start = indptr[node] - base
        stop = indptr[node + 1] - base
        degree = stop - start
        unseen = colours[node] < 0
        for place in range(start, stop):
            heard = colours[indices[base + place]]
            unseen |= heard < 0
            items[place] = heard
        if not plain:
            for place in range(start, stop):
                unseen |= codes[base + place] < 0
                items[place] += codes[base + place] * stride
        if degree == 2:  # noqa: PLR2004  (the usual degree of an atom: no loop, no branch)
            x, y = items[start], items[start + 1]
            items[start], items[start + 1] = min(x, y), max(x, y)
        elif degree == 3:  # noqa: PLR2004
            x, y, z = items[start], items[start + 1], items[start + 2]
            x, y = min(x, y), max(x, y)
            y, z = min(y, z), max(y, z)
            items[start], items[start + 1], items[start + 2] = min(x, y), max(x, y), z
        elif degree > _INSERTION_SORT_UP_TO:
            items[start:stop].sort()
        else:
            for place in range(start + 1, stop):
                item = items[place]
                gap = place
                while gap > start and items[gap - 1] > item:
                    items[gap] = items[gap - 1]
                    gap -= 1
                items[gap] = item
        if unseen:
            keys[node - first, 0] = _UNSEEN
        else:
            keys[node - first, 0], keys[node - first, 1] = _key_of(
                colours[node], items, start, stop, bits, packed_bits, hash_mask
            )


@njit(cache=True, nogil=True)
def absorb(  # noqa: C901  (a kernel: one pass, no calls)
    keys: UInt64,
    own: Int32,
    item_ptr: Int64,
    items: Ints,
    hash_mask: np.uint64,
    insert: bool,
    slots: UInt64,
    colour_keys: UInt64,
    sig_ptr: Int64,
    sig_items: Ints,
    n_colours: int,
    out: Int32,
) -> int:
    """Give each signature of a block its colour, new ones in order of first occurrence.

    A slot holds half a hash and a colour plus one; 0 is empty. The caller has made room for the worst case,
    in which every signature of the block is new.

    Parameters
    ----------
    keys : array of uint64, shape (n, 2)
    own : array of int32, shape (n,)
    item_ptr : array of int64, shape (n + 1,)
        Where each node's items lie, counted from ``item_ptr[0]``.
    items : array
        Sorted items.
    insert
        Whether unknown signatures become colours; otherwise they get -1.
    slots : array of uint64, a power of two long
    colour_keys : array of uint64, shape (capacity, 2)
    sig_ptr, sig_items
        Stored signatures, the own colour first.
    n_colours
        Number of colours so far.
    out : array of int32, shape (n,)

    Returns
    -------
    n_colours : int
    """
    n = len(keys)
    slot_mask = np.uint64(len(slots) - 1)
    hashes = np.empty(_BLOCK, np.uint64)
    touched = _ZERO
    for begin in range(0, n, _BLOCK):
        length = min(_BLOCK, n - begin)
        for place in range(length):
            hashes[place] = _slot_hash(keys[begin + place, 0], keys[begin + place, 1], hash_mask)
        if len(slots) > _SLOTS_IN_CACHE:
            touched ^= _touch(hashes, length, slots, colour_keys)
        for place in range(length):
            node = begin + place
            high, low = keys[node, 0], keys[node, 1]
            if high == _UNSEEN:
                out[node] = -1
                continue
            tag = hashes[place] >> _HALF
            slot = hashes[place] & slot_mask
            start, stop = item_ptr[node] - item_ptr[0], item_ptr[node + 1] - item_ptr[0]
            while True:
                entry = slots[slot]
                if entry == _ZERO:
                    out[node] = -1
                    if insert:
                        slots[slot] = (tag << _HALF) | np.uint64(n_colours + 1)
                        colour_keys[n_colours, 0], colour_keys[n_colours, 1] = high, low
                        end = sig_ptr[n_colours]
                        sig_items[end] = own[node]
                        for offset in range(stop - start):
                            sig_items[end + 1 + offset] = items[start + offset]
                        sig_ptr[n_colours + 1] = end + 1 + stop - start
                        out[node] = n_colours
                        n_colours += 1
                    break
                if entry >> _HALF == tag:
                    colour = np.int64(entry & _LOW_HALF) - 1
                    same = colour_keys[colour, 0] == high and colour_keys[colour, 1] == low
                    if same and high >= _HASHED:
                        same = _same_signature(own[node], items, start, stop, sig_ptr, sig_items, colour)
                    if same:
                        out[node] = colour
                        break
                slot = (slot + _ONE) & slot_mask
    # The impossible branch keeps the compiler from dropping the loops that only touch.
    return -1 if n < 0 and touched == _ONE else n_colours


@njit(cache=True, nogil=True)
def _touch(hashes: UInt64, length: int, slots: UInt64, colour_keys: UInt64) -> np.uint64:
    """Read the slot and the key that each hash leads to first; the result only keeps the reads alive."""
    slot_mask = np.uint64(len(slots) - 1)
    touched = _ZERO
    for place in range(length):
        touched ^= slots[hashes[place] & slot_mask]
    for place in range(length):
        entry = slots[hashes[place] & slot_mask] & _LOW_HALF
        if entry:
            touched ^= colour_keys[entry - _ONE, 0]
    return touched


@njit(cache=True, nogil=True)
def _same_signature(
    own: int, items: Ints, start: int, stop: int, sig_ptr: Int64, sig_items: Ints, colour: int
) -> bool:
    begin = sig_ptr[colour]
    if sig_ptr[colour + 1] - begin != stop - start + 1 or sig_items[begin] != own:
        return False
    for offset in range(stop - start):  # noqa: SIM110  (numba has no all())
        if sig_items[begin + 1 + offset] != items[start + offset]:
            return False
    return True


@njit(cache=True, nogil=True)
def tabulate(
    sig_ptr: Int64,
    sig_items: Ints,
    bits: int,
    packed_bits: int,
    hash_mask: np.uint64,
    slots: UInt64,
    colour_keys: UInt64,
) -> None:
    """Write the keys of stored signatures and enter them into an empty table."""
    for colour in range(len(sig_ptr) - 1):
        start, stop = sig_ptr[colour], sig_ptr[colour + 1]
        colour_keys[colour, 0], colour_keys[colour, 1] = _key_of(
            sig_items[start], sig_items, start + 1, stop, bits, packed_bits, hash_mask
        )
    grow_slots(slots, colour_keys, len(sig_ptr) - 1, hash_mask)


@njit(cache=True, nogil=True)
def grow_slots(slots: UInt64, colour_keys: UInt64, n_colours: int, hash_mask: np.uint64) -> None:
    """Enter all colours, known to be distinct, into an empty table."""
    slot_mask = np.uint64(len(slots) - 1)
    for colour in range(n_colours):
        spot = _slot_hash(colour_keys[colour, 0], colour_keys[colour, 1], hash_mask)
        slot = spot & slot_mask
        while slots[slot] != _ZERO:
            slot = (slot + _ONE) & slot_mask
        slots[slot] = ((spot >> _HALF) << _HALF) | np.uint64(colour + 1)
