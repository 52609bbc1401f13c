"""Tests where an extra is not installed: those that need it are skipped with the reason, all others run.

A test file says that it needs an extra by importing a package of it. That a module of twinwl does so is an
excuse for the examples in its own docstrings, and for nothing else: the rest has to work on a core install.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from twinwl.errors import _EXTRA_OF

if TYPE_CHECKING:
    from collections.abc import Generator

_TESTS = Path(__file__).parent / "tests"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a file that imports what is not installed."""
    report = yield
    if isinstance(collector, pytest.File) and report.outcome != "passed":
        _forget(collector.path)
        package = _missing_package(report.call.excinfo.value, by_a_test=_TESTS in collector.path.parents)  # type: ignore[attr-defined]
        if report.outcome == "failed" and package is not None:
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 1, f"Skipped: needs {package}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Skip an example in a docstring that shows what an extra is for."""
    try:
        yield
    except doctest.UnexpectedException as failure:
        package = _missing_package(failure.exc_info[1])
        if package is None:
            raise
        pytest.skip(f"needs {package}")


def _missing_package(error: BaseException | None, *, by_a_test: bool = False) -> str | None:
    """Return the package of an extra that could not be imported; `by_a_test`: by a line of a test file."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__  # pytest and MissingExtraError both keep what Python said
    package = ((error and error.name) or "").partition(".")[0]
    if package not in _EXTRA_OF:
        return None
    if by_a_test:
        place = error and error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        if place is None or _TESTS not in Path(place.tb_frame.f_code.co_filename).parents:
            return None
    return package


def _forget(path: Path) -> None:
    """Drop a module that was imported by half, or the next file to import it would see that half."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]
