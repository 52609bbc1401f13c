"""Metrics by name, and what a model answers about test graphs (the table is in `twinwl.models.metrics`).

Metrics of several tasks: of each on the graphs whose target is known, and their mean.

Classification or regression: as given by the caller, or else derived from the targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import checked, items, one_of
from twinwl.arrays import Bool, Float64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.models.metrics import METRICS, Answers, measure, names_for, positive_name
from twinwl.models.targets import read_targets

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch

WITHOUT_COPIES = "-without-duplicates"  # suffix of a metric: on test graphs without a copy in training


_OTHER_NAMES = {"pr-auc": "average-precision"}


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
    for column, there in zip(table.columns, table.known.T, strict=True):
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
        parts = [one.part(rows[known]) for one, known in zip(self.answers, self.known.T, strict=True)]
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
    predicted, shares = np.asarray(estimator.predict(graphs)), None
    if ranked := [name for name in names if METRICS[name].needs_probabilities]:
        if not hasattr(estimator, "predict_proba"):
            raise TwinWLError(f"{', '.join(ranked)}: {kind} has no predict_proba; choose other metrics")
        shares = estimator.predict_proba(graphs)
    classes = getattr(estimator, "classes_", None)
    if not tasks:
        predicted, shares, classes = predicted[:, None], None if shares is None else [shares], [classes]
    if predicted.ndim != 2 or predicted.shape[1] != n_tasks:  # noqa: PLR2004
        raise TwinWLError(
            f"{kind} predicts an array of shape {predicted.shape}, expected one column for each of {n_tasks} "
            "tasks"
        )
    if shares is not None and (not isinstance(shares, list) or len(shares) != n_tasks):
        raise TwinWLError(f"{kind}: predict_proba must return a list, one array per task")
    columns, known = [y], np.ones((len(y), 1), np.bool_)
    if tasks:
        table = read_targets(y, len(y), empty=True)
        columns, known = list(table.columns), table.known
    answers = []
    for place, (column, there) in enumerate(zip(columns, known.T, strict=True)):
        probability = None if shares is None else np.asarray(shares[place], np.float64)[there]
        own = None if classes is None else classes[place]
        own = np.unique(column[there]) if own is None else own
        answers.append(Answers(column[there], predicted[there, place], probability, own, positive))
    return TaskAnswers(tasks, tuple(answers), known)


TASKS = ("classification", "regression")
_MANY = 20  # different whole numbers, from which on they may be counts rather than classes
_GRAPHS_PER_CLASS = 10  # on average; classes with fewer are hardly classes


class Task(NamedTuple):
    """Classification or regression, and the reason for the choice."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def task_of(  # noqa: PLR0911  (one per reason)
    y: Values, asked: str = "auto", target: str | None = None, tasks: Sequence[str] = ()
) -> Task:
    """Decide between classification and regression.

    Parameters
    ----------
    y : array, shape (n_graphs,) or (n_graphs, n_tasks)
        The targets.
    asked
        ``"classification"`` or ``"regression"``; ``"auto"`` decides by the targets. Strings, booleans and two
        different integers are classes; numbers that are not all integers are measurements, even if there are
        only two (0.5 and 1.5), and so are integers with many different values and few graphs per value.
    target
        Name of the targets, for messages.
    tasks
        Names of the columns, if there are several; all must be of one kind.

    Raises
    ------
    TwinWLError
        If the targets cannot serve the task that was asked for, or are all the same.

    >>> task_of(np.array([0.5, 1.25, 3.0])).name, task_of(np.array(["no", "yes"])).name
    ('regression', 'classification')
    """
    asked = checked("task", asked, one_of("auto", *TASKS))
    if y.ndim > 1:
        return _task_of_columns(y.astype(np.float64), asked, tasks)
    called = "the target" if target is None else f"the target {target!r}"
    distinct = np.unique(y)
    if len(distinct) == 1:
        raise TwinWLError(
            f"{called} is {shown(distinct.tolist()[0])} for all {len(y):,} graphs, so there is nothing to "
            "learn; choose another one"
        )
    if asked != "auto":
        misfits = y[~_fits(y, asked)]
        if len(misfits):
            text = "which is not a number" if asked == "regression" else "a measurement, not a class"
            other = TASKS[asked == TASKS[0]]
            raise TwinWLError(
                f"task: got {asked!r}, but {called} holds {shown(misfits.tolist()[0])}, {text}; choose "
                f"another target, or {other!r}"
            )
        return Task(asked, "as asked for")
    count = f"{called} has {len(distinct):,} different values"
    if not _fits(y, "regression").all():
        return Task(TASKS[0], f"{count}, which are names")
    if not _fits(y, "classification").all():
        return Task(TASKS[1], f"{count}, not all of them whole numbers")
    if len(distinct) <= 2:  # noqa: PLR2004
        return Task(TASKS[0], f"{called} has {len(distinct)} values")
    if len(distinct) > _MANY and len(y) < _GRAPHS_PER_CLASS * len(distinct):
        return Task(TASKS[1], f"{count} for {len(y):,} graphs")
    return Task(TASKS[0], f"{count}, all of them whole numbers")


def _task_of_columns(y: Float64, asked: str, tasks: Sequence[str]) -> Task:
    columns = [column[~np.isnan(column)] for column in y.T]
    columns = [column.astype(np.int64) if suits(column, TASKS[0]) else column for column in columns]
    kinds = [task_of(column, asked, name) for column, name in zip(columns, tasks, strict=True)]
    others = [place for place, kind in enumerate(kinds) if kind.name != kinds[0].name]
    if others:
        first, other = kinds[0], kinds[others[0]]
        raise TwinWLError(
            f"the targets are of two kinds, {first.name} ({first.reason}) and {other.name} ({other.reason}); "
            "name targets of one kind, or choose the task"
        )
    known = 1 - np.isnan(y).mean()
    return Task(
        kinds[0].name, f"{len(tasks)} tasks, {100 * known:.0f} % of their targets known; {kinds[0].reason}"
    )


def suits(y: Values, task: str) -> bool:
    """Return whether targets fit a task: classes are not fractions, and measurements are numbers.

    >>> suits(np.array([0.5, 1.0]), "classification"), suits(np.array([0, 1]), "regression")
    (False, True)
    """
    if y.ndim > 1:
        return all(suits(column[~np.isnan(column)], task) for column in y.T.astype(np.float64))
    return bool(_fits(y, task).all())


def _fits(y: Values, task: str) -> Bool:
    if task == "regression":
        return np.full(len(y), y.dtype.kind in "iuf")
    return y == np.floor(y) if y.dtype.kind == "f" else np.full(len(y), fill_value=True)
