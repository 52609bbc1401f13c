"""Where people wait: hash, compare, de-duplicate, features, power, large graphs, beside a peer.

Run as ``TWINWL_NUM_THREADS=1 python benchmarks/waiting.py`` (needs TWINWL_DATA with NCI1 and BREC, and
nauty's ``geng`` and ``shortg``). ``--rows NAME`` selects rows whose names contain NAME. Each row runs in a
process of its own, so that its peak memory is its own. Times are processor time, the median of several turns
after a warm-up; only the first two rows are about what is cold.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

HASH = "import twinwl as tw; tw.graph_hash([[(0, 1), (1, 2), (2, 0)]])"
MANY_GRAPHS, FEW_GRAPHS = 1_000_000, 4_110  # so many has NCI1


@dataclass(frozen=True)
class Row:
    """What was measured, in seconds or in a unit of its name: ours, and what it is compared with."""

    ours: float
    peer: float
    peer_name: str


def main() -> None:
    """Measure and print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="", help="part of the name of the rows to run")
    parser.add_argument("--one", choices=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        row = ROWS[options.one]()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(json.dumps([row.ours, row.peer, row.peer_name, memory]))
        return
    table = Table("row", "ours", "limit or peer", "", "ratio", "peak memory [MiB]")
    for name in ROWS:
        if options.rows in name:
            command = [sys.executable, __file__, "--one", name]
            found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
            ours, peer, peer_name, memory = json.loads(found.stdout.splitlines()[-1])
            table.add_row(name, f"{ours:.3g}", f"{peer:.3g}", peer_name, f"{ours / peer:.2f}", f"{memory:,}")
    Console(width=120).print(table)


def median(function: Callable[[], object], turns: int = 7, repeats: int = 1) -> float:
    """Return the median processor time of a call, after one to warm up."""
    function()
    seconds = []
    for _ in range(turns):
        began = time.process_time()
        for _ in range(repeats):
            function()
        seconds.append((time.process_time() - began) / repeats)
    return statistics.median(seconds)


def of_process(command: list[str], turns: int = 3, **more: object) -> float:
    """Return the median processor time of a command, start to end."""
    seconds = []
    for _ in range(turns):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)  # type: ignore[call-overload]  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(seconds)


def hash_of_one() -> Row:
    """Hash one graph in a process of its own, beside the start of Python with numpy."""
    ours, numpy = (of_process([sys.executable, "-c", code]) for code in (HASH, "import numpy"))
    return Row(ours, numpy, "import numpy")


def first_call() -> Row:
    """Hash a graph that is too large for plain Python, with cold and with warm kernels."""
    code = "import networkx as nx, twinwl as tw; tw.graph_hash(nx.cycle_graph(2000))"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        cold, warm = (of_process([sys.executable, "-c", code], 1, env=environment) for _ in range(2))
    return Row(cold, warm, "with warm kernels")


def pair_of_44(readout: str) -> Row:
    """Compare two copies of a random graph of 44 nodes; igraph is given graphs of its own kind."""
    import igraph  # noqa: PLC0415
    import networkx as nx  # noqa: PLC0415
    import numba  # noqa: F401, PLC0415  (small graphs would otherwise stay with plain Python)

    import twinwl as tw  # noqa: PLC0415

    edges = np.array(nx.gnm_random_graph(44, 50, seed=1).edges)
    both = edges, np.random.default_rng(1).permutation(44)[edges]
    first, second = tw.from_edges([part.tolist() for part in both], num_nodes=[44, 44])
    one, other = (igraph.Graph(44, part.tolist()) for part in both)
    peer = one.isomorphic_vf2 if readout == "size" else one.isomorphic_bliss
    ours = median(lambda: tw.compare(first, second, readout), repeats=50)
    return Row(1e3 * ours, 1e3 * median(lambda: peer(other), repeats=50), f"igraph {peer.__name__}")


def dedup_of_lines() -> Row:
    """Group a file of graph6 lines: all graphs of eight nodes, and a relabelled copy of each."""
    import networkx as nx  # noqa: PLC0415
    import numba  # noqa: F401, PLC0415

    import twinwl as tw  # noqa: PLC0415

    geng, shortg = (shutil.which(f"nauty-{name}") or shutil.which(name) for name in ("geng", "shortg"))
    if geng is None or shortg is None:
        sys.exit("this row needs nauty: geng and shortg")
    lines = subprocess.run([geng, "-q", "8"], check=True, capture_output=True).stdout.splitlines()  # noqa: S603
    rng = np.random.default_rng(0)
    for line in lines[:]:
        graph = nx.relabel_nodes(nx.from_graph6_bytes(line), dict(enumerate(rng.permutation(8).tolist())))
        lines.append(nx.to_graph6_bytes(graph, sorted(graph), header=False).strip())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "graphs.g6")
        file.write_bytes(b"\n".join(lines) + b"\n")
        peer = of_process([shortg, "-q", str(file), f"{folder}/out.g6"])
        ours = median(lambda: tw.deduplicate(tw.load_dataset(file).graphs), 3)
    return Row(ours, peer, "nauty's shortg")


def features_per_graph() -> Row:
    """Features of a million graphs, and of as many as NCI1 has: microseconds per graph."""
    import twinwl as tw  # noqa: PLC0415

    nci1 = tw.load_dataset("NCI1").graphs
    many = nci1[np.arange(MANY_GRAPHS) % len(nci1)]
    ours, peer = (
        1e6 * median(lambda: tw.STwinVectorizer(3).fit_transform(graphs), turns) / len(graphs)  # noqa: B023
        for graphs, turns in ((many, 1), (nci1[:FEW_GRAPHS], 5))
    )
    return Row(ours, peer, f"{FEW_GRAPHS:,} graphs")


def power_of_readouts() -> Row:
    """Score all readouts up to ``marked-wl-3`` on BREC, with 16 copies of each graph."""
    import numba  # noqa: F401, PLC0415

    from twinwl.isomorphism import READOUTS  # noqa: PLC0415
    from twinwl.research import power  # noqa: PLC0415

    names = [name for name in READOUTS if name != "canonical"]
    began = time.process_time()
    power({name: name for name in names}, "brec")
    return Row(time.process_time() - began, 30.0, "limit")


def sizes_of_random_graph() -> Row:
    """Rooted sizes up to three steps in a random graph of 10⁶ nodes and 5 · 10⁶ edges."""
    import twinwl as tw  # noqa: PLC0415

    ends = np.random.default_rng(0).integers(1_000_000, size=(5_000_000, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    graph = tw.from_edges([ends])
    return Row(median(lambda: tw.rooted_sizes(graph, 3), 1), 4.0, "limit")


def hash_of_preferential_attachment() -> Row:
    """Hash a Barabási–Albert graph of 10⁵ nodes by three rounds, beside three rounds of 1-WL alone."""
    import networkx as nx  # noqa: PLC0415

    import twinwl as tw  # noqa: PLC0415

    graph = tw.as_batch([nx.barabasi_albert_graph(100_000, 3, seed=0)])
    rounds = median(lambda: tw.colours(graph, 3))
    return Row(median(lambda: tw.graph_hashes(graph, 3), 5), 10 * rounds, "10 times the rounds of 1-WL")


ROWS: dict[str, Callable[[], Row]] = {
    "hash of one graph, start to end [s]": hash_of_one,
    "first call, cold kernels [s]": first_call,
    "compare a pair of 44 nodes, size [ms]": lambda: pair_of_44("size"),
    "compare a pair of 44 nodes, canonical [ms]": lambda: pair_of_44("canonical"),
    "de-duplicate 24,692 graph6 lines [s]": dedup_of_lines,
    "features of 10⁶ graphs, each [µs]": features_per_graph,
    "power of readouts on BREC [s]": power_of_readouts,
    "random graph, sizes to 3 steps [s]": sizes_of_random_graph,
    "Barabási–Albert graph, hash of 3 rounds [s]": hash_of_preferential_attachment,
}


if __name__ == "__main__":
    main()
