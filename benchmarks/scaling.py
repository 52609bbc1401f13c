"""Which scaling of STwin's raw sums trains well: the evidence behind STwinClassifier's default.

Each candidate feeds the same perceptron (hidden 64, dropout 0.5, Adam 1e-3, batches of 32, patience 15 on the
held-out 10 %) with equation (3) features of 3 rounds, rescaled. Run as ``python benchmarks/scaling.py`` with
TWINWL_DATA set. One JSON line per fold is appended to results/scaling.jsonl; folds that are there already are
not run again. The table comes last.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.preprocessing import normalize

import twinwl as tw
from twinwl.evaluation.splits import make_folds
from twinwl.models.features import stwin_features
from twinwl.neural.sparse import SparseExamples
from twinwl.neural.stwin import NetworkInput, SparsePerceptron
from twinwl.neural.training import LabelledSet, predict_logits, seeded, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.splits import Fold

    # Takes sums and counts of the training graphs; returns a function that rescales those of any graph.
    Scaling = Callable[[sparse.csr_matrix, sparse.csr_matrix], Callable[..., sparse.csr_matrix]]

OUT = Path(__file__).parent / "results" / "scaling.jsonl"
ROUNDS = 3


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["EXP", "NCI1", "Mutagenicity"])
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds to run")
    parser.add_argument("--only", nargs="+", choices=sorted(CANDIDATES), default=list(CANDIDATES))
    options = parser.parse_args()
    known = {(row["dataset"], row["scaling"], row["fold"]): row["accuracy"] for row in _stored()}
    for name in options.data:
        data = tw.load_dataset(name)
        for number, fold in enumerate(make_folds(data.targets, data.groups)[: options.folds]):
            for scaling in options.only:
                if (name, scaling, number) not in known:
                    known[name, scaling, number] = _accuracy(data, fold, CANDIDATES[scaling], number)
                    _store({"dataset": name, "scaling": scaling, "fold": number}, known)
    _print(known, options.data)


def _accuracy(data: Dataset, fold: Fold, scaling: Scaling, seed: int) -> float:
    """Train on a fold and return the accuracy on its test part, in per cent."""
    sums = stwin_features(data.graphs[fold.train], ROUNDS, "size")
    counts = stwin_features(data.graphs[fold.train], ROUNDS, "count")
    rescale = scaling(sums.matrix, counts.matrix)
    codes = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    examples = {}
    for part in ("train", "validation", "test"):
        graphs = data.graphs[getattr(fold, part)]
        raw = [stwin_features(graphs, space=fitted.space).matrix for fitted in (sums, counts)]
        examples[part] = SparseExamples(rescale(*raw).tocsr())
    with seeded(seed):
        module = SparsePerceptron(examples["train"].n_columns, 64, 2, dropout=0.5)
    train(
        module,
        examples["train"],
        codes[fold.train],
        validation=LabelledSet(examples["validation"], codes[fold.validation]),
        random_state=seed,
    )
    right = predict_logits(module, examples["test"]).argmax(axis=1) == codes[fold.test]
    return float(100 * right.mean())


# ---------------------------------------------------------------------- the candidates


def _raw(_: sparse.csr_matrix, __: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    return lambda sums, _: sums


def _max_abs(sums: sparse.csr_matrix, _: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    largest = sums.max(axis=0).toarray()[0]
    return lambda sums, _: sums @ sparse.diags_array(1 / largest)


def _log(_: sparse.csr_matrix, __: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    return lambda sums, _: sums.log1p()


def _root(_: sparse.csr_matrix, __: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    return lambda sums, _: 5 * normalize(sums.sqrt())


def _root_of_frequent(sums: sparse.csr_matrix, _: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    graphs = np.bincount(sums.indices, minlength=sums.shape[1])
    frequent = np.flatnonzero(graphs >= 0.03 * sums.shape[0])
    return lambda sums, _: 5 * normalize(sums[:, frequent].sqrt())


def _tf_idf(sums: sparse.csr_matrix, _: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    graphs = np.bincount(sums.indices, minlength=sums.shape[1])
    rarity = sparse.diags_array(np.log((1 + sums.shape[0]) / (1 + graphs)) + 1)
    return lambda sums, _: 5 * normalize(sums.sqrt() @ rarity)


def _root_and_excess(sums: sparse.csr_matrix, counts: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    scaling = NetworkInput.fit_to(sums.shape[1], [(sums, counts)])

    def rescale(sums: sparse.csr_matrix, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        excess = scaling.apply(sums, counts)[:, scaling.n_steps :]
        return sparse.hstack([5 * normalize(counts.sqrt()), excess])

    return rescale


def _steps_alone(_: sparse.csr_matrix, counts: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    scaling = NetworkInput.fit_to(counts.shape[1], [(counts, None)])
    return lambda _, counts: scaling.apply(counts, None)


def _twin(sums: sparse.csr_matrix, counts: sparse.csr_matrix) -> Callable[..., sparse.csr_matrix]:
    return NetworkInput.fit_to(sums.shape[1], [(sums, counts)]).apply


CANDIDATES: dict[str, Scaling] = {
    "raw sums": _raw,
    "max-abs": _max_abs,
    "log(1 + sum)": _log,
    "root, length 5": _root,
    "root, length 5, columns of 3 % of graphs": _root_of_frequent,
    "root × idf, length 5": _tf_idf,
    "counts (root, length 5) and excess": _root_and_excess,
    "counts as steps, no sizes (1-WL)": _steps_alone,
    "counts as steps and excess (the default)": _twin,
}


def _stored() -> list[dict[str, object]]:
    if not OUT.exists():
        return []
    return [json.loads(line) for line in OUT.read_text(encoding="utf-8").splitlines()]


def _store(key: dict[str, object], known: dict[tuple[object, ...], object]) -> None:
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("a", encoding="utf-8") as store:
        store.write(json.dumps({**key, "accuracy": known[tuple(key.values())]}) + "\n")


def _print(known: dict[tuple[object, ...], object], names: list[str]) -> None:
    table = Table("scaling", *names)
    for scaling in CANDIDATES:
        cells = []
        for name in names:
            values = [known[key] for key in known if key[:2] == (name, scaling)]
            cells.append(f"{np.mean(values):.1f} ± {np.std(values):.1f} ({len(values)})" if values else "–")
        table.add_row(scaling, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
