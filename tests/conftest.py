"""Shared fixtures: real data where it is at hand, and one deterministic Hypothesis profile."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser, fonts, open_page  # noqa: F401  (fixtures)

settings.register_profile(
    "twinwl",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("twinwl")

_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items):
    """Refuse tests that have another name in each process: pytest-xdist could not hand them out."""
    changing = [item.nodeid for item in items if re.search(r" at 0x[0-9a-f]+", item.nodeid)]
    if changing:
        raise pytest.UsageError(f"give these parameters an id, theirs holds an address: {changing}")


def data_folder():
    """Return the folder with real data sets, or None."""
    folder = Path(os.environ.get("TWINWL_DATA") or _BESIDE_THE_PROJECT)
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def tu_zip():
    """Return a function from a TU name to the path of its zip; the test skips where that is not at hand."""

    def find(name):
        folder = data_folder()
        path = None if folder is None else folder / f"{name}.zip"
        if path is None or not path.is_file():
            pytest.skip(f"{name}.zip is not at hand; set TWINWL_DATA to the folder that holds it")
        return path

    return find
