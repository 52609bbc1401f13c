"""A data set's own ceiling: how good any function of what 1-WL or a readout sees could be on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import FLAG, ROUNDS, checked, one_of
from twinwl.arrays import Bool, Int64, Values
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, setting, shown, warn_caller
from twinwl.evaluation.metrics import task_of
from twinwl.evaluation.result import Rendered
from twinwl.graphs.batch import GraphBatch, labels_only
from twinwl.graphs.coercion import GraphsLike
from twinwl.isomorphism.deduplication import deduplicate, wl_groups
from twinwl.isomorphism.hashing import graph_keys
from twinwl.isomorphism.readouts import resolve
from twinwl.terminal import ProgressBar, aligned

WL, ISOMORPHISM = "1-WL", "isomorphism"


class CeilingRow(NamedTuple):
    """What any function of what a test sees could reach.

    Attributes
    ----------
    seen_by : str
        ``"1-WL"``, a readout, or ``"isomorphism"``: the graph as it is, but for the order of its nodes.
    best : float
        Highest possible accuracy, or lowest possible RMSE.
    n_distinct : int
        Number of groups of graphs that look different.
    n_mixed : int
        Graphs that look like a graph with another target.
    n_alone : int
        Graphs that look like no other.
    """

    seen_by: str
    best: float
    n_distinct: int
    n_mixed: int
    n_alone: int


@dataclass(frozen=True, eq=False)
class Ceiling(Rendered):
    """What `ceiling` found.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    metric : str
        ``"accuracy"`` or ``"rmse"``.
    n_graphs : int
    n_iter : int or None
        Number of rounds.
    baseline : float
        Without looking at the graphs: accuracy of the largest class, RMSE of the mean.
    rows : list of CeilingRow
        1-WL, the readouts in the order asked for, isomorphism.
    """

    task: str
    metric: str
    n_graphs: int
    n_iter: int | None
    baseline: float
    rows: list[CeilingRow]

    def row(self, seen_by: str) -> CeilingRow:
        """Return the row of 1-WL (``"1-WL"``), of a readout, or of ``"isomorphism"``."""
        places = [row.seen_by for row in self.rows]
        return self.rows[places.index(checked("seen_by", seen_by, one_of(*places)))]

    @property
    def verdict(self) -> str:
        """Say whether seeing more than 1-WL can help at all."""
        wl, exact = self.row(WL).best, self.row(ISOMORPHISM).best
        if self.task == "classification":
            gain, low, high = 100 * (exact - wl), f"{100 * wl:.2f} %", f"{100 * exact:.2f} %"
            text = f"1-WL could reach {low}, and no function of the graphs can reach more than {high}"
        else:
            gain = wl - exact
            text = (
                f"1-WL could reach an RMSE of {wl:.4g}, and no function of the graphs less than {exact:.4g}"
            )
        if gain <= 0:
            return f"{text}: telling more graphs apart than 1-WL does cannot help here."
        unit = " points" if self.task == "classification" else ""
        return f"{text}: telling more graphs apart than 1-WL does can gain {gain:.3g}{unit} at most."

    def to_records(self) -> list[dict[str, object]]:
        """Return one dictionary per row."""
        return [row._asdict() for row in self.rows]

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {**asdict(self), "rows": self.to_records(), "verdict": self.verdict}

    def _bars(self) -> dict[str, float]:
        return {row.seen_by: row.best for row in self.rows}

    @property
    def _title(self) -> str:
        return self.verdict

    def table(self) -> list[list[str]]:
        """Return the rows as text, the header first."""
        header = ["seen by", f"best {self.metric}", "look different", "look like another target", "alone"]
        none = [["nothing", self._text(self.baseline), "1", f"{self.n_graphs:,}", "0"]]
        rows = [
            [row.seen_by, self._text(row.best), *(f"{number:,}" for number in row[2:])] for row in self.rows
        ]
        return [header, *none, *rows]

    def _text(self, value: float) -> str:
        return f"{100 * value:.2f} %" if self.task == "classification" else f"{value:.4g}"

    def __repr__(self) -> str:
        found = ", ".join(f"{row.seen_by}: {self._text(row.best)}" for row in self.rows)
        return f"Ceiling({self.metric} of {self.n_graphs:,} graphs; {found})"

    def __str__(self) -> str:
        return f"{aligned(self.table())}\n{self.verdict}"


def ceiling(
    graphs: GraphsLike,
    y: object,
    readout: Any = "size",  # noqa: ANN401  (a readout of `compare`, or a list of them)
    n_iter: int | None = None,
    *,
    task: str = "auto",
    edge_labels: bool | None = None,
    ignore_features: bool = False,
) -> Ceiling:
    """Return the best accuracy that any function of what 1-WL or a readout sees could have on this data.

    Graphs that look alike but differ in class cannot all be right, so of each group of graphs that look alike
    at most the most frequent class counts. Targets that are numbers have a lowest possible RMSE instead. No
    model is trained, and no model on the same input can do better. If 1-WL has the ceiling of isomorphism, a
    more expressive method cannot gain anything by telling more graphs apart, although it may still be easier
    to learn with. A high ceiling says nothing about what can be learnt: graphs that look like no other can be
    known by heart.

    Parameters
    ----------
    graphs
        A batch, or anything `twinwl.as_batch` accepts.
    y : array-like, shape (n_graphs,)
        Classes or numbers.
    readout
        As in `twinwl.compare`; a list gives one row for each entry (an entry that is a tuple is several
        readouts at once). Two graphs look alike if they have equal multisets of (colour, readout) in all
        rounds.
    n_iter
        Number of rounds; None runs until nothing changes, as `twinwl.graph_hash` does.
    task
        ``"classification"``, ``"regression"`` or ``"auto"``, which decides by the targets.
    edge_labels
        Whether to use edge labels, as in the estimators: None ignores them, with a warning if edges have
        different labels; False ignores them without one.
    ignore_features
        Whether to ignore continuous node features; otherwise graphs with features are an error.

    Returns
    -------
    Ceiling

    Examples
    --------
    >>> import twinwl as tw
    >>> data = tw.load_dataset("TWINS", n_pairs=20)
    >>> print(tw.ceiling(data.graphs, data.y))  # doctest: +NORMALIZE_WHITESPACE
    seen by      best accuracy  look different  look like another target  alone
    nothing            50.00 %               1                        40      0
    1-WL               50.00 %              20                        40      0
    size              100.00 %              40                         0     40
    isomorphism       100.00 %              40                         0     40
    1-WL could reach 50.00 %, and no function of the graphs can reach more than 100.00 %: telling more graphs
    apart than 1-WL does can gain 50 points at most.
    """
    n_iter = checked("n_iter", n_iter, ROUNDS, None)
    choices = list(readout) if isinstance(readout, list) else [readout]
    readouts = {" + ".join(part.name for part in parts): parts for parts in map(resolve, choices)}
    data = Dataset.from_graphs(graphs, y)
    batch, targets = labels_only(data.graphs, ignore_features=ignore_features), data.targets
    if data.tasks:
        raise TwinWLError(
            f"y: got {len(data.tasks)} columns, expected one target per graph; give one of them"
        )
    if not len(batch):
        raise TwinWLError("graphs: got no graphs, expected at least two")
    if not checked("edge_labels", edge_labels, FLAG, None):
        if edge_labels is None and batch.has_different_edge_labels:
            warn_caller(
                f"models ignore edge labels unless {setting(edge_labels=True)} is given, and so does their "
                f"ceiling; {setting(edge_labels=False)} silences this"
            )
        batch = batch.without_edge_labels()
    kind = task_of(targets, task).name
    score = _accuracy if kind == "classification" else _rmse
    rows = []
    with ProgressBar("grouping graphs", len(readouts) + 2) as bar:
        for seen_by, groups in _groupings(batch, readouts, n_iter):
            size = np.bincount(groups)
            mixed = _mixed(groups, targets)
            rows.append(
                CeilingRow(
                    seen_by, score(groups, targets), len(size), int(size[mixed].sum()), int((size == 1).sum())
                )
            )
            bar.advance()
    nothing = np.zeros(len(batch), np.int64)
    metric = "accuracy" if kind == "classification" else "rmse"
    return Ceiling(kind, metric, len(batch), n_iter, score(nothing, targets), rows)


def _groupings(
    batch: GraphBatch, readouts: dict[str, Any], n_iter: int | None
) -> Iterator[tuple[str, Int64]]:
    """Yield, for each way to look at them, the number of the group that each graph is in."""
    yield WL, wl_groups(batch, n_iter)
    for name, parts in readouts.items():
        keys = graph_keys(batch, n_iter, parts)
        yield name, np.unique(keys, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    yield ISOMORPHISM, deduplicate(batch).labels


def _mixed(groups: Int64, targets: Values) -> Bool:
    """Return, for each group, whether it has more than one target."""
    codes = np.unique(targets, return_inverse=True)[1].ravel()
    group_of_kind = np.unique(np.stack([groups, codes]), axis=1)[0]
    return np.bincount(group_of_kind, minlength=int(groups.max(initial=-1)) + 1) > 1


def _accuracy(groups: Int64, targets: Values) -> float:
    """Return the share of graphs that have the most frequent class of their group."""
    codes = np.unique(targets, return_inverse=True)[1].ravel()
    kinds, counts = np.unique(np.stack([groups, codes]), axis=1, return_counts=True)
    best = np.zeros(int(groups.max()) + 1, np.int64)
    np.maximum.at(best, kinds[0], counts)
    return float(best.sum() / len(groups))


def _rmse(groups: Int64, targets: NDArray[Any]) -> float:
    """Return the root mean square distance of the targets from the mean of their group."""
    values = targets.astype(np.float64)
    with np.errstate(all="ignore"):
        mean = np.bincount(groups, values) / np.bincount(groups)
        rmse = float(np.sqrt(np.mean((values - mean[groups]) ** 2)))
    if not np.isfinite(rmse):
        raise TwinWLError(
            f"y: got {shown(values.tolist())}, expected finite numbers whose squares are finite"
        )
    return rmse
