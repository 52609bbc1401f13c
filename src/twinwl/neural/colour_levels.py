"""What a network cannot tell apart, level by level: each colour is computed once.

After k layers of message passing the state of a node depends only on its colour after k rounds of 1-WL,
whatever the layers do with the multiset of messages. So layer k needs one row per colour, and the messages of
any one of its nodes. The same holds for whatever else hears multisets, such as nodes of rooted subgraphs,
roots, and sets of nodes; a level has *items* of one of these kinds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.graphs.selection import pointer, ranges
from twinwl.refinement.alphabet import RoundTable
from twinwl.refinement.colours import colour_round
from twinwl.refinement.round_kernels import Messages

_NONE = np.empty(0, np.int64)


class Level(NamedTuple):
    """The rows of one level of a mini-batch.

    Attributes
    ----------
    item_of_row : array of int64, shape (n_rows,)
        An item of this colour, among those of all graphs.
    row_of_item : array of int64, shape (n_items,)
        Row of each item of the mini-batch.
    counts : array of int64, shape (n_rows,)
        Number of the mini-batch's items in each row.
    own : array of int64, shape (n_rows,)
        The row that each row comes from, in the level before it; empty if there is none.
    ptr, senders, sent : arrays of int64
        Messages that each row receives, in CSR form: the row of the sender in its level, and its item in the
        mini-batch.
    """

    item_of_row: Int64
    row_of_item: Int64
    counts: Int64
    own: Int64
    ptr: Int64
    senders: Int64
    sent: Int64


class _Whole(NamedTuple):
    """A level of all graphs; levels are numbered, and -1 stands for none."""

    graph_ptr: Int64
    first: Int32
    colours: Int32
    place: Int64
    own_level: int
    own: Ints
    sent_level: int
    indptr: Int64
    senders: Ints


class ColourLevels:
    """Colours of the items of many graphs, each level refined from levels before it.

    Examples
    --------
    A path of three nodes, and the sum over it:

    >>> levels = ColourLevels()
    >>> nodes = levels.add(np.array([0, 3]), np.zeros(3, np.int32))
    >>> heard = (nodes, np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
    >>> after = levels.add(np.array([0, 3]), own=(nodes, None), heard=heard)
    >>> levels.n_colours(nodes), levels.n_colours(after)
    (1, 2)
    >>> levels.take(np.array([0])).level(after).counts.tolist()
    [2, 1]
    """

    def __init__(self) -> None:
        self._levels: list[_Whole] = []

    def add(
        self,
        graph_ptr: Int64,
        first: Int32 | None = None,
        *,
        own: tuple[int, Ints | None] | None = None,
        heard: tuple[int, Int64, Ints] | None = None,
        codes: Int32 | None = None,
        refined: Int32 | None = None,
    ) -> int:
        """Add a level, and return its number.

        Parameters
        ----------
        graph_ptr : array, shape (n_graphs + 1,)
            Range of each graph's items.
        first : array of int32, shape (n_items,), optional
            Numbers from 0: items with different numbers have different colours.
        own
            A level, and the item of it that each item comes from; None if the items are the same.
        heard
            A level, and the items of it that each item hears, in CSR form; an item may occur several times.
            They are in the same graph.
        codes : array of int32, optional
            Kind of each message.
        refined : array of int32, shape (n_items,), optional
            The colours, numbered from 0, where items hear more than a multiset of single items.
        """
        own_level, own_items = (-1, None) if own is None else own
        sent_level, indptr, senders = (-1, _NONE, _NONE) if heard is None else heard
        colours = np.zeros(int(graph_ptr[-1]), np.int32) if first is None else first.astype(np.int32)
        if own is not None:
            before = self.colours(own_level)
            before = before if own_items is None else before[own_items]
            colours = before if first is None else _paired(colours, before)
        if heard is not None:
            colours = _refined(colours, self.colours(sent_level), indptr, senders, codes)
        colours = colours if refined is None else refined
        n_colours = int(colours.max(initial=-1)) + 1
        self._levels.append(
            _Whole(
                graph_ptr,
                np.empty(0, np.int32) if first is None else first,
                colours,
                np.full(n_colours, -1, np.int64),
                own_level,
                _NONE if own_items is None else own_items,
                sent_level,
                indptr,
                senders,
            )
        )
        return len(self._levels) - 1

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._levels[0].graph_ptr) - 1

    @property
    def n_levels(self) -> int:
        """Number of levels so far."""
        return len(self._levels)

    def whole(self, level: int) -> _Whole:
        """Return a level of all graphs."""
        return self._levels[level]

    def colours(self, level: int) -> Int32:
        """Return the colours of a level, shape (n_items,)."""
        return self.whole(level).colours

    def n_colours(self, level: int) -> int:
        """Return the number of colours of a level."""
        return len(self.whole(level).place)

    def take(self, rows: Int64) -> BatchLevels:
        """Return the levels of these graphs alone."""
        return BatchLevels(self, np.asarray(rows, np.int64))


class BatchLevels:
    """The levels of some graphs: only rows of their own items; each level is built when it is asked for."""

    def __init__(self, whole: ColourLevels, rows: Int64) -> None:
        self.whole = whole
        self.rows = rows
        self._built: dict[int, Level] = {}
        self._ptrs: dict[int, Int64] = {}

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.rows)

    def item_ptr(self, level: int) -> Int64:
        """Return the range of each graph's items in the mini-batch."""
        graph_ptr = self.whole.whole(level).graph_ptr
        if id(graph_ptr) not in self._ptrs:
            self._ptrs[id(graph_ptr)] = pointer(graph_ptr[self.rows + 1] - graph_ptr[self.rows])
        return self._ptrs[id(graph_ptr)]

    def items(self, level: int) -> Int64:
        """Return the number of each item among those of all graphs."""
        starts = self.whole.whole(level).graph_ptr[self.rows]
        return ranges(starts, np.diff(self.item_ptr(level)))

    def graph_of_item(self, level: int) -> Int64:
        """Return the place of each item's graph."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.item_ptr(level)))

    def level(self, number: int) -> Level:
        """Return a level."""
        if number not in self._built:
            self._built[number] = self._build(self.whole.whole(number), self.item_ptr(number))
        return self._built[number]

    def marks(self, number: int) -> Int64:
        """Return the number that each row of a level was given at first."""
        return self.whole.whole(number).first[self.level(number).item_of_row].astype(np.int64)

    def senders(self, number: int, of: int) -> Int64:
        """Return the rows of the items that a level hears, in another level of these items."""
        return self.level(of).row_of_item[self.level(number).sent]

    def arcs(self, number: int) -> Int64:
        """Return the numbers of the messages of a level among those of all graphs."""
        level, indptr = self.level(number), self.whole.whole(number).indptr
        return ranges(indptr[level.item_of_row], np.diff(level.ptr))

    def pooled(self, number: int) -> tuple[Int64, Int64, Int64]:
        """Return how often each row of a level occurs in each graph, in CSR form: pointer, rows, counts."""
        level = self.level(number)
        return _pooled(self.item_ptr(number), level.row_of_item, len(level.counts))

    def _build(self, whole: _Whole, item_ptr: Int64) -> Level:
        starts = whole.graph_ptr[self.rows]
        items, graphs, row_of_item, counts = _rows(whole.colours, starts, item_ptr, whole.place)
        own = ptr = senders = sent = _NONE
        if whole.own_level >= 0:
            level, shift = self.level(whole.own_level), self._shift(whole.own_level)
            own = _own_rows(items, graphs, whole.own, shift, level.row_of_item)
        if whole.sent_level >= 0:
            level, shift = self.level(whole.sent_level), self._shift(whole.sent_level)
            ptr, sent, senders = _heard_rows(
                items, graphs, whole.indptr, whole.senders, shift, level.row_of_item
            )
        return Level(items, row_of_item, counts, own, ptr, senders, sent)

    def _shift(self, level: int) -> Int64:
        """Return what turns numbers among all items of a graph into those in the mini-batch."""
        return self.item_ptr(level)[:-1] - self.whole.whole(level).graph_ptr[self.rows]


def distinct_rows(values: NDArray[np.generic]) -> tuple[Int32, Int64]:
    """Give the distinct rows of a matrix numbers, to the bit; also return where each occurs first.

    >>> codes, first = distinct_rows(np.array([[1.0], [0.5], [1.0]]))
    >>> codes[0] == codes[2], len(first)
    (np.True_, 2)
    """
    if not values.size:
        return np.zeros(len(values), np.int32), np.zeros(min(1, len(values)), np.int64)
    bits = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    _, first, codes = np.unique(
        bits.view(f"V{bits.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    return codes.astype(np.int32), first


def _paired(first: Int32, second: Int32) -> Int32:
    """Return numbers from 0 for pairs of numbers."""
    joined = first.astype(np.int64) * (int(second.max(initial=-1)) + 1) + second
    return np.unique(joined, return_inverse=True)[1].astype(np.int32)


def _refined(own: Int32, sent: Int32, indptr: Int64, senders: Ints, codes: Int32 | None) -> Int32:
    """Return the colours of items by their own before, and the multiset of those that they hear."""
    # The senders stand behind the receivers, so that both may be of different kinds.
    before = np.concatenate([own, sent])
    n_codes = 1 if codes is None or not len(codes) else int(codes.max()) + 1
    kinds = codes.astype(np.int32) if codes is not None and n_codes > 1 else np.empty(0, np.int32)
    messages = Messages(indptr, (senders + len(own)).astype(np.int32), kinds, n_codes)
    after = np.empty_like(own)
    table = RoundTable(int(before.max(initial=0)) + 1, n_codes)
    colour_round(messages, before, table, after, insert=True)
    return after


@kernel
def _rows(colours: Int32, starts: Int64, item_ptr: Int64, place: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    """Give the items' colours numbers by first occurrence; ``place`` is all -1 before and after."""
    n_items = item_ptr[-1]
    item_of_row = np.empty(n_items, np.int64)
    graph_of_row = np.empty(n_items, np.int64)
    row_of_item = np.empty(n_items, np.int64)
    counts = np.zeros(n_items, np.int64)
    n_rows = 0
    for graph in range(len(starts)):
        shift = starts[graph] - item_ptr[graph]
        for index in range(item_ptr[graph], item_ptr[graph + 1]):
            colour = colours[index + shift]
            row = place[colour]
            if row < 0:
                row = n_rows
                place[colour] = row
                item_of_row[row] = index + shift
                graph_of_row[row] = graph
                n_rows += 1
            row_of_item[index] = row
            counts[row] += 1
    for row in range(n_rows):
        place[colours[item_of_row[row]]] = -1
    return item_of_row[:n_rows], graph_of_row[:n_rows], row_of_item, counts[:n_rows]


@kernel
def _own_rows(items: Int64, graphs: Int64, own: Ints, shift: Int64, row_of_item: Int64) -> Int64:
    """Return the row that each row comes from."""
    out = np.empty(len(items), np.int64)
    for row in range(len(items)):
        item = own[items[row]] if len(own) else items[row]
        out[row] = row_of_item[item + shift[graphs[row]]]
    return out


@kernel
def _heard_rows(
    items: Int64, graphs: Int64, indptr: Int64, senders: Ints, shift: Int64, row_of_item: Int64
) -> tuple[Int64, Int64, Int64]:
    """Return what each row hears, in CSR form: pointer, items of the mini-batch, their rows."""
    ptr = np.zeros(len(items) + 1, np.int64)
    for row in range(len(items)):
        ptr[row + 1] = ptr[row] + indptr[items[row] + 1] - indptr[items[row]]
    sent = np.empty(ptr[-1], np.int64)
    rows = np.empty(ptr[-1], np.int64)
    for row in range(len(items)):
        low, add = indptr[items[row]], shift[graphs[row]]
        for entry in range(ptr[row], ptr[row + 1]):
            item = senders[low + entry - ptr[row]] + add
            sent[entry] = item
            rows[entry] = row_of_item[item]
    return ptr, sent, rows


@kernel
def _pooled(item_ptr: Int64, row_of_item: Int64, n_rows: int) -> tuple[Int64, Int64, Int64]:
    """Count the rows of each graph's items."""
    n_graphs = len(item_ptr) - 1
    pool_ptr = np.zeros(n_graphs + 1, np.int64)
    rows = np.empty(len(row_of_item), np.int64)
    counts = np.empty(len(row_of_item), np.int64)
    entry_of_row = np.full(n_rows, -1, np.int64)
    n_entries = 0
    for graph in range(n_graphs):
        for item in range(item_ptr[graph], item_ptr[graph + 1]):
            row = row_of_item[item]
            if entry_of_row[row] < pool_ptr[graph]:
                entry_of_row[row] = n_entries
                rows[n_entries] = row
                counts[n_entries] = 0
                n_entries += 1
            counts[entry_of_row[row]] += 1
        pool_ptr[graph + 1] = n_entries
    return pool_ptr, rows[:n_entries], counts[:n_entries]
