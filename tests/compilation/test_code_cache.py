"""Machine code on disk: found again, shared between processes, and never in the way."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import twinwl
from twinwl import compilation as code_cache
from twinwl.compilation import code_folder, kernel

KERNELS = """
import sys
import numpy as np
from twinwl.compilation import kernel

@kernel
def triple(numbers):
    total = 0
    for number in numbers:
        total += tripled(number)
    return total

@kernel
def tripled(number):
    return 3 * number

results = triple(np.arange(4)), triple(np.arange(4.0))
compiled = sum(sum(k.stats.cache_misses.values()) for k in (triple, tripled))
print(*map(float, results), compiled)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty cache folder, the one in use."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    code_folder.cache_clear()
    yield tmp_path / "cache" / "twinwl"
    code_folder.cache_clear()


def fresh_square():
    """Return a kernel that has compiled nothing yet."""

    @kernel
    def square(x):
        return x * x

    return square


def misses(compiled):
    return sum(compiled.stats.cache_misses.values())


def test_a_kernel_is_compiled_once_for_each_type(folder):
    first, second = fresh_square(), fresh_square()
    assert (first(3), first(1.5), first(4)) == (9, 2.25, 16)
    assert (second(3), second(1.5)) == (9, 2.25)
    assert (misses(first), misses(second)) == (2, 0)
    assert len(list(folder.glob("*.nbc"))) == 2


def test_a_damaged_file_is_compiled_again(folder):
    fresh_square()(3)
    (file,) = folder.glob("*.nbc")
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[:40] + b"\0" + whole[41:]):
        file.write_bytes(damaged)
        again = fresh_square()
        assert (again(3), misses(again)) == (9, 1)
        assert file.read_bytes()[16:] != b""
        assert misses_after_reading() == 0


def misses_after_reading():
    last = fresh_square()
    assert last(3) == 9
    return misses(last)


def test_only_the_newest_files_of_a_kernel_are_kept(folder, monkeypatch):
    monkeypatch.setattr(code_cache, "_FILES_OF_ONE_KERNEL", 2)
    square = fresh_square()
    for x in (1, 1.0, 1j, np.float32(1)):
        square(x)
    assert len(list(folder.glob("*.nbc"))) == 2


def test_named_tuples_count_with_the_order_of_their_fields(folder):
    def made():
        @kernel
        def low(pair):
            return pair.low

        return low

    for fields, low in ((["low", "high"], 1), (["high", "low"], 2)):
        pair = NamedTuple("Pair", [(field, int) for field in fields])
        assert made()(pair(1, 2)) == low
    assert len(list(folder.glob("*.nbc"))) == 2


def test_named_tuples_count_with_the_place_of_their_class(folder):
    """Code that was compiled for a class cannot be loaded once that class has moved."""

    def made():
        @kernel
        def low(pair):
            return pair[0]

        return low

    for name in ("Pair", "Moved"):
        assert made()(NamedTuple(name, [("low", int)])(1)) == 1
    assert len(list(folder.glob("*.nbc"))) == 2


def test_a_full_or_vanished_folder_costs_only_time(folder):
    square = fresh_square()
    assert square(3) == 9
    shutil.rmtree(folder)
    folder.write_text("no longer a folder")
    assert square(1.5) == 2.25


def test_without_any_folder_kernels_still_run(tmp_path):
    nowhere = _file(tmp_path) / "below a file"
    places = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), str(nowhere))
    code = (
        f"import tempfile; tempfile.tempdir = {str(nowhere)!r}\n"
        + KERNELS
        + "print(triple._cache.cache_path)"
    )
    assert _output(tmp_path, code, places) == "18.0 18.0 4\nNone\n"


def test_the_next_folder_that_can_be_written_to_is_taken(tmp_path, monkeypatch):
    nowhere, temporary = _file(tmp_path) / "below a file", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(nowhere))
    found = []
    for name in (None, "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        if name:
            monkeypatch.setenv(name, str(tmp_path / name))
        code_folder.cache_clear()
        found.append(code_folder())
    code_folder.cache_clear()
    assert found[0].parent == temporary
    assert found[1:] == [tmp_path / "XDG_CACHE_HOME/twinwl/kernels", tmp_path / "NUMBA_CACHE_DIR/twinwl"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has a temporary folder for each user")
def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path, monkeypatch):
    nowhere = _file(tmp_path) / "below a file"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(nowhere))
    code_folder.cache_clear()
    mine = code_folder()
    mine.chmod(0o777)
    code_folder.cache_clear()
    assert code_folder() is None
    shutil.rmtree(mine)
    mine.symlink_to(tempfile.mkdtemp(dir=tmp_path))
    code_folder.cache_clear()
    assert code_folder() is None
    code_folder.cache_clear()


@pytest.mark.slow
def test_processes_that_start_together_compile_each_kernel_once(tmp_path):
    outputs = _outputs(3, tmp_path, KERNELS, {"NUMBA_CACHE_DIR": str(tmp_path / "cache")})
    assert {line.rpartition(" ")[0] for line in outputs} == {"18.0 18.0"}
    assert sum(int(line.split()[-1]) for line in outputs) == 4


def test_a_process_that_hangs_does_not_hold_up_the_others(tmp_path):
    pytest.importorskip("fcntl")
    code = "from twinwl import compilation\ncompilation._PATIENCE_IN_SECONDS = 0.1\n"
    hanging = (
        "import fcntl, os, sys, time\nos.makedirs(sys.argv[1], exist_ok=True)\n"
        "files = [open(f'{sys.argv[1]}/lock-{digit:x}', 'wb') for digit in range(16)]\n"
        "for file in files: fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hanging, str(tmp_path / "cache/twinwl")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        other.stdout.readline()
        places = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        assert _output(tmp_path, code + KERNELS, places) == "18.0 18.0 4\n"


@pytest.mark.slow
def test_a_read_only_installation_without_a_home_works(tmp_path):
    package = tmp_path / "site" / "twinwl"
    shutil.copytree(Path(twinwl.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(path for path in package.rglob("*") if path.is_file())
    for path in (package, *package.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (tmp_path / "temporary").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    nowhere = str(_file(tmp_path) / "below a file")
    environment |= {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "TMPDIR": str(tmp_path / "temporary")}
    environment |= {"PYTHONPATH": str(tmp_path / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    code = "import twinwl; assert 'site' in twinwl.__file__\nfrom twinwl.graphs import assembly\n" + KERNELS
    outputs = [_run(code, environment) for _ in range(2)]
    for path in (package, *package.rglob("*")):
        path.chmod(0o755)
    assert outputs == ["18.0 18.0 4\n", "18.0 18.0 0\n"]
    assert sorted(path for path in package.rglob("*") if path.is_file()) == before


def _file(folder):
    (folder / "file").write_text("")
    return folder / "file"


def _output(folder, code, places):
    return _outputs(1, folder, code, places)[0]


def _outputs(n, folder, code, places):
    """Run a script in several processes at once; return what each printed."""
    (folder / "script.py").write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | places
    processes = [
        subprocess.Popen(
            [sys.executable, str(folder / "script.py")], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(n)
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * n
    return outputs


def _run(code, environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
