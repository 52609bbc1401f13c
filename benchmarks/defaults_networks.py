"""The choice of defaults of the networks, compared as docs/benchmarks/defaults.md says.

Run as ``python benchmarks/defaults_networks.py STwin MUTAG …``; without arguments it prints the tables. A
network that is refitted was chosen by a network that was not, so one run gives the scores of both. The score
is accuracy, of `STwinRegressor` R². What is in results/defaults_networks.jsonl is not run again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.evaluation.result import compare_scores, p_value_text
from twinwl.evaluation.splits import make_folds

OUT = Path(__file__).parent / "results" / "defaults_networks.jsonl"
NETWORKS = {
    "STwin": tw.STwinClassifier, "NTwin": tw.NTwinClassifier, "STwinRegressor": tw.STwinRegressor,
}  # fmt: skip
# Titles of the network that is refitted, and of the one that chose its number of epochs.
TRAININGS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "0.1": (None, {"average_epochs": 1}),
    "mean of 5": (None, {"average_epochs": 5}),
    "refit": ("0.1", {"refit": True, "average_epochs": 1}),
    "refit, mean of 5": ("mean of 5", {"refit": True, "average_epochs": 5}),
}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "STwin": {"size": {"features": "size"}, "joint": {"features": "joint"}, "1-WL": {"features": "count"}},
    "NTwin": {"growing": {}, "1-WL": {"hops": 0}},
    "STwinRegressor": {"size": {"features": "size"}},
}
SETS = ["MUTAG", "PTC_MR", "IMDB-BINARY", "BACE", "DD", "NCI1"]
SETS_OF_NUMBERS = ["ESOL", "Lipophilicity"]
console = Console(width=170)


def main() -> None:
    """Run what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", choices=list(NETWORKS))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trainings", nargs="*", default=list(TRAININGS)[2:], choices=list(TRAININGS))
    parser.add_argument("--variants", nargs="*", help="default: that of version 0.1")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        for variant in options.variants or list(VARIANTS[options.network])[:1]:
            _run(name, options.network, variant, options.trainings, options.seeds)
    _print(_rows())


def _run(name: str, network: str, variant: str, trainings: list[str], seeds: int) -> None:
    done = {
        (row["seed"], row["fold"], row["training"])
        for row in _rows()
        if (row["dataset"], row["network"], row["variant"]) == (name, network, variant)
    }
    data = tw.load_dataset(name)
    for seed in range(seeds):
        folds = make_folds(data.targets, data.groups, seed=seed, stratified=network != "STwinRegressor")
        for place, fold in enumerate(folds):
            for training in trainings:
                if (seed, place, training) in done:
                    continue
                before, params = TRAININGS[training]
                model = NETWORKS[network](
                    **VARIANTS[network][variant], **params, random_state=seed, verbose=False, device="cpu"
                )
                train, test = fold.training_part, fold.test
                groups = None if data.groups is None else data.groups[train]
                tests = (data.graphs[test], data.y[test])
                model.fit(
                    data.graphs[train], data.y[train], groups, monitor_data=None if before is None else tests
                )
                key = {"dataset": name, "network": network, "variant": variant, "seed": seed, "fold": place}
                score = float(model.score(*tests))
                rows = [key | {"training": training, "test": score, "epochs": model.n_epochs_}]
                if before is not None:
                    history = model.history_
                    score = history.monitor_accuracy[history.best_epoch]
                    rows.append(key | {"training": before, "test": score, "epochs": history.best_epoch + 1})
                with OUT.open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []


def _print(rows: list[dict[str, Any]]) -> None:
    found: dict[tuple[str, str, str, str], dict[tuple[int, int], float]] = defaultdict(dict)
    for row in rows:
        found[row["network"], row["variant"], row["training"], row["dataset"]][row["seed"], row["fold"]] = (
            row["test"]
        )
    for network, variants in VARIANTS.items():
        usual = next(iter(variants))
        trainings = list(TRAININGS)
        _table(f"{network}: training", [(usual, training) for training in trainings], network, found)
        for training in trainings:
            _table(
                f"{network}: features, {training}",
                [("1-WL", training), *((variant, training) for variant in variants if variant != "1-WL")],
                network,
                found,
            )


def _table(
    title: str,
    candidates: list[tuple[str, str]],
    network: str,
    found: dict[tuple[str, str, str, str], dict[tuple[int, int], float]],
) -> None:
    """Print accuracies, differences to the first candidate on the same folds, and p of the corrected test."""
    table = Table(title=f"{title} (score in %, difference to the first, p; folds)")
    sets = SETS_OF_NUMBERS if network == "STwinRegressor" else SETS
    for column in ["candidate", *sets, "mean"]:
        table.add_column(column)
    if not any((network, *candidates[0], name) in found for name in sets):
        return
    for variant, training in candidates:
        cells, means = [], []
        for name in sets:
            ours = found.get((network, variant, training, name), {})
            first = found.get((network, *candidates[0], name), {})
            folds = sorted(ours.keys() & first.keys())
            if not folds:
                cells.append("")
                continue
            scores = [ours[fold] for fold in folds]
            means.append(100 * np.mean(scores))
            compared = compare_scores(scores, [first[fold] for fold in folds], test_share=1 / 9)
            p = p_value_text(compared.t_p_value)[4:]
            cells.append(f"{means[-1]:.1f} {100 * compared.difference:+.1f} {p} ({len(folds)})")
        table.add_row(
            f"{variant}, {training}", *cells, f"{np.mean(means):.2f} ({len(means)})" if means else ""
        )
    console.print(table)


if __name__ == "__main__":
    main()
