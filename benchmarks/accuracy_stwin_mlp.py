"""Fair ten-fold accuracy of STwinClassifier: the held-out 10 % of each training part picks the epoch.

Run as ``python benchmarks/accuracy_stwin_mlp.py NCI1 Mutagenicity EXP EXP:joint`` (needs TWINWL_DATA). Folds
are stratified, or hold whole groups where the data has groups (EXP keeps its pairs together). One JSON line a
fold is appended to results/accuracy_stwin_mlp.jsonl; folds that are there already are not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import twinwl as tw
from twinwl.evaluation.folds import folds_of

OUT = Path(__file__).parent / "results" / "accuracy_stwin_mlp.jsonl"


def main() -> None:
    """Measure what is missing, then print mean and standard deviation over folds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="NAME or NAME:FEATURES")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for entry in options.data:
        name, _, features = entry.partition(":")
        measure(name, features or "size", options.rounds, options.seed)


def measure(name: str, features: str, rounds: int, seed: int) -> None:
    """Run the folds of one data set."""
    data = tw.load_dataset(name)
    key = {"dataset": name, "features": features, "n_iter": rounds, "seed": seed}
    accuracies = []
    for number, fold in enumerate(folds_of(data, seed=seed)):
        row = _stored({**key, "fold": number})
        if row is None:
            model = tw.STwinClassifier(rounds, features, random_state=seed * 100 + number)
            validation = data.graphs[fold.validation], data.y[fold.validation]
            model.fit(data.graphs[fold.train], data.y[fold.train], validation_data=validation)
            row = {
                **key,
                "fold": number,
                "accuracy": round(100 * model.score(data.graphs[fold.test], data.y[fold.test]), 3),
                "validation": round(100 * model.history_.best_validation_accuracy, 3),
                "epochs": model.history_.n_epochs,
                "best_epoch": model.history_.best_epoch,
            }
            OUT.parent.mkdir(exist_ok=True)
            with OUT.open("a", encoding="utf-8") as store:
                store.write(json.dumps(row) + "\n")
        accuracies.append(row["accuracy"])
    mean, spread = np.mean(accuracies), np.std(accuracies)
    print(
        f"{name}: STwinClassifier {features}, {rounds} rounds, fair, 10 folds: {mean:.2f} ± {spread:.2f}",
        flush=True,
    )


def _stored(key: dict[str, object]) -> dict[str, object] | None:
    """Return a fold that was measured before."""
    if OUT.exists():
        for line in OUT.read_text(encoding="utf-8").splitlines():
            row: dict[str, object] = json.loads(line)
            if all(row[name] == value for name, value in key.items()):
                return row
    return None


if __name__ == "__main__":
    main()
