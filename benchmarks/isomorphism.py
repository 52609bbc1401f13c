"""Hash, compare and de-duplicate, compared with networkx and igraph; ratios of one run, after warm-up.

Run as ``TWINWL_NUM_THREADS=1 python benchmarks/isomorphism.py`` (needs TWINWL_DATA with NCI1, EXP, BREC and
HIV). It prints a table and writes results/isomorphism.json.

* hash: ``graph_hashes`` of NCI1 with 3 rounds, and networkx' ``weisfeiler_lehman_graph_hash`` with 3 rounds.
* compare: ``compare(readout="size")`` on the 600 pairs of EXP, igraph's exact test (BLISS with node labels as
  colours), and networkx' ``is_isomorphic`` with node labels, stopped after 1 s per pair; a stopped pair
  counts as 1 s. Both peers are given graphs of their own kind, already built.
* de-duplicate: exact ``deduplicate`` of NCI1, igraph's canonical permutation of the same graphs, already
  built, and nothing else, and our own ``graph_hashes``; the same for HIV, and for the strongly regular and
  the CFI graphs of BREC, which are as hard as graphs get.
* de-duplicate a file: all 274,668 graphs of nine nodes (``geng 9``) and a permuted copy of each, shuffled, as
  graph6: read and grouped exactly by twinwl in a process that is warm, and by nauty's ``shortg``. Needs the
  Debian package ``nauty``. Both use one core, and what is compared is processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import igraph
import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.datasets.graph_files import read_tu

if TYPE_CHECKING:
    from types import FrameType

    from twinwl import GraphBatch

ROUNDS = 3
SECONDS_PER_PAIR = 1.0
OUT = Path(__file__).parent / "results" / "isomorphism.json"

Contestants = dict[str, Callable[[], object]]


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=11, help="turns of each contestant")
    repeats = parser.parse_args().repeats
    folder = os.environ.get("TWINWL_DATA")
    if not folder:
        sys.exit("set TWINWL_DATA to the folder that holds NCI1.zip and EXP.zip")
    nci1, exp = (read_tu(Path(folder) / f"{name}.zip").graphs for name in ("NCI1", "EXP"))
    result = {
        "hash NCI1": _in_turns(hashes(nci1), repeats),
        "compare EXP": _in_turns(comparisons(exp), repeats) | {"networkx": networkx_on_pairs(exp)},
        "de-duplicate NCI1": _in_turns(groups(nci1), repeats),
        "de-duplicate HIV": _in_turns(
            groups(tw.load_dataset("HIV", verbose=False, atoms="skeleton").graphs), repeats
        ),
    }
    brec = _brec(Path(folder) / "BREC.zip")
    result["de-duplicate strongly regular graphs"] = _in_turns(groups(brec[220:320]), repeats)
    result["de-duplicate CFI graphs"] = _in_turns(groups(brec[520:720]), repeats)
    if shutil.which("nauty-geng"):
        result["de-duplicate a file of 549,336 graphs"] = small_graphs(min(repeats, 5))
    for seconds in result.values():
        ours = seconds["twinwl"]
        seconds |= {f"{name} / twinwl": value / ours for name, value in seconds.items() if name != "twinwl"}
    _show(result)
    versions = {name: version(name) for name in ("networkx", "igraph", "numba", "numpy")}
    stored = {
        "seconds": result,
        "python": platform.python_version(),
        "versions": versions,
        "cpus": os.cpu_count(),
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(stored, indent=1) + "\n")


def hashes(batch: GraphBatch) -> Contestants:
    """Hash against hash."""
    graphs = [_networkx(graph) for graph in batch]

    def theirs() -> None:
        for graph in graphs:
            nx.weisfeiler_lehman_graph_hash(graph, node_attr="label", iterations=ROUNDS)

    return {"twinwl": lambda: tw.graph_hashes(batch, ROUNDS), "networkx": theirs}


def comparisons(batch: GraphBatch) -> Contestants:
    """Test of two graphs against igraph's exact one; networkx is measured once, for it takes minutes."""
    ours = [(batch[first], batch[first + 1]) for first in range(0, len(batch), 2)]
    graphs = [(_igraph(graph), graph.node_labels.tolist()) for graph in batch]

    def compare() -> None:
        assert all(tw.compare(g, h, readout="size").distinguished for g, h in ours)  # noqa: S101

    def exact() -> None:
        for (g, colours), (h, other_colours) in zip(graphs[::2], graphs[1::2], strict=True):
            assert not g.isomorphic_bliss(h, color1=colours, color2=other_colours)  # noqa: S101

    return {"twinwl": compare, "igraph": exact}


def networkx_on_pairs(batch: GraphBatch) -> float:
    """Return the seconds networkx takes for all pairs, stopped after a second each."""
    graphs = [_networkx(graph) for graph in batch]
    same = nx.algorithms.isomorphism.categorical_node_match("label", None)
    signal.signal(signal.SIGALRM, _stop)
    start = time.perf_counter()
    for g, h in zip(graphs[::2], graphs[1::2], strict=True):
        signal.setitimer(signal.ITIMER_REAL, SECONDS_PER_PAIR)
        try:
            nx.is_isomorphic(g, h, node_match=same)
        except TimeoutError:
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return time.perf_counter() - start


def groups(batch: GraphBatch) -> Contestants:
    """Exact groups against bare canonical forms."""
    graphs = [(_igraph(graph), graph.node_labels.tolist()) for graph in batch]

    def forms() -> None:
        for graph, colours in graphs:
            graph.canonical_permutation(color=colours)

    return {
        "twinwl": lambda: tw.deduplicate(batch),
        "igraph": forms,
        "our hash": lambda: tw.graph_hashes(batch),
    }


def small_graphs(repeats: int) -> dict[str, float]:
    """Return the least processor seconds of twinwl and of shortg for a file of graph6 lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "twice.g6"
        lines = subprocess.run(["nauty-geng", "-q", "9"], capture_output=True, check=True).stdout.split()  # noqa: S607
        copies = _permuted(lines, np.random.default_rng(0))
        order = np.random.default_rng(1).permutation(2 * len(lines))
        both = lines + copies
        path.write_bytes(b"".join(both[place] + b"\n" for place in order))

        def ours() -> None:
            found = tw.deduplicate(tw.from_graph6(path.read_bytes().split()))
            assert len(found) == len(lines)  # noqa: S101

        def theirs() -> None:
            command = ["nauty-shortg", "-q", str(path), str(path.with_suffix(".out"))]
            subprocess.run(command, check=True)  # noqa: S603

        ours()
        return {
            "twinwl": min(_processor_seconds(ours, resource.RUSAGE_SELF) for _ in range(repeats)),
            "shortg": min(_processor_seconds(theirs, resource.RUSAGE_CHILDREN) for _ in range(repeats)),
        }


def _permuted(lines: list[bytes], rng: np.random.Generator) -> list[bytes]:
    """Return each graph of nine nodes with its nodes in another order."""
    n = 9
    body = np.array([list(line[1:]) for line in lines], np.uint8) - 63
    bits = np.unpackbits(body[:, :, None], axis=2)[:, :, 2:].reshape(len(lines), -1)
    columns, rows = np.tril_indices(n, -1)  # the upper triangle by columns
    matrices = np.zeros((len(lines), n, n), np.uint8)
    matrices[:, rows, columns] = matrices[:, columns, rows] = bits
    order = rng.permuted(np.tile(np.arange(n), (len(lines), 1)), axis=1)
    moved = matrices[np.arange(len(lines))[:, None, None], order[:, :, None], order[:, None, :]]
    sixes = moved[:, rows, columns].reshape(len(lines), -1, 6)
    characters = (sixes << np.arange(5, -1, -1, dtype=np.uint8)).sum(axis=2) + 63
    return [b"H" + row.tobytes() for row in characters.astype(np.uint8)]


def _brec(path: Path) -> GraphBatch:
    with zipfile.ZipFile(path) as archive:
        return tw.from_graph6(archive.read("BREC/brec_pairs.g6").split())


def _processor_seconds(function: Callable[[], object], who: int) -> float:
    before = resource.getrusage(who)
    function()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _in_turns(contestants: Contestants, repeats: int) -> dict[str, float]:
    """Return the median seconds of each contestant; they take turns, so that a busy moment hits all alike."""
    for function in contestants.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, function in contestants.items():
            start = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def _networkx(graph: GraphBatch) -> nx.Graph:
    result = nx.Graph()
    result.add_nodes_from((node, {"label": str(label)}) for node, label in enumerate(graph.labels_of_nodes()))
    result.add_edges_from(zip(*(ends.tolist() for ends in graph.arcs()), strict=True))
    return result


def _igraph(graph: GraphBatch) -> igraph.Graph:
    sources, targets = graph.arcs()
    once = sources < targets
    edges = list(zip(sources[once].tolist(), targets[once].tolist(), strict=True))
    return igraph.Graph(n=graph.n_nodes, edges=edges)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _show(result: dict[str, dict[str, float]]) -> None:
    table = Table("task", "what", "seconds or ratio")
    for task, seconds in result.items():
        for name, value in seconds.items():
            table.add_row(task, name, f"{value:.3f}" if "/" not in name else f"{value:.1f} ×")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
