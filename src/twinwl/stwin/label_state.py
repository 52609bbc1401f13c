"""Labels as JSON values: their kind is written too, because 1, True, 1.0 and "1" are four labels."""

from __future__ import annotations

from twinwl.errors import TwinWLError
from twinwl.graphs.labels import Label, normalise_label

__all__ = ["label_from_json", "label_to_json"]


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
        raise TwinWLError(f"{str(value)[:80]} is not a label; the file is damaged") from error


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
