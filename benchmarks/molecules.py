"""Molecules: twin features compared with the fingerprints that chemists use, on scaffold splits, five seeds.

Run as ``python benchmarks/molecules.py`` (needs TWINWL_DATA with MoleculeNet's tables). Each set is split
once by scaffold, 80 : 10 : 10, common scaffolds first, as OGB does. Models learn from the first part and are
scored on the last: mean ROC-AUC over the tasks that have both classes there, or RMSE. Forests have 500 trees.
Scores are kept in results/molecules.json as they come in, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rdkit import RDLogger
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator, GetMorganGenerator
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score, root_mean_squared_error

import twinwl as tw
from twinwl.datasets.rows import is_missing
from twinwl.datasets.source import Reading, read_columns, read_source
from twinwl.evaluation.scaffold import scaffold_split

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy import sparse

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
NUMBERS = {"ESOL", "Lipophilicity"}
OUT = Path(__file__).parent / "results" / "molecules.json"
console = Console(width=140)


def morgan(smiles: list[str], _: np.ndarray) -> np.ndarray:
    """Count circular fingerprints of radius 2 (ECFP4), 2,048 bits."""
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    return np.array([generator.GetCountFingerprintAsNumPy(MolFromSmiles(text)) for text in smiles])


def atom_pairs(smiles: list[str], _: np.ndarray) -> np.ndarray:
    """Count atom pairs, 2,048 bits."""
    generator = GetAtomPairGenerator(fpSize=2048)
    return np.array([generator.GetCountFingerprintAsNumPy(MolFromSmiles(text)) for text in smiles])


def twin(
    atoms: str, features: str, n_iter: int, *, edge_labels: bool
) -> Callable[[list[str], np.ndarray], sparse.csr_matrix]:
    """Return what computes STwin features with an alphabet of the training molecules."""

    def encode(smiles: list[str], train: np.ndarray) -> sparse.csr_matrix:
        graphs = tw.from_smiles(smiles, atoms=atoms)
        vectorizer = tw.STwinVectorizer(n_iter, features, edge_labels=edge_labels, min_df=2)
        return vectorizer.fit(graphs[train]).transform(graphs)

    return encode


FOREST_FEATURES = {
    "ECFP4 counts": morgan,
    "atom pairs": atom_pairs,
    "twin, elements": twin("skeleton", "joint", 2, edge_labels=False),
    "twin, elements and bonds": twin("skeleton", "joint", 2, edge_labels=True),
    "twin, ecfp atoms": twin("ecfp", "joint", 2, edge_labels=False),
    "twin, ecfp atoms and bonds": twin("ecfp", "joint", 2, edge_labels=True),
    "twin, constitution": twin("constitution", "joint", 2, edge_labels=False),
}


def main() -> None:
    """Run what is missing, print the table and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RDLogger.DisableLog("rdApp.*")
    result = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in options.sets:
        wanted = {
            contestant: [
                seed
                for seed in range(options.seeds)
                if str(seed) not in result.get(name, {}).get(contestant, {})
            ]
            for contestant in FOREST_FEATURES
        }
        if not any(wanted.values()):
            continue
        smiles, y = _molecules(name)
        fold = scaffold_split(smiles)
        for contestant, seeds in wanted.items():
            features = FOREST_FEATURES[contestant](smiles, fold.train) if seeds else None
            for seed in seeds:
                score = _score(features, y, fold, seed, numbers=name in NUMBERS, n_jobs=options.jobs)
                result.setdefault(name, {}).setdefault(contestant, {})[str(seed)] = score
                OUT.write_text(json.dumps(result, indent=1) + "\n")
                console.print(f"{name}, {contestant}, seed {seed}: {score:.4f}")
    _print(result)


def _molecules(name: str) -> tuple[list[str], np.ndarray]:
    """Return the readable molecules and a target for each task, NaN where it is missing."""
    data = read_source(name, Reading(), "none")
    columns = read_columns(name, Reading())
    cells = [[columns[task][row] for task in SETS[name]] for row in data.rows]
    y = np.array([[np.nan if is_missing(cell) else float(cell) for cell in row] for row in cells])
    return list(data.smiles or ()), y


def _score(features: object, y: np.ndarray, fold: object, seed: int, *, numbers: bool, n_jobs: int) -> float:
    scores = []
    for task in range(y.shape[1]):
        train, test = (part[~np.isnan(y[part, task])] for part in (fold.train, fold.test))
        if numbers:
            forest = RandomForestRegressor(500, n_jobs=n_jobs, random_state=seed, max_features="sqrt")
            predicted = forest.fit(features[train], y[train, task]).predict(features[test])
            scores.append(root_mean_squared_error(y[test, task], predicted))
        elif len(np.unique(y[test, task])) == 2 == len(np.unique(y[train, task])):
            forest = RandomForestClassifier(500, n_jobs=n_jobs, random_state=seed)
            predicted = forest.fit(features[train], y[train, task]).predict_proba(features[test])[:, 1]
            scores.append(roc_auc_score(y[test, task], predicted))
    return float(np.mean(scores))


def _print(result: dict[str, dict[str, dict[str, float]]]) -> None:
    table = Table(
        title="Scaffold split: ROC-AUC, for ESOL and Lipophilicity RMSE; mean ± standard deviation of seeds"
    )
    table.add_column("features, random forest")
    for name in result:
        table.add_column(name, justify="right")
    for contestant in FOREST_FEATURES:
        cells = []
        for found in result.values():
            scores = list(found.get(contestant, {}).values())
            cells.append(f"{np.mean(scores):.3f} ± {np.std(scores):.3f} ({len(scores)})" if scores else "")
        table.add_row(contestant, *cells)
    console.print(table)


if __name__ == "__main__":
    main()
