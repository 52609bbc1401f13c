"""A core install, without torch, PyG, RDKit, GraKeL, gensim and pyarrow, does all but what needs those.

Where extras are installed, they are hidden from a fresh interpreter; `make test-core` really leaves them out.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import twinwl
from twinwl.cli.app import app
from twinwl.errors import _EXTRA_OF
from twinwl.evaluation.methods import METHODS

ROOT = Path(__file__).parent.parent
HIDING = f"""
import importlib.abc, json, sys

class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(_EXTRA_OF)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hide())

def missing(action):
    from twinwl.errors import MissingExtraError
    try:
        action()
    except MissingExtraError as error:
        return str(error)
"""

NEURAL_NAMES = {
    "NTwinClassifier",
    "NTwinRegressor",
    "STwinClassifier",
    "STwinRegressor",
}
# Where extras are hidden rather than missing, these repeat what `make test-core` does.
repeated = pytest.mark.exhaustive if importlib.util.find_spec("torch") else lambda test: test
CORE_METHODS = {
    "stwin-svc",
    "stwin-svc-rounds",
    "stwin-svc-pairs",
    "twin-forest",
    "wl-svc",
    "wl-kernel",
    "wl-oa",
    "sp-kernel",
}

# Each subcommand at work without any extra, in an order in which files are there when they are needed.
WORKING = [
    "demo --example",
    "demo --pairs 20",
    "compare graph6:Bw graph6:Bg --html pair.html",
    "hash graph6:Bw",
    "dedup path.edges",
    "audit TWINS:n_pairs=5 TWINS:n_pairs=20 --html audit.html",
    "power size --suite cfi --copies 1 --html power.html",
    "ceiling TWINS:n_pairs=5",
    "datasets",
    "datasets TWINS",
    "methods stwin-svc",
    "search graph6:Bw TWINS:n_pairs=5 -k 2",
    "evaluate TWINS:n_pairs=20 --method stwin-svc --method wl-svc --folds 2",
    "features TWINS:n_pairs=20 -o features.npz",
    "train TWINS:n_pairs=20 -o model.twinwl",
    "predict model.twinwl TWINS:n_pairs=20 -o answers.csv",
    "explain model.twinwl TWINS:n_pairs=20#3 --html why.html --png why.png",
]
NEEDING = {
    "hash smiles:CCO": "chem",
    "evaluate TWINS --method stwin": "neural",
    "evaluate TWINS --method gin": "baselines",
    "evaluate TWINS:n_pairs=20 --method dgk": "baselines",
    "features TWINS:n_pairs=20 -o features.parquet": "parquet",
    "corpus build path.g6 -o corpus": "parquet",
    "train TWINS:n_pairs=20 -o network.twinwl --method stwin": "neural",
    "train molecules.csv -o molecules.twinwl --method stwin-svc": "chem",
}


def on_core(script, folder):
    """Run a script where no extra can be imported; what it leaves in ``answer`` comes back."""
    text = HIDING + textwrap.dedent(script) + "\nprint(json.dumps(answer))"
    result = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def _core_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in project["dependencies"]}


def test_the_table_of_extras_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    del extras["dev"], extras["docs"], extras["test"]
    brought = {
        (re.match(r"[\w-]+", line)[0].replace("-", "_"), extra) for extra in extras for line in extras[extra]
    }
    assert {pair for pair in brought if pair[0] != "twinwl"} == _EXTRA_OF.items() - {("pandas", None)}


def test_what_is_imported_is_what_is_declared():
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
    for_type_checkers = {"typing_extensions"}
    outside = imported - sys.stdlib_module_names - {"twinwl"} - for_type_checkers - _EXTRA_OF.keys()
    assert {{"sklearn": "scikit_learn"}.get(name, name) for name in outside} == _core_packages()


def test_the_lowest_versions_are_those_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = dict(re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join(requirements), re.MULTILINE))
    text = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text, re.MULTILINE))
    assert tested.pop("torch") in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    packages = (_core_packages() | _EXTRA_OF.keys()) - {"torch"}
    assert tested.keys() == {name.replace("_", "-") for name in packages}
    for name, version in tested.items():
        assert version in {declared[name] + rest for rest in ("", ".0", ".0.0")}


@repeated
def test_public_names_are_there_or_say_which_command_is_missing(tmp_path):
    script = """
        import twinwl
        answer = {name: missing(lambda name=name: getattr(twinwl, name)) for name in twinwl.__all__}
    """
    said = {name: message for name, message in on_core(script, tmp_path).items() if message}
    assert said.keys() == NEURAL_NAMES
    assert all("pip install 'twinwl[neural]'" in message for message in said.values())


@repeated
def test_modules_that_need_an_extra_are_those_of_the_neural_layers(tmp_path):
    script = """
        import pkgutil, twinwl
        from twinwl.errors import import_name
        names = [module.name for module in pkgutil.walk_packages(twinwl.__path__, "twinwl.")]
        answer = [name for name in names if missing(lambda name=name: import_name(name, "__doc__"))]
    """
    neural = re.compile(r"twinwl\.(neural|nn|pyg|baselines)\b")
    assert [name for name in on_core(script, tmp_path) if not neural.match(name)] == []


@repeated
def test_methods_are_evaluated_or_say_which_command_is_missing(tmp_path):
    script = """
        import twinwl
        from twinwl.evaluation.methods import METHODS
        data = twinwl.load_dataset("TWINS", n_pairs=20)
        answer = {
            name: missing(lambda name=name: twinwl.evaluate(name, data, n_folds=2).mean) for name in METHODS
        }
    """
    said = on_core(script, tmp_path)
    assert {name for name, message in said.items() if message is None} == CORE_METHODS
    for name in METHODS.keys() - CORE_METHODS:
        extra = "baselines" if METHODS[name].home.startswith("twinwl.baselines") else "neural"
        assert f"pip install 'twinwl[{extra}]'" in said[name]


@repeated
def test_subcommands_work_or_say_which_command_is_missing(tmp_path):
    (tmp_path / "path.edges").write_text("a b\nb c\n")
    (tmp_path / "molecules.csv").write_text("smiles,active\nCCO,1\nCCN,0\n")
    script = f"""
        from typer.testing import CliRunner
        from twinwl.cli.app import app

        def run(line):
            result = CliRunner().invoke(app, line.split())
            return result.exit_code, result.output, repr(result.exception)

        answer = {{line: run(line) for line in {[*WORKING, *NEEDING]}}}
    """
    answers = on_core(script, tmp_path)
    for line in WORKING:
        code, output, error = answers[line]
        assert code == (1 if line.startswith("compare") else 0), (line, output, error)  # 1: they differ
    for line, extra in NEEDING.items():
        code, output, error = answers[line]
        assert code == 2, (line, output, error)
        assert output.startswith("twinwl: this needs the package"), (line, output)  # and nothing before it
        assert f"pip install 'twinwl[{extra}]'" in " ".join(output.split())


@pytest.mark.parametrize(
    "command", [command.name or command.callback.__name__ for command in app.registered_commands]
)
def test_every_subcommand_is_tried_above(command):
    # The reproduction is in the repository only.
    assert command == "reproduce" or any(line.split()[0] == command for line in WORKING)


@repeated
def test_networks_say_what_they_need_when_a_file_holds_one(tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch to write the file")
    data = twinwl.load_dataset("TWINS", n_pairs=20)
    twinwl.save(twinwl.STwinClassifier(max_epochs=1).fit(data.graphs, data.y), tmp_path / "model.twinwl")
    said = on_core("import twinwl\nanswer = missing(lambda: twinwl.load('model.twinwl'))", tmp_path)
    assert "pip install 'twinwl[neural]'" in said
