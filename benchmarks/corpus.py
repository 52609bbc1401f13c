"""Corpora: exact groups of 24 million graphs beside nauty, and whether rate and memory depend on the size.

Run as ``python benchmarks/corpus.py``. It needs ``TWINWL_DATA`` with sets of MoleculeNet, and for the first
part the Debian package ``nauty``. Parts can be named: ``small``, ``copies``, ``molecules``. It prints what is
measured and writes results/corpus.json. Times are processor time (user and system, of the process and its
workers), since other work may share the machine; memory is the largest resident set of any process of a
command.

* small: all graphs of ``--nodes`` nodes (10: 12,005,168) and one permuted copy of each, shuffled, as graph6:
  ``twinwl corpus build`` and ``corpus dedup`` within 1 GiB per process, and nauty's ``shortg``.
* copies: a million copies of one graph, within the least memory that a job takes.
* molecules: 10⁵, 10⁶, … molecules as Parquet with edge-list columns. Each is a molecule of HIV, Tox21, BACE
  or BBBP with its atoms permuted or, from the second time on that it is used, with one atom replaced by a new
  element, a different one each time, so that the number of distinct ones is known. The same commands on 200
  molecules give the time to start, in one process and with two more; it is taken off for the rate by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import twinwl as tw
from twinwl.arguments import pointer, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl import GraphBatch

OUT = Path(__file__).parent / "results" / "corpus.json"
DISTINCT = {8: 12_346, 9: 274_668, 10: 12_005_168}
_ROWS = 1 << 16
_QUICK = 120_000  # up to here a job starts no other process
MEASURE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss]))
"""


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["small", "copies", "molecules"])
    parser.add_argument("--nodes", type=int, default=10, choices=DISTINCT)
    parser.add_argument("--molecules", type=int, nargs="*", default=[10**5, 10**6, 10**7])
    parser.add_argument("--folder", type=Path, help="where files go; they are kept")
    given = parser.parse_args()
    result = json.loads(OUT.read_text()) if OUT.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if "small" in given.parts:
            result[f"all graphs of {given.nodes} nodes, twice"] = small(given.nodes, folder)
        if "copies" in given.parts:
            result["a million copies"] = copies(10**6, folder)
        if "molecules" in given.parts:
            starts = [molecules(200, folder, ["--workers", str(workers)], 50) for workers in (1, 2)]
            result["start, one process"], result["start, two workers"] = starts
            for n in given.molecules:
                found = molecules(n, folder)
                start = starts[n > _QUICK]["total_seconds"]
                found["microseconds_without_start"] = round((found["total_seconds"] - start) / n * 1e6, 2)
                result[f"{n:,} molecules"] = found
    result["machine"] = {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy", "pyarrow")},
    }
    OUT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


def small(n: int, folder: Path) -> dict[str, Any]:
    """De-duplicate all graphs of n nodes and a permuted copy of each."""
    path = folder / f"graphs{n}.g6"
    if not path.exists():
        write_graphs(n, path)
    n_rows = 2 * DISTINCT[n]
    found = corpus_of([str(path)], folder / f"graphs{n}", n_rows, DISTINCT[n])
    if shutil.which("nauty-shortg"):
        taken = run(["nauty-shortg", "-q", "-u", f"-T{folder}", str(path)])
        found["shortg"] = taken | {"graphs_per_second": round(n_rows / taken["seconds"])}
        found["processor time / shortg"] = round(found["total_seconds"] / taken["seconds"], 2)
    return found


def write_graphs(n: int, path: Path) -> None:
    """Write all graphs and their copies in random order."""
    text = subprocess.run(["nauty-geng", "-q", str(n)], capture_output=True, check=True).stdout  # noqa: S603, S607
    lines = np.frombuffer(text, np.uint8).reshape(DISTINCT[n], -1)
    rng = np.random.default_rng(0)
    both = np.concatenate([lines, permuted(lines, n, int(rng.integers(2**31)))])
    with path.open("wb") as stream:
        for part in np.array_split(rng.permutation(len(both)), 64):
            stream.write(both[part].tobytes())


@numba.njit
def permuted(lines: Any, n: int, seed: int) -> Any:  # noqa: ANN401
    """Return graph6 lines of the same graphs with permuted nodes."""
    np.random.seed(seed)  # noqa: NPY002  (what numba has)
    out = np.empty_like(lines)
    order = np.arange(n)
    for graph in range(len(lines)):
        out[graph] = lines[graph]
        out[graph, 1:-1] = 63
        np.random.shuffle(order)  # noqa: NPY002
        bit = 0
        for column in range(1, n):
            for row in range(column):
                if (lines[graph, 1 + bit // 6] - 63) >> (5 - bit % 6) & 1:
                    low, high = min(order[row], order[column]), max(order[row], order[column])
                    place = high * (high - 1) // 2 + low
                    out[graph, 1 + place // 6] += np.uint8(1 << (5 - place % 6))
                bit += 1
    return out


def copies(n: int, folder: Path) -> dict[str, Any]:
    """De-duplicate copies of one graph of ten nodes."""
    path = folder / "copies.g6"
    path.write_text("IheA@GUAo\n" * n)
    return corpus_of([str(path)], folder / "copies", n, 1, ["--memory", "512MiB"])


def molecules(n: int, folder: Path, running: Sequence[str] = (), rows: int = _ROWS) -> dict[str, Any]:
    """De-duplicate n molecules, half of which are permuted copies."""
    path = folder / f"molecules{n}"
    n_distinct = write_molecules(n, path, rows)
    found = corpus_of([f"{path}/*.parquet"], folder / f"corpus{n}", n, n_distinct, running)
    shutil.rmtree(path)
    return found


def write_molecules(n: int, path: Path, n_rows: int = _ROWS) -> int:
    """Write Parquet files with columns of edges; return the number of distinct graphs."""
    sets = [
        tw.load_dataset(name, verbose=False, atoms="skeleton").graphs
        for name in ("HIV", "Tox21", "BACE", "BBBP")
    ]
    graphs = tw.concatenate(sets)
    graphs = graphs[graphs.nodes_per_graph > 1]
    # One of each, so that all that is known of copies is what is made here.
    graphs = graphs[tw.deduplicate(graphs).representatives]
    path.mkdir()
    rng = np.random.default_rng(0)
    n_distinct = (n + 1) // 2
    for part, first in enumerate(range(0, n, n_rows)):
        rows = np.arange(first, min(first + n_rows, n))
        variants = rows % n_distinct  # the second half copies the first
        pq.write_table(variant_table(graphs, variants, rng), path / f"part-{part:04}.parquet")
    return n_distinct


def variant_table(graphs: GraphBatch, variants: Any, rng: np.random.Generator) -> pa.Table:  # noqa: ANN401
    """Return variants of molecules with permuted atoms, as columns of edges and labels.

    Variant v is molecule ``v % n``; ``1000 * (v // n)`` is added to the label of its first atom. If that is
    not 0, it is a new element, which tells both the molecule's own and which variant this is.
    """
    molecule, change = variants % len(graphs), variants // len(graphs)
    sizes = graphs.nodes_per_graph[molecule]
    node_ptr = pointer(sizes)
    nodes = ranges(graphs.graph_ptr[molecule], sizes)
    labels = graphs.node_labels[nodes].astype(np.int32)
    changed = change > 0
    labels[node_ptr[:-1][changed]] += (1000 * change[changed]).astype(np.int32)
    # Random order within each graph: sort random numbers by graph.
    owner = np.repeat(np.arange(len(variants)), sizes)
    order = np.lexsort((rng.random(len(nodes)), owner))
    new_number = np.empty(len(nodes), np.int64)
    new_number[order] = np.arange(len(nodes)) - np.repeat(node_ptr[:-1], sizes)
    degrees = np.diff(graphs.indptr)[nodes]
    arcs = ranges(graphs.indptr[nodes], degrees)
    sources = np.repeat(np.arange(len(nodes)), degrees)
    shift = np.repeat(node_ptr[:-1] - graphs.graph_ptr[molecule], sizes)
    targets = graphs.indices[arcs] + shift[sources]
    once = sources < targets
    ends = np.column_stack([new_number[sources[once]], new_number[targets[once]]]).astype(np.int32)
    counts = np.bincount(owner[sources[once]], minlength=len(variants))
    edge_labels = graphs.edge_labels[arcs][once]
    return pa.table(
        {
            "id": pa.array(variants).cast(pa.string()),
            "n_nodes": sizes.astype(np.int32),
            "ends": lists(2 * counts, ends.ravel()),
            "node_labels": lists(sizes, labels[order]),
            "edge_labels": lists(counts, edge_labels),
        }
    )


def lists(lengths: Any, values: Any) -> pa.ListArray:  # noqa: ANN401
    """Return lists of these lengths."""
    return pa.ListArray.from_arrays(pa.array(pointer(lengths).astype(np.int32)), pa.array(values))


def corpus_of(
    inputs: Sequence[str], folder: Path, n_rows: int, n_distinct: int, given: Sequence[str] = ()
) -> dict[str, Any]:
    """Build a corpus, de-duplicate it, and check the number of groups."""
    command = [sys.executable, "-m", "twinwl", "corpus"]
    running = ["--fresh", *given]
    found: dict[str, Any] = {"graphs": n_rows, "distinct": n_distinct}
    found["build"] = run([*command, "build", *inputs, "-o", str(folder), *running])
    distinct = Path(f"{folder}-distinct")
    found["dedup"] = run([*command, "dedup", str(folder), "-o", str(distinct), *running])
    groups = tw.Corpus(distinct).manifest["groups"]
    if groups != n_distinct:
        sys.exit(f"found {groups:,} groups, expected {n_distinct:,}")
    found["groups"] = groups
    found["bytes_per_graph"] = round(tw.Corpus(folder).info()["bytes"] / n_rows, 1)
    total = found["build"]["seconds"] + found["dedup"]["seconds"]
    found["total_seconds"] = round(total, 2)
    found["microseconds_per_graph"] = round(total / n_rows * 1e6, 2)
    found["peak_mib"] = max(found["build"]["peak_mib"], found["dedup"]["peak_mib"])
    print(f"{n_rows:,} graphs: {json.dumps(found)}", flush=True)
    shutil.rmtree(folder)
    shutil.rmtree(distinct)
    return found


def run(command: Sequence[str]) -> dict[str, Any]:
    """Run a command; return its processor time, the time on the clock, and its largest process."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True
    )
    code, seconds, clock, peak = json.loads(done.stdout)
    if code:
        sys.exit(f"{command} failed:\n{done.stderr}")
    return {"seconds": round(seconds, 2), "clock": round(clock, 2), "peak_mib": round(peak / 1024)}


if __name__ == "__main__":
    main()
