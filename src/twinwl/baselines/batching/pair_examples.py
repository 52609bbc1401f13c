"""Graphs as levels of colours of pairs of nodes: a network on pairs computes each colour once."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.baselines.batching.level_examples import LevelInput
from twinwl.baselines.parts import PartedExamples
from twinwl.compilation.kernel import kernel
from twinwl.graphs.selection import pointer
from twinwl.isomorphism.inner_pairs import hear_pairs, pair_sides
from twinwl.learning.colour_levels import ColourLevels, distinct_rows
from twinwl.memory import check_fits
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64, UInt64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import BatchLevels

__all__ = ["PairExamples", "Paths", "check_pairs", "diagonal_rows", "paths_of"]

_PAIRS_PER_PART = 1 << 20
# Numbers before the first round: no arc, an arc, then the nodes with themselves.
_ARC, _NODES = 1, 2
# A pair's colour in a level, and where colours are found in a mini-batch; keys and hash table of one round.
_BYTES_PER_LEVEL, _BYTES_PER_ROUND = 12, 48


class PairExamples(PartedExamples[LevelInput]):
    """A batch of graphs to learn from, as ordered pairs of their nodes.

    In a layer a pair (i, j) hears, for each node k, the pairs (i, k) and (k, j) together. So its state after
    h layers depends only on its colour after h rounds of folklore 2-WL, and level h has one row per such
    colour. Pairs of a node with itself have colours of their own, because they are read out separately.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node. That of a pair is whether there is an arc, and the columns of a
        node at the pair of the node with itself, else zeros.
    rounds
        Number of levels after the first.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    >>> part = PairExamples(batch, np.ones((5, 1), np.float32), rounds=1).part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).row_of_item.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [0, 1, 1, 0])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32], rounds: int) -> None:
        sizes = batch.nodes_per_graph.astype(np.int64)
        super().__init__(sizes**2, _PAIRS_PER_PART)
        codes, first = distinct_rows(columns)
        table = np.zeros((_NODES + len(first), 1 + columns.shape[1]), np.float32)
        table[_ARC, 0] = 1
        table[_NODES:, 1:] = columns[first]
        self.table = torch.from_numpy(table)
        pair_ptr = pointer(sizes**2)
        self.levels = ColourLevels()
        last = self.levels.add(pair_ptr, _first_colours(batch, sizes, pair_ptr, codes))
        for _ in range(rounds):
            refined = _refined(pair_ptr, sizes, self.levels.colours(last))
            last = self.levels.add(pair_ptr, own=(last, None), refined=refined)

    def part(self, rows: Int64) -> LevelInput:
        """Return these graphs as rows."""
        levels = self.levels.take(rows)
        return LevelInput(self.table[torch.from_numpy(levels.marks(0))], levels)


class Paths(NamedTuple):
    """For each row of a level, the paths i → k → j of the pair (i, j) that it comes from, over the nodes k.

    Attributes
    ----------
    row_of_pair : array of uint32, shape (n_pairs,)
        Rows of the mini-batch's pairs in the level before; a graph's pairs are a matrix, row by row.
    left, right : arrays of int64, shape (n_rows,)
        The pairs (i, 0) and (0, j).
    n_nodes : array of int64, shape (n_rows,)
        Number of nodes of the graph. It is the distance from (k, j) to (k + 1, j); (i, k + 1) follows (i, k).
    """

    row_of_pair: NDArray[np.uint32]
    left: Int64
    right: Int64
    n_nodes: Int64


def paths_of(levels: BatchLevels, number: int) -> Paths:
    """Return the paths of a level's rows.

    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)]])
    >>> levels = PairExamples(batch, np.ones((2, 1), np.float32), rounds=1).part(np.array([0])).levels
    >>> [array.tolist() for array in paths_of(levels, 1)]
    [[0, 1, 1, 0], [0, 0], [0, 1], [2, 2]]
    """
    level = levels.level(number)
    ends = _ends(levels.item_ptr(number), level.row_of_item, len(level.counts))
    return Paths(levels.level(number - 1).row_of_item.astype(np.uint32), *ends)


def diagonal_rows(levels: BatchLevels, number: int) -> NDArray[np.bool_]:
    """Return which rows of a level are pairs of a node with itself, shape (n_rows,)."""
    return levels.whole.colours(0)[levels.level(number).item_of_row] >= _NODES


def check_pairs(batch: GraphBatch, rounds: int, name: str, max_memory: int | None) -> None:
    """Refuse graphs with too many pairs in all to give them colours."""
    n_pairs = int((batch.nodes_per_graph.astype(np.int64) ** 2).sum())
    check_fits(
        n_pairs * (_BYTES_PER_LEVEL * (rounds + 1) + _BYTES_PER_ROUND),
        max_memory,
        f"{name} on {len(batch):,} graphs with {n_pairs:,} pairs of nodes",
        "leave out the largest graphs, use fewer graphs, or raise max_memory",
    )


def _first_colours(batch: GraphBatch, sizes: Int64, pair_ptr: Int64, codes: Int32) -> Int32:
    """Return numbers of pairs that differ in their input, or in whether they are one node."""
    place = np.arange(batch.n_nodes) - np.repeat(batch.graph_ptr[:-1], sizes)
    matrix_row = np.repeat(pair_ptr[:-1], sizes) + place * np.repeat(sizes, sizes)
    source, target = batch.arcs()
    first = np.zeros(int(pair_ptr[-1]), np.int32)
    first[matrix_row[source] + place[target]] = _ARC
    first[matrix_row + place] = _NODES + codes
    return first


def _refined(pair_ptr: Int64, sizes: Int64, colours: Int32) -> Int32:
    """Return the colours of pairs after one more round of folklore 2-WL, by keys of 128 bits."""
    keys = np.empty((len(colours), 2), np.uint64)
    run_ranges(
        lambda low, high: _write_keys(low, high, pair_ptr, sizes, colours, keys),
        balanced_ranges(pointer(sizes**3), None),
    )
    numbers: Int32 = _numbered(keys)
    return numbers


@kernel
def _write_keys(low: int, high: int, pair_ptr: Int64, sizes: Int64, colours: Int32, keys: UInt64) -> None:
    for graph in range(low, high):
        n, first, last = sizes[graph], pair_ptr[graph], pair_ptr[graph + 1]
        a = colours[first:last].astype(np.uint64).reshape(n, n)
        b = np.zeros_like(a)
        new_a, new_b = np.empty_like(a), np.empty_like(b)
        hear_pairs(0, n, a, b, pair_sides(a, b), new_a, new_b)
        keys[first:last, 0] = new_a.ravel()
        keys[first:last, 1] = new_b.ravel()


@kernel
def _numbered(keys: UInt64) -> Int32:
    """Give keys numbers by first occurrence."""
    length = 16
    while length < 2 * len(keys):
        length *= 2
    mask = np.uint64(length - 1)
    number_in_slot = np.full(length, -1, np.int32)
    first = np.empty(len(keys), np.int32)
    numbers = np.empty(len(keys), np.int32)
    n_numbers = 0
    for item in range(len(keys)):
        slot = keys[item, 0] & mask
        while True:
            number = number_in_slot[slot]
            if number < 0:
                number = n_numbers
                number_in_slot[slot] = number
                first[number] = item
                n_numbers += 1
                break
            other = first[number]
            if keys[other, 0] == keys[item, 0] and keys[other, 1] == keys[item, 1]:
                break
            slot = (slot + np.uint64(1)) & mask
        numbers[item] = number
    return numbers


@kernel
def _ends(pair_ptr: Int64, row_of_pair: Int64, n_rows: int) -> tuple[Int64, Int64, Int64]:
    """Return where the paths of each row begin and end; rows are numbered by their first pair."""
    left, right = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    n_nodes = np.empty(n_rows, np.int64)
    row = 0
    for graph in range(len(pair_ptr) - 1):
        first, last = pair_ptr[graph], pair_ptr[graph + 1]
        n = round(sqrt(last - first))
        for pair in range(first, last):
            if row < n_rows and row_of_pair[pair] == row:
                left[row] = pair - (pair - first) % n
                right[row] = first + (pair - first) % n
                n_nodes[row] = n
                row += 1
    return left, right, n_nodes
