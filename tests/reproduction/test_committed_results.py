"""What the project says of its results is what its stores hold: generated, never typed."""

from __future__ import annotations

import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from reproduction.page import Page, read_benchmark, update_summary
from reproduction.results import Results

import twinwl as tw

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results():
    return Results.read(sorted((ROOT / "results").glob("*.jsonl")))


def test_the_page_of_the_site_says_what_the_stores_hold(results, tmp_path):
    page, copy = ROOT / "docs/benchmarks.md", tmp_path / "page.md"
    shutil.copy(page, copy)
    update_summary(copy, results)
    assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_differences_are_those_of_the_figures_beside_them():
    number = r"([−+]?[\d.]+)"
    rows = re.findall(
        rf"against [^|]* \| [^|]* \| {number} \| {number} \| \**{number}\** \|",
        (ROOT / "RESULTS.md").read_text(encoding="utf-8"),
    )
    assert len(rows) > 20
    wrong = [row for row in rows if Decimal(row[0]) - Decimal(row[1]) != Decimal(row[2].replace("−", "-"))]
    assert wrong == []


def test_results_md_says_what_the_stores_hold(results, tu_zip):
    molecules = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    benchmark = read_benchmark(ROOT / "benchmarks" / "results" / "refinement.json")
    page = Page(results, molecules, benchmark)
    assert page.markdown == (ROOT / "RESULTS.md").read_text(encoding="utf-8")
