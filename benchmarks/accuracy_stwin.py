"""Fair ten-fold accuracy of STwinSVC: stratified folds, all choices inside each training part.

Run as ``python benchmarks/accuracy_stwin.py NCI1.zip [more.zip ...]``; one JSON line a fold goes to the
standard output, the summary comes last. Folds measured so stand in results/accuracy_stwin.jsonl, without
seconds, for the machine was busy.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from twinwl import STwinSVC
from twinwl.datasets.tu import read_tu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path, help="data sets in TU format")
    parser.add_argument("--features", default="size")
    parser.add_argument("--base", default="minmax")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for path in options.data:
        measure(path, options.features, options.base, options.seed)


def measure(path: Path, features: str, base: str, seed: int) -> None:
    """Print each fold's test accuracy, then mean and standard deviation."""
    collection = read_tu(path)
    folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(collection.y, collection.y)
    accuracies = []
    for fold, (train, test) in enumerate(folds):
        began = time.perf_counter()
        model = STwinSVC(features=features, base=base, random_state=seed)
        model.fit(collection.graphs[train], collection.y[train])
        accuracies.append(100 * model.score(collection.graphs[test], collection.y[test]))
        row = {
            "dataset": collection.name,
            "features": features,
            "base": base,
            "fold": fold,
            "accuracy": round(accuracies[-1], 3),
            "n_iter": model.n_iter_,
            "C": model.C_,
            "inner": round(100 * model.inner_score_, 2),
            "seconds": round(time.perf_counter() - began, 1),
        }
        print(json.dumps(row), flush=True)
    mean, spread = float(np.mean(accuracies)), float(np.std(accuracies))
    print(
        f"{collection.name}: STwinSVC {features} {base}, fair, 10 folds: {mean:.2f} ± {spread:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
