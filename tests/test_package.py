"""What would be uploaded: it builds, its metadata is in order, and it runs where nothing else of ours is."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import twinwl as tw

pytest.importorskip("build")
pytest.importorskip("twine")
pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Return the folder with the source archive and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


def test_metadata_is_in_order(dist):
    assert "FAILED" not in run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir())


def test_the_wheel_has_every_file_of_the_package(dist):
    (wheel,) = dist.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("twinwl/")}
    folder = ROOT / "src"
    expected = {
        path.relative_to(folder).as_posix()
        for path in (folder / "twinwl").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == expected


def test_the_source_archive_has_the_tests_and_no_results_of_others(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    assert {"README.md", "LICENSE", "tests/naive.py", "docs/hash.md"} <= set(names)
    assert not [name for name in names if name.startswith((".venv", "results/", ".git/"))]


def test_the_wheel_runs_in_an_empty_environment(dist, tmp_path):
    (wheel,) = dist.glob("*.whl")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    zipfile.ZipFile(wheel).extractall(packages)  # noqa: S202  (it was built here)
    # The packages it depends on come from here; a path in a .pth file brings no other .pth file along.
    (packages / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    where = {"cwd": tmp_path, "env": environment}
    assert str(packages) in run(python, "-c", "import twinwl; print(twinwl.__file__)", **where)
    assert run(python, "-m", "twinwl", "--version", **where).split()[-1] == tw.__version__
    assert run(python, "-m", "twinwl", "hash", "graph6:Bw", **where).startswith("twl2:")
    run(python, "-m", "twinwl", "compare", "graph6:Bw", "graph6:Bw", "--html", "page.html", **where)
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")
