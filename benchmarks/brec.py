"""Power and cost of each readout on BREC's 400 pairs: a table and a plot in docs/benchmarks/power.md.

    TWINWL_DATA=folder TWINWL_NUM_THREADS=1 python benchmarks/brec.py   # a minute; needs BREC.zip
    python benchmarks/power.py                                           # puts the table into the page

Seconds are processor time of ``tw.compare`` on all pairs, after kernels have been compiled.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt

import twinwl as tw
from twinwl.datasets.generators import PairSuite, load_suite
from twinwl.evaluation.power import PUBLISHED
from twinwl.isomorphism.readouts import READOUTS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "brec.json"
TOTAL = 400
PLOT = ROOT / "docs" / "images" / "brec_power.png"


def main() -> None:
    """Measure, and write both files."""
    suite = load_suite("brec")
    readouts = {name: measured(suite, name) for name in READOUTS}
    sizes = {part: suite.categories.count(part) for part in dict.fromkeys(suite.categories)}
    result = {"pairs": {"all": len(suite.pairs), **sizes}, "readouts": readouts}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    plot(readouts)


def measured(suite: PairSuite, readout: str) -> dict[str, dict[str, float]]:
    """Return how many pairs a readout tells apart and the seconds that takes, in all and by category."""
    pairs = [(suite.graphs[int(u)], suite.graphs[int(v)]) for u, v in suite.pairs]
    for g, h in pairs[::80]:
        tw.compare(g, h, readout=readout)  # compiles
    scores = {part: {"separated": 0, "seconds": 0.0} for part in ("all", *dict.fromkeys(suite.categories))}
    for (g, h), category in zip(pairs, suite.categories, strict=True):
        begin = time.process_time()
        distinguished = tw.compare(g, h, readout=readout).distinguished
        seconds = time.process_time() - begin
        for part in ("all", category):
            scores[part]["separated"] += distinguished
            scores[part]["seconds"] += seconds
    print(readout, scores["all"], flush=True)
    return scores


def plot(readouts: dict[str, dict[str, dict[str, float]]]) -> None:
    """Draw the number of separated pairs against seconds."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    seconds = [scores["all"]["seconds"] for scores in readouts.values()]
    axes.set(xscale="log", xlim=(min(seconds) / 1.5, max(seconds) * 2), ylim=(0, 430))
    for name, scores in readouts.items():
        x, y = scores["all"]["seconds"], scores["all"]["separated"]
        marked = name.startswith("marked-wl")
        axes.plot(x, y, "o", color="C1" if marked else "C0")
        axes.annotate(
            name, (x, y), xytext=(4, 5 if y == TOTAL else -11), textcoords="offset points", fontsize=8
        )
    best = max(PUBLISHED, key=lambda published: published.total)
    axes.axhline(best.total, color="grey", linewidth=0.8, linestyle="--")
    text = f"{best.method}: {best.total}"
    axes.annotate(text, (axes.get_xlim()[0], best.total + 4), fontsize=8)
    axes.set(xlabel="processor time for all pairs, seconds", ylabel="pairs told apart, of 400")
    figure.savefig(PLOT, dpi=120)


if __name__ == "__main__":
    main()
