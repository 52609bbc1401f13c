"""Spreading kernels over threads: they release the GIL, so plain threads are enough."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.arrays import Int64


__all__ = ["available_threads", "balanced_ranges", "run_ranges"]

# Below this many steps a thread costs more to wake than it saves.
_STEPS_WORTH_A_THREAD = 50_000


def available_threads() -> int:
    """Return how many threads kernels may use.

    ``TWINWL_NUM_THREADS`` decides, else ``NUMBA_NUM_THREADS`` (which joblib sets in its workers, so that
    parallel folds do not multiply threads), else the processors this process may run on.
    """
    for variable in ("TWINWL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(variable, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def balanced_ranges(pointer: Int64, n_threads: int | None) -> list[tuple[int, int]]:
    """Cut ``0..len(pointer)-1`` into consecutive ranges of about equal work, one a thread.

    Parameters
    ----------
    pointer : array of int64, shape (n + 1,)
        Work before each item, as a CSR pointer tells it.
    n_threads
        Number of ranges at most; None asks `available_threads`. Little work gives one range.

    >>> balanced_ranges(np.array([0, 1, 2]), n_threads=8)
    [(0, 2)]
    """
    n = len(pointer) - 1
    wanted = available_threads() if n_threads is None else n_threads
    work = int(pointer[-1] - pointer[0])
    parts = max(1, min(wanted, work // _STEPS_WORTH_A_THREAD))
    if parts == 1:
        return [(0, n)]
    marks = pointer[0] + np.linspace(0, work, parts + 1)[1:-1]
    cuts = np.searchsorted(pointer, marks).tolist()
    bounds = [0, *cuts, n]
    return [(low, high) for low, high in pairwise(bounds) if low < high]


def run_ranges(function: Callable[[int, int], object], ranges: list[tuple[int, int]]) -> None:
    """Call ``function(low, high)`` for each range, on threads where there is more than one."""
    if len(ranges) == 1:
        function(*ranges[0])
        return
    pool = _pool(len(ranges) - 1)
    futures = [pool.submit(function, low, high) for low, high in ranges[1:]]
    function(*ranges[0])  # the caller works too
    for future in futures:
        future.result()


@lru_cache(maxsize=1)
def _pool(n_workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_workers, thread_name_prefix="twinwl")


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
