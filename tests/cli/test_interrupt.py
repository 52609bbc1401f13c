"""Ctrl-C while kernels run: noticed between two pieces of the work, whatever the number of threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A graph that would keep all processors busy for a while. The parent interrupts as soon as a piece is done.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from scipy import sparse
from twinwl import GraphBatch, STwinVectorizer, graph_hashes
from twinwl.cli.app import app, main
from twinwl.files.storage import atomic_write
from twinwl.refinement import identities

def tell(run):
    def told(*args):
        result = run(*args)
        print("ready", flush=True)
        return result
    return told

@app.command()
def big(work: str) -> None:
    ends = np.random.default_rng(0).integers(0, 100_000, (2, 600_000))
    half = sparse.csr_matrix((np.ones(600_000), ends), shape=(100_000, 100_000))
    graph = GraphBatch.from_scipy([((half + half.T) > 0).astype(float)])
    identities._pass_targets = tell(identities._pass_targets)
    with atomic_write("result.npy") as stream:
        while True:  # so that it cannot be over before the signal comes, however slow the parent is
            if work == "features":
                np.save(stream, STwinVectorizer(9).fit_transform(graph).data)
            else:
                np.save(stream, graph_hashes(graph, n_iter=9))

main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("work", "n_threads"), [("features", 1), ("features", 3), ("hash", 3)])
def test_an_interrupt_ends_kernels_soon_and_leaves_no_file(tmp_path, work, n_threads):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", COMMAND, "big", work],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"TWINWL_NUM_THREADS": str(n_threads)},
    )
    assert process.stdout.readline().startswith("ready")  # threads may write at the same time
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=300)  # it takes a second; this only tells it from never
    finally:
        process.kill()
    assert errors.splitlines()[-1] == "twinwl: interrupted"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []
