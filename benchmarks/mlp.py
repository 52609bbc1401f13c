"""One epoch of the sparse perceptron compared with its peers, on the matrix that STwinClassifier trains on.

90 % of NCI1, 3 rounds, hidden layer of 64, batches of 32, Adam. Run as ``python benchmarks/mlp.py`` (needs
TWINWL_DATA with NCI1.zip). The contestants take turns in one process, after a warm-up epoch each; the figures
are medians, written to results/mlp.json. A busy machine slows all of them: look at the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.neural_network import MLPClassifier

import twinwl as tw
from twinwl.datasets.graph_files import read_tu
from twinwl.neural.sparse import SparseExamples
from twinwl.neural.stwin import SparsePerceptron
from twinwl.neural.training import seeded, single_threaded, train

if TYPE_CHECKING:
    from collections.abc import Callable

HIDDEN, BATCH = 64, 32
OUT = Path(__file__).parent / "results" / "mlp.json"


def main() -> None:
    """Measure and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="epochs of each contestant")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of twin passing")
    options = parser.parse_args()
    matrix, y = _training_matrix(options.rounds)
    contestants: dict[str, Callable[[], object]] = {
        "twinwl": _ours(matrix, y),
        "scikit-learn MLPClassifier": _scikit_learn(matrix, y),
        "torch embedding_bag, SparseAdam (lazy)": _embedding_bag(matrix, y, lazy=True),
        "torch embedding_bag, Adam": _embedding_bag(matrix, y, lazy=False),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(options.repeats + 1):
        for name, epoch in contestants.items():
            start = time.perf_counter()
            epoch()
            if turn:  # the first turn compiles and allocates
                seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    result = {
        "matrix": {"rows": matrix.shape[0], "columns": matrix.shape[1], "entries": int(matrix.nnz)},
        "rounds": options.rounds,
        "seconds_an_epoch": medians,
        "times_twinwl": {name: value / medians["twinwl"] for name, value in medians.items()},
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    table = Table("one epoch", "seconds", "× twinwl", title=f"{matrix.shape[0]} × {matrix.shape[1]}")
    for name, value in medians.items():
        table.add_row(name, f"{value:.3f}", f"{value / medians['twinwl']:.1f}")
    Console(width=100).print(table)


def _training_matrix(rounds: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the input of the classifier's network for 90 % of NCI1, and the classes."""
    folder = os.environ.get("TWINWL_DATA")
    if not folder:
        sys.exit("set TWINWL_DATA to a folder with NCI1.zip")
    data = read_tu(Path(folder) / "NCI1.zip")
    rows = np.sort(np.random.default_rng(0).permutation(len(data.graphs))[: round(0.9 * len(data.graphs))])
    y = np.unique(data.y, return_inverse=True)[1][rows].astype(np.int64)
    model = tw.STwinClassifier(n_iter=rounds, validation_fraction=None)
    examples = model._fit_examples(data.graphs[rows])  # noqa: SLF001
    taken = examples.take(np.arange(len(rows)))
    matrix = sparse.csr_matrix(
        (taken.values, taken.indices, taken.indptr), shape=(len(rows), examples.n_columns)
    )
    return matrix, y


def _ours(matrix: sparse.csr_matrix, y: np.ndarray) -> Callable[[], object]:
    examples = SparseExamples(matrix)
    with seeded(0):
        module = SparsePerceptron(matrix.shape[1], HIDDEN, 2)
    return lambda: train(module, examples, y, max_epochs=1, batch_size=BATCH)


def _scikit_learn(matrix: sparse.csr_matrix, y: np.ndarray) -> Callable[[], object]:
    peer = MLPClassifier((HIDDEN,), solver="adam", alpha=0.0, batch_size=BATCH, random_state=0)
    classes = np.unique(y)

    def epoch() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.partial_fit(matrix, y, classes=classes)

    return epoch


def _embedding_bag(matrix: sparse.csr_matrix, y: np.ndarray, *, lazy: bool) -> Callable[[], object]:
    bag = torch.nn.EmbeddingBag(matrix.shape[1], HIDDEN, mode="sum", sparse=lazy)
    head = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2))
    kind = torch.optim.SparseAdam if lazy else torch.optim.Adam
    wide = kind(list(bag.parameters()), lr=1e-3)
    narrow = torch.optim.Adam(head.parameters(), lr=1e-3)
    targets = torch.from_numpy(y)
    random = np.random.default_rng(0)

    def epoch() -> None:
        order = random.permutation(matrix.shape[0])
        with single_threaded():
            for low in range(0, len(order), BATCH):
                rows = order[low : low + BATCH]
                part = matrix[rows]
                hidden = bag(
                    torch.from_numpy(part.indices.astype(np.int64)),
                    torch.from_numpy(part.indptr[:-1].astype(np.int64)),
                    torch.from_numpy(part.data.astype(np.float32)),
                )
                loss = torch.nn.functional.cross_entropy(head(hidden), targets[rows])
                wide.zero_grad()
                narrow.zero_grad()
                loss.backward()
                wide.step()
                narrow.step()

    return epoch


if __name__ == "__main__":
    main()
