from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.paper.stored_results import cell_rows
from twinwl.cli.app import app
from twinwl.cli.reproduce import seconds_of
from twinwl.errors import TwinWLError
from twinwl.evaluation.store import ResultStore
from twinwl.paper import reproduction_run

runner = CliRunner()
BASE = [0.80, 0.82, 0.81, 0.79, 0.83, 0.80, 0.81, 0.82, 0.78, 0.80]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run in a folder of its own, without data and without a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))

    def not_at_hand(name, data_dir=None):
        del data_dir
        raise TwinWLError(f"{name} is not at hand; put {name}.zip into the folder that --data-dir names")

    monkeypatch.setattr(reproduction_run, "load_dataset", not_at_hand)
    monkeypatch.setattr(reproduction_run, "find", lambda _name, _data_dir: None)
    return tmp_path


def fill(store, *rows):
    for row in rows:
        ResultStore(store).append(row)


def test_a_finished_table_is_rebuilt_from_the_store_alone(tmp_path):
    fill(tmp_path / "results" / "table1.jsonl", *cell_rows("MUTAG", "stwin", BASE))
    result = runner.invoke(app, ["reproduce", "table1", "--methods", "stwin", "--datasets", "MUTAG"])
    assert result.exit_code == 0, result.output
    assert "1 cells, 0 of 20 fits to run" in result.output
    assert "stwin on MUTAG: done" in result.output
    markdown = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "80.60 ±" in markdown
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_without_data_it_says_what_is_missing_and_how_to_get_it(tmp_path):
    result = runner.invoke(app, ["reproduce", "table2", "--methods", "wl"])
    assert result.exit_code == 1
    assert "EXP is not at hand; put EXP.zip into the folder" in result.output
    assert "not run" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_no_budget_begins_nothing():
    result = runner.invoke(app, ["reproduce", "all", "--time-budget", "0", "--methods", "wl"])
    assert "wl on NCI1: not finished, the time is up" in result.output


def test_figures_are_drawn_without_data_as_far_as_possible(tmp_path):
    result = runner.invoke(app, ["reproduce", "figures", "--figures", "drawn"])
    assert len(list((tmp_path / "drawn").glob("*.svg"))) == 3
    assert "Mutagenicity is not at hand" in result.output


def test_a_broken_line_in_the_store_is_reported_and_skipped(tmp_path):
    store = tmp_path / "results" / "table1.jsonl"
    fill(store, *cell_rows("MUTAG", "wl-svc", BASE))
    store.write_text(store.read_text() + '{"half a line\n')
    result = runner.invoke(app, ["reproduce", "table1", "--methods", "wl-svc", "--datasets", "MUTAG"])
    assert result.exit_code == 0, result.output
    assert "skipped broken lines 11" in result.output
    assert json.loads(store.read_text().splitlines()[0])["method"] == "wl-svc"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table4"], "did you mean 'table"),
        (["table1", "--methods", "stwyn"], "did you mean 'stwin'"),
        (["table1", "--grid", "compakt"], "did you mean 'compact'"),
        (["table1", "--time-budget", "soon"], "expected a duration"),
        (["table1", "--methods", ","], "expected names"),
        (["table2", "--datasets", "MUTAG"], "nothing of table2 is left"),
        (["case-study", "--methods", "gcn"], "nothing of case-study is left"),
        (["table3", "--datasets", "MUTAG"], "nothing of table3 is left"),
        (["table1", "--store", "."], "name a file"),
        (["table1", "--data-dir", "nowhere"], "is not a folder"),
        (["table1", "--readme", "nowhere.md"], "there is no such file"),
        (["table1", "--report", "nowhere/report.html"], "its folder does not exist"),
    ],
)
def test_bad_input_is_answered_in_one_line_and_nothing_is_written(arguments, message, tmp_path):
    result = runner.invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "RESULTS.md").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("90m", 5400), ("1h 30m", 5400), ("0", 0), ("2.5s", 2.5), ("1H", 3600)],
)
def test_durations_as_people_write_them(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "-1h", "h", "2h3"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(TwinWLError, match="expected a duration"):
        seconds_of(text)
