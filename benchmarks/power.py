"""How many pairs of graphs that 1-WL cannot tell apart does each readout? Writes docs/power.md.

    python benchmarks/power.py               # the table, from the stored graphs; some seconds
    python benchmarks/power.py --enumerate   # first enumerate the graphs afresh with nauty's geng

The stored graphs (tests/isomorphism/data) are those that share their stable 1-WL colours with another graph
of their family; every other graph is told apart from all others by 1-WL and so, by Theorem 1, by every
readout.
"""

from __future__ import annotations

import argparse
import json
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
PAGE = ROOT / "docs" / "power.md"
BREC = ROOT / "benchmarks" / "results" / "brec.json"


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
    hashes = [tw.graph_hashes(batch, "stable", readout) for readout in READOUTS]
    return [len(pairs), *(sum(each[u] != each[v] for u, v in pairs) for each in hashes)]


def page() -> str:
    """Return the page with the table."""
    rows = [
        [family.title, f"{family.n_graphs:,}", *(f"{number:,}" for number in told_apart(family))]
        for family in FAMILIES
    ]
    header = ["family", "graphs", "pairs 1-WL confuses", *(f"`{name}`" for name in READOUTS)]
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return TEXT.format(table=table, brec=brec_section())


def brec_section() -> str:
    """Return what `brec.py` measured, if it was run: pairs told apart and seconds, by category."""
    if not BREC.exists():
        return ""
    measured = json.loads(BREC.read_text())
    header = ["readout", *(f"{part} ({number})" for part, number in measured["pairs"].items())]
    rows = [
        [
            f"`{name}`",
            *(f"{score['separated']} in {score['seconds']:.2f} s" for score in scores.values()),
        ]
        for name, scores in measured["readouts"].items()
    ]
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return BREC_TEXT.format(table=table)


TEXT = """# Which graphs each readout tells apart

Each row covers all graphs of a family, up to isomorphism, without labels. Among all pairs that 1-WL cannot
tell apart, a column counts those that the Twin-WL test with that readout, run to the end, does tell apart
(`tw.compare(g, h, readout=…)`). With at most 5 nodes, 1-WL tells all pairs apart.

{table}

A readout never loses a pair that 1-WL or a readout to its left tells apart, with one exception:
`marked-wl-2` and `marked-wl-3` may lose a pair that `rooted-fwl2` tells apart. `canonical` is exact.

`marked-wl-K` runs 1-WL inside the rooted subgraph with the root marked. Then each node of the largest set of
nodes that still look alike is marked in turn, the colours are refined, and so on for K marks; the value is
the multiset of all results. (Among several largest sets that of the smallest content key is taken.) K is 1 to
9; each value decides that of K - 1, and `marked-wl-0` would be `rooted-wl`.

{brec}The counts do not show everything.

On strongly regular graphs with equal parameters, such as the 4×4 rook's
graph and the Shrikhande graph, everything up to `rooted-wl` fails; `marked-wl-1` and all stronger ones tell
these two apart. On the circular skip links of 41 nodes `size` cannot tell skips 6 and 16 apart.

This page is written by `python benchmarks/power.py`; the graphs were enumerated with nauty's `geng`.
"""


BREC_TEXT = """## The 400 pairs of BREC

Pairs told apart, and processor time on one core for all of them, measured by `benchmarks/brec.py`.

{table}

![power against cost](images/brec_power.png)

"""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--enumerate", action="store_true", help="list the graphs afresh with geng first")
    if parser.parse_args().enumerate:
        enumerate_graphs()
    text = page()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
