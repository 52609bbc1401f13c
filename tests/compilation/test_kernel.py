"""Kernels: compiled once for a machine, again where anything they use has changed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest

import twinwl
from twinwl import compilation
from twinwl.compilation import Kernel, kernel
from twinwl.refinement import colours

CALLEE = (
    "from twinwl.compilation import kernel\nSTEP = {step}\n@kernel\ndef inner(x):\n    return x + {more}\n"
)
CALLER = """
import numpy as np
from twinwl.compilation import kernel
from twinwl.callee import STEP, inner
from twinwl.unrelated import WORD

@kernel
def outer(numbers, place):
    return inner(numbers[place]) * STEP
"""
SCRIPT = """
import numba
import numpy as np
from twinwl.caller import inner, outer
print(outer(np.arange(4), 1))
print(sum(sum(each.stats.cache_misses.values()) for each in (inner, outer)))
"""


@pytest.fixture
def site(tmp_path):
    """Return a folder with a small package called twinwl that has kernels in two files."""
    package = tmp_path / "twinwl"
    package.mkdir()
    for name in ("compilation", "arguments", "arrays", "errors"):
        shutil.copy(Path(twinwl.__file__).parent / f"{name}.py", package)
    (package / "__init__.py").write_text("__version__ = '1'")
    (package / "caller.py").write_text(CALLER)
    (package / "unrelated.py").write_text("WORD = 1")
    write_callee(tmp_path)
    return tmp_path


def write_callee(site, step=2, more=1):
    (site / "twinwl/callee.py").write_text(CALLEE.format(step=step, more=more))


def start(site, script=SCRIPT, **places):
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file changed twice within a second must be read again
        "NUMBA_CACHE_DIR": str(site / "cache"),
    }
    command = [sys.executable, "-c", script]
    return subprocess.Popen(command, env=environment | places, stdout=subprocess.PIPE, text=True)


def run(site, script=SCRIPT, **places):
    """Return what a fresh process prints."""
    with start(site, script, **places) as process:
        printed = process.communicate()[0].split("\n")
    assert process.returncode == 0
    return printed[:-1]


def test_code_is_found_again_until_something_it_uses_changes(site):
    assert run(site) == ["4", "2"]
    (site / "twinwl/unrelated.py").write_text("WORD = 2")
    assert run(site) == ["4", "0"]
    write_callee(site, step=3)
    assert run(site) == ["6", "2"]
    write_callee(site, more=5)
    assert run(site) == ["12", "2"]


def test_code_that_checks_bounds_is_other_code(monkeypatch):
    paths = set()
    for checked in (None, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checked)
        paths.add(Kernel(colours.balanced_ranges, {}).compiled.stats.cache_path)
    assert len(paths) == 2


def test_processes_that_start_together_do_not_disturb_one_another(site):
    processes = [start(site) for _ in range(2)]
    assert [process.communicate()[0].split("\n")[0] for process in processes] == ["4"] * 2


def test_the_next_folder_that_can_be_written_to_is_taken(tmp_path, monkeypatch):
    choose = compilation._base_folder.__wrapped__
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for name in ("NUMBA_CACHE_DIR", "TWINWL_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file" / "below"))
    assert choose().parent == tmp_path / "temporary"
    assert choose() == choose()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert choose() == tmp_path / "own/twinwl/kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    assert choose() == tmp_path / "chosen/twinwl"


def test_options_reach_numba():
    @kernel(error_model="numpy")
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


def test_without_the_compiler_kernels_are_plain_functions(site):
    code = "from twinwl.compilation import kernel\n@kernel\ndef f(x):\n    return type(x)\nprint(f({}))"
    assert run(site, code, NUMBA_DISABLE_JIT="1") == ["<class 'dict'>"]


@pytest.mark.parametrize(
    ("edges", "compiles"), [("[(0, 1), (1, 2), (2, 0)]", False), ("[(i, i + 1) for i in range(600)]", True)]
)
def test_numba_is_loaded_only_for_arrays_that_are_not_small(edges, compiles):
    code = f"import sys, twinwl as tw\ntw.graph_hash(tw.from_edges([{edges}]))\nprint('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == f"{compiles}\n"


def test_plain_kernels_give_the_hashes_of_compiled_ones():
    code = "import sys, twinwl as tw\nprint(tw.graph_hash(tw.from_edges([[(0, 1), (1, 2), (2, 0)]])))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == f"{twinwl.graph_hash(twinwl.from_edges([[(0, 1), (1, 2), (2, 0)]]))}\n"


def test_kernels_are_compiled_once_plain_python_has_taken_long(site):
    code = """
import sys, time
import numpy as np
from twinwl.compilation import kernel
@kernel
def slow(numbers):
    time.sleep(0.3)
    return len(numbers)
for _ in range(2):
    slow(np.arange(3))
@kernel
def total(numbers):
    return numbers.sum()
before = "numba" in sys.modules
print(before, total(np.arange(3)), "numba" in sys.modules)
"""
    assert run(site, code) == ["False 3 True"]


def test_arguments_may_go_by_name():
    @kernel
    def difference(first, second):
        return first - second

    assert difference(1, second=2) == difference(second=2, first=1) == -1
