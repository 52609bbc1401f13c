"""How often conformal sets and intervals contain the true value: on random splits, and on new scaffolds.

Run as ``python benchmarks/conformal.py`` (needs TWINWL_DATA with MoleculeNet's tables). Models with their
defaults learn from 80 % of the molecules and are asked about 20 %: ten random splits, and ten that part
scaffolds, taken in random order. Coverage is over the test molecules of all splits together, and at 90 % also
by their share of unseen colours. Results go to results/conformal.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.evaluation.predictions import unseen_shares
from twinwl.evaluation.splits import scaffold_groups, split_groups

SETS = {"BACE": tw.STwinSVC, "BBBP": tw.STwinSVC, "ESOL": tw.STwinSVR, "Lipophilicity": tw.STwinSVR}
CONFIDENCES = (0.8, 0.9, 0.95)
SHARES = (0, 1e-9, 0.05, 0.1, 0.2, 1.1)  # bounds of the shares of unseen colours
OUT = Path(__file__).parent / "results" / "conformal.json"
console = Console(width=120)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    result = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in options.sets:
        kind, data = SETS[name], tw.load_dataset(name)
        groups = scaffold_groups(data.smiles or ())
        splits = {"random": np.arange(len(data)), "scaffold": groups}
        result[name] = {how: _measured(data, kind, parts, options.splits) for how, parts in splits.items()}
        OUT.write_text(json.dumps(result, indent=1) + "\n")
    _print(result)


def _measured(data: tw.Dataset, kind: type, groups: np.ndarray, n_splits: int) -> dict[str, dict[str, Any]]:
    unseen: list[np.ndarray] = []
    held: dict[float, list[np.ndarray]] = {confidence: [] for confidence in CONFIDENCES}
    size: dict[float, list[np.ndarray]] = {confidence: [] for confidence in CONFIDENCES}
    for seed in range(n_splits):
        fold = split_groups(groups, validation=0, test=0.2, seed=seed)
        model = kind().fit(data.graphs[fold.train], data.targets[fold.train])
        graphs, truth = data.graphs[fold.test], data.targets[fold.test]
        unseen.append(unseen_shares(model, graphs).mean(axis=0))
        for confidence in CONFIDENCES:
            if hasattr(model, "classes_"):
                sets = model.predict_set(graphs, confidence)
                held[confidence].append(sets[np.arange(len(truth)), np.searchsorted(model.classes_, truth)])
                size[confidence].append(sets.sum(axis=1))
            else:
                low, high = model.predict_interval(graphs, confidence).T
                held[confidence].append((low <= truth) & (truth <= high))
                size[confidence].append(high - low)
    of_all, shares = np.concatenate(held[0.9]), np.concatenate(unseen)
    parts = [(low, high, (shares >= low) & (shares < high)) for low, high in itertools.pairwise(SHARES)]
    by_share = {
        f"{low:g} to {high:g}": [int(part.sum()), float(of_all[part].mean())]
        for low, high, part in parts
        if part.any()
    }
    return {"number and coverage by unseen share": by_share} | {
        str(confidence): {
            "coverage": float(np.concatenate(held[confidence]).mean()),
            "size": float(np.concatenate(size[confidence]).mean()),
        }
        for confidence in CONFIDENCES
    }


def _print(result: dict[str, dict[str, dict[str, Any]]]) -> None:
    table = Table(title="Coverage, and mean size of the sets (of the intervals, for ESOL)")
    for column in ("set", "split", *(f"asked for {confidence:.0%}" for confidence in CONFIDENCES)):
        table.add_column(column)
    for name, found in result.items():
        for how, by_confidence in found.items():
            cells = [
                f"{one['coverage']:.1%} ({one['size']:.2f})"
                for one in by_confidence.values()
                if "size" in one
            ]
            table.add_row(name, how, *cells)
    console.print(table)


if __name__ == "__main__":
    main()
