"""The tables of the results page, put together from cells: ours beside the reported figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from twinwl.evaluation.protocols import OPTIMISTIC, PROTOCOLS
from twinwl.evaluation.store import Row
from twinwl.paper.feature_runs import RUNTIME_SETS, compare_runtimes
from twinwl.paper.result_cells import (
    AccuracyCell,
    AccuracyGroup,
    AccuracyLine,
    AccuracyTable,
    ResultCell,
    Results,
    points_between,
    signed,
)
from twinwl.paper.tables import TABLE_3, TABLES, TITLES, PaperTable, Reported, TableRow
from twinwl.report.page import PlainTable, enumerated

if TYPE_CHECKING:
    from twinwl.paper.findings import Closeness, TwinAgainstWL

_TWINS = {"stwin", "ntwin", "stwin-svc", "stwin-joint"}
_ORDER = list(dict.fromkeys(row.method for table in TABLES.values() for row in table.rows))
_NOT_RUN = AccuracyCell(text="not run")


def accuracy_table(table: PaperTable, results: Results) -> AccuracyTable:
    """Put a table of the paper together: each method's readings, then the reported figures.

    Parameters
    ----------
    table
        Its rows and reported figures.
    results
        What was run; cells that were not are marked so.

    >>> from twinwl.paper.tables import TABLES
    >>> from twinwl.paper.result_cells import Results
    >>> accuracy_table(TABLES["table2"], Results([])).groups[0].lines[0].cells[0].text
    'not run'
    """
    columns = list(table.datasets)
    groups = []
    for row in table.rows:
        cells = [results.cell(dataset, row.method) for dataset in columns]
        reported = table.reported.get(row.title, {}) if row.in_paper else {}
        lines = _readings(cells)
        if any(dataset in reported for dataset in columns):
            lines.append(AccuracyLine("paper", "paper", [_reported(reported, name) for name in columns]))
        groups.append(AccuracyGroup(row.title, _note(row, cells), lines, row.method in _TWINS))
    return AccuracyTable(columns, groups)


def runtime_table(rows: Sequence[Row]) -> PlainTable | None:
    """Put table 3 together: seconds of STwin and 1-WL, ours and reported, with the t-test."""
    lines = []
    for dataset in RUNTIME_SETS:
        found = compare_runtimes(rows, dataset)
        if found is None:
            continue
        stwin, wl = np.array(found.stwin), np.array(found.wl)
        lines.append(
            [
                dataset,
                _milliseconds(stwin),
                _milliseconds(wl),
                f"{stwin.mean() / wl.mean():.2f}",
                _p_value(found.p_value),
                f"{len(stwin)} + {len(wl)}",
                _reported_seconds(TABLE_3["STwin"][dataset]),
                _reported_seconds(TABLE_3["1-WL"][dataset]),
            ]
        )
    header = ["", "STwin", "1-WL", "ratio", "p (t-test)", "runs", "paper: STwin", "paper: 1-WL"]
    return PlainTable(header, lines) if lines else None


def significance_table(found: Sequence[TwinAgainstWL]) -> PlainTable:
    """List each Twin method beside 1-WL under the same classifier, with both tests."""
    rows = [
        [
            each.dataset,
            f"{each.comparison.names[0]} against {each.comparison.names[1]}",
            f"{each.twin_mean:.2f}",
            f"{each.wl_mean:.2f}",
            signed(each.points),
            _p_value(each.comparison.t_p_value),
            _p_value(each.comparison.wilcoxon_p_value),
            str(each.comparison.n_folds),
            _who(each),
        ]
        for each in found
    ]
    header = ["", "methods", "Twin", "1-WL", "points", "p (t)", "p (Wilcoxon)", "runs", "verdict"]
    return PlainTable(header, rows, frozenset({1, 8}))


def closeness_table(found: Sequence[Closeness]) -> PlainTable:
    """List our figures beside the reported ones; the points are those of best-fold-epoch."""
    rows = [
        [
            f"{each.title}, {each.dataset}",
            f"{each.fair:.2f}",
            f"{each.ours:.2f}",
            f"{each.reported:.2f} ± {each.reported_std:.2f}",
            signed(points_between(each.ours, each.reported)),
            "yes" if each.within else ("above it" if each.ours > each.reported else "no"),
        ]
        for each in found
    ]
    header = ["", "ours, fair", "ours, best-fold-epoch", "paper", "points", "within one deviation"]
    return PlainTable(header, rows)


def leaks_table(cells: Sequence[ResultCell]) -> PlainTable | None:
    """List accuracy on test graphs without an isomorphic copy in training, and what that changes."""
    without = {(cell.dataset, cell.method): cell.without_leaks for cell in cells}
    shown = [cell for cell in cells if cell.without_leaks is not None]
    copies = {cell.dataset: f"{cell.dataset} ({cell.n_leaked})" for cell in shown}

    def text(cell: ResultCell) -> str:
        left = 100 * (without[cell.dataset, cell.method] or 0.0)
        return f"{left:.2f} ({signed(points_between(left, 100 * cell.readings['fair'].mean))})"

    return by_method(shown, text, copies) if shown else None


def by_method(
    cells: Sequence[ResultCell], text: Callable[[ResultCell], str], headings: Mapping[str, str] | None = None
) -> PlainTable:
    """Lay cells out, one row per method and one column per data set.

    Parameters
    ----------
    cells
        In the order of both.
    text
        What to write for a cell.
    headings
        Of the columns, where a data set's name is not enough.

    >>> by_method([], str)
    PlainTable(header=[''], rows=[], words=frozenset())
    """
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    found = {(cell.method, cell.dataset): text(cell) for cell in cells}
    rows = [
        [TITLES[method], *(found.get((method, dataset), "–") for dataset in datasets)]
        for method in sorted({cell.method for cell in cells}, key=_ORDER.index)
    ]
    return PlainTable(["", *((headings or {}).get(name, name) for name in datasets)], rows)


def _readings(cells: Sequence[ResultCell | None]) -> list[AccuracyLine]:
    lines = []
    for protocol in PROTOCOLS:
        if protocol != "fair" and not any(cell and protocol in cell.readings for cell in cells):
            continue
        label = f"{protocol}, optimistic" if protocol in OPTIMISTIC else protocol
        lines.append(AccuracyLine(protocol, label, [_ours(cell, protocol) for cell in cells]))
    return lines


def _ours(cell: ResultCell | None, protocol: str) -> AccuracyCell:
    if cell is None:
        return _NOT_RUN
    reading = cell.readings.get(protocol)
    if reading is None:
        return AccuracyCell(text="–", note="no epochs to choose among")
    runs = f"{cell.n_runs} of {cell.n_folds}" if cell.partial else str(cell.n_runs)
    searched = f"{cell.grid} grid of {cell.n_configs}" if cell.grid else "one configuration"
    note = f"{protocol}, {runs} folds, {searched}, {cell.seconds:.2f} s a fit"
    return AccuracyCell(100 * reading.mean, 100 * reading.std, runs, note=note)


def _reported(reported: Mapping[str, Reported], dataset: str) -> AccuracyCell:
    if dataset not in reported:
        return AccuracyCell(text="–", note="not reported")
    return AccuracyCell(*reported[dataset], note="as reported in the paper")


def _note(row: TableRow, cells: Sequence[ResultCell | None]) -> str:
    """Say what the figures do not show: that a row is ours, and on which data sets a grid was searched."""
    searched: dict[str | None, list[str]] = defaultdict(list)
    for cell in cells:
        if cell is not None:
            searched[cell.grid].append(cell.dataset)
    notes = [] if row.in_paper else ["not in the paper"]
    for grid in sorted(filter(None, searched)):
        where = f" on {enumerated(searched[grid])}" if len(searched) > 1 else ""
        notes.append(f"{grid} grid{where}")
    return " · ".join(notes)


def _who(each: TwinAgainstWL) -> str:
    if not each.comparison.significant:
        return "may be chance"
    return "Twin is better" if each.comparison.difference > 0 else "1-WL is better"


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"  # noqa: PLR2004


def _milliseconds(seconds: np.ndarray) -> str:
    return f"{1000 * seconds.mean():.1f} ± {1000 * seconds.std():.1f} ms"


def _reported_seconds(reported: Reported) -> str:
    return f"{reported.mean:.2f} ± {reported.std:.2f} s"
