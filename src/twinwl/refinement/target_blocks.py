"""Identity passing with bitsets, for one block of targets at a time.

A row holds which of 512 targets a node of the core reaches: eight words, one line of the cache. All rounds of
a block run before the next block begins, so memory is two rows per node however large the graph is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, Int64, UInt64

__all__ = ["TARGETS_PER_BLOCK", "WORDS", "pass_block", "pass_far_block", "popcount"]

WORDS = 8
TARGETS_PER_BLOCK = WORDS * 64
_WORD_BITS = 64
_FEW_WORDS = 4  # of a row where there are few targets
# An unsigned place is taken as it is, where a signed one might count from the end.
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(word) for word in range(1, WORDS))


@kernel
def pass_block(
    first: int,
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    anchors: Int32,
    depths: Int32,
    directed: bool,
    n_iter: int,
    here: UInt64,
    there: UInt64,
    gains: Int32,
) -> None:
    """Count which of the targets ``first..first + 512`` each node of the core reaches, and in which round.

    Parameters
    ----------
    base, core_ptr, core_indices, anchors, depths
        A core and what hangs on it, as `twinwl.refinement.cores.core_of` returns them. Targets are the nodes
        of the core and then what hangs on it.
    here, there : arrays of uint64, shape (n_core * WORDS,)
        Room to work in.
    gains : array of int32, shape (n_iter + 1, n_core)
        Rows 2, 3, … are increased by the number of targets that are reached in that round and not before.
    """
    n_core = len(core_ptr) - 1
    n_targets = n_core + len(anchors)
    last = min(first + TARGETS_PER_BLOCK, n_targets)
    width = WORDS if n_targets > _FEW_WORDS * _WORD_BITS else _FEW_WORDS
    deepest = 0
    for target in range(max(first, n_core), last):
        deepest = max(deepest, depths[target - n_core])
    _first_rows(width, first, last, base, core_ptr, core_indices, anchors, depths, directed, here)
    for h in range(1 if directed else 2, n_iter + 1):
        if width == WORDS:
            grew = _next_eight(base, core_ptr, core_indices, here, there, gains[h])
        else:
            grew = _next_four(base, core_ptr, core_indices, here, there, gains[h])
        if h <= deepest:
            _hang(width, first, last, n_core, anchors, depths, h, there, gains[h])
        elif grew == 0:
            break
        here, there = there, here


def pass_far_block(  # noqa: PLR0917  (kernels take arrays, and keywords cost them time)
    first: int,
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    anchors: Int32,
    depths: Int32,
    directed: bool,
    n_iter: int,
    here: UInt64,
    there: UInt64,
    changed: Bool,
    changing: Bool,
    gains: Int32,
) -> None:
    """Do the same for a large graph, where rows come from a far cache: only those that changed are fetched.

    It is no kernel itself, so that an interrupt is noticed between two rounds.

    Parameters
    ----------
    changed, changing : arrays of bool, shape (n_core,)
        Room to work in. The rest is as for `pass_block`.
    """
    n_core = len(core_ptr) - 1
    last = min(first + TARGETS_PER_BLOCK, n_core + len(anchors))
    deepest = int(depths[max(0, first - n_core) : max(0, last - n_core)].max(initial=0))
    _first_rows(WORDS, first, last, base, core_ptr, core_indices, anchors, depths, directed, here)
    _non_empty(here, changed)
    for h in range(1 if directed else 2, n_iter + 1):
        grew = _next_far(base, core_ptr, core_indices, here, changed, there, changing, gains[h])
        if h <= deepest:
            _hang(WORDS, first, last, n_core, anchors, depths, h, there, gains[h])
            changing[anchors[max(0, first - n_core) : max(0, last - n_core)]] = True
        elif not grew:
            break
        here, there = there, here
        changed, changing = changing, changed


@kernel
def _first_rows(
    width: int,
    first: int,
    last: int,
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    anchors: Int32,
    depths: Int32,
    directed: bool,
    rows: UInt64,
) -> None:
    """Write the rows of round 1 or, where arcs lead away from who hears of a target, of round 0."""
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
                rows[(core_indices[arc] - base) * width + word] |= bit


@kernel
def _hang(
    width: int,
    first: int,
    last: int,
    n_core: int,
    anchors: Int32,
    depths: Int32,
    depth: int,
    rows: UInt64,
    gain: Int32,
) -> None:
    """Let the targets that hang so deep be heard of where they hang."""
    for target in range(max(first, n_core), last):
        if depths[target - n_core] == depth:
            word = (target - first) // _WORD_BITS
            bit = np.uint64(1) << np.uint64((target - first) % _WORD_BITS)
            rows[anchors[target - n_core] * width + word] |= bit
            gain[anchors[target - n_core]] += 1


@kernel
def _next_four(
    base: int, core_ptr: Int64, core_indices: Int32, here: UInt64, there: UInt64, gain: Int32
) -> int:
    """Write the rows of the next round, four words each, and add what each gained; return the sum of that."""
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
        gain[node] += new
        total += new
    return total


@kernel
def _next_eight(
    base: int, core_ptr: Int64, core_indices: Int32, here: UInt64, there: UInt64, gain: Int32
) -> int:
    """Do the same with rows of eight words. Eight names stay in registers, where an array would not."""
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
        gain[node] += new
        total += new
    return total


@kernel
def _next_far(
    base: int,
    core_ptr: Int64,
    core_indices: Int32,
    here: UInt64,
    changed: Bool,
    there: UInt64,
    changing: Bool,
    gain: Int32,
) -> bool:
    """Do the same, fetching only rows that changed in the round before; ``changing`` tells which do now."""
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
    """Tell which rows hold anything."""
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
