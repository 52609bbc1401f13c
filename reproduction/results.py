"""Cells of the tables, computed from stored rows, and Twin methods compared with 1-WL on the same folds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reproduction.reported import PAIRS, TITLES, PaperTable
from twinwl.research import PROTOCOLS, compare_scores, resolve, summarise
from twinwl.results import PairedComparison, ResultStore, Row, Summary

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
    runs : list of (seed, fold)
        The folds that are complete, in the order of the fold scores.
    n_folds : int
        Number of folds of one repeat.
    seconds : float
        Median time of one fit; not the mean, because the first fit of a process also compiles.
    n_leaked : int
        Test graphs of the first repeat with an isomorphic copy in training.
    without_leaks : float
        Mean accuracy on the other test graphs.
    """

    dataset: str
    method: str
    grid: str | None
    n_configs: int
    readings: dict[str, Summary]
    runs: list[tuple[int, int]]
    n_folds: int
    seconds: float
    n_leaked: int
    without_leaks: float

    @property
    def n_runs(self) -> int:
        """Number of folds over all repeats."""
        return len(self.runs)

    @property
    def partial(self) -> bool:
        """Whether folds of a repeat are still missing."""
        return self.n_runs % self.n_folds != 0

    def percent(self, protocol: str = "fair") -> float:
        """Mean accuracy under a protocol, in per cent."""
        return 100 * self.readings[protocol].mean

    @property
    def rise(self) -> float | None:
        """Points from fair to best-fold-epoch; None for a method without epochs."""
        best = "best-fold-epoch"
        return self.percent(best) - self.percent() if best in self.readings else None


class Results:
    """Stored rows, from which cells are computed; rows with another number of folds are not shown.

    >>> Results([]).cell("MUTAG", "stwin") is None
    True
    """

    def __init__(self, rows: Iterable[Row], n_folds: int = 10) -> None:
        self.rows = list(rows)
        self.n_folds = n_folds
        self._cells: dict[tuple[str, str], ResultCell | None] = {}
        self._of_cell: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.of_kind(f"{n_folds} folds"):
            self._of_cell[row["dataset"], row["method"]].append(row)

    @classmethod
    def read(cls, stores: Iterable[Path]) -> Results:
        """Read several stores; one that does not exist has no rows."""
        return cls(row for path in stores for row in ResultStore(path).rows())

    def cell(self, dataset: str, method: str) -> ResultCell | None:
        """Return a cell, or None if there are no complete results."""
        key = dataset, method
        if key not in self._cells:  # a page asks for each of them many times
            self._cells[key] = _cell(self._of_cell.get(key, []), self.n_folds)
        return self._cells[key]

    def complete(self, table: PaperTable, datasets: Iterable[str] | None = None) -> list[ResultCell]:
        """Return the complete cells of a table, data set by data set."""
        wanted = table.datasets if datasets is None else datasets
        cells = [self.cell(dataset, row.method) for dataset in wanted for row in table.rows]
        return [cell for cell in cells if cell is not None and not cell.partial]

    def of_kind(self, splits: str) -> list[Row]:
        """Return the rows of one kind: folds, or another kind of measurement."""
        return [row for row in self.rows if row["splits"] == splits]


def _cell(rows: Sequence[Row], n_folds: int) -> ResultCell | None:
    """Read the rows of one method on one data set.

    Rows of another version of the method, or of other data under the same name, are left out. A fold counts
    only when every configuration of the grid was run on it.
    """
    if not rows:
        return None
    method = resolve(rows[0]["method"])
    rows = [row for row in rows if row["version"] == method.version]
    usual = Counter(row["digest"] for row in rows).most_common(1)
    rows = [row for row in rows if row["digest"] == usual[0][0]]
    found = []
    for grid in _GRIDS:
        configs = method.configs(grid) if grid is None or grid in method.grids else [{}]
        of_fold: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
        for row in rows:
            if row["config"] in configs:
                of_fold[row["seed"], row["fold"]][configs.index(row["config"])] = row
        whole = {run: each for run, each in sorted(of_fold.items()) if len(each) == len(configs)}
        found.append((len(whole), grid, configs, whole))
    n_runs, grid, configs, runs = max(found, key=lambda each: each[0])
    if not n_runs:
        return None
    kept = [each[place] for each in runs.values() for place in range(len(configs))]
    leaked = {row["fold"]: row["n_leaked"] for row in kept if row["seed"] == kept[0]["seed"]}
    readings = {name: summary for name in PROTOCOLS if (summary := summarise(kept, name)) is not None}
    return ResultCell(
        kept[0]["dataset"],
        kept[0]["method"],
        grid if len(configs) > 1 else None,
        len(configs),
        readings,
        list(runs),
        n_folds,
        float(np.median([row["seconds"] for row in kept])),
        sum(leaked.values()),
        _without_leaks(kept),
    )


def _without_leaks(rows: Sequence[Row]) -> float:
    """Return the fair mean over test graphs without a copy in training; a fold may have no copies."""
    without: list[Row] = []
    for row in rows:
        scores = row["scores"]
        score = scores.get("accuracy-without-duplicates", scores["accuracy"])
        without.append({**row, "scores": {"accuracy": score}})
    summary = summarise(without, "fair")
    return float("nan") if summary is None else summary.mean


@dataclass(frozen=True)
class TwinAgainstWL:
    """A Twin method beside 1-WL under the same classifier, over the same folds of one data set."""

    dataset: str
    twin: str
    wl: str
    comparison: PairedComparison

    @classmethod
    def on_folds(
        cls, dataset: str, pair: tuple[str, str], ours: Sequence[float], theirs: Sequence[float], n_folds: int
    ) -> TwinAgainstWL:
        """Compare the scores of both methods of a pair on the same folds, of ``n_folds`` per seed."""
        names = TITLES[pair[0]], TITLES[pair[1]]
        return cls(dataset, *pair, compare_scores(ours, theirs, names, test_share=1 / (n_folds - 1)))

    @property
    def points(self) -> float:
        """The difference of the two figures, as they are shown."""
        twin, wl = self.comparison.means
        return points_between(100 * twin, 100 * wl)

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the corrected test, in points."""
        return 100 * self.comparison.half_width

    @property
    def verdict(self) -> str:
        """Who is better, beyond chance."""
        if not self.comparison.significant:
            return "may be chance"
        return "Twin is better" if self.comparison.difference > 0 else "1-WL is better"


def twins_against_wl(
    results: Results, datasets: Sequence[str], pairs: Sequence[tuple[str, str]] = PAIRS, least: int = 2
) -> list[TwinAgainstWL]:
    """Compare Twin methods with 1-WL, where both ran on the same folds, at least ``least`` of them."""
    found = []
    for pair in pairs:
        for dataset in datasets:
            cells = [results.cell(dataset, method) for method in pair]
            ours, theirs = (
                dict(zip(cell.runs, cell.readings["fair"].fold_scores, strict=True)) if cell else {}
                for cell in cells
            )
            shared = [run for run in ours if run in theirs]
            if len(shared) >= least:
                scores = [ours[run] for run in shared], [theirs[run] for run in shared]
                found.append(TwinAgainstWL.on_folds(dataset, pair, *scores, results.n_folds))
    return found


def points_between(first: float, second: float) -> float:
    """Return the difference of two figures as they are shown, with two digits, so that readers find the same.

    >>> points_between(86.034, 87.106)
    -1.08
    """
    return round(round(first, 2) - round(second, 2), 2)


def signed(points: float) -> str:
    """Format a difference in points with its sign; a value that rounds to zero has none.

    >>> signed(1.25), signed(-0.8), signed(-0.004)
    ('+1.25', '−0.80', '0.00')
    """
    rounded = round(points, 2)
    return f"{rounded:+.2f}".replace("-", "−") if rounded else "0.00"
