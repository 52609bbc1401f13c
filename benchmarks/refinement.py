"""Twin refinement compared with its peers and its floor; with hubs; how cost grows with graphs and nodes.

Run as ``python benchmarks/refinement.py`` (needs TWINWL_DATA with NCI1, NCI109, Mutagenicity, MUTAG, DD and
IMDB-BINARY). Everything that is compared runs in one process, in turns, after warm-up; figures are medians.
The growth table runs each size in a fresh process, so that peak memory is that size's own. Results go to
results/refinement.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import scipy.sparse as sp
from hub_graphs import barabasi_albert, random_graph, reply_trees, star
from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.datasets.graph_files import read_tu
from twinwl.graphs.building import assemble
from twinwl.refinement.content_keys import node_keys
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 5
SETS = ("NCI1", "NCI109", "Mutagenicity")
OUT = Path(__file__).parent / "results" / "refinement.json"
console = Console(width=120)


def main() -> None:
    """Print the tables and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="turns of each fast contestant")
    parser.add_argument("--only", choices=["peers", "hubs", "growth"], help="one of the tables")
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure_alone(*options.measure)))
        return
    result = json.loads(OUT.read_text()) if OUT.exists() else {}
    result |= {"rounds": ROUNDS, "cpu_count": os.cpu_count()}
    if options.only in {None, "peers"}:
        result["peers"] = {name: _peers(name, options.repeats) for name in SETS}
        _print_peers(result["peers"])
    if options.only in {None, "hubs"}:
        result["sets"] = {name: _with_and_without_sizes(batch) for name, batch in _sets_with_hubs()}
        result["hubs"] = _hubs()
        _print_hubs(result)
    if options.only in {None, "growth"}:
        result["graphs"] = [_grown_set(copies) for copies in (1, 10, 61, 243)]
        result["nodes"] = [_grown_graph(n) for n in (10**3, 10**4, 10**5, 10**6)]
        _print_growth(result)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}")


def _data_folder() -> Path:
    folder = os.environ.get("TWINWL_DATA")
    if not folder:
        sys.exit("set TWINWL_DATA to the folder that holds the TU zips")
    return Path(folder)


# ---------------------------------------------------------------------- beside peers


def _peers(name: str, repeats: int) -> dict[str, float]:
    """Return median seconds of each contestant on one set."""
    batch = read_tu(_data_folder() / f"{name}.zip").graphs
    quick: dict[str, Callable[[], object]] = {
        "five matrix-vector products": _products(batch),
        "WL features, 1 thread": _features(batch, "count", 1),
        "STwin features, 1 thread": _features(batch, "size", 1),
        "WL features, 2 threads": _features(batch, "count", 2),
        "STwin features, 2 threads": _features(batch, "size", 2),
    }
    seconds = _in_turns(quick, repeats)
    slow: dict[str, Callable[[], object]] = {
        "linear WL kernel matrix": lambda: tw.TwinKernel(
            ROUNDS, features="count", base="linear", normalize=False
        ).fit_transform(batch),
        "GraKeL WL kernel matrix": _grakel(batch),
        "PyG WLConv": _wlconv(batch),
    }
    seconds |= _in_turns(slow, 3)
    seconds |= _in_turns({"networkx WL hash": _networkx_hashes(batch)}, 1, warm_up=False)
    return seconds


def _in_turns(
    contestants: dict[str, Callable[[], object]], repeats: int, *, warm_up: bool = True
) -> dict[str, float]:
    if warm_up:
        for run in contestants.values():
            run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def _products(batch: tw.GraphBatch) -> Callable[[], object]:
    """Return the floor: five SciPy products of the adjacency matrix with a vector."""
    data = np.ones(len(batch.indices))
    matrix = sp.csr_matrix((data, batch.indices, batch.indptr.astype(np.int32)), shape=(batch.n_nodes,) * 2)
    start = np.random.default_rng(0).random(batch.n_nodes)

    def run() -> object:
        vector = start
        for _ in range(ROUNDS):
            vector = matrix @ vector
        return vector

    return run


def _features(batch: tw.GraphBatch, features: str, n_threads: int) -> Callable[[], object]:
    """Return a run of the whole feature matrix, alphabet included, with a given number of threads."""

    def run() -> object:
        os.environ["TWINWL_NUM_THREADS"] = str(n_threads)
        return tw.STwinVectorizer(ROUNDS, features=features).fit_transform(batch)

    return run


def _grakel(batch: tw.GraphBatch) -> Callable[[], object]:
    from grakel import Graph  # noqa: PLC0415
    from grakel.kernels import VertexHistogram, WeisfeilerLehman  # noqa: PLC0415

    graphs = [
        Graph(
            {node: dict.fromkeys(graph.neighbors(node), 1.0) for node in graph},
            node_labels=dict(graph.nodes(data="label")),
        )
        for graph in _as_networkx(batch)
    ]

    def run() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return WeisfeilerLehman(n_iter=ROUNDS, base_graph_kernel=VertexHistogram).fit_transform(graphs)

    return run


def _wlconv(batch: tw.GraphBatch) -> Callable[[], object]:
    import torch  # noqa: PLC0415
    from torch_geometric.nn import WLConv  # noqa: PLC0415

    sources, targets = batch.arcs()
    edge_index = torch.from_numpy(np.stack([sources, targets.astype(np.int64)]))
    labels = torch.from_numpy(batch.node_labels.astype(np.int64))

    def run() -> object:
        colours = labels
        for convolution in [WLConv() for _ in range(ROUNDS)]:
            colours = convolution(colours, edge_index)
        return colours

    return run


def _networkx_hashes(batch: tw.GraphBatch) -> Callable[[], object]:
    graphs = _as_networkx(batch)

    def run() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                nx.weisfeiler_lehman_graph_hash(graph, node_attr="label", iterations=ROUNDS)
                for graph in graphs
            ]

    return run


def _as_networkx(batch: tw.GraphBatch) -> list[nx.Graph]:
    graphs = []
    for graph in batch:
        sources, targets = graph.arcs()
        out = nx.Graph()
        out.add_nodes_from((node, {"label": label}) for node, label in enumerate(graph.labels_of_nodes()))
        out.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
        graphs.append(out)
    return graphs


def _print_peers(peers: dict[str, dict[str, float]]) -> None:
    table = Table(title=f"{ROUNDS} rounds: milliseconds (and times the floor)")
    table.add_column("")
    for name in peers:
        table.add_column(name, justify="right")
    for contestant in next(iter(peers.values())):
        cells = []
        for seconds in peers.values():
            floor = seconds["five matrix-vector products"]
            cells.append(f"{seconds[contestant] * 1e3:,.1f} ({seconds[contestant] / floor:,.1f}×)")
        table.add_row(contestant, *cells)
    console.print(table)
    ratios = Table(title="Ratios")
    ratios.add_column("")
    for name in peers:
        ratios.add_column(name, justify="right")
    for title, above, below in (
        ("STwin / floor, 1 thread (≤ 12)", "STwin features, 1 thread", "five matrix-vector products"),
        ("STwin / floor, 2 threads (≤ 8)", "STwin features, 2 threads", "five matrix-vector products"),
        ("STwin / WL (≤ 1.3)", "STwin features, 1 thread", "WL features, 1 thread"),
        ("networkx hash / STwin, 1 thread (≥ 50)", "networkx WL hash", "STwin features, 1 thread"),
        ("networkx hash / STwin, 2 threads", "networkx WL hash", "STwin features, 2 threads"),
        ("GraKeL kernel / ours (≥ 20)", "GraKeL WL kernel matrix", "linear WL kernel matrix"),
        ("PyG WLConv / WL features", "PyG WLConv", "WL features, 1 thread"),
    ):
        ratios.add_row(title, *(f"{seconds[above] / seconds[below]:,.2f}" for seconds in peers.values()))
    console.print(ratios)


# ---------------------------------------------------------------------- hubs


def _sets_with_hubs() -> Iterator[tuple[str, tw.GraphBatch]]:
    for name in ("MUTAG", "NCI1", "DD", "IMDB-BINARY"):
        yield name, read_tu(_data_folder() / f"{name}.zip").graphs
    yield "reply trees", reply_trees(2000)
    yield "reply trees with chords", reply_trees(2000, chords=0.16)


def _with_and_without_sizes(batch: tw.GraphBatch) -> dict[str, float]:
    """Return what a set holds, and the median seconds of WL and STwin features on one thread."""
    contestants = {"WL": _features(batch, "count", 1), "STwin": _features(batch, "size", 1)}
    seconds = _in_turns(contestants, 40 if batch.n_nodes < 200_000 else 9)
    return {"graphs": len(batch), "nodes": batch.n_nodes, "hub": int(np.diff(batch.indptr).max()), **seconds}


def _hubs() -> dict[str, dict[str, float]]:
    """Return seconds on large graphs: what is asked for, and beside it the WL rounds alone."""
    os.environ.pop("TWINWL_NUM_THREADS", None)
    n_iter = 3
    for small in (star(5000), random_graph(5000, 15_000)):  # compile before measuring
        for run in _on_large_graphs(small, n_iter).values():
            run()
    out = {}
    for name, batch, repeats in (
        ("star, 1,000,000 leaves", star(10**6), 9),
        ("Barabási–Albert, 100,000 nodes, m = 3", barabasi_albert(10**5, 3), 3),
        ("random, 1,000,000 nodes, 5,000,000 edges", random_graph(10**6, 5 * 10**6), 1),
    ):
        out[name] = _in_turns(_on_large_graphs(batch, n_iter), repeats, warm_up=repeats > 1)
    return out


def _on_large_graphs(batch: tw.GraphBatch, n_iter: int) -> dict[str, Callable[[], object]]:
    return {
        # A hash needs a key for each node's colour in each round, and no alphabet.
        "WL rounds": lambda: [None for _ in zip(node_keys(batch), range(n_iter + 1), strict=False)],
        "rooted sizes": lambda: rooted_sizes(batch, n_iter),
        "hash": lambda: tw.graph_hash(batch, n_iter=n_iter),
        "default hash": lambda: tw.graph_hash(batch),
    }


def _print_hubs(result: dict[str, dict[str, dict[str, float]]]) -> None:
    table = Table(title=f"{ROUNDS} rounds: what rooted sizes add to WL features (≤ 1.3)")
    for column in ("set", "graphs", "nodes", "largest degree", "WL, ms", "STwin, ms", "STwin / WL"):
        table.add_column(column, justify="left" if column == "set" else "right")
    for name, row in result["sets"].items():
        counts = [f"{row[key]:,}" for key in ("graphs", "nodes", "hub")]
        times = [f"{row[key] * 1e3:,.1f}" for key in ("WL", "STwin")]
        table.add_row(name, *counts, *times, f"{row['STwin'] / row['WL']:.2f}")
    console.print(table)
    columns = ("WL rounds", "rooted sizes", "hash", "default hash")
    table = Table(title="Large graphs, 3 rounds: seconds (star: hash ≤ 3 times the rounds)")
    for column in ("graph", *columns, "hash / rounds"):
        table.add_column(column, justify="left" if column == "graph" else "right")
    for name, row in result["hubs"].items():
        cells = [f"{row[key]:,.2f}" for key in columns]
        table.add_row(name, *cells, f"{row['hash'] / row['WL rounds']:.1f}")
    console.print(table)


# ---------------------------------------------------------------------- growth


def _grown_set(copies: int) -> dict[str, float]:
    """Measure STwin features of NCI1 repeated, nodes permuted, 1 % of the labels changed in each copy."""
    batch = read_tu(_data_folder() / "NCI1.zip").graphs
    random = np.random.default_rng(copies)
    sources, targets = batch.arcs()
    graph_of_node = np.repeat(np.arange(len(batch)), batch.nodes_per_graph)
    parts = []
    for _ in range(copies):
        order = np.lexsort((random.random(batch.n_nodes), graph_of_node))
        place = np.empty(batch.n_nodes, np.int64)
        place[order] = np.arange(batch.n_nodes)
        labels = batch.node_labels[order]
        changed = random.random(batch.n_nodes) < 0.01
        labels[changed] = random.integers(0, len(batch.node_vocabulary), int(changed.sum()))
        adjacency = assemble(batch.graph_ptr, place[sources], place[targets], directed=True)
        parts.append((adjacency.indptr, adjacency.indices, labels))
    shift = np.arange(copies)
    arrays = {
        "indptr": np.concatenate(
            [[0], *(part[0][1:] + len(batch.indices) * k for k, part in enumerate(parts))]
        ),
        "indices": np.concatenate([part[1] + np.int32(batch.n_nodes * k) for k, part in enumerate(parts)]),
        "graph_ptr": np.concatenate([[0], (batch.graph_ptr[1:] + batch.n_nodes * shift[:, None]).ravel()]),
        "node_labels": np.concatenate([part[2] for part in parts]),
    }
    parts.clear()
    return _measured("features", arrays) | {"graphs": len(batch) * copies}


def _grown_graph(n_nodes: int) -> dict[str, float]:
    """Measure rooted sizes up to h = 2 of one random graph with five edges per node."""
    batch = random_graph(n_nodes, 5 * n_nodes)
    arrays = {name: getattr(batch, name) for name in ("indptr", "indices", "graph_ptr", "node_labels")}
    return _measured("sizes", arrays) | {"nodes": n_nodes, "edges": batch.n_edges}


def _measured(kind: str, arrays: dict[str, np.ndarray]) -> dict[str, float]:
    """Measure in a fresh process, which reads the arrays from a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays.items():
            np.save(Path(folder) / f"{name}.npy", array)
        arrays.clear()
        command = [sys.executable, __file__, "--measure", kind, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  (our own script)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _measure_alone(kind: str, folder: str) -> dict[str, float]:
    # Import and compile before measuring; a large graph needs other kernels.
    small = [tw.GraphBatch.from_edges([[(0, 1)]] * 3), random_graph(5000, 15_000)]
    work: Callable[[tw.GraphBatch], object] = {
        "features": lambda batch: tw.STwinVectorizer(ROUNDS).fit_transform(batch),
        "sizes": lambda batch: rooted_sizes(batch, 2),
    }[kind]
    for batch in small if kind == "sizes" else small[:1]:
        work(batch)
    before = _peak_bytes()
    arrays = {
        name: np.load(Path(folder) / f"{name}.npy")
        for name in ("indptr", "indices", "graph_ptr", "node_labels")
    }
    vocabulary = tuple(range(int(arrays["node_labels"].max()) + 1))
    batch = tw.GraphBatch.unchecked(
        **arrays,
        node_vocabulary=vocabulary,
        edge_labels=None,
        edge_vocabulary=(),
        node_features=None,
        directed=False,
    )
    csr_bytes = sum(arrays[name].nbytes for name in ("indptr", "indices", "graph_ptr"))
    seconds = []
    for _ in range(15 if len(batch.indices) < 3_000_000 else 2):
        begin = time.perf_counter()
        work(batch)
        seconds.append(time.perf_counter() - begin)
    return {
        "seconds": statistics.median(seconds),
        "peak_bytes": _peak_bytes() - before,
        "csr_bytes": csr_bytes,
    }


def _peak_bytes() -> int:
    """Return the peak resident memory of this program; getrusage would count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _print_growth(result: dict[str, object]) -> None:
    table = Table(
        title=f"STwin features, {ROUNDS} rounds: NCI1 repeated, nodes permuted, 1 % of labels changed"
    )
    for column in ("graphs", "seconds", "µs a graph", "× of smallest", "peak MB", "peak / CSR arrays"):
        table.add_column(column, justify="right")
    rows: list[dict[str, float]] = result["graphs"]  # type: ignore[assignment]
    for row in rows:
        each, least = row["seconds"] / row["graphs"], rows[0]["seconds"] / rows[0]["graphs"]
        table.add_row(
            f"{row['graphs']:,}",
            f"{row['seconds']:.3f}",
            f"{each * 1e6:.2f}",
            f"{each / least:.2f}",
            f"{row['peak_bytes'] / 1e6:,.0f}",
            f"{row['peak_bytes'] / row['csr_bytes']:.1f}",
        )
    console.print(table)
    table = Table(title="Rooted sizes up to h = 2 of one random graph")
    for column in ("nodes", "edges", "seconds", "ns a node", "peak MB", "peak / CSR arrays"):
        table.add_column(column, justify="right")
    for row in result["nodes"]:  # type: ignore[attr-defined]
        table.add_row(
            f"{row['nodes']:,}",
            f"{row['edges']:,}",
            f"{row['seconds']:.4f}",
            f"{row['seconds'] / row['nodes'] * 1e9:,.0f}",
            f"{row['peak_bytes'] / 1e6:,.0f}",
            f"{row['peak_bytes'] / row['csr_bytes']:.1f}",
        )
    console.print(table)


if __name__ == "__main__":
    main()
