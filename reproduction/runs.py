"""What is measured: accuracy on folds, features timed, pairs told apart, ceilings, and the case study.

Whatever a store has is not run again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import twinwl as tw
from twinwl.research import ceiling, key_of, resolve, row_key, versions
from twinwl.results import Ceiling, ResultStore, Row

RUNTIMES, PAIRS_APART, CEILINGS = "features, timed", "pairs told apart", "ceiling"
COSINES, PREDICTIONS = "cosine of two graphs", "learnt from all others"
FEATURES = {"1-WL": "count", "STwin": "size", "STwin, joint counts": "joint"}
RUNTIME_SETS = ("Mutagenicity", "NCI1", "NCI109")
RUNTIME_ROUNDS = 5  # the deepest that the paper searches
SEEN_BY = ("1-WL", "size", "rooted-wl", "isomorphism")
CASE_SET, CASE_ROUNDS = "Mutagenicity", 2
CASE_GRAPHS = (208, 1103)
"""Counted from 1, as the paper does."""
_OF_TWO_ROUNDS: dict[str, object] = {"n_iter": CASE_ROUNDS}
CASE_METHODS: dict[str, dict[str, object]] = {
    "wl": _OF_TWO_ROUNDS, "stwin": _OF_TWO_ROUNDS, "wl-svc": {}, "stwin-svc": {}, "ntwin": {},
}  # fmt: skip
_RANDOM = {"wl", "stwin", "ntwin"}
_VERSION = 1


class Cell(NamedTuple):
    """One method on one data set."""

    dataset: str
    method: str


class Settings(NamedTuple):
    """How cells are run, as in `twinwl.evaluate`."""

    grid: str | None = "compact"
    n_folds: int = 10
    repeats: int = 1
    n_jobs: int = 1


def count_missing(cell: Cell, settings: Settings, rows: Sequence[Row]) -> int:
    """Return how many fits of a cell the rows of its store lack.

    >>> count_missing(Cell("MUTAG", "wl-svc"), Settings(grid=None), [])
    10
    """
    method = resolve(cell.method)
    configs = method.configs(settings.grid)
    n_found = sum(
        (row["dataset"], row["method"], row["version"]) == (*cell, method.version)
        and row["splits"] == f"{settings.n_folds} folds"
        and row["config"] in configs
        and row["seed"] < settings.repeats
        for row in rows
    )
    return len(configs) * settings.n_folds * settings.repeats - n_found


def run_cell(cell: Cell, settings: Settings, until: float, data: tw.Dataset, store: Path) -> str:
    """Run the fits that the store lacks, begin none after ``until``; return the figure, or that time is up.

    ``until`` is a value of ``time.monotonic()``.
    """
    found = tw.evaluate(
        cell.method,
        data,
        metrics=["accuracy"],
        edge_labels=False,  # as in the paper
        store=store,
        time_budget=max(0.0, min(until - time.monotonic(), 1e9)),
        **settings._asdict(),
    )
    return "time is up" if count_missing(cell, settings, found.rows) else str(found.summary("fair"))


def _once(
    store: Path, keys: Iterable[Row], measure: Callable[[Row], dict[str, float]], until: float = math.inf
) -> list[Row]:
    """Measure what the store lacks until the time is up; return all rows."""
    file = ResultStore(store)
    known = {row_key(row): row for row in file.rows()}
    keys = list(keys)
    for key in keys:
        if row_key(key) not in known and time.monotonic() < until:
            began = time.perf_counter()
            scores = measure(key)
            row: Row = {**key, "scores": scores, "metrics": list(scores), "versions": versions()}
            known[row_key(key)] = file.append({**row, "seconds": round(time.perf_counter() - began, 3)})
    return [known[row_key(key)] for key in keys if row_key(key) in known]


def time_features(data: tw.Dataset, store: Path, runs: int = 10) -> list[Row]:
    """Time STwin and 1-WL features of a whole data set in turns, after a warm-up."""

    def seconds(key: Row) -> dict[str, float]:
        vectorizer = tw.STwinVectorizer(RUNTIME_ROUNDS, FEATURES[key["method"]], edge_labels=False)
        vectorizer.fit_transform(data.graphs)  # compiled kernels and a warm cache for both
        began = time.perf_counter()
        vectorizer.fit_transform(data.graphs)
        return {"seconds": time.perf_counter() - began}

    keys = [
        key_of(data, name, _VERSION, {"n_iter": RUNTIME_ROUNDS}, RUNTIMES, fold=run)
        for run in range(runs)
        for name in ("1-WL", "STwin")
    ]
    return _once(store, keys, seconds)


def separate_pairs(data: tw.Dataset, store: Path, most_rounds: int = 6) -> list[Row]:
    """Count, after each number of rounds, the pairs of a data set whose features differ."""
    if data.groups is None or (np.bincount(data.groups) != 2).any():  # noqa: PLR2004
        raise tw.TwinWLError(f"{data.name} does not consist of pairs; there is nothing to tell apart")
    graphs = data.graphs[np.argsort(data.groups, kind="stable")]

    def apart(key: Row) -> dict[str, float]:
        options: Any = {**key["config"], "features": FEATURES[key["method"]], "edge_labels": False}
        matrix = tw.STwinVectorizer(**options).fit_transform(graphs)
        differs = abs(matrix[0::2] - matrix[1::2]).sum(axis=1) > 0
        return {"pairs": float(differs.sum()), "of": len(graphs) / 2}

    rounds = range(most_rounds + 1)
    keys = [key_of(data, name, _VERSION, {"n_iter": h}, PAIRS_APART) for name in FEATURES for h in rounds]
    return _once(store, keys, apart)


def find_ceilings(data: tw.Dataset, store: Path) -> list[Row]:
    """Find the best accuracy that any function of what each test sees could have on a data set."""

    @cache
    def found() -> Ceiling:
        readouts = list(SEEN_BY[1:-1])
        return ceiling(data.graphs, data.targets, readouts, task="classification", edge_labels=False)

    def best(key: Row) -> dict[str, float]:
        row, of = found().row(key["method"]), {"of": float(len(data)), "baseline": found().baseline}
        return {"best": row.best, "distinct": float(row.n_distinct), "mixed": float(row.n_mixed), **of}

    return _once(store, [key_of(data, name, _VERSION, {"n_iter": None}, CEILINGS) for name in SEEN_BY], best)


def cosine_of(data: tw.Dataset, features: str, graphs: Sequence[int] = CASE_GRAPHS) -> float:
    """Return the cosine between the features of two graphs, counted from 1, after two rounds."""
    pair = data.graphs[np.array(graphs) - 1]
    return float(tw.TwinKernel(CASE_ROUNDS, features, edge_labels=False).fit_transform(pair)[0, 1])


def run_case_study(
    data: tw.Dataset,
    store: Path,
    methods: Iterable[str] = tuple(CASE_METHODS),
    graphs: Sequence[int] = CASE_GRAPHS,
    seeds: int = 3,
    until: float = math.inf,
) -> list[Row]:
    """Measure the cosines of two graphs, and what models that saw neither predict for them.

    Methods that start from chance are trained with several seeds. ``scores`` has the ``cosine``, or for each
    graph whether its class is right, and the probability of its true class.
    """
    places = np.array(graphs) - 1
    others = np.setdiff1d(np.arange(len(data)), places)

    def cosine(key: Row) -> dict[str, float]:
        return {"cosine": cosine_of(data, FEATURES[key["method"]], graphs)}

    def predicted(key: Row) -> dict[str, float]:
        model = resolve(key["method"]).build(CASE_METHODS[key["method"]], key["seed"])
        model.fit(data.graphs[others], data.targets[others])
        classes, shares = model.predict(data.graphs[places]), model.predict_proba(data.graphs[places])
        scores = {}
        for graph, truth, answer, share in zip(graphs, data.targets[places], classes, shares):
            scores[f"right-{graph}"] = float(answer == truth)
            scores[f"probability-{graph}"] = float(share[model.classes_ == truth][0])
        return scores

    pair = {"graphs": list(graphs)}
    cosines = [
        key_of(data, name, _VERSION, {**_OF_TWO_ROUNDS, **pair}, COSINES) for name in list(FEATURES)[:2]
    ]
    predictions = [
        key_of(data, name, resolve(name).version, {**CASE_METHODS[name], **pair}, PREDICTIONS, seed=seed)
        for name in methods
        for seed in range(seeds if name in _RANDOM else 1)
    ]
    return [*_once(store, cosines, cosine), *_once(store, predictions, predicted, until)]
