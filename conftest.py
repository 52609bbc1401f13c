"""What holds for all tests: how many examples are generated, how long a test may take, what it may need.

Where an extra is not installed, tests that need it are skipped with the reason, and all others run. A test
file says that it needs an extra by importing a package of it. That a module of twinwl does so is an
excuse for the examples in its own docstrings, and for nothing else: the rest has to work on a core install.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

# Before anything loads the libraries that read it: threads of BLAS and torch wait for each other by spinning.
# Where other processes need the processors, tests with small matrices take up to ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from numba.core import event

from twinwl.errors import _EXTRA_OF

if TYPE_CHECKING:
    from collections.abc import Generator

_TESTS = Path(__file__).parent / "tests"
_MARKERS = {"slow", "exhaustive", "ray", "browser"}

settings.register_profile(
    "twinwl",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("few", settings.get_profile("twinwl"), max_examples=10)
settings.load_profile("twinwl")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that CI uses."""
    parser.addoption(
        "--longest", type=float, help="seconds of processor time that a test without a marker may take"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure tests where that is asked for."""
    if config.getoption("--longest") is not None:
        config.pluginmanager.register(_Stopwatch(config.getoption("--longest")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of pages, generate few examples where few are asked for, and refuse unstable names."""
    # pytest-xdist could not hand out a test that has another name in each process.
    changing = [item.nodeid for item in items if re.search(r" at 0x[0-9a-f]+", item.nodeid)]
    if changing:
        raise pytest.UsageError(f"give these parameters an id, theirs holds an address: {changing}")
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    if config.getoption("--hypothesis-profile", None) == "few":
        few = settings.get_profile("few").max_examples
        generated = [item.obj for item in items if getattr(item, "obj", None) is not None]
        for test in (test for test in generated if getattr(test, "is_hypothesis_test", False)):
            # A test may ask for more than the profile; there is no public way to ask for less.
            own = test._hypothesis_internal_use_settings  # noqa: SLF001
            least = min(few, own.max_examples)
            test._hypothesis_internal_use_settings = settings(own, max_examples=least)  # noqa: SLF001


class _Stopwatch(event.Listener):
    """Fails tests without a marker that take long; compiling kernels and large imports do not count."""

    def __init__(self, longest: float) -> None:
        self.longest, self.compiling, self.depth, self.since = longest, 0.0, 0, 0.0
        event.register("numba:compile", self)
        for package in ("torch", "torch_geometric", "rdkit.Chem", "sklearn.svm", "pandas"):
            with contextlib.suppress(ImportError):
                importlib.import_module(package)

    def on_start(self, _: event.Event) -> None:
        """Note when compiling begins."""
        self.depth += 1
        if self.depth == 1:
            self.since = time.process_time()

    def on_end(self, _: event.Event) -> None:
        """Add up how long it took."""
        self.depth -= 1
        if self.depth == 0:
            self.compiling += time.process_time() - self.since

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Measure a test."""
        began = self._seconds()
        yield
        seconds = self._seconds() - began
        if seconds > self.longest and not _MARKERS & {mark.name for mark in item.iter_markers()}:
            pytest.fail(
                f"took {seconds:.1f} s of processor time; make it quick, or mark it (CONTRIBUTING.md)"
            )

    def _seconds(self) -> float:
        # Of this process alone: a command that it starts may compile, which nothing here could subtract.
        return time.process_time() - self.compiling


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
