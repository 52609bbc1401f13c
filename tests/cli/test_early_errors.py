"""What is wrong with a command line is said before anything heavy is loaded."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from twinwl.cli.options import CHOICES
from twinwl.engines import ENGINES
from twinwl.models.targets import TASKS

HEAVY = ("sklearn", "torch", "numba", "rdkit", "torch_geometric", "scipy", "networkx", "igraph")
COMMAND = f"""
import contextlib, io, json, sys
from twinwl.cli.app import main

found = {{}}
for line in json.load(sys.stdin):
    sys.argv[1:], said, code = line.split(), io.StringIO(), None
    with contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as left:
            code = left.code
    found[line] = [code, said.getvalue(), [name for name in {HEAVY} if name in sys.modules]]
print(json.dumps(found))
"""

# Each wrong line, and a piece of what is said about it.
WRONG = {
    "train m.csv -o m.twinwl --target NOPE": "target: got 'NOPE'",
    "train m.csv -o m.twinwl --scoring nope": "--scoring: got 'nope'",
    "train m.csv -o m.twinwl --method nope": "method is 'nope'",
    "train m.csv -o m.twinwl --task nope": "--task: got 'nope'",
    "train m.csv -o nowhere/m.twinwl": "its folder does not exist",
    "train nothing -o m.twinwl": "no data set or file 'nothing'",
    "evaluate m.csv --method nope": "method is 'nope'",
    "evaluate TWINS --metric nope": "metrics: got 'nope'",
    "evaluate TWINS --scoring nope": "scoring: got 'nope'",
    "evaluate TWINS --task nope": "task: got 'nope'",
    "evaluate TWINS -o figures.xlsx": "must end in",
    "evaluate TWINS --protocol nope": "protocol: got 'nope'",
    "evaluate TWINS --grid nope": "grid: got 'nope'",
    "evaluate m.csv --split missing.zip": "cannot read 'missing.zip'",
    "evaluate m.csv --split nope": "split: got 'nope'",
    "evaluate m.csv --groups nope": "groups: got 'nope'",
    "evaluate m.csv --split missing.json": "cannot read 'missing.json'",
    "evaluate missing.csv": "cannot read 'missing.csv'",
    "hash --bad": "No such option",
    "hash graph6:Bw --readout nope": "--readout: got 'nope'",
    "hash m.csv missing.smi": "cannot read 'missing.smi'",
    "dedup missing.csv": "twinwl: cannot read 'missing.csv'",
    "dedup m.csv -o m.xlsx": "must end in",
    "compare graph6:Bw missing.graphml": "cannot read 'missing.graphml'",
    "features missing.sdf -o m.npz": "cannot read 'missing.sdf'",
    "predict missing.twinwl m.csv": "'missing.twinwl': there is no file",
    "predict m.twinwl m.csv --threshold 2": "--threshold",
    "predict m.twinwl m.csv --confidence 1": "--confidence",
    "predict m.twinwl m.csv --train missing.csv": "cannot read 'missing.csv'",
    "predict m.twinwl missing.csv": "cannot read 'missing.csv'",
    "explain m.twinwl missing.csv#0": "cannot read 'missing.csv'",
    "explain m.twinwl m.csv#99999": "graph 99999 is out of range: there are 2 graphs, numbered 0 to 1",
    "predict m.twinwl m.csv#2": "graph 2 is out of range",
    "datasets nothing": "no data set or file 'nothing'",
    "evaluate TWINS --splits a.zip": "--splits no longer exists; use --split",
    "evaluate TWINS --workers=2": "--workers no longer exists; use --jobs",
    "corpus head c": "corpus head no longer exists; use corpus info --rows N",
    "demo --report m.png": "must end in",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Exit code, message and heavy packages of each line, all in one fresh interpreter."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "m.csv").write_text("smiles,active\nCCO,1\nCCN,0\n")
    (folder / "m.twinwl").touch()
    command, lines = [sys.executable, "-c", COMMAND], json.dumps(list(WRONG))
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, input=lines)
    return json.loads(found.stdout)


@pytest.mark.parametrize("line", WRONG)
def test_an_error_comes_before_anything_heavy_is_loaded(line, outcomes):
    code, message, heavy = outcomes[line]
    assert WRONG[line] in " ".join(message.split())
    assert (code, heavy) == (2, [])


def test_choices_are_those_of_the_library():
    known = {
        "device": ("auto", "cpu", "cuda", "mps"),
        "engine": ENGINES,
        "split": ("stratified", "scaffold"),
        "task": ("auto", *TASKS),
    }
    assert {option: set(CHOICES[option]) for option in known} == {
        option: set(names) for option, names in known.items()
    }
