"""Several tasks at once: a table of targets, one column per task, in which entries may be missing."""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from twinwl.arguments import MAX_ITEMS, NAME, attribute_of, checked, foreign_array, integer, is_a, items
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.targets import (
    Given,
    as_array,
    column_of,
    given_for,
    is_absent,
    refuse_missing,
    sample_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.measurements import Measurements
    from twinwl.estimators.targets import Targets
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["Answered", "MultiTask", "Tasks", "mean_score", "one_each", "per_task", "rarest_classes"]
__all__ += ["TaskTable", "side_by_side"]

_Made = TypeVar("_Made")
_Values = TypeVar("_Values")
_Method = TypeVar("_Method", bound="Callable[..., Any]")
_EXACT = 2**53  # beyond, floats skip whole numbers
_LISTED = 20


@dataclass(frozen=True, eq=False)
class Tasks:
    """A table of targets.

    Attributes
    ----------
    names : tuple of str
        Name of each task: the column of a DataFrame or the key of a dictionary, else ``y0``, ``y1``, ….
    columns : tuple of array, each of shape (n_graphs,)
        The targets of each task. Whole numbers are integers, even where NaN had made them floats.
    known : array of bool, shape (n_graphs, n_tasks)
        Which of them are known; the others are NaN, None or the like in what the user gave.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[np.generic], ...]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, y: object, n_graphs: int, *, empty: bool = False) -> Tasks | None:
        """Read a table of targets; None if there is one target per graph, which is for `column_of` to check.

        ``empty`` allows columns without any target.

        Raises
        ------
        TwinWLError
            If the table has no column, another number of rows than there are graphs, two columns of one name,
            an infinite number, values of several kinds in one column, or a column without any target.

        >>> tasks = Tasks.of(np.array([[0, 1.5], [1, np.nan]]), 2)
        >>> tasks.names, tasks.columns[0], tasks.known[:, 1]
        (('y0', 'y1'), array([0, 1]), array([ True, False]))
        >>> Tasks.of([0, 1], 2) is None
        True
        """
        table = _columns(y)
        if table is None:
            return None
        names, columns = table
        if not columns:
            raise TwinWLError("targets: got a table without columns, expected one per task")
        if len(columns[0]) != n_graphs:
            raise TwinWLError(
                f"there are {n_graphs} graphs but {len(columns[0])} rows of targets; give one per graph"
            )
        found, known = zip(*map(_completed, columns, names, [empty] * len(names)), strict=True)
        return cls(tuple(names), found, np.stack(known, axis=1))

    def each(self, make: Callable[..., _Made], *arguments: Iterable[Any]) -> list[_Made]:
        """Call a function once per task, with that task's arguments; errors name the task."""
        made = []
        for name, *given in zip(self.names, *arguments, strict=True):
            try:
                made.append(make(*given))
            except TwinWLError as error:
                raise TwinWLError(f"task {name!r}: {error}") from error
        return made


@dataclass(frozen=True, eq=False)
class TaskTable(Given):
    """The targets of several tasks as a network learns them: one row per graph with a known target.

    Attributes
    ----------
    answers : array, shape (n_graphs, n_tasks)
        Class codes, -1 where a target is unknown; or standardised numbers, NaN where it is.
    weight_of_entry : array of float64, shape (n_graphs, n_tasks), or None
        Weight of each, 0 where it is unknown; None if all known ones count the same.
    """

    answers: Int64 | Float64
    weight_of_entry: Float64 | None

    @classmethod
    def of(
        cls, tasks: Tasks, targets: Sequence[Targets | Measurements], sample_weight: object, groups: object
    ) -> TaskTable:
        """Put the targets of each task side by side."""
        n_graphs, anything = len(tasks.known), np.logical_or.reduce(tasks.known, axis=1)
        given = given_for(np.zeros(n_graphs), n_graphs, sample_weight, groups, anything)[1]
        unknown = np.nan if targets[0].answers.dtype.kind == "f" else -1
        answers: Any = np.full((len(given.rows), len(targets)), unknown, targets[0].answers.dtype)
        weights = np.zeros(answers.shape)
        for task, one in enumerate(targets):
            places = np.searchsorted(given.rows, one.rows)
            answers[places, task], weights[places, task] = one.answers, one.importance()
        weighed = any(one.weighed for one in targets)
        return cls(given.rows, given.weights, given.groups, answers, weights if weighed else None)

    @property
    def weighed(self) -> bool:
        """Whether some targets may count more than others."""
        return self.weight_of_entry is not None

    def importance(self) -> Float64:
        """Return how much each target weighs."""
        return np.ones(self.answers.shape) if self.weight_of_entry is None else self.weight_of_entry

    @property
    def codes(self) -> Int64:
        """Codes by which to stratify; all 0 for numbers."""
        if self.answers.dtype.kind == "f":
            return np.zeros(len(self.rows), np.int64)
        return rarest_classes(np.asarray(self.answers, np.int64))


def rarest_classes(codes: Int64) -> Int64:
    """Return a code for each graph by which to stratify: the rarest class, of any task, that it has.

    Parameters
    ----------
    codes : array of int64, shape (n_graphs, n_tasks)
        The class of each graph in each task; below 0 where it is unknown.

    >>> rarest_classes(np.array([[0, 0], [0, 1], [0, 0], [1, -1]]))
    array([2, 1, 2, 0])
    """
    places = np.where(codes >= 0, codes + np.arange(codes.shape[1]) * (codes.max() + 1), -1)
    labels, numbers, counts = np.unique(places, return_inverse=True, return_counts=True)
    rank = np.empty(len(labels), np.int64)
    rank[np.lexsort((labels, counts))] = np.arange(len(labels))
    rank[labels < 0] = len(labels)
    rarest = rank[numbers.reshape(codes.shape)].min(axis=1)
    return np.unique(rarest, return_inverse=True)[1].astype(np.int64)


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


def side_by_side(answers: list[NDArray[np.generic]], names: Sequence[str]) -> NDArray[np.generic]:
    """Return one column per task; objects, where some are numbers and some are not.

    >>> side_by_side([np.array([1, 0]), np.array(["a", "b"])], ["y0", "y1"]).tolist()
    [[1, 'a'], [0, 'b']]
    """
    wide = [name for name, answer in zip(names, answers, strict=True) if answer.ndim > 1]
    if wide:
        raise TwinWLError(
            f"task {wide[0]!r} has more than two classes, so it has more than one value per graph; ask "
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
    atoms_: str

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
        if (atoms := attribute_of(self, "atoms_")) is not None:
            model.atoms_ = atoms
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


def mean_score(
    model: MultiTask, measure: Callable[..., float], X: GraphsLike, y: object, sample_weight: object
) -> float:
    """Return a score; of several tasks its mean, each on the graphs whose target is known.

    Parameters
    ----------
    model
        A fitted estimator.
    measure
        From true targets, predictions and ``sample_weight`` to a number.
    X, y, sample_weight
        As for scikit-learn's ``score``.
    """
    predicted = model.predict(X)  # type: ignore[attr-defined]
    weights = sample_weights(sample_weight, len(predicted))
    if model.tasks_ is None:
        column = column_of(y, len(predicted), "targets")
        refuse_missing(column)
        return _score(measure, column, predicted, weights)
    tasks = Tasks.of(y, len(predicted))
    if tasks is None or len(tasks.names) != len(model.tasks_):
        raise TwinWLError(f"targets: expected a table of {len(model.tasks_)} columns, one per task")

    def score(column: NDArray[np.generic], known: NDArray[np.bool_], answers: NDArray[np.generic]) -> float:
        found = as_array(answers[known].tolist(), "predictions")
        return _score(measure, column[known], found, None if weights is None else weights[known])

    return float(np.mean(tasks.each(score, tasks.columns, tasks.known.T, predicted.T)))


def _score(
    measure: Callable[..., float],
    y: NDArray[np.generic],
    predicted: NDArray[np.generic],
    weights: Float64 | None,
) -> float:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large
            return float(measure(y, predicted, sample_weight=weights))
    except Exception as error:  # any error of scikit-learn
        raise TwinWLError(f"these targets cannot be compared with the predictions ({error})") from error


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_LISTED])) + ", …" * (len(names) > _LISTED)


def _columns(y: object) -> tuple[list[str], list[NDArray[np.generic]]] | None:
    """Cut a table into named columns; None if it is not a table, or has one column."""
    if is_a(y, dict):
        names = [str(name) for name in y]
        lists = [items(f"targets of task {name!r}", y[name], "one target per graph") for name in y]
        if len({len(values) for values in lists}) > 1:
            raise TwinWLError(
                "targets: got columns of different lengths, expected one entry per graph in each"
            )
        return names, [as_array(values, "targets") for values in lists]
    keys = attribute_of(y, "columns")
    if keys is not None and attribute_of(y, "to_numpy") is not None:  # a frame of pandas or polars
        names = [str(key) for key in items("targets", keys, "a frame with named columns")]
        if len(names) == 1:
            return None
        _refuse_repeated(names)
        # One by one, because a column of strings would make objects of all.
        lists = [items("targets", y[key].to_list(), "a column") for key in keys]  # type: ignore[index]
        return names, [as_array(values, "targets") for values in lists]
    table = _table(y)
    if table is None or table.ndim != 2 or table.shape[1] == 1:  # noqa: PLR2004
        return None
    return [f"y{place}" for place in range(table.shape[1])], list(table.T)


def _table(y: object) -> NDArray[Any] | None:
    """Return an array, or rows of equal length, as an array; None for all else."""
    if is_a(y, np.ndarray):
        return y
    if not is_a(y, list):
        if attribute_of(y, "__array__") is None:
            return None
        with contextlib.suppress(TwinWLError):  # told where targets are read as one per graph
            return foreign_array("targets", y)
        return None
    if not y or not all(issubclass(type(row), list | tuple | np.ndarray) for row in y):
        return None
    lengths = {len(row) for row in y}
    if len(lengths) > 1:
        raise TwinWLError(
            f"targets: got rows of {min(lengths)} to {max(lengths)} entries, expected one per task in each"
        )
    table = np.empty((len(y), lengths.pop()), object)
    for place, row in enumerate(y):
        for task, entry in enumerate(row):
            table[place, task] = entry
    return table


def _refuse_repeated(names: list[str]) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise TwinWLError(
            f"targets: {names.count(repeated[0])} columns are called {repeated[0]!r}; rename all but one"
        )


def _completed(values: NDArray[Any], name: str, empty: bool) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    """Return a task's targets, zeros where they are unknown, and which are known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # objects may have their own ideas about equality
        known = ~np.array([is_absent(value) for value in values.tolist()], np.bool_)
    if not known.any():
        if empty:
            return np.zeros(len(values), np.int64), known
        raise TwinWLError(f"task {name!r}: all {len(values):,} targets are missing; leave that task out")
    found = values[known]
    if found.dtype.kind == "O":
        kinds = [int if kind in {int, float} else kind for kind in map(type, found.tolist())]
        odd = [place for place, kind in enumerate(kinds) if kind is not kinds[0]]
        if odd:
            row = int(np.flatnonzero(known)[odd[0]])
            raise TwinWLError(
                f"task {name!r}: target {row} is {shown(found[odd[0]])}, of another kind than "
                f"{shown(found[0])} before it; use numbers or strings alone in a column"
            )
        found = as_array(found.tolist(), "targets")
    if found.dtype.kind == "f":
        if np.isinf(found).any():
            row = int(np.flatnonzero(known)[np.isinf(found)][0])
            raise TwinWLError(f"task {name!r}: target {row} is infinite; correct it, or set it to NaN")
        if (found == np.floor(found)).all() and np.abs(found).max() <= _EXACT:
            found = found.astype(np.int64)
    column = np.zeros(len(values), found.dtype)
    column[known] = found
    return column, known
