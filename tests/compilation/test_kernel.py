"""The decorator: what it makes, and what it says while that takes time."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from twinwl import compilation as module
from twinwl.compilation import code_folder, kernel


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code_folder.cache_clear()
    yield
    code_folder.cache_clear()


def test_options_reach_numba():
    @kernel(error_model="numpy")
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


def test_a_notice_is_logged_once_and_only_after_a_while(empty_cache, monkeypatch, caplog):  # noqa: ARG001
    monkeypatch.setattr(module, "_clock", module._Clock())
    caplog.set_level(logging.INFO, logger="twinwl")

    @kernel
    def double(x):
        return x + x

    double(1)
    assert caplog.messages == []
    monkeypatch.setattr(module, "_SECONDS_BEFORE_NOTICE", 0.0)
    double(1.0)
    double(1j)
    assert len(caplog.messages) == 1
    assert "compiling once" in caplog.messages[0]


def test_nothing_is_said_where_code_is_found(empty_cache, monkeypatch, caplog):  # noqa: ARG001
    def made():
        @kernel
        def double(x):
            return x + x

        return double

    made()(1)
    monkeypatch.setattr(module, "_SECONDS_BEFORE_NOTICE", 0.0)
    caplog.set_level(logging.INFO, logger="twinwl")
    made()(1)
    assert caplog.messages == []


def test_without_the_compiler_kernels_are_plain_functions():
    code = "from twinwl.compilation import kernel\n@kernel\ndef f(x):\n    return type(x)\nprint(f({}))"
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "<class 'dict'>\n"
