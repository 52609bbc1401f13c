"""A TU data set with node attributes, from the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import twinwl as tw
from twinwl.cli.app import app

runner = CliRunner()

# Two paths of three nodes that differ in one attribute, and a copy of the first.
FILES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n7, 8\n8, 7\n8, 9\n9, 8\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n3\n3\n3\n",
    "graph_labels": "1\n2\n1\n",
    "node_labels": "0\n0\n0\n" * 3,
    "node_attributes": "0.5, 1\n0, 0\n0, 0\n0, 0\n0.5, 1\n0, 0\n0, 0\n0, 0\n0.5, 1\n",
}


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "POINTS"
    folder.mkdir()
    for part, text in FILES.items():
        (folder / f"POINTS_{part}.txt").write_text(text)
    return folder


def run(*arguments):
    return runner.invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize(
    "command", [("compare", "{}#0", "{}#1"), ("hash", "{}"), ("dedup", "{}")], ids=lambda command: command[0]
)
def test_features_are_refused_in_one_line_that_names_the_option(points, command):
    arguments = [word.format(points) for word in command]
    result = run(*arguments)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "shape (3, 2)" in result.stderr
    assert "--ignore-attributes" in result.stderr
    assert "=True" not in result.stderr
    assert run(*arguments, "--ignore-attributes").exit_code == 0


def test_comparison_that_ignores_features_proves_nothing(points):
    options = ("--readout", "canonical", "--ignore-attributes")
    told = run("compare", f"{points}#0", f"{points}#1", *options)
    assert "Isomorphic when node features are ignored" in told.stdout
    found = json.loads(run("compare", f"{points}#0", f"{points}#1", *options, "--json").stdout)
    assert (found["proves_isomorphism"], found["features_ignored"]) == (False, True)


def test_dedup_says_that_features_were_ignored(points):
    assert "features were ignored" in run("dedup", points, "--ignore-attributes").stdout
    found = json.loads(run("dedup", points, "--ignore-attributes", "--json").stdout)
    assert (found["distinct"], found["features_ignored"]) == (1, True)


def test_hash_is_that_of_the_labels(points):
    data = tw.load_dataset(points)
    expected = tw.graph_hashes(data.graphs.without_features())
    lines = run("hash", points, "--ignore-attributes").stdout.splitlines()
    assert [line.split()[0] for line in lines] == expected
    assert len(set(tw.graph_hashes(data.graphs.discretise()))) == 2
