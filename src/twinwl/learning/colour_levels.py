"""Nodes that a message passing network cannot tell apart, level by level: each colour is computed once.

After k layers the state of a node depends only on its colour after k rounds of 1-WL, whatever the layers do
with the multiset of messages. So layer k needs one row per colour, and the messages of any one of its nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.graphs.selection import pointer, ranges
from twinwl.refinement.alphabet import RoundTable
from twinwl.refinement.colours import colour_round
from twinwl.refinement.round_kernels import Messages

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64


class Level(NamedTuple):
    """The rows of one level of a mini-batch.

    Attributes
    ----------
    node_of_row : array of int64, shape (n_rows,)
        A node of this colour, among all graphs.
    row_of_node : array of int64, shape (n_nodes,)
        Row of each node of the mini-batch.
    counts : array of int64, shape (n_rows,)
        Number of the mini-batch's nodes in each row.
    parent : array of int64, shape (n_rows,)
        The row of the same nodes in the level before; empty in level 0.
    arc_ptr, arcs, senders : arrays of int64
        Messages that each row receives, in CSR form: their numbers among all messages, and the row of the
        sender in the level before.
    """

    node_of_row: Int64
    row_of_node: Int64
    counts: Int64
    parent: Int64
    arc_ptr: Int64
    arcs: Int64
    senders: Int64


class ColourLevels:
    """Colours of the nodes of many graphs, refined as far as they are asked for.

    Parameters
    ----------
    graph_ptr : array, shape (n_graphs + 1,)
        Node range of each graph.
    indptr, senders : arrays
        Messages by receiver, in CSR form; there may be several from one node, or from a node to itself.
    codes : array of int32, shape (n_messages,)
        Kind of each message.
    first : array of int32, shape (n_nodes,)
        Colours before the first layer: nodes of one colour have the same input.

    Examples
    --------
    A path of three nodes:

    >>> levels = ColourLevels(np.array([0, 3]), np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]),
    ...                       np.zeros(4, np.int32), np.zeros(3, np.int32))
    >>> levels.n_colours(0), levels.n_colours(1)
    (1, 2)
    >>> levels.take(np.array([0])).level(1).counts.tolist()
    [2, 1]
    """

    def __init__(self, graph_ptr: Int64, indptr: Int64, senders: Int64, codes: Int32, first: Int32) -> None:
        self.graph_ptr = graph_ptr
        self.indptr = indptr
        self.senders = senders
        n_codes = int(codes.max()) + 1 if len(codes) else 1
        kinds = codes.astype(np.int32) if n_codes > 1 else np.empty(0, np.int32)
        self._messages = Messages(indptr, senders.astype(np.int32), kinds, n_codes)
        self._colours: list[Int32] = []
        self._nodes: list[Int64] = []
        self._places: list[Int64] = []
        self._add(first.astype(np.int32))

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.indptr) - 1

    def n_colours(self, level: int) -> int:
        """Return the number of colours of a level."""
        self.colours(level)
        return len(self._nodes[level])

    def colours(self, level: int) -> Int32:
        """Return the colours of a level, shape (n_nodes,)."""
        while len(self._colours) <= level:
            before = self._colours[-1]
            table, after = (
                RoundTable(max(1, len(self._nodes[-1])), self._messages.n_codes),
                np.empty_like(before),
            )
            colour_round(self._messages, before, table, after, insert=True)
            self._add(after)
        return self._colours[level]

    def take(self, rows: Int64) -> BatchLevels:
        """Return the levels of these graphs alone."""
        return BatchLevels(self, np.asarray(rows, np.int64))

    def _add(self, colours: Int32) -> None:
        values, nodes = np.unique(colours, return_index=True)
        if len(values) and values[-1] != len(values) - 1:
            raise ValueError("colours must be numbered from 0 on")
        self._colours.append(colours)
        self._nodes.append(nodes)
        self._places.append(np.full(len(nodes), -1, np.int64))

    def rows(self, level: int, nodes: Int64) -> tuple[Int64, Int64, Int64]:
        """Return a node of each colour that occurs, the row of each node, and the size of each row."""
        present, row_of_node, counts = _rows(self.colours(level), nodes, self._places[level])
        return self._nodes[level][present], row_of_node, counts


class BatchLevels:
    """The levels of some graphs: only rows of their own nodes; each level is built when it is asked for."""

    def __init__(self, whole: ColourLevels, rows: Int64) -> None:
        self.whole = whole
        starts, sizes = whole.graph_ptr[rows], whole.graph_ptr[rows + 1] - whole.graph_ptr[rows]
        self.nodes = ranges(starts, sizes)
        self.node_ptr = pointer(sizes)
        self._levels: list[Level] = []

    @property
    def graph_of_node(self) -> Int64:
        """Place of each node's graph."""
        return np.repeat(np.arange(len(self.node_ptr) - 1), np.diff(self.node_ptr))

    def level(self, number: int) -> Level:
        """Return a level."""
        while len(self._levels) <= number:
            self._levels.append(self._built(len(self._levels)))
        return self._levels[number]

    def pooled(self, number: int) -> tuple[Int64, Int64, Int64]:
        """Return how often each row of a level occurs in each graph, in CSR form: pointer, rows, counts."""
        level = self.level(number)
        return _pooled(self.node_ptr, level.row_of_node, len(level.counts))

    def _built(self, number: int) -> Level:
        whole = self.whole
        node_of_row, row_of_node, counts = whole.rows(number, self.nodes)
        none = np.empty(0, np.int64)
        if number == 0:
            return Level(node_of_row, row_of_node, counts, none, np.zeros(1, np.int64), none, none)
        below = self._levels[-1]
        colours = whole.colours(number - 1)
        place = np.empty(whole.n_colours(number - 1), np.int64)
        place[colours[below.node_of_row]] = np.arange(len(below.node_of_row))
        starts = whole.indptr[node_of_row]
        lengths = whole.indptr[node_of_row + 1] - starts
        arcs = ranges(starts, lengths)
        return Level(
            node_of_row,
            row_of_node,
            counts,
            place[colours[node_of_row]],
            pointer(lengths),
            arcs,
            place[colours[whole.senders[arcs]]],
        )


@kernel
def _rows(colours: Int32, nodes: Int64, place: Int64) -> tuple[Int64, Int64, Int64]:
    """Give the colours of some nodes numbers by first occurrence; ``place`` is all -1 before and after."""
    present = np.empty(len(nodes), np.int64)
    row_of_node = np.empty(len(nodes), np.int64)
    counts = np.zeros(len(nodes), np.int64)
    n_rows = 0
    for index in range(len(nodes)):
        colour = colours[nodes[index]]
        if place[colour] < 0:
            place[colour] = n_rows
            present[n_rows] = colour
            n_rows += 1
        row_of_node[index] = place[colour]
        counts[place[colour]] += 1
    for row in range(n_rows):
        place[present[row]] = -1
    return present[:n_rows], row_of_node, counts[:n_rows]


@kernel
def _pooled(node_ptr: Int64, row_of_node: Int64, n_rows: int) -> tuple[Int64, Int64, Int64]:
    """Count the rows of each graph's nodes."""
    n_graphs = len(node_ptr) - 1
    pool_ptr = np.zeros(n_graphs + 1, np.int64)
    rows = np.empty(len(row_of_node), np.int64)
    counts = np.empty(len(row_of_node), np.int64)
    entry_of_row = np.full(n_rows, -1, np.int64)
    n_entries = 0
    for graph in range(n_graphs):
        for node in range(node_ptr[graph], node_ptr[graph + 1]):
            row = row_of_node[node]
            if entry_of_row[row] < pool_ptr[graph]:
                entry_of_row[row] = n_entries
                rows[n_entries] = row
                counts[n_entries] = 0
                n_entries += 1
            counts[entry_of_row[row]] += 1
        pool_ptr[graph + 1] = n_entries
    return pool_ptr, rows[:n_entries], counts[:n_entries]
