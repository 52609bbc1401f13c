"""Identity passing with bitsets, for one block of targets at a time.

A row has one bit for each of 512 targets that a node of the core may reach: eight words, one cache line. All
rounds of a block run before the next block begins, so memory is two rows per node for any size of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, UInt64
    from twinwl.refinement.cores import Core
    from twinwl.refinement.graph_arrays import Graph

WORDS = 8
TARGETS_PER_BLOCK = WORDS * 64
_WORD_BITS = 64
_FEW_WORDS = 4  # of a row where there are few targets
# An unsigned index is used as it is, a signed one might count from the end.
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(word) for word in range(1, WORDS))


class Room(NamedTuple):
    """Work space of a thread for the blocks of a large core.

    Two arrays of rows, flags of the rows that changed in the previous round and in this one, and the gains of
    each round and node.
    """

    here: UInt64
    there: UInt64
    changed: Bool
    changing: Bool
    gains: Int32


@kernel
def pass_block(
    first: int, core: Core, n_iter: int, here: UInt64, there: UInt64, column: int, gains: Int32
) -> None:
    """Count which of the targets ``first..first + 512`` each node of the core reaches, and in which round.

    Parameters
    ----------
    core
        Targets are its nodes and then the nodes that hang on it.
    here, there : arrays of uint64, shape (n_core * WORDS,)
        Work space.
    column, gains : array of int32, shape (n_iter + 1, at least column + n_core)
        Rows 2, 3, … are increased by the number of targets that are reached in that round and not before.
    """
    n_core = len(core.graph.indptr) - 1
    n_targets = n_core + len(core.anchors)
    last = min(first + TARGETS_PER_BLOCK, n_targets)
    width = WORDS if n_targets > _FEW_WORDS * _WORD_BITS else _FEW_WORDS
    deepest = 0
    for target in range(max(first, n_core), last):
        deepest = max(deepest, core.depths[target - n_core])
    _first_rows(width, first, last, core, here)
    for h in range(1 if core.graph.directed else 2, n_iter + 1):
        if width == WORDS:
            grew = _next_eight(core.graph, here, there, column, gains[h])
        else:
            grew = _next_four(core.graph, here, there, column, gains[h])
        if h <= deepest:
            _hang(width, first, last, core, h, there, column, gains[h])
        elif grew == 0:
            break
        here, there = there, here


def pass_far_block(first: int, core: Core, n_iter: int, room: Room) -> None:
    """Do the same for a large graph, whose rows exceed the near cache: only those that changed are read.

    It is not a kernel itself, so that an interrupt is noticed between two rounds.
    """
    here, there, changed, changing, gains = room
    n_core = len(changed)
    last = min(first + TARGETS_PER_BLOCK, n_core + len(core.anchors))
    hanging = slice(max(0, first - n_core), max(0, last - n_core))
    deepest = int(core.depths[hanging].max(initial=0))
    _first_rows(WORDS, first, last, core, here)
    _non_empty(here, changed)
    for h in range(1 if core.graph.directed else 2, n_iter + 1):
        grew = _next_far(core.graph, here, changed, there, changing, gains[h])
        if h <= deepest:
            _hang(WORDS, first, last, core, h, there, 0, gains[h])
            changing[core.anchors[hanging]] = True
        elif not grew:
            break
        here, there = there, here
        changed, changing = changing, changed


@kernel
def _first_rows(width: int, first: int, last: int, core: Core, rows: UInt64) -> None:
    """Write the rows of round 1 or, in directed graphs, of round 0."""
    base, core_ptr, core_indices, directed = core.graph
    anchors, depths = core.anchors, core.depths
    n_core = len(core_ptr) - 1
    rows[: n_core * width] = 0
    for target in range(first, last):
        word = (target - first) // _WORD_BITS
        bit = np.uint64(1) << np.uint64((target - first) % _WORD_BITS)
        if target >= n_core:
            if depths[target - n_core] == 1:
                rows[anchors[target - n_core] * width + word] |= bit
            continue
        rows[target * width + word] |= bit
        if not directed:
            for arc in range(core_ptr[target], core_ptr[target + 1]):
                rows[np.uint64(core_indices[arc] - base) * np.uint64(width) + np.uint64(word)] |= bit


@kernel
def _hang(
    width: int, first: int, last: int, core: Core, depth: int, rows: UInt64, column: int, gain: Int32
) -> None:
    """Add the targets of this depth to the rows of the nodes they hang on."""
    anchors, depths, n_core = core.anchors, core.depths, len(core.graph.indptr) - 1
    for target in range(max(first, n_core), last):
        if depths[target - n_core] == depth:
            word = (target - first) // _WORD_BITS
            bit = np.uint64(1) << np.uint64((target - first) % _WORD_BITS)
            rows[anchors[target - n_core] * width + word] |= bit
            gain[column + anchors[target - n_core]] += 1


@kernel
def _next_four(graph: Graph, here: UInt64, there: UInt64, column: int, gain: Int32) -> int:
    """Write the rows of the next round, four words each, and add their gains; return the sum of the gains."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    total = 0
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(_FEW_WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base) * np.uint64(_FEW_WORDS)
            a |= here[other]
            b |= here[other + _1]
            c |= here[other + _2]
            d |= here[other + _3]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        gain[column + node] += new
        total += new
    return total


@kernel
def _next_eight(graph: Graph, here: UInt64, there: UInt64, column: int, gain: Int32) -> int:
    """Do the same with rows of eight words. Eight variables stay in registers, an array would not."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    total = 0
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        e, f, g, h = here[row + _4], here[row + _5], here[row + _6], here[row + _7]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base) * np.uint64(WORDS)
            a |= here[other]
            b |= here[other + _1]
            c |= here[other + _2]
            d |= here[other + _3]
            e |= here[other + _4]
            f |= here[other + _5]
            g |= here[other + _6]
            h |= here[other + _7]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        new += popcount(e ^ here[row + _4]) + popcount(f ^ here[row + _5])
        new += popcount(g ^ here[row + _6]) + popcount(h ^ here[row + _7])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        there[row + _4], there[row + _5], there[row + _6], there[row + _7] = e, f, g, h
        gain[column + node] += new
        total += new
    return total


@kernel
def _next_far(graph: Graph, here: UInt64, changed: Bool, there: UInt64, changing: Bool, gain: Int32) -> bool:
    """Do the same, reading only rows that changed in the previous round; flag those that change now."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    grew = False
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        e, f, g, h = here[row + _4], here[row + _5], here[row + _6], here[row + _7]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base)
            if changed[other]:
                other *= np.uint64(WORDS)
                a |= here[other]
                b |= here[other + _1]
                c |= here[other + _2]
                d |= here[other + _3]
                e |= here[other + _4]
                f |= here[other + _5]
                g |= here[other + _6]
                h |= here[other + _7]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        new += popcount(e ^ here[row + _4]) + popcount(f ^ here[row + _5])
        new += popcount(g ^ here[row + _6]) + popcount(h ^ here[row + _7])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        there[row + _4], there[row + _5], there[row + _6], there[row + _7] = e, f, g, h
        gain[node] += new
        changing[node] = new > 0
        grew |= bool(new > 0)
    return grew


@kernel
def _non_empty(rows: UInt64, out: Bool) -> None:
    """Flag the rows that are not zero."""
    for node in range(len(out)):
        any_of_them = np.uint64(0)
        for word in range(node * WORDS, (node + 1) * WORDS):
            any_of_them |= rows[word]
        out[node] = any_of_them > 0


@kernel
def popcount(word: np.uint64) -> np.int32:
    """Count set bits; LLVM recognises the idiom and emits one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
