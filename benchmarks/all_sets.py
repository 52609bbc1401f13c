"""All data sets at hand, one table: ours, 1-WL and the strongest peers under the fair protocol.

Run as ``python benchmarks/all_sets.py [--run] [--methods …] [--sets …] [--seeds 3] [--minutes 30]``. Cells of
the paper's tables come from their stores. ``--run`` runs what is missing, one set after another until time is
up, into results/all_sets.jsonl beside this file. Fingerprints (ECFP4 counts, a forest of 500 trees), which
need SMILES and not graphs, are learnt on the same folds. Without ``--run`` the table is printed as Markdown,
for docs/benchmarks/all_sets.md; ``--picture FILE`` draws the differences to 1-WL.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from rdkit import RDLogger
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

import twinwl as tw
from twinwl.evaluation.splits import make_folds

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the reproduction, which is not installed

from reproduction.charts import as_svg, difference_charts  # noqa: E402
from reproduction.results import TABLES, TITLES, ResultCell, Results, twins_against_wl  # noqa: E402  # noqa: E402

STORE = Path(__file__).parent / "results" / "all_sets.jsonl"
FINGERPRINTS = Path(__file__).parent / "results" / "ecfp_forest.jsonl"
SETS = [
    *("MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109", "DD", "IMDB-BINARY"),
    *("EXP", "TWINS", "BACE", "BBBP", "ClinTox"),
]
TARGETS = {"ClinTox": "CT_TOX"}
N_FOLDS = 10
METHODS = ["wl-svc", "stwin-svc", "wl", "stwin", "wl-encoder", "ntwin", "wl-oa", "gin", "nested-gin"]
PAIRS = [("stwin-svc", "wl-svc"), ("stwin", "wl"), ("ntwin", "wl-encoder")]
NAMES = {**TITLES, "wl-oa": "WL-OA, SVM"}


def main() -> None:
    """Run what is asked for, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--methods", nargs="*", default=[*METHODS, "ecfp"])
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=1, help="draws of the folds, on sets not in the paper")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--picture", type=Path, help="draw the Twins beside 1-WL")
    options = parser.parse_args()
    if options.picture:
        options.picture.write_text(picture(), encoding="utf-8")
        return
    if not options.run:
        print(table())
        return
    warnings.simplefilter("ignore")
    RDLogger.DisableLog("rdApp.*")
    until = time.monotonic() + 60 * options.minutes
    known = _results()
    for name in options.sets:
        data = tw.load_dataset(name, target=TARGETS.get(name))
        for method in options.methods:
            left = until - time.monotonic()
            if left <= 0:
                return
            repeats = 1 if any(name in paper.datasets for paper in TABLES.values()) else options.seeds
            cell = known.cell(name, method)
            if method == "ecfp":
                _learn_from_fingerprints(data)
            elif cell is None or cell.partial or cell.n_runs < N_FOLDS * repeats:
                found = tw.evaluate(
                    method, data, store=STORE, metrics=["accuracy"], repeats=repeats, time_budget=left
                )
                print(name, method, len(found.rows), flush=True)


def table() -> str:
    """Return the table in Markdown: mean and deviation over folds in per cent; their number if not ten."""
    results = _results()
    forests = defaultdict(list)
    for line in FINGERPRINTS.read_text().splitlines() if FINGERPRINTS.exists() else []:
        row = json.loads(line)
        forests[row["dataset"]].append(100 * row["accuracy"])
    lines = [
        ["", *(NAMES[method] for method in METHODS), "ECFP4, forest"],
        ["---", *["---:"] * (len(METHODS) + 1)],
    ]
    for name in SETS:
        cells = [results.cell(name, method) for method in METHODS]
        forest = forests[name]
        lines.append(
            [name, *map(_text, cells), f"{np.mean(forest):.1f} ± {np.std(forest):.1f}" if forest else ""]
        )
    # Non-breaking spaces, so that a figure and its deviation stay on one line.
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace(" ± ", "\u00a0±\u00a0")


def picture() -> str:
    """Return the differences of the Twins to 1-WL under the same classifier on every set, as SVG."""
    found = twins_against_wl(_results(), SETS, PAIRS)
    by_set = [each for name in SETS for each in found if each.dataset == name]
    return as_svg(difference_charts(by_set))


def _text(cell: ResultCell | None) -> str:
    if cell is None or cell.partial:
        return ""
    fair = cell.by_protocol["fair"]
    return f"{100 * fair.mean:.1f} ± {100 * fair.std:.1f}" + (
        f" ({cell.n_runs})" if cell.n_runs != N_FOLDS else ""
    )


def _results() -> Results:
    of_paper = [ROOT / "results" / f"{name}.jsonl" for name in ("table1", "table2")]
    return Results.read([*of_paper, STORE])


def _learn_from_fingerprints(data: tw.Dataset) -> None:
    """Score a forest on ECFP4 counts on the folds of the other methods; only molecules have any."""
    done = FINGERPRINTS.read_text().count(f'"dataset": "{data.name}"') if FINGERPRINTS.exists() else 0
    if data.smiles is None or done:
        return
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    counts = [generator.GetCountFingerprintAsNumPy(MolFromSmiles(smiles)) for smiles in data.smiles]
    matrix = sparse.csr_matrix(np.array(counts, np.float32))
    rows = []
    for place, fold in enumerate(make_folds(data.targets, data.groups, seed=0)):
        forest = RandomForestClassifier(500, random_state=0, n_jobs=1)
        forest.fit(matrix[fold.training_part], data.targets[fold.training_part])
        right = forest.predict(matrix[fold.test]) == data.targets[fold.test]
        rows.append({"dataset": data.name, "fold": place, "accuracy": float(right.mean())})
    with FINGERPRINTS.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
