"""Readouts that run 1-WL inside each rooted subgraph, the root marked or not.

The readout that runs folklore 2-WL inside each rooted subgraph: three-dimensional power, cubic cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.isomorphism.values import absorbed, row_keys
from twinwl.refinement.round_kernels import stirred
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.isomorphism.rooted import RootedBlock
    from twinwl.refinement.content_keys import KeyedMessages


def wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph."""
    return _stable_keys(block, marked=False)


def rooted_wl(block: RootedBlock) -> UInt64:
    """Return the key of the stable 1-WL colours of each subgraph, its root marked from the start.

    Marks of distance would add nothing: with the root marked, colours know it after h rounds.
    """
    return _stable_keys(block, marked=True)


def _stable_keys(block: RootedBlock, *, marked: bool) -> UInt64:
    keys = block.label_keys
    if marked:
        keys[block.root] = row_keys(keys[block.root])
    words = np.ascontiguousarray(keys.T)
    out = np.empty((len(block), 2), np.uint64)
    state = np.zeros(2, np.int64)
    graphs = block.graphs.graph_ptr, block.messages

    def refine(first: int, last: int) -> int:
        return int(_refine(first, last, *graphs, words, state, STEPS_PER_PIECE, out))

    run_ranges(refine, [(0, len(block))])
    return out


@kernel
def _refine(
    first_subgraph: int,
    last_subgraph: int,
    subgraph_ptr: Int64,
    messages: KeyedMessages,
    words: UInt64,
    state: Int64,
    most_steps: int,
    out: UInt64,
) -> int:
    """Write one key per subgraph: its size, the round s it is stable in, its colours in round s + 1.

    Each subgraph is refined on its own, with keys of contents for colours, so that values compare between
    batches. *Stable on its own* would be a trap: a hexagon and K3,3 are stable at once with one colour each.
    One more round shows the neighbours of the stable colours; two graphs that agree on that agree in all
    later rounds.

    ``words``, of shape (2, n_nodes), are the keys of the nodes, which change from round to round. Returns the
    first subgraph that is not done with after about ``most_steps``; ``state`` keeps its number of colours and
    of rounds.
    """
    indptr = messages.indptr
    key_a, key_b = words[0], words[1]
    said, following = np.empty_like(words), np.empty_like(words)
    n_colours, stable_round = state[0], state[1]
    steps = 0
    for index in range(first_subgraph, last_subgraph):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        if n_colours == 0:
            n_colours = n_distinct(key_a, first, last)
        while True:
            if steps > most_steps:
                state[0], state[1] = n_colours, stable_round
                return index
            steps += indptr[last] - indptr[first] + last - first
            _pass(first, last, messages, words, said, following)
            n_following = n_distinct(key_a, first, last)
            if n_following == n_colours:
                break
            n_colours = n_following
            stable_round += 1
        a, b = np.uint64(0), np.uint64(0)
        for node in range(first, last):
            a += key_a[node]
            b += key_b[node]
        out[index, 0], out[index, 1] = absorbed(a, b, np.uint64(last - first), np.uint64(stable_round))
        n_colours, stable_round = 0, 0
    return last_subgraph


@kernel
def _pass(
    first: int, last: int, messages: KeyedMessages, words: UInt64, said: UInt64, following: UInt64
) -> None:
    """Give nodes ``first..last`` their keys of the next round."""
    indptr, indices, codes, code_keys = messages
    if not len(codes):  # a node says the same to all its neighbours
        for node in range(first, last):
            said[0, node], said[1, node] = absorbed(
                words[0, node], words[1, node], code_keys[0, 0], code_keys[0, 1]
            )
    for node in range(first, last):
        a, b = np.uint64(0), np.uint64(0)
        for message in range(indptr[node], indptr[node + 1]):
            other = indices[message]
            x, y = said[0, other], said[1, other]
            if len(codes):
                code = codes[message]
                x, y = absorbed(words[0, other], words[1, other], code_keys[code, 0], code_keys[code, 1])
            a += x
            b += y
        following[0, node], following[1, node] = absorbed(words[0, node], words[1, node], a, b)
    for node in range(first, last):
        words[0, node], words[1, node] = following[0, node], following[1, node]


@kernel
def n_distinct(words: UInt64, first: int, last: int) -> int:
    """Count the different words in a range; a round only ever splits colours, so counting shows stability."""
    length = 16
    while length < 2 * (last - first):
        length *= 2
    mask = np.uint64(length - 1)
    slots = np.zeros(length, np.int64)  # the place of a word, plus one
    n_different = 0
    for place in range(first, last):
        slot = words[place] & mask
        while slots[slot] and words[slots[slot] - 1] != words[place]:
            slot = (slot + np.uint64(1)) & mask
        if not slots[slot]:
            slots[slot] = place + 1
            n_different += 1
    return n_different


def rooted_fwl2(block: RootedBlock) -> UInt64:
    """Return the key of the stable colours of all pairs of nodes, the root marked.

    A pair (u, v) hears, for each node w, the colours of (u, w) and (w, v) together. That costs O(n³) time a
    round and O(n²) memory for a subgraph of n nodes.
    """
    subgraph_ptr = block.graphs.graph_ptr
    messages, label_keys = block.messages, block.label_keys
    out = np.empty((len(block), 2), np.uint64)

    def refine(index: int, last: int) -> int:
        n = int(subgraph_ptr[index + 1] - subgraph_ptr[index])
        if n**3 > STEPS_PER_PIECE:
            first, end = subgraph_ptr[index], subgraph_ptr[index + 1]
            out[index] = _refined_large(*_initial_pairs(first, end, block.root[index], messages, label_keys))
            return index + 1
        graphs = subgraph_ptr, block.root, messages, label_keys
        return int(_refine_pairs(index, last, *graphs, STEPS_PER_PIECE, out))

    run_ranges(refine, [(0, len(block))])
    return out


def _refined_large(a: UInt64, b: UInt64) -> tuple[np.uint64, np.uint64]:
    """Return the key of one subgraph, going through its pairs in pieces and on threads."""
    n = len(a)
    rows = balanced_ranges(np.arange(n + 1, dtype=np.int64) * n * n, None)
    n_colours, stable_round = n_distinct(a.ravel(), 0, a.size), 0
    while True:
        sides = pair_sides(a, b)
        new_a, new_b = np.empty_like(a), np.empty_like(b)
        run_ranges(lambda low, high: hear_pairs(low, high, a, b, sides, new_a, new_b), rows)  # noqa: B023  (called here)
        a, b = new_a, new_b
        n_following = n_distinct(a.ravel(), 0, a.size)
        if n_following == n_colours:
            break
        n_colours, stable_round = n_following, stable_round + 1
    return _key(a, b, stable_round)


@kernel
def _refine_pairs(
    first_subgraph: int,
    last_subgraph: int,
    subgraph_ptr: Int64,
    roots: Int32,
    messages: KeyedMessages,
    label_keys: UInt64,
    most_steps: int,
    out: UInt64,
) -> int:
    """Write one key per subgraph, up to one that is large by itself or until ``most_steps`` are done."""
    steps = 0
    for index in range(first_subgraph, last_subgraph):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        if steps > most_steps or (last - first) ** 3 > most_steps:
            return index
        a, b = _initial_pairs(first, last, roots[index], messages, label_keys)
        n_colours = n_distinct(a.ravel(), 0, a.size)
        stable_round = 0
        while True:
            sides = pair_sides(a, b)
            new_a, new_b = np.empty_like(a), np.empty_like(b)
            hear_pairs(0, last - first, a, b, sides, new_a, new_b)
            a, b = new_a, new_b
            steps += (last - first) ** 3
            n_following = n_distinct(a.ravel(), 0, a.size)
            if n_following == n_colours:
                break
            n_colours = n_following
            stable_round += 1
        out[index, 0], out[index, 1] = _key(a, b, stable_round)
    return last_subgraph


@kernel
def _key(a: UInt64, b: UInt64, stable_round: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a subgraph: size, the round s its pairs are stable in, their colours in s + 1."""
    return absorbed(a.sum(), b.sum(), np.uint64(len(a)), np.uint64(stable_round))


@kernel
def _initial_pairs(
    first: int, last: int, root: int, messages: KeyedMessages, label_keys: UInt64
) -> tuple[UInt64, UInt64]:
    """Colour (u, v) by both labels, which of them is the root, whether they are one, and what joins them."""
    indptr, indices, codes, code_keys = messages
    n = last - first
    a = np.zeros((n, n), np.uint64)
    b = np.zeros((n, n), np.uint64)
    for u in range(n):
        for message in range(indptr[first + u], indptr[first + u + 1]):
            code = codes[message] if len(codes) else 0
            v = indices[message] - first
            # A sum, because two arcs may join a pair, one each way.
            a[u, v] += code_keys[code, 0]
            b[u, v] += code_keys[code, 1]
    for u in range(n):
        for v in range(n):
            kind = np.uint64((first + u == root) + 2 * (first + v == root) + 4 * (u == v))
            x, y = absorbed(a[u, v], b[u, v], kind, kind)
            x, y = absorbed(x, y, label_keys[first + u, 0], label_keys[first + u, 1])
            a[u, v], b[u, v] = absorbed(x, y, label_keys[first + v, 0], label_keys[first + v, 1])
    return a, b


@kernel
def pair_sides(a: UInt64, b: UInt64) -> tuple[UInt64, UInt64, UInt64, UInt64]:
    """Absorb each colour for either of the two places it can stand in, outside the cubic loop."""
    left_a, left_b = np.empty_like(a), np.empty_like(b)
    right_a, right_b = np.empty_like(a), np.empty_like(b)
    for u in range(len(a)):
        for v in range(len(a)):
            left_a[u, v], left_b[u, v] = absorbed(a[u, v], b[u, v], np.uint64(1), np.uint64(2))
            # Transposed, so that the inner loop walks both along rows.
            right_a[v, u], right_b[v, u] = absorbed(a[u, v], b[u, v], np.uint64(3), np.uint64(4))
    return left_a, left_b, right_a, right_b


@kernel
def hear_pairs(
    low: int,
    high: int,
    a: UInt64,
    b: UInt64,
    sides: tuple[UInt64, UInt64, UInt64, UInt64],
    new_a: UInt64,
    new_b: UInt64,
) -> None:
    """Write what pairs (u, v) become in the next round, for u in ``low..high``."""
    left_a, left_b, right_a, right_b = sides
    for u in range(low, high):
        for v in range(len(a)):
            total_a, total_b = np.uint64(0), np.uint64(0)
            for w in range(len(a)):
                total_a += stirred(left_a[u, w] ^ right_a[v, w])
                total_b += stirred(left_b[u, w] + right_b[v, w])
            new_a[u, v], new_b[u, v] = absorbed(a[u, v], b[u, v], total_a, total_b)
