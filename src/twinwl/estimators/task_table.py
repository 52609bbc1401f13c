"""A table of targets, one column per task, in which entries may be missing."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from twinwl.arguments import attribute_of, foreign_array, is_a, items
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.targets import Given, as_array, given_for, is_absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.measurements import Measurements
    from twinwl.estimators.targets import Targets

__all__ = ["TaskTable", "Tasks", "rarest_classes"]

_Made = TypeVar("_Made")
_EXACT = 2**53  # beyond, floats skip whole numbers


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
