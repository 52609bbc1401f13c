"""How many pairs that 1-WL cannot tell apart does each readout? Tables of docs/benchmarks/power.md.

    python benchmarks/power.py               # the table, from the stored graphs; some seconds
    python benchmarks/power.py --enumerate   # first enumerate the graphs afresh with nauty's geng

The stored graphs (tests/isomorphism/data) are those that share their stable 1-WL colours with another graph
of their family; every other graph is told apart from all others by 1-WL and so, by Theorem 1, by every
readout.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

import twinwl as tw
from twinwl.isomorphism.readouts import READOUTS
from twinwl.refinement.colours import refine

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = ROOT / "tests" / "isomorphism" / "data"
PAGE = ROOT / "docs" / "benchmarks" / "power.md"
BREC = ROOT / "benchmarks" / "results" / "brec.json"
SHOWN = [name for name in READOUTS if name != "triangles"]  # the others are a ladder


@dataclass(frozen=True)
class Family:
    """A family of graphs: its title, its file, what makes geng list it, and how many there are."""

    title: str
    file: str
    geng: tuple[str, ...]
    n_graphs: int


FAMILIES = (
    Family("connected, 6 nodes", "connected_6.g6", ("-c", "6"), 112),
    Family("connected, 7 nodes", "connected_7.g6", ("-c", "7"), 853),
    Family("connected, 8 nodes", "connected_8.g6", ("-c", "8"), 11_117),
    Family("any, 6 nodes", "any_6.g6", ("6",), 156),
    Family("any, 7 nodes", "any_7.g6", ("7",), 1_044),
    Family("any, 8 nodes", "any_8.g6", ("8",), 12_346),
    Family("connected, 4-regular, 10 nodes", "regular_4_10.g6", ("-c", "-d4", "-D4", "10"), 59),
)


def wl_classes(batch: tw.GraphBatch) -> list[list[int]]:
    """Group graphs by the multiset of their stable 1-WL colours, and keep the groups of two or more."""
    colours = refine(batch, None).colours[-1]
    members = defaultdict(list)
    for graph, (first, last) in enumerate(zip(batch.graph_ptr[:-1], batch.graph_ptr[1:], strict=True)):
        members[np.sort(colours[first:last]).tobytes()].append(graph)
    return [group for group in members.values() if len(group) > 1]


def enumerate_graphs() -> None:
    """List each family with geng and store the graphs that 1-WL confuses with another."""
    geng = shutil.which("geng") or shutil.which("nauty-geng")
    if geng is None:
        raise SystemExit("geng is not installed; it is part of nauty (Debian: apt-get install nauty)")
    GRAPHS.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        listing = subprocess.run([geng, "-q", *family.geng], capture_output=True, text=True, check=True)  # noqa: S603
        strings = listing.stdout.split()
        if len(strings) != family.n_graphs:
            raise SystemExit(f"{family.title}: geng lists {len(strings)} graphs, not {family.n_graphs}")
        confused = sorted(
            graph for group in wl_classes(tw.GraphBatch.from_graph6(strings)) for graph in group
        )
        (GRAPHS / family.file).write_text("".join(f"{strings[graph]}\n" for graph in confused))


def told_apart(family: Family) -> list[int]:
    """Count the pairs of a family that 1-WL confuses, and how many of them each readout tells apart.

    The hash that runs to the end differs exactly where the test finds a difference.
    """
    batch = tw.GraphBatch.from_graph6((GRAPHS / family.file).read_text().split())
    pairs = [pair for group in wl_classes(batch) for pair in combinations(group, 2)]
    hashes = [tw.graph_hashes(batch, "stable", readout) for readout in SHOWN]
    return [len(pairs), *(sum(each[u] != each[v] for u, v in pairs) for each in hashes)]


def families() -> str:
    """Return the table of the families of graphs."""
    rows = [
        [family.title, f"{family.n_graphs:,}", *(f"{number:,}" for number in told_apart(family))]
        for family in FAMILIES
    ]
    return _table(["family", "graphs", "pairs 1-WL confuses", *(f"`{name}`" for name in SHOWN)], rows)


def brec() -> str:
    """Return the table of what `brec.py` measured: pairs told apart by category, and seconds."""
    measured = json.loads(BREC.read_text())
    header = ["readout", *(f"{part} ({number})" for part, number in measured["pairs"].items()), "seconds"]
    rows = [
        [
            f"`{name}`",
            *(str(score["separated"]) for score in scores.values()),
            f"{scores['all']['seconds']:.2f}",
        ]
        for name, scores in measured["readouts"].items()
    ]
    return _table(header, rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--enumerate", action="store_true", help="list the graphs afresh with geng first")
    if parser.parse_args().enumerate:
        enumerate_graphs()
    text = PAGE.read_text(encoding="utf-8")
    for name, table in {"families": families(), "brec": brec()}.items():
        marked = re.compile(f"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = marked.sub(lambda mark, table=table: f"{mark[1]}\n{table}\n\n{mark[2]}", text)
        print(table)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
