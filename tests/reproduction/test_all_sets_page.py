"""The page of all data sets shows what the stores hold."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def script():
    pytest.importorskip("rdkit")
    spec = importlib.util.spec_from_file_location("all_sets", ROOT / "benchmarks" / "all_sets.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_table_is_what_the_stores_hold(script):
    assert script.table() in (DOCS / "benchmarks" / "all_sets.md").read_text(encoding="utf-8")
