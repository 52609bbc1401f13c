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
import shutil
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from twinwl.arguments import NAME, checked, number, one_of
from twinwl.arrays import Float64
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.storage import lock
from twinwl.models.metrics import METRICS, WITHOUT_COPIES, Rendered, names_for, of_task, plain
from twinwl.models.targets import Task
from twinwl.terminal import in_blocks

if TYPE_CHECKING:
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
    result = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            result[package] = metadata.version(package)
    return result


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
        result: dict[str, Row] = {}
        broken = []
        for line_number, line in enumerate(content.split(b"\n"), start=1):
            row = _parse(line)
            if row is not None and row["format"] > FORMAT:
                raise TwinWLError(
                    f"{self.path}, line {line_number}: written in format {row['format']}, this version knows "
                    f"{FORMAT}; use the newer twinwl or another store"
                )
            if row is not None:
                result[row_key(row)] = row
            elif line.strip():
                broken.append(line_number)
        if broken:
            listed = ", ".join(map(str, broken[:_LINES_LISTED])) + ", …" * (len(broken) > _LINES_LISTED)
            warn_caller(f"{self.path}: skipped broken lines {listed} ({len(broken)} in all)")
        return list(result.values())

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
ROPE = 0.01
_SMALLEST_SHOWN = 0.001
_ALL_SIGNS_TRIED = 13


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
    test_share : float or None
        Size of a test part divided by the size of its training part; see `compare_scores`.
    """

    dataset: str
    method: str
    protocol: str
    metric: str
    rows: list[Row]
    task: Task = _CLASSES
    split: str = ""
    positive: str | None = None
    test_share: float | None = None

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
    def without_copies(self) -> str:
        """Mean accuracy, or RMSE, on test graphs without such a copy, as text; "" if all or none have one."""
        headline = names_for(self.task.name)[0]
        scores = [row["scores"].get(headline + WITHOUT_COPIES) for row in self.rows]
        known = [score for score in scores if score is not None]
        return METRICS[headline].text(float(np.mean(known))) if known else ""

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
        fair: dict[str, dict[str, Any]] = {task: {} for task in ("", *self.tasks)}
        protocols: dict[str, Any] = dict.fromkeys(PROTOCOLS)
        for metric, task, summary in self.readings():
            if summary.optimistic:
                protocols[summary.protocol] = _reading(summary)
            else:
                fair[task][metric] = _reading(summary)
        metrics = fair.pop("")
        protocols["fair"] = metrics[self.metric]
        about = {
            "dataset": self.dataset,
            "method": self.method,
            "inputs": self.inputs,
            "task": self.task.name,
            "split": self.split,
            "headline": self.protocol,
            "n_leaked": self.n_leaked,
            "fair": {name: one["mean"] for name, one in metrics.items()},
            "metrics": metrics,
            "protocols": protocols,
        }
        if self.positive is not None:
            about["positive"] = self.positive
        return {**about, "tasks": fair} if fair else about

    def compared_with(self, other: Evaluation, rope: float = ROPE) -> PairedComparison | None:
        """Compare with another method on the folds that both have, where the main metric is defined for both.

        Parameters
        ----------
        other
            Another evaluation on the same folds.
        rope
            Largest difference of methods that are practically equal, as for `compare_scores`.

        Returns
        -------
        PairedComparison or None
            None if there are fewer than two such folds: one says nothing about chance.
        """
        ours, theirs = self._score_of_fold, getattr(other, "_score_of_fold", {})
        shared = [fold for fold in ours if fold in theirs]
        if not shared:
            raise TwinWLError(
                "compared_with needs an Evaluation on the same folds; evaluate both with the same split"
            )
        pairs = np.array([(ours[fold], theirs[fold]) for fold in shared])
        first, second = pairs[~np.isnan(pairs).any(axis=1)].T
        names, share = (self.method, other.method), self.test_share
        if len(first) < 2:  # noqa: PLR2004
            return None
        return compare_scores(first, second, names, test_share=share, metric=self.metric, rope=rope)

    @property
    def _score_of_fold(self) -> dict[tuple[str, int, int], float]:
        """The main score by split, seed and fold."""
        folds = sorted({(row.get("splits", ""), row["seed"], row["fold"]) for row in self.rows})
        return dict(zip(folds, self.fold_scores))

    @property
    def about(self) -> list[str]:
        """The task and the split, in words."""
        return list(filter(None, [str(self.task) * bool(self.task.reason), self.split]))

    def __str__(self) -> str:
        inputs = [f"inputs: {self.inputs}"] * bool(self.rows)
        lines = [f"{self.method} on {self.dataset}", *(f"  {line}" for line in [*self.about, *inputs])]
        for metric, task, summary in self.readings():
            if not task:
                positive = METRICS[metric].of_positive and self.positive is not None
                remarks = summary.remarks + f"; positive class: {self.positive}" * positive
                lines.append(f"  {metric:<17}  {summary.figure} ({remarks})")
        if self.tasks:
            lines += self._about_tasks()
        if self.n_leaked:
            headline, score = names_for(self.task.name)[0], self.without_copies
            without = f"; {headline} without them {score}" if score else ""
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
    result = {"metric": summary.metric, "mean": mean, "std": std, "folds": folds}
    return {**result, "configs": summary.configs, "optimistic": summary.optimistic}


def _in_words(inputs: list[str] | None) -> str:
    if inputs is None:
        return "not recorded"
    return ", ".join(name.replace("_", " ") for name in inputs) or "structure only"


@dataclass(frozen=True)
class MethodComparison(Rendered):
    """Several methods on one data set, over the same folds: their figures, and all pairs compared.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        One per method.
    rope : float
        Largest difference of methods that are practically equal, as for `compare_scores`.

    >>> import twinwl as tw
    >>> methods = [tw.STwinSVC(1, C=1), tw.STwinSVC(2, C=1)]
    >>> result = tw.evaluate(methods, "TWINS:n_pairs=10", n_folds=2)
    >>> [evaluation.method for evaluation in result.evaluations]
    ['STwinSVC (n_iter=1)', 'STwinSVC (n_iter=2)']
    >>> [pair.names for pair in result.pairs]
    [('STwinSVC (n_iter=1)', 'STwinSVC (n_iter=2)')]
    """

    evaluations: tuple[Evaluation, ...]
    rope: float = ROPE

    @cached_property
    def pairs(self) -> list[PairedComparison]:
        """Every two methods compared by the main metric, p-values corrected for the number of pairs."""
        pairs = [
            first.compared_with(second, self.rope) for first, second in combinations(self._summarised, 2)
        ]
        result = [pair for pair in pairs if pair is not None]
        corrected = holm([pair.t_p_value for pair in result])
        return [replace(pair, holm_p_value=p_value) for pair, p_value in zip(result, corrected)]

    @property
    def _summarised(self) -> list[Evaluation]:
        """The methods to which the protocol applies."""
        return [each for each in self._begun if each.summary() is not None]

    @property
    def _begun(self) -> list[Evaluation]:
        """The methods that have results; a time budget may leave some without."""
        return [each for each in self.evaluations if each.rows]

    def findings(self) -> list[str]:
        """Return one sentence per pair; none of a single fold, which says nothing about chance."""
        inputs = {each.inputs for each in self._summarised} - {_in_words(None)}
        remark = ["Not all methods used the same inputs."] * (len(inputs) > 1 and bool(self.pairs))
        return [*map(str, self.pairs), *remark]

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record per method, protocol and metric that applies; see `Evaluation.to_records`."""
        return [record for each in self._begun for record in each.to_records()]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, each method with its comparisons."""
        pairs = [plain(pair) for pair in self.pairs]
        methods = [
            {**each.to_dict(), "comparisons": [pair for pair in pairs if each.method in pair["names"]]}
            for each in self._begun
        ]
        return {"dataset": self.evaluations[0].dataset, "rope": self.rope, "methods": methods}

    def table(self) -> list[list[str]]:
        """Return one column per method and one row per metric, the header first; "–" where none applies."""
        cells: dict[str, dict[str, str]] = defaultdict(dict)
        for each in self._begun:
            cells["inputs"][each.method] = each.inputs
            for name, task, summary in each.readings():
                if task and name != each.metric:
                    continue
                metric = METRICS[name]
                label = metric.titled(each.positive) + " (%)" * metric.percent + f", {task}" * bool(task)
                label += f", {summary.protocol} (optimistic)" * summary.optimistic
                folds = f" ({len(summary.defined)} folds)" if summary.undefined else ""
                cells[label][each.method] = summary.figure + folds
            if each.n_leaked:
                cells["copies in training"][each.method] = str(each.n_leaked)
                cells["without copies"][each.method] = each.without_copies or "–"
        names = [each.method for each in self.evaluations]
        rows = [[label, *(row.get(name, "–") for name in names)] for label, row in cells.items()]
        return [["method", *names], *rows]

    def _bars(self) -> dict[str, float]:
        return {each.method: each.mean for each in self._summarised}

    def _spreads(self) -> list[float]:
        return [each.std for each in self._summarised]

    @property
    def _title(self) -> str:
        first = self.evaluations[0]
        return f"{first.dataset}: {METRICS[first.metric].titled(first.positive)}, {first.protocol}"

    def _page(self) -> Page:
        from twinwl.report.page import Block, Page, PlainTable, Section  # noqa: PLC0415  (on demand)

        (header, *rows), (names, *pairs) = map(list, zip(*self.table())), self._pairs_table()
        words = frozenset({1})  # the second column, of both tables
        sections = [Section("figures", "Figures", [PlainTable(header, rows, words)])]
        if pairs:
            blocks: list[Block] = [self.findings(), PlainTable(names, pairs, words), self._about_pairs]
            sections.append(Section("pairs", "All pairs", blocks))
        return Page(self._title, [*self.evaluations[0].about, _FAIR], [], sections, [])

    @property
    def _about_pairs(self) -> str:
        return (
            "Corrected resampled t-test, also after Holm's correction for all pairs, and probabilities of "
            "the Bayesian correlated t-test that the first method is better, practically equal (within "
            f"{self.pairs[0].rope_text}), or worse."
        )

    def _pairs_table(self) -> list[list[str]]:
        """Return what is known of each pair as text, the header first."""
        rows = [
            [
                *pair.names,
                f"{math.copysign(float(METRICS[pair.metric].gap(*pair.means)), pair.difference):+g}",
                *(f"{each:.2g}" for each in (pair.t_p_value, pair.holm_p_value)),
                *(f"{each:.2g}" for each in (pair.better, pair.equal, pair.worse)),
            ]
            for pair in self.pairs
        ]
        names = ["method", "other", "difference", "p", "p (Holm)", "P(better)", "P(equal)", "P(worse)"]
        return [names, *rows]

    def to_latex(self) -> str:
        """Return a row per method and a column per metric, and a table of all pairs, for booktabs."""
        text = f"% {self.evaluations[0].dataset}, {_FAIR}\n{_tabular([*zip(*self.table())], 2)}"
        return f"{text}\n% {self._about_pairs}\n{_tabular(self._pairs_table(), 2)}" if self.pairs else text

    def __str__(self) -> str:
        first = self.evaluations[0]
        if len(self.evaluations) == 1:
            return str(first)
        width = shutil.get_terminal_size().columns
        sentences = [
            textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)
            for line in self.findings()
        ]
        lines = [first.dataset, *(f"  {line}" for line in [*first.about, _FAIR])]
        return "\n".join([*lines, "", in_blocks(self.table(), width), "", *sentences])


_FAIR = "fair protocol unless marked: mean ± standard deviation over folds"


def _tabular(rows: Sequence[Sequence[str]], n_left: int) -> str:
    head, *body = [
        " & ".join(map(_escape, row)).replace("±", r"$\pm$").replace("²", "$^2$").replace("–", "--") + r" \\"
        for row in rows
    ]
    columns = "l" * n_left + "r" * (len(rows[0]) - n_left)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


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
        result = [row["curves"]["test"] for row in rows]
        longest = max(map(len, result))  # a shorter curve is continued with its last value
        curves = np.array([curve + curve[-1:] * (longest - len(curve)) for curve in result])
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
    better, equal, worse : float
        Bayesian correlated t-test (Benavoli et al., 2017): the probability that the first is better than the
        second by more than ``rope``, that they differ by less, and that it is worse by more.
    rope : float
        Largest difference of methods that are practically equal; of errors in units of the target (RMSE, MAE)
        relative to the mean of both.
    holm_p_value : float
        ``t_p_value`` corrected for the number of pairs that were compared, by Holm's method.
    """

    names: tuple[str, str]
    difference: float
    t_p_value: float
    wilcoxon_p_value: float
    effect_size: float
    n_folds: int
    means: tuple[float, float]
    metric: str
    half_width: float
    better: float
    equal: float
    worse: float
    rope: float
    holm_p_value: float

    @property
    def significant(self) -> bool:
        """Whether the p-value of the corrected t-test, after Holm's correction, is below 5 %."""
        return self.holm_p_value < _CONVENTIONAL

    @property
    def rope_text(self) -> str:
        """The largest difference of methods that are practically equal, in words."""
        metric = METRICS[self.metric]
        if metric.percent:
            return f"{100 * self.rope:g} point{'s' * (self.rope != ROPE)}"
        return f"{100 * self.rope:g} %" if _in_units(self.metric) else f"{self.rope:g}"

    def __str__(self) -> str:
        first, second = self.names
        metric = METRICS[self.metric]
        ahead = f"{metric.gap(*self.means)} {'points' if metric.percent else f'({metric.title})'}"
        corrected = " after Holm" * (self.holm_p_value != self.t_p_value)
        figures = f"corrected t-test{corrected} {p_value_text(self.holm_p_value)}, {self.n_folds} folds"
        within = f"within {self.rope_text} with probability {self.equal:.0%}"
        if self.equal >= 1 - _CONVENTIONAL:
            return f"{first} and {second} are practically equal: {within} ({figures})."
        figures = f"{within}, {figures}"
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
    rope: float = ROPE,
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
    rope
        Largest difference of methods that are practically equal (region of practical equivalence): 0.01 is
        one point of accuracy, and 1 % of an error in units of the target.

    >>> print(compare_scores([0.9, 0.8, 0.85], [0.9, 0.8, 0.85], ("a", "b")))
    a and b are practically equal: within 1 point with probability 100% (corrected t-test p = 1.000, 3 folds).
    """
    from scipy import stats  # noqa: PLC0415  (slow to load)

    rope = checked("rope", rope, number(0))
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
    width = rope * (sum(means) / 2 if _in_units(metric) else 1)
    ahead = METRICS[metric].sign * mean
    if np.ptp(difference) == 0:  # the same difference everywhere: no spread to test against
        p_value, effect, half_width = float(mean == 0), float(np.copysign(np.inf, mean)) if mean else 0.0, 0.0
        worse, better = float(ahead < -width), float(ahead > width)
    else:
        error = spread * np.sqrt(1 / n + (1 / (n - 1) if test_share is None else test_share))
        p_value, effect = float(2 * stats.t.sf(abs(mean / error), df=n - 1)), mean / spread
        half_width = float(error * stats.t.ppf(0.975, df=n - 1))
        # With a flat prior the posterior of the difference is this test's own t distribution.
        better, worse = (float(stats.t.cdf((side - width) / error, df=n - 1)) for side in (ahead, -ahead))
    equal = 1 - better - worse
    return PairedComparison(
        names, mean, p_value, _wilcoxon(difference), effect, n, means, metric, half_width,
        better, equal, worse, rope, holm_p_value=p_value,
    )  # fmt: skip


def _in_units(metric: str) -> bool:
    """Whether a metric is an error in units of the target, of which no fixed difference is small."""
    return METRICS[metric].task == "regression" and not METRICS[metric].greater_is_better


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, by Holm's method (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order, n = np.argsort(p_values), len(p_values)
    steps = np.array(p_values, float)[order] * (n - np.arange(n))
    corrected = np.empty(n)
    corrected[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [float(value) for value in corrected]


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
