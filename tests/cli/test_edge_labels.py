"""``--edge-labels`` and ``--no-edge-labels``: tests of identity use edge labels by default, models do not."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import twinwl as tw
from twinwl.cli.app import app

runner = CliRunner()

# Two squares that differ in one edge label, as node-link JSON.
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
LABELLED = ("--edge-label", "label")


def run(*arguments):
    return runner.invoke(app, list(map(str, arguments)))


def square(path, *labels):
    links = [{"source": u, "target": v, "label": label} for (u, v), label in zip(SQUARE, labels, strict=True)]
    graph = {"directed": False, "multigraph": False, "nodes": [{"id": i} for i in range(4)], "links": links}
    path.write_text(json.dumps(graph))
    return path


@pytest.fixture
def squares(tmp_path):
    folder = tmp_path / "squares"
    folder.mkdir()
    square(folder / "a.json", *"xxxx")
    square(folder / "b.json", *"xxxy")
    return folder


@pytest.fixture
def tu(tmp_path, monkeypatch):
    """Sixteen triangles with edge labels and two attributes at each node, as a TU folder."""
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "TRIANGLES"
    folder.mkdir()
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]
    rows = {
        "A": [f"{3 * g + u + 1}, {3 * g + v + 1}" for g in range(16) for u, v in arcs],
        "graph_indicator": [g + 1 for g in range(16) for _ in range(3)],
        "graph_labels": [g % 2 for g in range(16)],
        "node_labels": [g % 3 for g in range(16) for _ in range(3)],
        "node_attributes": [f"{g / 4}, {v / 2}" for g in range(16) for v in range(3)],
        "edge_labels": [int((g + e // 2) % 3 == 0) for g in range(16) for e in range(6)],
    }
    for name, lines in rows.items():
        (folder / f"TRIANGLES_{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


COMMANDS = [
    *("audit", "ceiling", "compare", "dedup", "evaluate", "features", "hash", "power", "train"),
    *("corpus build", "corpus features", "corpus train"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_looks_at_graphs_has_both_options(command):
    text = " ".join(runner.invoke(app, [*command.split(), "--help"], env={"COLUMNS": "300"}).stdout.split())
    assert "--edge-labels" in text
    assert "--no-edge-labels" in text
    assert "Use edge labels. [default: not by models]" in text


def test_compare_uses_edge_labels_unless_told_not_to(squares):
    pair = squares / "a.json", squares / "b.json", *LABELLED
    assert run("compare", *pair).exit_code == 1
    assert run("compare", *pair, "--edge-labels").exit_code == 1
    page = squares / "page.html"
    assert run("compare", *pair, "--no-edge-labels", "--html", page).exit_code == 0
    assert page.exists()


def test_hash_uses_edge_labels_unless_told_not_to(squares):
    def hashes(*options):
        return {line.split()[0] for line in run("hash", squares, *LABELLED, *options).stdout.splitlines()}

    assert len(hashes()) == 2
    assert hashes("--no-edge-labels") == {tw.graph_hash(tw.GraphBatch.from_edges([SQUARE]))}


@pytest.mark.parametrize(("options", "distinct"), [((), 2), (("--no-edge-labels",), 1)])
def test_dedup_uses_edge_labels_unless_told_not_to(squares, options, distinct):
    assert json.loads(run("dedup", squares, "--json", *LABELLED, *options).stdout)["distinct"] == distinct


@pytest.mark.parametrize(("options", "same"), [((), 0), (("--no-edge-labels",), 1)])
def test_audit_uses_edge_labels_unless_told_not_to(squares, options, same):
    files = squares / "a.json", squares / "b.json"
    found = json.loads(run("audit", *files, "--json", *LABELLED, *options).stdout)
    assert found["overlaps"][0]["same"] == {"graph": same}


@pytest.mark.parametrize(("options", "same"), [((), 0), (("--no-edge-labels",), 1)])
def test_audit_of_molecules_ignores_bonds_at_every_level(tmp_path, options, same):
    pytest.importorskip("rdkit")
    for name, smiles in (("a", "[O-]N=C"), ("b", "[O-]NC")):
        (tmp_path / f"{name}.csv").write_text(f"smiles\n{smiles}\n")
    found = json.loads(run("audit", tmp_path / "a.csv", tmp_path / "b.csv", "--json", *options).stdout)
    assert found["overlaps"][0]["same"]["skeleton"] == same


@pytest.mark.parametrize(("options", "separated"), [((), 1), (("--no-edge-labels",), 0)])
def test_power_keeps_edge_labels_unless_told_not_to(tmp_path, options, separated):
    pytest.importorskip("rdkit")
    (tmp_path / "pair.smi").write_text("C1CC1\nC1C=C1\n")
    told = run("power", "size", "--suite", tmp_path / "pair.smi", "--copies", 1, "--json", *options)
    assert json.loads(told.stdout)["methods"]["size"]["separated"] == separated


@pytest.mark.parametrize(("options", "distinct"), [((), 2), (("--no-edge-labels",), 1)])
def test_corpus_is_built_with_edge_labels_unless_told_not_to(tmp_path, options, distinct):
    pytest.importorskip("pyarrow")
    pytest.importorskip("rdkit")
    (tmp_path / "m.smi").write_text("C1CC1\nC1C=C1\n")
    built, unique = tmp_path / "built", tmp_path / "unique"
    run("corpus", "build", tmp_path / "m.smi", "-o", built, "--same", "skeleton", "--jobs", 1, *options)
    run("corpus", "dedup", built, "-o", unique, "--jobs", 1)
    assert len(tw.Corpus(unique)) == distinct


def test_ceiling_says_once_that_edge_labels_are_ignored(tu):
    told = run("ceiling", tu, "--ignore-attributes")
    assert told.stderr.count("models ignore edge labels unless --edge-labels is given") == 1
    for option in ("--edge-labels", "--no-edge-labels"):
        assert run("ceiling", tu, "--ignore-attributes", option).stderr == ""


@pytest.mark.parametrize(("option", "used"), [("--edge-labels", True), ("--no-edge-labels", False)])
def test_train_passes_the_choice_to_the_model(tu, tmp_path, option, used):
    model = tmp_path / "m.twinwl"
    done = run("train", tu, "-o", model, "--method", "stwin-svc", option)
    assert done.exit_code == 0, done.output
    assert tw.load(model).edge_labels is used


METHODS = ("--method", "stwin-svc", "--method", "wl-svc", "--folds", "2")


def test_evaluate_says_once_what_methods_do_not_use(tu):
    told = run("evaluate", tu, *METHODS)
    assert told.exit_code == 0, told.output
    assert [line.partition("; ")[0] for line in told.stderr.splitlines()] == [
        "twinwl: TRIANGLES: not every method uses continuous node attributes",
        "twinwl: TRIANGLES: models ignore edge labels unless --edge-labels is given",
    ]
    (inputs,) = [line.split() for line in told.stdout.splitlines() if line.startswith("inputs")]
    assert inputs == ["inputs", "node", "labels", "node", "labels"]


def test_evaluate_names_the_inputs_in_its_files(tu, tmp_path):
    table, latex = tmp_path / "t.csv", tmp_path / "t.tex"
    options = (*METHODS, "--edge-labels", "--ignore-attributes", "--store", tmp_path / "s.jsonl")
    for output in (table, latex):
        done = run("evaluate", tu, *options, "-o", output, "--json")
        assert done.exit_code == 0, done.output
    assert {one["inputs"] for one in json.loads(done.stdout)} == {"node labels, edge labels"}
    assert 'TRIANGLES,stwin-svc+edge-labels,"node labels, edge labels",fair' in table.read_text()
    assert "stwin-svc+edge-labels & node labels, edge labels & " in latex.read_text()


def test_evaluate_refuses_edge_labels_for_a_method_without_them_before_any_work(tu):
    pytest.importorskip("torch")
    done = run("evaluate", tu, "--method", "stwin-svc", "--method", "gin", "--edge-labels")
    assert done.exit_code == 2
    assert "gin cannot use edge labels" in done.stderr
