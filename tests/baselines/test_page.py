"""The page about the baselines: it names every row."""

import re
from pathlib import Path

from reproduction.results import Results

from twinwl.evaluation.methods import METHODS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks" / "methods.md").read_text(encoding="utf-8")


def test_every_row_is_on_the_page():
    rows = {name for name, method in METHODS.items() if method.home.startswith("twinwl.baselines")}
    assert rows == set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))


def test_every_figure_is_what_the_store_holds():
    shown = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+ ± [\d.]+) \|$", PAGE, re.MULTILINE))
    results = Results.read([ROOT / "results" / "baselines.jsonl"])
    fair = {name: results.cell("MUTAG", name).by_protocol["fair"] for name in shown}
    assert shown == {name: f"{100 * each.mean:.1f} ± {100 * each.std:.1f}" for name, each in fair.items()}
    assert len(shown) == 16
