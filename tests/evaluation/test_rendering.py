"""Every result shows itself in the same ways."""

from __future__ import annotations

import json

import pytest

import twinwl as tw
from twinwl.evaluation.methods import METHODS
from twinwl.models.targets import Task

TWINS = tw.load_dataset("TWINS", n_pairs=10)
RESULTS = {
    "evaluation": lambda: tw.evaluate(tw.STwinSVC(1, 1), TWINS, n_folds=2),
    "methods": lambda: tw.evaluate([tw.STwinSVC(1, 1), "wl-svc"], TWINS, n_folds=2),
    "audit": lambda: tw.audit(TWINS, tw.load_dataset("TWINS", n_pairs=3)),
    "power": lambda: tw.research.power("size", "cfi", categories=["cycles"], copies=1),
    "ceiling": lambda: tw.research.ceiling(TWINS.graphs, TWINS.y),
    "training": lambda: (
        METHODS["stwin-svc"].model(Task("classification", ""), 0).fit(TWINS.graphs, TWINS.y).report_
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_renders_itself(name, tmp_path):
    result = RESULTS[name]()
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))
    assert len({len(row) for row in result.table()}) == 1
    assert "<table>" in result._repr_html_()
    assert str(result)
    axes = result.plot()
    assert axes.patches or axes.lines
    result.save_page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if result.to_records():
        pytest.importorskip("pandas")
        assert len(result.to_frame()) == len(result.to_records())
