"""STwin kernels and features compared with their peers; ratios of one process, in turns, after warm-up.

Run as ``python benchmarks/stwin.py`` (needs TWINWL_DATA with NCI1.zip and moleculenet_csv.zip). Each part may
be run alone (``--only kernels``); its figures then replace those of the same part in results/stwin.json.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import statistics
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

import twinwl as tw
from twinwl.datasets.graph_files import read_tu

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl import GraphBatch

ROUNDS = 3
OUT = Path(__file__).parent / "results" / "stwin.json"
console = Console(width=120)

Contestants = dict[str, "Callable[[], object]"]


def main() -> None:
    """Measure the parts asked for and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="measure this part alone")
    parser.add_argument("--repeats", type=int, default=7, help="turns of each quick contestant")
    options = parser.parse_args()
    result = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in options.only or PARTS:
        result[name] = PARTS[name](options.repeats)
        _print(name, result[name])
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


def kernels(repeats: int) -> dict[str, object]:
    """Kernel against kernel on NCI1, from graphs in memory to the full matrix."""
    from grakel.kernels import (  # noqa: PLC0415
        VertexHistogram,
        WeisfeilerLehman,
        WeisfeilerLehmanOptimalAssignment,
    )

    batch = read_tu(_data_folder() / "NCI1.zip").graphs
    graphs = _grakel_graphs(batch)
    few, few_graphs = batch[:50], graphs[:50]

    def linear() -> object:
        return WeisfeilerLehman(n_iter=ROUNDS, base_graph_kernel=VertexHistogram, normalize=True)

    def assignment() -> object:
        return WeisfeilerLehmanOptimalAssignment(n_iter=ROUNDS, normalize=True)

    ours = {base: tw.TwinKernel(ROUNDS, "size", base) for base in ("linear", "minmax", "intersection")}
    for kernel in ours.values():
        kernel.fit_transform(few)
    linear().fit_transform(few_graphs)  # type: ignore[attr-defined]
    assignment().fit_transform(few_graphs)  # type: ignore[attr-defined]
    quick: Contestants = {
        f"TwinKernel {base}": lambda kernel=kernel: kernel.fit_transform(batch)  # type: ignore[misc]
        for base, kernel in ours.items()
    }
    seconds = _in_turns(quick, repeats)
    slow: Contestants = {
        "GraKeL WL": lambda: linear().fit_transform(graphs),  # type: ignore[attr-defined]
        "GraKeL WL-OA": lambda: assignment().fit_transform(graphs),  # type: ignore[attr-defined]
    }
    seconds |= _in_turns(slow, 1)
    return {
        "graphs": len(batch),
        "rounds": ROUNDS,
        "threads": _threads(),
        "seconds": seconds,
        "ratios": {
            "minmax over GraKeL WL-OA": seconds["GraKeL WL-OA"] / seconds["TwinKernel minmax"],
            "intersection over GraKeL WL-OA": seconds["GraKeL WL-OA"] / seconds["TwinKernel intersection"],
            "linear over GraKeL WL": seconds["GraKeL WL"] / seconds["TwinKernel linear"],
        },
    }


def molecules(repeats: int) -> dict[str, object]:
    """STwin features beside Morgan fingerprints, and what it costs to take RDKit's molecules over."""
    from rdkit import Chem, RDLogger  # noqa: PLC0415
    from rdkit.Chem import rdFingerprintGenerator  # noqa: PLC0415

    RDLogger.DisableLog("rdApp.*")
    with zipfile.ZipFile(_data_folder() / "moleculenet_csv.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("HIV.csv"))
        rows = csv.DictReader(io.TextIOWrapper(archive.open(name), "utf-8"))
        smiles = [row["smiles"] for row in rows]
    parsed = [Chem.MolFromSmiles(text) for text in smiles]
    readable = [text for text, molecule in zip(smiles, parsed, strict=True) if molecule is not None]
    found = [molecule for molecule in parsed if molecule is not None]
    batch = tw.GraphBatch.from_rdkit(found)
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=ROUNDS)
    contestants: Contestants = {
        "STwin features": lambda: tw.STwinVectorizer(ROUNDS).fit_transform(batch),
        "STwin features, edge labels": lambda: tw.STwinVectorizer(ROUNDS, edge_labels=True).fit_transform(
            batch
        ),
        "Morgan fingerprints": lambda: [generator.GetSparseCountFingerprint(molecule) for molecule in found],
        "Morgan fingerprints, threads": lambda: generator.GetSparseCountFingerprints(found, numThreads=0),
        "parse SMILES": lambda: [Chem.MolFromSmiles(text) for text in readable],
        "molecules to GraphBatch": lambda: tw.GraphBatch.from_rdkit(found),
    }
    for contestant in ("STwin features", "STwin features, edge labels"):
        contestants[contestant]()
    seconds = _in_turns(contestants, min(repeats, 3))
    return {
        "molecules": len(found),
        "radius": ROUNDS,
        "threads": _threads(),
        "seconds": seconds,
        "ratios": {
            "features over Morgan": seconds["Morgan fingerprints"] / seconds["STwin features"],
            "features over Morgan, both with threads": seconds["Morgan fingerprints, threads"]
            / seconds["STwin features"],
            "conversion over parsing": seconds["parse SMILES"] / seconds["molecules to GraphBatch"],
        },
    }


def _in_turns(contestants: Contestants, repeats: int) -> dict[str, float]:
    """Return the median seconds of each, all having run in turns."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            began = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in taken.items()}


def _grakel_graphs(batch: GraphBatch) -> list[object]:
    import grakel  # noqa: PLC0415

    graphs = []
    for graph in batch:
        edges: dict[int, dict[int, float]] = {node: {} for node in range(graph.n_nodes)}
        for source, target in np.stack(graph.arcs(), axis=1).tolist():
            edges[source][target] = 1.0
        graphs.append(grakel.Graph(edges, node_labels=dict(enumerate(graph.labels_of_nodes()))))
    return graphs


def _data_folder() -> Path:
    folder = os.environ.get("TWINWL_DATA")
    if not folder:
        sys.exit("set TWINWL_DATA to the folder that holds NCI1.zip and moleculenet_csv.zip")
    return Path(folder)


def _threads() -> int:
    from twinwl.refinement.colours import available_threads  # noqa: PLC0415

    return available_threads()


def _print(part: str, figures: dict[str, object]) -> None:
    console.rule(part)
    for name, value in figures["seconds"].items():  # type: ignore[attr-defined]
        console.print(f"{name:40s} {value:10.3f} s")
    for name, value in figures["ratios"].items():  # type: ignore[attr-defined]
        console.print(f"{name:40s} {value:10.1f} ×")


PARTS: dict[str, Callable[[int], dict[str, object]]] = {"kernels": kernels, "molecules": molecules}


if __name__ == "__main__":
    main()
