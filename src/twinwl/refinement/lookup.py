"""From keys to dense colours: verified injective compression at the speed of hashing.

An open-addressing table finds the colour of a key. A packed key is the signature itself; a hashed one is
compared with the stored signature on every hit. Either way two nodes share a colour only if their signatures
are equal: speed is that of hashing, correctness never rests on luck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.mixing import stirred
from twinwl.refinement.signatures import HASHED, UNSEEN, unpack

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, Ints, UInt64

__all__ = ["enter_all", "look_up"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

# Keys are looked up in blocks. Where the table is larger than the cache, a first pass over the block touches
# every line that the second will need, so that misses overlap instead of queueing.
_BLOCK = 256
_SLOTS_IN_CACHE = 1 << 19


@kernel
def _slot_hash(high: np.uint64, low: np.uint64, hash_mask: np.uint64) -> np.uint64:
    return stirred((high * _SPREAD) ^ low) & hash_mask


@kernel
def look_up(  # noqa: C901, PLR0912, PLR0917  (a kernel: one pass, few calls)
    n: int,
    keys: UInt64,
    from_ptr: Int64,
    from_items: Ints,
    bits: int,
    hash_mask: np.uint64,
    insert: bool,
    slots: UInt64,
    colour_keys: UInt64,
    sig_ptr: Int64,
    sig_items: Ints,
    n_colours: int,
    first: int,
    out: Int32,
) -> int:
    """Give each key its colour, new ones in order of first occurrence.

    A slot holds half a hash and a colour plus one; 0 is empty. The caller has made room for the worst case,
    in which every key is new.

    Parameters
    ----------
    n
        Number of keys.
    keys : array of uint64, shape (at least n, 2)
    from_ptr, from_items
        Where the signatures of hashed keys are: own colour first, then sorted items.
    bits
        Width of a digit of a packed key.
    insert
        Whether unknown signatures become colours; otherwise they get -1.
    slots : array of uint64, a power of two long
    colour_keys : array of uint64, shape (capacity, 2)
    sig_ptr, sig_items
        Stored signatures.
    n_colours
        Number of colours so far.
    first, out
        Colours go to ``out`` from place ``first`` on.

    Returns
    -------
    n_colours : int
    """
    n_stored = n_colours
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
            if high == UNSEEN:
                out[first + node] = -1
                continue
            tag = hashes[place] >> _HALF
            slot = hashes[place] & slot_mask
            while True:
                entry = slots[slot]
                if entry == _ZERO:
                    out[first + node] = -1
                    if insert:
                        slots[slot] = (tag << _HALF) | np.uint64(n_colours + 1)
                        colour_keys[n_colours, 0], colour_keys[n_colours, 1] = high, low
                        out[first + node] = n_colours
                        n_colours += 1
                        if high >= HASHED:
                            # Packed signatures are written later, together; this one must follow them.
                            unpack(n_stored, n_colours - 1, colour_keys, bits, sig_ptr, sig_items)
                            end = sig_ptr[n_colours - 1]
                            for item in range(from_ptr[node], from_ptr[node + 1]):
                                sig_items[end] = from_items[item]
                                end += 1
                            sig_ptr[n_colours] = end
                            n_stored = n_colours
                    break
                if entry >> _HALF == tag:
                    colour = np.int64(entry & _LOW_HALF) - 1
                    same = colour_keys[colour, 0] == high and colour_keys[colour, 1] == low
                    if same and high >= HASHED:
                        shift = sig_ptr[colour] - from_ptr[node]
                        same = from_ptr[node + 1] + shift == sig_ptr[colour + 1]
                        item = from_ptr[node]
                        while same and item < from_ptr[node + 1]:
                            same = from_items[item] == sig_items[item + shift]
                            item += 1
                    if same:
                        out[first + node] = colour
                        break
                slot = (slot + _ONE) & slot_mask
    unpack(n_stored, n_colours, colour_keys, bits, sig_ptr, sig_items)
    # The impossible branch keeps the compiler from dropping the loops that only touch.
    return -1 if n < 0 and touched == _ONE else n_colours


@kernel
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


@kernel
def enter_all(slots: UInt64, colour_keys: UInt64, n_colours: int, hash_mask: np.uint64) -> None:
    """Enter all colours, known to be distinct, into an empty table."""
    slot_mask = np.uint64(len(slots) - 1)
    for colour in range(n_colours):
        spot = _slot_hash(colour_keys[colour, 0], colour_keys[colour, 1], hash_mask)
        slot = spot & slot_mask
        while slots[slot] != _ZERO:
            slot = (slot + _ONE) & slot_mask
        slots[slot] = ((spot >> _HALF) << _HALF) | np.uint64(colour + 1)
