"""The result of an evaluation: the stored rows, and their summary under each protocol."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from twinwl.errors import TwinWLError, import_extra
from twinwl.evaluation.metrics import METRICS, WITHOUT_COPIES, Task, names_for, of_task
from twinwl.evaluation.protocols import PROTOCOLS, Summary, summarise

if TYPE_CHECKING:
    import pandas as pd

    from twinwl.evaluation.significance import PairedComparison
    from twinwl.evaluation.store import Row

_CLASSES = Task("classification", "")


class Record(TypedDict, total=False):
    """One row of the table of an evaluation; it has a ``task`` if there are several, "" for their mean.

    It has a ``positive`` class if there are two classes, "" where the metric is not about it.
    """

    dataset: str
    method: str
    inputs: str
    protocol: str
    optimistic: bool
    metric: str
    mean: float
    std: float
    n_folds: int
    task: str
    positive: str


@dataclass(frozen=True)
class Evaluation:
    """All results of one method on one data set, and their summary under each protocol.

    Attributes
    ----------
    dataset, method, protocol, metric : str
        What was evaluated, and how the headline is read.
    rows : list of dict
        The stored results.
    task : Task
        Classification or regression, and why.
    split : str
        How the graphs were split, in words.
    positive : str or None
        The positive one of two classes.
    """

    dataset: str
    method: str
    protocol: str
    metric: str
    rows: list[Row]
    task: Task = _CLASSES
    split: str = ""
    positive: str | None = None

    def summary(self, protocol: str | None = None, metric: str | None = None) -> Summary | None:
        """Summarise the results under a protocol; None if it does not apply (a method without epochs)."""
        protocol = self.protocol if protocol is None else protocol
        return summarise(self.rows, protocol, self.metric if metric is None else metric)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, if there are several; the main figures are means over them."""
        return tuple(self.rows[0].get("tasks", ())) if self.rows else ()

    @property
    def inputs(self) -> str:
        """What the method used besides the structure of the graphs; configurations may differ in it."""
        return " or ".join(dict.fromkeys(_in_words(row.get("inputs")) for row in self.rows))

    @property
    def fold_scores(self) -> tuple[float, ...]:
        """Scores of the folds under the chosen protocol."""
        return self._headline.fold_scores

    @property
    def mean(self) -> float:
        """Mean under the chosen protocol, over the folds where the metric is defined."""
        return self._headline.mean

    @property
    def std(self) -> float:
        """Standard deviation over folds under the chosen protocol."""
        return self._headline.std

    @property
    def _headline(self) -> Summary:
        summary = self.summary()
        if summary is None:
            raise TwinWLError(f"{self.method} has no epochs, so {self.protocol!r} says nothing; use 'fair'")
        return summary

    @property
    def n_leaked(self) -> int:
        """Number of test graphs, over all folds of one repeat, with an isomorphic copy in training."""
        first = {row["fold"]: row["n_leaked"] for row in self.rows if row["seed"] == self.rows[0]["seed"]}
        return sum(first.values())

    @property
    def metrics(self) -> list[str]:
        """The metrics, the main one first; some may be undefined on some folds."""
        asked = self.rows[0]["metrics"] if self.rows else []
        others = [name for name in asked if all(name in row["metrics"] for row in self.rows)]
        return list(dict.fromkeys([self.metric, *others]))

    def to_records(self) -> list[Record]:
        """Return one record per protocol and metric that applies.

        ``n_folds`` counts the folds that the mean is over: those where the metric is defined. It is NaN where
        there are none. Of several tasks there are also records for each.
        """
        readings = [("fair", metric, "") for metric in self.metrics]
        readings += [("fair", metric, task) for task in self.tasks for metric in self.metrics]
        readings += [(protocol, "accuracy", "") for protocol in PROTOCOLS[1:]]
        records: list[Record] = []
        for protocol, metric, task in readings:
            summary = self.summary(protocol, of_task(metric, task) if task else metric)
            if summary is not None:
                of: Record = {"task": task} if self.tasks else {}
                if self.positive is not None:
                    of["positive"] = self.positive if METRICS[metric].of_positive else ""
                records.append(
                    {
                        "dataset": self.dataset,
                        "method": self.method,
                        "inputs": self.inputs,
                        "protocol": protocol,
                        "optimistic": summary.optimistic,
                        "metric": metric,
                        "mean": summary.mean,
                        "std": summary.std,
                        "n_folds": len(summary.defined),
                        **of,
                    }
                )
        return records

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a pandas DataFrame.

        From there all of pandas is at hand, as ``to_csv`` and ``to_latex``; ``pandas.concat`` puts the frames
        of several evaluations into one table.
        """
        return import_extra("pandas", None).DataFrame(self.to_records())

    def to_dict(self) -> dict[str, object]:
        """Return all figures as plain values, also those of each fold; None where a metric is undefined."""
        fair = {name: _reading(self.summary("fair", name)) for name in self.metrics}
        of_tasks = {
            task: {name: _reading(self.summary("fair", of_task(name, task))) for name in self.metrics}
            for task in self.tasks
        }
        metric_of = dict.fromkeys(PROTOCOLS, "accuracy") | {"fair": self.metric}
        return {
            "dataset": self.dataset,
            "method": self.method,
            "inputs": self.inputs,
            "task": self.task.name,
            **({} if self.positive is None else {"positive": self.positive}),
            "split": self.split,
            "headline": self.protocol,
            "n_leaked": self.n_leaked,
            "fair": {name: None if one is None else one["mean"] for name, one in fair.items()},
            "metrics": fair,
            **({"tasks": of_tasks} if self.tasks else {}),
            "protocols": {name: _reading(self.summary(name, metric)) for name, metric in metric_of.items()},
        }

    def compared_with(self, other: Evaluation) -> PairedComparison | None:
        """Compare with another method on the same folds, where the main metric is defined for both.

        Returns
        -------
        PairedComparison or None
            None if there are fewer than two such folds: one says nothing about chance.
        """
        from twinwl.evaluation.significance import compare_scores  # noqa: PLC0415  (scipy.stats is slow to load)

        if not isinstance(other, Evaluation) or len(other.fold_scores) != len(self.fold_scores):
            raise TwinWLError(
                "compared_with needs an Evaluation on the same folds; evaluate both with the same split"
            )
        pairs = np.column_stack([self.fold_scores, other.fold_scores])
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        names = (self.method, other.method)
        return compare_scores(pairs[:, 0], pairs[:, 1], names, metric=self.metric) if len(pairs) > 1 else None

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import evaluation_html  # noqa: PLC0415  (on demand)

        return evaluation_html(self)

    def __str__(self) -> str:
        headline = names_for(self.task.name)[0]
        lines = [f"{self.method} on {self.dataset}"]
        lines += [f"  {self.task}"] * bool(self.task.reason)
        lines += [f"  {self.split}"] * bool(self.split)
        lines += [f"  inputs: {self.inputs}"] * bool(self.rows)
        lines += [self._line("fair", metric) for metric in self.metrics]
        lines += self._about_tasks()
        for protocol in PROTOCOLS[1:] if headline == "accuracy" and not self.tasks else ():
            if (
                self.summary(protocol, "accuracy") is not None
            ):  # a method without epochs has only fair figures
                lines.append(self._line(protocol, "accuracy"))
        if self.n_leaked:
            kept = [row["scores"].get(headline + WITHOUT_COPIES) for row in self.rows]
            known = [score for score in kept if score is not None]
            mean = METRICS[headline].text(float(np.mean(known))) if known else ""
            without = f"; {headline} without them {mean}" if known else ""
            lines.append(f"  {self.n_leaked} test graphs have an isomorphic copy in training{without}")
        return "\n".join(lines)

    def _line(self, protocol: str, metric: str) -> str:
        summary = self.summary(protocol, metric)
        assert summary is not None  # noqa: S101  (only lines that have a figure are printed)
        remarks = summary.remarks
        if METRICS[metric].of_positive and self.positive is not None:
            remarks += f"; positive class: {self.positive}"
        return f"  {metric:<17}  {summary.figure} ({remarks})"

    def _about_tasks(self) -> list[str]:
        """Say that the figures are means, show those of each task, and say where one was left out."""
        if not self.tasks:
            return []
        ranked = [name for name in self.metrics if name in {"roc-auc", "average-precision", "rmse", "r2"}]
        shown = list(dict.fromkeys([self.metric, *ranked]))
        lines = [f"  means over {len(self.tasks)} tasks, each on the graphs whose target is known:"]
        for task in self.tasks:
            found = [(name, self.summary("fair", of_task(name, task))) for name in shown]
            figures = ", ".join(
                f"{METRICS[name].titled(self.positive)} {one.figure}" for name, one in found if one
            )
            lines.append(f"    {task}: {figures}")
        for name in shown:
            scores = {task: self.summary("fair", of_task(name, task)) for task in self.tasks}
            gaps = {
                task: len(one.fold_scores) - len(one.defined)
                for task, one in scores.items()
                if one is not None
            }
            lacking = ", ".join(f"{task} ({count})" for task, count in gaps.items() if count)
            if lacking:
                title = METRICS[name].title
                lines.append(f"  {title} of folds whose test graphs lack a class is left out: {lacking}")
        return lines


def _in_words(inputs: list[str] | None) -> str:
    if inputs is None:
        return "not recorded"
    return ", ".join(name.replace("_", " ") for name in inputs) or "structure only"


def _reading(summary: Summary | None) -> dict[str, object] | None:
    if summary is None:
        return None
    return {
        "metric": summary.metric,
        "mean": _number(summary.mean),
        "std": _number(summary.std),
        "folds": [_number(score) for score in summary.fold_scores],
        "configs": summary.configs,
        "optimistic": summary.optimistic,
    }


def _number(score: float) -> float | None:
    """Return a score for JSON: None, written as null, if it is undefined."""
    return None if math.isnan(score) else score


def latex_table(results: Sequence[Evaluation]) -> str:
    """Return one row per method and one column per metric, for the package booktabs."""
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    titles = [METRICS[name].titled(results[0].positive) + " (%)" * METRICS[name].percent for name in metrics]
    lines = [["method", "inputs", *map(_escaped, titles)]]
    for result in results:
        found = {name: result.summary("fair", name) for name in result.metrics}
        cells = ["--" if (summary := found.get(name)) is None else summary.figure for name in metrics]
        lines.append([_escaped(result.method), result.inputs, *cells])
    head, *body = [" & ".join(line).replace("±", r"$\pm$").replace("²", "$^2$") + r" \\" for line in lines]
    about = f"% {results[0].dataset}, fair protocol: mean and standard deviation over folds"
    columns = "ll" + "r" * len(metrics)
    rows = [about, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*rows, r"\bottomrule", r"\end{tabular}", ""])


def _escaped(text: str) -> str:
    return re.sub(r"([_%&#$])", r"\\\1", text)
