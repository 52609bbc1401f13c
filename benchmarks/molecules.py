"""Molecules: twin features and kernels compared with what chemists use, on scaffold splits, five seeds.

Run as ``python benchmarks/molecules.py`` (needs TWINWL_DATA with MoleculeNet's tables). Each set is split
once by scaffold, 80 : 10 : 10, common scaffolds first, as OGB does. Models learn from the first part and are
scored on the second (by which defaults were chosen) and on the last (what is reported): mean ROC-AUC over
the tasks that have both classes there, or RMSE. Scores are kept in results/molecules.json as they come in,
so that a run that was stopped goes on.

Forests have 500 trees. All features are given to them as sparse columns, which on HIV
is 10 to 70 times as fast as a dense matrix, with the same trees: nearly all entries are zero. Support vector
machines have their defaults, and Nyström's approximation on Tox21 and HIV; their seed only changes the inner
folds and the landmarks. chemprop, whose requirements are not those of this package, runs as a program where
``--chemprop`` names it: its defaults, all tasks at once, the epoch of the least loss on the second part.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rdkit import RDLogger
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator, GetMorganGenerator
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score, root_mean_squared_error

import twinwl as tw
from twinwl.datasets.rows import is_missing
from twinwl.datasets.source import Reading, read_columns, read_source
from twinwl.evaluation.scaffold import scaffold_split

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.evaluation.folds import Fold

SETS = {
    "BACE": ["Class"],
    "BBBP": ["BBBP"],
    "ClinTox": ["FDA_APPROVED", "CT_TOX"],
    "ESOL": ["measured log solubility in mols per litre"],
    "Lipophilicity": ["exp"],
    "Tox21": [
        *("NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma"),
        *("SR-ARE", "SR-ATAD5", "SR-HSE", "SR-MMP", "SR-p53"),
    ],
    "HIV": ["HIV_active"],
}
Parts = tuple[np.ndarray, np.ndarray]
NUMBERS = {"ESOL", "Lipophilicity"}
OUT = Path(__file__).parent / "results" / "molecules.json"
console = Console(width=150)


@dataclass(eq=False)
class Molecules:
    """A set: readable molecules, a target for each task (NaN where it is missing), and the split."""

    name: str
    smiles: list[str]
    y: np.ndarray
    fold: Fold

    @classmethod
    def of(cls, name: str) -> Molecules:
        """Read a set."""
        data = read_source(name, Reading(), "none")
        columns = read_columns(name, Reading())
        cells = [[columns[task][row] for task in SETS[name]] for row in data.rows]
        y = np.array([[np.nan if is_missing(cell) else float(cell) for cell in row] for row in cells])
        smiles = list(data.smiles or ())
        return cls(name, smiles, y, scaffold_split(smiles))

    @property
    def numbers(self) -> bool:
        """Whether targets are numbers, not classes."""
        return self.name in NUMBERS


@dataclass(eq=False)
class Forest:
    """A forest on features: an array or sparse matrix with one row per molecule."""

    features: Callable[[Molecules], object]

    def prepared(self, data: Molecules) -> sparse.csr_matrix:
        """Return the features, which no seed changes."""
        return sparse.csr_matrix(self.features(data), dtype=np.float32)

    def predicted(
        self, data: Molecules, features: sparse.csr_matrix, seed: int, task: int, parts: Parts
    ) -> np.ndarray:
        """Learn a task and return a number or decision for each molecule of the second of two parts."""
        train, rest = parts
        make = RandomForestRegressor if data.numbers else RandomForestClassifier
        forest = make(500, n_jobs=1, random_state=seed, max_features="sqrt")
        forest.fit(features[train].tocsc(), data.y[train, task])
        if data.numbers:
            return forest.predict(features[rest])
        return forest.predict_proba(features[rest])[:, 1]


@dataclass(eq=False)
class Machine:
    """A support vector machine on the twin kernel, with its defaults."""

    atoms: str
    edge_labels: bool = False

    def prepared(self, data: Molecules) -> tw.GraphBatch:
        """Return the graphs, which no seed changes."""
        return tw.from_smiles(data.smiles, atoms=self.atoms)

    def predicted(
        self, data: Molecules, graphs: tw.GraphBatch, seed: int, task: int, parts: Parts
    ) -> np.ndarray:
        """Learn a task and return a number or decision for each molecule of the second of two parts."""
        train, rest = parts
        make = tw.STwinSVR if data.numbers else tw.STwinSVC
        large = {"kernel_approximation": "nystroem"} if len(graphs) > 5000 else {}
        machine = make(random_state=seed, edge_labels=self.edge_labels, **large)
        machine.fit(graphs[train], data.y[train, task])
        predict = machine.predict if data.numbers else machine.decision_function
        return predict(graphs[rest])


@dataclass(eq=False)
class Chemprop:
    """chemprop as a program, which learns all tasks at once."""

    program: str

    def prepared(self, data: Molecules) -> dict[int, np.ndarray]:
        """Return predictions by seed, which are filled in when asked for."""
        del data
        return {}

    def predicted(
        self, data: Molecules, found: dict[int, np.ndarray], seed: int, task: int, parts: Parts
    ) -> np.ndarray:
        """Learn all tasks and return a number or probability for each molecule of the second part."""
        if seed not in found:
            found[seed] = self._run(data, seed)
        return found[seed][parts[1], task]

    def _run(self, data: Molecules, seed: int) -> np.ndarray:
        part = np.full(len(data.smiles), "train", object)
        part[data.fold.validation], part[data.fold.test] = "val", "test"
        tasks = [f"task{task}" for task in range(data.y.shape[1])]
        cells = np.where(np.isnan(data.y), "", data.y.astype(str))
        with tempfile.TemporaryDirectory() as folder:
            table, model, out = (Path(folder) / name for name in ("in.csv", "model", "out.csv"))
            with table.open("w") as file:
                writer = csv.writer(file)
                writer.writerow(["smiles", *tasks, "split"])
                writer.writerows(zip(data.smiles, *cells.T, part, strict=True))
            kind = "regression" if data.numbers else "classification"
            train = ["train", "-i", table, "-o", model, "-t", kind, "--smiles-columns", "smiles"]
            train += ["--target-columns", *tasks, "--splits-column", "split", "--pytorch-seed", str(seed)]
            predict = ["predict", "-i", table, "-o", out, "--smiles-columns", "smiles"]
            predict += ["--model-paths", model / "model_0" / "best.pt"]
            for command in (train, predict):
                subprocess.run([self.program, *command], check=True, capture_output=True)  # noqa: S603
            with out.open() as file:
                return np.array([[float(row[task]) for task in tasks] for row in csv.DictReader(file)])


def fingerprint(generator: Any) -> Forest:  # noqa: ANN401  (RDKit has no public type for it)
    """Return a forest on counts of a fingerprint of RDKit."""

    def features(data: Molecules) -> np.ndarray:
        molecules = map(MolFromSmiles, data.smiles)
        return np.array([generator.GetCountFingerprintAsNumPy(molecule) for molecule in molecules])

    return Forest(features)


def twin(atoms: str, features: str = "joint", n_iter: int = 2, **options: object) -> Forest:
    """Return a forest on STwin features, whose alphabet is that of the training molecules."""

    def encode(data: Molecules) -> sparse.csr_matrix:
        graphs = tw.from_smiles(data.smiles, atoms=atoms)
        vectorizer = tw.STwinVectorizer(n_iter, features, **{"min_df": 2, **options})
        return vectorizer.fit(graphs[data.fold.train]).transform(graphs)

    return Forest(encode)


CONTESTANTS: dict[str, Any] = {
    "ECFP4 counts, forest": fingerprint(GetMorganGenerator(radius=2, fpSize=2048)),
    "atom pairs, forest": fingerprint(GetAtomPairGenerator(fpSize=2048)),
    "twin, skeleton, forest": twin("skeleton"),
    "twin, skeleton and bonds, forest": twin("skeleton", edge_labels=True),
    "twin, constitution, forest": twin("constitution"),
    "twin, ecfp, forest": twin("ecfp"),
    "twin, ecfp and bonds, forest": twin("ecfp", edge_labels=True),
    "STwinSVC/R, skeleton": Machine("skeleton"),
    "STwinSVC/R, skeleton and bonds": Machine("skeleton", edge_labels=True),
    "STwinSVC/R, constitution": Machine("constitution"),
    "STwinSVC/R, ecfp": Machine("ecfp"),
}


def main() -> None:
    """Run what is missing, print the table and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--contestants", nargs="*", help="the names in the table (default: all)")
    parser.add_argument("--chemprop", metavar="PROGRAM", help="chemprop's command, to run it as well")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RDLogger.DisableLog("rdApp.*")
    known = CONTESTANTS | ({"chemprop": Chemprop(options.chemprop)} if options.chemprop else {})
    chosen = {name: known[name] for name in options.contestants or known}
    result = json.loads(options.out.read_text()) if options.out.exists() else {}
    missing = [
        (name, seed, contestant)
        for seed in range(options.seeds)
        for name in options.sets
        for contestant in chosen
        if str(seed) not in result.get(name, {}).get(contestant, {})
    ]
    data = functools.cache(Molecules.of)
    prepared = functools.cache(lambda name, contestant: chosen[contestant].prepared(data(name)))
    for name, seed, contestant in missing:
        learn = functools.partial(chosen[contestant].predicted, data(name), prepared(name, contestant), seed)
        scores = _scores(data(name), learn)
        result.setdefault(name, {}).setdefault(contestant, {})[str(seed)] = scores
        options.out.write_text(json.dumps(result, indent=1) + "\n")
        rounded = {part: round(score, 4) for part, score in scores.items()}
        console.print(f"{name}, {contestant}, seed {seed}: {rounded}")
    _print(result)


def _scores(data: Molecules, predicted: Callable[[int, Parts], np.ndarray]) -> dict[str, float]:
    """Learn each task from the training part, and score the other two: means over tasks."""
    scores: dict[str, list[float]] = {"validation": [], "test": []}
    for task, y in enumerate(data.y.T):
        fold = data.fold
        train, validation, test = (
            part[~np.isnan(y[part])] for part in (fold.train, fold.validation, fold.test)
        )
        values = predicted(task, (train, np.concatenate([validation, test])))
        halves = np.split(values, [len(validation)])
        for found, part, value in zip(scores.values(), (validation, test), halves, strict=True):
            if data.numbers:
                found.append(root_mean_squared_error(y[part], value))
            elif len(np.unique(y[part])) == 2:
                found.append(roc_auc_score(y[part], value))
    return {name: float(np.mean(found)) for name, found in scores.items()}


def _print(result: dict[str, dict[str, dict[str, dict[str, float]]]]) -> None:
    for part in ("validation", "test"):
        table = Table(title=f"{part}: ROC-AUC, RMSE of ESOL and Lipophilicity; mean ± deviation (seeds)")
        table.add_column("contestant")
        for name in result:
            table.add_column(name, justify="right")
        for contestant in dict.fromkeys(name for found in result.values() for name in found):
            cells = []
            for found in result.values():
                scores = [both[part] for both in found.get(contestant, {}).values() if part in both]
                cells.append(
                    f"{np.mean(scores):.3f} ± {np.std(scores):.3f} ({len(scores)})" if scores else ""
                )
            table.add_row(contestant, *cells)
        console.print(table)


if __name__ == "__main__":
    main()
