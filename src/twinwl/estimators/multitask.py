"""Models of several tasks: one method asked once per task, and the model of one task."""

from __future__ import annotations

import copy
import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from twinwl.arguments import MAX_ITEMS, NAME, attribute_of, checked, integer, is_a
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.target_columns import Tasks, as_array, column_of, refuse_missing
from twinwl.estimators.targets import sample_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from twinwl.arrays import Bool, Float64, Values
    from twinwl.graphs.atom_labels import AtomLevel
    from twinwl.graphs.coercion import GraphsLike

_Made = TypeVar("_Made")
_Values = TypeVar("_Values")
_Method = TypeVar("_Method", bound="Callable[..., Any]")
_LISTED = 20


@dataclass(frozen=True, eq=False)
class Answered(Generic[_Values]):
    """Results of a model of several tasks for some graphs, passed to the model of one task."""

    values: _Values


def per_task(join: Callable[[list[Any], tuple[str, ...]], Any]) -> Callable[[_Method], _Method]:
    """Let a method of one task's model serve models of several: asked once per task, answers joined.

    Parameters
    ----------
    join
        From the answers and the names of the tasks to what is returned.
    """

    def decorate(method: _Method) -> _Method:
        @functools.wraps(method)
        def asked(self: MultiTask, X: GraphsLike, *args: object, **kwargs: object) -> object:
            if self.tasks_ is None:
                return method(self, X, *args, **kwargs)
            answers = [method(model, known, *args, **kwargs) for model, known in self._ask(X)]
            return join(answers, self.tasks_)

        return cast("_Method", asked)

    return decorate


def side_by_side(answers: list[Values], names: Sequence[str]) -> Values:
    """Return one column per task; objects, where some are numbers and some are not.

    >>> side_by_side([np.array([1, 0]), np.array(["a", "b"])], ["y0", "y1"]).tolist()
    [[1, 'a'], [0, 'b']]
    """
    wide = [name for name, answer in zip(names, answers, strict=True) if answer.ndim > 1]
    if wide:
        raise TwinWLError(
            f"task {wide[0]!r} has more than two classes, so it has more than one value per graph; call "
            f"for_task({wide[0]!r}) instead"
        )
    same = len({answer.dtype.kind in "biuf" for answer in answers}) == 1
    return np.stack(answers if same else [answer.astype(object) for answer in answers], axis=1)


def one_each(answers: list[_Made], names: Sequence[str]) -> list[_Made]:  # noqa: ARG001
    """Return one answer per task."""
    return answers


class MultiTask:
    """Learning of several tasks at once, from a table of targets with missing entries.

    ``fit`` takes ``y`` of shape (n_graphs, n_tasks), an array or a DataFrame (or a dictionary of columns),
    with NaN (or None) where a target is unknown. As for scikit-learn's estimators with several outputs,
    ``predict`` (and ``decision_function``) then return one column per task, ``predict_proba`` a list with one
    array per task, and fitted attributes of which each task has its own, such as ``classes_``, are lists.

    Attributes
    ----------
    tasks_ : tuple of str, or None
        The names of the tasks; None for a model of one target per graph.
    """

    _learns_tasks: ClassVar[bool] = False

    tasks_: tuple[str, ...] | None = None
    target_: str
    atoms_: AtomLevel | None
    x_: str

    def for_task(self, task: str | int) -> Self:
        """Return the model of one task, as if it had been trained on that task alone.

        Parameters
        ----------
        task
            Its name, or its place among ``tasks_``.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        only = attribute_of(self, "target_")
        names = self.tasks_ or (() if only is None else (only,))
        place = checked("task", task, integer(0, MAX_ITEMS), NAME)
        if is_a(place, str) and place in names:
            place = names.index(place)
        if is_a(place, str) or place >= max(1, len(names)):
            if self.tasks_ is None:
                called = "" if only is None else f", {only!r}"
                has = f"was trained on one target{called}; leave task out"
            else:
                has = f"has {len(names)} tasks: {_listing(names)}"
            raise TwinWLError(f"task: got {shown(task)}, but this model {has}")
        if self.tasks_ is None:
            return self
        model = copy.copy(self._of_task(place))
        model.target_ = self.tasks_[place]
        model.atoms_, model.x_ = self.atoms_, self.x_
        return model

    def _one_task(self, task: str | int | None) -> Self:
        """Return the model to explain: of one task, which must be named where there are several."""
        self._check_fitted()  # type: ignore[attr-defined]
        if task is not None:
            return self.for_task(task)
        if self.tasks_ is not None:
            raise TwinWLError(
                f"this model has {len(self.tasks_)} tasks; name one with task=…: {_listing(self.tasks_)}"
            )
        return self

    def _of_task(self, place: int) -> Self:
        """Return the model of one task."""
        raise NotImplementedError

    def _ask(self, X: GraphsLike) -> Iterator[tuple[Self, GraphsLike]]:
        """Yield the model of each task, and what to ask it about: an `Answered` in place of the graphs."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = self._learns_tasks
        return tags


class Scored(MultiTask):
    """Scores of predictions, for classifiers and regressors of one task or several.

    A subclass names in ``_measure`` the function of `sklearn.metrics` that compares targets with predictions.
    It must come before scikit-learn's mixins, whose ``score`` knows no missing targets.
    """

    _measure: ClassVar[str]

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
        from sklearn import metrics  # noqa: PLC0415

        measure = getattr(metrics, self._measure)
        predicted = self.predict(X)  # type: ignore[attr-defined]
        weights = sample_weights(sample_weight, len(predicted))
        if self.tasks_ is None:
            column = column_of(y, len(predicted), "targets")
            refuse_missing(column)
            return _score(measure, column, predicted, weights)
        tasks = Tasks.of(y, len(predicted))
        if tasks is None or len(tasks.names) != len(self.tasks_):
            raise TwinWLError(f"targets: expected a table of {len(self.tasks_)} columns, one per task")

        def of_task(column: Values, known: Bool, answers: Values) -> float:
            found = as_array(answers[known].tolist(), "predictions")
            return _score(measure, column[known], found, None if weights is None else weights[known])

        return float(np.mean(tasks.each(of_task, tasks.columns, tasks.known.T, predicted.T)))


def _score(measure: Callable[..., float], y: Values, predicted: Values, weights: Float64 | None) -> float:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large
            return float(measure(y, predicted, sample_weight=weights))
    except Exception as error:  # any error of scikit-learn
        raise TwinWLError(f"these targets cannot be compared with the predictions ({error})") from error


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_LISTED])) + ", …" * (len(names) > _LISTED)
