"""What STwin features cost with each readout, with and without grouping equal rooted subgraphs.

Run as ``python benchmarks/readouts.py`` (needs TWINWL_DATA with NCI1). Joint features of two rounds, on one
thread; times are processor time, the least of three (of one where it takes more than 20 s). Results go to
results/readouts.json.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.isomorphism import READOUTS
from twinwl.isomorphism.readouts import resolve

if TYPE_CHECKING:
    from twinwl.isomorphism.rooted import RootedSubgraph

ROUNDS = 2
LONG = 20.0
OUT = Path(__file__).parent / "results" / "readouts.json"


def triangles(rooted: RootedSubgraph) -> int:
    """Count the triangles at the root: a function of a user's."""
    near = {node for node, distance in zip(rooted.nodes, rooted.distances, strict=True) if distance == 1}
    return sum(u in near and v in near for u, v in rooted.edges)


def main() -> None:
    """Print the table and write it as JSON."""
    os.environ["TWINWL_NUM_THREADS"] = "1"
    folder = os.environ.get("TWINWL_DATA") or sys.exit("set TWINWL_DATA to the folder with the data")
    graphs = tw.load_dataset("NCI1", data_dir=folder).graphs
    table = Table("readout", "columns", "seconds", "without grouping", "times size")
    rows: list[dict[str, object]] = []
    of_size = 0.0
    for choice in (*READOUTS, triangles):
        (readout,) = resolve(choice)
        vectorizer = tw.STwinVectorizer(ROUNDS, "joint", readout=choice)
        seconds = _seconds(vectorizer, graphs)
        of_size = of_size or seconds
        ungrouped = None if readout.is_cheap else _ungrouped(vectorizer, graphs)
        columns = vectorizer.n_features_out_
        rows.append({"readout": readout.name, "columns": columns, "seconds": seconds, "ungrouped": ungrouped})
        shown = "" if ungrouped is None else f"{ungrouped:.2f}"
        table.add_row(readout.name, f"{columns:,}", f"{seconds:.2f}", shown, f"{seconds / of_size:.1f}")
    Console(width=100).print(table)
    about = {"graphs": len(graphs), "nodes": graphs.n_nodes, "rounds": ROUNDS}
    OUT.write_text(json.dumps({**about, "readouts": rows}, indent=1) + "\n", encoding="utf-8")


def _seconds(vectorizer: tw.STwinVectorizer, graphs: tw.GraphBatch) -> float:
    vectorizer.fit(graphs[:50])  # compiles
    times: list[float] = []
    while len(times) < 3 and (not times or times[0] < LONG):
        begin = time.process_time()
        vectorizer.fit_transform(graphs)
        times.append(time.process_time() - begin)
    return round(min(times), 3)


def _ungrouped(vectorizer: tw.STwinVectorizer, graphs: tw.GraphBatch) -> float:
    """Do the same as if every readout were cheap enough to look at every rooted subgraph."""
    (readout,) = resolve(vectorizer.readout)
    with patch.dict(READOUTS, {readout.name: replace(readout, is_cheap=True)}):
        return _seconds(vectorizer, graphs)


if __name__ == "__main__":
    main()
