"""Every kernel is also plain Python: with the compiler switched off, all of them run and say the same."""

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


@pytest.mark.slow
def test_kernels_give_the_same_without_the_compiler():
    for extra in ("torch", "torch_geometric"):
        pytest.importorskip(extra)
    plain = run(NUMBA_DISABLE_JIT="1")
    assert plain["missed"] == []
    assert plain["found"] == run()["found"]
