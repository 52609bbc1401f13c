"""Classification or regression: as given by the caller, or else derived from the targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import checked, one_of
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Bool, Float64, Values

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
