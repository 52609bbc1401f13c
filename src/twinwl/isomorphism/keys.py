"""Keys of 128 bits for what readouts see: two words that stand for a value of any size, on every machine.

**Any change here breaks every stored hash.**
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.mixing import blended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.arrays import Int64, UInt64

# Digits of the square roots of 2 and 3: one salt for what comes in, one for the whole.
_COMING = np.uint64(0x6A09E667F3BCC908)
_WHOLE = np.uint64(0xBB67AE8584CAA73B)


@kernel
def absorbed(
    a: np.uint64, b: np.uint64, value_a: np.uint64, value_b: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the key of a key followed by a value; order matters."""
    x, y = blended(value_a, value_b, _COMING)
    return blended(a ^ x, b + y, _WHOLE)


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
