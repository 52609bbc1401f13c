from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app

runner = CliRunner()


def run(*arguments, **options):
    return runner.invoke(app, ["dedup", *map(str, arguments)], **options)


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "m.smi"
    path.write_text("CCO ethanol\nOCC ethanol again\nC methane\nC(O)C a third\n")
    return path


def test_summary_counts_and_names_the_largest_groups(molecules):
    result = run(molecules)
    assert result.exit_code == 0
    assert "4 graphs, 2 distinct, 2 duplicates (50.0 %)" in result.stdout
    assert "ethanol, ethanol again, a third" in result.stdout


def test_no_duplicates(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("Bw\nA_\n")
    result = run(path)
    assert "2 graphs, 2 distinct, no duplicates" in result.stdout
    assert "Largest" not in result.stdout


def test_json(molecules):
    found = json.loads(run(molecules, "--json").stdout)
    assert found == {
        "graphs": 4,
        "distinct": 2,
        "exact": True,
        "same": "constitution",
        "groups_that_differ": {"isotope": 0, "stereo": 0},
        "features_ignored": False,
        "skipped_lines": [],
        "errors": [],
        "rows": [0, 1, 2, 3],
        "representatives": [0, 2],
        "labels": [0, 0, 1, 0],
    }


LEVELS = ["CC(=O)O", "CC(=O)[O-]", "C[13CH3]", "CC", "C[C@H](O)F", "C[C@@H](O)F", "CC(O)F"]


@pytest.mark.parametrize(
    ("same", "distinct", "differing"),
    [
        ("skeleton", 3, {"constitution": 1, "isotope": 1, "stereo": 1}),
        ("constitution", 4, {"isotope": 1, "stereo": 1}),
        ("isotope", 5, {"stereo": 1}),
        ("stereo", 7, {}),
    ],
)
def test_the_level_decides_what_is_the_same_and_what_else_differs_is_said(
    tmp_path, same, distinct, differing
):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "levels.smi"
    path.write_text("\n".join(LEVELS))
    found = json.loads(run(path, "--same", same, "--json").stdout)
    assert (found["same"], found["distinct"], found["groups_that_differ"]) == (same, distinct, differing)
    text = run(path, "--same", same).stdout
    assert f"(--same {same})" in text
    assert ("differ in stereo" in text) == ("stereo" in differing)


def test_levels_mean_nothing_to_graphs_that_are_no_molecules(tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_text("Bw\nBw\n")
    assert json.loads(run(path, "--json").stdout)["same"] is None
    result = run(path, "--same", "stereo")
    assert result.exit_code == 2
    assert "has no molecules, so the level 'stereo' does not apply" in result.stderr
    result = run(tmp_path / "levels.smi", "--same", "ecfp")
    assert result.exit_code == 2
    assert "--same: got 'ecfp', expected 'skeleton', 'constitution', 'isotope' or 'stereo'" in result.stderr


def test_csv_output(molecules, tmp_path):
    path = tmp_path / "groups.csv"
    assert run(molecules, "-o", path).exit_code == 0
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [row["group"] for row in rows] == ["0", "0", "1", "0"]
    assert rows[3] == {"graph": "3", "name": "a third", "group": "0", "representative": "0"}


def test_one_line_of_each_group_is_copied(molecules, tmp_path):
    path = tmp_path / "unique.smi"
    molecules.write_text("broken(\n" + molecules.read_text() + "\nworse)\nN ammonia\n")
    result = run(molecules, "-o", path)
    assert result.exit_code == 0
    assert path.read_text() == "CCO ethanol\nC methane\nN ammonia\n"
    assert "left out 2 of 7 rows (2 cannot be read); the first is line 1" in result.stderr


def test_lines_that_cannot_be_read_are_an_error_where_asked_for(molecules):
    molecules.write_text("C\nbroken(\n")
    result = run(molecules, "--on-error", "fail")
    assert result.exit_code == 2
    assert "line 2" in result.stderr


def test_a_table_of_molecules_is_one_graph_per_row(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    table, unique = tmp_path / "m.csv", tmp_path / "unique.smi"
    table.write_text("id,smiles,y\n1,CCO,0\n2,nonsense,0\n3,OCC,1\n4,C,\n")
    result = run(table, "-o", unique)
    assert "3 graphs, 2 distinct, 1 duplicate" in result.stdout
    assert "left out 1 of 4 rows" in result.stderr
    assert unique.read_text() == "CCO 1\nC 4\n"
    found = json.loads(run(table, "--json").stdout)
    assert (found["rows"], found["labels"], found["skipped_lines"]) == ([0, 2, 3], [0, 0, 1], [3])


def test_hash_only_says_so(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("Bw\nBw\n")
    result = run(path, "--no-exact")
    assert "2 graphs, 1 distinct" in result.stdout
    assert "By hash only" in result.stdout


def test_exact_tells_apart_what_the_hash_cannot(tmp_path):
    nx = pytest.importorskip("networkx")
    path = tmp_path / "srg.g6"
    rook = nx.line_graph(nx.complete_bipartite_graph(4, 4))
    steps = ((0, 1), (1, 0), (1, 1))
    shrikhande = nx.Graph(
        ((i, j), ((i + a) % 4, (j + b) % 4)) for i in range(4) for j in range(4) for a, b in steps
    )
    path.write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in (rook, shrikhande)))
    assert "2 distinct" in run(path).stdout
    assert "1 distinct" in run(path, "--no-exact").stdout


def test_standard_input():
    result = run("-", input="Bw\nA_\nBw\n")
    assert "3 graphs, 2 distinct" in result.stdout
    assert "stdin#0, stdin#2" in result.stdout


def test_tu_zip(tu_zip):
    found = json.loads(run(tu_zip("MUTAG"), "--json").stdout)
    assert (found["graphs"], found["distinct"]) == (188, 188)  # bond types tell all of them apart


@pytest.mark.parametrize("output", ["x.g6", "x", "nowhere/x.csv"])
def test_an_impossible_output_is_refused_before_the_work(molecules, tmp_path, output):
    result = run(molecules, "-o", tmp_path / output)
    assert result.exit_code == 2
    assert "cannot write" in result.stderr
