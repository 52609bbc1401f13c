"""Three protocols, computed from the same training curves: a fair one and two optimistic ones.

Every result names its protocol. ``fair`` chooses configuration and epoch on the inner hold-out and uses the
test fold once. The other two choose by test accuracy; they are shown because many published figures do so,
and are marked as optimistic. A curve that ended by early stopping is continued with its last value.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import NAME, checked, one_of
from twinwl.arrays import Float64
from twinwl.errors import TwinWLError
from twinwl.evaluation.metrics import METRICS, WITHOUT_COPIES

if TYPE_CHECKING:
    from twinwl.evaluation.store import Row

PROTOCOLS = ("fair", "best-epoch", "best-fold-epoch")
OPTIMISTIC = frozenset({"best-epoch", "best-fold-epoch"})


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation over folds of one method on one data set, under one protocol.

    Attributes
    ----------
    protocol : str
    metric : str
    fold_scores : tuple of float
        One score per fold, ordered by seed, then fold; NaN if the metric is undefined, such as a ROC-AUC if
        all test graphs have the same class.
    configs : tuple of dict
        The configuration of each score.
    """

    protocol: str
    metric: str
    fold_scores: tuple[float, ...]
    configs: tuple[dict[str, object], ...]

    @property
    def mean(self) -> float:
        """Mean over the folds where the metric is defined; NaN if there are none."""
        return float(np.mean(self.defined)) if self.defined else math.nan

    @property
    def std(self) -> float:
        """Standard deviation over these folds."""
        return float(np.std(self.defined)) if self.defined else math.nan

    @property
    def defined(self) -> list[float]:
        """The scores of the folds where the metric is defined."""
        return [score for score in self.fold_scores if not math.isnan(score)]

    @property
    def optimistic(self) -> bool:
        """Whether the protocol chooses by test scores."""
        return self.protocol in OPTIMISTIC

    @property
    def figure(self) -> str:
        """Mean and standard deviation as tables show them; one fold has no deviation."""
        metric = METRICS[self.metric.partition("@")[0].removesuffix(WITHOUT_COPIES)]
        return metric.text(self.mean, None if len(self.fold_scores) == 1 else self.std)

    @property
    def remarks(self) -> str:
        """What to know beside the figure: the protocol, whether it is optimistic, folds without a score."""
        marks = [self.protocol] + ["optimistic"] * self.optimistic
        n_folds, n_defined = len(self.fold_scores), len(self.defined)
        if n_defined < n_folds:
            marks.append(f"undefined in {n_folds - n_defined} of {n_folds} folds")
        if n_folds == 1:
            marks.append("one fold")
        return ", ".join(marks)

    def __str__(self) -> str:
        return f"{self.figure} ({self.metric}, {self.remarks})"


def check_protocol(protocol: str) -> None:
    """Refuse an unknown protocol and suggest the nearest known one."""
    checked("protocol", protocol, one_of(*PROTOCOLS))


def summarise(rows: Sequence[Row], protocol: str, metric: str = "accuracy") -> Summary | None:
    """Summarise the results of one method on one data set under a protocol.

    Parameters
    ----------
    rows
        Stored results: every configuration on every fold. Folds that lack a configuration are refused.
    protocol
        ``"fair"``, ``"best-epoch"`` or ``"best-fold-epoch"``.
    metric
        Name of the score, of one task ``metric@task``; the optimistic protocols support only accuracy.

    Returns
    -------
    Summary or None
        None for optimistic protocols if the method has no epochs.
    """
    check_protocol(protocol)
    metric = checked("metric", metric, NAME)
    if not rows:
        raise TwinWLError("there are no results to summarise; run the evaluation first")
    by_fold = _by_fold(rows)
    if protocol == "fair":
        return _fair(by_fold, metric)
    if metric != "accuracy" or any("test" not in row["curves"] for row in rows):
        return None
    return _by_test(by_fold, protocol)


def _by_fold(rows: Sequence[Row]) -> dict[tuple[int, int], list[Row]]:
    """Group rows by (seed, fold), each group in the order in which configurations first appear."""
    order: dict[str, int] = {}
    groups: dict[tuple[int, int], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        config = json.dumps(row["config"], sort_keys=True)
        order.setdefault(config, len(order))
        groups[row["seed"], row["fold"]][config] = row
    for (seed, fold), group in groups.items():
        if len(group) != len(order):
            raise TwinWLError(
                f"fold {fold} of seed {seed} has {len(group)} of {len(order)} configurations; "
                "finish the evaluation before summarising it"
            )
    return {key: [groups[key][config] for config in order] for key in sorted(groups)}


def _fair(by_fold: dict[tuple[int, int], list[Row]], metric: str) -> Summary:
    """Choose the configuration by the inner hold-out; in a tie, the first one of the grid."""
    scores, configs = [], []
    for group in by_fold.values():
        best = group[0] if len(group) == 1 else max(group, key=_on_hold_out)
        if metric.partition("@")[0] not in {*best["scores"], *best.get("metrics", ())}:
            raise TwinWLError(f"the results have no {metric!r}; evaluate again with this metric")
        scores.append(best["scores"].get(metric, math.nan))  # asked for and not there: not defined
        configs.append(best["config"])
    return Summary("fair", metric, tuple(scores), tuple(configs))


def _on_hold_out(row: Row) -> float:
    score = row["validation_score"]
    if score is None:
        raise TwinWLError(
            "several configurations, but no hold-out scores to choose by; evaluate them together"
        )
    return METRICS[row.get("scoring", "accuracy")].sign * score


def _by_test(by_fold: dict[tuple[int, int], list[Row]], protocol: str) -> Summary:
    """Choose configuration and epoch by test accuracy, over all folds together or for each fold."""
    best: Summary | None = None
    for place in range(len(next(iter(by_fold.values())))):
        rows = [group[place] for group in by_fold.values()]
        curves = _carried_on([row["curves"]["test"] for row in rows])
        if protocol == "best-epoch":
            scores = curves[:, int(curves.mean(axis=0).argmax())]
        else:
            scores = curves.max(axis=1)
        candidate = Summary(
            protocol, "accuracy", tuple(scores.tolist()), tuple(row["config"] for row in rows)
        )
        if best is None or candidate.mean > best.mean:
            best = candidate
    assert best is not None  # noqa: S101  (there is at least one configuration)
    return best


def _carried_on(curves: list[list[float]]) -> Float64:
    """Stack curves of different lengths; shorter ones are continued with their last value."""
    longest = max(len(curve) for curve in curves)
    return np.array([curve + curve[-1:] * (longest - len(curve)) for curve in curves])
