"""Promises about the package as a whole."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import twinwl
from twinwl.errors import MissingExtraError, import_name

ROOT = Path(__file__).parent.parent
HEAVY = ["igraph", "matplotlib", "networkx", "numba", "rdkit", "scipy", "sklearn", "torch", "torch_geometric"]


def modules():
    names = [module.name for module in pkgutil.walk_packages(twinwl.__path__, "twinwl.")]
    return ["twinwl", *(name for name in names if not name.endswith("__main__"))]


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


def test_dir_lists_exactly_the_public_names():
    assert dir(twinwl) == sorted(twinwl.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = twinwl.no_such_name


def test_changelog_and_citation_know_the_version():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest[1] == cited[1] == twinwl.__version__


@pytest.mark.parametrize("name", modules())
def test_every_public_symbol_has_a_docstring(name):
    try:
        assert import_name(name, "__doc__"), f"{name} has no docstring"
        assert list(undocumented(sys.modules[name])) == []
    except MissingExtraError as error:
        pytest.skip(str(error))


def undocumented(module):
    """Classes and functions of a module, without an underscore in front, that are not explained."""
    for public, value in vars(module).items():
        if public.startswith("_") or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if value.__module__ != module.__name__:
            continue
        if not inspect.getdoc(value):
            yield public
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                explained = inspect.isroutine(member) or isinstance(
                    member, property | classmethod | staticmethod
                )
                if (
                    explained
                    and not attribute.startswith("_")
                    and not inspect.getdoc(getattr(value, attribute))
                ):
                    yield f"{public}.{attribute}"


def test_no_kernel_takes_more_than_eight_arguments():
    long = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(getattr(getattr(each, "func", each), "id", "") == "kernel" for each in node.decorator_list)
        and len(node.args.args) > 8
    ]
    assert long == []
