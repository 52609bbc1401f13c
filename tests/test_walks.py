"""How many modules a call passes: whoever follows it has to open that many files."""

from __future__ import annotations

import os
import sys

import pytest

import twinwl as tw

pytestmark = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="kernels are modules of Python then"
)

# Modules, and changes of module, that each walk may take.
MOST = {"train": (28, 900), "ntwin": (23, 992), "dedup": (19, 300), "compare": (11, 104)}


def walk(call):
    """Return the modules of twinwl that a second call passes, and how often it goes from one to another."""
    call()  # imports, compiles and fills caches
    passed = []

    def note(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        written = frame.f_code.co_filename != "<string>"  # else an annotation that typer evaluates
        if event == "call" and written and name.startswith("twinwl.") and passed[-1:] != [name]:
            passed.append(name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(set(passed)), len(passed)


def check(name, call):
    modules, n_changes = walk(call)
    most_modules, most_changes = MOST[name]
    assert len(modules) <= most_modules, modules
    assert n_changes <= most_changes, n_changes


def test_compare():
    g, h = tw.from_edges([[(0, 1), (1, 2)]]), tw.from_edges([[(0, 1), (0, 2), (0, 3)]])
    check("compare", lambda: tw.compare(g, h))


def test_ntwin():
    pytest.importorskip("torch", reason="needs torch")
    data = tw.load_dataset("TWINS", n_pairs=10)
    check("ntwin", lambda: tw.NTwinClassifier(max_epochs=2, random_state=0).fit(data.graphs, data.y))


def command(*arguments):
    from typer.testing import CliRunner  # noqa: PLC0415

    from twinwl.cli.app import app  # noqa: PLC0415

    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


def test_dedup(tmp_path):
    pytest.importorskip("rdkit", reason="needs rdkit")
    (tmp_path / "y.smi").write_text("CCO a\nOCC b\nCCC c\n")
    check("dedup", lambda: command("dedup", tmp_path / "y.smi"))


def test_train(tmp_path):
    pytest.importorskip("rdkit", reason="needs rdkit")
    rows = [f"{'C' * n}{end},{n % 2}" for n in range(1, 13) for end in ("O", "N")]
    (tmp_path / "m.csv").write_text("\n".join(["smiles,active", *rows]))
    arguments = ("train", tmp_path / "m.csv", "--method", "stwin-svc", "-o", tmp_path / "m.twinwl")
    check("train", lambda: command(*arguments))
