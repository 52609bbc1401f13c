"""Ten-fold accuracy of NTwinClassifier under the three protocols, all from one run's curves.

Run as ``python benchmarks/accuracy_ntwin.py NCI1 [more ...]`` with ``TWINWL_DATA`` set, or with paths. Folds
are stratified (grouped where the data have groups) with seed 0. One JSON line per fold is appended to the
output file; a run that was stopped goes on where it was, and the summary is made from the file.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from twinwl import NTwinClassifier, load_dataset

OUTPUT = Path(__file__).parent / "results" / "accuracy_ntwin.jsonl"


def main() -> None:
    """Measure what is missing, then print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names or paths of data sets")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--hops", default="growing")
    parser.add_argument("--edge-labels", action="store_true")
    parser.add_argument("--root-mark", default="none")
    parser.add_argument("--subtree", default="auto")
    parser.add_argument("--folds", type=int, default=10, help="stop after this many of the ten folds")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    config = {
        "layers": options.layers,
        "hops": int(options.hops) if options.hops.isdigit() else options.hops,
        "root_mark": options.root_mark,
        "edge_labels": options.edge_labels,
        "subtree": options.subtree,
    }
    for name in options.data:
        measure(name, config, options.folds, options.output)


def measure(name: str, config: dict[str, object], n_folds: int, output: Path) -> None:
    """Run the folds that the output file lacks, and summarise all of them."""
    dataset = load_dataset(name)
    splitter = (StratifiedKFold if dataset.groups is None else StratifiedGroupKFold)(
        10, shuffle=True, random_state=0
    )
    rows = [row for row in stored(output) if row["dataset"] == dataset.name and row["config"] == config]
    done = {row["fold"] for row in rows}
    splits = splitter.split(np.zeros(len(dataset.y)), dataset.y, dataset.groups)
    for fold, (train, test) in enumerate(splits):
        if fold in done or fold >= n_folds:
            continue
        began = time.perf_counter()
        model = NTwinClassifier(**config, random_state=0, verbose=False)  # type: ignore[arg-type]
        model.fit(
            dataset.graphs[train],
            dataset.y[train],
            groups=None if dataset.groups is None else dataset.groups[train],
            monitor_data=(dataset.graphs[test], dataset.y[test]),
        )
        history = model.history_
        row = {
            "dataset": dataset.name,
            "config": config,
            "fold": fold,
            "best_epoch": history.best_epoch,
            "validation": [round(value, 5) for value in history.validation_accuracy],
            "test": [round(value, 5) for value in history.monitor_accuracy],
            "seconds": round(time.perf_counter() - began, 1),
        }
        with output.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        rows.append(row)
    print(summary(dataset.name, config, rows), flush=True)


def stored(output: Path) -> list[dict]:
    """Return the folds that are in the file."""
    return [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []


def summary(name: str, config: dict[str, object], rows: list[dict]) -> str:
    """Return the three protocols' figures in per cent; after early stopping the last value carries on."""
    curves = [row["test"] for row in rows]
    longest = max(map(len, curves))
    table = 100 * np.array([curve + curve[-1:] * (longest - len(curve)) for curve in curves])
    fair = 100 * np.array([row["test"][row["best_epoch"]] for row in rows])
    each = table.max(axis=1)
    best = table[:, table.mean(axis=0).argmax()]
    figures = (f"{values.mean():.2f} ± {values.std():.2f}" for values in (fair, best, each))
    settings = ", ".join(f"{key}={value}" for key, value in config.items())
    names = ("fair", "best-epoch", "best-fold-epoch")
    shown = "; ".join(f"{protocol} {figure}" for protocol, figure in zip(names, figures, strict=True))
    return f"{name} ({settings}), {len(rows)} folds: {shown}; {sum(row['seconds'] for row in rows):.0f} s"


if __name__ == "__main__":
    main()
