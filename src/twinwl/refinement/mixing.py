"""Mixing of 64-bit words, the basis of hashes and content keys.

**Any change here breaks every stored hash.**
"""

from __future__ import annotations

import numpy as np

from twinwl.compilation.kernel import kernel

# All arithmetic is on unsigned words: one plain int would turn it into floating point.
_STIR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_TURN = np.uint64(29)
_TURN_BACK = np.uint64(35)


@kernel
def stirred(word: np.uint64) -> np.uint64:
    """Mix the bits of a word; a bijection."""
    word ^= word >> _HALF
    word *= _STIR
    word ^= word >> _HALF
    word *= _STIR
    return word ^ (word >> _HALF)


@kernel
def blended(a: np.uint64, b: np.uint64, salt: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Mix two words so that each bit of either reaches both; a bijection of 128 bits for each salt."""
    a = stirred(a ^ salt)
    b = stirred(b + a)
    a += (b << _TURN) | (b >> _TURN_BACK)
    a = stirred(a)
    b ^= stirred(a + salt)
    return a, b
