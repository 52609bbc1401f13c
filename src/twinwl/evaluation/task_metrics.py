"""Metrics of several tasks: of each on the graphs whose target is known, and their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.estimators.target_columns import Tasks
from twinwl.estimators.targets import positive_name
from twinwl.evaluation.metrics import METRICS, Answers, answers_of, measure, predictions_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.arrays import Bool, Values
    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.tasks import Task
    from twinwl.graphs.batch import GraphBatch


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
    table = Tasks.of(data.targets, len(data)) if data.tasks else None
    columns = [data.targets] if table is None else table.columns
    known = [np.ones(len(data), np.bool_)] if table is None else table.known.T
    names = set()
    for column, there in zip(columns, known, strict=True):
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
    """Predictions of a model of several tasks and the true targets.

    Attributes
    ----------
    tasks : tuple of str
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
        of_tasks = [measure(one, names) if len(one.y) else {} for one in self.answers]
        pairs = zip(self.tasks, of_tasks, strict=True)
        return mean_scores(of_tasks) | {
            of_task(name, task): score for task, scores in pairs for name, score in scores.items()
        }


def mean_scores(of_tasks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the tasks for which it is defined.

    >>> mean_scores([{"accuracy": 0.5}, {"accuracy": 1.0, "mcc": 0.5}])
    {'accuracy': 0.75, 'mcc': 0.5}
    """
    names = dict.fromkeys(name for scores in of_tasks for name in scores)
    return {name: float(np.mean([scores[name] for scores in of_tasks if name in scores])) for name in names}


def scores_of(answers: Answers | TaskAnswers, names: Sequence[str]) -> dict[str, float]:
    """Return the scores that are defined; of several tasks the means, and those of each."""
    return answers.measure(names) if isinstance(answers, TaskAnswers) else measure(answers, names)


def task_answers_of(
    estimator: object,
    graphs: GraphBatch,
    y: Values,
    names: Sequence[str],
    tasks: tuple[str, ...],
    positive: object = None,
) -> Answers | TaskAnswers:
    """Return the predictions of a fitted estimator that the metrics need, for one task or for several.

    Raises
    ------
    TwinWLError
        If a metric needs probabilities and the estimator gives none, or it does not predict every task.
    """
    found = Tasks.of(y, len(y), empty=True) if tasks else None
    if found is None:
        return answers_of(estimator, graphs, y, names, positive)
    predicted, shares = predictions_of(estimator, graphs, names)
    if predicted.ndim != 2 or predicted.shape[1] != len(tasks):  # noqa: PLR2004
        raise TwinWLError(
            f"{type(estimator).__name__} predicts an array of shape {predicted.shape}, expected one column "
            f"for each of {len(tasks)} tasks"
        )
    if shares is not None and (not isinstance(shares, list) or len(shares) != len(tasks)):
        raise TwinWLError(f"{type(estimator).__name__}: predict_proba must return a list, one array per task")
    classes = getattr(estimator, "classes_", [None] * len(tasks))
    parts = []
    for place, (column, known) in enumerate(zip(found.columns, found.known.T, strict=True)):
        probability = None if shares is None else np.asarray(shares[place], np.float64)[known]
        own = np.unique(column[known]) if classes[place] is None else classes[place]
        parts.append(Answers(column[known], predicted[known, place], probability, own, positive))
    return TaskAnswers(tasks, tuple(parts), found.known)
