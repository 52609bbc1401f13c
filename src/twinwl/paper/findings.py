"""Sentences about the results, generated from the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from twinwl.evaluation.protocols import OPTIMISTIC
from twinwl.evaluation.significance import PairedComparison, compare_scores
from twinwl.paper.result_cells import points_between, signed
from twinwl.paper.tables import PAIRS, TABLES, TITLES
from twinwl.report.page import counted, enumerated

if TYPE_CHECKING:
    from twinwl.paper.result_cells import ResultCell, Results

PROTOCOL_SENTENCE = (
    "The columns differ in how configuration and epoch are chosen: in “fair” on a tenth of each training "
    "part, without the test fold; in “best-fold-epoch” by the accuracy on each test fold itself, so the "
    "figure is optimistic."
)


class TwinAgainstWL(NamedTuple):
    """A Twin method beside 1-WL under the same classifier, over the same folds of one data set.

    Attributes
    ----------
    dataset, twin, wl : str
    twin_mean, wl_mean : float
        Fair accuracy over these folds, in per cent.
    comparison : PairedComparison
    half_width : float
        Half of the 95 % interval around the difference, in points.
    """

    dataset: str
    twin: str
    wl: str
    twin_mean: float
    wl_mean: float
    comparison: PairedComparison
    half_width: float

    @classmethod
    def on_folds(
        cls, dataset: str, pair: tuple[str, str], ours: Sequence[float], theirs: Sequence[float], n_folds: int
    ) -> TwinAgainstWL:
        """Compare the scores of both methods of a pair on the same folds, of ``n_folds`` per seed."""
        share = 1 / (n_folds - 1)
        names = TITLES[pair[0]], TITLES[pair[1]]
        means = (100 * sum(ours) / len(ours), 100 * sum(theirs) / len(theirs))
        comparison = compare_scores(ours, theirs, names, test_share=share)
        return cls(dataset, *pair, *means, comparison, _half_width(ours, theirs, share))

    @property
    def points(self) -> float:
        """The difference of the two figures, as they are shown."""
        return points_between(self.twin_mean, self.wl_mean)

    @property
    def better(self) -> bool:
        """Whether the Twin is ahead, and not by chance."""
        return self.comparison.significant and self.comparison.difference > 0

    @property
    def worse(self) -> bool:
        """Whether the Twin is behind, and not by chance."""
        return self.comparison.significant and self.comparison.difference < 0


class Closeness(NamedTuple):
    """Our best-fold-epoch and fair figures beside the reported one, in per cent."""

    dataset: str
    title: str
    ours: float
    fair: float
    reported: float
    reported_std: float

    @property
    def within(self) -> bool:
        """Whether ours lies within one reported standard deviation."""
        return abs(self.ours - self.reported) <= self.reported_std

    @property
    def fair_within(self) -> bool:
        """Whether the fair figure does."""
        return abs(self.fair - self.reported) <= self.reported_std


def twins_against_wl(
    results: Results, datasets: Sequence[str], pairs: Sequence[tuple[str, str]] = PAIRS
) -> list[TwinAgainstWL]:
    """Compare Twin methods with 1-WL, where both ran on the same folds."""
    found = []
    for twin, wl in pairs:
        for dataset in datasets:
            first, second = results.cell(dataset, twin), results.cell(dataset, wl)
            if first is None or second is None:
                continue
            ours, theirs = _on_shared_folds(first, second)
            if len(ours) < 2:  # noqa: PLR2004
                continue
            found.append(TwinAgainstWL.on_folds(dataset, (twin, wl), ours, theirs, results.n_folds))
    return found


def verdict(found: Sequence[TwinAgainstWL]) -> list[str]:
    """Say for each pair of methods on which data sets Twin is better, worse, or not significantly different.

    >>> verdict([])
    []
    """
    sentences = []
    for pair in dict.fromkeys((each.twin, each.wl) for each in found):
        mine = [each for each in found if (each.twin, each.wl) == pair]
        parts = [
            f"{what} {enumerated([_with_points(each) for each in those])}"
            for what, those in (
                ("better on", [each for each in mine if each.better]),
                ("worse on", [each for each in mine if each.worse]),
                ("no significant difference on", [each for each in mine if not each.comparison.significant]),
            )
            if those
        ]
        sentences.append(f"{TITLES[pair[0]]} against {TITLES[pair[1]]}: {'; '.join(parts)}.")
    return sentences


def no_help(found: Sequence[TwinAgainstWL]) -> str | None:
    """Name the data sets on which no Twin is significantly better; None if there are none.

    >>> no_help([]) is None
    True
    """
    datasets = dict.fromkeys(each.dataset for each in found)
    helped = {each.dataset for each in found if each.better}
    vain = [name for name in datasets if name not in helped]
    if not vain:
        return None
    return (
        f"On {enumerated(vain)} no Twin is significantly better than 1-WL under the same classifier: on "
        "these folds, it does not help."
    )


def closeness_to_paper(results: Results) -> list[Closeness]:
    """Set our most optimistic reading of STwin-GNN and NTwin-GNN beside each reported figure."""
    found = []
    for name in ("table1", "table2"):
        table = TABLES[name]
        for title, method in (("STwin-GNN", "stwin"), ("NTwin-GNN", "ntwin")):
            for dataset in table.datasets:
                cell = results.cell(dataset, method)
                if cell is None or cell.partial or "best-fold-epoch" not in cell.readings:
                    continue
                reported = table.reported[title][dataset]
                ours, fair = (100 * cell.readings[name].mean for name in ("best-fold-epoch", "fair"))
                found.append(Closeness(dataset, title, ours, fair, *reported))
    return found


def protocol_gap(cells: Sequence[ResultCell]) -> str | None:
    """Describe the effect of the protocol: the mean rise from fair to best-fold-epoch.

    >>> protocol_gap([]) is None
    True
    """
    rises = protocol_rises(cells)
    if not rises:
        return None
    datasets = dict.fromkeys(cell.dataset for cell in cells if cell.readings.keys() >= OPTIMISTIC)
    mean = sum(rises) / len(rises)
    return (
        f"Over {counted(len(rises), 'cell')} on {enumerated(list(datasets))}, choosing the epoch on each "
        f"test fold raises the accuracy by {mean:.1f} points on average (from {min(rises):.1f} to "
        f"{max(rises):.1f}), with the same models on the same folds."
    )


def protocol_rises(cells: Sequence[ResultCell]) -> list[float]:
    """Return by how many points best-fold-epoch lies above fair, for each cell with epochs.

    >>> protocol_rises([])
    []
    """
    return [
        100 * (cell.readings["best-fold-epoch"].mean - cell.readings["fair"].mean)
        for cell in cells
        if cell.readings.keys() >= OPTIMISTIC
    ]


def _with_points(each: TwinAgainstWL) -> str:
    return f"{each.dataset} ({signed(each.points)})"


def _half_width(first: Sequence[float], second: Sequence[float], share: float) -> float:
    """Return half of the 95 % interval that belongs to the corrected t-test, in points."""
    difference = np.subtract(first, second)
    n = len(difference)
    error = float(difference.std(ddof=1)) * np.sqrt(1 / n + share)
    return float(100 * error * stats.t.ppf(0.975, df=n - 1))


def _on_shared_folds(first: ResultCell, second: ResultCell) -> tuple[list[float], list[float]]:
    of_first = dict(zip(first.runs, first.readings["fair"].fold_scores, strict=True))
    of_second = dict(zip(second.runs, second.readings["fair"].fold_scores, strict=True))
    shared = [run for run in first.runs if run in of_second]
    return [of_first[run] for run in shared], [of_second[run] for run in shared]
