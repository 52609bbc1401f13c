"""``twinwl audit`` on small tables of molecules."""

from __future__ import annotations

import csv
import json

import pytest

from tests.cli.molecules import run

pytest.importorskip("rdkit", reason="needs RDKit")

TRAIN = "id,smiles,active\na,CCO,1\nb,OCC,0\nc,C1CC,1\nd,CCCCCCCCN,1\ne,c1ccccc1,\n"
TEST = "smiles,active\nC(O)C,1\nCCCCCCCCCN,0\nc1ccccc1,1\nO=C=O,1\n"


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "train.csv").write_text(TRAIN)
    (tmp_path / "test.csv").write_text(TEST)
    return tmp_path / "train.csv", tmp_path / "test.csv"


def test_what_two_tables_share(tables):
    result = run("audit", *tables, "--target", "active", "--near", "0.5", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["sizes"] == {"train": 4, "test": 4}
    by_row = {match["row"]: match for match in found["matches"]}
    assert sorted(by_row) == [0, 1, 2]
    assert (by_row[0]["other_row"], by_row[2]["other_row"]) == (0, 4)
    assert by_row[2]["other_target"] is None
    assert by_row[1]["same"] is None
    assert by_row[1]["other_name"] == "d"
    assert 0.5 <= by_row[1]["similarity"] < 1
    (group,) = found["contradictions"]
    assert [(one["set"], one["row"], one["target"]) for one in group["members"]] == [
        ("train", 0, 1),
        ("train", 1, 0),
        ("test", 0, 1),
    ]
    assert "left out 1 of 5 rows" in result.stderr


def test_the_screen_the_table_and_the_page(tables, tmp_path):
    out, page = tmp_path / "matches.csv", tmp_path / "audit.html"
    result = run("audit", *tables, "--target", "active", "--near", "0.5", "-o", out, "--html", page)
    assert result.exit_code == 0, result.output
    assert "         2  the same stereo\n         1  more that are nearly the same" in result.stdout
    assert "1 group of copies (constitution)" in result.stdout
    rows = list(csv.DictReader(out.open()))
    assert [row["row"] for row in rows] == ["0", "2", "1"]
    text = page.read_text()
    assert "Audit of train and test" in text
    assert text.count("<svg") >= 2  # the pair that is nearly the same
    assert "CCCCCCCCN" in text


def test_ids_of_the_tables_that_have_the_column(tables):
    found = json.loads(run("audit", *tables, "--target", "active", "--id", "id", "--json").stdout)
    assert [(match["name"], match["other_name"]) for match in found["matches"]] == [
        ("C(O)C", "a"),
        ("c1ccccc1", "e"),
        ("CCCCCCCCCN", "d"),
    ]
    result = run("audit", *tables, "--target", "active", "--id", "code")
    assert result.exit_code == 2
    assert "id: got 'code'; no data set has a column of this name" in result.stderr


def test_names_of_files_are_written_out_in_full(tables):
    strange = tables[0].rename(tables[0].with_name("a[red]b\x1b]0;x.csv"))
    result = run("audit", strange, tables[1])
    assert result.exit_code == 0, result.output
    assert "Graphs of test (4) that are also in a[red]b\\x1b]0;x (4)\n" in result.stdout


def test_scores_with_and_without_the_overlap(tables, tmp_path):
    (tmp_path / "p.csv").write_text(
        "index,prediction,p_0,p_1\n0,1,0.1,0.9\n1,1,0.4,0.6\n2,1,0.2,0.8\n3,1,0.3,0.7\n"
    )
    result = run(
        "audit", *tables, "--target", "active", "--near", "0.5", "--predictions", tmp_path / "p.csv", "--json"
    )
    assert result.exit_code == 0, result.output
    everything, without_same, without_near = json.loads(result.stdout)["scores"]
    assert [part["n_graphs"] for part in (everything, without_same, without_near)] == [4, 2, 1]
    assert everything["scores"]["accuracy"] == 0.75
    assert everything["scores"]["roc-auc"] == 1.0
    assert without_same["scores"]["accuracy"] == 0.5
    assert "roc-auc" not in without_near["scores"]  # one class alone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--near", "0"], "--near"),
        (["--same", "nope"], "got 'nope'"),
        (["--html", "page.png"], "must end in .html"),
        (["--predictions", "missing.csv"], "missing.csv"),
    ],
)
def test_wrong_options_are_refused(options, message, tables):
    result = run("audit", *tables, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_predictions_without_the_column_or_the_target(tables, tmp_path):
    (tmp_path / "p.csv").write_text("index,said\n0,1\n")
    result = run("audit", *tables, "--target", "active", "--predictions", tmp_path / "p.csv")
    assert "no column 'prediction'" in result.stderr
    (tmp_path / "p.csv").write_text("index,prediction\n0,1\n")
    result = run("audit", *tables, "--predictions", tmp_path / "p.csv")
    assert "cannot be scored without targets" in result.stderr


def test_contradictions_are_not_counted_where_no_targets_were_compared(tables, tmp_path):
    page = tmp_path / "audit.html"
    result = run("audit", *tables, "--html", page)
    assert "No targets were compared; name their column with --target." in result.stdout
    assert "different targets" not in result.stdout + page.read_text(encoding="utf-8")
