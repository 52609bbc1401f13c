"""Ten-fold accuracy of NTwinClassifier under the three protocols, all from one run's curves.

Run as ``python benchmarks/accuracy_ntwin.py NCI1 [more ...]`` with ``TWINWL_DATA`` set, or with paths. Folds
are stratified (grouped where the data have groups) with seed 0. One JSON line per fold is appended to the
output file; a run that was stopped goes on where it was, and the summary is made from the file.

``--attribute closeness`` gives each node its closeness centrality as a continuous feature. With ``--literal``
the network runs on every rooted subgraph, instead of on shared states: the same function, so that accuracies
should agree up to rounding, which training amplifies.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import networkx as nx
import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from twinwl import GraphBatch, NTwinClassifier, load_dataset
from twinwl.neural.encoder import NTwinInput
from twinwl.neural.inputs import FittedInputs
from twinwl.neural.sparse import SparseExamples

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
    parser.add_argument("--attribute", choices=["closeness"])
    parser.add_argument("--literal", action="store_true")
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
    kind = {"attribute": options.attribute, "literal": options.literal}
    kind = {name: value for name, value in kind.items() if value}
    for name in options.data:
        measure(name, config, kind, options.folds, options.output)


class LiteralClassifier(NTwinClassifier):
    """The same network, run on every rooted subgraph."""

    def _fit_examples(self, batch: GraphBatch) -> LiteralExamples:
        histograms = super()._fit_examples(batch).histograms
        return LiteralExamples(self.inputs_, batch, histograms)

    def _examples(self, batch: GraphBatch, roots: None = None) -> LiteralExamples:
        return LiteralExamples(self.inputs_, batch, super()._examples(batch, roots).histograms)


class LiteralExamples:
    """Graphs as tensors, of which the network reads every rooted subgraph."""

    def __init__(self, inputs: FittedInputs, batch: GraphBatch, histograms: SparseExamples | None) -> None:
        self.inputs, self.batch, self.histograms = inputs, batch, histograms

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: np.ndarray) -> NTwinInput:
        """Return the network's input for these graphs."""
        histograms = None if self.histograms is None else self.histograms.take(rows)
        return NTwinInput(self.inputs.graph_data(self.batch[np.asarray(rows)]), histograms)


def with_closeness(graphs: GraphBatch) -> GraphBatch:
    """Return the graphs with the closeness centrality of each node as a continuous feature."""
    values = [list(nx.closeness_centrality(graph).values()) for graph in graphs.to_networkx()]
    return graphs.changed(node_features=np.concatenate(values)[:, None])


def measure(
    name: str, config: dict[str, object], kind: dict[str, object], n_folds: int, output: Path
) -> None:
    """Run the folds that the output file lacks, and summarise all of them."""
    dataset = load_dataset(name)
    graphs = with_closeness(dataset.graphs) if "attribute" in kind else dataset.graphs
    network = LiteralClassifier if "literal" in kind else NTwinClassifier
    settings = config | kind
    splitter = (StratifiedKFold if dataset.groups is None else StratifiedGroupKFold)(
        10, shuffle=True, random_state=0
    )
    rows = [row for row in stored(output) if row["dataset"] == dataset.name and row["config"] == settings]
    done = {row["fold"] for row in rows}
    splits = splitter.split(np.zeros(len(dataset.y)), dataset.y, dataset.groups)
    for fold, (train, test) in enumerate(splits):
        if fold in done or fold >= n_folds:
            continue
        began, used = time.perf_counter(), time.process_time()
        model = network(**config, random_state=0, verbose=False)  # type: ignore[arg-type]
        model.fit(
            graphs[train],
            dataset.y[train],
            groups=None if dataset.groups is None else dataset.groups[train],
            monitor_data=(graphs[test], dataset.y[test]),
        )
        history = model.history_
        row = {
            "dataset": dataset.name,
            "config": settings,
            "fold": fold,
            "best_epoch": history.best_epoch,
            "validation": [round(value, 5) for value in history.validation_accuracy],
            "test": [round(value, 5) for value in history.monitor_accuracy],
            "seconds": round(time.perf_counter() - began, 1),
            "processor_seconds": round(time.process_time() - used, 1),
        }
        with output.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        rows.append(row)
    print(summary(dataset.name, settings, rows), flush=True)


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
