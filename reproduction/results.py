"""Cells of the tables, computed from stored rows, beside what the paper reports.

Twin methods are compared with 1-WL on the same folds. Tables say which method of ours stands for which row of
the paper.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twinwl.research import PROTOCOLS, resolve
from twinwl.results import Evaluation, PairedComparison, ResultStore, Row, Summary


class Reported(NamedTuple):
    """A reported mean and its standard deviation: per cent in tables 1 and 2, seconds in table 3."""

    mean: float
    std: float

    def near(self, ours: float) -> bool:
        """Whether a figure lies within one reported standard deviation."""
        return abs(ours - self.mean) <= self.std


class TableRow(NamedTuple):
    """A row of a table: its title, our method, and the paper's figures by data set; none if it is ours."""

    title: str
    method: str
    reported: dict[str, Reported]


class PaperTable(NamedTuple):
    """A table of accuracies: its data sets, and its rows in the paper's order, then ours."""

    name: str
    datasets: tuple[str, ...]
    rows: tuple[TableRow, ...]


MOLECULES = ("MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109")


def _row(
    title: str, method: str, *cells: tuple[float, float] | None, datasets: tuple[str, ...] = MOLECULES
) -> TableRow:
    """Name the cells of a row by their data sets; the paper leaves some out."""
    named = zip(datasets, cells, strict=False)
    return TableRow(title, method, {name: Reported(*cell) for name, cell in named if cell})


_exp = partial(_row, datasets=("EXP",))

# 1-WL under the very classifier of each Twin, and under a support vector machine: only beside these does a
# difference say something about identities rather than about classifiers.
_OURS = (
    TableRow("1-WL, STwin-GNN's network", "wl", {}),
    TableRow("1-WL, NTwin-GNN's network", "wl-encoder", {}),
    TableRow("STwin, joint counts", "stwin-joint", {}),
    TableRow("1-WL, SVM", "wl-svc", {}),
    TableRow("STwin, SVM", "stwin-svc", {}),
)

# fmt: off
TABLE_1 = PaperTable("table1", MOLECULES, (
    _row("SP kernel", "sp-kernel", (87.28, 0.55), (58.24, 2.44), (71.63, 2.19), (73.47, 0.21), (73.07, 0.11)),
    _row("WL kernel", "wl-kernel", (82.05, 0.36), (57.97, 0.49), None, (82.19, 0.18), (82.46, 0.24)),
    _row("DGK", "dgk", (87.44, 2.72), (60.08, 2.55), None, (73.55, 0.51), (73.26, 0.26)),
    _row("GCN", "gcn", (78.69, 6.56), (66.73, 4.65), (80.84, 1.35), (78.39, 1.79), (77.57, 1.79)),
    _row("GIN", "gin", (81.51, 8.47), (54.09, 6.20), (77.70, 2.50), (80.0, 1.40), (70.20, 3.21)),
    _row("DiffPool", "diffpool", (80.00, 6.98), (57.14, 7.11), (80.55, 1.98), (78.88, 3.05), (76.76, 2.38)),
    _row("SortPool", "sortpool", (85.83, 1.66), (58.59, 2.47), (80.41, 1.02), (74.44, 0.47)),
    _row("SAGPool", "sagpool"),
    _row("1-2-3-GNN", "123-gnn", (86.10, 0.0), (60.9, 0.0), None, (76.2, 0.0)),
    _row("3-hop GNN", "3-hop-gnn", (87.56, 0.72), None, None, (80.61, 0.34)),
    _row("Nested GIN", "nested-gin", (87.9, 8.2), (54.1, 7.7), (82.4, 2.0), (78.60, 2.30), (77.2, 2.9)),
    _row("STwin-GNN", "stwin", (90.00, 3.89), (70.33, 5.32), (84.32, 1.48), (84.45, 0.66), (85.37, 0.81)),
    _row("NTwin-GNN", "ntwin", (88.89, 3.74), (72.22, 5.36), (84.63, 3.74), (85.55, 0.97), (85.64, 0.83)),
    *_OURS,
))
TABLE_2 = PaperTable("table2", ("EXP",), (
    _exp("GCN", "gcn", (50.0, 0.0)), _exp("GIN", "gin", (50.0, 0.0)), _exp("PPGN", "ppgn", (50.0, 0.0)),
    _exp("GCN-RNI", "gcn-rni", (98.0, 1.85)), _exp("STwin-GNN", "stwin", (99.50, 0.70)),
    _exp("NTwin-GNN", "ntwin", (99.33, 0.93)), *_OURS,
))
TABLE_3 = {
    "STwin": {"Mutagenicity": (4.99, 0.22), "NCI1": (4.81, 0.20), "NCI109": (4.96, 0.20)},
    "1-WL": {"Mutagenicity": (4.90, 0.23), "NCI1": (4.69, 0.16), "NCI109": (4.73, 0.20)},
}
# fmt: on
"""Seconds to represent all graphs of a set: mean and deviation."""

CASE_COSINES = {"1-WL": 0.9472, "STwin": 0.7577}
"""Of graphs 208 and 1103 of Mutagenicity after two rounds; computed beforehand, the paper prints none."""

TABLES = {table.name: table for table in (TABLE_1, TABLE_2)}
TITLES = {row.method: row.title for table in TABLES.values() for row in table.rows}
"""What a method is called in text, in the order of the tables."""
DATASETS = (*MOLECULES, "EXP")
PAIRS = (("stwin", "wl"), ("stwin-joint", "wl"), ("ntwin", "wl-encoder"), ("stwin-svc", "wl-svc"))
"""A Twin method and 1-WL under the same classifier."""


_GRIDS = ("paper", "compact", None)  # of equally complete ones the first is shown


@dataclass(frozen=True)
class ResultCell(Evaluation):
    """Results of one method on one data set: the folds that are complete.

    Attributes
    ----------
    grid : str or None
        The grid that was searched; None for the default parameters.
    n_folds : int
        Number of folds of one repeat.
    """

    grid: str | None = None
    n_folds: int = 10

    @cached_property
    def by_protocol(self) -> dict[str, Summary]:
        """Protocol to `Summary`; protocols that do not apply to the method are missing."""
        found = {name: self.summary(name) for name in PROTOCOLS}
        return {name: summary for name, summary in found.items() if summary is not None}

    @property
    def n_runs(self) -> int:
        """Number of folds over all repeats."""
        return len(self.by_protocol["fair"].fold_scores)

    @property
    def partial(self) -> bool:
        """Whether folds of a repeat are still missing."""
        return self.n_runs % self.n_folds != 0

    def percent(self, protocol: str = "fair") -> float:
        """Mean accuracy under a protocol, in per cent."""
        return 100 * self.by_protocol[protocol].mean

    @property
    def rise(self) -> float | None:
        """Points from fair to best-fold-epoch; None for a method without epochs."""
        best = "best-fold-epoch"
        return self.percent(best) - self.percent() if best in self.by_protocol else None

    @property
    def seconds(self) -> float:
        """Median time of one fit; not the mean, because the first fit of a process also compiles."""
        return float(np.median([row["seconds"] for row in self.rows]))

    @property
    def without_leaks(self) -> float:
        """Mean accuracy on test graphs without an isomorphic copy in training; a fold may have no copies."""
        scores = [row["scores"] for row in self.rows]
        left = [each.get("accuracy-without-duplicates", each["accuracy"]) for each in scores]
        rows: list[Row] = [{**row, "scores": {"accuracy": score}} for row, score in zip(self.rows, left)]
        return replace(self, rows=rows).by_protocol["fair"].mean


class Results:
    """Stored rows, from which cells are computed; rows with another number of folds are not shown.

    >>> Results([]).cell("MUTAG", "stwin") is None
    True
    """

    def __init__(self, rows: Iterable[Row], n_folds: int = 10) -> None:
        self.rows = list(rows)
        self.n_folds = n_folds

    @classmethod
    def read(cls, stores: Iterable[Path]) -> Results:
        """Read several stores; one that does not exist has no rows."""
        return cls(row for path in stores for row in ResultStore(path).rows())

    @cache  # noqa: B019  (a page reads each cell many times, and exists as long as its results)
    def cell(self, dataset: str, method: str) -> ResultCell | None:
        """Return a cell, or None if there are no complete results."""
        of_folds = self.of_kind(f"{self.n_folds} folds")
        rows = [row for row in of_folds if (row["dataset"], row["method"]) == (dataset, method)]
        return _cell(rows, self.n_folds)

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
    searched: str | None = None
    runs: dict[tuple[int, int], dict[int, Row]] = {}
    for grid in _GRIDS:
        configs = method.configs(grid)
        of_fold: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
        for row in rows:
            if row["config"] in configs:
                of_fold[row["seed"], row["fold"]][configs.index(row["config"])] = row
        whole = {run: each for run, each in sorted(of_fold.items()) if len(each) == len(configs)}
        if len(whole) > len(runs):
            searched, runs = grid if len(configs) > 1 else None, whole
    if not runs:
        return None
    used = [each[place] for each in runs.values() for place in sorted(each)]
    dataset, share = used[0]["dataset"], 1 / (n_folds - 1)
    return ResultCell(
        dataset, method.name, "fair", "accuracy", used, test_share=share, grid=searched, n_folds=n_folds
    )


class TwinAgainstWL(NamedTuple):
    """A Twin method beside 1-WL under the same classifier, over the same folds of one data set."""

    dataset: str
    comparison: PairedComparison

    @property
    def points(self) -> float:
        """The difference of the two figures, as they are shown."""
        twin, wl = self.comparison.means
        return points_between(100 * twin, 100 * wl)

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the corrected test, in points."""
        return 100 * self.comparison.half_width


def twins_against_wl(
    results: Results, datasets: Sequence[str], pairs: Sequence[tuple[str, str]] = PAIRS
) -> list[TwinAgainstWL]:
    """Compare Twin methods with 1-WL on the folds that both have, where none of them is incomplete."""
    found = []
    for pair, dataset in product(pairs, datasets):
        twin, wl = (results.cell(dataset, method) for method in pair)
        if twin and wl and not (twin.partial or wl.partial) and (compared := twin.compared_with(wl)):
            names = TITLES[twin.method], TITLES[wl.method]
            found.append(TwinAgainstWL(dataset, replace(compared, names=names)))
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
