"""An epoch of NTwin-GNN on the colour quotient compared with the same network in PyG, and how its cost grows.

Run as ``python benchmarks/ntwin.py`` (needs TWINWL_DATA with NCI1.zip). Contestants run in turns, each in a
process of its own so that peak memory is its own too. The PyG contestant is given its rooted subgraphs
already cut, one ``Data`` per graph with one-hot labels, as a transform would leave them; both start from the
same weights, and their first outputs are compared. ``--only sets`` does so on other kinds of graphs, on the
path that `NTwinClassifier` takes there: many labels (DD), no labels but many edges (IMDB-BINARY), a
continuous attribute (generated, of the size of PROTEINS), nothing to share (random graphs), hubs (reply
trees). ``--only fits`` measures `NTwinClassifier.fit` as a whole. Figures go to results/ntwin.json, the plot
to docs/images/ntwin_growth.png.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import torch
from hub_graphs import reply_trees

import twinwl as tw
from twinwl.datasets.graph_files import read_tu
from twinwl.neural.encoder import NTwinNetwork
from twinwl.neural.inputs import FittedInputs, NTwinExamples, SubtreeHistograms
from twinwl.neural.quotient import RowExamples
from twinwl.neural.sparse import SparseAwareAdam, SparseExamples
from twinwl.nn import NTwinEncoder
from twinwl.refinement.identities import rooted_subgraphs

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl import GraphBatch

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "ntwin.json"
PLOT = HERE.parent / "docs" / "images" / "ntwin_growth.png"
LAYERS, HOPS, HIDDEN, BATCH = 3, 3, 64, 32
CONTESTANTS = ("quotient", "pyg", "quotient with histograms", "twinwl")
SETS = {"NCI1": 3, "MUTAG": 3, "IMDB-BINARY": 3, "random": 2, "DD": 2, "attributes": 2, "reply trees": 2}
"""Radius of the rooted subgraphs; with larger ones PyG does not fit into memory on the last four."""
GRAPHS_OF_SETS = {"DD": 200, "reply trees": 20}
FITS = ("NCI1", "DD", "attributes", "attributes left out", "reply trees")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3, help="processes of each contestant")
    parser.add_argument("--epochs", type=int, default=3, help="timed epochs in each process")
    parser.add_argument("--only", choices=["epoch", "growth", "sets", "fits"])
    parser.add_argument("--worker", choices=[*CONTESTANTS, "fit"], help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--set", choices=[*SETS, *FITS], help="only this one of the sets")
    options = parser.parse_args()
    if options.worker == "fit":
        print(json.dumps(fit(options.set, options.epochs)))
        return
    if options.worker:
        print(json.dumps(work(options.worker, options.threads, options.epochs, options.set)))
        return
    result = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if options.only in {None, "sets"}:
        chosen = [options.set] if options.set else list(SETS)
        old = [row for row in result.get("sets", []) if row["set"] not in chosen]
        result["sets"] = old + compare_sets(chosen, options.turns, options.epochs)
    if options.only in {None, "fits"}:
        for data in [options.set] if options.set else FITS:
            result.setdefault("fits", {})[data] = found = _in_process("fit", 1, options.epochs, data)
            print(data, found, flush=True)
    if options.only in {None, "epoch"}:
        result["epoch"] = compare(options.turns, options.epochs)
    if options.only in {None, "growth"}:
        result["growth"] = growth()
        draw(result["growth"])
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


# ---------------------------------------------------------------------- one epoch beside PyG


def compare(turns: int, epochs: int) -> list[dict[str, object]]:
    """Run the contestants in turns, on one thread and on two."""
    table = []
    for threads in (1, 2):
        runs: dict[str, list[dict]] = {name: [] for name in CONTESTANTS[:3]}
        for _ in range(turns):
            for name, found in runs.items():
                found.append(_in_process(name, threads, epochs, "NCI1"))
        for name, found in runs.items():
            row = {"contestant": name, "threads": threads}
            for key in ("prepare", "epoch", "peak", "after_imports"):
                row[key] = statistics.median(run[key] for run in found)
            table.append(row)
            print(
                f"{threads} thread(s)  {name:26}  prepare {row['prepare']:6.2f} s  "
                f"epoch {row['epoch']:6.3f} s  peak {row['peak']:5.0f} MB "
                f"(of which {row['after_imports']:.0f} MB before any subgraph)",
                flush=True,
            )
    return table


def compare_sets(chosen: list[str], turns: int, epochs: int) -> list[dict[str, object]]:
    """Compare processor times of epochs with PyG's on one thread, on each set."""
    table = []
    for data in chosen:
        runs: dict[str, list[dict]] = {"twinwl": [], "pyg": []}
        for _ in range(turns):
            for name, found in runs.items():
                found.append(_in_process(name, 1, epochs, data))
        row: dict[str, object] = {"set": data, "graphs": runs["twinwl"][0]["graphs"], "hops": SETS[data]}
        for name, found in runs.items():
            for key in ("prepare", "processor", "peak"):
                row[f"{name}_{key}"] = round(statistics.median(run[key] for run in found), 3)
        row["ratio"] = round(row["twinwl_processor"] / row["pyg_processor"], 3)
        table.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return table


def _in_process(name: str, threads: int, epochs: int, data: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", name, "--threads", str(threads)]
    done = subprocess.run(  # noqa: S603  (this file itself)
        [*command, "--epochs", str(epochs), "--set", data], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def fit(data: str, epochs: int) -> dict[str, float]:
    """Measure a fit; what the first epoch takes longer (states are found at first use) is preparation."""
    torch.set_num_threads(1)
    os.environ["TWINWL_NUM_THREADS"] = "1"
    graphs, y = _graphs(data, whole=True)
    times: list[float] = []
    params = {"verbose": False, "callbacks": lambda _: times.append(time.process_time())}
    tw.NTwinClassifier(max_epochs=1, **params).fit(graphs[:64], np.arange(len(graphs[:64])) % 2)
    times.clear()
    began = time.process_time()
    tw.NTwinClassifier(max_epochs=epochs + 1, **params).fit(graphs, y)
    epoch = statistics.median(np.diff(times))
    return {"graphs": len(graphs), "prepare": times[0] - began - epoch, "epoch": epoch, "peak": _peak()}


def _graphs(data: str, *, whole: bool = False) -> tuple[GraphBatch, np.ndarray]:
    random = np.random.default_rng(0)
    if data == "reply trees":
        graphs = reply_trees(2000 if whole else GRAPHS_OF_SETS[data])
        return graphs, random.integers(0, 2, len(graphs))
    if data == "random":
        parts = [nx.gnm_random_graph(60, 240, seed=seed) for seed in range(200)]
        for part in parts:
            nx.set_node_attributes(part, {node: int(random.integers(20)) for node in part}, "label")
        return tw.from_networkx(parts, node_label="label"), random.integers(0, 2, len(parts))
    if data == "attributes left out":
        graphs, y = _graphs("attributes")
        return graphs.without_features(), y
    if data == "attributes":
        parts = [_neighbours_in_space(int(size), random) for size in random.poisson(39, 1113).clip(4)]
        graphs = tw.from_networkx(parts, node_label="label", node_features="length")
        return graphs, random.integers(0, 2, len(parts))
    collection = read_tu(Path(os.environ["TWINWL_DATA"]) / f"{data}.zip")
    y = np.unique(collection.y, return_inverse=True)[1]
    some = data in GRAPHS_OF_SETS and not whole
    kept = random.permutation(len(y))[: GRAPHS_OF_SETS[data]] if some else np.arange(len(y))
    return collection.graphs[kept], y[kept]


def _neighbours_in_space(size: int, random: np.random.Generator) -> nx.Graph:
    """Return points joined to their nearest, with one of three labels and a number each."""
    places = random.random((size, 3))
    near = np.argsort(((places[:, None] - places) ** 2).sum(2), axis=1)[:, 1:4]
    graph = nx.Graph([(i, int(j)) for i in range(size) for j in near[i]])
    for node in graph:
        graph.nodes[node]["label"] = int(random.integers(3))
        graph.nodes[node]["length"] = [float(random.normal())]
    return graph


def work(name: str, threads: int, epochs: int, data: str) -> dict[str, float]:
    """Be one contestant: prepare, train an epoch to warm up, then time epochs."""
    torch.set_num_threads(threads)
    os.environ["TWINWL_NUM_THREADS"] = str(threads)
    if name == "pyg":
        import torch_geometric.nn  # noqa: F401, PLC0415  (its import must not count as preparation)
    graphs, y = _graphs(data)
    hops = SETS[data]
    inputs = FittedInputs.fit(graphs, LAYERS, subtree="wl", edge_labels=False, min_df=1)
    _examples(inputs, graphs[:50], hops)  # compiled code is loaded once per process
    after_imports = _peak()
    torch.manual_seed(0)
    encoder = NTwinEncoder(inputs.n_features, LAYERS, hops, HIDDEN)
    began = time.perf_counter()
    if name == "pyg":
        epoch = pyg_epoch(graphs, y, encoder, inputs, hops)
    elif name == "twinwl":
        epoch = twin_epoch(y, _examples(inputs, graphs, hops), encoder, None)
    else:
        epoch = quotient_epoch(graphs, y, encoder, histograms=name.endswith("histograms"))
    prepare = time.perf_counter() - began
    epoch()
    times, processor = [], []
    for _ in range(epochs):
        began, used = time.perf_counter(), time.process_time()
        epoch()
        times.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    return {
        "graphs": len(graphs),
        "processor": statistics.median(processor),
        "prepare": prepare,
        "epoch": statistics.median(times),
        "peak": _peak(),
        "after_imports": after_imports,
    }


def quotient_epoch(
    graphs: GraphBatch, y: np.ndarray, encoder: NTwinEncoder, *, histograms: bool
) -> Callable[[], None]:
    """Return one epoch on the quotient."""
    rows, subtree = None, None
    if histograms:
        subtree = SubtreeHistograms.fit_to(graphs, LAYERS, edge_labels=False)
        rows = SparseExamples(subtree.rows(graphs))
    return twin_epoch(y, NTwinExamples(_rows(graphs, LAYERS, HOPS), histograms=rows), encoder, subtree)


def _examples(inputs: FittedInputs, graphs: GraphBatch, hops: int) -> NTwinExamples:
    """Return rooted subgraphs alone, on the path that an estimator takes."""
    return NTwinExamples(inputs.rows(graphs, (hops,) * LAYERS, "none"))


def _rows(graphs: GraphBatch, layers: int, hops: int) -> RowExamples:
    return RowExamples(graphs, (hops,) * layers, "none", graphs.node_vocabulary, None)


def twin_epoch(
    y: np.ndarray, examples: NTwinExamples, encoder: NTwinEncoder, subtree: SubtreeHistograms | None
) -> Callable[[], None]:
    """Return one epoch of an NTwin network."""
    network = NTwinNetwork(encoder, 2, n_histogram_columns=0 if subtree is None else subtree.n_columns)
    optimiser = SparseAwareAdam(network, 1e-3)
    targets, order = torch.from_numpy(y), np.random.default_rng(0)

    def epoch() -> None:
        shuffled = order.permutation(len(y))
        for low in range(0, len(y), BATCH):
            chosen = shuffled[low : low + BATCH]
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(examples.take(chosen)), targets[chosen]).backward()
            optimiser.step()

    return epoch


def pyg_epoch(
    graphs: GraphBatch, y: np.ndarray, encoder: NTwinEncoder, inputs: FittedInputs, hops: int
) -> Callable[[], None]:
    """Return one epoch with PyG on rooted subgraphs that are already cut."""
    from torch_geometric.loader import DataLoader  # noqa: PLC0415

    data = [_union(graph, int(target), inputs, hops) for graph, target in zip(graphs, y, strict=True)]
    network = _pyg_network(encoder)
    _check_same(encoder, network, _examples(inputs, graphs[:BATCH], hops), data[:BATCH])
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, foreach=False, fused=True)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True)

    def epoch() -> None:
        for batch in loader:
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(batch), batch.y).backward()
            optimiser.step()

    return epoch


def _union(graph: GraphBatch, target: int, inputs: FittedInputs, hops: int) -> object:
    """Return the disjoint union of a graph's rooted subgraphs as PyG data."""
    from torch_geometric.data import Data  # noqa: PLC0415

    cut = rooted_subgraphs(graph, hops)
    sources = np.repeat(np.arange(len(cut.node)), np.diff(cut.indptr))
    codes = [inputs.labels.index(graph.node_vocabulary[code]) for code in graph.node_labels.tolist()]
    x = np.eye(len(inputs.labels), dtype=np.float32)[codes]
    if graph.node_features is not None:
        scaled = (graph.node_features - inputs.centre) / inputs.scale
        x = np.hstack([x, scaled.astype(np.float32)])
    return Data(
        x=torch.from_numpy(x[cut.node]),
        edge_index=torch.from_numpy(np.stack([sources, cut.indices.astype(np.int64)])),
        y=torch.tensor([target]),
    )


def _pyg_network(encoder: NTwinEncoder) -> torch.nn.Module:
    """Write the same network with GINConv, and give it the same first weights."""
    from torch_geometric.nn import GINConv, global_add_pool  # noqa: PLC0415

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolutions = torch.nn.ModuleList(
                GINConv(torch.nn.Sequential(step.first, torch.nn.ReLU(), step.second))
                for step in encoder.rooted.steps
            )
            self.head = torch.nn.Sequential(
                torch.nn.BatchNorm1d(LAYERS * HIDDEN),
                torch.nn.Linear(LAYERS * HIDDEN, HIDDEN),
                torch.nn.ReLU(),
                torch.nn.Dropout(0.5),
                torch.nn.Linear(HIDDEN, 2),
            )

        def encode(self, batch: object) -> torch.Tensor:
            x, sums = batch.x, []
            for convolution in self.convolutions:
                x = convolution(x, batch.edge_index)
                sums.append(global_add_pool(x, batch.batch, batch.num_graphs))
            return torch.cat(sums, dim=1)

        def forward(self, batch: object) -> torch.Tensor:
            return self.head(self.encode(batch))

    return Network()


def _check_same(
    encoder: NTwinEncoder, network: torch.nn.Module, examples: NTwinExamples, data: list[object]
) -> None:
    """Compare in double precision: in single, sums over hubs differ by a thousandth in PyG."""
    from torch_geometric.data import Batch  # noqa: PLC0415

    batch = Batch.from_data_list(data)
    batch.x = batch.x.double()
    with torch.no_grad():
        here = encoder.double()(examples.rooted.take(np.arange(len(data))))
        there = network.double().encode(batch)
    torch.testing.assert_close(here, there, rtol=1e-8, atol=1e-6)
    encoder.float()
    network.float()


def _peak() -> float:
    """Return the process's peak memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---------------------------------------------------------------------- growth


def growth() -> dict[str, list[dict[str, float]]]:
    """Measure preparation and epoch on NCI1 while one of hops, layers and graphs grows."""
    torch.set_num_threads(1)
    collection = read_tu(Path(os.environ["TWINWL_DATA"]) / "NCI1.zip")
    graphs, y = collection.graphs, np.unique(collection.y, return_inverse=True)[1]
    shuffled = np.random.default_rng(0).permutation(len(y))
    return {
        "hops": [grown(graphs, y, LAYERS, hops, "hops", hops) for hops in range(1, 7)],
        "layers": [grown(graphs, y, layers, HOPS, "layers", layers) for layers in range(1, 7)],
        "graphs": [
            grown(graphs[shuffled[:n]], y[shuffled[:n]], LAYERS, HOPS, "graphs", n)
            for n in (250, 500, 1000, 2000, 4110)
        ],
    }


def grown(
    graphs: GraphBatch, y: np.ndarray, layers: int, hops: int, what: str, value: int
) -> dict[str, float]:
    """Measure one setting: the best of three preparations and of two epochs after a first one."""
    prepare = []
    for _ in range(3):
        began = time.perf_counter()
        rows = _rows(graphs, layers, hops)
        prepare.append(time.perf_counter() - began)
    examples, quotient = NTwinExamples(rows), rows.quotient
    torch.manual_seed(0)
    network = NTwinNetwork(NTwinEncoder(len(graphs.node_vocabulary), layers, hops, HIDDEN), 2)
    optimiser = SparseAwareAdam(network, 1e-3)
    targets = torch.from_numpy(y)
    epochs = []
    for _ in range(3):
        began = time.perf_counter()
        for low in range(0, len(y), BATCH):
            some = np.arange(low, min(low + BATCH, len(y)))
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(examples.take(some)), targets[some]).backward()
            optimiser.step()
        epochs.append(time.perf_counter() - began)
    row = {
        what: value,
        "pairs": quotient.n_pairs[-1],
        "colours": quotient.n_colours[-1],
        "prepare": min(prepare),
        "epoch": min(epochs[1:]),
    }
    print("  ".join(f"{key} {figure:,.4g}" for key, figure in row.items()), flush=True)
    return row


def draw(table: dict[str, list[dict[str, float]]]) -> None:
    """Plot seconds and rows against what grows."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(11, 6), layout="constrained")
    axes = figure.subplots(2, 3)
    for column, (what, rows) in enumerate(table.items()):
        values = [row[what] for row in rows]
        for key, name in (("prepare", "prepare the quotient"), ("epoch", "one epoch")):
            axes[0, column].plot(values, [row[key] for row in rows], marker="o", label=name)
        for key, name in (("pairs", "(root, node) pairs"), ("colours", "colours, top layer")):
            axes[1, column].plot(values, [row[key] for row in rows], marker="o", label=name)
        axes[0, column].set_ylim(bottom=0)
        axes[1, column].set_yscale("log")
        axes[1, column].set_xlabel(what)
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("rows")
    for row in axes:
        row[0].legend()
    figure.suptitle(
        f"NCI1, {LAYERS} layers and {HOPS} hops unless noted otherwise, hidden {HIDDEN}, one thread"
    )
    figure.savefig(PLOT, dpi=120)


if __name__ == "__main__":
    main()
