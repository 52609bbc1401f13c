"""Which model learns to tell hard pairs apart, with which readout? A table of docs/benchmarks/power.md.

    python benchmarks/ladder.py              # runs what is missing; EXP needs TWINWL_DATA
    python benchmarks/ladder.py --only-page  # runs nothing, writes the table again

Five folds; a fold never parts the graphs of a pair (or the copies of all classes that were made together), so
a model bounded by 1-WL can only guess. One JSON line per fold is appended to ``results/ladder.jsonl``; a run
that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

import twinwl as tw
from twinwl.datasets.generators import CFI_BASES, cfi_pair
from twinwl.graphs.batch import renumbered

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "benchmarks" / "results" / "ladder.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "power.md"
BEGIN, END = "<!-- ladder:start -->", "<!-- ladder:end -->"
FOLDS, COPIES = 5, 5
ROUNDS = 5
MARKED = ("marked-wl-1", "marked-wl-2", "marked-wl-3")


class Task(NamedTuple):
    """A classification task: its title, what makes it, and the accuracy of guessing."""

    title: str
    make: Callable[[], tw.Dataset]
    guess: float


def _exp() -> tw.Dataset:
    data = tw.load_dataset("EXP")
    first = np.flatnonzero(data.groups < 60)
    return tw.Dataset.from_graphs(data.graphs[first], data.y[first], groups=data.groups[first])


def _copies_of_each(name: str) -> tw.Dataset:
    data = tw.load_dataset(name, n_copies=COPIES)
    return tw.Dataset.from_graphs(data.graphs, data.y, groups=np.arange(len(data)) % COPIES)


def _cfi(families: tuple[str, ...]) -> tw.Dataset:
    pairs = [cfi_pair(base) for family in families for base in CFI_BASES[family].values()]
    graphs = tw.concatenate([pair for pair in pairs for _ in range(COPIES)])
    n_groups = len(pairs) * COPIES
    shuffled = renumbered(graphs, np.random.default_rng(0))
    return tw.Dataset.from_graphs(
        shuffled, np.tile([0, 1], n_groups), groups=np.repeat(np.arange(n_groups), 2)
    )


TASKS = {
    "exp": Task("EXP, 60 pairs", _exp, 0.5),
    "csl": Task("CSL, 10 classes", lambda: _copies_of_each("CSL"), 0.1),
    "srg16": Task("16-6-2-2, 2 classes", lambda: _copies_of_each("SRG-16-6-2-2"), 0.5),
    "srg25": Task("25-12-5-6, 15 classes", lambda: _copies_of_each("SRG-25-12-5-6"), 1 / 15),
    "cfi-cycles": Task("CFI of cycles, 6 pairs", lambda: _cfi(("cycles",)), 0.5),
    "cfi": Task("CFI of cubic graphs, 6 pairs", lambda: _cfi(("cubic",)), 0.5),
}


def _svc(**parameters: object) -> Callable[[], tw.STwinSVC]:
    return lambda: tw.STwinSVC(n_iter=ROUNDS, C=10, base="minmax", n_jobs=1, **parameters)


def _mlp(**parameters: object) -> Callable[[], tw.STwinClassifier]:
    return lambda: tw.STwinClassifier(
        n_iter=ROUNDS, max_epochs=100, patience=100, random_state=0, **parameters
    )


def _network(root_mark: str, hops: int) -> Callable[[], tw.NTwinClassifier]:
    return lambda: tw.NTwinClassifier(
        layers=3, hops=hops, hidden=32, root_mark=root_mark, max_epochs=100, patience=100, random_state=0
    )


MODELS: dict[str, Callable[[], object]] = {
    "1-WL, SVM": _svc(features="count"),
    **{
        f"STwin, SVM, `{readout}`": _svc(features="joint", readout=readout)
        for readout in ("size", "edges", "degrees", "wl", "rooted-wl", *MARKED, "rooted-fwl2", "canonical")
    },
    "STwin-GNN, sums of sizes": _mlp(),
    "STwin-GNN, `rooted-wl`": _mlp(features="joint", readout="rooted-wl"),
    "NTwin-GNN, no root mark": _network("none", 3),
    "NTwin-GNN, root marked": _network("root", 3),
    "NTwin-GNN, distances": _network("distance", 3),
}


def run() -> None:
    """Run the folds that the store lacks."""
    known = {(row["task"], row["model"], row["fold"]) for row in rows()}
    for name, task in TASKS.items():
        missing = {
            (model, fold) for model in MODELS for fold in range(FOLDS) if (name, model, fold) not in known
        }
        if not missing:
            continue
        data = task.make()
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
        splits = list(folds.split(np.zeros(len(data)), data.y, data.groups))
        for model, make in MODELS.items():
            for fold, (train, test) in enumerate(splits):
                if (model, fold) not in missing:
                    continue
                began = time.process_time()
                estimator = make().fit(data.graphs[train], data.y[train], groups=data.groups[train])  # type: ignore[attr-defined]
                right = int(np.sum(estimator.predict(data.graphs[test]) == data.y[test]))
                row = {
                    "task": name,
                    "model": model,
                    "fold": fold,
                    "right": right,
                    "of": len(test),
                    "processor_seconds": round(time.process_time() - began, 2),
                }
                with STORE.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
            print(name, model, flush=True)


def rows() -> list[dict[str, object]]:
    """Return what the store holds."""
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def table() -> str:
    """Return the accuracies over all folds as Markdown; a cell that is not complete shows a dash."""
    found = rows()
    lines = [["accuracy, %", *(task.title for task in TASKS.values())], ["---", *["---:"] * len(TASKS)]]
    lines.append(["*guessing*", *(f"*{100 * task.guess:.1f}*" for task in TASKS.values())])
    for model in MODELS:
        cells = []
        for name in TASKS:
            folds = [row for row in found if (row["task"], row["model"]) == (name, model)]
            right, of = (sum(int(row[part]) for row in folds) for part in ("right", "of"))  # type: ignore[call-overload]
            cells.append(f"{100 * right / of:.1f}" if len(folds) == FOLDS else "–")
        lines.append([model, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only-page", action="store_true", help="run nothing, write the table again")
    if not parser.parse_args().only_page:
        run()
    text = PAGE.read_text()
    marked = re.compile(f"({re.escape(BEGIN)}\n).*?({re.escape(END)})", re.DOTALL)
    PAGE.write_text(marked.sub(lambda mark: f"{mark[1]}\n{table()}\n\n{mark[2]}", text))
    print(table())


if __name__ == "__main__":
    main()
