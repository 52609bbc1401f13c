"""Labels: what a user may hang on a node or an edge, and its one canonical form.

A label is None, a bool, an int, a float, a str, bytes, or a tuple of these. Labels are told apart by
kind as well as by value, so that they can be written to a file and hashed the same for ever.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Label", "encode_labels", "label_token", "normalise_label", "recode"]

Label: TypeAlias = "None | bool | int | float | str | bytes | tuple[Label, ...]"

_PLAIN_KINDS = frozenset({type(None), bool, int, str, bytes})
_REMEDY = "use None, bool, int, float, str, bytes or tuples of these"


def normalise_label(value: object) -> Label:
    """Return a label as plain Python: NumPy scalars become their Python kind and -0.0 becomes 0.0.

    >>> normalise_label(-0.0), normalise_label((1, "a"))
    (0.0, (1, 'a'))

    Raises
    ------
    LabelError
        If the value is NaN or of a kind that cannot be a label.
    """
    kind = type(value)
    if kind in _PLAIN_KINDS:
        return value  # type: ignore[return-value]
    if isinstance(value, np.generic):
        return normalise_label(_plain(value))
    if isinstance(value, float):
        if math.isnan(value):
            raise LabelError(f"label {value!r} is not a number, so it equals nothing; replace it")
        return float(value) + 0.0
    if isinstance(value, tuple):
        return tuple(normalise_label(part) for part in value)
    for base in (bool, int, str, bytes):  # subclasses such as enum members or str subclasses
        if isinstance(value, base):
            return base(value)
    raise LabelError(f"label {value!r} of type {kind.__name__} cannot be a label; {_REMEDY}")


def _plain(value: np.generic) -> object:
    """Turn a NumPy scalar into the Python value of its kind."""
    plain = value.item()
    if isinstance(plain, np.generic):  # extended precision has no Python kind of its own
        return float(plain)
    return plain


def label_token(label: Label) -> bytes:
    """Encode a normalised label so that different labels give different bytes, for ever.

    Each part starts with its kind and, where its length varies, its length: no two labels can run
    together. Changing this changes every stored hash.

    >>> label_token(1) != label_token(True) != label_token("1")
    True
    """
    if label is None:
        return b"N"
    if isinstance(label, bool):
        return b"B1" if label else b"B0"
    if isinstance(label, int):
        return _sized(b"I", b"%d" % label)
    if isinstance(label, float):
        return b"F" + struct.pack("<d", label)
    if isinstance(label, str):
        return _sized(b"S", label.encode("utf-8", "surrogatepass"))
    if isinstance(label, bytes):
        return _sized(b"Y", label)
    return _sized(b"T", b"".join(map(label_token, label)))


def _sized(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<Q", len(body)) + body


def encode_labels(values: Sequence[object] | NDArray[np.generic]) -> tuple[NDArray[np.int32], tuple[Label, ...]]:
    """Give each distinct label a dense code.

    Parameters
    ----------
    values
        One label a node (or an edge). A one-dimensional NumPy array of integers is encoded without a
        Python loop.

    Returns
    -------
    codes : array of int32, shape (len(values),)
        Index into the vocabulary.
    vocabulary : tuple of labels
        Sorted by kind, then by token, so it does not depend on the order of the input.

    Raises
    ------
    LabelError
        Its ``position`` attribute holds the place of the offending value in the input.

    >>> encode_labels(["C", "N", "C"])
    (array([0, 1, 0], dtype=int32), ('C', 'N'))
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int32), tuple(distinct.tolist())
    code_of_key: dict[object, int] = {}
    vocabulary: list[Label] = []
    codes = np.empty(len(values), dtype=np.int32)
    for position, value in enumerate(values):
        try:
            label = normalise_label(value)
        except LabelError as error:
            error.position = position
            raise
        # The kind is part of the key because 1 == True == 1.0; floats and tuples need the full token.
        kind = type(label)
        key = (kind, label) if kind in _PLAIN_KINDS else label_token(label)
        code = code_of_key.setdefault(key, len(vocabulary))
        if code == len(vocabulary):
            vocabulary.append(label)
        codes[position] = code
    return _sorted_codes(codes, vocabulary)


def _sorted_codes(codes: NDArray[np.int32], vocabulary: list[Label]) -> tuple[NDArray[np.int32], tuple[Label, ...]]:
    """Renumber codes so that the vocabulary is in canonical order."""
    order = sorted(range(len(vocabulary)), key=lambda code: _sort_key(vocabulary[code]))
    rank = np.empty(len(vocabulary), dtype=np.int32)
    rank[order] = np.arange(len(vocabulary), dtype=np.int32)
    return rank[codes], tuple(vocabulary[code] for code in order)


def _sort_key(label: Label) -> tuple[str, int, bytes]:
    """Order by kind; integers by value, all else by token."""
    number = label if isinstance(label, int) else 0
    return type(label).__name__, number, label_token(label)


def recode(codes: NDArray[np.int32], old: Iterable[Label], new: Sequence[Label]) -> NDArray[np.int32]:
    """Translate codes from one vocabulary to another; labels the new one lacks become -1.

    >>> recode(np.array([0, 1], dtype=np.int32), ("C", "N"), ("N",))
    array([-1,  0], dtype=int32)
    """
    place = {label_token(label): code for code, label in enumerate(new)}
    translation = np.array([place.get(label_token(label), -1) for label in old], dtype=np.int32)
    return translation[codes] if len(translation) else codes.copy()
