"""STwinSVC as plain JSON values and arrays, for model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.estimators.calibration import Calibration
from twinwl.estimators.state import classes_from_state, classes_to_state
from twinwl.estimators.support_vectors import SupportVectors
from twinwl.stwin.space_state import matrix_from_state, matrix_to_state, space_from_state, space_to_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Float64
    from twinwl.stwin.svc import STwinSVC

__all__ = ["svc_from_state", "svc_to_state"]


def svc_to_state(model: STwinSVC) -> dict[str, object]:
    """Return all that a fitted machine predicts with."""
    return {
        **space_to_state(model.space_),
        **matrix_to_state(model.matrix_),
        **classes_to_state(model.classes_),
        "rows": model.support_vectors_.rows,
        "support_weights": model.support_vectors_.weights,
        "intercepts": model.support_vectors_.intercepts,
        "slopes": model.calibration_.slopes,
        "offsets": model.calibration_.offsets,
        "C": model.C_,
        "inner_score": model.inner_score_,
        "inner_scores": [[n_iter, C, score] for (n_iter, C), score in model.inner_scores_.items()],
    }


def svc_from_state(model: STwinSVC, state: Mapping[str, object]) -> STwinSVC:
    """Fill an unfitted machine.

    Raises
    ------
    TwinWLError
        If anything in the state is missing or does not fit.
    """
    model.space_ = space_from_state(state)
    model.n_iter_ = model.space_.alphabet.n_iter
    model.matrix_ = matrix_from_state(state, model.space_.n_columns)
    model.classes_ = classes_from_state(state)
    n_classes, n_support = len(model.classes_), model.matrix_.shape[0]
    n_pairs = n_classes * (n_classes - 1) // 2
    n_scores = 1 if n_pairs == 1 else n_classes
    rows = state.get("rows")
    if not isinstance(rows, np.ndarray) or rows.dtype != np.int64 or rows.shape != (n_support,):
        raise TwinWLError("the model's support vectors do not fit its features; the file is damaged")
    model.support_vectors_ = SupportVectors(
        rows,
        _floats(state, "support_weights", (n_pairs, n_support)),
        _floats(state, "intercepts", (n_pairs,)),
        n_classes,
    )
    model.calibration_ = Calibration(
        _floats(state, "slopes", (n_scores, n_scores)), _floats(state, "offsets", (n_scores,))
    )
    try:
        model.C_ = float(state["C"])  # type: ignore[arg-type]
        model.inner_score_ = float(state["inner_score"])  # type: ignore[arg-type]
        model.inner_scores_ = {
            (int(n_iter), float(C)): float(score)
            for n_iter, C, score in state["inner_scores"]  # type: ignore[attr-defined]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise TwinWLError(
            f"the model does not say how it was chosen ({error}); the file is damaged"
        ) from error
    return model


def _floats(state: Mapping[str, object], key: str, shape: tuple[int, ...]) -> Float64:
    value = state.get(key)
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
        raise TwinWLError(f"{key!r} in the model should be numbers of shape {shape}; the file is damaged")
    return value
