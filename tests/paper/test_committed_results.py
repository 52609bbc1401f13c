"""What the project says of its results is what its stores hold: generated, never typed."""

from __future__ import annotations

import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from twinwl.datasets.source import load_dataset
from twinwl.paper.markdown import results_markdown
from twinwl.paper.pages import paper_page, read_benchmark
from twinwl.paper.reproduction import stored_rows
from twinwl.paper.result_cells import Results
from twinwl.paper.summary import update_readme

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results():
    return Results(stored_rows(sorted((ROOT / "results").glob("*.jsonl"))))


def test_the_readme_says_what_the_stores_hold(results, tmp_path):
    copy = tmp_path / "README.md"
    shutil.copy(ROOT / "README.md", copy)
    update_readme(copy, results)
    assert copy.read_text(encoding="utf-8") == (ROOT / "README.md").read_text(encoding="utf-8")


def test_differences_are_those_of_the_figures_beside_them():
    number = r"([−+]?[\d.]+)"
    rows = re.findall(
        rf"against [^|]* \| {number} \| {number} \| {number} \|",
        (ROOT / "RESULTS.md").read_text(encoding="utf-8"),
    )
    assert len(rows) > 20
    wrong = [row for row in rows if Decimal(row[0]) - Decimal(row[1]) != Decimal(row[2].replace("−", "-"))]
    assert wrong == []


def test_results_md_says_what_the_stores_hold(results, tu_zip):
    molecules = load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    benchmark = read_benchmark(ROOT / "benchmarks" / "results" / "refinement.json")
    text = results_markdown(paper_page(results, molecules, benchmark), "figures")
    assert text == (ROOT / "RESULTS.md").read_text(encoding="utf-8")
