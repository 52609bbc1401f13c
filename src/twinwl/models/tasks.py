"""Estimators of one task or several: decision values in, classes, probabilities, numbers and scores out.

Inside, everything is a list with one entry per task. Only what is returned to users has the shapes that
scikit-learn expects: without a table of targets, the entry of the only task itself.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn import metrics
from sklearn.base import ClassifierMixin, RegressorMixin

from twinwl.arguments import FLAG, MAX_ITEMS, NAME, checked, integer
from twinwl.arrays import Bool, Float64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.graphs.coercion import GraphsLike
from twinwl.models.base import GraphEstimator
from twinwl.models.calibration import CONFIDENCE, ClassHead, NumberHead
from twinwl.models.targets import TargetTable, as_array, read_targets, sample_weights

_T = TypeVar("_T")
_LISTED = 20


class TaskEstimator(GraphEstimator):
    """Base of classifiers and regressors, of one target per graph or of several tasks at once.

    ``fit`` takes ``y`` of shape (n_graphs, n_tasks), an array or a DataFrame (or a dictionary of columns),
    with NaN (or None) where a target is unknown. As for scikit-learn's estimators with several outputs,
    ``predict`` (and ``decision_function``) then return one column per task, ``predict_proba`` a list with one
    array per task, and fitted attributes of which each task has its own, such as ``classes_``, are lists.

    A subclass implements ``_decisions`` and ``_select``, and sets ``tasks_`` and ``heads_`` in ``fit``.

    Attributes
    ----------
    tasks_ : tuple of str, or None
        The names of the tasks; None for a model of one target per graph.
    heads_ : list of ClassHead or of NumberHead
        One per task: what its decision values mean.
    """

    _learns_tasks: ClassVar[bool] = True
    _learns_numbers: ClassVar[bool]

    tasks_: tuple[str, ...] | None = None
    heads_: list[Any]
    target_: str
    class_weight: object = None

    def _read_targets(self, y: object, n_graphs: int, sample_weight: object, groups: object) -> TargetTable:
        return TargetTable.read(
            y,
            n_graphs,
            sample_weight,
            groups,
            self.class_weight,
            numbers=self._learns_numbers,
            tables=self._learns_tasks,
        )

    def _decisions(self, X: GraphsLike) -> list[Float64]:
        """Return the decision values of each task: shape (n_graphs,), or (n_graphs, n_classes)."""
        raise NotImplementedError

    def _select(self, place: int) -> Self:
        """Return the model of one task among several; ``heads_`` and what all estimators have are set."""
        model = copy.copy(self)
        model.tasks_, model.heads_, model.target_ = None, [self.heads_[place]], (self.tasks_ or ())[place]
        return model

    def _per_task(self, values: list[_T]) -> _T | list[_T]:
        """Return one value per task; without a table of targets the only one."""
        return values[0] if self.tasks_ is None else values

    def _columns(self, values: list[Values]) -> Any:  # noqa: ANN401
        """Return one column per task; objects, where some are numbers and some are not."""
        if self.tasks_ is None:
            return values[0]
        for name, column in zip(self.tasks_, values, strict=True):
            if column.ndim > 1:
                raise TwinWLError(
                    f"task {name!r} has more than two classes, so it has more than one value per graph; call "
                    f"for_task({name!r}) instead"
                )
        same = len({column.dtype.kind in "biuf" for column in values}) == 1
        return np.stack(values if same else [column.astype(object) for column in values], axis=1)

    def _ask(self, what: str, decisions: list[Any], *args: object, **kwargs: object) -> list[Any]:
        """Call a method of each task's head with its decision values."""
        pairs = zip(self.heads_, decisions, strict=True)
        return [getattr(head, what)(own, *args, **kwargs) for head, own in pairs]

    def predict(self, X: GraphsLike) -> Any:  # noqa: ANN401
        """Return the class of each graph, or a number, shape (n_graphs,), or (n_graphs, n_tasks)."""
        self._check_fitted()
        return self._columns(self._ask("predict", self._decisions(X)))

    def score(self, X: GraphsLike, y: object, sample_weight: object = None) -> float:
        """Return the accuracy, or R² of numbers; of several tasks its mean, each on graphs with a target.

        Parameters
        ----------
        X
            The graphs.
        y
            Their targets.
        sample_weight
            Weight of each graph.
        """
        measure = metrics.r2_score if self._learns_numbers else metrics.accuracy_score
        answers = self.predict(X)
        predicted = [answers] if self.tasks_ is None else list(answers.T)
        targets = self._same_tasks(y, len(answers), "targets")
        weights = sample_weights(sample_weight, len(answers))
        scores = []
        for column, known, found in zip(targets.columns, targets.known.T, predicted, strict=True):
            own = as_array(found[known].tolist(), "predictions")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large
                    scores.append(
                        measure(column[known], own, sample_weight=None if weights is None else weights[known])
                    )
            except (TypeError, ValueError, OverflowError) as error:
                raise TwinWLError(
                    f"these targets cannot be compared with the predictions ({error})"
                ) from error
        return float(np.mean(scores))

    def _same_tasks(self, y: object, n_graphs: int, name: str, *, empty: bool = False) -> Any:  # noqa: ANN401
        """Read targets of other graphs, of the tasks of ``fit``."""
        found = read_targets(y, n_graphs, tables=self.tasks_ is not None, empty=empty)
        if len(found.columns) != len(self.heads_) or (found.names is None) != (self.tasks_ is None):
            raise TwinWLError(f"{name}: expected targets with {len(self.heads_)} columns, one per task")
        if found.names is None and not found.known.all():
            first = int(np.flatnonzero(~found.known[:, 0])[0])
            raise TwinWLError(f"{name}: target {first} is missing; leave that graph out")
        return found

    def for_task(self, task: str | int) -> Self:
        """Return the model of one task, as if it had been trained on that task alone.

        Parameters
        ----------
        task
            Its name, or its place among ``tasks_``.
        """
        self._check_fitted()
        only = getattr(self, "target_", None)
        names = self.tasks_ or (() if only is None else (only,))
        place = checked("task", task, integer(0, MAX_ITEMS), NAME)
        if isinstance(place, str) and place in names:
            place = names.index(place)
        if isinstance(place, str) or place >= max(1, len(names)):
            called = "" if only is None else f", {only!r}"
            has = f"was trained on one target{called}; leave task out"
            if self.tasks_ is not None:
                has = f"has {len(names)} tasks: {_listing(names)}"
            raise TwinWLError(f"task: got {shown(task)}, but this model {has}")
        return self if self.tasks_ is None else self._select(place)

    def _one_task(self, task: str | int | None) -> Self:
        """Return the model to explain: of one task, which must be named where there are several."""
        self._check_fitted()
        if task is not None:
            return self.for_task(task)
        if self.tasks_ is not None:
            raise TwinWLError(
                f"this model has {len(self.tasks_)} tasks; name one with task=…: {_listing(self.tasks_)}"
            )
        return self

    @property
    def conformal_(self) -> Any:  # noqa: ANN401
        """What sets and intervals are made of: scores of held-out graphs, of each task; None without any."""
        return self._per_task([head.conformal for head in self.heads_])

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._learns_tasks  # type: ignore[attr-defined]
        return tags


class GraphClassifier(ClassifierMixin, TaskEstimator):
    """What all classifiers do with decision values."""

    _learns_numbers = False
    heads_: list[ClassHead]
    score = TaskEstimator.score  # scikit-learn's knows no missing targets

    @property
    def classes_(self) -> Any:  # noqa: ANN401
        """The classes, sorted; of several tasks a list with one array per task."""
        return self._per_task([head.classes for head in self.heads_])

    def decision_function(self, X: GraphsLike) -> Any:  # noqa: ANN401
        """Return decision values: shape (n_graphs,) for two classes, else (n_graphs, n_classes).

        Of several tasks, one column per task, if all have two classes.
        """
        self._check_fitted()
        return self._columns(self._decisions(X))  # type: ignore[arg-type]

    def predict_proba(self, X: GraphsLike) -> Float64 | list[Float64]:
        """Return the probability of each class, shape (n_graphs, n_classes); of several tasks a list.

        Those of support vector machines come from a logistic regression on the decision values of the inner
        folds' held-out graphs, as Platt proposed; close to the border their winner can differ from
        ``predict``.
        """
        self._check_fitted()
        return self._per_task(self._ask("probabilities", self._decisions(X)))

    def predict_set(
        self, X: GraphsLike, confidence: float = 0.9, per_class: bool = True
    ) -> Bool | list[Bool]:
        """Return which classes cannot be ruled out at a confidence, shape (n_graphs, n_classes).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), a set contains the true class with at least this probability. A set may contain
        several classes, if the model is unsure, or none, if the graph is unlike all classes. Under a shift
        (another laboratory) sets contain the true class less often.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1. The closer to 1, the larger the sets.
        per_class
            Whether the guarantee holds within each class, also a rare one, or only on average.
        """
        self._check_fitted()
        checked("confidence", confidence, CONFIDENCE)
        checked("per_class", per_class, FLAG)
        return self._per_task(self._ask("sets", self._decisions(X), confidence, per_class=per_class))


class GraphRegressor(RegressorMixin, TaskEstimator):
    """What all regressors do with decision values."""

    _learns_numbers = True
    heads_: list[NumberHead]
    score = TaskEstimator.score

    def predict_interval(self, X: GraphsLike, confidence: float = 0.9) -> Float64 | list[Float64]:
        """Return the lower and upper end of an interval for each graph, shape (n_graphs, 2).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), an interval contains the true number with at least this probability. All intervals are
        equally wide, and infinite if too few graphs were held out.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1.
        """
        self._check_fitted()
        checked("confidence", confidence, CONFIDENCE)
        return self._per_task(self._ask("intervals", self._decisions(X), confidence))


class Precomputed:
    """The answers of an estimator about graphs whose decision values are known already.

    Parameters
    ----------
    estimator
        A fitted one.
    decisions
        Its decision values; of several tasks a list with one array per task.
    """

    def __init__(self, estimator: TaskEstimator, decisions: Any) -> None:  # noqa: ANN401
        self._estimator, self.classes_ = estimator, getattr(estimator, "classes_", None)
        self._decisions = [decisions] if estimator.tasks_ is None else decisions

    def predict(self, X: object) -> Any:  # noqa: ANN401, ARG002
        """Return the predictions, as ``predict`` of the estimator would."""
        return self._estimator._columns(self._estimator._ask("predict", self._decisions))  # noqa: SLF001

    def predict_proba(self, X: object) -> Any:  # noqa: ANN401, ARG002
        """Return the probabilities, as ``predict_proba`` of the estimator would."""
        return self._estimator._per_task(self._estimator._ask("probabilities", self._decisions))  # noqa: SLF001


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_LISTED])) + ", …" * (len(names) > _LISTED)
