"""The choice of a default for molecules: levels, rounds, pairs, descriptors and forests.

    python benchmarks/molecule_defaults.py [--sets NAME …] [--candidates NAME …] [--only-table]

The protocol, written before the runs:

Data. BACE, BBBP, ClinTox, Tox21 and HIV (2,500 and 4,000 molecules drawn at random), ESOL, Lipophilicity,
and ten sets of MoleculeACE. Only training parts are used: the first 80 % of a scaffold split, or the rows
that MoleculeACE marks as such.

Folds. Molecules of one scaffold stay together in five outer folds (three above 2,000 molecules). Whatever a
candidate chooses, it chooses by scaffold-grouped folds inside the outer training part. Seed 0.

Score. Mean ROC-AUC over the tasks that have both classes in a fold, or RMSE; the mean over the folds. The
gain of a candidate over the present default is the difference in ROC-AUC, or the share of the RMSE saved.

Rule. Among the candidates that lose more than 0.01 on no set, the one with the highest mean gain over all
sets is the default; a simpler one (fewer views, no descriptors) within 0.002 of it is taken instead. If no
candidate qualifies, the default stays.

What is in results/molecule_defaults.jsonl is not run again.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import time
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from molecules import NUMBERS, SETS, Molecules
from rdkit import RDLogger
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GroupKFold

import twinwl as tw
from twinwl.evaluation.splits import scaffold_groups
from twinwl.graphs.descriptors import rdkit_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Ints = np.ndarray

ACE = [
    *("CHEMBL1862_Ki", "CHEMBL2034_Ki", "CHEMBL204_Ki", "CHEMBL214_Ki", "CHEMBL219_Ki"),
    *("CHEMBL2835_Ki", "CHEMBL2971_Ki", "CHEMBL4005_Ki", "CHEMBL4616_EC50", "CHEMBL262_Ki"),
]
DRAWN = {"Tox21": 2500, "HIV": 4000}
TARGET = "y [pEC50/pKi]"
LEVELS = ("skeleton", "constitution", "ecfp")
OUT = Path(__file__).parent / "results" / "molecule_defaults.jsonl"


@dataclass(frozen=True)
class Candidate:
    """How molecules are read, and what learns from them."""

    levels: tuple[str, ...]
    model: str = "svm"
    average_rounds: bool = False
    pairs: int | None = None
    descriptors: bool = False

    @property
    def atoms(self) -> str | tuple[str, ...]:
        """The levels, or the only one."""
        return self.levels if len(self.levels) > 1 else self.levels[0]


DEFAULT = "ecfp"
CANDIDATES = {
    DEFAULT: Candidate(("ecfp",)),
    "levels": Candidate(LEVELS),
    "levels, rounds": Candidate(LEVELS, average_rounds=True),
    "levels, rounds, pairs": Candidate(LEVELS, average_rounds=True, pairs=10),
    "levels, descriptors": Candidate(LEVELS, descriptors=True),
    "levels, rounds, descriptors": Candidate(LEVELS, average_rounds=True, descriptors=True),
    "levels, rounds, pairs, descriptors": Candidate(LEVELS, average_rounds=True, pairs=10, descriptors=True),
    "forest": Candidate(LEVELS, "forest"),
    "forest, descriptors": Candidate(LEVELS, "forest", descriptors=True),
    "boosting": Candidate(LEVELS, "boosting"),
    "boosting, descriptors": Candidate(LEVELS, "boosting", descriptors=True),
}


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", choices=[*SETS, *ACE], default=[*SETS, *ACE])
    parser.add_argument("--candidates", nargs="*", choices=list(CANDIDATES), default=list(CANDIDATES))
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RDLogger.DisableLog("rdApp.*")
    if not options.only_table:
        for name in options.sets:
            _run(name, options.candidates)
    _print(_rows())


@dataclass(eq=False)
class Part:
    """The training part of a set: molecules, targets (NaN where one is missing) and descriptors."""

    smiles: list[str]
    y: np.ndarray
    numbers: bool
    descriptors: dict[str, np.ndarray]

    @classmethod
    def of(cls, name: str) -> Part:
        """Read a set."""
        if name in SETS:
            data = Molecules.of(name)
            rows = data.fold.train
            if name in DRAWN:
                rows = np.sort(np.random.default_rng(0).choice(rows, DRAWN[name], replace=False))
            smiles, y = [data.smiles[row] for row in rows], data.y[rows]
        else:
            cells = [row for row in moleculeace(name) if row["split"] == "train"]
            smiles, y = [row["smiles"] for row in cells], np.array([[float(row[TARGET])] for row in cells])
        return cls(smiles, y, name in NUMBERS or name in ACE, rdkit_descriptors(smiles))


def moleculeace(name: str) -> list[dict[str, str]]:
    """Return the rows of a set of MoleculeACE."""
    with zipfile.ZipFile(Path(os.environ["TWINWL_DATA"]) / "moleculeace_15_csv.zip") as archive:
        return list(csv.DictReader(io.StringIO(archive.read(f"moleculeace/{name}.csv").decode())))


def _run(name: str, candidates: list[str]) -> None:
    done = {(row["set"], row["candidate"]) for row in _rows()}
    missing = [candidate for candidate in candidates if (name, candidate) not in done]
    if not missing:
        return
    data = Part.of(name)
    n_folds = 3 if len(data.smiles) > 2000 else 5
    folds = list(GroupKFold(n_folds).split(data.smiles, groups=scaffold_groups(data.smiles)))
    for candidate in missing:
        start = time.process_time()
        scores = list(_scores(CANDIDATES[candidate], data, folds))
        row = {"set": name, "candidate": candidate, "scores": scores}
        row["seconds"] = round(time.process_time() - start, 1)
        with OUT.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(name, candidate, round(float(np.mean(scores)), 4), row["seconds"], flush=True)


def _scores(candidate: Candidate, data: Part, folds: Sequence[tuple[Ints, Ints]]) -> Iterator[float]:
    """Yield the score of each outer fold."""
    learn = _svm if candidate.model == "svm" else _trees
    for train, test in folds:
        found = []
        for values, truth in zip(learn(candidate, data, train, test), data.y[test].T, strict=True):
            known = ~np.isnan(truth)
            if data.numbers:
                found.append(float(root_mean_squared_error(truth[known], values[known])))
            elif len(np.unique(truth[known])) == 2:
                found.append(float(roc_auc_score(truth[known], values[known])))
        yield float(np.mean(found))


def _svm(candidate: Candidate, data: Part, train: Ints, test: Ints) -> Iterator[np.ndarray]:
    """Yield what a support vector machine says about each task of the test part."""
    graphs = tw.from_smiles(data.smiles, atoms=candidate.atoms)
    if candidate.descriptors:
        graphs = graphs.with_extra(data.descriptors)
    make = tw.STwinSVR if data.numbers else tw.STwinSVC
    model = make(
        average_rounds=candidate.average_rounds, pairs=candidate.pairs, random_state=0, verbose=False
    )
    for task in data.y.T:
        known = train[~np.isnan(task[train])]
        model.fit(graphs[known], task[known])
        yield (model.predict if data.numbers else model.decision_function)(graphs[test])


def _trees(candidate: Candidate, data: Part, train: Ints, test: Ints) -> Iterator[np.ndarray]:
    """Yield what a forest or boosting says about each task of the test part."""
    boosting = candidate.model == "boosting"
    graphs = tw.from_smiles(data.smiles, atoms=candidate.atoms)
    vectorizer = tw.STwinVectorizer(2, "joint", min_df=10 if boosting else 2).fit(graphs[train])
    features = vectorizer.transform(graphs).astype(np.float32)
    if candidate.descriptors:
        columns = np.column_stack(list(data.descriptors.values()))
        columns = np.where(np.isfinite(columns), columns, np.nan)
        filled = np.where(np.isnan(columns), np.nanmedian(columns[train], axis=0), columns)
        filled = np.nan_to_num(filled.clip(-1e30, 1e30)).astype(np.float32)
        features = sparse.hstack([features, filled]).tocsr()
    for task in data.y.T:
        known = train[~np.isnan(task[train])]
        if boosting:
            make = HistGradientBoostingRegressor if data.numbers else HistGradientBoostingClassifier
            model = make(random_state=0).fit(features[known].toarray(), task[known])
            asked = features[test].toarray()
        else:
            make = RandomForestRegressor if data.numbers else RandomForestClassifier
            model = make(500, n_jobs=1, random_state=0, max_features="sqrt").fit(features[known], task[known])
            asked = features[test]
        yield model.predict(asked) if data.numbers else model.predict_proba(asked)[:, 1]


def _rows() -> list[dict[str, object]]:
    return [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []


def _print(rows: list[dict[str, object]]) -> None:
    means = {(row["set"], row["candidate"]): float(np.mean(row["scores"])) for row in rows}
    sets = [name for name in (*SETS, *ACE) if any((name, candidate) in means for candidate in CANDIDATES)]
    table = Table(title="ROC-AUC or RMSE; gain over the default")
    for title in ("", *sets, "mean gain", "worst"):
        table.add_column(title, justify="left" if not title else "right")
    for candidate in CANDIDATES:
        cells, gains = [], []
        for name in sets:
            if (name, candidate) not in means or (name, DEFAULT) not in means:
                cells.append("")
                continue
            ours, default = means[name, candidate], means[name, DEFAULT]
            gains.append(1 - ours / default if name in NUMBERS or name in ACE else ours - default)
            cells.append(f"{ours:.3f} {gains[-1]:+.3f}")
        mean = [f"{np.mean(gains):+.4f}", f"{min(gains):+.3f}"] if len(gains) == len(sets) else ["", ""]
        table.add_row(candidate, *cells, *mean)
    Console(width=260).print(table)


if __name__ == "__main__":
    main()
