from __future__ import annotations

import argparse
import json
import sys

import pytest
from reproduction.__main__ import main, seconds_of
from typer.testing import CliRunner

import twinwl as tw
from tests.reproduction.stored_results import cell_rows
from twinwl.cli.app import app
from twinwl.errors import TwinWLError
from twinwl.evaluation.methods import METHODS, Method
from twinwl.evaluation.result import ResultStore

BASE = [0.80, 0.82, 0.81, 0.79, 0.83, 0.80, 0.81, 0.82, 0.78, 0.80]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run in a folder of its own, without data and without a network."""
    monkeypatch.chdir(tmp_path)

    def not_there(name, data_dir=None):
        del data_dir
        raise TwinWLError(f"{name} is not there; put {name}.zip into the folder that --data-dir names")

    monkeypatch.setattr(tw, "load_dataset", not_there, raising=False)
    return tmp_path


def fill(store, *rows):
    for row in rows:
        ResultStore(store).append(row)


def test_a_finished_table_is_rebuilt_from_the_store_alone(tmp_path, capsys):
    fill(tmp_path / "results" / "table1.jsonl", *cell_rows("MUTAG", "stwin", BASE))
    assert main(["table1", "--methods", "stwin", "--datasets", "MUTAG"]) == 0
    output = capsys.readouterr().out
    assert "1 cells, 0 fits to run" in output
    assert "80.60 ±" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_without_data_it_says_what_is_missing_and_how_to_get_it(tmp_path, capsys):
    assert main(["table2", "--methods", "wl"]) == 1
    assert "EXP is not there; put EXP.zip into the folder" in capsys.readouterr().err
    assert "not run" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_what_fails_is_reported_and_the_others_go_on(monkeypatch, capsys):
    data = tw.Dataset.from_graphs([[(0, 1)], [(0, 1), (1, 2)]] * 20, [0, 1] * 20, name="MUTAG")

    def load(name, data_dir=None):
        del data_dir
        if name != "MUTAG":
            raise TwinWLError(f"put {name}.zip\n into the folder")
        return data

    monkeypatch.setattr(tw, "load_dataset", load)
    monkeypatch.setitem(METHODS, "sp-kernel", Method("sp-kernel", "sklearn.svm:SVC"))
    monkeypatch.setitem(METHODS, "wl-kernel", Method("wl-kernel", "sklearn.dummy:DummyClassifier"))
    arguments = ["--methods", "sp-kernel,wl-kernel", "--datasets", "MUTAG,PTC_MR"]
    assert main(["table1", *arguments]) == 1
    shown = capsys.readouterr()
    assert "sp-kernel on MUTAG: failed" in shown.out
    assert "wl-kernel on MUTAG: 50.00 ± 0.00 (accuracy, fair)" in shown.out
    assert shown.err.count("sp-kernel on PTC_MR: put PTC_MR.zip into the folder") == 1


def test_no_budget_begins_nothing(capsys):
    main(["all", "--time-budget", "0", "--methods", "wl"])
    assert "wl on NCI1: time is up" in capsys.readouterr().out


def test_figures_are_drawn_without_data_as_far_as_possible(tmp_path, capsys):
    main(["figures"])
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 2
    assert "Mutagenicity is not there" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_said_so(tmp_path, capsys):
    assert main(["figures", "--time-budget", "0", "--report", str(tmp_path / "no" / "report.html")]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_a_broken_line_in_the_store_is_reported_and_skipped(tmp_path):
    store = tmp_path / "results" / "table1.jsonl"
    fill(store, *cell_rows("MUTAG", "wl-svc", BASE))
    store.write_text(store.read_text() + '{"half a line\n')
    with pytest.warns(tw.TwinWLWarning, match="skipped broken lines 11"):
        assert main(["table1", "--methods", "wl-svc", "--datasets", "MUTAG"]) == 0
    assert json.loads(store.read_text().splitlines()[0])["method"] == "wl-svc"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table4"], "invalid choice"),
        (["table1", "--methods", "stwyn"], "got 'stwyn'; choose from sp-kernel, wl-kernel,"),
        (["table1", "--grid", "compakt"], "invalid choice"),
        (["table1", "--time-budget", "soon"], "expected a duration"),
        (["table1", "--methods", ","], "got ''"),
        (["table2", "--datasets", "MUTAG"], "nothing of table2 is left"),
        (["case-study", "--methods", "gcn"], "nothing of case-study is left"),
        (["table3", "--datasets", "MUTAG"], "nothing of table3 is left"),
        (["table1", "--store", "."], "name a file"),
        (["figures", "--figures", "drawn"], "choose its place with --markdown"),
    ],
)
def test_bad_input_is_answered_in_one_line_and_nothing_is_written(arguments, message, tmp_path, capsys):
    try:
        code = main(arguments)
    except SystemExit as error:  # of argparse
        code = error.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "RESULTS.md").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("90m", 5400), ("1h 30m", 5400), ("0", 0), ("2.5s", 2.5), ("1H", 3600)],
)
def test_durations_as_people_write_them(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "-1h", "h"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected a duration"):
        seconds_of(text)


def test_the_command_line_forwards_in_the_repository(tmp_path):
    fill(tmp_path / "results" / "table1.jsonl", *cell_rows("MUTAG", "stwin", BASE))
    arguments = ["reproduce", "table1", "--methods", "stwin", "--datasets", "MUTAG"]
    assert CliRunner().invoke(app, arguments).exit_code == 0


def test_the_command_line_says_where_the_reproduction_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "reproduction.__main__", None)
    result = CliRunner().invoke(app, ["reproduce", "table1"])
    assert result.exit_code == 2
    assert "python -m reproduction table1" in " ".join(result.output.split())
