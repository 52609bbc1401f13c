"""Cells of the paper's tables: computed from stored rows, and as blocks of the page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.evaluation.methods import METHODS, Config
from twinwl.evaluation.protocols import PROTOCOLS, Summary, summarise

if TYPE_CHECKING:
    from twinwl.evaluation.store import Row

_GRIDS = ("paper", "compact", None)  # of equally complete ones the first is shown


@dataclass(frozen=True)
class ResultCell:
    """Results of one method on one data set.

    Attributes
    ----------
    dataset, method : str
    grid : str or None
        The grid that was searched; None for the default parameters.
    n_configs : int
        Number of configurations in it.
    readings : dict
        Protocol to `Summary`; protocols that do not apply to the method are missing.
    runs : tuple of (seed, fold)
        The folds that are complete, in the order of the fold scores.
    n_folds : int
        Number of folds of one repeat.
    seconds : float
        Median time of one fit; not the mean, because the first fit of a process also compiles.
    n_leaked : int
        Test graphs of the first repeat with an isomorphic copy in training.
    without_leaks : float or None
        Mean accuracy on the other test graphs; None if there are no such copies.
    """

    dataset: str
    method: str
    grid: str | None
    n_configs: int
    readings: dict[str, Summary]
    runs: tuple[tuple[int, int], ...]
    n_folds: int
    seconds: float
    n_leaked: int
    without_leaks: float | None

    @property
    def n_runs(self) -> int:
        """Number of folds over all repeats."""
        return len(self.runs)

    @property
    def partial(self) -> bool:
        """Whether folds of a repeat are still missing."""
        return self.n_runs % self.n_folds != 0


class Results:
    """Stored rows, from which cells are computed.

    Parameters
    ----------
    rows
        Of one or more stores.
    n_folds
        Rows of evaluations with another number of folds are not shown.

    >>> Results([]).cell("MUTAG", "stwin") is None
    True
    """

    def __init__(self, rows: Iterable[Row], n_folds: int = 10) -> None:
        self.rows = list(rows)
        self.n_folds = n_folds
        self._cells: dict[tuple[str, str], ResultCell | None] = {}
        self._of_cell: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            if row["splits"] == f"{n_folds} folds":
                self._of_cell[row["dataset"], row["method"]].append(row)

    def cell(self, dataset: str, method: str) -> ResultCell | None:
        """Return a cell, or None if there are no complete results."""
        key = dataset, method
        if key not in self._cells:  # a page asks for each of them many times
            self._cells[key] = result_cell(self._of_cell.get(key, []), self.n_folds)
        return self._cells[key]

    def of_kind(self, splits: str) -> list[Row]:
        """Return rows of another kind than folds."""
        return [row for row in self.rows if row["splits"] == splits]


def result_cell(rows: Sequence[Row], n_folds: int) -> ResultCell | None:
    """Read the rows of one method on one data set.

    Rows of an older version of the method, or of other data under the same name, are left out. A fold counts
    only when every configuration of the grid was run on it.

    >>> result_cell([], 10) is None
    True
    """
    if not rows:
        return None
    method = METHODS.get(rows[0]["method"])
    version = method.version if method else max(row["version"] for row in rows)
    rows = [row for row in rows if row["version"] == version]
    digest = Counter(row["digest"] for row in rows).most_common(1)
    rows = [row for row in rows if row["digest"] == digest[0][0]] if digest else []
    best: tuple[str | None, list[Config], list[Row]] | None = None
    for grid in _GRIDS:
        configs = method.configs(grid) if method and (grid is None or grid in method.grids) else [{}]
        kept = _complete(rows, configs)
        if kept and (best is None or len(kept) // len(configs) > len(best[2]) // len(best[1])):
            best = grid, configs, kept
    if best is None:
        return None
    grid, configs, kept = best
    readings = {name: summary for name in PROTOCOLS if (summary := summarise(kept, name)) is not None}
    first_seed = min(row["seed"] for row in kept)
    leaked = {row["fold"]: row["n_leaked"] for row in kept if row["seed"] == first_seed}
    return ResultCell(
        kept[0]["dataset"],
        kept[0]["method"],
        grid if len(configs) > 1 else None,
        len(configs),
        readings,
        tuple(sorted({(row["seed"], row["fold"]) for row in kept})),
        n_folds,
        float(np.median([row["seconds"] for row in kept])),
        sum(leaked.values()),
        _without_leaks(kept, readings) if any(leaked.values()) else None,
    )


def _complete(rows: Sequence[Row], configs: list[Config]) -> list[Row]:
    """Keep the folds on which every configuration was run, configurations in the order of the grid."""
    of_fold: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        if row["config"] in configs:
            of_fold[row["seed"], row["fold"]][configs.index(row["config"])] = row
    whole = [found for _, found in sorted(of_fold.items()) if len(found) == len(configs)]
    return [found[place] for found in whole for place in range(len(configs))]


def _without_leaks(rows: Sequence[Row], readings: dict[str, Summary]) -> float | None:
    """Return the fair mean over test graphs without a copy in training."""
    found = {(row["seed"], row["fold"], repr(row["config"])): row["scores"] for row in rows}
    runs = sorted({(row["seed"], row["fold"]) for row in rows})
    scores = [
        found[seed, fold, repr(config)].get("accuracy-without-duplicates")
        for (seed, fold), config in zip(runs, readings["fair"].configs, strict=True)
    ]
    known = [
        found[seed, fold, repr(config)]["accuracy"] if score is None else score
        for score, (seed, fold), config in zip(scores, runs, readings["fair"].configs, strict=True)
    ]
    return float(np.mean(known)) if known else None


@dataclass(frozen=True)
class AccuracyCell:
    """Mean and standard deviation in per cent, and number of runs; ``text`` replaces a missing mean."""

    mean: float | None = None
    std: float | None = None
    runs: str = ""
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class AccuracyLine:
    """One reading of a method on all data sets; ``kind`` is a protocol or ``"paper"``."""

    kind: str
    label: str
    cells: list[AccuracyCell]


@dataclass(frozen=True)
class AccuracyGroup:
    """A method with its readings."""

    title: str
    note: str
    lines: list[AccuracyLine]
    highlighted: bool = False


@dataclass(frozen=True)
class AccuracyTable:
    """Methods by data sets."""

    datasets: list[str]
    groups: list[AccuracyGroup]


def signed(points: float) -> str:
    """Format a difference in points with its sign; a value that rounds to zero has none.

    >>> signed(1.25), signed(-0.8), signed(-0.004)
    ('+1.25', '−0.80', '0.00')
    """
    rounded = round(points, 2)
    return f"{rounded:+.2f}".replace("-", "−") if rounded else "0.00"


def points_between(first: float, second: float) -> float:
    """Return the difference of two figures as they are shown, with two digits, so that readers find the same.

    >>> points_between(86.034, 87.106)
    -1.08
    """
    return round(round(first, 2) - round(second, 2), 2)
