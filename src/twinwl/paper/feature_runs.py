"""What is measured without any learning: runtimes of features, pairs told apart, ceilings of data sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.ceiling import ISOMORPHISM, WL, ceiling
from twinwl.evaluation.fold_run import versions
from twinwl.evaluation.store import ResultStore, Row, key_of, row_key
from twinwl.models.vectorizer import STwinVectorizer

KINDS = {"1-WL": "count", "STwin": "size", "STwin, joint counts": "joint"}
"""Features by the name of what they are."""

RUNTIME_SETS = ("Mutagenicity", "NCI1", "NCI109")
RUNTIME_ROUNDS = 5  # the deepest that the paper searches
RUNTIMES = "features, timed"
PAIRS_APART = "pairs told apart"
CEILINGS = "ceiling"
CEILING_READOUTS = ("size", "rooted-wl")
_VERSION = 1


class RuntimeComparison(NamedTuple):
    """Seconds of STwin and 1-WL features of one data set, run by run, and Welch's t-test between them."""

    dataset: str
    stwin: tuple[float, ...]
    wl: tuple[float, ...]
    p_value: float


def time_features(data: Dataset, store: Path, *, runs: int = 10) -> list[Row]:
    """Time STwin and 1-WL features of a whole data set in turns, after a warm-up; file each run.

    Parameters
    ----------
    data
        The data set; reading it is not timed.
    store
        File of results; runs that it holds are not repeated.
    runs
        How often each is run.

    Returns
    -------
    list of Row
        ``scores["seconds"]`` of run ``fold``, methods ``"1-WL"`` and ``"STwin"``.
    """
    known = {row_key(row): row for row in ResultStore(store).rows()}
    names = ("1-WL", "STwin")
    keys = {
        (name, run): key_of(data, name, _VERSION, {"n_iter": RUNTIME_ROUNDS}, RUNTIMES, fold=run)
        for run in range(runs)
        for name in names
    }
    if any(row_key(key) not in known for key in keys.values()):
        for name in names:  # compiled kernels and a warm cache for both
            STwinVectorizer(RUNTIME_ROUNDS, KINDS[name], edge_labels=False).fit_transform(data.graphs)
    for (name, _), key in keys.items():
        if row_key(key) in known:
            continue
        began = time.perf_counter()
        STwinVectorizer(RUNTIME_ROUNDS, KINDS[name], edge_labels=False).fit_transform(data.graphs)
        seconds = time.perf_counter() - began
        known[row_key(key)] = ResultStore(store).append(_filled(key, {"seconds": seconds}))
    return [known[row_key(key)] for key in keys.values()]


def compare_runtimes(rows: Sequence[Row], dataset: str) -> RuntimeComparison | None:
    """Read the timed runs of a data set from stored rows; None where there are not two of each.

    >>> compare_runtimes([], "NCI1") is None
    True
    """
    seconds: dict[str, list[float]] = {"STwin": [], "1-WL": []}
    for row in rows:
        if row["dataset"] == dataset and row["splits"] == RUNTIMES and row["method"] in seconds:
            seconds[row["method"]].append(row["scores"]["seconds"])
    if min(map(len, seconds.values())) < 2:  # noqa: PLR2004
        return None
    test = stats.ttest_ind(seconds["STwin"], seconds["1-WL"], equal_var=False)
    return RuntimeComparison(dataset, tuple(seconds["STwin"]), tuple(seconds["1-WL"]), float(test.pvalue))


def separate_pairs(data: Dataset, store: Path, *, most_rounds: int = 6) -> list[Row]:
    """Count, round by round, the pairs of a data set whose features differ; file each count.

    Parameters
    ----------
    data
        A data set of pairs, such as EXP.
    store
        File of results.
    most_rounds
        The last number of rounds.

    Returns
    -------
    list of Row
        ``scores["pairs"]`` of ``scores["of"]``, for each method of `KINDS` and ``config["n_iter"]``.
    """
    if data.groups is None or (np.bincount(data.groups) != 2).any():  # noqa: PLR2004
        raise TwinWLError(f"{data.name} does not consist of pairs; there is nothing to tell apart")
    order = np.argsort(data.groups, kind="stable")
    known = {row_key(row): row for row in ResultStore(store).rows()}
    found = []
    for name, features in KINDS.items():
        keys = [key_of(data, name, _VERSION, {"n_iter": h}, PAIRS_APART) for h in range(most_rounds + 1)]
        if any(row_key(key) not in known for key in keys):
            vectorizer = STwinVectorizer(most_rounds, features, edge_labels=False)
            matrix = vectorizer.fit_transform(data.graphs)[order]
            apart = abs(matrix[0::2] - matrix[1::2]).tocsc()
            first_of_round = np.append(0, np.cumsum(vectorizer.space_.columns_per_round))
            for h, key in enumerate(keys):
                differs = np.asarray(apart[:, : first_of_round[h + 1]].sum(axis=1)).ravel() > 0
                scores = {"pairs": float(differs.sum()), "of": float(len(differs))}
                known[row_key(key)] = ResultStore(store).append(_filled(key, scores))
        found += [known[row_key(key)] for key in keys]
    return found


def find_ceilings(data: Dataset, store: Path) -> list[Row]:
    """Find the best accuracy that any function of what each test sees could have on a data set; file each.

    Parameters
    ----------
    data
        The data set.
    store
        File of results; a data set that it holds is not looked at again.

    Returns
    -------
    list of Row
        ``scores["best"]``, ``["distinct"]``, ``["mixed"]``, ``["of"]`` and ``["baseline"]`` (the largest
        class), for the methods ``"1-WL"``, the readouts and ``"isomorphism"``.
    """
    known = {row_key(row): row for row in ResultStore(store).rows()}
    names = (WL, *CEILING_READOUTS, ISOMORPHISM)
    keys = {name: key_of(data, name, _VERSION, {"n_iter": None}, CEILINGS) for name in names}
    if any(row_key(key) not in known for key in keys.values()):
        found = ceiling(
            data.graphs, data.targets, list(CEILING_READOUTS), task="classification", edge_labels=False
        )
        for name, key in keys.items():
            row = found.row(name)
            scores = {"best": row.best, "distinct": float(row.n_distinct), "mixed": float(row.n_mixed)}
            scores |= {"of": float(found.n_graphs), "baseline": found.baseline}
            known[row_key(key)] = ResultStore(store).append(_filled(key, scores))
    return [known[row_key(key)] for key in keys.values()]


def _filled(key: Row, scores: dict[str, float]) -> Row:
    return {**key, "scores": scores, "metrics": list(scores), "versions": versions()}
