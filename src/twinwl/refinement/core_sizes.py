"""Rooted sizes of the nodes of a core: by searches or by blocks of bitsets, whichever is cheaper.

Searches visit each ball once; bitsets pass along every arc for every 512 targets. A few searches give an
estimate of the cost of all, and searches that turn out to cost more than bitsets are abandoned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.searches import representatives, search
from twinwl.refinement.target_blocks import TARGETS_PER_BLOCK, WORDS, Room, pass_block, pass_far_block
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64
    from twinwl.refinement.cores import Core
    from twinwl.refinement.graph_arrays import Graph

_SAMPLED_ROOTS = 64
# Rows of more nodes than this do not fit into the near cache, where a step of a search is cheaper than a row.
_NEAR_NODES = 1 << 13
_NEAR_ROW_IN_STEPS, _FAR_ROW_IN_STEPS = 2, 4
# Grouping nodes by their neighbours takes about this many steps per arc.
_STEPS_TO_GROUP = 32


@kernel
def sizes_of_core(core: Core, n_iter: int, column: int, out: Int32) -> None:
    """Write the rooted sizes of a core of up to some thousand nodes, where blocks of bitsets are cheap.

    Nodes that hang directly on a node of the core are not counted.

    Parameters
    ----------
    column, out : array of int32, shape (n_iter + 1, at least column + n_core)
        First column of the core, and the array that is filled.
    """
    indptr = core.graph.indptr
    n_core = len(indptr) - 1
    here = np.empty(n_core * WORDS, np.uint64)
    there = np.empty(n_core * WORDS, np.uint64)
    for h in range(n_iter + 1):  # whole arrays would take ten times as long to compile
        for node in range(column, column + n_core):
            out[h, node] = 0
    for first in range(0, n_core + len(core.anchors), TARGETS_PER_BLOCK):
        pass_block(first, core, n_iter, here, there, column, out)
    # Blocks give the gains of each round; rounds 0 and 1 are known.
    for node in range(n_core):
        out[0, column + node] = 1
        out[1, column + node] = indptr[node + 1] - indptr[node] + 1
    for h in range(2, n_iter + 1):
        for node in range(column, column + n_core):
            out[h, node] += out[h - 1, node]


def sizes_of_large_core(core: Core, below: Int32, n_iter: int, n_threads: int | None) -> Int32:
    """Return the rooted sizes of a core of any size: in pieces, on threads, by the cheaper method.

    Parameters
    ----------
    below : array of int32, shape (n_core, n_iter + 1)
        Number of nodes that hang at most h below each; shape (0, n_iter + 1) if there are none.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_core)
    """
    indptr = core.graph.indptr
    n_core = len(indptr) - 1
    sizes = np.zeros((n_iter + 1, n_core), np.int32)
    n_arcs = int(indptr[-1] - indptr[0])
    n_blocks = -(-(n_core + len(core.anchors)) // TARGETS_PER_BLOCK)
    row = _NEAR_ROW_IN_STEPS if n_core <= _NEAR_NODES else _FAR_ROW_IN_STEPS
    most_steps = row * (n_arcs + n_core) * n_blocks * (n_iter - 1)
    roots = np.arange(n_core, dtype=np.int64)
    twins = roots
    expected = _expected_steps(roots, core.graph, below, most_steps, sizes)
    if expected > _STEPS_TO_GROUP * n_arcs:
        twins = representatives(core.graph)
        roots = np.flatnonzero(twins == roots)
        expected = _expected_steps(roots, core.graph, below, most_steps, sizes)
    walked: list[int] = []

    def search_some(first: int, last: int) -> int | None:
        if sum(walked) > most_steps:
            return None
        done, steps = search(roots, first, last, core.graph, below, STEPS_PER_PIECE, sizes)
        walked.append(steps)
        return done

    if expected <= most_steps:
        work = np.arange(len(roots) + 1, dtype=np.int64) * (expected // len(roots) + 1)
        run_ranges(search_some, balanced_ranges(work, n_threads), n_threads)
        if sum(walked) <= most_steps:
            return _copied_to_twins(twins, below, sizes)
    rooms: list[Room] = []
    idle: list[Room] = []

    def pass_some(block: int, _last: int) -> int:
        try:
            room = idle.pop()
        except IndexError:
            here, there = np.empty((2, n_core * WORDS), np.uint64)
            changed, changing = np.empty((2, n_core), np.bool_)
            room = Room(here, there, changed, changing, np.zeros_like(sizes))
            rooms.append(room)
        pass_far_block(block * TARGETS_PER_BLOCK, core, n_iter, room)
        idle.append(room)
        return block + 1

    work = np.arange(n_blocks + 1, dtype=np.int64) * n_arcs * n_iter
    run_ranges(pass_some, balanced_ranges(work, n_threads), n_threads)
    sizes[2:] = 0
    for room in rooms:
        sizes[2:] += room.gains[2:]
    sizes[0], sizes[1] = 1, np.diff(indptr) + (below[:, 1] if len(below) else 1)
    np.cumsum(sizes[1:], axis=0, out=sizes[1:])
    return sizes


def _expected_steps(roots: Int64, graph: Graph, below: Int32, most_steps: int, sizes: Int32) -> int:
    """Estimate the number of steps of searches from all roots, from a few of them.

    It stops as soon as the estimate exceeds ``most_steps``.
    """
    step = max(1, len(roots) // _SAMPLED_ROOTS)
    sample = roots[step // 2 :: step]  # not the first one, which is often a hub
    most_steps = most_steps // len(roots) * len(sample)
    _, steps = search(sample, 0, len(sample), graph, below, most_steps, sizes)
    return int(steps * (len(roots) / len(sample)))


def _copied_to_twins(twins: Int64, below: Int32, sizes: Int32) -> Int32:
    """Copy the sizes of a node that was searched from to all nodes with the same neighbours.

    Two of them are two steps apart, and what hangs below each may differ.
    """
    sizes = sizes[:, twins]
    if len(below):
        difference = (below - below[twins]).T
        sizes += difference
        sizes[2:] -= difference[:-2]
    return sizes
