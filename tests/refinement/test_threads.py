import os
import threading

import numpy as np
import pytest

from twinwl.refinement import colours
from twinwl.refinement.colours import available_threads, balanced_ranges, run_ranges


def test_the_environment_limits_threads(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert available_threads() == 3
    monkeypatch.setenv("TWINWL_NUM_THREADS", "5")
    assert available_threads() == 5
    monkeypatch.setenv("TWINWL_NUM_THREADS", "many")
    assert available_threads() == 3


def test_ranges_cover_everything_once_and_share_the_work(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "4")
    pointer = np.concatenate([[0], np.cumsum(np.arange(1000))]) * 10
    ranges = balanced_ranges(pointer)
    assert [low for low, _ in ranges] == [0, *(high for _, high in ranges[:-1])]
    assert ranges[-1][1] == 1000
    work = [pointer[high] - pointer[low] for low, high in ranges]
    assert max(work) < 1.1 * min(work)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "2")

    def fail(low, _high):
        if low:
            raise KeyError(low)

    with pytest.raises(KeyError):
        run_ranges(fail, [(0, 1), (1, 2)])


def test_an_error_ends_the_other_threads(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "3")
    begun = []

    def fail(low, _high):
        begun.append(low)
        raise KeyError(low)

    with pytest.raises(KeyError):
        run_ranges(fail, [(low, low + 1) for low in range(1000)])
    assert len(begun) <= 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_interrupt_ends_all_threads(monkeypatch, n_threads):
    monkeypatch.setenv("TWINWL_NUM_THREADS", str(n_threads))
    caller = threading.get_ident()
    called = threading.Event()
    begun = []

    def work(low, _high):
        begun.append(low)
        if threading.get_ident() == caller:
            called.set()
            raise KeyboardInterrupt
        called.wait(60)

    with pytest.raises(KeyboardInterrupt):
        run_ranges(work, [(low, low + 1) for low in range(1000)])
    assert len(begun) <= 2 * n_threads


def test_what_stops_half_way_is_called_again_for_the_rest():
    calls = []

    def two_at_a_time(low, high):
        calls.append((low, high))
        return min(low + 2, high)

    run_ranges(two_at_a_time, [(0, 5)])
    assert calls == [(0, 5), (2, 5), (4, 5)]


def test_much_work_goes_in_pieces_even_on_one_thread(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "1")
    monkeypatch.setattr(colours, "STEPS_PER_PIECE", 100)
    assert len(balanced_ranges(np.arange(1001))) == 10


def test_threads_do_not_start_threads_of_their_own(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "3")
    inside = []
    run_ranges(lambda *_: inside.append(available_threads()), [(0, 1), (1, 2), (2, 3)])
    assert inside == [1, 1, 1]
    assert available_threads() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_threads_of_its_own(monkeypatch):
    monkeypatch.setenv("TWINWL_NUM_THREADS", "2")
    run_ranges(lambda *_: None, [(0, 1), (1, 2)])
    child = os.fork()
    if child == 0:
        run_ranges(lambda *_: None, [(0, 1), (1, 2)])
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert colours._pool.cache_info().currsize == 1
