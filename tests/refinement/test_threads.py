import os

import numpy as np
import pytest

from twinwl.refinement import threads
from twinwl.refinement.threads import available_threads, balanced_ranges, run_ranges


def test_the_environment_limits_threads(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert available_threads() == 3
    monkeypatch.setenv("TWINWL_NUM_THREADS", "5")
    assert available_threads() == 5
    monkeypatch.setenv("TWINWL_NUM_THREADS", "many")
    assert available_threads() == 3


def test_ranges_cover_everything_once_and_share_the_work():
    pointer = np.concatenate([[0], np.cumsum(np.arange(1000))]) * 10
    ranges = balanced_ranges(pointer, 4)
    assert [low for low, _ in ranges] == [0, *(high for _, high in ranges[:-1])]
    assert ranges[-1][1] == 1000
    work = [pointer[high] - pointer[low] for low, high in ranges]
    assert max(work) < 1.1 * min(work)


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(low, _high):
        if low:
            raise KeyError(low)

    with pytest.raises(KeyError):
        run_ranges(fail, [(0, 1), (1, 2)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_threads_of_its_own():
    run_ranges(lambda *_: None, [(0, 1), (1, 2)])
    child = os.fork()
    if child == 0:
        run_ranges(lambda *_: None, [(0, 1), (1, 2)])
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert threads._pool.cache_info().currsize == 1
