"""Equal rooted subgraphs, found before a costly readout looks at them: one of each group is enough.

Each rooted subgraph is written down node by node in an order that its colours suggest. Two subgraphs with the
same writing are isomorphic, root and labels included, whatever the order. The converse holds for trees and
nearly always for molecules; where it fails, two groups have equal values and some work is done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.refinement.round_kernels import stirred
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.isomorphism.rooted import RootedBlock

# Writings are kept up to about this many bytes, then forgotten: memory stays bounded, and the answer correct.
_BYTES_KEPT = 1 << 28
_MOST_ROUNDS = 8
_FEW = 16  # sorting so many takes longer to prepare than to do
_CODE_BITS = 31
_CODE_MASK = (1 << 31) - 1
_ROOT = np.uint64(0x9E3779B97F4A7C15)


class _Subgraphs(NamedTuple):
    """Rooted subgraphs as kernels take them; ``codes`` is empty where all messages are alike."""

    ptr: Int64
    root: Int32
    labels: Int32
    indptr: Int64
    indices: Int32
    codes: Int32


class Groups:
    """Numbers rooted subgraphs of one batch so that equal numbers mean isomorphic subgraphs.

    Numbers are given in order of first occurrence and hold for all blocks, of any radius.

    >>> from twinwl import GraphBatch
    >>> from twinwl.isomorphism.rooted import Neighbourhoods
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> (block,) = Neighbourhoods(path).blocks(np.arange(4), 1, np.array([2, 3, 3, 2], np.int32))
    >>> Groups().of_block(block)
    array([0, 1, 1, 0])
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._n_bytes = 0

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def full(self) -> bool:
        """Whether so much is kept that it is time to start over."""
        return self._n_bytes > _BYTES_KEPT

    def of_block(self, block: RootedBlock) -> Int64:
        """Return the group of each rooted subgraph of a block, shape (n_roots,)."""
        ends, written = _written(block)
        numbers, known = np.empty(len(block), np.int64), self._numbers
        first = 0
        for place, end in enumerate(ends.tolist()):
            text = written[first:end]
            number = known.get(text)
            if number is None:
                number = known[text] = len(known)
                self._n_bytes += len(text)
            numbers[place] = number
            first = end
        return numbers


def _written(block: RootedBlock) -> tuple[Int64, bytes]:
    """Return the writings of all subgraphs, one after the other, and the byte where each ends."""
    graphs, messages = block.graphs, block.messages
    subgraphs = _Subgraphs(graphs.graph_ptr, block.root, graphs.node_labels, *messages[:3])
    n_messages = np.diff(messages.indptr[graphs.graph_ptr])
    per_message = 2 if len(messages.codes) else 1
    # The number of nodes; for each its label and how many messages it hears from nodes before it; and these.
    lengths = 1 + 2 * np.diff(graphs.graph_ptr) + per_message * (n_messages // 2)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    out = np.empty(ptr[-1], np.int32)
    run_ranges(
        lambda first, last: _write(first, last, subgraphs, ptr, out),
        balanced_ranges(_MOST_ROUNDS * ptr, None),
    )
    return out.itemsize * ptr[1:], out.tobytes()


@kernel
def _write(first_subgraph: int, last_subgraph: int, subgraphs: _Subgraphs, ptr: Int64, out: Int32) -> None:
    labels, indptr, indices, codes = subgraphs.labels, subgraphs.indptr, subgraphs.indices, subgraphs.codes
    for index in range(first_subgraph, last_subgraph):
        first, last = subgraphs.ptr[index], subgraphs.ptr[index + 1]
        order, rank = _order(index, subgraphs, _words(index, subgraphs))
        heard = np.empty(2 * (last - first), np.int64)
        end = ptr[index]
        out[end] = last - first
        end += 1
        for place in range(last - first):
            node = order[place]
            n_heard = 0
            for message in range(indptr[node], indptr[node + 1]):
                other = np.int64(rank[indices[message] - first])
                if other < place:
                    heard[n_heard] = other << _CODE_BITS | codes[message] if len(codes) else other
                    n_heard += 1
            heard[:n_heard].sort()
            out[end], out[end + 1] = labels[node], n_heard
            end += 2
            for entry in range(n_heard):
                if len(codes):
                    out[end], out[end + 1] = heard[entry] >> _CODE_BITS, heard[entry] & _CODE_MASK
                    end += 2
                else:
                    out[end] = heard[entry]
                    end += 1


@kernel
def _order(index: int, subgraphs: _Subgraphs, words: UInt64) -> tuple[Int32, Int32]:
    """Walk breadth-first from the root, neighbours by colour; return the order and each node's place."""
    indptr, indices, codes = subgraphs.indptr, subgraphs.indices, subgraphs.codes
    first, last = subgraphs.ptr[index], subgraphs.ptr[index + 1]
    order, rank = np.empty(last - first, np.int32), np.full(last - first, -1, np.int32)
    arrival = np.empty(last - first, np.uint64)
    order[0], rank[subgraphs.root[index] - first] = subgraphs.root[index], 0
    n_ordered = 1
    cursor = 0
    while cursor < n_ordered:
        node = order[cursor]
        cursor += 1
        begin = n_ordered
        for message in range(indptr[node], indptr[node + 1]):
            other = indices[message]
            if rank[other - first] < 0:
                word = words[other - first]
                arrival[n_ordered] = stirred(word + np.uint64(codes[message])) if len(codes) else word
                order[n_ordered], rank[other - first] = other, n_ordered
                n_ordered += 1
        if n_ordered - begin > _FEW:
            order[begin:n_ordered] = order[begin:n_ordered][np.argsort(arrival[begin:n_ordered])]
        else:
            _sort_few(begin, n_ordered, arrival, order)
        for place in range(begin, n_ordered):
            rank[order[place] - first] = place
    return order, rank


@kernel
def _sort_few(begin: int, end: int, words: UInt64, nodes: Int32) -> None:
    """Sort a few nodes by their words."""
    for last in range(begin + 1, end):
        word, node, place = words[last], nodes[last], last
        while place > begin and words[place - 1] > word:
            words[place], nodes[place] = words[place - 1], nodes[place - 1]
            place -= 1
        words[place], nodes[place] = word, node


@kernel
def _words(index: int, subgraphs: _Subgraphs) -> UInt64:
    """Return a word for each node: its colour after rounds of 1-WL in the subgraph, the root marked."""
    indptr, indices, codes = subgraphs.indptr, subgraphs.indices, subgraphs.codes
    first, last = subgraphs.ptr[index], subgraphs.ptr[index + 1]
    words, following = np.empty(last - first, np.uint64), np.empty(last - first, np.uint64)
    for node in range(first, last):
        words[node - first] = stirred(np.uint64(subgraphs.labels[node] + 1))
    words[subgraphs.root[index] - first] ^= _ROOT
    for _ in range(min(_MOST_ROUNDS, last - first - 1)):
        for node in range(first, last):
            total = np.uint64(0)
            for message in range(indptr[node], indptr[node + 1]):
                heard = words[indices[message] - first]
                total += stirred(heard + np.uint64(codes[message])) if len(codes) else stirred(heard)
            following[node - first] = stirred(words[node - first] + _ROOT) + total
        words, following = following, words
    return words
