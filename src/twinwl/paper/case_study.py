"""The paper's case study: two real molecules that 1-WL finds nearly alike and STwin does not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.dataset import Dataset
from twinwl.evaluation.fold_run import versions
from twinwl.evaluation.methods import resolve
from twinwl.evaluation.store import ResultStore, Row, key_of, row_key
from twinwl.models.kernel import TwinKernel

if TYPE_CHECKING:
    _Unit = tuple[Row, Callable[[], dict[str, float]]]

CASE_SET = "Mutagenicity"
CASE_GRAPHS = (208, 1103)
"""Counted from 1, as the paper does."""

CASE_ROUNDS = 2
CASE_METHODS: dict[str, dict[str, object]] = {
    "wl": {"n_iter": CASE_ROUNDS},
    "stwin": {"n_iter": CASE_ROUNDS},
    "wl-svc": {},
    "stwin-svc": {},
    "ntwin": {},
}
COSINES = "cosine of two graphs"
PREDICTIONS = "learnt from all others"
_KINDS = {"1-WL": "count", "STwin": "size"}
_RANDOM = {"wl", "stwin", "ntwin"}
_VERSION = 1


def cosine_of(data: Dataset, features: str, graphs: tuple[int, int] = CASE_GRAPHS) -> float:
    """Return the cosine between the features of two graphs after two rounds.

    Parameters
    ----------
    data
        The data set.
    features
        ``"count"`` for 1-WL, ``"size"`` for STwin.
    graphs
        Counted from 1.

    >>> from twinwl import load_dataset
    >>> round(cosine_of(load_dataset("TWINS", n_pairs=2), "count", (1, 2)), 4)
    1.0
    """
    pair = data.graphs[np.array(graphs) - 1]
    return float(TwinKernel(CASE_ROUNDS, features, edge_labels=False).fit_transform(pair)[0, 1])


def run_case_study(
    data: Dataset,
    store: Path,
    *,
    methods: Sequence[str] = tuple(CASE_METHODS),
    graphs: tuple[int, int] = CASE_GRAPHS,
    seeds: int = 3,
    until: float | None = None,
    begin: Callable[[str, int], None] = lambda _method, _seed: None,
) -> list[Row]:
    """File the cosines of the two graphs, and what models that saw neither predict for them.

    Parameters
    ----------
    data
        Mutagenicity.
    store
        File of results; what it holds is not run again.
    methods
        Of `CASE_METHODS`; each learns from all graphs but the two.
    graphs
        The two, counted from 1.
    seeds
        How often the methods that start from chance are trained.
    until
        Value of ``time.monotonic()`` from which on nothing is begun.
    begin
        Called with method and seed before each training.

    Returns
    -------
    list of Row
        ``scores`` hold ``cosine``; or for each graph the share of votes for its true class.
    """
    cosines: dict[str, _Unit] = {}
    for title, features in _KINDS.items():
        key = key_of(data, title, _VERSION, {"n_iter": CASE_ROUNDS, "graphs": list(graphs)}, COSINES)
        cosines[row_key(key)] = key, partial(_cosines, data, features, graphs)
    predictions: dict[str, _Unit] = {}
    for method in methods:
        for seed in range(seeds if method in _RANDOM else 1):
            config = {**CASE_METHODS[method], "graphs": list(graphs)}
            key = key_of(data, method, resolve(method).version, config, PREDICTIONS, seed=seed)
            predictions[row_key(key)] = key, partial(_predicted, data, method, seed, graphs, begin)
    end = math.inf if until is None else until
    return [*_run(cosines, store, math.inf), *_run(predictions, store, end)]


def _run(units: dict[str, _Unit], store: Path, end: float) -> list[Row]:
    """Run what the store lacks until the time is up; return all results."""
    known = {row_key(row): row for row in ResultStore(store).rows()}
    for name, (key, scores) in units.items():
        if name not in known and time.monotonic() < end:
            began = time.perf_counter()
            values = scores()
            seconds = round(time.perf_counter() - began, 3)
            row: Row = {**key, "scores": values, "metrics": list(values), "seconds": seconds}
            known[name] = ResultStore(store).append({**row, "versions": versions()})
    return [known[name] for name in units if name in known]


def _cosines(data: Dataset, features: str, graphs: tuple[int, int]) -> dict[str, float]:
    return {"cosine": cosine_of(data, features, graphs)}


def _predicted(
    data: Dataset, method: str, seed: int, graphs: tuple[int, int], begin: Callable[[str, int], None]
) -> dict[str, float]:
    """Learn from all graphs but the two; return for each whether its class is right and how sure that is."""
    begin(method, seed)
    places = np.array(graphs) - 1
    others = np.setdiff1d(np.arange(len(data)), places)
    model = resolve(method).build(CASE_METHODS[method], seed)
    model.fit(data.graphs[others], data.targets[others])
    predicted = np.asarray(model.predict(data.graphs[places]))
    probabilities = model.predict_proba(data.graphs[places])
    column = {value: place for place, value in enumerate(model.classes_.tolist())}
    scores: dict[str, float] = {}
    for row, (graph, place) in enumerate(zip(graphs, places.tolist(), strict=True)):
        truth = data.targets[place].item()
        scores[f"right-{graph}"] = float(predicted[row] == truth)
        scores[f"probability-{graph}"] = float(probabilities[row, column[truth]])
    return scores
