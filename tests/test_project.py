"""Promises about the package as a whole."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import twinwl
from twinwl.errors import MissingExtraError

ROOT = Path(__file__).parent.parent
HEAVY = ["igraph", "matplotlib", "networkx", "numba", "rdkit", "scipy", "sklearn", "torch", "torch_geometric"]


def test_importing_the_package_loads_nothing_heavy():
    script = f"import sys, twinwl; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", twinwl.__all__)
def test_public_name_is_there(name):
    try:
        assert getattr(twinwl, name) is not None
    except MissingExtraError as error:  # which names may do so: tests/test_core_install.py
        pytest.skip(str(error))


def test_dir_lists_exactly_the_public_names_and_modules():
    assert dir(twinwl) == sorted([*twinwl.__all__, "nn", "pyg", "research", "results"])


def test_public_modules_need_no_import_of_their_own():
    script = "import twinwl; print(twinwl.results.Audit.__name__, twinwl.research.power.__name__)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "Audit power\n"


@pytest.mark.parametrize(("name", "module"), twinwl._MOVED.items())
def test_a_name_that_moved_still_works_and_tells_the_new_place(name, module):
    if module == "nn":
        pytest.importorskip("torch")
    with pytest.warns(FutureWarning, match=rf"twinwl\.{name} is now twinwl\.{module}\.{name};"):
        old = getattr(twinwl, name)
    assert old is getattr(getattr(twinwl, module), name)
    assert name not in twinwl.__all__


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = twinwl.no_such_name


def test_changelog_and_citation_know_the_version():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest[1] == cited[1] == twinwl.__version__


def test_no_kernel_takes_more_than_ten_arguments():
    long = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(getattr(getattr(each, "func", each), "id", "") == "kernel" for each in node.decorator_list)
        and len(node.args.args) > 10
    ]
    assert long == []
