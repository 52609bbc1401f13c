from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tests.conftest import data_folder
from twinwl.cli.app import app

runner = CliRunner()
REAL = data_folder()
MUTAG_LIKE = {"A": "1, 2\n2, 1\n3, 4\n4, 3\n", "graph_indicator": "1\n1\n2\n2\n", "graph_labels": "1\n0\n"}


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TWINWL_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def own_set(tmp_path):
    folder = tmp_path / "OWN"
    folder.mkdir()
    for part, text in MUTAG_LIKE.items():
        (folder / f"OWN_{part}.txt").write_text(text)
    return folder


def run(*arguments):
    result = runner.invoke(app, ["datasets", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def listed(*arguments):
    return {entry["name"]: entry for entry in json.loads(run("--json", *arguments))}


def test_list_says_what_is_at_hand(own_set, tmp_path):
    entries = listed()
    assert entries["MUTAG"]["ready"] is False
    assert entries["MUTAG"]["n_graphs"] == 188
    assert entries["MUTAG"]["classes"] == {"-1": 63, "1": 125}
    assert entries["TWINS"]["ready"] is True
    assert (entries["OWN"]["source"], entries["OWN"]["where"]) == ("your own", str(own_set))
    (tmp_path / "HIV.csv").write_text("smiles,HIV_active\n")
    assert listed()["HIV"]["where"] == str(tmp_path / "HIV.csv")


def test_list_for_people():
    shown = run()
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert "188" in lines["MUTAG"]
    assert "download" in lines["MUTAG"]
    assert "built in" in lines["TWINS"]
    assert "more of the TU collection: twinwl datasets --all" in shown


def test_all_names():
    assert {"Letter-high", "twitch_egos"} <= listed("--all").keys()
    assert "Letter-high" not in listed()
    assert "more of the TU collection" not in run("--all")


def test_listed_sizes_of_sets_made_in_code_are_true():
    for name in ("TWINS", "CSL", "SRG", "SRG-16-6-2-2", "SRG-25-12-5-6", "SRG-28-12-6-4"):
        card = json.loads(run(name, "--json", "--draw", 0))
        promised = listed()[name]
        assert (card["n_graphs"], card["n_classes"]) == (promised["n_graphs"], promised["n_classes"])


def test_card_and_statistics_of_a_real_set():
    if REAL is None or not (REAL / "MUTAG.zip").is_file():
        pytest.skip("MUTAG.zip was not found")
    shown = run("MUTAG", "--data-dir", REAL)
    assert "188 in 2 classes (-1: 63, 1: 125)" in shown
    assert "3,371, 10 to 28 (median 17.5, mean 17.93) per graph; 0 isolated" in shown
    assert "7: 0: 2,395" in shown
    assert "MUTAG#" in shown


def test_figures_as_json():
    card = json.loads(run("TWINS:n_pairs=4", "--json"))
    assert (card["n_graphs"], card["n_groups"], card["degree"]["largest"] <= 4) == (8, 4, True)
    assert len(card["digest"]) == 64
    assert card["examples"][0] // 2 == card["examples"][1] // 2  # a pair


def test_pair_is_drawn_side_by_side():
    shown = run("TWINS:n_pairs=4")
    assert shown.count("TWINS#") == 2
    assert "class 0" in shown
    assert "class 1" in shown
    assert any(0x2800 < ord(letter) < 0x2900 for letter in shown)


def test_no_drawing_where_none_is_wanted():
    assert "TWINS#" not in run("TWINS:n_pairs=4", "--draw", 0)


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_picture_is_written(tmp_path, ending, start):
    path = tmp_path / f"twins.{ending}"
    assert f"drew 2 graphs into {path}" in run("TWINS:n_pairs=4", "--png", path).replace("\n", "")
    assert path.read_bytes().startswith(start)


def test_same_picture_every_time(tmp_path):
    for name in ("one.png", "two.png"):
        run("TWINS:n_pairs=4", "--png", tmp_path / name, "--json")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_molecules_of_a_csv(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("id,smiles,active\n1,CCO,1\n2,nonsense,1\n3,c1ccccc1,0\n")
    arguments = [tmp_path / "m.csv", "--target", "active"]
    result = runner.invoke(app, ["datasets", *map(str, arguments), "--json"])
    assert json.loads(result.stdout)["n_graphs"] == 2
    assert "left out 1 of 3 rows" in result.stderr
    result = runner.invoke(app, ["datasets", *map(str, arguments), "--on-error", "fail"])
    assert result.exit_code == 2
    assert "line 3" in result.stderr


def test_graphs_without_classes(tmp_path):
    (tmp_path / "a.g6").write_text("Bw\nA_\n")
    for options in ([], ["--json"], ["--png", str(tmp_path / "a.png")]):
        result = runner.invoke(app, ["datasets", str(tmp_path / "a.g6"), *options])
        assert result.exit_code == 0, result.output
    result = runner.invoke(app, ["datasets", str(tmp_path / "a.g6")])
    assert "2, without targets" in result.stdout
    assert "a#1" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["MUTAC"], "did you mean 'MUTAG'"),
        (["missing.zip"], "cannot read 'missing.zip'"),
        (["TWINS", "--png", "picture.bmp"], "its name must end in .png, .svg or .pdf"),
        (["TWINS", "--png", "no/such/folder/x.png"], "cannot write"),
        (["TWINS", "--png", "x.png", "--draw", "0"], "there is no graph to draw"),
        (["--data-dir", "no/such/folder"], "is not a folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, problem):
    result = runner.invoke(app, ["datasets", *arguments])
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


def test_list_is_quick_to_import():
    script = (
        "import sys; from typer.testing import CliRunner; from twinwl.cli.app import app\n"
        "CliRunner().invoke(app, ['datasets', '--json'])\n"
        "print(sorted({'torch', 'sklearn', 'matplotlib', 'pooch', 'rdkit'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
