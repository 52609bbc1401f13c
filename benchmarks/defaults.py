"""The choice of defaults: kernels, rounds and penalties of ``STwinSVC`` (docs/benchmarks/defaults.md).

Run as ``python benchmarks/defaults.py [--group check]``. For each data set, seed and fold, every kernel and
every C is scored on the inner folds of the training part and, trained on all of it, on the test fold. The
candidates only differ in which of these they may choose from, by the inner score. What is in
results/defaults.jsonl is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

import twinwl as tw
from twinwl.evaluation.result import compare_scores, p_value_text
from twinwl.evaluation.splits import make_folds
from twinwl.models.calibration import inner_folds
from twinwl.models.features import ViewSpaces, stwin_features
from twinwl.models.metrics import score_column
from twinwl.models.similarity import MeanSimilarity, Similarity, own_sums
from twinwl.models.svc import kernel_svm
from twinwl.models.targets import TargetTable

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the reproduction, which is not installed

from reproduction.charts import as_svg, difference_charts
from reproduction.results import TITLES, TwinAgainstWL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.arrays import Float64
    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.splits import Fold

GROUPS = {
    "development": ["MUTAG", "PTC_MR", "IMDB-BINARY", "BACE", "DD", "NCI1"],
    "check": ["TWINS", "EXP", "BBBP", "ClinTox", "NCI109", "Mutagenicity"],
}
TARGETS = {"ClinTox": "CT_TOX"}
ROUNDS = range(6)
PENALTIES = [0.1, 1.0, 3.0, 10.0, 100.0]
WIDTHS = [0.25, 1.0, 4.0]
SEEDS = range(3)
N_FOLDS = 10
OUT = Path(__file__).parent / "results" / "defaults.jsonl"
console = Console(width=170)


class Candidate(NamedTuple):
    """What may be chosen from: prefixes of names of kernels, and rounds."""

    kernels: tuple[str, ...]
    rounds: range = ROUNDS

    def names(self) -> set[str]:
        """Return the kernels to choose from."""
        found: set[str] = set()
        for name in self.kernels:
            if name.startswith("mean-"):
                found.add(name)
            else:
                found |= {f"{name} {number}" for number in (WIDTHS if "rbf" in name else self.rounds)}
        return found


REFERENCE = "1-WL"
DEFAULT = "joint"
CANDIDATES = {
    REFERENCE: Candidate(("count",)),
    "size, 2-5": Candidate(("size",), range(2, 6)),
    "size": Candidate(("size",)),
    "joint, 2-5": Candidate(("joint",), range(2, 6)),
    "joint": Candidate(("joint",)),
    "count or joint": Candidate(("count", "joint")),
    "any of three": Candidate(("count", "size", "joint")),
    "count: mean of rounds": Candidate(("mean-count",)),
    "joint: mean of rounds": Candidate(("mean-joint",)),
    "count: RBF": Candidate(("rbf-count",)),
    "joint: RBF": Candidate(("rbf-joint",)),
    "views: RBF": Candidate(("rbf-views",)),
    "joint with edge labels": Candidate(("edges-joint",)),
    "joint with rings": Candidate(("ring-joint",)),
    "joint, with rings or without": Candidate(("joint", "ring-joint")),
    "joint, or views: RBF": Candidate(("joint", "rbf-views")),
}


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", choices=list(GROUPS), default="development")
    parser.add_argument("--sets", nargs="*", help="some of the group only")
    parser.add_argument("--kernels", nargs="*", help="names of kernels without rounds (default: all)")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--picture", type=Path, help="run nothing; draw the default beside 1-WL on all sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.picture:
        _draw(_rows(options.out), options.picture)
        return
    names = [name for name in GROUPS[options.group] if not options.sets or name in options.sets]
    for name in names:
        _run(name, options.kernels, options.out)
    _print(names, _rows(options.out))


def _run(name: str, wanted: list[str] | None, out: Path) -> None:
    done = {(row["seed"], row["fold"], row["kernel"]) for row in _rows(out) if row["dataset"] == name}
    data = tw.load_dataset(name, target=TARGETS.get(name))
    folds = {
        (seed, place): fold
        for seed in SEEDS
        for place, fold in enumerate(make_folds(data.targets, data.groups, seed=seed))
    }
    for kernel, similarities in _kernels(data, wanted):
        missing = [(seed, place) for seed, place in folds if (seed, place, kernel) not in done]
        rows = [
            {"dataset": name, "seed": seed, "fold": place, "kernel": kernel}
            | _scores(data, similarities, folds[seed, place], seed)
            for seed, place in missing
        ]
        if rows:
            with out.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
            console.print(f"{name}, {kernel}: {np.mean([max(row['test']) for row in rows]):.4f}")


def _scores(data: Dataset, similarities: Float64, fold: Fold, seed: int) -> dict[str, list[float]]:
    """Return, for each C, the score on inner folds and on the test fold."""
    train, test = fold.training_part, fold.test
    groups = None if data.groups is None else data.groups[train]
    targets = TargetTable.read(data.targets[train], len(train), None, None, groups).column(0)
    machine = kernel_svm(targets)
    own = np.ascontiguousarray(similarities[np.ix_(train, train)])
    inner = machine.held_out(own, targets, PENALTIES, inner_folds(targets, 5, seed), None)
    all_targets = TargetTable.read(data.targets, len(data.graphs), None, None, None).column(0)
    tested = machine.held_out(similarities, all_targets, PENALTIES, [(train, test)], None)
    found = []
    for decisions in tested:
        asked = decisions[test]
        codes = (asked > 0).astype(int) if asked.ndim == 1 else asked.argmax(axis=1)
        found.append(float((all_targets.classes[codes] == data.targets[test]).mean()))
    return {"inner": [score_column(targets, decisions, "accuracy") for decisions in inner], "test": found}


def _kernels(data: Dataset, wanted: list[str] | None) -> Iterator[tuple[str, Float64]]:  # noqa: C901, PLR0912
    """Yield named kernel matrices of all graphs."""

    def asked(*names: str) -> bool:
        return not wanted or bool(set(names) & set(wanted))

    means: dict[str, Float64] = {}
    for kind in ("count", "size", "joint"):
        if asked(kind, f"mean-{kind}", f"rbf-{kind}", "rbf-views"):
            means[kind] = np.zeros((len(data.graphs),) * 2)
            for h, similarities in _by_rounds(data.graphs, kind):
                means[kind] += similarities / len(ROUNDS)
                if asked(kind):
                    yield f"{kind} {h}", similarities
    for kind in ("count", "joint"):
        if asked(f"mean-{kind}"):
            yield f"mean-{kind}", means[kind]
        if asked(f"rbf-{kind}"):
            yield from ((f"rbf-{kind} {width}", np.exp(width * (means[kind] - 1))) for width in WIDTHS)
    if asked("edges-joint"):
        for h, similarities in _by_rounds(
            data.graphs, "joint", edge_labels=data.graphs.edge_labels is not None
        ):
            yield f"edges-joint {h}", similarities
    if asked("ring-joint", "rbf-views"):
        ring = np.zeros((len(data.graphs),) * 2)
        for h, similarities in _by_rounds(data.graphs, "joint", initial="ring"):
            ring += similarities / len(ROUNDS)
            if asked("ring-joint"):
                yield f"ring-joint {h}", similarities
    if asked("rbf-views"):
        views = [*means.values(), ring, _distance_pairs(data.graphs)]
        mean = sum(views) / len(views)
        yield from ((f"rbf-views {width}", np.exp(width * (mean - 1))) for width in WIDTHS)


def _by_rounds(
    graphs: tw.GraphBatch, kind: str, *, edge_labels: bool = False, initial: str = "label"
) -> Iterator[tuple[int, Float64]]:
    encoding = stwin_features(graphs, max(ROUNDS), kind, edge_labels=edge_labels, initial=initial)
    spaces = ViewSpaces((encoding.space,))
    similarity = MeanSimilarity(spaces, encoding.matrix, list(ROUNDS), "minmax", normalize=True)
    return zip(ROUNDS, similarity.by_rounds(similarity.compared()))


def _distance_pairs(graphs: tw.GraphBatch) -> Float64:
    """Return the min-max kernel of counts of (label, label, distance)."""
    n_labels = len(graphs.node_vocabulary)
    keys, counts = [], []
    for low, high in zip(graphs.graph_ptr[:-1], graphs.graph_ptr[1:], strict=True):
        indptr = graphs.indptr[low : high + 1]
        indices = graphs.indices[indptr[0] : indptr[-1]] - low
        arcs = sparse.csr_matrix(
            (np.ones(len(indices)), indices, indptr - indptr[0]), shape=(high - low,) * 2
        )
        distance = shortest_path(arcs, unweighted=True)
        labels = graphs.node_labels[low:high].astype(np.int64)
        first, second = np.minimum.outer(labels, labels), np.maximum.outer(labels, labels)
        reached = np.isfinite(distance)
        key = (distance[reached].astype(np.int64) * n_labels + first[reached]) * n_labels + second[reached]
        found, times = np.unique(key, return_counts=True)
        keys.append(found)
        counts.append(times)
    columns = np.unique(np.concatenate(keys), return_inverse=True)[1]
    indptr = np.concatenate([[0], np.cumsum([len(found) for found in keys])])
    matrix = sparse.csr_matrix((np.concatenate(counts).astype(np.float64), columns, indptr))
    return Similarity(matrix, "minmax", normalize=True).of(matrix, own_sums(matrix, "minmax"))


def _rows(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def _chosen(rows: list[dict[str, object]], candidate: Candidate) -> dict[tuple[int, int], float]:
    """Return the test score of what a candidate chooses, by seed and fold, where all its kernels ran."""
    names = candidate.names()
    run = defaultdict(set)
    for row in rows:
        run[row["seed"], row["fold"]].add(row["kernel"])
    best: dict[tuple[int, int], tuple[float, float]] = {}
    for row in rows:
        if row["kernel"] in names <= run[row["seed"], row["fold"]]:
            for inner, test in zip(row["inner"], row["test"], strict=True):
                place = row["seed"], row["fold"]
                if place not in best or inner > best[place][0]:  # in a tie the first kernel, the smallest C
                    best[place] = inner, test
    return {place: test for place, (_, test) in sorted(best.items())}


def _draw(rows: list[dict[str, object]], picture: Path) -> None:
    """Draw the difference of the default to 1-WL on every set that was run, with its interval."""
    found = []
    for name in [*GROUPS["development"], *GROUPS["check"]]:
        of_set = [row for row in rows if row["dataset"] == name]
        ours, theirs = _chosen(of_set, CANDIDATES[DEFAULT]), _chosen(of_set, CANDIDATES[REFERENCE])
        if ours and ours.keys() == theirs.keys():
            scores, names = (
                (list(ours.values()), list(theirs.values())),
                (TITLES["stwin-svc"], TITLES["wl-svc"]),
            )
            found.append(TwinAgainstWL(name, compare_scores(*scores, names, test_share=1 / (N_FOLDS - 1))))
    picture.write_text(as_svg(difference_charts(found)), encoding="utf-8")


def _print(names: list[str], rows: list[dict[str, object]]) -> None:
    by_set = defaultdict(list)
    for row in rows:
        by_set[row["dataset"]].append(row)
    table = Table(title="accuracy in %, difference to 1-WL and p of the corrected t-test, means of all folds")
    table.add_column("candidate")
    for name in [*names, "mean"]:
        table.add_column(name, justify="right")
    reference = {name: _chosen(by_set[name], CANDIDATES[REFERENCE]) for name in names}
    for title, candidate in CANDIDATES.items():
        cells, means = [], []
        for name in names:
            found = _chosen(by_set[name], candidate)
            if not found or found.keys() != reference[name].keys():
                cells.append(f"({len(found)} folds)")
                continue
            compared = compare_scores(list(found.values()), list(reference[name].values()), test_share=1 / 9)
            means.append((100 * np.mean(list(found.values())), 100 * compared.difference))
            cells.append(f"{means[-1][0]:.1f} {means[-1][1]:+.1f} {p_value_text(compared.t_p_value)[4:]}")
        mean = "{:.2f} {:+.2f}".format(*np.mean(means, axis=0)) if len(means) == len(names) else ""
        table.add_row(title, *cells, mean)
    console.print(table)


if __name__ == "__main__":
    main()
