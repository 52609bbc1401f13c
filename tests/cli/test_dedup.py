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
        "contradictions": {},
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


def test_groups_are_written_to_a_table(molecules, tmp_path):
    path = tmp_path / "groups.csv"
    result = run(molecules, "--groups", path)
    assert result.exit_code == 0
    assert f"Groups written to {path}" in result.stdout
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [row["group"] for row in rows] == ["0", "0", "1", "0"]
    assert rows[3] == {"graph": "3", "row": "3", "name": "a third", "group": "0", "representative": "0"}


def test_what_is_no_table_is_not_written_as_one_and_the_successor_is_named(molecules, tmp_path):
    result = run(molecules, "-o", tmp_path / "groups.csv")
    assert result.exit_code == 2
    assert "is no table; write its groups with --groups, or the graphs with -o to a .smi" in result.stderr


TABLE = """id,smiles,activity,note
a,CCO,5,"first, of ethanol"
b,C1CC,9,unreadable
c,OCC,7,=1+1
d,C,,methane
e,C(O)C,,no activity
f,[CH4],3,methane again
"""


@pytest.fixture
def table(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(
    ("keep", "kept"), [("first", "ad"), ("last", "ef"), ("best:activity", "cf"), ("best:id", None)]
)
def test_a_table_keeps_all_columns_and_the_order_of_its_rows(table, tmp_path, keep, kept):
    output = tmp_path / "clean.csv"
    result = run(table, "-o", output, "--keep", keep)
    if kept is None:
        assert result.exit_code == 2
        assert "row 0: target 'id': got 'a', expected numbers" in result.stderr
        return
    assert result.exit_code == 0, result.output
    lines = TABLE.splitlines()
    expected = [lines[0], *(line for line in lines[1:] if line[0] in kept)]
    assert output.read_text().replace("'=1+1", "=1+1").splitlines() == expected
    assert f"Written to {output}: 2 of 6 rows" in result.stdout
    assert "ids from the column 'id' (--id names another)" in result.stderr


def test_rows_that_cannot_be_read_are_listed_beside_the_output(table, tmp_path):
    result = run(table, "-o", tmp_path / "clean.csv")
    skipped = tmp_path / "clean.skipped.csv"
    assert f"1 row that cannot be read: {skipped}" in result.stdout
    (row,) = csv.DictReader(skipped.open())
    assert (row["row"], row["line"], row["id"], row["note"]) == ("1", "3", "b", "unreadable")
    assert "C1CC" in row["reason"]


def test_contradicting_targets_are_counted(table, tmp_path):
    groups = tmp_path / "groups.csv"
    result = run(table, "--target", "activity", "--keep", "last", "--groups", groups)
    assert "1 group with more than one 'activity'." in result.stdout
    found = list(csv.DictReader(groups.open()))
    assert [(row["name"], row["representative"], row["activity"]) for row in found] == [
        ("a", "3", "5"),
        ("c", "3", "7"),
        ("d", "4", ""),
        ("e", "3", ""),
        ("f", "4", "3"),
    ]
    assert json.loads(run(table, "--target", "activity,note", "--json").stdout)["contradictions"] == {
        "activity": 1,
        "note": 2,
    }


def test_an_obvious_target_is_counted_without_its_name(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "m.csv"
    path.write_text("smiles,toxic\nCCO,1\nOCC,1.0\nC,0\n[CH4],1\n")
    assert json.loads(run(path, "--json").stdout)["contradictions"] == {"toxic": 1}


def test_ids_survive_in_a_file_of_smiles(table, tmp_path):
    output = tmp_path / "clean.smi"
    assert run(table, "-o", output, "--keep", "last").exit_code == 0
    assert output.read_text() == "C(O)C e\n[CH4] f\n"
    assert (tmp_path / "clean.skipped.csv").is_file()


def test_numbers_of_a_table_are_numbers_where_the_format_has_any(table, tmp_path):
    output = tmp_path / "clean.jsonl"
    run(table, "-o", output)
    assert [json.loads(line)["activity"] for line in output.read_text().splitlines()] == [5, None]


def test_an_sd_file_becomes_a_table_with_its_structures(tmp_path):
    chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit")
    path, output = tmp_path / "m.sdf", tmp_path / "clean.csv"
    with chem.SDWriter(str(path)) as writer:
        for smiles, mass in (("CCO", 46), ("OCC", 46), ("C", 16)):
            molecule = chem.MolFromSmiles(smiles)
            molecule.SetProp("mass", str(mass))
            writer.write(molecule)
    assert run(path, "-o", output).exit_code == 0
    assert [(row["smiles"], row["mass"]) for row in csv.DictReader(output.open())] == [
        ("CCO", "46"),
        ("C", "16"),
    ]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("best:activities", "--keep best: got 'activities'; did you mean 'activity'?"),
        ("best", "--keep: got 'best', expected 'first', 'last' or 'best:COLUMN'"),
        ("best:", "--keep best: got ''"),
        ("some", "--keep: got 'some'"),
    ],
)
def test_an_unknown_row_to_keep_is_refused_before_the_work(table, keep, message):
    result = run(table, "--keep", keep)
    assert result.exit_code == 2
    assert message in result.stderr


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
