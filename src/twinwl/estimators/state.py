"""Labels and classes in model files: written with their types, and checked when they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.graphs.labels import Label, normalise_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Values

_CLASSES_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S\d+|<U\d+|[|]O")


def labels_from_state(values: object) -> tuple[Label, ...]:
    """Read labels, which a model file holds as a list of values.

    Files of twinwl 0.1 hold ``[kind, value]`` for each.

    >>> labels_from_state(["C", (1, 2.5), ["int", "7"]])
    ('C', (1, 2.5), 7)

    Raises
    ------
    TwinWLError
        If a value cannot be a label.
    """
    if not isinstance(values, list):
        raise TwinWLError("the model's labels are not a list; the file is damaged")
    return tuple(_label(value) for value in values)


def _label(value: object) -> Label:
    try:
        return normalise_label(_read(value) if isinstance(value, list) else value)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise TwinWLError(f"{shown(value)} is not a label; the file is damaged") from error


def _read(value: object) -> Label:  # noqa: PLR0911  (one per kind)
    """Read a label as twinwl 0.1 wrote it."""
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


def task_names_from_state(state: Mapping[str, object]) -> tuple[str, ...]:
    """Read the names of tasks.

    >>> task_names_from_state({"tasks": ["toxic", "approved"]})
    ('toxic', 'approved')
    """
    names = state.get("tasks")
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise TwinWLError("the model's tasks are not different names; the file is damaged")
    return tuple(names)


def classes_to_state(classes: Values) -> dict[str, object]:
    """Return the classes of a classifier with the type of the array that holds them."""
    dtype = classes.dtype.newbyteorder("<").str
    if not _CLASSES_DTYPE.fullmatch(dtype):
        raise TwinWLError(
            f"the classes are an array of {classes.dtype}, which a model file cannot hold; "
            "name classes by strings or numbers"
        )
    return {"classes": [normalise_label(label) for label in classes.tolist()], "classes_dtype": dtype}


def classes_from_state(state: Mapping[str, object]) -> Values:
    """Undo `classes_to_state`.

    >>> classes_from_state(classes_to_state(np.array(["no", "yes"])))
    array(['no', 'yes'], dtype='<U3')

    Raises
    ------
    TwinWLError
        If they are fewer than two, not all different, or not of the type that the file names.
    """
    values, dtype = state.get("classes"), state.get("classes_dtype", "|O")
    if isinstance(values, np.ndarray):  # as networks of twinwl 0.1 wrote them
        values, dtype = values.tolist(), values.dtype.newbyteorder("<").str
    labels = labels_from_state(values)
    if len(labels) < 2 or len(set(labels)) != len(labels):  # noqa: PLR2004
        raise TwinWLError("the model's classes are not two or more different ones; the file is damaged")
    if not isinstance(dtype, str) or not _CLASSES_DTYPE.fullmatch(dtype):
        raise TwinWLError(f"the model's classes are an array of {shown(dtype)}; the file is damaged")
    try:
        # Strings take the room they need, never what the file claims.
        classes = np.empty(len(labels), dtype) if dtype[1] not in "SU" else np.array(labels)
        for place, label in enumerate(labels):
            classes[place] = label
    except (OverflowError, TypeError, ValueError) as error:
        raise TwinWLError(
            f"the model's classes are not an array of {shown(dtype)}; the file is damaged"
        ) from error
    if classes.ndim != 1 or classes.dtype.kind != dtype[1] or classes.tolist() != list(labels):
        raise TwinWLError(f"the model's classes are not an array of {shown(dtype)}; the file is damaged")
    return classes
