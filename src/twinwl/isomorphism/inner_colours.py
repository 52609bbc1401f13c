"""Readouts that run 1-WL inside each rooted subgraph, the root marked or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.keys import absorbed, row_keys
from twinwl.refinement.threads import STEPS_PER_PIECE, run_ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int64, UInt64
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
