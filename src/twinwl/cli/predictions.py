"""Predictions of a model for graphs: the columns of the table, and metrics if targets are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.cli.model_files import answers_of, predicts_classes
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.conformal import kept
from twinwl.evaluation.metrics import METRICS, Answers, figures, measure, names_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch

__all__ = ["Predictions", "check_asked", "check_numbers", "prediction_table", "predictions_of"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a model for graphs.

    Attributes
    ----------
    values : array, shape (n_graphs,)
        Classes, or numbers.
    classes : array, shape (n_classes,), or None
        All classes; None if the model is a regressor.
    shares : array of float64, shape (n_graphs, n_classes), or None
        The probability of each class.
    sets : array of bool, shape (n_graphs, n_classes), or None
        Which classes cannot be ruled out at the given confidence.
    intervals : array of float64, shape (n_graphs, 2), or None
        Of a regressor, at the given confidence.
    """

    values: NDArray[np.generic]
    classes: NDArray[np.generic] | None = None
    shares: Float64 | None = None
    sets: NDArray[np.bool_] | None = None
    intervals: Float64 | None = None

    def columns(self, *, proba: bool) -> dict[str, Sequence[Any]]:
        """Return the columns of the table, one value per graph.

        >>> sets = np.array([[True, True], [False, False]])
        >>> Predictions(np.array(["a", "b"]), np.array(["a", "b"]), None, sets).columns(proba=False)
        {'prediction': ['a', 'b'], 'set': ['a|b', '']}
        >>> Predictions(np.array([0.5]), intervals=np.array([[0.0, 1.0]])).columns(proba=False)
        {'prediction': [0.5], 'low': [0.0], 'high': [1.0]}
        """
        columns: dict[str, Sequence[Any]] = {"prediction": self.values.tolist()}
        names = [] if self.classes is None else [str(name) for name in self.classes.tolist()]
        if proba and self.shares is not None:
            for name, share in zip(names, self.shares.T.tolist(), strict=True):
                columns[f"p_{name}"] = [float(f"{value:.6g}") for value in share]
        if self.sets is not None:
            columns["set"] = [
                "|".join(name for name, is_in in zip(names, row, strict=True) if is_in)
                for row in self.sets.tolist()
            ]
        if self.intervals is not None:
            columns |= dict(zip(("low", "high"), self.intervals.T.tolist(), strict=True))
        return columns

    def figures(self, truth: Sequence[Any]) -> list[str]:
        """Return lines with the metrics of the predictions, over the graphs with a known target.

        >>> Predictions(np.array([1.0, 3.0])).figures([1.0, None])
        ['RMSE 0.000, MAE 0.000, R² undefined, Spearman undefined (1 target)']
        """
        known = np.array([value is not None for value in truth], bool)
        y = [value for value in truth if value is not None]
        head, *others = names_for("regression" if self.classes is None else "classification")
        if not y:
            return [f"{METRICS[head].title} unknown (0 of 0)"]
        if self.classes is None or self.shares is None:
            numbers = np.array(y, np.float64)
            scores = measure(Answers(numbers, self.values[known]), [head, *others])
            text = f"{figures(scores, [head, *others])} ({len(y):,} target{'s' * (len(y) > 1)})"
            if self.intervals is None:
                return [text]
            low, high = self.intervals[known].T
            return [
                text,
                _coverage("interval contains the true number", (low <= numbers) & (numbers <= high)),
            ]
        # Compared as text: one file may have numbers where another has strings.
        texts, predicted, classes = (
            np.array([str(value) for value in values])
            for values in (y, self.values[known].tolist(), self.classes.tolist())
        )
        scores = measure(Answers(texts, predicted, self.shares[known], classes), [head, *others])
        right = int((texts == predicted).sum())
        text = f"{head} {scores[head]:.1%} ({right:,} of {len(y):,}), {figures(scores, others)}"
        if self.sets is None:
            return [text]
        inside = (self.sets[known] & (texts[:, None] == classes)).any(axis=1)
        return [text, _coverage("set contains the true class", inside)]


def check_asked(
    model: object, path: object, *, proba: bool, threshold: float | None, confidence: float | None
) -> None:
    """Refuse options that do not apply to the model, before graphs are read."""
    if not predicts_classes(model):
        for option, given in (("--proba", proba), ("--threshold", threshold is not None)):
            if given:
                raise TwinWLError(
                    f"{option} needs a classifier, but this model predicts numbers; leave it out "
                    "(--confidence adds a range around each number)"
                )
    if confidence is None:
        return
    try:
        scores = kept(getattr(model, "conformal_", None))
    except TwinWLError as error:
        raise TwinWLError(f"--confidence: {path}: {error}") from error
    errors = getattr(scores, "errors", None)
    if errors is not None and not np.isfinite(scores.of(np.zeros(1), confidence)).all():
        n = len(errors)
        raise TwinWLError(
            f"--confidence: got {confidence:g}, but the model held out {n} graphs, which are enough for "
            f"{n / (n + 1):.3g} at most; lower it, or train with more graphs"
        )


def check_numbers(truth: Sequence[Any] | None, target: str | None, data: Dataset) -> None:
    """Refuse targets of a regressor that are not numbers, before anything is predicted."""
    for row, value in zip(data.rows.tolist(), truth or [], strict=False):
        if value is not None and not isinstance(value, int | float):
            raise TwinWLError(
                f"{data.name}: target {shown(target)} of row {row} is {shown(value)}, which is not a number, "
                "and the model predicts numbers; name another column with --target"
            )


def predictions_of(
    model: Any,  # noqa: ANN401  (models share no base that has predict)
    graphs: GraphBatch,
    threshold: float | None = None,
    confidence: float | None = None,
) -> Predictions:
    """Predict, computing the decision values only once.

    Parameters
    ----------
    model
        A classifier or a regressor.
    graphs
    threshold
        Predict the second of two classes if its probability is at least this; None predicts as the model
        does.
    confidence
        Confidence of sets or intervals, above 0 and below 1; None returns none.
    """
    if predicts_classes(model):
        values, shares = answers_of(model, graphs, threshold)
        sets = None if confidence is None else kept(model.conformal_).of(shares, confidence)
        return Predictions(values, model.classes_, shares, sets)
    numbers = model.predict(graphs)
    return Predictions(
        numbers, intervals=None if confidence is None else kept(model.conformal_).of(numbers, confidence)
    )


def prediction_table(
    data: Dataset, source: Mapping[str, list[Any]], answers: Mapping[str, Sequence[Any]]
) -> dict[str, list[Any]]:
    """Join the predictions to the rows of the source.

    Parameters
    ----------
    data
        The graphs, and the rows that could not be read: these are kept, with the reason in ``error``.
    source
        All columns of the table that the graphs come from, as returned by
        `twinwl.datasets.source.read_columns`; if there are none, the table has the names of the graphs.
    answers
        Columns with one value per graph. If the source has a column ``name`` too, it becomes ``twinwl_name``.

    >>> from twinwl import load_dataset
    >>> data = load_dataset("graph6:Bw")
    >>> prediction_table(data, {}, {"prediction": [1]})
    {'index': [0], 'name': ['graph6:Bw'], 'prediction': [1], 'error': [None]}
    """
    graph_of_row: dict[int, int] = {row: graph for graph, row in enumerate(data.rows.tolist())}
    reason_of_row = {error.row: error.reason for error in data.errors}
    rows = sorted({*graph_of_row, *reason_of_row})
    columns: dict[str, list[Any]] = {"index": rows}
    if source:
        columns |= {name: [cells[row] for row in rows] for name, cells in source.items()}
    else:
        columns["name"] = [data.names[graph_of_row[row]] if row in graph_of_row else None for row in rows]
    for name, values in answers.items():
        cells = [values[graph_of_row[row]] if row in graph_of_row else None for row in rows]
        columns[f"twinwl_{name}" if name in columns else name] = cells
    columns["twinwl_error" if "error" in columns else "error"] = [reason_of_row.get(row) for row in rows]
    return columns


def _coverage(what: str, inside: NDArray[np.bool_]) -> str:
    """Return how often sets, or intervals, contain the truth, as text."""
    n_inside = int(inside.sum())
    return f"{what}: {n_inside / len(inside):.1%} ({n_inside:,} of {len(inside):,})"
