"""Scores of predictions on a test set, with and without the graphs that the training data has too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.datasets.target_cells import as_targets, known_cells
from twinwl.errors import TwinWLError
from twinwl.estimators.targets import positive_name
from twinwl.evaluation.metrics import METRICS, Answers, measure, names_for
from twinwl.evaluation.tasks import task_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.arrays import Values
    from twinwl.evaluation.audit_result import Audit, AuditedSet

_PREDICTION = ("twinwl_prediction", "prediction")


class PartScores(NamedTuple):
    """A part of the test graphs, how many they are, and the scores on them."""

    part: str
    n_graphs: int
    scores: dict[str, float]
    positive: str | None = None


def scores_without_overlap(
    audit: Audit, tested: AuditedSet, predictions: Mapping[str, Sequence[Any]]
) -> list[PartScores]:
    """Score predictions on all test graphs, without copies, and without graphs that are nearly the same.

    Parameters
    ----------
    audit
        What the test set shares with earlier ones.
    tested
        The test set with its targets.
    predictions
        Columns of the table that ``twinwl predict`` writes: ``index`` (the row, else the order decides),
        ``prediction`` and, for metrics that need them, ``p_…``.

    Raises
    ------
    TwinWLError
        If there is no column of predictions, or a test graph that has a target lacks its prediction.
    """
    name = tested.data.name
    if tested.targets is None:
        raise TwinWLError(f"{name}: predictions cannot be scored without targets; name their column")
    column = _prediction_column(predictions, name)
    predicted = _by_row(predictions, column)
    known = [
        (row, target, predicted[row])
        for row, target in zip(tested.data.rows.tolist(), tested.targets, strict=True)
        if target is not None and row in predicted
    ]
    if not known:
        raise TwinWLError(f"{name}: no graph has both a target and a prediction; are the rows the same?")
    rows, targets, places = (np.array(column) for column in zip(*known, strict=True))
    answers, names = _answers(targets, places, predictions, column)
    positive = positive_name(answers.classes)
    same = np.isin(rows, audit.rows_in_common(name, audit.level))
    near = np.isin(rows, audit.rows_in_common(name))
    parts = {
        "all": np.ones(len(rows), np.bool_),
        f"without those in an earlier set ({audit.level})": ~same,
        "also without those nearly the same": ~near,
    }
    return [
        PartScores(part, int(kept.sum()), measure(answers.part(kept), names) if kept.any() else {}, positive)
        for part, kept in parts.items()
    ]


def _prediction_column(predictions: Mapping[str, Sequence[Any]], name: str) -> str:
    column = next((each for each in _PREDICTION if each in predictions), None)
    if column is None:
        raise TwinWLError(
            f"the predictions for {name} have no column 'prediction'; give what twinwl predict wrote"
        )
    return column


def _by_row(predictions: Mapping[str, Sequence[Any]], column: str) -> dict[int, int]:
    """Return the place of each row's prediction in the table."""
    cells = known_cells(predictions[column])
    rows = predictions.get("index", range(len(cells)))
    return {int(row): place for place, row in enumerate(rows) if cells[place] is not None}


def _answers(
    targets: Values, places: Values, predictions: Mapping[str, Sequence[Any]], column: str
) -> tuple[Answers, list[str]]:
    predicted = as_targets([predictions[column][place] for place in places], column, "the predictions")
    task = task_of(targets).name
    if task == "regression":
        return Answers(targets, predicted.astype(np.float64)), names_for(task)
    truth, said = targets.astype(str), predicted.astype(str)
    classes = np.unique([*truth, *said])
    columns = [predictions.get(f"p_{each}") for each in classes.tolist()]
    shares = [cells for cells in columns if cells is not None]
    if len(shares) < len(classes):
        return Answers(truth, said), [
            each for each in names_for(task) if not METRICS[each].needs_probabilities
        ]
    probability = np.array([[float(cells[place]) for cells in shares] for place in places])
    return Answers(truth, said, probability, classes), names_for(task)
