"""Molecules: twin features and kernels compared with what chemists use, on scaffold splits, five seeds.

    python benchmarks/molecules.py              # runs what is missing; needs TWINWL_DATA with MoleculeNet
    python benchmarks/molecules.py --only-page  # runs nothing, writes docs/benchmarks/molecules.md again

Each set is split once by scaffold, 80 : 10 : 10, common scaffolds first, as OGB does. Models learn from the
first part and are scored on the second (by which defaults are chosen) and on the last (what is reported):
mean ROC-AUC over the tasks that have both classes there, or RMSE. Scores are kept in results/molecules.json
as they come in, with seconds of processor time (without the features, which all seeds share), so that a run
that was stopped goes on.

Forests have 500 trees. All features are given to them as sparse columns, which on HIV
is 10 to 70 times as fast as a dense matrix, with the same trees: nearly all entries are zero. Support vector
machines have their defaults, and Nyström's approximation on Tox21 and HIV; their seed only changes the inner
folds and the landmarks. chemprop, whose requirements are not those of this package, runs as a program where
``--chemprop`` names it: its defaults, all tasks at once, the epoch of the least loss on the second part. On
HIV it has 10 epochs instead of 50, which would take an hour and a half.
"""

from __future__ import annotations

import argparse
import csv
import functools
import itertools
import json
import os
import re
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
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score, root_mean_squared_error

import twinwl as tw
from twinwl.datasets.dataset import is_missing
from twinwl.datasets.source import ReadOptions, read_columns, read_source
from twinwl.evaluation.splits import scaffold_groups, split_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.evaluation.splits import Fold

SETS = {
    "BACE": ["Class"],
    "BBBP": ["BBBP"],
    "ClinTox": ["FDA_APPROVED", "CT_TOX"],
    "Tox21": [
        *("NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma"),
        *("SR-ARE", "SR-ATAD5", "SR-HSE", "SR-MMP", "SR-p53"),
    ],
    "HIV": ["HIV_active"],
    "ESOL": ["measured log solubility in mols per litre"],
    "Lipophilicity": ["exp"],
}
Parts = tuple[np.ndarray, np.ndarray]
NUMBERS = {"ESOL", "Lipophilicity"}
EPOCHS_OF_CHEMPROP = {"HIV": 10}
CLASSES = [name for name in SETS if name not in NUMBERS]
ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks" / "results" / "molecules.json"
PAGE = ROOT / "docs" / "benchmarks" / "molecules.md"
Results = dict[str, dict[str, dict[str, dict[str, float]]]]  # by set, contestant, seed, part


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
        data = read_source(name, ReadOptions(), "none")
        columns = read_columns(name, ReadOptions())
        cells = [[columns[task][row] for task in SETS[name]] for row in data.rows]
        y = np.array([[np.nan if is_missing(cell) else float(cell) for cell in row] for row in cells])
        smiles = list(data.smiles or ())
        return cls(name, smiles, y, split_groups(scaffold_groups(smiles)))

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
            train += ["--epochs", str(EPOCHS_OF_CHEMPROP.get(data.name, 50))]
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
    "STwinSVC/R, ecfp": Machine("ecfp"),
    "STwinSVC/R, ecfp and bonds": Machine("ecfp", edge_labels=True),
}


def main() -> None:
    """Run what is missing, keep the results and write the tables of the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--contestants", nargs="*", help="the names in the table (default: all)")
    parser.add_argument("--chemprop", metavar="PROGRAM", help="chemprop's command, to run it as well")
    parser.add_argument("--only-page", action="store_true", help="run nothing, write the tables again")
    options = parser.parse_args()
    if not options.only_page:
        known = CONTESTANTS | ({"chemprop": Chemprop(options.chemprop)} if options.chemprop else {})
        chosen = {name: known[name] for name in options.contestants or known}
        _run([(seed, name) for seed in range(options.seeds) for name in options.sets], chosen)
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables(json.loads(OUT.read_text())).items():
        marked = re.compile(f"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = marked.sub(lambda mark, table=table: f"{mark[1]}\n{table}\n\n{mark[2]}", text)
        print(table)
    PAGE.write_text(text, encoding="utf-8")


def tables(result: Results) -> dict[str, str]:
    """Return the tables of the page as Markdown: all test parts, and bond types by the seeds of both ways."""
    everything = [(name, name, "test") for name in (*CONTESTANTS, "chemprop")]
    pairs = [("twin, ecfp, forest", "twin, ecfp and bonds, forest")]
    pairs += [("STwinSVC/R, ecfp", "STwinSVC/R, ecfp and bonds")]
    bonds = [
        (f"{way}: {part}", way, part) for part in ("validation", "test") for pair in pairs for way in pair
    ]
    common: Results = {name: {} for name in CLASSES}
    for name, pair in itertools.product(CLASSES, pairs):
        seeds = sorted(set.intersection(*(set(result[name][way]) for way in pair)))
        common[name] |= {way: {seed: result[name][way][seed] for seed in seeds} for way in pair}
    return {"test": _table(result, everything, list(SETS)), "bonds": _table(common, bonds, CLASSES)}


def _table(result: Results, rows: list[tuple[str, str, str]], sets: list[str]) -> str:
    lines = [["", *sets[: len(CLASSES)], "mean of five", *sets[len(CLASSES) :]]]
    lines.append(["---", *["---:"] * len(lines[0][1:])])
    for title, contestant, part in rows:
        scores = {
            name: [both[part] for both in result.get(name, {}).get(contestant, {}).values()] for name in sets
        }
        cells = [_cell(found) for found in scores.values()]
        means = [np.mean(scores[name]) for name in CLASSES if scores[name]]
        mean = f"{np.mean(means):.3f}" if len(means) == len(CLASSES) else ""
        lines.append([title, *cells[: len(CLASSES)], mean, *cells[len(CLASSES) :]])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(scores: list[float]) -> str:
    if len(scores) < 2:
        return "".join(f"{score:.3f} (1)" for score in scores)
    return f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f} ({len(scores)})"


def _run(turns: list[tuple[int, str]], chosen: dict[str, Any]) -> None:
    warnings.simplefilter("ignore")
    RDLogger.DisableLog("rdApp.*")
    data = functools.cache(Molecules.of)
    prepared = functools.cache(lambda name, contestant: chosen[contestant].prepared(data(name)))
    for (seed, name), (contestant, model) in itertools.product(turns, chosen.items()):
        if str(seed) in json.loads(OUT.read_text()).get(name, {}).get(contestant, {}):
            continue
        learn = functools.partial(model.predicted, data(name), prepared(name, contestant), seed)
        start = sum(os.times()[:4])  # of this process and of the programs it ran
        scores = _scores(data(name), learn)
        scores["seconds"] = round(sum(os.times()[:4]) - start, 1)
        result: Results = json.loads(OUT.read_text())  # again: another run may have written meanwhile
        result.setdefault(name, {}).setdefault(contestant, {})[str(seed)] = scores
        OUT.write_text(json.dumps(result, indent=1) + "\n")
        print(name, contestant, seed, scores, flush=True)


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


if __name__ == "__main__":
    main()
