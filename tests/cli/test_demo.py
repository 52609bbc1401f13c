from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from twinwl import load_dataset
from twinwl.cli import demo
from twinwl.cli.app import app
from twinwl.cli.worked_example import _parted, _refined

runner = CliRunner()


def test_the_example_computes_the_vectors_of_the_paper():
    vectors = _refined(2)
    phi = [[value for h in vectors.stwin for value in h[graph].tolist()] for graph in (0, 1)]
    assert phi == [[4, 2, 12, 8, 20, 12], [4, 2, 12, 8, 16, 12]]
    assert _parted(vectors.wl) is None
    assert _parted(vectors.stwin) == 2


def test_the_example_shows_who_can_tell_them_apart():
    result = runner.invoke(app, ["demo", "--example"])
    assert result.exit_code == 0
    assert "cannot tell G1 and G2 apart" in result.output
    assert "(4, 2, 12, 8, 20, 12) is not (4, 2, 12, 8, 16, 12)" in result.output


def test_it_trains_and_writes_a_page_without_any_data(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="needs PyTorch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo, "_METHODS", ("wl", "stwin"))
    result = runner.invoke(app, ["demo", "--pairs", "40", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "50.00 ± 0.00" in result.output
    assert "STwin-GNN beats 1-WL, STwin's MLP" in " ".join(result.output.split())
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "50.0\N{NO-BREAK SPACE}%" in page
    assert "report.html" in result.output


def test_a_page_that_could_not_be_written_is_refused_at_once(tmp_path):
    result = runner.invoke(app, ["demo", "--report", str(tmp_path / "no" / "report.html")])
    assert result.exit_code == 2
    assert "its folder does not exist" in result.output


def test_every_figure_comes_from_the_same_folds_and_what_there_is_no_time_for_is_left_out(
    tmp_path, monkeypatch
):
    pytest.importorskip("torch", reason="needs PyTorch")
    monkeypatch.chdir(tmp_path)
    twice = [load_dataset("TWINS", n_pairs=20), replace(load_dataset("TWINS", n_pairs=20), name="MUTAG")]
    monkeypatch.setattr(demo, "_datasets", lambda *_: list(twice))
    monkeypatch.setattr(demo, "_METHODS", ("wl", "stwin"))
    whole = runner.invoke(app, ["demo", "--jobs", "1"])
    assert whole.exit_code == 0, whole.output
    assert "over 5 folds" in whole.output
    assert "of 5 folds)" not in whole.output
    assert "MUTAG" in whole.output
    monkeypatch.setattr(demo, "_SECONDS", 0.0)
    monkeypatch.setattr(demo.time, "monotonic", iter(range(0, 10**6, 10)).__next__)
    cut = runner.invoke(app, ["demo", "--jobs", "1"])
    assert "MUTAG is skipped" in cut.output
