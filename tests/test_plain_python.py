"""Every kernel gives the same compiled, with all indices checked, and as plain Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "every_kernel.py"


def run(**variables):
    environment = {**os.environ, "TWINWL_NUM_THREADS": "1", **variables}
    done = subprocess.run(
        [sys.executable, SCRIPT], env=environment, capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled():
    """Return what the compiled kernels give."""
    for extra in ("torch", "torch_geometric"):
        pytest.importorskip(extra)
    return run()["found"]


@pytest.mark.slow
def test_kernels_give_the_same_without_the_compiler(compiled):
    plain = run(NUMBA_DISABLE_JIT="1")
    assert plain["missed"] == []
    assert plain["found"] == compiled


@pytest.mark.slow
def test_kernels_stay_inside_their_arrays(compiled):
    assert run(NUMBA_BOUNDSCHECK="1")["found"] == compiled
