from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

from typer.testing import CliRunner

import twinwl as tw
from twinwl import load_dataset
from twinwl.cli import demo
from twinwl.cli.app import app
from twinwl.cli.demo import _refine, _verdict
from twinwl.errors import MissingExtraError

runner = CliRunner()


def test_the_example_computes_the_vectors_of_the_paper():
    vectors = _refine()
    phi = [[value for h in vectors["Twin-WL"] for value in h[graph]] for graph in (0, 1)]
    assert phi == [[4, 2, 12, 8, 20, 12], [4, 2, 12, 8, 16, 12]]
    assert _verdict(vectors["1-WL"]).startswith("cannot tell G1 and G2 apart")
    assert _verdict(vectors["Twin-WL"]).startswith("tells G1 and G2 apart in round 2")


def test_the_example_shows_who_can_tell_them_apart():
    result = runner.invoke(app, ["demo", "--example"])
    assert result.exit_code == 0
    assert "cannot tell G1 and G2 apart" in result.output
    assert "(4, 2, 12, 8, 20, 12) is not (4, 2, 12, 8, 16, 12)" in result.output


def test_it_trains_explains_and_names_the_next_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo, "_COMPARISONS", demo._COMPARISONS[:1])
    result = runner.invoke(app, ["demo", "--pairs", "40"])
    assert result.exit_code == 0, result.output
    # 1-WL guesses on every pair, whatever the solver; how close STwin comes to 100 % depends on its version.
    rows = dict(re.findall(r"(1-WL, SVM|STwin, SVM)\W+([\d.]+) ± ", result.output))
    assert float(rows["1-WL, SVM"]) == 50
    assert float(rows["STwin, SVM"]) > 80
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "50.0\N{NO-BREAK SPACE}%" in page
    assert "Why the model predicts" in page
    assert "(20, 12)" in page  # of the worked example
    assert page.count("<svg") == 2  # the explained pair
    *_, command = result.output.strip().splitlines()
    done = runner.invoke(app, command[command.index("explain") :].split())
    assert done.exit_code == 0, done.output
    assert (tmp_path / "why.html").stat().st_size > 0


def test_a_page_that_could_not_be_written_is_refused_at_once(tmp_path):
    result = runner.invoke(app, ["demo", "--report", str(tmp_path / "no" / "report.html")])
    assert result.exit_code == 2
    assert "its folder does not exist" in result.output


def test_a_comparison_runs_whole_or_not_at_all_when_time_is_up(monkeypatch):
    monkeypatch.setattr(tw, "evaluate", lambda *_, **__: SimpleNamespace(mean=1.0, std=0.0))
    twins = load_dataset("TWINS", n_pairs=20)
    monkeypatch.setattr(demo, "_SECONDS", 1e9)
    header, *rows = demo._figures([twins, replace(twins, name="MUTAG")], began=0.0)
    assert header == ["", "TWINS", "MUTAG"]
    assert [row[1:] for row in rows] == [["100.0 ± 0.0"] * 2] * 4
    monkeypatch.setattr(demo, "_SECONDS", -1e9)
    header, *rows = demo._figures([twins, replace(twins, name="MUTAG")], began=0.0)
    assert header == ["", "TWINS"]
    assert [row[0] for row in rows] == ["1-WL, SVM", "STwin, SVM"]


def test_a_comparison_without_its_package_is_left_out(monkeypatch, capsys):
    def evaluate(method, *_, **__):
        if "svc" not in method:
            raise MissingExtraError("this needs the package 'torch'")
        return SimpleNamespace(mean=1.0, std=0.0)

    monkeypatch.setattr(tw, "evaluate", evaluate)
    monkeypatch.setattr(demo, "_SECONDS", 1e9)
    _, *rows = demo._figures([load_dataset("TWINS", n_pairs=20)], began=0.0)
    assert [row[0] for row in rows] == ["1-WL, SVM", "STwin, SVM"]
    assert "left out: this needs the package 'torch'" in capsys.readouterr().err
