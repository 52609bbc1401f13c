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
    state = _with_plain_labels(state) if version == 1 else state
    return _with_heads(state) if version < 3 and isinstance(state, dict) else state  # noqa: PLR2004


def _with_heads(state: dict[str, Any]) -> dict[str, Any]:
    """Give the models of format 2 a list of heads, and of support vector machines, with an entry per task."""
    parts = state.get("machines", state.get("outputs", [state]))
    if "weights" in state and "history" in state:  # a network
        return {**state, "tasks": state.get("tasks"), "heads": [_head(part) for part in parts]}
    if "support_weights" not in parts[0]:
        return state
    svms = [_svm(part, state) for part in parts]
    return {**state, "tasks": state.get("tasks"), "svms": svms, "heads": [_head(part) for part in parts]}


def _head(part: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = {"conformal": None}
    if "conformal_scores" in part:
        head["conformal"] = {"scores": part["conformal_scores"], "ptr": part["conformal_ptr"]}
    if "conformal_errors" in part:
        head["conformal"] = {"errors": part["conformal_errors"]}
    if "classes" not in part:
        return {**head, "mean": part.get("target_mean", 0.0), "scale": part.get("target_scale", 1.0)}
    if "slopes" in part:
        head["calibration"] = {"slopes": part["slopes"], "offsets": part["offsets"]}
    classes, dtype = part["classes"], part.get("classes_dtype", "|O")
    if hasattr(classes, "dtype"):  # an array, as networks of 0.1 had them
        classes, dtype = classes.tolist(), classes.dtype.newbyteorder("<").str
    return {**head, "classes": classes, "dtype": dtype}


def _svm(part: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    n_classes = len(part.get("classes", [1]))
    rows = state["rows"][part["places"]] if "places" in part else state["rows"]
    return {
        "n_iter": part.get("n_rounds", state["n_iter"]),
        "C": part["C"],
        "score": part["inner_score"],
        "scores": {(n_iter, C): score for n_iter, C, score in part["inner_scores"]},
        "vectors": {
            "rows": rows,
            "weights": part["support_weights"],
            "intercepts": part["intercepts"],
            "n_classes": n_classes,
        },
    }


def _with_plain_labels(value: Any, key: object = None) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _with_plain_labels(part, name) for name, part in value.items()}
    if key in {"labels", "edge_labels", "classes"} and isinstance(value, list):
        return [_label(entry) for entry in value]
    return value


def _label(entry: Any) -> Any:  # noqa: ANN401
    return _LABELS_OF_0_1[entry[0]](*entry[1:]) if isinstance(entry, list) else entry  # type: ignore[operator]
