"""Training and prediction: models by name, tables of predictions, and how right both are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twinwl.arrays import Bool, Float64, Values
from twinwl.datasets.dataset import ALL, Dataset, named_targets
from twinwl.datasets.source import targets_in
from twinwl.errors import TwinWLError, prefix_errors, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.models import metrics
from twinwl.models.calibration import ClassHead, NumberHead, held_out_scores
from twinwl.models.metrics import METRICS, Answers, figures, names_for, only_one, positive_name
from twinwl.refinement.colours import Alphabet, refine


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
        names = np.array([] if self.classes is None else [str(name) for name in self.classes.tolist()])
        if proba and self.shares is not None:
            for name, share in zip(names, self.shares.T.tolist()):
                columns[f"p_{name}"] = [float(f"{value:.6g}") for value in share]
        if self.sets is not None:
            columns["set"] = ["|".join(names[row]) for row in self.sets]
        if self.intervals is not None:
            columns |= dict(zip(("low", "high"), self.intervals.T.tolist()))
        return columns

    def answers(self, truth: Sequence[Any]) -> tuple[Answers, list[str]]:
        """Return the predictions of graphs whose target is known, with it, and the metrics that apply."""
        known = np.array([value is not None for value in truth], bool)
        y, predicted = [value for value in truth if value is not None], self.values[known]
        if self.classes is None:
            return Answers(np.array(y, np.float64), predicted), names_for("regression")
        shares, names = None, names_for("classification")
        if self.shares is None:
            names = [name for name in names if not METRICS[name].needs_probabilities]
        else:
            shares = self.shares[known]
        listed = (y, predicted.tolist(), self.classes.tolist())
        # As text, because one file may have numbers where another has strings.
        texts, result, classes = (np.array(list(map(str, values))) for values in listed)
        return Answers(texts, result, shares, classes, self.positive), names

    def scored(self, truth: Sequence[Any]) -> tuple[dict[str, float], list[str]]:
        """Return the metrics that are defined, over the graphs with a known target, and lines about them.

        >>> Predictions(np.array([1.0, 3.0])).scored([1.0, None])[1]
        ['RMSE 0.000, MAE 0.000, R² undefined, Spearman undefined (1 target)']
        """
        answers, names = self.answers(truth)
        n_known = len(answers.y)
        if not n_known:
            return {}, [f"{METRICS[names[0]].title} unknown (0 of 0)"]
        scores = metrics.measure(answers, names)
        if self.classes is None:
            lines = [f"{figures(scores, names)} ({n_known:,} target{'s' * (n_known > 1)})"]
        else:
            right = int((answers.y == answers.predicted).sum())
            share = f"{100 * scores[names[0]]:.1f} % ({right:,} of {n_known:,})"
            lines = [f"{names[0]} {share}, {figures(scores, names[1:], self.positive)}"]
        known = np.array([value is not None for value in truth])
        if self.intervals is not None:
            low, high = self.intervals[known].T
            inside = (low <= answers.y) & (answers.y <= high)
            lines.append(_coverage("interval contains the true number", inside))
        if self.sets is not None:
            inside = (self.sets[known] & (answers.y[:, None] == answers.classes)).any(axis=1)
            lines.append(_coverage("set contains the true class", inside))
        return scores, lines


def _coverage(what: str, inside: Bool) -> str:
    return f"{what}: {100 * inside.mean():.1f} % ({inside.sum():,} of {len(inside):,})"


@dataclass(frozen=True)
class Request:
    """What to predict besides classes and numbers.

    Attributes
    ----------
    proba : bool
        Whether to return the probabilities.
    threshold : float or None
        Predict the positive one of two classes if its probability is at least this; None predicts as the
        model does.
    confidence : float or None
        Confidence of sets or intervals, above 0 and below 1; None returns none.
    positive : str or None
        The positive class; see `twinwl.models.metrics.positive_class`.
    """

    proba: bool = False
    threshold: float | None = None
    confidence: float | None = None
    positive: str | None = None

    def check(self, model: Any, path: object) -> None:  # noqa: ANN401  (models share no base that has predict)
        """Refuse options that do not apply to the model, before graphs are read."""
        options = {"--proba": self.proba or None, "--threshold": self.threshold, "--positive": self.positive}
        for head in model.heads_:
            if isinstance(head, ClassHead):
                positive_name(head.classes, self.positive)
            elif unsuitable := [option for option, value in options.items() if value is not None]:
                raise TwinWLError(
                    f"{unsuitable[0]} needs a classifier, but this model predicts numbers; leave it out "
                    "(--confidence adds a range around each number)"
                )
            if self.confidence is None:
                continue
            with prefix_errors(f"--confidence: {path}"):
                scores = held_out_scores(head.conformal)
            if (
                isinstance(head, NumberHead)
                and not np.isfinite(scores.of(np.zeros(1), self.confidence)).all()
            ):
                n = len(scores.errors)
                raise TwinWLError(
                    f"--confidence: got {self.confidence:g}, but the model held out {n} graphs, which are "
                    f"enough for {n / (n + 1):.3g} at most; lower it, or train with more graphs"
                )


def predictions_of(head: ClassHead | NumberHead, decisions: Float64, request: Request) -> Predictions:
    """Return what decision values of one task, which has this head, mean."""
    positive, confidence = request.positive, request.confidence
    if isinstance(head, NumberHead):
        intervals = None if confidence is None else head.intervals(decisions, confidence)
        return Predictions(head.predict(decisions), intervals=intervals)
    values, shares = head.predict(decisions), head.probabilities(decisions)
    if request.threshold is not None:
        if len(head.classes) != 2:  # noqa: PLR2004
            listing = ", ".join(map(str, head.classes.tolist()))
            raise TwinWLError(f"--threshold needs a model with two classes; this one has {listing}")
        place = metrics.positive_class(head.classes, positive)
        values = head.classes[np.where(shares[:, place] >= request.threshold, place, 1 - place)]
    sets = None if confidence is None else head.sets(decisions, confidence)
    return Predictions(values, head.classes, shares, sets, positive=positive_name(head.classes, positive))


def answers_about(
    model: Any,  # noqa: ANN401
    data: Dataset,
    truths: Mapping[str, Sequence[Any] | None],
    request: Request,
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
    request
        What else to predict.
    """
    several = model.tasks_ is not None
    names = model.tasks_ or tuple(truths)
    for task, truth in truths.items():
        _check_truth(model.heads_[names.index(task)], truth, task, data)
    decided = zip(names, model.heads_, model._decisions(data.graphs))  # noqa: SLF001  (at once)
    result = {name: predictions_of(head, decisions, request) for name, head, decisions in decided}
    columns = {
        f"{name}_{task}" if several else name: values
        for task, one in result.items()
        for name, values in one.columns(proba=request.proba).items()
    }
    lines = [
        f"threshold: {name!r} is predicted where its probability is {request.threshold:g} or more"
        for name in dict.fromkeys(one.positive for one in result.values())
        if request.threshold is not None
    ]
    scored = {task: result[task].scored(truth) for task, truth in truths.items() if truth}
    lines += [
        f"{task}: {line}" if several else line for task, (_, messages) in scored.items() for line in messages
    ]
    scores = [one for one, _ in scored.values()]
    means = metrics.mean_scores(scores) if several else {}
    if means:
        fewer = [METRICS[name].title for name in means if any(name not in one for one in scores)]
        left = f" ({', '.join(fewer)}: without targets for which it is undefined)" if fewer else ""
        name = only_one(result[task].positive for task in scored)
        lines.append(f"mean of {len(scores)} targets: {figures(means, list(means), name)}{left}")
    return columns, lines


def _check_truth(
    head: ClassHead | NumberHead, truth: Sequence[Any] | None, target: object, data: Dataset
) -> None:
    """Refuse targets that are not numbers for a regressor, and those without a class of a classifier."""
    pairs = zip(data.rows.tolist(), truth or [], strict=False)
    known = [(row, value) for row, value in pairs if value is not None]
    if isinstance(head, ClassHead):
        classes = [str(name) for name in head.classes.tolist()]
        odd = [] if any(str(value) in classes for _, value in known) else known
        why = f"and no row has a class of the model: {shown(classes)}"
    else:
        odd = [(row, value) for row, value in known if not isinstance(value, int | float)]
        why = "which is not a number, and the model predicts numbers"
    for row, value in odd[:1]:
        raise TwinWLError(
            f"{data.name}: target {shown(target)} of row {row} is {shown(value)}, {why}; name another column "
            "with --target"
        )


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
        If a target is not in the data, or is not a task of the model.
    """
    if target is None:
        return {}
    names = tuple(name for name in model.tasks_ if name in columns)
    if target != ALL:
        names = named_targets(target, list(columns), data.name)
    elif not names:
        listing = ", ".join(map(repr, model.tasks_))
        raise TwinWLError(
            f"{data.name}: --target all: no column has the name of a task of the model: {listing}"
        )
    for name in names:
        model.for_task(name)
    return {name: targets_in(columns, name, data.rows, data.name) for name in names}


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

    def by_row(values: Sequence[Any]) -> list[Any]:
        return [values[graph_of_row[row]] if row in graph_of_row else None for row in rows]

    columns: dict[str, list[Any]] = {"index": rows}
    columns |= {name: [cells[row] for row in rows] for name, cells in source.items()}
    added = ({} if source else {"name": data.names}) | dict(answers)
    for name, values in added.items():
        columns[f"twinwl_{name}" if name in columns else name] = by_row(values)
    columns["twinwl_error" if "error" in columns else "error"] = [reason_of_row.get(row) for row in rows]
    return columns


def unseen_shares(model: object, graphs: GraphBatch) -> Float64 | None:
    """Return the share of each graph's nodes with unseen colours, shape (n_rounds, n_graphs).

    A colour is unseen if it occurs in no training graph. The result is None if the model has no alphabet, as
    networks on continuous features have none. For a graph without nodes the share is 0.
    """
    names = getattr(model, "view_names_", ())
    if names:  # the mean over views
        views = zip(model.spaces_.views, graphs.select_views(names).each_view())  # type: ignore[attr-defined]
        return np.mean([_unseen_by(view.alphabet, batch) for view, batch in views], axis=0)
    alphabet = alphabet_of(model)
    return None if alphabet is None else _unseen_by(alphabet, graphs)


def _unseen_by(alphabet: Alphabet, graphs: GraphBatch) -> Float64:
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
    for path in ("space_", "vectorizer_.space_", "inputs_.histograms.space"):
        place: object = model
        for name in path.split("."):
            place = getattr(place, name, None)
        if place is not None:
            return getattr(place, "alphabet", None)
    return None
