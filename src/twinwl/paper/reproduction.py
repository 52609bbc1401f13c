"""Run the paper's tables: whatever the store lacks, cheapest first, until it is done or the time is up."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from twinwl.datasets.catalogue import CARDS
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.evaluate import evaluate
from twinwl.evaluation.methods import resolve
from twinwl.evaluation.store import ResultStore, Row

if TYPE_CHECKING:
    from twinwl.paper.tables import Cell

# Seconds of one fit for a thousand nodes of training graphs, to the nearest power of three or so: they order
# the work before anything has been measured, and are forgotten as soon as the store knows better.
_ROUGH_SECONDS = {
    "wl-kernel": 0.1, "wl-svc": 0.3, "stwin-svc": 0.3, "sp-kernel": 0.3, "wl": 0.3, "stwin": 0.3,
    "stwin-joint": 0.3, "wl-encoder": 0.3, "gcn": 1.0, "gin": 1.0, "dgk": 1.0, "ntwin": 1.0, "gcn-rni": 1.0,
    "sortpool": 1.0, "sagpool": 1.0, "nested-gin": 3.0, "3-hop-gnn": 3.0, "diffpool": 3.0, "123-gnn": 10.0,
    "ppgn": 10.0,
}  # fmt: skip
_UNKNOWN_SECONDS = 1.0
_UNKNOWN_NODES = 10_000


class Settings(NamedTuple):
    """How cells are run.

    Attributes
    ----------
    grid : str or None
        ``"compact"``, ``"paper"``, or None for the defaults.
    n_folds, repeats, n_jobs : int
        As for `twinwl.evaluate`.
    """

    grid: str | None = "compact"
    n_folds: int = 10
    repeats: int = 1
    n_jobs: int = 1


class Task(NamedTuple):
    """What is still to be run of a cell.

    Attributes
    ----------
    cell : Cell
    n_missing, n_units : int
        Fits, one per fold and configuration: those the store lacks, and all.
    seconds : float
        What the missing ones may take; from the store where it holds some, else a rough guess.
    """

    cell: Cell
    n_missing: int
    n_units: int
    seconds: float


class Outcome(NamedTuple):
    """What became of a cell.

    Attributes
    ----------
    cell : Cell
    state : str
        ``"done"``, ``"time is up"``, ``"no data"`` or ``"failed"``.
    message : str
        What went wrong, and what to do about it.
    """

    cell: Cell
    state: str
    message: str = ""


def tasks_of(cells: Iterable[Cell], settings: Settings, rows: Sequence[Row]) -> list[Task]:
    """Say of each cell what the store lacks, the cheapest first.

    Parameters
    ----------
    cells
        What a table consists of.
    settings
        How they are run.
    rows
        What the store holds.

    >>> from twinwl.paper.tables import Cell
    >>> cells = [Cell("NCI1", "ntwin"), Cell("MUTAG", "wl")]
    >>> [task.cell.dataset for task in tasks_of(cells, Settings(), [])]
    ['MUTAG', 'NCI1']
    """
    stored: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        stored[row["dataset"], row["method"]].append(row)
    tasks = [_task(cell, settings, stored[cell]) for cell in dict.fromkeys(cells)]
    return sorted(tasks, key=lambda task: (task.seconds, task.cell))


def run_tasks(
    tasks: Sequence[Task],
    settings: Settings,
    store_of: Callable[[Cell], Path],
    load: Callable[[str], Dataset],
    *,
    until: float | None = None,
) -> Iterator[Outcome]:
    """Run tasks in order and yield what becomes of each.

    A cell whose data are not at hand, or whose method fails, is reported and the others go on.

    Parameters
    ----------
    tasks
        From `tasks_of`.
    settings
        How they are run.
    store_of
        Returns the file of results of a cell; finished folds are in it whatever happens.
    load
        Returns a data set by name, or raises a TwinWLError that says how to get it.
    until
        Value of ``time.monotonic()`` from which on no fold is begun.
    """
    missing: dict[str, str] = {}
    loaded: dict[str, Dataset] = {}
    for task in tasks:
        cell = task.cell
        if not task.n_missing:
            yield Outcome(cell, "done")
            continue
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            yield Outcome(cell, "time is up")
            continue
        if cell.dataset not in loaded and cell.dataset not in missing:
            try:
                loaded[cell.dataset] = load(cell.dataset)
            except TwinWLError as error:
                missing[cell.dataset] = " ".join(str(error).split())
        if cell.dataset in missing:
            yield Outcome(cell, "no data", missing[cell.dataset])
            continue
        yield _run(cell, settings, store_of(cell), loaded[cell.dataset], left)


def _run(cell: Cell, settings: Settings, store: Path, data: Dataset, left: float | None) -> Outcome:
    chosen = resolve(cell.method)
    try:
        result = evaluate(
            chosen,
            data,
            grid=settings.grid,
            n_folds=settings.n_folds,
            repeats=settings.repeats,
            metrics=["accuracy"],
            edge_labels=False,  # as in the paper
            n_jobs=settings.n_jobs,
            store=store,
            time_budget=left,
        )
    except TwinWLError as error:
        return Outcome(cell, "failed", " ".join(str(error).split()))
    except (RuntimeError, ArithmeticError, LookupError, MemoryError, TypeError) as error:
        # One method's fault must not cost a night's run of all others; it is reported, with its kind.
        return Outcome(cell, "failed", f"{type(error).__name__}: {' '.join(str(error).split())}")
    wanted = len(chosen.configs(settings.grid)) * settings.n_folds * settings.repeats
    return Outcome(cell, "done" if len(result.rows) == wanted else "time is up")


def _task(cell: Cell, settings: Settings, rows: Sequence[Row]) -> Task:
    chosen = resolve(cell.method)
    configs = chosen.configs(settings.grid)
    n_units = len(configs) * settings.n_folds * settings.repeats
    usable = [
        row
        for row in rows
        if row["version"] == chosen.version
        and row["splits"] == f"{settings.n_folds} folds"
        and row["config"] in configs
        and row["seed"] < settings.repeats
    ]
    if usable:
        each = sum(row["seconds"] for row in usable) / len(usable)
    else:
        card = CARDS.get(cell.dataset)
        nodes = (card and card.n_nodes) or _UNKNOWN_NODES
        each = _ROUGH_SECONDS.get(cell.method, _UNKNOWN_SECONDS) * nodes / 1000
    n_missing = max(0, n_units - len(usable))
    return Task(cell, n_missing, n_units, n_missing * each)


def stored_rows(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of several stores; one that does not exist holds none.

    >>> from pathlib import Path
    >>> stored_rows([Path("no-such-store.jsonl")])
    []
    """
    return [row for path in paths for row in ResultStore(path).rows()]
