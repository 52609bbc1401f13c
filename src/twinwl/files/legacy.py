"""Model files of earlier versions: their fitted values in the form of today.

The only place that knows old forms. `upgraded` turns what a file of an earlier format holds into what
``_from_state`` of the same class takes today; a class never asks for the version of a file.
"""

from __future__ import annotations

from typing import Any

# How twinwl 0.1 (format 1) wrote labels, which it did not leave to JSON: as [kind, value].
_LABELS_OF_0_1 = {
    "none": lambda *_: None,
    "bool": bool,
    "int": int,
    "float": float.fromhex,
    "str": str,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(_label(part) for part in parts),
}


def upgraded(version: int, state: Any) -> Any:  # noqa: ANN401
    """Return the fitted values of a model in the form of today.

    >>> upgraded(1, {"alphabet": {"labels": [["str", "C"], ["tuple", [["int", "7"]]]]}})
    {'alphabet': {'labels': ['C', (7,)]}}
    """
    return _with_plain_labels(state) if version == 1 else state


def _with_plain_labels(value: Any, key: object = None) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _with_plain_labels(part, name) for name, part in value.items()}
    if key in {"labels", "edge_labels", "classes"} and isinstance(value, list):
        return [_label(entry) for entry in value]
    return value


def _label(entry: Any) -> Any:  # noqa: ANN401
    return _LABELS_OF_0_1[entry[0]](*entry[1:]) if isinstance(entry, list) else entry  # type: ignore[operator]
