"""Values of readouts, one per node: arrays where kernels made them, lists where a function did.

Keys of 128 bits for what readouts see: two words that stand for a value of any size, on every machine.

**Any change here breaks every stored hash.**
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from twinwl.arrays import Int64, UInt64
from twinwl.compilation import kernel
from twinwl.errors import LabelError
from twinwl.graphs.labels import label_token, normalise_label
from twinwl.refinement.round_kernels import blended

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


Values: TypeAlias = "Int64 | UInt64 | list[Hashable]"
"""One per node: a row of counts, a key of two words, or any hashable."""


class UnstableValueError(Exception):
    """A value has no form that is the same in every process; tells the place of the first such value."""

    def __init__(self, place: int, reason: LabelError) -> None:
        super().__init__(str(reason))
        self.place = place


def class_numbers(values: Values) -> Int64:
    """Give each value a number, shape (n,), such that equal values have equal numbers."""
    if isinstance(values, list):
        numbers: dict[Hashable, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    if values.shape[1] == 1:
        return values[:, 0].astype(np.int64)
    _, inverse = np.unique(values, axis=0, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64)


def stable_keys(values: Values) -> UInt64:
    """Return keys of values, shape (n, 2), that are the same in every process."""
    if isinstance(values, list):
        places: dict[int, int] = {}
        for place, value in enumerate(values):
            places.setdefault(id(value), place)  # equal rooted subgraphs share one object
        keys = digest_keys(_token(values[place], place) for place in places.values())
        row = dict(zip(places, range(len(places)), strict=True))
        return keys[np.array([row[id(value)] for value in values], np.int64)]
    return values if values.dtype == np.uint64 else row_keys(values)  # type: ignore[return-value]


def readable(values: Values, node: int) -> Hashable:
    """Return one node's value as a person wants to see it: counts as numbers, keys in hexadecimal."""
    if isinstance(values, list):
        value = values[node]
        return hexadecimal(digest_keys([value])[0]) if isinstance(value, bytes) else value
    if values.dtype == np.uint64:
        return hexadecimal(values[node].astype(np.uint64))
    row = tuple(values[node].tolist())
    return row if len(row) > 1 else row[0]


def joined(parts: Sequence[Values]) -> Values:
    """Return the values of consecutive blocks as one."""
    if any(isinstance(part, list) for part in parts):
        return [value for part in parts for value in part]
    return np.concatenate(parts) if parts else np.empty((0, 1), np.int64)  # type: ignore[arg-type]


def taken(values: Values, places: Int64) -> Values:
    """Return the values at some places."""
    if isinstance(values, list):
        return [values[place] for place in places.tolist()]
    return values[places]


def replaced(old: Values, nodes: Int64, new: Values) -> Values:
    """Return values of which some are new, leaving alone those already handed out."""
    if isinstance(old, list):
        changed = list(old)
        for node, value in zip(nodes.tolist(), new, strict=True):
            changed[node] = value
        return changed
    updated = old.copy()
    updated[nodes] = np.asarray(new)
    return updated


def _token(value: Hashable, place: int) -> bytes:
    try:
        return label_token(normalise_label(value))
    except LabelError as error:
        raise UnstableValueError(place, error) from error
