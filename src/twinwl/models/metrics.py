"""The table of metrics, scores of one or several tasks, and reports of scores.

A metric is one entry of `METRICS`. An entry with a ``scorer``, scikit-learn's name for it, can be chosen by
unless it needs true probabilities: inner folds only have decision values.

Metrics of several tasks: of each on the graphs whose target is known, and their mean. A training report has
the metrics on the graphs that the model held out, as predicted by an SVM or network that had not learnt from
them. All results, of whatever part of twinwl, are printed, plotted and saved in the same ways (`Rendered`).
"""

from __future__ import annotations

import io
import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items, one_of
from twinwl.arrays import Bool, Float64, Values
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.models.calibration import ClassHead, NumberHead, predicted_codes
from twinwl.models.targets import TargetColumn, Task, read_targets

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch
    from twinwl.report.page import Page

# Of two classes that are called so, in any case, the second is the positive one.
_OBVIOUS = (("0", "1"), ("inactive", "active"), ("no", "yes"), ("-", "+"), ("false", "true"))
_TWO = 2


def positive_class(classes: Values, positive: object = None) -> int:
    """Return the place of the class that precision, PR-AUC and thresholds are about.

    Parameters
    ----------
    classes
        All classes.
    positive
        The one of two classes that the user names, as it is or as text. None: the second of ``0/1``,
        ``inactive/active``, ``no/yes``, ``-/+`` and ``False/True``, otherwise the last in sorted order.

    >>> positive_class(np.array(["active", "inactive"])), positive_class(np.array(["cold", "warm"]))
    (0, 1)
    """
    listed = classes.tolist()
    names = [str(name) for name in listed]
    if positive is not None:
        if len(names) != _TWO or str(positive) not in names:
            listing = ", ".join(map(shown, names))
            remedy = (
                "expected one of them" if len(names) == _TWO else "which is for two classes; leave it out"
            )
            raise TwinWLError(f"positive: got {shown(positive)} for the classes {listing}, {remedy}")
        return names.index(str(positive))
    plain = [name.lower() for name in names]
    for pair in _OBVIOUS:
        if sorted(plain) == sorted(pair):
            return plain.index(pair[1])
    return max(range(len(listed)), key=listed.__getitem__)


def positive_name(classes: Values | None, positive: object = None) -> str | None:
    """Return what `positive_class` is called; None unless there are two classes.

    >>> positive_name(np.array([0, 1])), positive_name(np.array([0, 1, 2]))
    ('1', None)
    """
    if classes is None or (positive is None and len(classes) != _TWO):
        return None
    return str(classes[positive_class(classes, positive)])


@dataclass(frozen=True)
class Answers:
    """Predictions of a model and the true targets.

    Attributes
    ----------
    y : array, shape (n,)
        The true targets.
    predicted : array, shape (n,)
    probability : array, shape (n, n_classes), or None
        Of each class, if the model has them.
    classes : array, shape (n_classes,), or None
        The classes of its columns; None if the targets are numbers.
    positive : object
        The positive one of two classes, as the user names it; see `positive_class`.
    weights : array, shape (n,), or None
        How much each graph counts.
    """

    y: Values
    predicted: Values
    probability: Float64 | None = None
    classes: Values | None = None
    positive: object = None
    weights: Float64 | None = None

    def part(self, rows: Values) -> Answers:
        """Return the answers about some of the graphs."""
        probability = None if self.probability is None else self.probability[rows]
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self, y=self.y[rows], predicted=self.predicted[rows], probability=probability, weights=weights
        )

    def by_class(self) -> tuple[Bool, Float64]:
        """Return for each graph and class whether it is the true one, and its probability.

        A class that does not occur in training has the probability 0. The positive one of two is last.
        """
        assert self.probability is not None  # noqa: S101  (`answers_of` adds what the metrics need)
        assert self.classes is not None  # noqa: S101
        new = np.setdiff1d(self.y, self.classes)
        classes = np.concatenate([self.classes, new])
        unseen = np.zeros((len(self.y), len(new)))
        order = np.arange(len(classes))
        if len(classes) == _TWO:
            order = np.roll(order, 1 - positive_class(classes, self.positive))
        return self.y[:, None] == classes[order], np.hstack([self.probability, unseen])[:, order]


@dataclass(frozen=True)
class Metric:
    """An entry of the table of metrics.

    Attributes
    ----------
    name, title : str
        Name of the metric, and its title in tables.
    needs : {"classes", "ranks", "probabilities", "numbers"}
        What it compares with the targets: predicted classes, values that rank the graphs for each class
        (probabilities or decision values), probabilities, or predicted numbers.
    score : function
        From `Answers` to a number; NaN if it is undefined.
    greater_is_better : bool
    percent : bool
        Whether it is a share, which is shown in per cent.
    of_positive : bool
        Whether it is about the positive one of two classes.
    scorer : str
        scikit-learn's name for it, which estimators with a parameter ``scoring`` take; empty where it has
        none.
    """

    name: str
    title: str
    needs: str
    score: Callable[[Answers], float]
    greater_is_better: bool = True
    percent: bool = False
    of_positive: bool = False
    scorer: str = ""

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "regression" if self.needs == "numbers" else "classification"

    @property
    def needs_probabilities(self) -> bool:
        """Whether predicted classes are not enough."""
        return self.needs in {"ranks", "probabilities"}

    @property
    def sign(self) -> int:
        """1 if greater scores are better, else -1."""
        return 1 if self.greater_is_better else -1

    def titled(self, positive: str | None) -> str:
        """Return the title, with the positive class if the metric is about it.

        >>> METRICS["average-precision"].titled("active"), METRICS["mcc"].titled("active")
        ('PR-AUC (active)', 'MCC')
        """
        return f"{self.title} ({positive})" if self.of_positive and positive is not None else self.title

    def text(self, score: float, spread: float | None = None) -> str:
        """Format a score, with its standard deviation if given.

        >>> METRICS["accuracy"].text(0.7825, 0.01), METRICS["rmse"].text(0.58), METRICS["mcc"].text(math.nan)
        ('78.25 ± 1.00', '0.580', 'undefined')
        """
        if math.isnan(score):
            return "undefined"
        scale, digits = (100, 2) if self.percent else (1, 3)
        figure = f"{scale * score:.{digits}f}"
        return figure if spread is None else f"{figure} ± {scale * spread:.{digits}f}"

    def gap(self, first: float, second: float) -> str:
        """Format the difference of two scores as they are shown, without its sign.

        >>> METRICS["accuracy"].gap(0.86034, 0.87106)
        '1.08'
        """
        digits = 2 if self.percent else 3
        return f"{abs(float(self.text(first)) - float(self.text(second))):.{digits}f}"


def _function(name: str) -> Callable[..., float]:
    from sklearn import metrics  # noqa: PLC0415  (slow; not needed for the names)

    return getattr(metrics, name)


def _accuracy(answers: Answers) -> float:
    right = answers.predicted == answers.y
    if answers.weights is None:
        return float(right.mean())
    return float(answers.weights[right].sum() / answers.weights.sum())


def _of_labels(name: str, **options: object) -> Callable[[Answers], float]:
    def of_two_classes(answers: Answers) -> float:
        if len(np.unique(answers.y)) < _TWO:
            return math.nan
        return float(_function(name)(answers.y, answers.predicted, sample_weight=answers.weights, **options))

    return of_two_classes


def _of_ranks(name: str) -> Callable[[Answers], float]:
    """Rank by the probability of the positive class, or one class against the rest, all counting alike."""

    def of_all_classes(answers: Answers) -> float:
        is_class, probability = answers.by_class()
        if not is_class.any(axis=0).all():
            return math.nan  # a class without a graph cannot be ranked
        first = 1 if is_class.shape[1] == _TWO else 0
        columns = zip(is_class.T[first:], probability.T[first:])
        scores = [_function(name)(truth, share, sample_weight=answers.weights) for truth, share in columns]
        return float(np.mean(scores))

    return of_all_classes


def _brier(answers: Answers) -> float:
    """Return half the squared distance between the probabilities and the truth, so that 1 is the worst."""
    is_class, probability = answers.by_class()
    return float(np.square(probability - is_class).sum(axis=1).mean() / 2)


def _majority(answers: Answers) -> float:
    """Return the accuracy of always predicting the most common class."""
    return float(np.unique(answers.y, return_counts=True)[1].max() / len(answers.y))


def _mean_error(answers: Answers, power: int) -> float:
    """Return the mean of the absolute errors, or of their squares."""
    missed = np.abs(answers.y.astype(np.float64) - answers.predicted.astype(np.float64))
    return float(np.average(missed**power, weights=answers.weights))


def _r2(answers: Answers) -> float:
    """Return the share of the variance that is predicted; NaN where all targets are equal."""
    y = answers.y.astype(np.float64)
    spread = float(np.average((y - np.average(y, weights=answers.weights)) ** 2, weights=answers.weights))
    return math.nan if (y == y[0]).all() else 1 - _mean_error(answers, 2) / spread


def _spearman(answers: Answers) -> float:
    """Return the correlation of ranks; NaN where all targets, or all predictions, are equal."""
    from scipy.stats import spearmanr  # noqa: PLC0415

    return float(spearmanr(answers.y, answers.predicted)[0]) if len(answers.y) > 1 else math.nan


_AP, _RMSE, _MAE = "average_precision", "neg_root_mean_squared_error", "neg_mean_absolute_error"
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("accuracy", "accuracy", "classes", _accuracy, percent=True, scorer="accuracy"),
        Metric("majority", "majority class", "classes", _majority, percent=True),
        Metric("roc-auc", "ROC-AUC", "ranks", _of_ranks("roc_auc_score"), scorer="roc_auc"),
        Metric("average-precision", "PR-AUC", "ranks", _of_ranks(f"{_AP}_score"),
               of_positive=True, scorer=_AP),
        Metric("balanced-accuracy", "balanced accuracy", "classes", _of_labels("balanced_accuracy_score"),
               percent=True, scorer="balanced_accuracy"),
        Metric("f1-macro", "macro F1", "classes", _of_labels("f1_score", average="macro"),
               percent=True, scorer="f1_macro"),
        Metric("mcc", "MCC", "classes", _of_labels("matthews_corrcoef"), scorer="matthews_corrcoef"),
        Metric("brier", "Brier", "probabilities", _brier, greater_is_better=False, scorer="neg_brier_score"),
        Metric("rmse", "RMSE", "numbers", lambda answers: math.sqrt(_mean_error(answers, 2)),
               greater_is_better=False, scorer=_RMSE),
        Metric("mae", "MAE", "numbers", partial(_mean_error, power=1), greater_is_better=False, scorer=_MAE),
        Metric("r2", "R²", "numbers", _r2, scorer="r2"),
        Metric("spearman", "Spearman", "numbers", _spearman),
    ]
}  # fmt: skip
_CHOOSABLE = {m.scorer: m for m in METRICS.values() if m.scorer and m.needs != "probabilities"}
_OTHER_NAMES = {"pr-auc": "average-precision"}
WITHOUT_COPIES = "-without-duplicates"  # suffix of a metric: on test graphs without a copy in training
# The scores by which classifiers, and regressors, can be chosen, by their names in scikit-learn.
SCORINGS = tuple(name for name, metric in _CHOOSABLE.items() if metric.task == "classification")
NUMBER_SCORINGS = tuple(name for name, metric in _CHOOSABLE.items() if metric.task == "regression")


def names_for(task: str, *, choosable: bool = False) -> list[str]:
    """Return the metrics of a task, or those that estimators can choose by; the first is the default.

    >>> names_for("regression"), names_for("regression", choosable=True)
    (['rmse', 'mae', 'r2', 'spearman'], ['rmse', 'mae', 'r2'])
    """
    table = _CHOOSABLE if choosable else METRICS
    return [metric.name for metric in table.values() if metric.task == task]


def measure(answers: Answers, names: Sequence[str]) -> dict[str, float]:
    """Return the scores that are defined; undefined ones are missing from the result.

    >>> measure(Answers(np.array([1, 1]), np.array([1, 0])), ["accuracy", "mcc"])
    {'accuracy': 0.5}
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined scores are missing from the result instead
        scores = {name: METRICS[name].score(answers) for name in names}
    return {name: score for name, score in scores.items() if math.isfinite(score)}


def score_decisions(
    truth: Values, decisions: Float64, scoring: str, weights: Float64 | None = None, positive: int = 1
) -> float:
    """Return how good decisions between classes, or predicted numbers, are: the greater the better.

    NaN where that is undefined for classes. R² of equal numbers is undefined too; what is closer to them is
    still better, so it is the squared error then.

    Parameters
    ----------
    truth : array, shape (n_graphs,)
        The true classes, as places among all of them, or the true numbers.
    decisions : array, shape (n_graphs,) for two classes or numbers, else (n_graphs, n_classes)
    scoring
        One of `SCORINGS`, of which those of ranks compare one class with the rest where there are more than
        two, or of `NUMBER_SCORINGS`.
    weights : array, shape (n_graphs,), optional
        How much each graph counts.
    positive
        Which of two classes ``"average_precision"`` is about.

    >>> codes, decisions = np.array([0, 0, 0, 1]), np.array([-3.0, -2, -2, -1])
    >>> [score_decisions(codes, decisions, name) for name in ("accuracy", "roc_auc")]
    [0.75, 1.0]
    >>> score_decisions(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]), "r2")
    -1.0
    """
    metric = _CHOOSABLE[scoring]
    if metric.needs == "numbers":
        answers = Answers(truth, decisions, weights=weights)
        score = metric.sign * metric.score(answers)
        return -_mean_error(answers, 2) if math.isnan(score) else score
    columns = decisions if decisions.ndim > 1 else np.stack([-decisions, decisions], axis=1)
    classes, named = np.arange(columns.shape[1]), positive if columns.shape[1] == _TWO else None
    answers = Answers(truth, predicted_codes(decisions), columns, classes, named, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that are predicted and do not occur
        return metric.score(answers)


def known_metrics(names: Sequence[str], argument: str = "metrics") -> list[str]:
    """Return the names of metrics; refuse an unknown one, with the nearest known name.

    >>> known_metrics(["pr-auc"])
    ['average-precision']
    """
    listed = [names] if isinstance(names, str) else items(argument, names, "a list of names")
    plain = [_OTHER_NAMES.get(name, name) if isinstance(name, str) else name for name in listed]
    return [checked(argument, name, one_of(*METRICS)) for name in plain]


def check_metrics(names: Sequence[str], task: str = "classification", argument: str = "metrics") -> list[str]:
    """Return the metrics with the main one of the task; refuse one that is unknown or of another task.

    >>> check_metrics(["roc-auc"])
    ['roc-auc', 'accuracy']
    """
    known = known_metrics(names, argument)
    for name in known:
        if METRICS[name].task != task:
            raise TwinWLError(
                f"{argument}: {name} is for {METRICS[name].task}, and this is {task}; choose from "
                f"{', '.join(names_for(task))}"
            )
    return list(dict.fromkeys([*known, names_for(task)[0]]))  # the first is the headline


def scorer_for(estimator: BaseEstimator, name: str) -> str | None:
    """Return what an estimator's parameter ``scoring`` calls a metric; None if it cannot choose by it.

    >>> from twinwl import STwinSVC, STwinSVR
    >>> scorer_for(STwinSVC(), "roc-auc"), scorer_for(STwinSVC(), "brier"), scorer_for(STwinSVR(), "mae")
    ('roc_auc', None, 'neg_mean_absolute_error')
    """
    scorer = METRICS[name].scorer
    if not scorer or "scoring" not in estimator.get_params(deep=False):
        return None
    # Estimators of other packages do not say what they accept: they are given the name.
    constraints = getattr(estimator, "_constraints", {}).get("scoring")
    accepted = [known for constraint in constraints or () if constraint for known in constraint.names]
    return scorer if constraints is None or scorer in accepted else None


def figures(scores: Mapping[str, float], names: Sequence[str], positive: str | None = None) -> str:
    """Format scores on one line; a missing one is written as undefined.

    >>> figures({"accuracy": 0.782, "majority": 0.965}, ["accuracy", "majority", "average-precision"], "yes")
    'accuracy 78.2 %, majority class 96.5 %, PR-AUC (yes) undefined'
    """
    texts = []
    for name in names:
        metric, score = METRICS[name], scores.get(name)
        figure = (
            "undefined" if score is None else f"{100 * score:.1f} %" if metric.percent else f"{score:.3f}"
        )
        texts.append(f"{metric.titled(positive)} {figure}")
    return ", ".join(texts)


def of_task(metric: str, task: str) -> str:
    """Return what the score of one task is called, beside the mean of all.

    >>> of_task("roc-auc", "NR-AR")
    'roc-auc@NR-AR'
    """
    return f"{metric}@{task}"


def check_positive(data: Dataset, task: Task, positive: object, scoring: str | None) -> str | None:
    """Return the name of the positive class; of several tasks, if it is the same in all.

    Raises
    ------
    TwinWLError
        If what the user names is not one of two classes, or estimators would choose by the other one.
    """
    if task.name == "regression":
        if positive is not None:
            raise TwinWLError(f"positive: got {shown(positive)}, but the targets are numbers; leave it out")
        return None
    table = read_targets(data.targets, len(data))
    names = set()
    for column, there in zip(table.columns, table.known.T):
        classes = np.unique(column[there])
        name, usual = positive_name(classes, positive), positive_name(classes)
        if scoring is not None and METRICS[scoring].of_positive and name != usual:
            raise TwinWLError(
                f"positive: got {shown(positive)}, but estimators choose by the {scoring} of {usual!r}; "
                "choose another scoring"
            )
        names.add(name)
    return names.pop() if len(names) == 1 else None


@dataclass(frozen=True)
class TaskAnswers:
    """Predictions of a model of one or several tasks and the true targets.

    Attributes
    ----------
    tasks : tuple of str
        Their names; empty if there is one task without a name.
    answers : tuple of Answers
        One per task, about the graphs whose target is known.
    known : array of bool, shape (n_graphs, n_tasks)
        Which graphs these are.
    """

    tasks: tuple[str, ...]
    answers: tuple[Answers, ...]
    known: Bool

    def part(self, rows: Bool) -> TaskAnswers:
        """Return the answers about some of the graphs."""
        parts = [one.part(rows[known]) for one, known in zip(self.answers, self.known.T)]
        return TaskAnswers(self.tasks, tuple(parts), self.known[rows])

    def measure(self, names: Sequence[str]) -> dict[str, float]:
        """Return the mean of each metric, over the tasks where it is defined, and the score of each task.

        >>> one = Answers(np.array([0, 1]), np.array([0, 0]))
        >>> known = np.array([[True, True], [True, False]])
        >>> both = TaskAnswers(("a", "b"), (one, one.part(known[:, 1])), known)
        >>> both.measure(["accuracy", "mcc"])
        {'accuracy': 0.75, 'mcc': 0.0, 'accuracy@a': 0.5, 'mcc@a': 0.0, 'accuracy@b': 1.0}
        """
        scores = [measure(one, names) if len(one.y) else {} for one in self.answers]
        of_tasks = dict(zip(self.tasks, scores, strict=False))
        return mean_scores(scores) | {
            of_task(name, task): score for task, found in of_tasks.items() for name, score in found.items()
        }


def mean_scores(of_tasks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the tasks for which it is defined.

    >>> mean_scores([{"accuracy": 0.5}, {"accuracy": 1.0, "mcc": 0.5}])
    {'accuracy': 0.75, 'mcc': 0.5}
    """
    names = dict.fromkeys(name for scores in of_tasks for name in scores)
    return {name: float(np.mean([scores[name] for scores in of_tasks if name in scores])) for name in names}


def answers_of(
    estimator: Any,  # noqa: ANN401
    graphs: GraphBatch,
    y: Values,
    names: Sequence[str],
    tasks: tuple[str, ...] = (),
    positive: object = None,
) -> TaskAnswers:
    """Return the predictions of a fitted estimator that the metrics need, for one task or for several.

    Raises
    ------
    TwinWLError
        If a metric needs probabilities and the estimator gives none, or it does not predict every task.
    """
    kind, n_tasks = type(estimator).__name__, len(tasks) or 1
    shares: Any = None
    predicted, classes = np.asarray(estimator.predict(graphs)), getattr(estimator, "classes_", None)
    ranked = [name for name in names if METRICS[name].needs_probabilities]
    if ranked:
        if not hasattr(estimator, "predict_proba"):
            raise TwinWLError(f"{', '.join(ranked)}: {kind} has no predict_proba; choose other metrics")
        shares = estimator.predict_proba(graphs)
    if tasks:
        _, columns, known = read_targets(y, len(y), empty=True)
    else:
        columns, known = (y,), np.ones((len(y), 1), np.bool_)
        predicted, shares, classes = predicted[:, None], [shares], [classes]
    if predicted.shape[1:] != (n_tasks,):
        raise TwinWLError(
            f"{kind} predicts an array of shape {predicted.shape}, expected one column for each of {n_tasks} "
            "tasks"
        )
    if ranked and (not isinstance(shares, list) or len(shares) != n_tasks):
        raise TwinWLError(f"{kind}: predict_proba must return a list, one array per task")
    answers = []
    for place, (column, there) in enumerate(zip(columns, known.T)):
        probability = np.asarray(shares[place], np.float64)[there] if ranked else None
        own = np.unique(column[there]) if classes is None or classes[place] is None else classes[place]
        answers.append(Answers(column[there], predicted[there, place], probability, own, positive))
    return TaskAnswers(tasks, tuple(answers), known)


def score_column(targets: TargetColumn, decisions: Float64, scoring: str) -> float:
    """Return how good decisions are, graphs weighed by their importance; errors are in the targets' unit.

    Parameters
    ----------
    targets
        Of one task.
    decisions : array, shape (n_graphs,) for two classes or numbers, else (n_graphs, n_classes)
    scoring
        One of `SCORINGS`, or of `NUMBER_SCORINGS`.

    >>> from twinwl.models.targets import TargetTable
    >>> targets = TargetTable.read([0, 0, 0, 1], 4).column(0)
    >>> [score_column(targets, np.array([-3.0, -2, -2, -1]), name) for name in ("accuracy", "roc_auc")]
    [0.75, 1.0]
    """
    if targets.numbers:
        unit = 1.0 if scoring == METRICS["r2"].scorer else targets.head.scale
        return unit * score_decisions(targets.answers, decisions, scoring, targets.weights)
    positive = positive_class(targets.classes)
    return score_decisions(targets.codes, decisions, scoring, targets.importance(), positive)


# ---------------------------------------------------------------------- results and reports


class Rendered:
    """A result that shows itself: a dataclass whose `to_records` says what is in its table."""

    _records = ""
    """Name of the attribute with the records, which are NamedTuples."""
    _own_page = ""
    """Name of the function of `twinwl.report.audit_page` that makes its page, if it is not the usual one."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per record."""
        return [record._asdict() for record in getattr(self, self._records)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(plain(self))

    def table(self) -> list[list[str]]:
        """Return the main figures as rows of text, the header first."""
        records = self.to_records() or [{}]
        texts = [
            [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in record.values()]
            for record in records
        ]
        return [list(records[0]), *texts]

    def _bars(self) -> dict[str, float]:
        """Return the figures that `plot` draws."""
        raise NotImplementedError

    def _spreads(self) -> list[float] | None:
        """Return the deviations of these figures, if they are means."""
        return None

    @property
    def _title(self) -> str:
        return type(self).__name__

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a pandas DataFrame."""
        return import_extra("pandas", None).DataFrame(self.to_records())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the main figures as bars, on matplotlib axes if given, and return these."""
        axes, bars = _axes(axes), self._bars()
        axes.barh(list(bars), list(bars.values()), xerr=self._spreads())
        axes.set_title(self._title)
        return axes

    def save_page(self, path: str | Path) -> None:
        """Write a self-contained HTML page to a file."""
        from twinwl.report.page import write_page  # noqa: PLC0415  (on demand)

        write_page(checked("path", path, PATH), self._page())

    def _page(self) -> Page:
        if self._own_page:
            from twinwl.report import audit_page  # noqa: PLC0415  (on demand)

            page: Page = getattr(audit_page, self._own_page)(self)
            return page
        from twinwl.report.page import Page, PlainTable, Section  # noqa: PLC0415  (on demand)

        header, *rows = self.table()
        section = Section("figures", "Figures", [PlainTable(header, rows), *str(self).splitlines()])
        return Page(self._title, [], [], [section], [])

    def _repr_html_(self) -> str:
        from twinwl.report.page import result_html  # noqa: PLC0415  (on demand)

        return result_html(self._title, self.table())


def _axes(given: Axes | None) -> Any:  # noqa: ANN401
    return import_extra("matplotlib.figure", None).Figure().subplots() if given is None else given


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return records as dictionaries and tuples as lists; fields that ``repr`` omits are left out."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.repr}
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


class HeldOut(NamedTuple):
    """Decisions about graphs that a model had not learnt from, and their targets, of one task.

    Attributes
    ----------
    head : ClassHead or NumberHead
        What the decision values mean.
    decisions : array, shape (n_graphs,) or (n_graphs, n_classes)
    truth : array of int64 or float64, shape (n_graphs,)
        Codes of classes, or standardised numbers.
    chosen : str
        What was chosen by them for this task alone.
    mean : float
        Mean of the targets that were learnt from, standardised.
    """

    head: ClassHead | NumberHead
    decisions: Float64
    truth: Any
    chosen: str = ""
    mean: float = 0.0

    def answers(self) -> Answers:
        """Return predictions and targets in the user's terms."""
        head = self.head
        if isinstance(head, NumberHead):
            return Answers(head.predict(self.truth), head.predict(self.decisions))
        shares = head.probabilities(self.decisions)
        return Answers(head.classes[self.truth], head.predict(self.decisions), shares, head.classes)


@dataclass(frozen=True)
class TargetReport:
    """How good predictions of one target are on the training graphs that were held out.

    Attributes
    ----------
    scores : dict
        All metrics that are defined, by name.
    task : {"classification", "regression"}
    chosen : str
        What was chosen for this target alone, as text.
    positive : str or None
        The positive one of two classes.
    baseline : (float, float) or None
        Of a regressor: the mean of the training targets, and the RMSE of always predicting it.
    answers : Answers
        The predictions and the true targets.
    """

    scores: dict[str, float]
    task: str
    chosen: str
    positive: str | None
    baseline: tuple[float, float] | None = None
    answers: Answers | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, held: HeldOut) -> TargetReport:
        """Compute all metrics."""
        answers: Any = held.answers()
        head, task, baseline = held.head, "classification", None
        if isinstance(head, NumberHead):
            mean = head.mean + head.scale * held.mean
            error = float(np.sqrt(np.mean((answers.y - mean) ** 2))) if len(answers.y) else np.nan
            task, baseline = "regression", (mean, error)
        return cls({}, task, held.chosen, None, baseline, answers).about(None)

    def about(self, positive: object) -> TargetReport:
        """Return the report with another positive one of two classes."""
        assert self.answers is not None  # noqa: S101  (only means over several targets have none)
        answers = replace(self.answers, positive=positive)
        scores = measure(answers, names_for(self.task)) if len(answers.y) else {}
        return replace(
            self, scores=scores, positive=positive_name(answers.classes, positive), answers=answers
        )

    def __str__(self) -> str:
        text = figures(self.scores, names_for(self.task), self.positive)
        if self.baseline is None:
            return text
        mean, error = self.baseline
        return f"{text}; always predicting the mean of the training targets ({mean:.4g}) has RMSE {error:.3f}"


# What `TrainingReport.plot` draws: the names of the axes.
_OF_CLASSES = {
    "roc": ("false positive rate", "true positive rate"),
    "precision-recall": ("recall", "precision"),
    "calibration": ("predicted probability", "share of the positive class"),
}
_OF_NUMBERS = {"parity": ("true value", "predicted value"), "residuals": ("predicted value", "error")}


@dataclass(frozen=True)
class TrainingReport(Rendered):
    """Metrics on held-out graphs of each target; that of a model of one target has the name "".

    These graphs also chose the epoch, or rounds and C, so the figures are a little optimistic.

    >>> import twinwl as tw
    >>> data = tw.load_dataset("TWINS", n_pairs=10)
    >>> report = tw.STwinSVC(n_iter=2, C=1).fit(data.graphs, data.y, groups=data.groups).report_
    >>> sorted(report.targets[""].scores)[:3]
    ['accuracy', 'average-precision', 'balanced-accuracy']
    """

    targets: dict[str, TargetReport]
    chosen: str

    def about(self, positive: object) -> TrainingReport:
        """Return the report with another positive one of two classes; None is the obvious one."""
        return replace(self, targets={name: one.about(positive) for name, one in self.targets.items()})

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per target and metric."""
        return [
            {"target": name, "metric": metric, "score": score}
            for name, one in self.targets.items()
            for metric, score in one.scores.items()
        ]

    def _bars(self) -> dict[str, float]:
        return {f"{row['target']} {row['metric']}".strip(): row["score"] for row in self.to_records()}

    @property
    def kinds(self) -> list[str]:
        """What can be drawn, the default first: two classes have other plots than numbers or more classes."""
        several = any(one.task == "classification" and one.positive is None for one in self.targets.values())
        numbers = all(one.task == "regression" for one in self.targets.values())
        return [*({} if several else _OF_NUMBERS if numbers else _OF_CLASSES), "scores"]

    def plot(self, axes: Axes | None = None, kind: str | None = None) -> Axes:
        """Draw predictions for the held-out graphs, on matplotlib axes if given, and return these.

        Parameters
        ----------
        axes
            Where to draw.
        kind
            ``"roc"``, ``"precision-recall"`` or ``"calibration"`` of two classes, ``"parity"`` or
            ``"residuals"`` of numbers, ``"scores"``: the metrics as bars. None: the first one of the task.
        """
        kind = checked("kind", kind, one_of(*self.kinds), None) or self.kinds[0]
        axes = super().plot(axes) if kind == "scores" else _axes(axes)
        if kind == "scores":
            return axes
        xlabel, ylabel = (_OF_CLASSES | _OF_NUMBERS)[kind]
        axes.set(xlabel=xlabel, ylabel=ylabel, title=f"{kind} on held-out graphs")
        for name, one in self.targets.items():
            if one.answers is not None and one.scores:
                x, y = _points(kind, one.answers)
                scattered = kind in _OF_NUMBERS
                axes.plot(x, y, "." if scattered else ".-" if kind == "calibration" else "-", label=name)
        if kind in {"roc", "calibration", "parity"}:
            axes.axline((0, 0), slope=1, color="0.7", zorder=0)
        if kind == "residuals":
            axes.axhline(0, color="0.7", zorder=0)
        if "" not in self.targets:
            axes.legend(frameon=False)
        return axes

    def _page(self) -> Page:
        from twinwl.report.page import Drawings, Section  # noqa: PLC0415  (on demand)

        pictures = []
        for kind in self.kinds:
            image = io.StringIO()
            figure: Any = self.plot(kind=kind).figure
            figure.savefig(image, format="svg", bbox_inches="tight")
            pictures.append(image.getvalue().partition("<svg")[2].join(["<svg", ""]))
        drawn = Section("plots", "Held-out graphs", [Drawings(pictures, "Predictions and targets.")])
        page = super()._page()
        return replace(page, sections=[*page.sections, drawn])

    def __str__(self) -> str:
        reports = list(self.targets.values())
        if "" in self.targets:
            chosen = ": ".join(filter(None, (self.chosen, reports[0].chosen)))
            return f"On held-out graphs ({chosen}): {reports[0]}"
        lines = [f"  {name}{one.chosen and f' ({one.chosen})'}: {one}" for name, one in self.targets.items()]
        means = mean_scores([one.scores for one in reports])
        mean = TargetReport(means, reports[0].task, "", only_one(one.positive for one in reports))
        return "\n".join(
            [*lines, f"On held-out graphs ({self.chosen}), mean of {len(reports)} targets: {mean}"]
        )


def only_one(names: Iterable[str | None]) -> str | None:
    """Return the only one of these names; None if there are several."""
    distinct = set(names)
    return distinct.pop() if len(distinct) == 1 else None


def _points(kind: str, answers: Any) -> tuple[Float64, Float64]:  # noqa: ANN401  (`Answers`, of numbers)
    """Return what a plot shows."""
    if kind in _OF_NUMBERS:
        wrong = answers.predicted - answers.y
        return (answers.y, answers.predicted) if kind == "parity" else (answers.predicted, wrong)
    from sklearn import calibration, metrics  # noqa: PLC0415  (slow; on demand)

    is_class, probability = answers.by_class()
    truth, share = is_class[:, -1], probability[:, -1]  # of the positive class
    if kind == "roc":
        x, y, _ = metrics.roc_curve(truth, share)
    elif kind == "precision-recall":
        y, x, _ = metrics.precision_recall_curve(truth, share)
    else:
        y, x = calibration.calibration_curve(truth, share, n_bins=10, strategy="quantile")
    return x, y
