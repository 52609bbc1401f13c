"""How many graphs the hash distinguishes and its cost, compared with its first version and with exact groups.

Run as ``python benchmarks/hash.py`` (needs TWINWL_DATA with the TU zips, EXP and MoleculeNet, and RDKit).
Everything runs on one thread; times are processor time, the least of three. Results go to results/hash.json.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
from rich.console import Console
from rich.table import Table

import twinwl as tw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETS = ("HIV", "NCI1", "MUTAG", "DD", "IMDB-BINARY", "EXP")
LARGE = 100_000
OUT = Path(__file__).parent / "results" / "hash.json"


def main() -> None:
    """Print the table and write it as JSON."""
    os.environ["TWINWL_NUM_THREADS"] = "1"
    folder = Path(os.environ.get("TWINWL_DATA") or sys.exit("set TWINWL_DATA to the folder with the data"))
    table = Table("graphs", "number", "exact groups", "twl1", "twl2", "twl1 [ms]", "twl2 [ms]")
    rows = []
    for name, batch in _batches(folder):
        first, first_seconds = _timed(lambda: tw.graph_hashes(batch, 3))  # noqa: B023
        second, second_seconds = _timed(lambda: tw.graph_hashes(batch))  # noqa: B023
        groups = len(tw.deduplicate(batch)) if len(batch) > 1 else 1
        rows.append([name, len(batch), groups, first, second, 1e3 * first_seconds, 1e3 * second_seconds])
        numbers, times = rows[-1][1:5], rows[-1][5:]
        table.add_row(name, *(f"{value:,}" for value in numbers), *(f"{value:,.1f}" for value in times))
    Console(width=120).print(table)
    columns = ("graphs", "number", "groups", "distinct twl1", "distinct twl2", "twl1 [ms]", "twl2 [ms]")
    OUT.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=1) + "\n")


def _batches(folder: Path) -> Iterator[tuple[str, tw.GraphBatch]]:
    for name in SETS:
        yield name, _hiv(folder) if name == "HIV" else tw.load_dataset(name, data_dir=folder).graphs
    yield "all graphs of up to 7 nodes", tw.from_networkx(nx.graph_atlas_g())
    side = int(LARGE**0.5)
    shapes = {
        "path": nx.path_graph(LARGE),
        "cycle": nx.cycle_graph(LARGE),
        "grid": nx.grid_2d_graph(side, side),
        "caterpillar": nx.Graph([(v, v + step) for v in range(0, LARGE - 2, 2) for step in (1, 2)]),
        "star": nx.star_graph(10 * LARGE),
        "Barabási–Albert, m = 3": nx.barabasi_albert_graph(LARGE, 3, seed=0),
    }
    for name, graph in shapes.items():
        yield f"{name}, {len(graph):,} nodes", tw.from_networkx([graph])


def _hiv(folder: Path) -> tw.GraphBatch:
    with zipfile.ZipFile(folder / "moleculenet_csv.zip") as archive:
        member = next(name for name in archive.namelist() if "hiv" in name.lower())
        rows = csv.DictReader(io.TextIOWrapper(archive.open(member), "utf-8"))
        return tw.from_smiles([row["smiles"] for row in rows], on_error="skip", atoms="skeleton")


def _timed(run: Callable[[], list[str]]) -> tuple[int, float]:
    """Return the number of distinct hashes, and the least processor time of three runs after a first one."""
    distinct = len(set(run()))
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return distinct, min(seconds)


if __name__ == "__main__":
    main()
