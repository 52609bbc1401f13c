"""Predictions of a model for graphs: the columns of the table, and metrics if targets are known."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import targets_in
from twinwl.datasets.targets import ALL, named_targets
from twinwl.errors import TwinWLError, shown
from twinwl.evaluation.metrics import figures, mean_scores
from twinwl.graphs.batch import GraphBatch
from twinwl.models.calibration import ClassHead, NumberHead, kept
from twinwl.models.metrics import METRICS, Answers, measure, names_for, positive_class, positive_name
from twinwl.models.similarity import NearGraphs
from twinwl.refinement.alphabet import Alphabet
from twinwl.refinement.colours import refine

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Float64, Values

_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


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
    positive : str or None
        The positive one of two classes.
    """

    values: Values
    classes: Values | None = None
    shares: Float64 | None = None
    sets: Bool | None = None
    intervals: Float64 | None = None
    positive: str | None = None

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
        known, answers = self._answers(truth)
        names = names_for("regression" if self.classes is None else "classification")
        n_known = len(answers.y)
        if not n_known:
            return [f"{METRICS[names[0]].title} unknown (0 of 0)"]
        scores = measure(answers, names)
        if self.classes is None:
            text = f"{figures(scores, names)} ({n_known:,} target{'s' * (n_known > 1)})"
            if self.intervals is None:
                return [text]
            low, high = self.intervals[known].T
            inside = (low <= answers.y) & (answers.y <= high)
            return [text, _coverage("interval contains the true number", inside)]
        right = int((answers.y == answers.predicted).sum())
        share = f"{100 * scores[names[0]]:.1f} % ({right:,} of {n_known:,})"
        text = f"{names[0]} {share}, {figures(scores, names[1:], self.positive)}"
        if self.sets is None:
            return [text]
        inside = (self.sets[known] & (answers.y[:, None] == answers.classes)).any(axis=1)
        return [text, _coverage("set contains the true class", inside)]

    def scores(self, truth: Sequence[Any]) -> dict[str, float]:
        """Return all metrics that are defined, over the graphs with a known target."""
        answers = self._answers(truth)[1]
        names = names_for("regression" if self.classes is None else "classification")
        return measure(answers, names) if len(answers.y) else {}

    def _answers(self, truth: Sequence[Any]) -> tuple[Bool, Answers]:
        """Return which graphs have a known target, and what was predicted for them."""
        known = np.array([value is not None for value in truth], bool)
        y = [value for value in truth if value is not None]
        if self.classes is None or self.shares is None:
            return known, Answers(np.array(y, np.float64), self.values[known])
        # Compared as text: one file may have numbers where another has strings.
        texts, predicted, classes = (
            np.array([str(value) for value in values])
            for values in (y, self.values[known].tolist(), self.classes.tolist())
        )
        return known, Answers(texts, predicted, self.shares[known], classes, self.positive)


def check_asked(
    model: Any,  # noqa: ANN401
    path: object,
    *,
    proba: bool,
    threshold: float | None,
    confidence: float | None,
    positive: str | None = None,
) -> None:
    """Refuse options that do not apply to the model, before graphs are read."""
    for head in model.heads_:
        if isinstance(head, NumberHead):
            asked = {
                "--proba": proba,
                "--threshold": threshold is not None,
                "--positive": positive is not None,
            }
            for option, given in asked.items():
                if given:
                    raise TwinWLError(
                        f"{option} needs a classifier, but this model predicts numbers; leave it out "
                        "(--confidence adds a range around each number)"
                    )
        else:
            positive_name(head.classes, positive)
        if confidence is None:
            continue
        try:
            scores = kept(head.conformal)
        except TwinWLError as error:
            raise TwinWLError(f"--confidence: {path}: {error}") from error
        if isinstance(head, NumberHead) and not np.isfinite(scores.of(np.zeros(1), confidence)).all():
            n = len(scores.errors)
            raise TwinWLError(
                f"--confidence: got {confidence:g}, but the model held out {n} graphs, which are enough for "
                f"{n / (n + 1):.3g} at most; lower it, or train with more graphs"
            )


def _check_classes(truth: Sequence[Any] | None, target: object, data: Dataset, head: ClassHead) -> None:
    """Refuse targets none of which is a class of the model: they mean something else."""
    classes = [str(name) for name in head.classes.tolist()]
    known = [
        (row, value) for row, value in zip(data.rows.tolist(), truth or [], strict=False) if value is not None
    ]
    if known and not any(str(value) in classes for _, value in known):
        row, value = known[0]
        raise TwinWLError(
            f"{data.name}: target {shown(target)} of row {row} is {shown(value)}, and no row has a class of "
            f"the model: {shown(classes)}; name another column with --target"
        )


def predictions_of(
    head: ClassHead | NumberHead,
    decisions: Float64,
    threshold: float | None = None,
    confidence: float | None = None,
    positive: str | None = None,
) -> Predictions:
    """Return what decision values of one task mean.

    Parameters
    ----------
    head
        That of the task.
    decisions
        Its decision values.
    threshold
        Predict the positive one of two classes if its probability is at least this; None predicts as the
        model does.
    confidence
        Confidence of sets or intervals, above 0 and below 1; None returns none.
    positive
        The positive class; see `twinwl.models.metrics.positive_class`.
    """
    if isinstance(head, NumberHead):
        intervals = None if confidence is None else head.intervals(decisions, confidence)
        return Predictions(head.predict(decisions), intervals=intervals)
    values, shares = head.predict(decisions), head.probabilities(decisions)
    if threshold is not None:
        if len(head.classes) != 2:  # noqa: PLR2004
            listing = ", ".join(map(str, head.classes.tolist()))
            raise TwinWLError(f"--threshold needs a model with two classes; this one has {listing}")
        place = positive_class(head.classes, positive)
        values = head.classes[np.where(shares[:, place] >= threshold, place, 1 - place)]
    sets = None if confidence is None else head.sets(decisions, confidence)
    return Predictions(values, head.classes, shares, sets, positive=positive_name(head.classes, positive))


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


def as_numbers(cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a text file as numbers if all are, None where empty, for formats that have numbers.

    Identifiers such as 007 stay text.

    >>> as_numbers(["1", "", "-2"]), as_numbers(["0.5", "3"]), as_numbers(["007", "1"])
    ([1, None, -2], [0.5, 3.0], ['007', '1'])
    """
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return list(cells)
    texts = [cell.strip() for cell in cells if cell is not None and cell.strip()]
    kind = int if all(map(_INTEGER.fullmatch, texts)) else float
    if not texts or not all(_NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in texts):
        return list(cells)
    return [kind(cell) if cell is not None and cell.strip() else None for cell in cells]


def answers_about(
    model: Any,  # noqa: ANN401
    data: Dataset,
    truths: Mapping[str, Sequence[Any] | None],
    threshold: float | None,
    confidence: float | None,
    positive: str | None = None,
    *,
    proba: bool,
) -> tuple[dict[str, Sequence[Any]], list[str]]:
    """Ask a model, and return the columns of its table and lines about how right it is.

    Parameters
    ----------
    model
        A classifier or a regressor.
    data
        The graphs.
    truths
        The known targets by task; of a model of one target under its name.
    threshold, confidence, positive
        As for `predictions_of`.
    proba
        Whether to return the probabilities.
    """
    names = model.tasks_ or tuple(truths)
    for task, truth in truths.items():
        head = model.heads_[names.index(task)]
        if isinstance(head, ClassHead):
            _check_classes(truth, task, data, head)
        else:
            _check_numbers(truth, task, data)
    pairs = zip(model.heads_, model._decisions(data.graphs), strict=True)  # noqa: SLF001  (graphs are encoded once)
    answers = [predictions_of(head, own, threshold, confidence, positive) for head, own in pairs]
    if model.tasks_ is None:
        (predicted,), truth = answers, next(iter(truths.values()))
        lines = [] if truth is None else predicted.figures(truth)
        return predicted.columns(proba=proba), _thresholds({"": predicted}, threshold) + lines
    found = dict(zip(model.tasks_, answers, strict=True))
    columns = {
        f"{name}_{task}": values
        for task, one in found.items()
        for name, values in one.columns(proba=proba).items()
    }
    known = {task: truth for task, truth in truths.items() if truth}
    return columns, _thresholds(found, threshold) + _figures_of_tasks(found, known)


def _thresholds(found: Mapping[str, Predictions], threshold: float | None) -> list[str]:
    """Say which class a threshold is about; of several tasks one line for those of the same class."""
    if threshold is None:
        return []
    names = dict.fromkeys(one.positive for one in found.values())
    return [
        f"threshold: {name!r} is predicted where its probability is {threshold:g} or more" for name in names
    ]


def _check_numbers(truth: Sequence[Any] | None, target: object, data: Dataset) -> None:
    """Refuse targets of a regressor that are not numbers, before anything is predicted."""
    for row, value in zip(data.rows.tolist(), truth or [], strict=False):
        if value is not None and not isinstance(value, int | float):
            raise TwinWLError(
                f"{data.name}: target {shown(target)} of row {row} is {shown(value)}, which is not a number, "
                "and the model predicts numbers; name another column with --target"
            )


def _figures_of_tasks(found: Mapping[str, Predictions], truths: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return lines about how right the predictions of each task are, and their mean."""
    lines = [f"{task}: {line}" for task, truth in truths.items() for line in found[task].figures(truth)]
    scores = [found[task].scores(truth) for task, truth in truths.items()]
    means = mean_scores(scores)
    if not means:
        return lines
    fewer = [METRICS[name].title for name in means if any(name not in one for one in scores)]
    left = f" ({', '.join(fewer)}: without targets for which it is undefined)" if fewer else ""
    positives = {found[task].positive for task in truths}
    name = positives.pop() if len(positives) == 1 else None
    return [*lines, f"mean of {len(scores)} targets: {figures(means, list(means), name)}{left}"]


def truths_of(
    model: Any,  # noqa: ANN401
    target: str | tuple[str, ...] | None,
    columns: Mapping[str, list[object]],
    data: Dataset,
) -> dict[str, list[Any]]:
    """Return the targets in the data by task; ``"all"`` are those tasks of the model that the data have.

    Raises
    ------
    TwinWLError
        If a target is not in the data, or is no task of the model.
    """
    if target is None:
        return {}
    if target == ALL:
        names = tuple(name for name in model.tasks_ if name in columns)
        if not names:
            listing = ", ".join(map(repr, model.tasks_))
            raise TwinWLError(
                f"{data.name}: --target all: no column has the name of a task of the model: {listing}"
            )
    else:
        named = named_targets(target, list(columns), data.name)
        names = (named,) if isinstance(named, str) else named
    for name in names:
        model.for_task(name)
    return {name: targets_in(columns, name, data) for name in names}


def _coverage(what: str, inside: Bool) -> str:
    """Return how often sets, or intervals, contain the truth, as text."""
    n_inside = int(inside.sum())
    return f"{what}: {100 * n_inside / len(inside):.1f} % ({n_inside:,} of {len(inside):,})"


def predicts_classes(model: object) -> bool:
    """Return whether a model is a classifier; else it is a regressor, which predicts numbers."""
    return hasattr(model, "predict_proba")


def unseen_shares(model: object, graphs: GraphBatch) -> Float64 | None:
    """Return the share of each graph's nodes with unseen colours, shape (n_rounds, n_graphs).

    A colour is unseen if it occurs in no training graph. The result is None if the model has no alphabet, as
    networks on continuous features have none. For a graph without nodes the share is 0.
    """
    alphabet = alphabet_of(model)
    if alphabet is None:
        return None
    unseen = refine(graphs.without_features(), None, alphabet=alphabet).colours < 0
    before = np.concatenate([np.zeros((len(unseen), 1)), np.cumsum(unseen, axis=1)], axis=1)
    shares: Float64 = np.diff(before[:, graphs.graph_ptr], axis=1) / np.maximum(1, graphs.nodes_per_graph)
    return shares


def alphabet_of(model: object) -> Alphabet | None:
    """Return the alphabet of a model, or None if it has none.

    >>> from twinwl import GraphBatch, STwinVectorizer
    >>> vectorizer = STwinVectorizer(n_iter=1).fit(GraphBatch.from_edges([[(0, 1)]]))
    >>> alphabet_of(vectorizer).n_colours
    [1, 1]
    """
    for path in ("space_", "vectorizer_.space_", "inputs_.histograms"):
        place: object = model
        for name in path.split("."):
            place = getattr(place, name, None)
        if place is not None:
            return getattr(place, "alphabet", None)
    return None


class Nearest(NamedTuple):
    """Indices of training graphs, -1 where nothing is similar, and their similarities."""

    training: Dataset
    places: list[int]
    similarity: list[float]

    @classmethod
    def found(cls, data: Dataset, training: Dataset) -> Nearest:
        """Search among the training graphs."""
        index, similarity = NearGraphs(training.graphs).nearest(data.graphs)
        return cls(training, index.tolist(), similarity.round(4).tolist())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of a table, one value per graph."""
        names, rows = self.training.names, self.training.rows
        return {
            "nearest": [None if place < 0 else names[place] for place in self.places],
            "nearest_row": [None if place < 0 else int(rows[place]) for place in self.places],
            "similarity": self.similarity,
        }

    def at(self, graph: int) -> tuple[Dataset, float] | None:
        """Return the nearest training graph of a graph and its similarity; None if nothing is similar."""
        place = self.places[graph]
        return None if place < 0 else (self.training[place], self.similarity[graph])

    def text(self, graph: int) -> str:
        """Name the nearest training graph of a graph, for people to read."""
        near = self.at(graph)
        if near is None:
            return "no training graph is similar"
        return f"nearest training graph: {near[0].names[0]} (similarity {near[1]:.2f})"
