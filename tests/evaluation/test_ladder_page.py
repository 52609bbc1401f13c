"""The table of docs/benchmarks/power.md is what its store holds: generated, never typed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_says_what_the_store_holds():
    spec = importlib.util.spec_from_file_location("ladder", ROOT / "benchmarks" / "ladder.py")
    ladder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ladder)
    table = ladder.table()
    assert table in (ROOT / "docs" / "benchmarks" / "power.md").read_text(encoding="utf-8")
    assert "| – |" not in table
