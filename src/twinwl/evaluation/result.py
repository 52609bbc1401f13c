"""The result of an evaluation: the stored rows, their summary under each protocol, and paired comparisons.

Three protocols are computed from the same training curves; every result names its own. ``fair`` chooses
configuration and epoch on the inner hold-out and uses the test fold once. The other two choose by test
accuracy; they are shown because many published figures do so, and are marked as optimistic. A curve that
ended by early stopping is continued with its last value.

The store holds JSON lines, one per finished fold. One process writes to a store at a time: it holds a lock of
the operating system, which the system releases when the process ends for any reason. Reading needs no lock. A
process that is killed while writing leaves at most one broken last line, which readers skip and after which
the next writer starts a new line.
"""

from __future__ import annotations

import contextlib
import json
import math
import numbers
import os
import platform
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from twinwl.arguments import NAME, PATH, checked, one_of
from twinwl.arrays import Float64
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, import_extra, warn_caller
from twinwl.files.storage import lock
from twinwl.models.metrics import METRICS, WITHOUT_COPIES, names_for, of_task
from twinwl.models.targets import Task

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from twinwl.report.page import Page

FORMAT = 1
_KEY_FIELDS = {
    "dataset": str, "digest": str, "method": str, "version": int, "config": dict, "splits": str, "seed": int,
    "fold": int,
}  # fmt: skip
_LINES_LISTED = 10
_PACKAGES = ("twinwl", "numpy", "scipy", "numba", "scikit-learn", "torch")


class Row(TypedDict, total=False):
    """One finished fold of one configuration; the first fields, up to ``fold``, identify it.

    A metric that is in ``metrics`` and not in ``scores`` is undefined on that fold. A missing ``task`` means
    classification, a missing ``scoring`` means that the hold-out was scored by accuracy, a
    missing ``positive`` that the last of two classes was the positive one. With several
    ``tasks``, the score of a metric is the mean over them, and ``metric@task`` that of one. ``inputs`` is
    what the method used besides the structure of the graphs (`twinwl.evaluation.evaluate.inputs_of`); results
    of earlier versions and of estimators of other packages lack it.
    """

    format: int
    dataset: str
    digest: str
    method: str
    version: int
    config: dict[str, object]
    splits: str
    seed: int
    fold: int
    scores: dict[str, float]
    metrics: list[str]
    validation_score: float | None
    curves: dict[str, list[float]]
    epochs: int
    best_epoch: int
    n_test: int
    n_leaked: int
    seconds: float
    peak_memory: int
    versions: dict[str, str]
    task: str
    scoring: str
    tasks: list[str]
    positive: str
    inputs: list[str]


def key_of(
    data: Dataset,
    method: str,
    version: int,
    config: dict[str, object],
    splits: str,
    *,
    seed: int = 0,
    fold: int = 0,
) -> Row:
    """Return the fields that identify a unit: the beginning of a row.

    >>> from twinwl import load_dataset
    >>> key_of(load_dataset("TWINS", n_pairs=2), "stwin", 1, {}, "10 folds", fold=3)["fold"]
    3
    """
    values = (data.name, data.digest, method, version, config, splits, seed, fold)
    return cast("Row", dict(zip(_KEY_FIELDS, values)))


def row_key(row: Row) -> str:
    """Return the key of a result, which is the same for the same unit, whatever its scores."""
    return json.dumps([row.get(name) for name in _KEY_FIELDS], sort_keys=True)


def versions() -> dict[str, str]:
    """Return the versions of everything that may change a result."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


class ResultStore:
    """A file of results, one JSON object per line.

    Parameters
    ----------
    path
        The file; it is created by the first `append`.

    >>> import tempfile
    >>> store = ResultStore(Path(tempfile.mkdtemp(), "results.jsonl"))
    >>> _ = store.append({"dataset": "TWINS", "digest": "", "method": "m", "version": 1, "config": {},
    ...               "splits": "seeded", "seed": 0, "fold": 0, "scores": {"accuracy": 1.0}})
    >>> [row["scores"] for row in store.rows()]
    [{'accuracy': 1.0}]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stream: IO[bytes] | None = None

    def rows(self) -> list[Row]:
        """Return all results; if one was written twice, the newer one.

        Broken lines are reported with their numbers in one warning. A line of a newer format is an error,
        because this version might misread it.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TwinWLError(
                f"cannot read the store {str(self.path)!r} ({error.strerror or error}); name a file"
            ) from error
        found: dict[str, Row] = {}
        broken = []
        for number, line in enumerate(content.split(b"\n"), start=1):
            row = _parse(line)
            if row is not None and row["format"] > FORMAT:
                raise TwinWLError(
                    f"{self.path}, line {number}: written in format {row['format']}, this version knows "
                    f"{FORMAT}; use the newer twinwl or another store"
                )
            if row is not None:
                found[row_key(row)] = row
            elif line.strip():
                broken.append(number)
        if broken:
            listed = ", ".join(map(str, broken[:_LINES_LISTED])) + ", …" * (len(broken) > _LINES_LISTED)
            warn_caller(f"{self.path}: skipped broken lines {listed} ({len(broken)} in all)")
        return list(found.values())

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from writing while the block runs.

        Raises
        ------
        TwinWLError
            If another process is writing to the store, or the file cannot be written.
        """
        with self._writing():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            stream = self.path.open("ab+")
        with stream:
            busy = "another process is writing to it; wait until it has ended, or choose another store"
            lock(stream, f"the store {self.path} is in use: {busy}")
            self._stream = stream
            try:
                yield
            finally:
                self._stream = None

    def append(self, row: Row) -> Row:
        """Append one result as a whole line, flush it to the disk, and return it as `rows` will."""
        if self._stream is None:
            with self.held():
                return self.append(row)
        stored: Row = {**row, "format": FORMAT}
        line = json.dumps(stored, sort_keys=True, allow_nan=False).encode() + b"\n"
        with self._writing():
            if self._stream.seek(0, os.SEEK_END):
                self._stream.seek(-1, os.SEEK_END)
                # A killed writer may have left half a line: start a new one behind it.
                line = line if self._stream.read(1) == b"\n" else b"\n" + line
            self._stream.write(line)
            self._stream.flush()
            os.fsync(self._stream.fileno())
        return stored

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TwinWLError(
                f"cannot write to the store {self.path} ({error.strerror or error}); what it held is intact. "
                "Free some space or choose another --store, and run again: finished folds are not repeated"
            ) from error


def _parse(line: bytes) -> Row | None:
    """Return a line if it has all fields that identify and summarise it, or is of a newer format."""
    try:
        row = json.loads(line)
        complete = row["format"] > FORMAT or (
            all(isinstance(row[name], kind) for name, kind in _KEY_FIELDS.items())
            and all(isinstance(score, numbers.Real) for score in row["scores"].values())
        )
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return None
    return cast("Row", row) if complete else None


PROTOCOLS = ("fair", "best-epoch", "best-fold-epoch")
_CLASSES = Task("classification", "")
_CONVENTIONAL = 0.05
_SMALLEST_SHOWN = 0.001
_ALL_SIGNS_TRIED = 13


class Rendered:
    """A result that shows itself: a dataclass whose `to_records` says what is in its table."""

    _records = ""
    """Name of the attribute with the records, which are NamedTuples."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per record."""
        return [record._asdict() for record in getattr(self, self._records)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(_plain(self))

    def table(self) -> list[list[str]]:
        """Return the main figures as rows of text, the header first."""
        records = self.to_records() or [{}]
        texts = [
            [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in record.values()]
            for record in records
        ]
        return [list(records[0]), *texts]

    def _bars(self) -> dict[str, float]:
        """Return the figures that `plot` draws."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        return type(self).__name__

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a pandas DataFrame."""
        return import_extra("pandas", None).DataFrame(self.to_records())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the main figures as bars, on matplotlib axes if given, and return these."""
        if axes is None:
            axes = import_extra("matplotlib.figure", None).Figure().subplots()
        bars = self._bars()
        axes.barh(list(bars), list(bars.values()))
        axes.set_title(self._title)
        return axes

    def save_page(self, path: str | Path) -> None:
        """Write a self-contained HTML page to a file."""
        from twinwl.report.page import write_page  # noqa: PLC0415  (on demand)

        write_page(checked("path", path, PATH), self._page())

    def _page(self) -> Page:
        from twinwl.report.page import Page, PlainTable, Section  # noqa: PLC0415  (on demand)

        header, *rows = self.table()
        section = Section("figures", "Figures", [PlainTable(header, rows), *str(self).splitlines()])
        return Page(self._title, [], [], [section], [])

    def _repr_html_(self) -> str:
        from twinwl.report.page import result_html  # noqa: PLC0415  (on demand)

        return result_html(self._title, self.table())


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return records as dictionaries and tuples as lists; fields that ``repr`` omits are left out."""
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.repr}
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Evaluation(Rendered):
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
        requested = self.rows[0]["metrics"] if self.rows else []
        others = [name for name in requested if all(name in row["metrics"] for row in self.rows)]
        return list(dict.fromkeys([self.metric, *others]))

    def readings(self) -> Iterator[tuple[str, str, Summary]]:
        """Yield metric, task ("" for the mean of all) and summary: fair ones, then optimistic ones."""
        by_fold = _by_fold(self.rows)
        for task in ("", *self.tasks):
            for metric in self.metrics:
                yield metric, task, _fair(by_fold, of_task(metric, task) if task else metric)
        for protocol in PROTOCOLS[1:]:
            if (summary := self.summary(protocol, "accuracy")) is not None:
                yield "accuracy", "", summary

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record per protocol and metric that applies.

        ``n_folds`` counts the folds that the mean is over: those where the metric is defined. It is NaN where
        there are none. Of several tasks there are also records for each, and ``task`` is "" for their mean.
        With two classes, ``positive`` names the one that the metric is about, "" if it is not about one.
        """
        records = []
        for metric, task, summary in self.readings():
            record = {
                "dataset": self.dataset,
                "method": self.method,
                "inputs": self.inputs,
                "protocol": summary.protocol,
                "optimistic": summary.optimistic,
                "metric": metric,
                "mean": summary.mean,
                "std": summary.std,
                "n_folds": len(summary.defined),
            }
            if self.tasks:
                record["task"] = task
            if self.positive is not None:
                record["positive"] = self.positive if METRICS[metric].of_positive else ""
            records.append(record)
        return records

    def table(self) -> list[list[str]]:
        """Return one row per protocol and metric, the header first; optimistic readings are marked."""
        rows = [
            [
                row["protocol"] + " (optimistic)" * row["optimistic"],
                row["metric"] + "".join(f" ({row[of]})" for of in ("task", "positive") if row.get(of)),
                METRICS[row["metric"]].text(row["mean"], row["std"]),
                str(row["n_folds"]),
            ]
            for row in self.to_records()
        ]
        return [["protocol", "metric", "mean ± std", "folds"], *rows]

    def _bars(self) -> dict[str, float]:
        return {f"fold {place}": score for place, score in enumerate(self.fold_scores)}

    @property
    def _title(self) -> str:
        return f"{self.method} on {self.dataset}, inputs: {self.inputs}"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, also those of each fold; None where a metric is undefined."""
        plain = {
            (summary.protocol, task, metric): _reading(summary) for metric, task, summary in self.readings()
        }
        fair = {
            task: {name: plain["fair", task, name] for name in self.metrics} for task in ("", *self.tasks)
        }
        found = {
            "dataset": self.dataset,
            "method": self.method,
            "inputs": self.inputs,
            "task": self.task.name,
            "split": self.split,
            "headline": self.protocol,
            "n_leaked": self.n_leaked,
            "fair": {name: one["mean"] for name, one in fair[""].items()},
            "metrics": fair.pop(""),
            "protocols": {
                name: plain.get((name, "", self.metric if name == "fair" else "accuracy"))
                for name in PROTOCOLS
            },
        }
        if self.positive is not None:
            found["positive"] = self.positive
        return {**found, "tasks": fair} if fair else found

    def compared_with(self, other: Evaluation) -> PairedComparison | None:
        """Compare with another method on the same folds, where the main metric is defined for both.

        Returns
        -------
        PairedComparison or None
            None if there are fewer than two such folds: one says nothing about chance.
        """
        if not isinstance(other, Evaluation) or len(other.fold_scores) != len(self.fold_scores):
            raise TwinWLError(
                "compared_with needs an Evaluation on the same folds; evaluate both with the same split"
            )
        pairs = np.column_stack([self.fold_scores, other.fold_scores])
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        names = (self.method, other.method)
        return compare_scores(pairs[:, 0], pairs[:, 1], names, metric=self.metric) if len(pairs) > 1 else None

    def __str__(self) -> str:
        headline = names_for(self.task.name)[0]
        about = [str(self.task)] * bool(self.task.reason) + [self.split] * bool(self.split)
        about += [f"inputs: {self.inputs}"] * bool(self.rows)
        lines = [f"{self.method} on {self.dataset}", *(f"  {line}" for line in about)]
        for metric, task, summary in self.readings():
            if not task:
                positive = METRICS[metric].of_positive and self.positive is not None
                remarks = summary.remarks + f"; positive class: {self.positive}" * positive
                lines.append(f"  {metric:<17}  {summary.figure} ({remarks})")
        if self.tasks:
            lines += self._about_tasks()
        if self.n_leaked:
            scores = [row["scores"].get(headline + WITHOUT_COPIES) for row in self.rows]
            known = [score for score in scores if score is not None]
            without = (
                f"; {headline} without them {METRICS[headline].text(float(np.mean(known)))}" if known else ""
            )
            lines.append(f"  {self.n_leaked} test graphs have an isomorphic copy in training{without}")
        return "\n".join(lines)

    def _about_tasks(self) -> list[str]:
        """Say that the figures are means, and show those of each task."""
        figures = defaultdict(list)
        for metric, task, summary in self.readings():
            if metric in {self.metric, "roc-auc", "average-precision", "rmse", "r2"}:
                left = f" ({summary.undefined})" if summary.undefined else ""
                figures[task].append(f"{METRICS[metric].titled(self.positive)} {summary.figure}{left}")
        lines = [f"    {task}: {', '.join(figures[task])}" for task in self.tasks]
        return [f"  means over {len(self.tasks)} tasks, each on the graphs whose target is known:", *lines]


def _reading(summary: Summary) -> dict[str, Any]:
    """Return a summary for JSON, which has null for an undefined score."""
    values = (summary.mean, summary.std, *summary.fold_scores)
    mean, std, *folds = (None if math.isnan(value) else value for value in values)
    found = {"metric": summary.metric, "mean": mean, "std": std, "folds": folds}
    return {**found, "configs": summary.configs, "optimistic": summary.optimistic}


def _in_words(inputs: list[str] | None) -> str:
    if inputs is None:
        return "not recorded"
    return ", ".join(name.replace("_", " ") for name in inputs) or "structure only"


def latex_table(results: Sequence[Evaluation]) -> str:
    """Return one row per method and one column per metric, for the package booktabs."""
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    titles = [METRICS[name].titled(results[0].positive) + " (%)" * METRICS[name].percent for name in metrics]
    lines = [["method", "inputs", *map(_escape, titles)]]
    for result in results:
        found = {
            name: summary.figure
            for name, task, summary in result.readings()
            if not (task or summary.optimistic)
        }
        lines.append([_escape(result.method), result.inputs, *(found.get(name, "--") for name in metrics)])
    head, *body = [" & ".join(line).replace("±", r"$\pm$").replace("²", "$^2$") + r" \\" for line in lines]
    about = f"% {results[0].dataset}, fair protocol: mean and standard deviation over folds"
    columns = "ll" + "r" * len(metrics)
    rows = [about, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*rows, r"\bottomrule", r"\end{tabular}", ""])


def _escape(text: str) -> str:
    return re.sub(r"([_%&#$])", r"\\\1", text)


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
        return self.protocol != "fair"

    @property
    def figure(self) -> str:
        """Mean and standard deviation as tables show them; one fold has no deviation."""
        metric = METRICS[self.metric.partition("@")[0].removesuffix(WITHOUT_COPIES)]
        return metric.text(self.mean, None if len(self.fold_scores) == 1 else self.std)

    @property
    def remarks(self) -> str:
        """What to know beside the figure: the protocol, whether it is optimistic, folds without a score."""
        one = "one fold" if len(self.fold_scores) == 1 else ""
        marks = (self.protocol, "optimistic" * self.optimistic, self.undefined, one)
        return ", ".join(filter(None, marks))

    @property
    def undefined(self) -> str:
        """In how many folds the metric is undefined, as text; "" if in none."""
        missing, n_folds = len(self.fold_scores) - len(self.defined), len(self.fold_scores)
        return f"undefined in {missing} of {n_folds} folds" if missing else ""

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
        if len(group) > 1 and any(row["validation_score"] is None for row in group):
            raise TwinWLError(
                "several configurations, but no hold-out scores to choose by; evaluate them together"
            )
        sign = METRICS[group[0].get("scoring", "accuracy")].sign
        best = max(group, key=lambda row: sign * (row["validation_score"] or 0.0))
        if metric.partition("@")[0] not in {*best["scores"], *best.get("metrics", ())}:
            raise TwinWLError(f"the results have no {metric!r}; evaluate again with this metric")
        scores.append(best["scores"].get(metric, math.nan))  # asked for and not there: not defined
        configs.append(best["config"])
    return Summary("fair", metric, tuple(scores), tuple(configs))


def _by_test(by_fold: dict[tuple[int, int], list[Row]], protocol: str) -> Summary:
    """Choose configuration and epoch by test accuracy, over all folds together or for each fold."""
    candidates = []
    for rows in zip(*by_fold.values()):  # those of one configuration
        found = [row["curves"]["test"] for row in rows]
        longest = max(map(len, found))  # a shorter curve is continued with its last value
        curves = np.array([curve + curve[-1:] * (longest - len(curve)) for curve in found])
        best_epoch = curves[:, int(curves.mean(axis=0).argmax())]
        scores = best_epoch if protocol == "best-epoch" else curves.max(axis=1)
        configs = tuple(row["config"] for row in rows)
        candidates.append(Summary(protocol, "accuracy", tuple(scores.tolist()), configs))
    return max(candidates, key=lambda candidate: candidate.mean)


@dataclass(frozen=True)
class PairedComparison:
    """Comparison of two methods over the same folds.

    Attributes
    ----------
    names : (str, str)
    difference : float
        Mean of first minus second.
    t_p_value : float
        Corrected resampled t-test: folds share training graphs, so their scores are not independent, and a
        plain t-test would overstate differences.
    wilcoxon_p_value : float
        Signed-rank test on the same pairs; it does not account for the overlap.
    effect_size : float
        Mean difference in units of its standard deviation over folds.
    n_folds : int
    means : (float, float)
        Mean score of each.
    metric : str
        The metric, which decides which sign is better.
    half_width : float
        Half of the 95 % interval around the difference that belongs to the corrected t-test.
    """

    names: tuple[str, str]
    difference: float
    t_p_value: float
    wilcoxon_p_value: float
    effect_size: float
    n_folds: int
    means: tuple[float, float]
    metric: str = "accuracy"
    half_width: float = 0.0

    @property
    def significant(self) -> bool:
        """Whether the p-value of the corrected t-test is below 5 %."""
        return self.t_p_value < _CONVENTIONAL

    def __str__(self) -> str:
        first, second = self.names
        metric = METRICS[self.metric]
        ahead = f"{metric.gap(*self.means)} {'points' if metric.percent else f'({metric.title})'}"
        t_test, wilcoxon = p_value_text(self.t_p_value), p_value_text(self.wilcoxon_p_value)
        figures = f"corrected t-test {t_test}, Wilcoxon {wilcoxon}, "
        figures += f"effect size {self.effect_size:+.2f}, {self.n_folds} folds"
        if self.difference == 0:
            return f"{first} and {second} score the same on average ({figures})."
        better, worse = (first, second) if metric.sign * self.difference > 0 else (second, first)
        if self.significant:
            return f"{better} beats {worse} by {ahead}, more than chance explains ({figures})."
        return f"{better} is {ahead} ahead of {worse}, which may well be chance ({figures})."


def compare_scores(
    first: Sequence[float] | Float64,
    second: Sequence[float] | Float64,
    names: tuple[str, str] = ("the first", "the second"),
    *,
    test_share: float | None = None,
    metric: str = "accuracy",
) -> PairedComparison:
    """Compare two methods by their scores on the same folds.

    Parameters
    ----------
    first, second
        One score per fold, in the same order.
    names
        Their names.
    test_share
        Size of a test part divided by the size of its training part; 1/9 for ten folds. By default, the
        number of scores is taken as the number of folds.
    metric
        Metric of the scores.

    >>> print(compare_scores([0.9, 0.8, 0.85], [0.9, 0.8, 0.85], ("a", "b")))  # doctest: +ELLIPSIS
    a and b score the same on average (corrected t-test p = 1.000, Wilcoxon p = 1.000, effect ... 3 folds).
    """
    from scipy import stats  # noqa: PLC0415  (slow to load)

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(x)
    if x.shape != y.shape or x.ndim != 1 or n < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"need two equally long lists of at least 2 fold scores, not {x.shape} and {y.shape}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise TwinWLError("a fold score is not a finite number; both methods need a score on every fold")
    difference, means = x - y, (float(x.mean()), float(y.mean()))
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if np.ptp(difference) == 0:  # the same difference everywhere: no spread to test against
        p_value, effect, half_width = float(mean == 0), float(np.copysign(np.inf, mean)) if mean else 0.0, 0.0
    else:
        error = spread * np.sqrt(1 / n + (1 / (n - 1) if test_share is None else test_share))
        p_value, effect = float(2 * stats.t.sf(abs(mean / error), df=n - 1)), mean / spread
        half_width = float(error * stats.t.ppf(0.975, df=n - 1))
    return PairedComparison(names, mean, p_value, _wilcoxon(difference), effect, n, means, metric, half_width)


def p_value_text(p_value: float) -> str:
    """Format a p-value; very small ones as an upper bound.

    >>> p_value_text(0.0304), p_value_text(1e-9)
    ('p = 0.030', 'p < 0.001')
    """
    return f"p < {_SMALLEST_SHOWN}" if p_value < _SMALLEST_SHOWN else f"p = {p_value:.3f}"


def _wilcoxon(difference: np.ndarray) -> float:
    if not difference.any():
        return 1.0
    # All signs of a few folds can be tried, ties and zeros or not; what "auto" does varies between releases.
    from scipy import stats  # noqa: PLC0415  (slow to load)

    few = len(difference) <= _ALL_SIGNS_TRIED
    method = stats.PermutationMethod(n_resamples=2**_ALL_SIGNS_TRIED) if few else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties make it approximate; that is fine for a second opinion
        return float(stats.wilcoxon(difference, method=method).pvalue)
