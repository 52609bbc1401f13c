"""Shared fixtures: real data where it is at hand, and a browser."""

import os
from pathlib import Path

import pytest

from tests.browser import browser, fonts, open_page  # noqa: F401  (fixtures)

# Variables of whoever runs the tests must not reach them: commands are started in other folders.
if data := os.environ.get("TWINWL_DATA"):
    os.environ["TWINWL_DATA"] = str(Path(data).absolute())
for variable in ("TWINWL_CACHE", "TWINWL_NUM_THREADS"):
    os.environ.pop(variable, None)

_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder():
    """Return the folder with real data sets, or None."""
    folder = Path(os.environ.get("TWINWL_DATA") or _BESIDE_THE_PROJECT)
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def tu_zip():
    """Return a function from a TU name to the path of its zip; the test skips where that was not found."""

    def find(name):
        folder = data_folder()
        path = None if folder is None else folder / f"{name}.zip"
        if path is None or not path.is_file():
            pytest.skip(f"{name}.zip was not found; set TWINWL_DATA to the folder that holds it")
        return path

    return find
