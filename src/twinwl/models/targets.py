"""Targets of estimators.

Every ``y`` becomes a table with a row per graph and a column per task; one target is a table of one column.
`read_targets` is the only function that reads what a user gave. Missing entries are allowed in a table of
several tasks and refused where there is one target per graph. `TargetTable` has the targets as estimators
learn them: codes of classes or standardised numbers. `task_of` derives from targets whether to classify or to
predict numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, checked, foreign_array, instance, items, number, one_of
from twinwl.arrays import Bool, Float64, Int64, Values
from twinwl.errors import TwinWLError, prefix_errors, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.models.calibration import ClassHead, NumberHead, rarest_classes

_EXACT = 2**53  # beyond, floats skip whole numbers
_LIGHTEST, _HEAVIEST = 1e-12, 1e12  # so that sums and products of weights are finite
_WEIGHT = (number(_LIGHTEST, _HEAVIEST), number(0, 0))  # zero, or within these bounds
_NUMBER = number(-1e100, 1e100)  # so that squares stay finite
_NO_SPREAD = 1e-12


class TargetColumns(NamedTuple):
    """What a user gave as targets, column by column.

    Attributes
    ----------
    names : tuple of str, or None
        Name of each task: the column of a DataFrame or the key of a dictionary, else ``y0``, ``y1``, ….
        None where there is one target per graph, not a table.
    columns : tuple of array, each of shape (n_graphs,)
        In a table, whole numbers are integers, even where NaN had made them floats, and unknown entries 0.
    known : array of bool, shape (n_graphs, n_tasks)
        Which of them are known; the others are NaN, None or the like in what the user gave.
    """

    names: tuple[str, ...] | None
    columns: tuple[Values, ...]
    known: Bool


def name_task(names: Sequence[str] | None, place: int = 0) -> AbstractContextManager[None]:
    """Name a task in errors that are raised in this context."""
    return nullcontext() if names is None else prefix_errors(f"task {names[place]!r}")


def read_targets(y: object, n_graphs: int, *, tables: bool = True, empty: bool = False) -> TargetColumns:
    """Read one target per graph or, where ``tables`` are allowed, a table of several tasks.

    ``empty`` allows columns of a table without any target.

    >>> found = read_targets(np.array([[0, 1.5], [1, np.nan]]), 2)
    >>> found.names, found.columns[0], found.known[:, 1]
    (('y0', 'y1'), array([0, 1]), array([ True, False]))
    >>> read_targets([0, 1], 2).names is None
    True
    """
    if y is None:
        raise TwinWLError("this requires y to be passed, but the target y is None; give one class per graph")
    named = _named_columns(y)
    if named is None:
        table = _read_array(y, "targets")
        if not tables or table.ndim != 2 or table.shape[1] == 1:  # noqa: PLR2004
            column = _one_column(table, n_graphs, "targets")
            return TargetColumns(None, (column,), ~_absent(column)[:, None])
        named = {f"y{place}": column for place, column in enumerate(table.T)}
    if not named:
        raise TwinWLError("targets: got a table without columns, expected one per task")
    for column in named.values():
        if len(column) != n_graphs:
            raise TwinWLError(
                f"there are {n_graphs} graphs but {len(column)} rows of targets; give one per graph"
            )
    columns, known = [], []
    for name, values in named.items():
        with name_task([name]):
            column, is_present = _fill_missing(values, empty)
        columns.append(column)
        known.append(is_present)
    return TargetColumns(tuple(named), tuple(columns), np.stack(known, axis=1))


def _named_columns(y: Any) -> dict[str, Values] | None:  # noqa: ANN401
    """Return the columns of a dictionary, or of a frame of pandas or polars with more than one."""
    if isinstance(y, dict):
        return {str(name): _read_array(values, f"targets of task {name!r}") for name, values in y.items()}
    if not hasattr(y, "columns") or len(y.columns) == 1:
        return None
    names = [str(key) for key in y.columns]
    for name in names:
        if names.count(name) > 1:
            raise TwinWLError(f"targets: {names.count(name)} columns are called {name!r}; rename all but one")
    # One by one, because a column of strings would make objects of all.
    return {str(key): array_of_one_kind(y[key].to_list(), "targets") for key in y.columns}


def _read_array(values: Any, name: str) -> Values:  # noqa: ANN401
    """Return what a user gave as an array: of one axis, or of two for rows of equal length."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "columns"):  # a frame of one column
        return foreign_array(name, values)
    if hasattr(values, "tocsr"):
        raise TwinWLError(f"{name}: got a sparse matrix, expected an array; pass its toarray()")
    if hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "__array__"):
        return foreign_array(name, values)
    listed = items(name, values, "a list, one entry per graph")
    table = np.array(listed, object)  # of two axes for rows of equal length
    return table if table.ndim == 2 else array_of_one_kind(listed, name)  # noqa: PLR2004


def array_of_one_kind(values: list[Any], name: str) -> Values:
    """Turn a list into an array without letting NumPy mix kinds: [1, "a"] stays an int and a string."""
    kinds = {type(value) for value in values}
    if kinds & {list, dict, set, tuple, np.ndarray}:
        raise TwinWLError(f"{name}: got entries that are collections, expected one value per graph")
    if len(kinds) == 1 or kinds <= {int, float, bool}:
        array = foreign_array(name, values)
        if array.ndim == 1 and array.dtype.kind != "O":
            return array
    out = np.empty(len(values), object)
    out[:] = values
    return out


def _one_column(array: Values, n_graphs: int, name: str) -> Values:
    """Return one value per graph as an array of one axis."""
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004  (a data frame's column)
        from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415  (slow; seldom needed)

        message = "A column-vector y was passed when a 1d array was expected; pass y.ravel()"
        warnings.warn(message, DataConversionWarning, stacklevel=6)
        array = array[:, 0]
    if array.ndim != 1:
        raise TwinWLError(f"{name}: got shape {array.shape}, expected one dimension, one entry per graph")
    if len(array) != n_graphs:
        raise TwinWLError(f"there are {n_graphs} graphs but {len(array)} {name}; give one per graph")
    return array


def _absent(values: Values) -> Bool:
    """Return which values are None, NaN, NaT or infinite."""
    if values.dtype.kind in "fc":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), np.bool_)
    return np.array([_is_absent(value) for value in values.tolist()], np.bool_)


def _is_absent(value: object) -> bool:
    try:
        return value is None or not bool(value == value)  # noqa: PLR0124
    except (TypeError, ValueError):  # pandas.NA is neither equal to itself nor not
        return True


def _fill_missing(values: Values, empty: bool) -> tuple[Values, Bool]:
    """Return a task's targets, zeros where they are unknown, and which are known."""
    # Infinity is not an unknown target but a mistake, which is refused below.
    known = ~(np.isnan(values) if values.dtype.kind == "f" else _absent(values))
    if not known.any():
        if empty:
            return np.zeros(len(values), np.int64), known
        raise TwinWLError(f"all {len(values):,} targets are missing; leave that task out")
    rows, present = np.flatnonzero(known), values[known]
    if present.dtype.kind == "O":
        present = array_of_one_kind(present.tolist(), "targets")
    if present.dtype.kind == "f":
        if np.isinf(present).any():
            raise TwinWLError(
                f"target {rows[np.isinf(present)][0]} is infinite; correct it, or set it to NaN"
            )
        if (present == np.floor(present)).all() and np.abs(present).max() <= _EXACT:
            present = present.astype(np.int64)
    column = np.zeros(len(values), present.dtype)
    column[known] = present
    return column, known


# ---------------------------------------------------------------------- what estimators learn


def _fit_classes(
    values: Values, rows: Int64, weights: Float64 | None, class_weight: object
) -> tuple[ClassHead, Int64, Float64 | None]:
    """Return the classes of some targets, their codes and the weight of each class."""
    if values.dtype.kind == "f" and (wrong := np.flatnonzero(values != np.floor(values))).size:
        raise TwinWLError(
            f"target {rows[wrong[0]]} is {values[wrong[0]]}: these look like continuous measurements; "
            "a classifier needs classes; take a regressor, such as STwinSVR, or cut them into ranges"
        )
    classes, codes = _distinct(values)
    if len(classes) < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"all {len(values)} graphs are of one class, {shown(classes.tolist()[0])}; give graphs of at "
            "least two"
        )
    return ClassHead(classes), codes, _class_weights(class_weight, classes, codes, weights)


def _fit_numbers(
    values: Values, rows: Int64, weights: Float64 | None, _: object
) -> tuple[NumberHead, Float64, None]:
    """Return the weighted mean and the standard deviation of some targets, and these standardised.

    So no parameter depends on the unit. The scale is 1 where all numbers are equal.
    """
    numbers = _numbers(values, rows)
    mean = float(np.average(numbers, weights=weights))
    scale = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
    # A deviation that is only the rounding of the mean counts as 0.
    scale = scale if scale > _NO_SPREAD * float(np.abs(numbers).max()) else 1.0
    return NumberHead(mean, scale), (numbers - mean) / scale, None


def encode(head: ClassHead | NumberHead, values: Values) -> Int64 | Float64:
    """Return targets of other graphs as they are learnt; a class that training never saw becomes -1.

    >>> encode(ClassHead(np.array(["no", "yes"])), np.array(["no", "maybe"]))
    array([ 0, -1])
    """
    if isinstance(head, NumberHead):
        return (_numbers(values, np.arange(len(values))) - head.mean) / head.scale
    place = {value: code for code, value in enumerate(head.classes.tolist())}
    # What has no hash, such as a graph, is no class either.
    codes = [place.get(value, -1) if value.__hash__ else -1 for value in values.tolist()]
    return np.array(codes, np.int64)


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """The targets of one task, for the graphs that count.

    Attributes
    ----------
    rows : array of int64
        The graphs that count, sorted: those with a known target and a positive weight.
    answers : array of int64 or float64
        Codes of classes, or standardised numbers.
    head : ClassHead or NumberHead
        Its classes, or their mean and scale.
    weights : array of float64, or None
        Weight of each graph, if given.
    weight_of_class : array of float64, or None
        Weight of each class, if given.
    groups : array of int64, or None
        Number of each graph's group, if given.
    """

    rows: Int64
    answers: Any
    head: Any
    weights: Float64 | None = None
    weight_of_class: Float64 | None = None
    groups: Int64 | None = None

    @property
    def numbers(self) -> bool:
        """Whether the targets are numbers, not classes."""
        return isinstance(self.head, NumberHead)

    @property
    def classes(self) -> Values:
        """The classes; none for numbers."""
        return np.empty(0) if self.numbers else self.head.classes

    @property
    def codes(self) -> Int64:
        """Codes by which to stratify; all 0 for numbers."""
        return np.zeros(len(self.rows), np.int64) if self.numbers else self.answers

    def importance(self) -> Float64:
        """Return how much each graph weighs, its class included."""
        own = np.ones(len(self.rows)) if self.weights is None else self.weights
        return own if self.weight_of_class is None else own * self.weight_of_class[self.codes]


@dataclass(frozen=True, eq=False)
class TargetTable:
    """The targets of all tasks as estimators learn them: a row for each graph with a target that counts.

    Attributes
    ----------
    names : tuple of str, or None
        As in `TargetColumns`.
    rows : array of int64
        The graphs, sorted.
    answers : array, shape (n_rows, n_tasks)
        Codes of classes, -1 where a target is unknown; or standardised numbers, NaN where it is.
    heads : tuple of ClassHead or of NumberHead
        One per task: its classes, or its mean and scale.
    weights : array of float64, shape (n_rows,), or None
        Weight of each graph, if given.
    class_weights : tuple
        For each task the weight of each class, or None.
    groups : array of int64, shape (n_rows,), or None
        Number of each graph's group, if given.
    """

    names: tuple[str, ...] | None
    rows: Int64
    answers: Any
    heads: tuple[ClassHead | NumberHead, ...]
    weights: Float64 | None
    class_weights: tuple[Float64 | None, ...]
    groups: Int64 | None

    @classmethod
    def read(
        cls,
        y: object,
        n_graphs: int,
        sample_weight: object = None,
        class_weight: object = None,
        groups: object = None,
        *,
        numbers: bool = False,
        tables: bool = True,
    ) -> TargetTable:
        """Check what a user gave, and convert it to numbers.

        Parameters
        ----------
        y
            The targets; see `read_targets`.
        n_graphs
            How many graphs there are.
        sample_weight
            How much each graph weighs, or None; those of weight 0 do not count.
        groups
            Something for each graph that is equal within a group, or None.
        class_weight
            None, "balanced" or a dictionary from class to weight.
        numbers
            Whether the targets are numbers, not classes.
        tables
            Whether ``y`` may be a table of several tasks.

        >>> targets = TargetTable.read(["yes", "no", "yes"], 3, class_weight="balanced").column(0)
        >>> targets.classes, targets.codes, targets.importance()
        (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1]), array([0.75, 1.5 , 0.75]))
        """
        table = read_targets(y, n_graphs, tables=tables)
        weights = sample_weights(sample_weight, n_graphs)
        counts = np.ones(n_graphs, np.bool_) if weights is None else weights > 0
        known = table.known & counts[:, None]
        if table.names is None:
            column, missing = table.columns[0], np.flatnonzero(counts & ~known[:, 0])
            if len(missing):
                row = missing[0]
                raise TwinWLError(
                    f"target {row} is {shown(column.tolist()[row])} ({len(missing)} of {counts.sum()} are "
                    "missing); leave those graphs out"
                )
        rows = np.flatnonzero(known.any(axis=1))
        if not len(rows):
            raise TwinWLError("every training graph has a weight of zero; give some a positive weight")
        heads: list[ClassHead | NumberHead] = []
        class_weights = []
        unknown = np.nan if numbers else np.int64(-1)
        answers: Any = np.full((len(rows), len(table.columns)), unknown)
        for place, column in enumerate(table.columns):
            own = np.flatnonzero(known[:, place])
            weighed = None if weights is None else weights[own]
            with name_task(table.names, place):
                fit = _fit_numbers if numbers else _fit_classes
                head, encoded, by_class = fit(column[own], own, weighed, class_weight)
            heads.append(head)
            class_weights.append(by_class)
            answers[np.searchsorted(rows, own), place] = encoded
        given_groups = (
            None if groups is None else _one_column(_read_array(groups, "groups"), n_graphs, "groups")
        )
        return cls(
            table.names,
            rows,
            answers,
            tuple(heads),
            None if weights is None else weights[rows],
            tuple(class_weights),
            None if given_groups is None else _distinct(given_groups[rows])[1],
        )

    @property
    def known(self) -> Bool:
        """Which targets are known, shape (n_rows, n_tasks)."""
        return is_known(self.answers)

    def column(self, place: int) -> TargetColumn:
        """Return the targets of one task."""
        own = np.flatnonzero(self.known[:, place])
        return TargetColumn(
            self.rows[own],
            self.answers[own, place],
            self.heads[place],
            None if self.weights is None else self.weights[own],
            self.class_weights[place],
            None if self.groups is None else _distinct(self.groups[own])[1],
        )

    def graphs_that_count(self, batch: GraphBatch) -> GraphBatch:
        """Return the graphs that count."""
        return batch if len(self.rows) == len(batch) else batch[self.rows]

    def importance(self) -> Float64 | None:
        """Return how much each target weighs, shape (n_rows, n_tasks); None if all known ones count alike."""
        if self.weights is None and all(weights is None for weights in self.class_weights):
            return None
        out = np.zeros(self.answers.shape)
        for place in range(len(self.heads)):
            out[self.known[:, place], place] = self.column(place).importance()
        return out

    @property
    def codes(self) -> Int64:
        """Codes by which to stratify graphs; all 0 for numbers."""
        if isinstance(self.heads[0], NumberHead):
            return np.zeros(len(self.rows), np.int64)
        return self.answers[:, 0] if self.answers.shape[1] == 1 else rarest_classes(self.answers)


def is_known(answers: Any) -> Bool:  # noqa: ANN401
    """Return which answers are not missing, -1 for codes and NaN for numbers."""
    return ~np.isnan(answers) if answers.dtype.kind == "f" else answers >= 0


def sample_weights(sample_weight: object, n_graphs: int) -> Float64 | None:
    """Return the weight of each graph, checked; None if none are given."""
    if sample_weight is None:
        return None
    weights: Any = _one_column(
        foreign_array("sample_weight", sample_weight, np.float64), n_graphs, "sample_weight"
    )
    for place in np.flatnonzero(~((weights >= _LIGHTEST) & (weights <= _HEAVIEST))).tolist():
        checked(f"sample_weight[{place}]", float(weights[place]), *_WEIGHT)
    return weights


def _class_weights(
    class_weight: object, classes: Values, codes: Int64, weights: Float64 | None
) -> Float64 | None:
    """Return the weight of each class; ``"balanced"`` gives each class the same total weight."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        checked("class_weight", class_weight, one_of("balanced"))
        total = np.bincount(codes, weights, len(classes)).astype(np.float64)
        return total.sum() / (len(classes) * total)
    weight_of = dict(checked("class_weight", class_weight, instance(dict)))
    named = [(value, weight_of.pop(value, 1.0)) for value in classes.tolist()]
    if weight_of:
        raise TwinWLError(
            f"class_weight: got a weight for {shown(next(iter(weight_of)))}, which is not in y; classes: "
            f"{shown(classes.tolist())}"
        )
    return np.array([checked(f"class_weight[{shown(value)}]", found, *_WEIGHT) for value, found in named])


def _distinct(values: Values) -> tuple[Values, Int64]:
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise TwinWLError(
            f"values of the kinds {', '.join(kinds)} have no common order; use one kind"
        ) from error
    return distinct, codes.astype(np.int64)


def _numbers(values: Values, rows: Int64) -> Float64:
    """Return targets as floats, naming the row of the first that is not a number."""
    named = zip(rows.tolist(), values.tolist())
    return np.array([checked(f"target {row}", value, _NUMBER, FLAG) for row, value in named], np.float64)


TASKS = ("classification", "regression")
_MANY = 20  # with more different whole numbers than this they may be counts, not classes
_GRAPHS_PER_CLASS = 10  # on average; classes with fewer are hardly classes


class Task(NamedTuple):
    """Classification or regression, and the reason for the choice."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def task_of(  # noqa: PLR0911  (one per reason)
    y: Values, requested: str = "auto", target: str | None = None, tasks: Sequence[str] = ()
) -> Task:
    """Decide between classification and regression.

    Parameters
    ----------
    y : array, shape (n_graphs,) or (n_graphs, n_tasks)
        The targets.
    requested
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
    requested = checked("task", requested, one_of("auto", *TASKS))
    if y.ndim > 1:
        return _task_of_columns(y.astype(np.float64), requested, tasks)
    called = "the target" if target is None else f"the target {target!r}"
    distinct = np.unique(y)
    if len(distinct) == 1:
        raise TwinWLError(
            f"{called} is {shown(distinct.tolist()[0])} for all {len(y):,} graphs, so there is nothing to "
            "learn; choose another one"
        )
    if requested != "auto":
        misfits = y[~_fits(y, requested)]
        if len(misfits):
            text = "which is not a number" if requested == "regression" else "a measurement, not a class"
            other = TASKS[requested == TASKS[0]]  # the other one of the two tasks
            raise TwinWLError(
                f"task: got {requested!r}, but {called} holds {shown(misfits.tolist()[0])}, {text}; choose "
                f"another target, or {other!r}"
            )
        return Task(requested, "as asked for")
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


def _task_of_columns(y: Float64, requested: str, tasks: Sequence[str]) -> Task:
    columns = [column[~np.isnan(column)] for column in y.T]
    columns = [column.astype(np.int64) if suits(column, TASKS[0]) else column for column in columns]
    kinds = [task_of(column, requested, name) for column, name in zip(columns, tasks)]
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
    """Return for each target whether it fits the task."""
    if task == "regression":
        return np.full(len(y), y.dtype.kind in "iuf")
    return y == np.floor(y) if y.dtype.kind == "f" else np.full(len(y), fill_value=True)
