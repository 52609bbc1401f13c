"""A set too large for an exact kernel: Nyström on all training graphs compared with the exact kernel on some.

Run as ``python benchmarks/large_sets.py`` (needs TWINWL_DATA with MoleculeNet's HIV). A tenth is tested on,
once by scaffold as OGB splits (where another tenth is left for validation) and once at random. Both kernels
choose rounds and C by ROC-AUC. Seconds are of the processor, all threads, for ``fit`` alone. Results are kept
by split, kernel, number of graphs and level of atom labels; what is on file is not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import twinwl as tw
from twinwl.evaluation.splits import scaffold_groups, split_groups

OUT = Path(__file__).parent / "results" / "large_sets.json"


def main() -> None:
    """Measure, print and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exact", type=int, default=5000, help="graphs that the exact kernel learns from")
    parser.add_argument("--splits", nargs="+", default=["scaffold", "random"])
    parser.add_argument("--atoms", default="ecfp", help="level of atom labels")
    asked = parser.parse_args()
    data = tw.load_dataset("HIV", atoms=asked.atoms)
    rows = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    for split in asked.splits:
        if split == "scaffold":
            fold = split_groups(scaffold_groups(list(data.smiles)))
            train, test = fold.train, fold.test
        else:
            everything = np.arange(len(data.graphs))
            train, test = train_test_split(everything, test_size=0.1, stratify=data.y, random_state=0)
        some = train_test_split(train, train_size=asked.exact, stratify=data.y[train], random_state=0)[0]
        for kernel, learnt in (("nystroem", train), ("nystroem", some), ("exact", some)):
            key = {"split": split, "kernel": kernel, "graphs": len(learnt), "atoms": asked.atoms}
            if any(key.items() <= row.items() for row in rows):
                continue
            rows.append({**key, **_measured(data, learnt, test, None if kernel == "exact" else kernel)})
            OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table = Table(*rows[0], title="HIV: learning from all graphs or from some")
    for row in rows:
        table.add_row(*(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console(width=140).print(table)


def _measured(
    data: tw.Dataset, learnt: np.ndarray, test: np.ndarray, approximation: str | None
) -> dict[str, object]:
    model = tw.STwinSVC(scoring="roc_auc", kernel_approximation=approximation)
    graphs = data.graphs[learnt]
    wall, start = perf_counter(), process_time()
    model.fit(graphs, data.y[learnt])
    seconds, wall = process_time() - start, perf_counter() - wall
    score = roc_auc_score(data.y[test], model.decision_function(data.graphs[test]))
    return {
        "roc_auc": float(score),
        "inner_roc_auc": model.inner_score_,
        "processor_seconds": seconds,
        "wall_seconds_on_a_shared_machine": wall,
        "n_iter": model.n_iter_,
        "C": model.C_,
        "support_vectors": model.n_support_,
    }


if __name__ == "__main__":
    main()
