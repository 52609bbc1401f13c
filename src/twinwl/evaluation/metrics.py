"""The table of metrics, for classes and for numbers."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import checked, is_a, items, one_of
from twinwl.errors import TwinWLError
from twinwl.estimators.targets import positive_class

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sklearn.base import BaseEstimator

    from twinwl.arrays import Bool, Float64, Values
    from twinwl.graphs.batch import GraphBatch


WITHOUT_COPIES = "-without-duplicates"  # suffix of a metric: on test graphs without a copy in training
_TWO = 2


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
    """

    y: Values
    predicted: Values
    probability: Float64 | None = None
    classes: Values | None = None
    positive: object = None

    def part(self, rows: Values) -> Answers:
        """Return the answers about some of the graphs."""
        probability = None if self.probability is None else self.probability[rows]
        return Answers(self.y[rows], self.predicted[rows], probability, self.classes, self.positive)

    def by_class(self) -> tuple[Bool, Float64]:
        """Return for each graph and class whether it is the true one, and its probability.

        A class that does not occur in training has the probability 0. The positive one of two is last.
        """
        assert self.probability is not None  # noqa: S101  (`measure` asks no more of answers than they hold)
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
    task : str
        ``"classification"`` or ``"regression"``.
    score : function
        From `Answers` to a number; NaN if it is undefined.
    needs_probabilities : bool
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
    task: str
    score: Callable[[Answers], float]
    needs_probabilities: bool = False
    greater_is_better: bool = True
    percent: bool = False
    of_positive: bool = False
    scorer: str = ""

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


def _of_labels(name: str, n_classes: int = _TWO) -> Callable[[Answers], float]:
    def of_enough_classes(answers: Answers) -> float:
        if len(np.unique(answers.y)) < n_classes:
            return math.nan
        return float(_function(name)(answers.y, answers.predicted))

    return of_enough_classes


def _of_ranks(name: str) -> Callable[[Answers], float]:
    """Rank by the probability of the positive class, or one class against the rest, all counting alike."""

    def of_all_classes(answers: Answers) -> float:
        score = _function(name)
        is_class, probability = answers.by_class()
        if not is_class.any(axis=0).all():
            return math.nan  # a class without a graph cannot be ranked
        if is_class.shape[1] == _TWO:
            return float(score(is_class[:, 1], probability[:, 1]))
        columns = zip(is_class.T, probability.T, strict=True)
        return float(np.mean([score(truth, share) for truth, share in columns]))

    return of_all_classes


def _brier(answers: Answers) -> float:
    """Return half the squared distance between the probabilities and the truth, so that 1 is the worst."""
    is_class, probability = answers.by_class()
    return float(np.square(probability - is_class).sum(axis=1).mean() / 2)


def _majority(answers: Answers) -> float:
    """Return the accuracy of always predicting the most common class."""
    return float(np.unique(answers.y, return_counts=True)[1].max() / len(answers.y))


def _of_numbers(name: str, n_values: int = 1) -> Callable[[Answers], float]:
    def of_enough_values(answers: Answers) -> float:
        y, predicted = answers.y.astype(np.float64), answers.predicted.astype(np.float64)
        return math.nan if len(np.unique(y)) < n_values else float(_function(name)(y, predicted))

    return of_enough_values


def _spearman(answers: Answers) -> float:
    """Return the correlation of ranks; NaN where all targets, or all predictions, are equal."""
    from scipy.stats import spearmanr  # noqa: PLC0415

    return float(spearmanr(answers.y, answers.predicted)[0]) if len(answers.y) > 1 else math.nan


_C, _R = "classification", "regression"
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("accuracy", "accuracy", _C, _of_labels("accuracy_score", 1), percent=True, scorer="accuracy"),
        Metric("majority", "majority class", _C, _majority, percent=True),
        Metric(
            "roc-auc", "ROC-AUC", _C, _of_ranks("roc_auc_score"), needs_probabilities=True, scorer="roc_auc"
        ),
        Metric(
            "average-precision", "PR-AUC", _C, _of_ranks("average_precision_score"),
            needs_probabilities=True, of_positive=True, scorer="average_precision",
        ),
        Metric(
            "balanced-accuracy", "balanced accuracy", _C, _of_labels("balanced_accuracy_score"),
            percent=True, scorer="balanced_accuracy",
        ),
        Metric("mcc", "MCC", _C, _of_labels("matthews_corrcoef"), scorer="matthews_corrcoef"),
        Metric(
            "brier", "Brier", _C, _brier,
            needs_probabilities=True, greater_is_better=False, scorer="neg_brier_score",
        ),
        Metric(
            "rmse", "RMSE", _R, _of_numbers("root_mean_squared_error"),
            greater_is_better=False, scorer="neg_root_mean_squared_error",
        ),
        Metric(
            "mae", "MAE", _R, _of_numbers("mean_absolute_error"),
            greater_is_better=False, scorer="neg_mean_absolute_error",
        ),
        Metric("r2", "R²", _R, _of_numbers("r2_score", 2), scorer="r2"),
        Metric("spearman", "Spearman", _R, _spearman),
    ]
}  # fmt: skip
_OTHER_NAMES = {"pr-auc": "average-precision"}


def names_for(task: str) -> list[str]:
    """Return the metrics of a task; the first is the default main metric.

    >>> names_for("regression")
    ['rmse', 'mae', 'r2', 'spearman']
    """
    return [name for name, metric in METRICS.items() if metric.task == task]


def known_metrics(names: Sequence[str], argument: str = "metrics") -> list[str]:
    """Return the names of metrics; refuse an unknown one, with the nearest known name.

    >>> known_metrics(["pr-auc"])
    ['average-precision']
    """
    listed = [names] if is_a(names, str) else items(argument, names, "a list of names")
    plain = [_OTHER_NAMES.get(name, name) if is_a(name, str) else name for name in listed]
    return [checked(argument, name, one_of(*METRICS)) for name in plain]


def check_metrics(names: Sequence[str], task: str = "classification", argument: str = "metrics") -> list[str]:
    """Return the metrics with the main one of the task; refuse one that is unknown or of another task.

    >>> check_metrics(["roc-auc"])
    ['roc-auc', 'accuracy']
    """
    given = known_metrics(names, argument)
    for name in given:
        if METRICS[name].task != task:
            raise TwinWLError(
                f"{argument}: {name} is for {METRICS[name].task}, and this is {task}; choose from "
                f"{', '.join(names_for(task))}"
            )
    return list(dict.fromkeys([*given, names_for(task)[0]]))  # the first is the headline


def scorer_for(estimator: BaseEstimator, name: str) -> str | None:
    """Return what an estimator's parameter ``scoring`` calls a metric; None if it cannot choose by it.

    >>> from twinwl import STwinSVC, STwinSVR
    >>> scorer_for(STwinSVC(), "roc-auc"), scorer_for(STwinSVC(), "brier"), scorer_for(STwinSVR(), "mae")
    ('roc_auc', None, 'neg_mean_absolute_error')
    """
    scorer = METRICS[name].scorer
    if not scorer or "scoring" not in estimator.get_params(deep=False):
        return None
    constraints = getattr(estimator, "_constraints", None)
    if constraints is not None:
        try:
            checked("scoring", scorer, *constraints["scoring"])
        except TwinWLError:
            return None
    return scorer


def answers_of(
    estimator: object, graphs: GraphBatch, y: Values, names: Sequence[str], positive: object = None
) -> Answers:
    """Return the predictions of a fitted estimator that the metrics need.

    Raises
    ------
    TwinWLError
        If one of them needs probabilities and the estimator gives none.
    """
    predicted, shares = predictions_of(estimator, graphs, names)
    probability = None if shares is None else np.asarray(shares, dtype=np.float64)
    return Answers(y, predicted, probability, getattr(estimator, "classes_", np.unique(y)), positive)


def predictions_of(estimator: object, graphs: GraphBatch, names: Sequence[str]) -> tuple[Values, object]:
    """Return what an estimator predicts, and its probabilities if a metric needs them, else None."""
    predicted = np.asarray(estimator.predict(graphs))  # type: ignore[attr-defined]
    ranked = [name for name in names if METRICS[name].needs_probabilities]
    if not ranked:
        return predicted, None
    if not hasattr(estimator, "predict_proba"):
        raise TwinWLError(
            f"{', '.join(ranked)}: {type(estimator).__name__} has no predict_proba; choose other metrics"
        )
    return predicted, estimator.predict_proba(graphs)


def measure(answers: Answers, names: Sequence[str]) -> dict[str, float]:
    """Return the scores that are defined; undefined ones are missing from the result.

    >>> measure(Answers(np.array([1, 1]), np.array([1, 0])), ["accuracy", "mcc"])
    {'accuracy': 0.5}
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined scores are missing from the result instead
        scores = {name: METRICS[name].score(answers) for name in names}
    return {name: score for name, score in scores.items() if math.isfinite(score)}


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
