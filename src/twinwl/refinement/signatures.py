"""Signatures and their keys: 128 bits that stand for a node's own colour and the multiset it hears.

Where the digits of a signature fit into 126 bits they are packed, and the packed key *is* the signature: it
can be read back. Where they do not fit, the key is a hash, and whoever finds it compares signatures too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.mixing import stirred

if TYPE_CHECKING:
    from twinwl.arrays import Int64, Ints, UInt64

__all__ = ["PACKED_BITS", "USUAL_DEGREE", "key_of", "padding", "pair_keys", "unpack", "write_keys"]

# All arithmetic on keys is on unsigned 64-bit words; a plain int literal would turn it into floats.
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_WORD = np.uint64(64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xD6E8FEB86659FD93)

# The two top bits of a key's first word tell its kind: packed (00), hashed (10) or unseen (11).
HASHED = np.uint64(0b10 << 62)
UNSEEN = np.uint64(0b11 << 62)
_BELOW_KIND = np.uint64((1 << 62) - 1)
PACKED_BITS = 126

# Signatures of up to this degree are padded to it, so that atoms of all valences take the same steps.
USUAL_DEGREE = 4


def padding(bits: int, packed_bits: int) -> int:
    """Return how many items every packed key has room for; -1 where not even the own colour fits."""
    return min(USUAL_DEGREE, packed_bits // bits - 1)


@kernel
def key_of(
    signature: Ints, start: int, stop: int, bits: int, padded: int, packed_bits: int, hash_mask: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the two words of a signature's key.

    The first digit of a packed key is the own colour, then come zeros up to the padding, then the sorted
    items. Digits are written one higher, so that zero is never one of them.
    """
    degree = stop - start - 1
    high = _ZERO
    low = np.uint64(signature[start]) + _ONE
    if (degree + 1) * bits <= packed_bits:
        shift = np.uint64(bits)
        for _ in range(padded - degree):
            high = (high << shift) | (low >> (_WORD - shift))
            low <<= shift
        for place in range(start + 1, stop):
            high = (high << shift) | (low >> (_WORD - shift))
            low = (low << shift) | (np.uint64(signature[place]) + _ONE)
        return high, low
    high = low * _SPREAD
    for place in range(start + 1, stop):
        digit = np.uint64(signature[place]) + _ONE
        low = stirred(low ^ digit)
        high = (high ^ digit) * _STIR + _SPREAD
    return ((stirred(high) & hash_mask) & _BELOW_KIND) | HASHED, low & hash_mask


@kernel
def unpack(first: int, last: int, keys: UInt64, bits: int, sig_ptr: Int64, sig_items: Ints) -> None:
    """Write the signatures of colours ``first..last``, all packed, behind those of the colours before.

    One place behind the last signature may be written to.
    """
    digits = np.empty(PACKED_BITS, np.int64)
    shift = np.uint64(bits)
    mask = (_ONE << shift) - _ONE
    for colour in range(first, last):
        high, low = keys[colour, 0], keys[colour, 1]
        n_digits = 0
        while high | low != _ZERO:
            digits[n_digits] = np.int64(low & mask)
            low = (low >> shift) | (high << (_WORD - shift))
            high >>= shift
            n_digits += 1
        end = sig_ptr[colour]
        for place in range(n_digits - 1, -1, -1):
            # Padding is overwritten by the next digit: no branch that the processor would have to guess.
            sig_items[end] = digits[place] - 1
            end += np.int64(digits[place] != 0)
        sig_ptr[colour + 1] = end


@kernel
def write_keys(
    sig_ptr: Int64,
    sig_items: Ints,
    bits: int,
    padded: int,
    packed_bits: int,
    hash_mask: np.uint64,
    keys: UInt64,
) -> None:
    """Write the keys of stored signatures."""
    for colour in range(len(sig_ptr) - 1):
        start, stop = sig_ptr[colour], sig_ptr[colour + 1]
        keys[colour, 0], keys[colour, 1] = key_of(
            sig_items, start, stop, bits, padded, packed_bits, hash_mask
        )


@kernel
def pair_keys(own: Ints, heard: Ints, bits: int, padded: int, keys: UInt64) -> None:
    """Write the packed keys of signatures that hear one item each; unseen where the own colour is -1."""
    signature = np.empty(2, np.int64)
    for node in range(len(own)):
        if own[node] < 0:
            keys[node, 0], keys[node, 1] = UNSEEN, _ZERO
            continue
        signature[0], signature[1] = own[node], heard[node]
        keys[node, 0], keys[node, 1] = key_of(signature, 0, 2, bits, padded, PACKED_BITS, _ZERO)
