"""Support vector machines of one task or several in model files: plain values and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.estimators.state import task_names_from_state
from twinwl.estimators.svm import SupportVectors
from twinwl.stwin.state import (
    floats_from_state,
    matrix_from_state,
    matrix_to_state,
    space_from_state,
    space_to_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scipy import sparse

    from twinwl.arrays import Int64
    from twinwl.stwin.features import FeatureSpace
    from twinwl.stwin.svc import TwinMachine

Machine = TypeVar("Machine", bound="TwinMachine")


def machine_to_state(model: TwinMachine) -> dict[str, object]:
    """Return all that the decisions of a support vector machine need, and how it was chosen."""
    return {
        **space_to_state(model.space_),
        **matrix_to_state(model.matrix_),
        "rows": model.support_vectors_.rows,
        **_choice_to_state(model),
    }


def machine_from_state(model: TwinMachine, state: Mapping[str, object], n_classes: int) -> None:
    """Fill an unfitted machine; ``n_classes`` is 1 where it predicts numbers.

    Raises
    ------
    TwinWLError
        If anything in the state is missing or does not fit.
    """
    space = space_from_state(state)
    model._keep_features(space, matrix_from_state(state, space.n_columns))  # noqa: SLF001  (the same layer)
    _choice_from_state(model, state, _rows(state, model.matrix_.shape[0]), n_classes)


def tasks_to_state(model: TwinMachine, rows: Int64, models: Sequence[TwinMachine]) -> dict[str, object]:
    """Return all that the machines of several tasks decide with; their features stand once."""
    return {
        **space_to_state(model.space_),
        **matrix_to_state(model.matrix_),
        "rows": rows,
        "tasks": list(model.tasks_ or ()),
        "machines": [
            {
                "n_rounds": one.n_iter_,
                "places": np.searchsorted(rows, one.support_vectors_.rows),
                **_choice_to_state(one),
                **one._own_to_state(),  # noqa: SLF001
            }
            for one in models
        ],
    }


def tasks_from_state(
    state: Mapping[str, object], new: Callable[[], Machine]
) -> tuple[tuple[str, ...], list[Machine], FeatureSpace, Int64, sparse.csr_matrix]:
    """Undo `tasks_to_state`.

    Parameters
    ----------
    state
        From `tasks_to_state`.
    new
        Returns an unfitted machine.

    Returns
    -------
    names, models, space, rows, matrix
        What `TwinMachine` keeps.
    """
    space = space_from_state(state)
    matrix = matrix_from_state(state, space.n_columns)
    rows = _rows(state, matrix.shape[0])
    names = task_names_from_state(state)
    parts = state.get("machines")
    if not isinstance(parts, list) or len(parts) != len(names):
        raise TwinWLError("the model's machines do not fit its tasks; the file is damaged")
    models = []
    for part in parts:
        model, n_rounds, places = new(), part["n_rounds"], part["places"]
        if type(n_rounds) is not int or not 0 <= n_rounds <= space.alphabet.n_iter:
            raise TwinWLError(f"a machine has {shown(n_rounds)} rounds; the file is damaged")
        if (
            not isinstance(places, np.ndarray)
            or places.dtype != np.int64
            or places.ndim != 1
            or (len(places) and (places.min() < 0 or places.max() >= len(rows)))
        ):
            raise TwinWLError("the model's support vectors do not fit its features; the file is damaged")
        n_classes = model._own_from_state(part)  # noqa: SLF001
        model._keep_features(space.first_rounds(n_rounds), matrix[places])  # noqa: SLF001
        _choice_from_state(model, part, rows[places], n_classes)
        models.append(model)
    return names, models, space, rows, matrix


def _choice_to_state(model: TwinMachine) -> dict[str, object]:
    return {
        "support_weights": model.support_vectors_.weights,
        "intercepts": model.support_vectors_.intercepts,
        "C": model.C_,
        "inner_score": model.inner_score_,
        "inner_scores": [[n_iter, C, score] for (n_iter, C), score in model.inner_scores_.items()],
    }


def _choice_from_state(model: TwinMachine, state: Mapping[str, object], rows: Int64, n_classes: int) -> None:
    model.n_iter_ = model.space_.alphabet.n_iter
    n_support, n_pairs = len(rows), max(1, n_classes * (n_classes - 1) // 2)
    model.support_vectors_ = SupportVectors(
        rows,
        floats_from_state(state, "support_weights", (n_pairs, n_support)),
        floats_from_state(state, "intercepts", (n_pairs,)),
        n_classes,
    )
    try:
        model.C_ = float(state["C"])  # type: ignore[arg-type]
        model.inner_score_ = float(state["inner_score"])  # type: ignore[arg-type]
        model.inner_scores_ = {
            (int(n_iter), float(C)): float(score)
            for n_iter, C, score in state["inner_scores"]  # type: ignore[attr-defined]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise TwinWLError(f"the model lacks how it was chosen ({error}); the file is damaged") from error


def _rows(state: Mapping[str, object], n_support: int) -> Int64:
    rows = state.get("rows")
    if not isinstance(rows, np.ndarray) or rows.dtype != np.int64 or rows.shape != (n_support,):
        raise TwinWLError("the model's support vectors do not fit its features; the file is damaged")
    return rows
