"""Rooted sizes of the nodes of a core: by searches or by blocks of bitsets, whichever is cheaper.

Searches walk each ball once; bitsets pass along every arc for every 512 targets. A few searches tell what all
of them would cost, and searches that turn out to cost more than bitsets would are given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.searches import representatives, search
from twinwl.refinement.target_blocks import TARGETS_PER_BLOCK, WORDS, pass_block, pass_far_block
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, Int64, UInt64

__all__ = ["sizes_of_core", "sizes_of_large_core"]

_SAMPLED_ROOTS = 64
# Rows of more nodes than these come from a far cache, where a step of a search costs less than a row.
_NEAR_NODES = 1 << 13
_NEAR_ROW_IN_STEPS, _FAR_ROW_IN_STEPS = 2, 4
# Grouping nodes by their neighbours takes about this many steps per arc.
_STEPS_TO_GROUP = 32


@kernel
def sizes_of_core(
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    anchors: Int32,
    depths: Int32,
    degrees: Int64,
    directed: bool,
    n_iter: int,
) -> Int32:
    """Return the rooted sizes of a core of some thousand nodes, where blocks of bitsets are never dear.

    Parameters
    ----------
    base, core_ptr, core_indices, anchors, depths
        As `twinwl.refinement.cores.core_of` returns them.
    degrees : array of int64, shape (n_core,)
        Degrees in the whole graph.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_core)
    """
    n_core = len(core_ptr) - 1
    core = base, core_ptr, core_indices, anchors, depths, directed, n_iter
    here = np.empty(n_core * WORDS, np.uint64)
    there = np.empty(n_core * WORDS, np.uint64)
    gains = np.zeros((n_iter + 1, n_core), np.int32)
    for first in range(0, n_core + len(anchors), TARGETS_PER_BLOCK):
        pass_block(first, *core, here, there, gains)
    _add_up(degrees, gains)
    return gains


def sizes_of_large_core(
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    anchors: Int32,
    depths: Int32,
    degrees: Int64,
    directed: bool,
    below: Int32,
    n_iter: int,
    n_threads: int | None,
) -> Int32:
    """Return the rooted sizes of a core of any size: in pieces, on threads, the cheaper way.

    Parameters
    ----------
    base, core_ptr, core_indices, anchors, depths, degrees
        As for `sizes_of_core`.
    below : array of int32, shape (n_core, n_iter + 1)
        How many nodes hang at most h below each; shape (0, n_iter + 1) where nothing hangs anywhere.
    """
    n_core = len(core_ptr) - 1
    sizes = np.zeros((n_iter + 1, n_core), np.int32)
    graph = base, core_ptr, core_indices, below, n_iter
    n_arcs = int(core_ptr[-1] - core_ptr[0])
    n_blocks = -(-(n_core + len(anchors)) // TARGETS_PER_BLOCK)
    row = _NEAR_ROW_IN_STEPS if n_core <= _NEAR_NODES else _FAR_ROW_IN_STEPS
    most_steps = row * (n_arcs + n_core) * n_blocks * (n_iter - 1)
    roots = np.arange(n_core, dtype=np.int64)
    twins = roots
    expected = _expected_steps(roots, graph, most_steps, sizes)
    if expected > _STEPS_TO_GROUP * n_arcs:
        twins = representatives(base, core_ptr, core_indices, directed=directed)
        roots = np.flatnonzero(twins == roots)
        expected = _expected_steps(roots, graph, most_steps, sizes)
    walked: list[int] = []

    def search_some(first: int, last: int) -> int | None:
        if sum(walked) > most_steps:
            return None
        done, steps = search(roots, first, last, *graph, STEPS_PER_PIECE, sizes)
        walked.append(steps)
        return done

    if expected <= most_steps:
        work = np.arange(len(roots) + 1, dtype=np.int64) * (expected // len(roots) + 1)
        run_ranges(search_some, balanced_ranges(work, n_threads), n_threads)
        if sum(walked) <= most_steps:
            return _copied_to_twins(twins, below, sizes)
    rooms: list[tuple[UInt64, UInt64, Bool, Bool, Int32]] = []
    idle: list[tuple[UInt64, UInt64, Bool, Bool, Int32]] = []

    def pass_some(block: int, _last: int) -> int:
        try:
            room = idle.pop()
        except IndexError:
            rows = np.empty((2, n_core * WORDS), np.uint64)
            changed = np.empty((2, n_core), np.bool_)
            room = (*rows, *changed, np.zeros_like(sizes))
            rooms.append(room)
        first = block * TARGETS_PER_BLOCK
        pass_far_block(first, base, core_ptr, core_indices, anchors, depths, directed, n_iter, *room)
        idle.append(room)
        return block + 1

    work = np.arange(n_blocks + 1, dtype=np.int64) * n_arcs * n_iter
    run_ranges(pass_some, balanced_ranges(work, n_threads), n_threads)
    sizes[:] = 0
    for *_, gains in rooms:
        sizes += gains
    _add_up(degrees, sizes)
    return sizes


def _expected_steps(roots: Int64, graph: tuple[Any, ...], most_steps: int, sizes: Int32) -> int:
    """Return about how many steps searches from all roots take: a few of them tell.

    It is enough to know that there would be more than ``most_steps``.
    """
    step = max(1, len(roots) // _SAMPLED_ROOTS)
    sample = roots[step // 2 :: step]  # not the first one, which is the hub of many a graph that grew
    _, steps = search(sample, 0, len(sample), *graph, most_steps // len(roots) * len(sample), sizes)
    return int(steps * (len(roots) / len(sample)))


def _copied_to_twins(twins: Int64, below: Int32, sizes: Int32) -> Int32:
    """Give nodes of equal neighbours the sizes of the one that was searched from.

    Two of them are two steps apart, and what hangs below each may differ.
    """
    sizes = sizes[:, twins]
    if len(below):
        difference = (below - below[twins]).T
        sizes += difference
        sizes[2:] -= difference[:-2]
    return sizes


@kernel
def _add_up(degrees: Int64, gains: Int32) -> None:
    """Turn what is new in each round into sizes; rounds 0 and 1 are known."""
    for node in range(len(degrees)):  # whole arrays would take ten times as long to compile
        gains[0, node], gains[1, node] = 1, degrees[node] + 1
        for h in range(2, len(gains)):
            gains[h, node] += gains[h - 1, node]
