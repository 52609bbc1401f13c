"""``twinwl power`` and ``twinwl ceiling``."""

from __future__ import annotations

import csv
import json

import pytest

from tests.cli.molecules import run


def test_table_page_and_rows(tmp_path):
    page, rows = tmp_path / "power.html", tmp_path / "pairs.csv"
    result = run("power", "size", "size+edges", "--suite", "cfi", "--copies", "1", "--html", page, "-o", rows)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1].split() == ["cycles", "6", "6", "6"]
    assert "Power against cost" in page.read_text()
    with rows.open() as stream:
        found = list(csv.DictReader(stream))
    assert len(found) == 38
    assert {row["outcome"] for row in found} == {"separated", "same"}


def test_json_of_a_function_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "graph_functions_here.py").write_text(
        "def n_edges(graph):\n    return graph.number_of_edges()\n"
    )
    monkeypatch.chdir(tmp_path)
    result = run(
        "power",
        "graph_functions_here:n_edges",
        "--takes",
        "networkx",
        "--suite",
        "atlas",
        "--copies",
        "1",
        "--json",
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["methods"]["graph_functions_here:n_edges"]["separated"] == 0
    assert found["pairs"] == 26


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sise"], "did you mean 'size'"),
        (["size", "--suite", "cif"], "did you mean 'cfi'"),
        (["size", "--suite", "cfi", "--category", "cycle"], "did you mean 'cycles'"),
        (["no_such:f", "--suite", "cfi"], "cannot import"),
        (["size", "--takes", "pig"], "did you mean 'pyg'"),
        (["size", "--html", "page.txt"], "must end in .html"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, message):
    result = run("power", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_ceiling_of_a_data_set():
    result = run("ceiling", "TWINS:n_pairs=5", "--readout", "size", "--readout", "edges", "--n-iter", "3")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["1-WL", "50.00", "%", "5", "10", "0"] in rows
    assert ["edges", "100.00", "%", "10", "0", "10"] in rows
    assert "can gain 50 points at most" in result.stdout


def test_ceiling_as_json():
    result = run("ceiling", "TWINS:n_pairs=5", "--json")
    assert json.loads(result.stdout)["rows"][0]["best"] == 0.5
