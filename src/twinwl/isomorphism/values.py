"""Values of readouts, one per node: arrays where kernels made them, lists where a function did."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.errors import LabelError
from twinwl.graphs.labels import label_token, normalise_label
from twinwl.isomorphism.keys import digest_keys, hexadecimal, row_keys

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from twinwl.arrays import Int64, UInt64

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
