"""Every code block of the README and of the site is run, and prints what it says it prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app
from twinwl.errors import MissingExtraError
from twinwl.evaluation import methods

ROOT = Path(__file__).parent.parent
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = {"pyg.md", "get_started.md"}  # fragments; what needs a file that the commands write
GUIDES = [
    *(ROOT / "docs" / name for name in ("index.md", "get_started.md", "howto.md", "hash.md")),
    *sorted(
        page
        for folder in ("howto", "background", "benchmarks")
        for page in (ROOT / "docs" / folder).glob("*.md")
    ),
]
EXAMPLES = [
    pytest.param(page, block, id=f"{page.stem}-{place}")
    for page in [ROOT / "README.md", *GUIDES]
    if page.name not in NOT_RUN
    for place, (language, block) in enumerate(FENCED.findall(page.read_text(encoding="utf-8")))
    if language == "python"
]
# Guides whose commands are run, in this order.
COMMANDS = (
    "index",
    "get_started",
    *(f"howto/{name}" for name in ("predict", "duplicates", "search", "evaluate", "audit")),
)
_LINES = [
    line
    for page in ("README.md", *(f"docs/{name}.md" for name in COMMANDS))
    for language, block in FENCED.findall((ROOT / page).read_text(encoding="utf-8"))
    if language == "sh"
    for line in block.splitlines()
    if not line.startswith("#")
]
SHELL_LINES = [shlex.split(line, comments=True) for line in dict.fromkeys(_LINES)]
# A line `print(something)  # text` promises that it prints the text, in a loop one per turn: `# a | b`.
PROMISE = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
# What takes minutes or hours as written is run as written, on less.
SHORTER = {
    "demo": ["--pairs", "20"],
    "evaluate": ["--folds", "2"],
    "reproduce": ["--time-budget", "0"],
}
# Two different graphs, as `diff` says it; data of the paper that are not here.
EXIT_CODES = {"compare": 1, "reproduce": 1}


def test_readme_has_examples():
    assert EXAMPLES
    assert {line[0] for line in SHELL_LINES} == {"curl", "make", "pip", "twinwl"}


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_example_does_what_it_says(page, example, capsys, tmp_path, monkeypatch):
    for package in ("torch", "pandas"):
        if package in example:
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(methods, "METHODS", dict(methods.METHODS))  # examples may register their own
    try:
        exec(compile(example, page.name, "exec"), {"__name__": "page"})  # noqa: S102  (our own text)
    except MissingExtraError as error:  # on a core install; the other environments have every extra
        pytest.skip(str(error))
    promised = [text for line in PROMISE.findall(example) for text in line.split(" | ")]
    assert capsys.readouterr().out.splitlines() == promised


@pytest.mark.slow
def test_readme_commands_run_one_after_the_other(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs RDKit")
    pytest.importorskip("torch", reason="needs PyTorch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    _write_what_the_readme_supposes(tmp_path)
    for line in (line for line in SHELL_LINES if line[0] == "twinwl"):
        result = CliRunner().invoke(app, [*line[1:], *SHORTER.get(line[1], [])])
        assert result.exit_code == EXIT_CODES.get(line[1], 0), (line, result.output, result.exception)
    (page,) = (ROOT / f"docs/{name}.md" for name in COMMANDS if name == "get_started")
    (example,) = (
        block for language, block in FENCED.findall(page.read_text("utf-8")) if language == "python"
    )
    try:
        exec(compile(example, page.name, "exec"), {"__name__": "page"})  # noqa: S102  (our own text)
    except MissingExtraError as error:  # on a core install; the other environments have every extra
        pytest.skip(str(error))
    for path in ("bbbp.twinwl", "answers.csv", "why.html", "results.jsonl", "audit.html", "clean.csv"):
        assert (tmp_path / path).stat().st_size > 0
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 3


def test_readme_names_targets_and_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    for line in SHELL_LINES:
        if line[0] == "make":  # `.ci/run` really runs them
            command = ["make", "-n", line[1]]
            plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            assert {"run": "twinwl demo", "test": "pytest"}[line[1]] in plan.stdout
        elif line[0] == "pip":
            named = re.fullmatch(r"\.(?:\[([\w,]+)\])?", line[2])
            assert named is not None
            assert set((named[1] or "").split(",")) <= {"", *extras}


def _write_what_the_readme_supposes(folder):
    rings = ["C1" + "C" * n + "1" for n in range(2, 17)]  # scaffolds to split by
    acids = [ring + "CC(=O)O" for ring in rings]
    amines = [ring + "CCN(C)C" for ring in rings]
    rows = [f"{int(smiles in acids)},{smiles}" for smiles in [*acids, *amines]]
    (folder / "BBBP.csv").write_text("\n".join(["BBBP,smiles", *rows]) + "\n")
    numbers = [f"{0.5 * place},{smiles}" for place, smiles in enumerate([*acids, *amines])]
    (folder / "logs.csv").write_text("\n".join(["logS,smiles", *numbers]) + "\n")
    tasks = [
        f"{smiles},{int(smiles in acids)},{'' if place % 4 == 0 else place % 2}"
        for place, smiles in enumerate([*acids, *amines])
    ]
    (folder / "tox21.csv").write_text("\n".join(["smiles,NR-AR,SR-p53", *tasks]) + "\n")
    (folder / "new.csv").write_text("smiles\nOC(=O)CCl\nCN(C)CCO\n")
    (folder / "train.csv").write_text("\n".join(["active,smiles", *rows]) + "\n")
    (folder / "test.csv").write_text("\n".join(["active,smiles", *rows[12:20]]) + "\n")
    from rdkit import Chem  # noqa: PLC0415  (the test that needs it skips without)

    molecules = ["CCO", "OCC", "c1ccccc1"]
    (folder / "molecules.csv").write_text("\n".join(["id,smiles", *(f"{m},{m}" for m in molecules)]) + "\n")
    with Chem.SDWriter(str(folder / "molecules.sdf")) as writer:
        for smiles in molecules:
            writer.write(Chem.MolFromSmiles(smiles))
