"""The page of all data sets shows what the stores hold."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_table_is_what_the_stores_hold():
    pytest.importorskip("rdkit")
    spec = importlib.util.spec_from_file_location("all_sets", ROOT / "benchmarks" / "all_sets.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "all_sets.md").read_text(encoding="utf-8")
    assert script.table() in page
