from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.hashing import graph_hashes

runner = CliRunner()


def run(*arguments, **options):
    return runner.invoke(app, ["hash", *map(str, arguments)], **options)


def test_one_line_a_graph_with_hash_and_name(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("Bw\nA_\n")
    result = run(path, "graph6:Bw")
    hashes = graph_hashes(GraphBatch.from_graph6(["Bw", "A_", "Bw"]))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{hashes[0]}  {path}#0",
        f"{hashes[1]}  {path}#1",
        f"{hashes[2]}  graph6:Bw",
    ]


def test_json_lines():
    lines = [json.loads(line) for line in run("graph6:Bw", "graph6:A_", "--json").stdout.splitlines()]
    assert [line["name"] for line in lines] == ["graph6:Bw", "graph6:A_"]
    assert all(line["hash"].startswith("twl2:") for line in lines)


def test_rounds_and_readout_reach_the_hash():
    batch = GraphBatch.from_graph6(["DqK"])
    for rounds in (0, 5, "stable"):
        expected = graph_hashes(batch, n_iter=rounds, readout=["edges", "wl"])[0]
        result = run("graph6:DqK", "--n-iter", rounds, "--readout", "edges", "--readout", "wl")
        assert result.stdout == f"{expected}  graph6:DqK\n"


def test_standard_input():
    result = run("-", input="Bw\nA_\n")
    assert [line.split("  ")[1] for line in result.stdout.splitlines()] == ["stdin#0", "stdin#1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("graph6:Bw", "--n-iter", "many"), "expected an integer"),
        (("graph6:Bw", "--n-iter", "-1"), "expected an integer"),
        (("graph6:Bw", "--readout", "egdes"), "did you mean 'edges'"),
        (("nowhere.smi",), "cannot read"),
    ],
)
def test_errors_exit_with_2(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_a_broken_pipe_is_no_traceback(tmp_path):
    path = tmp_path / "many.g6"
    path.write_text("Bw\n" * 20_000)
    command = [sys.executable, "-c", "from twinwl.cli.app import main; main()", "hash", path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(timeout=60)
    assert "Traceback" not in errors
    assert "Exception" not in errors
