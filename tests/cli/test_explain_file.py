from __future__ import annotations

import csv
import json
import re

import pytest

from tests.cli.molecules import SMILES, run, trained, write_csv
from twinwl.files.model_files import load
from twinwl.graphs.batch import GraphBatch
from twinwl.report.explain import explained

pytest.importorskip("rdkit", reason="needs RDKit")
pytest.importorskip("torch", reason="needs torch")


@pytest.fixture(scope="module", params=["stwin", "stwin-svc", pytest.param("ntwin", marks=pytest.mark.slow)])
def model(request, tmp_path_factory):
    rounds = [] if request.param == "ntwin" else ["--set", "n_iter=2"]
    return trained(tmp_path_factory.mktemp("model"), "--method", request.param, *rounds)


@pytest.fixture(scope="module")
def svc(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svc"), "--method", "stwin-svc", "--set", "n_iter=2")


def test_a_file_gives_a_table_of_patterns_and_a_page(model, tmp_path):
    page = tmp_path / "page.html"
    result = run("explain", model, write_csv(tmp_path / "m.csv"), "--html", page, "--top", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "m  36 molecules"
    assert len(re.findall(r"h\d:c\d+", result.stdout)) == 3
    text = page.read_text(encoding="utf-8")
    assert text.count('class="tile"') == 36
    assert text.count("as a tree</summary>") == 3
    assert f"The page is in {page}" in result.stdout


def test_long_smarts_are_folded_not_cut_off(svc, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = run("explain", svc, write_csv(tmp_path / "m.csv"), "--top", 20)
    assert "h2:c" in result.stdout
    assert "…" not in result.stdout


def test_most_limits_the_drawings(svc, tmp_path):
    page = tmp_path / "page.html"
    data = write_csv(tmp_path / "m.csv")
    assert run("explain", svc, data, "--html", page, "--most", 5).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count('class="tile"') == 5
    assert "the first 5 of 36 molecules" in text


def test_the_file_of_patterns_has_the_shares_of_each_graph(svc, tmp_path):
    output = tmp_path / "p.csv"
    data = write_csv(tmp_path / "m.csv")
    assert run("explain", svc, data, "-o", output, "--top", 4).exit_code == 0
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert len({row["pattern"] for row in rows}) == 4
    estimator = load(svc)
    for row in (rows[0], rows[-1]):
        found = explained(estimator, GraphBatch.from_smiles([SMILES[int(row["index"])]]), 100)
        share = {column.name: column.share for column in found.columns}[row["pattern"]]
        assert float(row["share"]) == pytest.approx(share, rel=1e-4)
        assert row["prediction"] == str(found.prediction)
        assert row["for"] == str(found.sides[share <= 0])
        assert row["name"] == SMILES[int(row["index"])]
        assert row["smarts"].startswith("[#")


def test_one_graph_has_a_file_of_patterns_too(svc, tmp_path):
    output = tmp_path / "p.json"
    result = run("explain", svc, "smiles:CCCO", "-o", output, "--top", 2)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("smiles:CCCO")
    assert len(json.loads(output.read_text(encoding="utf-8"))) == 2


def test_unreadable_rows_are_counted_and_known_targets_compared(svc, tmp_path):
    page = tmp_path / "page.html"
    data = write_csv(tmp_path / "m.csv", ["C1CC,0", "CCCCO,0"])
    result = run("explain", svc, data, "--html", page, "--target", "alcohol")
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "1 row could not be read" in text
    assert "in the data: alcohol = 1" in text
    assert "for alcohol = 1</span>" in text
    assert "Predicted <strong>alcohol = 1</strong>" in text
    assert text.count("<em>(wrong)</em>") >= 1


def test_graphs_with_unknown_labels_are_counted_once(svc, tmp_path):
    data = tmp_path / "m.csv"
    data.write_text("smiles\nNN\nN\nCO\n")
    assert "2 of 3 graphs have only labels" in run("explain", svc, data).stderr


def test_a_file_with_one_row_is_one_graph(svc, tmp_path):
    data = tmp_path / "m.csv"
    data.write_text("smiles\nCCCO\n")
    assert run("explain", svc, data).stdout.splitlines()[0].startswith("CCCO  4 ")
