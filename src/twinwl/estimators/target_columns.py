"""Reading of ``y``: one target per graph, or a table of tasks in which entries may be missing."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from twinwl.arguments import attribute_of, foreign_array, is_a, items
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from twinwl.arrays import Bool, Values

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
    columns: tuple[Values, ...]
    known: Bool

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


def column_of(values: object, n_graphs: int, name: str) -> Values:
    """Return one value per graph as an array of one axis."""
    if values is None:
        raise TwinWLError("this requires y to be passed, but the target y is None; give one class per graph")
    if attribute_of(values, "columns") is not None:  # a frame; of one column, for others are tasks
        values = foreign_array(name, values)
    array = values if is_a(values, np.ndarray) else as_array(_listed(values, name), name)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004  (a data frame's column)
        from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415  (slow; seldom needed)

        message = "A column-vector y was passed when a 1d array was expected; pass y.ravel()"
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        array = array[:, 0]
    check_length(array, n_graphs, name)
    return array


def refuse_missing(targets: Values) -> None:
    """Refuse None, NaN, infinity and the like, naming the first."""
    if targets.dtype.kind == "O":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # objects may have their own ideas about equality
            missing = np.array([is_absent(value) for value in targets.tolist()], bool)
    elif targets.dtype.kind in "fc":
        missing = ~np.isfinite(targets)
    elif targets.dtype.kind in "mM":
        missing = np.isnat(targets)
    else:
        return
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        raise TwinWLError(
            f"target {first} is {shown(targets.tolist()[first])} ({np.count_nonzero(missing)} of "
            f"{len(targets)} are missing); leave those graphs out"
        )


def is_absent(value: object) -> bool:
    """Tell None, NaN and the like; what cannot even be compared with itself counts as missing too."""
    try:
        return value is None or not bool(value == value)  # noqa: PLR0124
    except Exception:  # noqa: BLE001
        return True


def as_array(values: list[object], name: str) -> Values:
    """Turn a list into an array without letting NumPy mix kinds: [1, "a"] stays an int and a string."""
    kinds = {type(value) for value in values}
    if kinds & {list, dict, set, np.ndarray}:
        raise TwinWLError(f"{name}: got entries that are collections, expected one value per graph")
    if len(kinds) == 1 or kinds <= {int, float, bool}:
        array = foreign_array(name, values)
        if array.ndim == 1 and array.dtype.kind != "O":
            return array
    out = np.empty(len(values), object)
    for place, value in enumerate(values):
        out[place] = value
    return out


def _columns(y: object) -> tuple[list[str], list[Values]] | None:
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
    # An array without axes is one value, not a row.
    if not y or not all(isinstance(row, list | tuple) or (is_a(row, np.ndarray) and row.ndim) for row in y):
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


def _completed(values: NDArray[Any], name: str, empty: bool) -> tuple[Values, Bool]:
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


def _listed(values: object, name: str) -> list[object]:
    """Return a list; series, tensors and what only knows how to become an array are asked themselves."""
    if attribute_of(values, "__array__") is not None and attribute_of(values, "tolist") is None:
        values = foreign_array(name, values)
    with contextlib.suppress(Exception):
        values = values.tolist()  # type: ignore[attr-defined]
    return items(name, values, "a list, one entry per graph")


def check_length(array: Values, n_graphs: int, name: str) -> None:
    """Refuse an array that is not one entry per graph."""
    if array.ndim != 1:
        raise TwinWLError(f"{name}: got shape {array.shape}, expected one dimension, one entry per graph")
    if len(array) != n_graphs:
        raise TwinWLError(f"there are {n_graphs} graphs but {len(array)} {name}; give one per graph")
