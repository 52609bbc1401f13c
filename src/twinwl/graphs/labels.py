"""Labels of nodes and edges, and their canonical form.

A label is None, a bool, an int, a float, a str, bytes, or a tuple of these. Labels differ by type as well as
by value, so that their encoding in files and hashes is stable.

Edge weights: ignored, with one warning that counts them, unless they are named as edge labels.

The same rule holds for every kind of input: an edge exists or not, and may have a label. Weights that are all
1 add nothing to that. Any other weight is used as a label if it is named, else it is ignored with a warning
(see "What counts as the same graph" in the guide).
"""

import math
import numbers
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from twinwl.arrays import Int32, Values
from twinwl.errors import LabelError, setting, shown, warn_caller

Label: TypeAlias = "bool | int | float | str | bytes | tuple[Label, ...] | None"
Vocabulary: TypeAlias = "tuple[Label, ...]"
"""The distinct labels of a batch, which are stored as their places in it."""

_PLAIN_KINDS = frozenset({type(None), bool, str, bytes})
_SIMPLE_KINDS = _PLAIN_KINDS | {int, float}
_REMEDY = "use None, bool, int, float, str, bytes or tuples of these"
_MAX_INT_BITS = 4096  # Python refuses to print much longer integers, and tokens are printed
_MAX_DEPTH = 64  # of tuples in tuples


class Coded(NamedTuple):
    """Labels as dense codes: ``vocabulary[codes[i]]`` is label i."""

    codes: Int32
    vocabulary: Vocabulary


def normalise_label(value: object, _depth: int = 0) -> Label:
    """Return a label as plain Python: NumPy scalars become their Python kind and -0.0 becomes 0.0.

    >>> normalise_label(-0.0), normalise_label((1, "a"))
    (0.0, (1, 'a'))

    Raises
    ------
    LabelError
        If the value is NaN or of a kind that cannot be a label.
    """
    if type(value) in _PLAIN_KINDS:
        return value  # type: ignore[return-value]
    if isinstance(value, tuple):
        if _depth == _MAX_DEPTH:
            raise LabelError(f"label nests tuples more than {_MAX_DEPTH} deep; flatten it")
        return tuple(normalise_label(part, _depth + 1) for part in value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufSU":  # a datetime64 would become an int
        plain = value.item()
        return normalise_label(
            float(plain) if isinstance(plain, np.generic) else plain
        )  # of extended precision
    if isinstance(value, float):
        if math.isnan(value):
            raise LabelError(f"label {value!r} is not a number, so it equals nothing; replace it")
        return float(value) + 0.0
    return _plain(value)


def _plain(value: object) -> Label:
    """Return integers, and subclasses of str and bytes, as exact Python kinds."""
    if isinstance(value, int):
        number = int(value)
        if number.bit_length() > _MAX_INT_BITS:
            raise LabelError(f"an integer label of {number.bit_length()} bits is too long; use bytes")
        return number
    # Enum members and the like print as something else than they hold: take what they hold.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes(memoryview(value))
    kind = type(value).__name__
    raise LabelError(f"label {shown(value)} of type {kind} cannot be a label", remedy=_REMEDY)


def label_token(label: Label) -> bytes:
    """Encode a normalised label so that different labels give different bytes.

    Each part starts with its type and, if its length varies, its length, so that the encoding is unambiguous.
    Any change here breaks every stored hash.

    >>> label_token(1) != label_token(True) != label_token("1")
    True
    """
    if label is None:
        return b"N"
    if isinstance(label, bool):
        return b"B1" if label else b"B0"
    if isinstance(label, float):
        return b"F" + struct.pack("<d", label)
    if isinstance(label, int):
        kind, body = b"I", b"%d" % label
    elif isinstance(label, str):
        kind, body = b"S", label.encode("utf-8", "surrogatepass")
    elif isinstance(label, bytes):
        kind, body = b"Y", label
    else:
        kind, body = b"T", b"".join(map(label_token, label))
    return kind + struct.pack("<Q", len(body)) + body


def encode_labels(values: Sequence[object] | Values) -> Coded:
    """Give each distinct label a dense code.

    Parameters
    ----------
    values
        One label per node (or per edge). Arrays of integers, and sequences of a single kind, are encoded
        without a Python loop.

    Returns
    -------
    codes : array of int32, shape (len(values),)
        Index into the vocabulary.
    vocabulary : tuple of labels
        Sorted by kind, then by token (integers by value), so it does not depend on the input's order.

    Raises
    ------
    LabelError
        Its ``position`` attribute holds the place of the offending value in the input.

    >>> codes, vocabulary = encode_labels(["C", "N", "C"])
    >>> codes.tolist(), vocabulary
    ([0, 1, 0], ('C', 'N'))
    """
    if isinstance(values, np.ndarray) and values.ndim == 1:
        if values.dtype.kind in "iu":
            distinct, inverse = np.unique(values, return_inverse=True)
            return Coded(inverse.astype(np.int32), tuple(distinct.tolist()))
        if values.dtype.kind in "bSU":
            values = values.tolist()
    # One pass in C settles the usual case, all labels of one simple kind; 1 == True == 1.0 cannot clash
    # within a kind.
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= _SIMPLE_KINDS:
        try:
            vocabulary = [normalise_label(label) for label in set(values)]
        except LabelError:
            return _coded_one_by_one(values)  # which finds the offender's place
        vocabulary.sort(key=_sort_key)
        code_of_label = {label: code for code, label in enumerate(vocabulary)}
        codes = np.fromiter(map(code_of_label.__getitem__, values), np.int32, len(values))
        return Coded(codes, tuple(vocabulary))
    return _coded_one_by_one(values)


def _coded_one_by_one(values: Sequence[object] | Values) -> Coded:
    code_of_key: dict[object, int] = {}
    distinct: list[Label] = []
    codes = np.empty(len(values), dtype=np.int32)
    for position, value in enumerate(values):
        try:
            label = normalise_label(value)
        except LabelError as error:
            error.position = position
            raise
        # The kind is part of the key because 1 == True == 1.0; tuples need the full token.
        key = label_token(label) if isinstance(label, tuple) else (type(label), label)
        code = code_of_key.setdefault(key, len(distinct))
        if code == len(distinct):
            distinct.append(label)
        codes[position] = code
    order = sorted(range(len(distinct)), key=lambda code: _sort_key(distinct[code]))
    rank = np.empty(len(distinct), dtype=np.int32)
    rank[order] = np.arange(len(distinct), dtype=np.int32)
    return Coded(rank[codes], tuple(distinct[code] for code in order))


def _sort_key(label: Label) -> tuple[str, int, bytes]:
    """Order by kind; integers by value, all else by token."""
    number = label if isinstance(label, int) else 0
    return type(label).__name__, number, label_token(label)


def recode(codes: Int32, old: Iterable[Label], new: Sequence[Label]) -> Int32:
    """Translate codes from one vocabulary to another; labels the new one lacks become -1.

    >>> recode(np.array([0, 1], dtype=np.int32), ("C", "N"), ("N",)).tolist()
    [-1, 0]
    """
    place = {label_token(label): code for code, label in enumerate(new)}
    translation = np.array([place.get(label_token(label), -1) for label in old], dtype=np.int32)
    return translation[codes] if len(translation) else codes.copy()


def in_use(codes: Int32, vocabulary: Vocabulary) -> Coded:
    """Remove the labels that nothing has, as in a slice of a larger batch.

    >>> in_use(np.array([2, 2], dtype=np.int32), ("C", "N", "O"))
    Coded(codes=array([0, 0], dtype=int32), vocabulary=('O',))
    """
    used, dense = np.unique(codes, return_inverse=True)
    return Coded(dense.astype(np.int32), tuple(vocabulary[code] for code in used.tolist()))


WEIGHT = "weight"  # what networkx, igraph and most files call it


def count_weights(values: Iterable[object] | Values) -> int:
    """Count the weights that are not 1; None means no weight.

    >>> count_weights([1, 1.0, None, 0.5, "strong"])
    2
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return int(np.count_nonzero(values != 1))
    return sum(not (value is None or (isinstance(value, numbers.Real) and value == 1)) for value in values)


def warn_weights(n_weighted: int, n_edges: int, edge_label: str = WEIGHT) -> None:
    """Warn that weights were left out, and how to let them take part.

    Parameters
    ----------
    n_weighted
        Edges with a weight other than 1; no warning where there are none.
    n_edges
        Edges in all.
    edge_label
        The attribute that holds the weights.
    """
    if n_weighted:
        warn_caller(
            f"ignored edge weights, {n_weighted:,} of {n_edges:,} other than 1; pass "
            f"{setting(edge_label=edge_label)} to take them as labels, or remove them"
        )
