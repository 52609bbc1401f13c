"""Kernels on several threads, in pieces: kernels release the GIL, so plain threads are enough.

A signal such as Ctrl-C is only noticed between two calls of a kernel. So work is cut into pieces of a
fraction of a second, and an interrupt or an error in one thread stops the others after their current piece.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise

import numpy as np

from twinwl.arrays import Int64

# Below this many steps waking a thread costs more than it saves.
_STEPS_WORTH_A_THREAD = 50_000
# A step takes from under one to some thirty nanoseconds, so a piece takes half a second at most.
STEPS_PER_PIECE = 1 << 24


class _Thread(threading.local):
    """Whether a thread shares its work with others."""

    shares = False


_THREAD = _Thread()


def available_threads() -> int:
    """Return how many threads kernels may use.

    One within work that is already shared among threads. Otherwise ``TWINWL_NUM_THREADS`` if it is set, else
    ``NUMBA_NUM_THREADS`` (which joblib sets in its workers, so that parallel folds do not multiply threads),
    else the number of processors that this process may run on.
    """
    if _THREAD.shares:
        return 1
    for variable in ("TWINWL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(variable, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def balanced_ranges(pointer: Int64, n_threads: int | None) -> list[tuple[int, int]]:
    """Cut ``0..len(pointer)-1`` into consecutive ranges of about equal work, none of them too long.

    Parameters
    ----------
    pointer : array of int64, shape (n + 1,)
        Work before each item, as in a CSR pointer.
    n_threads
        Smallest number of ranges; None means `available_threads`. Little work gives one range, and much work
        more of them.

    >>> balanced_ranges(np.array([0, 1, 2]), n_threads=8)
    [(0, 2)]
    """
    n = len(pointer) - 1
    wanted = available_threads() if n_threads is None else n_threads
    work = int(pointer[-1] - pointer[0])
    parts = max(1, min(wanted, work // _STEPS_WORTH_A_THREAD), -(-work // STEPS_PER_PIECE))
    if parts == 1:
        return [(0, n)]
    marks = pointer[0] + np.linspace(0, work, parts + 1)[1:-1]
    cuts = np.searchsorted(pointer, marks).tolist()
    bounds = [0, *cuts, n]
    return [(low, high) for low, high in pairwise(bounds) if low < high]


def run_ranges(
    function: Callable[[int, int], int | None], ranges: list[tuple[int, int]], n_threads: int | None = None
) -> None:
    """Call ``function(low, high)`` for each range, on threads where there is more than one.

    Parameters
    ----------
    function
        It returns where it stopped, and is called again for the rest of the range. None means that the range
        is finished.
    ranges
        As returned by `balanced_ranges`. Each goes to the first thread that is free.
    n_threads
        Maximum number of threads; None means `available_threads`.
    """
    n_workers = min(len(ranges), available_threads() if n_threads is None or _THREAD.shares else n_threads)
    todo, stop = iter(ranges), threading.Event()

    def work() -> None:
        before, _THREAD.shares = _THREAD.shares, _THREAD.shares or n_workers > 1
        try:
            for low, high in todo:  # each range goes to one thread, for `next` holds the GIL
                reached: int | None = low
                while reached is not None and reached < high:
                    if stop.is_set():
                        return
                    reached = function(reached, high)
        except BaseException:
            stop.set()
            raise
        finally:
            _THREAD.shares = before

    futures = [_pool(n_workers - 1).submit(work) for _ in range(n_workers - 1)]
    try:
        work()  # the caller works too
    finally:
        wait(futures)
    for future in futures:
        future.result()


@lru_cache(maxsize=1)
def _pool(n_workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_workers, thread_name_prefix="twinwl")


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
