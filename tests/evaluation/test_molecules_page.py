"""The tables of docs/benchmarks/molecules.md are what the results hold: generated, never typed."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def result():
    return json.loads((ROOT / "benchmarks" / "results" / "molecules.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_results_hold(result):
    pytest.importorskip("rdkit")
    tables = runpy.run_path(str(ROOT / "benchmarks" / "molecules.py"))["tables"]
    page = (ROOT / "docs" / "benchmarks" / "molecules.md").read_text(encoding="utf-8")
    for name, table in tables(result).items():
        assert f"<!-- {name}:start -->\n\n{table}\n\n<!-- {name}:end -->" in page


def test_every_score_has_both_parts(result):
    scores = [one for found in result.values() for seeds in found.values() for one in seeds.values()]
    assert all({"validation", "test"} <= set(one) for one in scores)


def test_the_forests_that_are_compared_have_the_same_seeds(result):
    compared = ("ECFP4 counts, forest", "atom pairs, forest", "twin, ecfp, forest")
    for name, found in result.items():
        assert len({tuple(sorted(found[contestant])) for contestant in compared}) == 1, name
