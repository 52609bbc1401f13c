from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import networkx as nx
import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app

runner = CliRunner()

HEXAGON, TRIANGLES = "graph6:EhEG", "graph6:EwCW"


def run(*arguments):
    return runner.invoke(app, ["compare", *map(str, arguments)])


def test_different_graphs_exit_with_1_and_say_why():
    result = run(HEXAGON, TRIANGLES)
    assert result.exit_code == 1
    assert "Different: Twin-WL tells them apart in round 2" in result.stdout
    assert "reach 5 nodes in A, but 3 in B" in result.stdout
    assert "1-WL alone never" in result.stdout
    assert result.stderr == ""


def test_agreement_exits_with_0_and_does_not_claim_isomorphism():
    result = run(HEXAGON, HEXAGON)
    assert result.exit_code == 0
    assert "does not prove" in result.stdout


def test_canonical_agreement_is_a_proof():
    result = run(HEXAGON, HEXAGON, "--readout", "canonical")
    assert result.exit_code == 0
    assert "isomorphic" in result.stdout
    assert "does not prove" not in result.stdout


def test_json_is_one_object_with_the_witness():
    result = run(HEXAGON, TRIANGLES, "--readout", "size", "--readout", "edges", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["distinguished"] is True
    assert (found["iteration"], found["by"]) == (1, "twin")
    assert found["readout"] == ["size", "edges"]
    assert found["witness"]["counts"] in ([6, 0], [0, 6])
    assert [graph["name"] for graph in found["graphs"]] == [HEXAGON, TRIANGLES]


def test_json_without_a_difference():
    found = json.loads(run(HEXAGON, HEXAGON, "--readout", "canonical", "--json").stdout)
    assert (found["distinguished"], found["iteration"], found["witness"]) == (False, None, None)
    assert found["proves_isomorphism"] is True


def test_n_iter_limits_the_rounds():
    result = run(HEXAGON, TRIANGLES, "--n-iter", "1")
    assert result.exit_code == 0
    assert "Not told apart up to round 1" in result.stdout


def test_html_writes_the_page(tmp_path):
    path = tmp_path / "page.html"
    result = run(HEXAGON, TRIANGLES, "--html", path)
    assert result.exit_code == 1
    assert str(path) in result.stdout.replace("\n", "")
    assert "Twin-WL tells them apart in round 2" in path.read_text(encoding="utf-8")


def test_labels_come_from_the_attributes_named(tmp_path):
    paths = []
    for name, kind in (("a", "C"), ("b", "O")):
        graph = nx.path_graph(2)
        nx.set_node_attributes(graph, kind, "element")
        paths.append(tmp_path / f"{name}.graphml")
        nx.write_graphml(graph, paths[-1])
    assert run(*paths).exit_code == 0
    result = run(*paths, "--node-label", "element")
    assert result.exit_code == 1
    assert "labels already differ" in result.stdout


def test_names_are_not_taken_for_markup(tmp_path):
    path = tmp_path / "[red]a.edges"
    path.write_text("a b\n")
    assert "[red]a.edges" in run(path, path).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.g6", HEXAGON), "cannot read 'nowhere.g6'"),
        (("a.xyz", HEXAGON), "there is no data set or file 'a.xyz'"),
        ((HEXAGON, "graph6:D"), "cut off"),
        ((HEXAGON, HEXAGON, "--readout", "sise"), "did you mean 'size'"),
        ((HEXAGON, "graph6:&AG"), "directed"),
        ((HEXAGON, HEXAGON, "--html", "nowhere/page.html"), "cannot write"),
    ],
)
def test_errors_are_one_line_and_exit_with_2(arguments, message):
    check_one_line(arguments, message)


def test_labels_on_one_side_only_are_refused():
    pytest.importorskip("rdkit", reason="needs RDKit")
    check_one_line((HEXAGON, "smiles:CCO"), "labels")


def check_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_help_has_examples_and_the_readouts():
    text = run("--help").stdout
    assert "smiles:C1CCC2CCCCC2C1" in text
    assert "rooted-fwl2" in text
    assert "Exit code" in text


@pytest.mark.skipif(os.name == "nt", reason="signals work otherwise on Windows")
def test_interrupting_leaves_no_traceback():
    # Whoever runs the tests in the background has them ignore interrupts, and children inherit that.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{listen}; from twinwl.cli.app import main; main()", "compare", "-", HEXAGON],
        stdin=subprocess.PIPE,  # reading from it blocks, as a long computation would
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("\n" * 2**20)  # more than a pipe holds: returns once the other side is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    # Not communicate(), which would close its standard input and so end the wait by another way.
    assert process.wait(timeout=60) == 130
    assert "Traceback" not in process.stderr.read()


def test_molecules_are_compared_at_a_level():
    pytest.importorskip("rdkit")
    acids = ("smiles:CC(=O)O", "smiles:CC(=O)[O-]")
    assert run(*acids).exit_code == 1
    assert run(*acids, "--same", "constitution").exit_code == 1
    assert run(*acids, "--same", "skeleton").exit_code == 0
    assert run(*acids, "--same", "ecfp").exit_code == 2
