"""Evaluate a method on a data set: folds, configurations, processes, the store, and one honest figure."""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from joblib import Parallel, delayed

from twinwl.arguments import FLAG, JOBS, MAX_ITEMS, PATH, checked, integer, is_a
from twinwl.arguments import number as number_in
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import Reading, read_source
from twinwl.errors import TwinWLError, held_warnings, import_extra, shown, warn_caller
from twinwl.evaluation.claims import Claims, SharedWork
from twinwl.evaluation.fold_run import Unit, run_fold
from twinwl.evaluation.folds import folds_of
from twinwl.evaluation.leaks import copies_of
from twinwl.evaluation.methods import Method, resolve
from twinwl.evaluation.metrics import check_metrics
from twinwl.evaluation.protocols import PROTOCOLS, Summary, check_protocol, summarise
from twinwl.evaluation.store import ResultStore, key_of, row_key
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from twinwl.arrays import Int64
    from twinwl.evaluation.methods import Config, Grid
    from twinwl.evaluation.store import Row

__all__ = ["Evaluation", "Record", "evaluate"]


class Record(TypedDict):
    """One reading of an evaluation: a row of its table."""

    dataset: str
    method: str
    protocol: str
    optimistic: bool
    metric: str
    mean: float
    std: float
    n_folds: int


@dataclass(frozen=True)
class Evaluation:
    """All results of one method on one data set, and what each protocol makes of them.

    Attributes
    ----------
    dataset, method, protocol, metric : str
        What was evaluated, and how the headline is read.
    rows : list of dict
        The stored results.
    """

    dataset: str
    method: str
    protocol: str
    metric: str
    rows: list[Row]

    def summary(self, protocol: str | None = None, metric: str | None = None) -> Summary | None:
        """Read the results under a protocol; None where it does not apply (a method without epochs)."""
        protocol = self.protocol if protocol is None else protocol
        return summarise(self.rows, protocol, self.metric if metric is None else metric)

    @property
    def fold_scores(self) -> tuple[float, ...]:
        """Scores of the folds under the chosen protocol."""
        return self._headline.fold_scores

    @property
    def mean(self) -> float:
        """Mean over folds under the chosen protocol."""
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
        """What every result holds a score of, the headline first."""
        asked = self.rows[0]["metrics"] if self.rows else []
        others = [name for name in asked if all(name in row["scores"] for row in self.rows)]
        return list(dict.fromkeys([self.metric, *others]))

    def to_records(self) -> list[Record]:
        """Return one record per protocol and metric that applies."""
        readings = [("fair", metric) for metric in self.metrics]
        readings += [(protocol, "accuracy") for protocol in PROTOCOLS[1:]]
        records: list[Record] = []
        for protocol, metric in readings:
            summary = self.summary(protocol, metric)
            if summary is not None:
                records.append(
                    {
                        "dataset": self.dataset,
                        "method": self.method,
                        "protocol": protocol,
                        "optimistic": summary.optimistic,
                        "metric": metric,
                        "mean": summary.mean,
                        "std": summary.std,
                        "n_folds": len(summary.fold_scores),
                    }
                )
        return records

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a pandas DataFrame.

        From there all of pandas is at hand, as ``to_csv`` and ``to_latex``; ``pandas.concat`` puts the frames
        of several evaluations into one table.
        """
        return import_extra("pandas", None).DataFrame(self.to_records())

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import evaluation_html  # noqa: PLC0415  (on demand)

        return evaluation_html(self)

    def __str__(self) -> str:
        lines = [f"{self.method} on {self.dataset}"]
        lines += [f"  {'fair':<16} {self.summary('fair', metric)}" for metric in self.metrics]
        for protocol in PROTOCOLS[1:]:
            summary = self.summary(protocol, "accuracy")
            lines.append(f"  {protocol:<16} {'–' if summary is None else summary}")
        if self.n_leaked:
            kept = [row["scores"].get("accuracy-without-duplicates") for row in self.rows]
            known = [score for score in kept if score is not None]
            without = f"; accuracy without them {100 * float(np.mean(known)):.2f}" if known else ""
            lines.append(f"  {self.n_leaked} test graphs have an isomorphic copy in training{without}")
        return "\n".join(lines)


def evaluate(
    method: object,
    dataset: Dataset | str | Path | tuple[object, ...],
    protocol: str = "fair",
    *,
    grid: str | Grid | None = None,
    n_folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    splits: str | Path | None = None,
    metrics: Sequence[str] = ("accuracy",),
    n_jobs: int = 1,
    store: str | Path | None = None,
    progress: bool | None = None,
    time_budget: float | None = None,
) -> Evaluation:
    """Evaluate a method under an honest protocol.

    Parameters
    ----------
    method
        A name (``"stwin"``, ``"stwin-svc"``, ``"ntwin"``, …), an import path ``"module:Class"``, or any
        scikit-learn estimator that takes graphs.
    dataset
        A Dataset, what `twinwl.load_dataset` takes, or a tuple ``(graphs, y)`` or ``(graphs, y, groups)`` of
        what `Dataset.from_graphs` takes.
    protocol
        Which reading is the headline: ``"fair"``, ``"best-epoch"`` or ``"best-fold-epoch"``. All three come
        from the same curves of the same run.
    grid
        ``"compact"``, ``"paper"``, or a dictionary from parameter to values; None keeps the defaults. The
        inner hold-out picks among them, fold by fold.
    n_folds, repeats, seed
        Stratified folds, grouped where the data set has groups, with seeds ``seed, seed + 1, …``.
    splits
        Published splits in place of seeded folds: ``"gnn-comparison"``, their zip or one JSON file.
    metrics
        ``"accuracy"``, ``"balanced-accuracy"``, ``"roc-auc"``, ``"average-precision"``; the first is the
        headline.
    n_jobs
        Processes; joblib decides how, so another backend can be put in with ``joblib.parallel_backend``.
    store
        File of results. What it holds already is not run again; None keeps results only in the return value.
        Processes on one machine that share a store share the work: a fold is run by one of them, and by
        another should that one die. (Windows lacks the locks for that: there, work may be repeated.)
    progress
        Show a bar with the time left; None shows it where there is a terminal.
    time_budget
        Seconds after which no further fold is begun; the result then lacks folds, and the same call with the
        same store goes on from there. None runs to the end.

    Examples
    --------
    >>> import twinwl as tw
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> pipeline = make_pipeline(tw.STwinVectorizer(3), DecisionTreeClassifier(random_state=0))
    >>> result = tw.evaluate(pipeline, "TWINS", n_folds=3)
    >>> result.protocol, len(result.fold_scores)
    ('fair', 3)
    """
    check_protocol(protocol)
    metrics = check_metrics(metrics)
    n_folds = checked("n_folds", n_folds, integer(2, MAX_ITEMS))
    repeats = checked("repeats", repeats, integer(1, 10_000))
    seed = checked("seed", seed, integer(0, 2**32 - repeats))  # that of the last repeat is a seed too
    n_jobs = checked("n_jobs", n_jobs, JOBS)
    splits = checked("splits", splits, PATH, None)
    store = checked("store", store, PATH, None)
    progress = checked("progress", progress, FLAG, None)
    time_budget = checked("time_budget", time_budget, number_in(0), None)
    data = _loaded(dataset)
    chosen = resolve(method)
    configs = chosen.configs(grid)
    work = {row_key(unit.key): unit for unit in _work(chosen, configs, data, n_folds, repeats, seed, splits)}
    end = math.inf if time_budget is None else time.monotonic() + time_budget
    warned: list[str] = []
    with _store(store) as results, Claims(results.path) as claims:
        shared = SharedWork(list(work), results, claims, lambda row: _covers(row, metrics), end)
        copies = np.empty(0, np.int64)
        if shared.missing:
            results.check_writable()
            copies = copies_of(data.graphs)  # only now: finding copies can take longer than reading a store
        title, choose = f"{chosen.name} on {data.name}", len(configs) > 1
        with ProgressBar(title, len(work), done=len(work) - len(shared.missing), show=progress) as bar:
            for keys in shared.rounds():
                units = (work[key] for key in keys)
                for row, messages in _run(units, data, copies, metrics, choose=choose, n_jobs=n_jobs):
                    shared.finish(row)
                    warned += messages[:1]
                    bar.reach(len(work) - len(shared.missing))
    if warned:
        warn_caller(f"{chosen.name} on {data.name}: {len(warned)} fits warned, the first so: {warned[0]}")
    return Evaluation(data.name, chosen.name, protocol, metrics[0], shared.rows)


def _loaded(dataset: Dataset | str | Path | tuple[object, ...]) -> Dataset:
    if is_a(dataset, Dataset):
        return dataset
    if is_a(dataset, tuple) and len(dataset) in {2, 3}:
        graphs, y, *groups = dataset
        return Dataset.from_graphs(graphs, y, groups=groups[0] if groups else None)  # type: ignore[arg-type]
    if not (is_a(dataset, str) or is_a(dataset, Path)):
        raise TwinWLError(
            f"dataset: got {shown(dataset)}, expected a Dataset, a name, a path or a tuple (graphs, y)"
        )
    return read_source(dataset, Reading(), "needed")


def _work(
    method: Method,
    configs: list[Config],
    data: Dataset,
    n_folds: int,
    repeats: int,
    seed: int,
    splits: str | Path | None,
) -> Iterator[Unit]:
    seeds = range(seed, seed + (repeats if splits is None else 1))
    folds = {
        (each, number): fold
        for each in seeds
        for number, fold in enumerate(folds_of(data, n_folds=n_folds, seed=each, splits=splits))
    }
    kind = f"{n_folds} folds" if splits is None else Path(splits).name
    for (each, number), fold in folds.items():
        for config in configs:
            key = key_of(data, method.name, method.version, config, kind, seed=each, fold=number)
            yield Unit(key, method, fold)


def _covers(row: Row, metrics: Sequence[str]) -> bool:
    """Whether a stored result already holds all that is asked for."""
    return "curves" in row and set(metrics) <= set(row.get("metrics", ()))


def _run(
    units: Iterable[Unit],
    data: Dataset,
    copies: Int64,
    metrics: Sequence[str],
    *,
    choose: bool,
    n_jobs: int,
) -> Iterator[tuple[Row, list[str]]]:
    """Run the units and yield each result, with what was warned of, as soon as it is there."""
    pool = Parallel(n_jobs=n_jobs, return_as="generator" if n_jobs == 1 else "generator_unordered")
    yield from pool(delayed(_run_one)(unit, data, copies, metrics, choose=choose) for unit in units)


def _run_one(
    unit: Unit, data: Dataset, copies: Int64, metrics: Sequence[str], *, choose: bool
) -> tuple[Row, list[str]]:
    """Run one unit; other processes cannot warn the caller, so what they say is handed back."""
    with held_warnings() as messages:
        row = run_fold(unit, data, copies, metrics, choose=choose)
    return row, messages


@contextlib.contextmanager
def _store(path: str | Path | None) -> Iterator[ResultStore]:
    if path is not None:
        yield ResultStore(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield ResultStore(Path(folder) / "results.jsonl")
