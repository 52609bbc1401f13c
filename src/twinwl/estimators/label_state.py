"""Labels as JSON values: their kind is written too, because 1, True, 1.0 and "1" are four labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.graphs.labels import Label, normalise_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_CLASSES_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S\d+|<U\d+|[|]O")

__all__ = ["classes_from_state", "classes_to_state", "label_from_json", "label_to_json"]


def label_to_json(label: Label) -> list[object]:  # noqa: PLR0911  (one a kind)
    """Return ``[kind]`` or ``[kind, value]``, exactly and readably.

    >>> label_to_json((1, "C"))
    ['tuple', [['int', '1'], ['str', 'C']]]
    """
    if label is None:
        return ["none"]
    if isinstance(label, bool):
        return ["bool", label]
    if isinstance(label, int):
        return ["int", str(label)]  # JSON readers differ on long integers
    if isinstance(label, float):
        return ["float", label.hex()]
    if isinstance(label, str):
        return ["str", label]
    if isinstance(label, bytes):
        return ["bytes", label.hex()]
    return ["tuple", [label_to_json(part) for part in label]]


def label_from_json(value: object) -> Label:
    """Undo `label_to_json`.

    >>> label_from_json(["float", "0x1.8000000000000p+0"])
    1.5

    Raises
    ------
    TwinWLError
        If the value is nothing that `label_to_json` writes.
    """
    try:
        return normalise_label(_read(value))
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise TwinWLError(f"{shown(value)} is not a label; the file is damaged") from error


def _read(value: object) -> Label:  # noqa: PLR0911  (one a kind)
    match value:
        case ["none"]:
            return None
        case ["bool", bool(flag)]:
            return flag
        case ["int", str(digits)]:
            return int(digits)
        case ["float", str(digits)]:
            return float.fromhex(digits)
        case ["str", str(text)]:
            return text
        case ["bytes", str(digits)]:
            return bytes.fromhex(digits)
        case ["tuple", list(parts)]:
            return tuple(_read(part) for part in parts)
    raise ValueError(value)


def classes_to_state(classes: NDArray[np.generic]) -> dict[str, object]:
    """Return the classes of a classifier with the type of the array that holds them."""
    labels = [label_to_json(normalise_label(label)) for label in classes]
    return {"classes": labels, "classes_dtype": classes.dtype.newbyteorder("<").str}


def classes_from_state(state: Mapping[str, object]) -> NDArray[np.generic]:
    """Undo `classes_to_state`.

    >>> classes_from_state(classes_to_state(np.array(["no", "yes"])))
    array(['no', 'yes'], dtype='<U3')

    Raises
    ------
    TwinWLError
        If there are fewer than two, or the type cannot hold them.
    """
    values, dtype = state.get("classes"), state.get("classes_dtype")
    if not isinstance(values, list) or len(values) < 2 or not isinstance(dtype, str):  # noqa: PLR2004
        raise TwinWLError("the model does not name its classes; the file is damaged")
    labels = [label_from_json(value) for value in values]
    if not _CLASSES_DTYPE.fullmatch(dtype):
        raise TwinWLError(f"the model's classes are an array of {shown(dtype)}; the file is damaged")
    try:
        # Strings take the room they need, never what the file claims.
        classes = np.empty(len(labels), dtype) if dtype[1] not in "SU" else np.array(labels)
        classes[:] = labels
    except (OverflowError, TypeError, ValueError) as error:
        raise TwinWLError(
            f"the model's classes are not an array of {shown(dtype)}; the file is damaged"
        ) from error
    if classes.ndim != 1 or classes.dtype.kind != dtype[1] or classes.tolist() != labels:
        raise TwinWLError(f"the model's classes are not an array of {shown(dtype)}; the file is damaged")
    return classes
