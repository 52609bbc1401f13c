"""Rows: what a network cannot tell apart is computed once per layer, and added up as often as it occurs.

After k layers of message passing the state of a node depends only on its colour after k rounds of 1-WL,
whatever the layers do with the multiset of messages. So layer k needs one row per colour, and the messages of
any one of its nodes. A `RowBatch` is a mini-batch in this form. It has two builders: `twinwl.neural.quotient`
for rooted subgraphs of any number, and `ColourLevels` for layers of different items (nodes, roots, sets of
nodes). The functions here are the sums over its rows, with their gradients.

Mini-batches have a few thousand short rows. For them a plain compiled loop is several times as fast as
general sparse kernels; on other devices than the processor, torch's own operations do the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from twinwl.arguments import Int32, Int64, Ints, pointer, ranges
from twinwl.compilation import kernel
from twinwl.refinement.colours import RoundTable, colour_round
from twinwl.refinement.round_kernels import Messages

_NONE = np.empty(0, np.int64)


class Pool(NamedTuple):
    """How often each row (or colour) occurs in each graph: a matrix in CSR form, one row per graph."""

    ptr: Int64
    rows: Ints
    counts: Ints


class RowLayer(NamedTuple):
    """One layer of a mini-batch.

    Attributes
    ----------
    own : array, shape (n_rows,)
        The row of the layer below that each row comes from; empty if there is none.
    ptr, senders : arrays
        The rows of the layer below that each row gets messages from, in CSR form.
    codes : array, shape (n_messages,)
        Kind of each message, -1 if it is unknown to the network; empty if all are of one kind.
    pool : Pool
        How often each graph has each row; `BatchLevels` computes it where it is asked for.
    n_passed : int
        Number of rows that the next layer reads. They come first; the others are only pooled.
    item_of_row, row_of_item, counts, sent : arrays of int64
        Of `ColourLevels` only: an item with this row, among those of all graphs; the row of each item of the
        mini-batch; the number of its items in each row; the item of the mini-batch that each message is from.
    """

    own: Ints
    ptr: Int64
    senders: Ints
    codes: Int64 = _NONE
    pool: Pool = Pool(_NONE, _NONE, _NONE)
    n_passed: int = 0
    item_of_row: Int64 = _NONE
    row_of_item: Int64 = _NONE
    counts: Int64 = _NONE
    sent: Int64 = _NONE

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1


class RowBatch(NamedTuple):
    """Some graphs as rows.

    Attributes
    ----------
    label, mark : arrays of int64
        Label and mark of each row of layer 0; a label of -1 is unknown to the network.
    features : array of float32, shape (n_rows, n_features)
        Continuous features of each row of layer 0.
    layers : tuple of RowLayer
        Layers 1, 2, …
    scale : array of float64, shape (n_graphs,), or None
        What the sums of each graph are multiplied by, if only some of its roots are pooled.
    """

    label: Int64
    mark: Int64
    features: NDArray[np.float32]
    layers: tuple[RowLayer, ...]
    scale: NDArray[np.float64] | None = None


# ---------------------------------------------------------------------- sums over rows


def as_tensor(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device, without a copy on the processor."""
    return torch.from_numpy(array).to(device)


def aggregate(
    rows: Tensor,
    ptr: Int64,
    senders: Ints,
    own_rows: Tensor | None = None,
    own: Ints = _NONE,
    weights: NDArray[Any] = _NONE,
) -> Tensor:
    """Return the sum of the rows that each row gets messages from, and of its own, shape (n, width).

    Parameters
    ----------
    rows : tensor, shape (n_rows, width)
    ptr, senders : arrays
        The rows that are summed, in CSR form.
    own_rows : tensor, shape (n_own, width), optional
        Where the own rows are; may be ``rows`` itself.
    own : array, shape (n,)
        One row of ``own_rows`` for each sum.
    weights : array, optional
        What each of ``senders`` is multiplied by.

    Examples
    --------
    >>> rows = torch.tensor([[1.0], [2.0]])
    >>> aggregate(rows, np.array([0, 2, 2]), np.array([1, 1]), rows, np.array([0, 1])).tolist()
    [[5.0], [2.0]]
    """
    if rows.device.type == "cpu":
        other = None if own_rows is rows else own_rows
        result: Tensor = _Aggregate.apply(rows, other, ptr, senders, own, weights)  # type: ignore[no-untyped-call]
        return result
    messages = rows[as_tensor(senders, rows.device).long()]
    if len(weights):
        messages = messages * as_tensor(weights, rows.device).to(rows.dtype)[:, None]
    total = rows.new_zeros(len(ptr) - 1, rows.shape[1])
    if own_rows is not None:
        total = own_rows[as_tensor(own, rows.device).long()]
    return total.index_add(0, expanded(ptr, rows.device), messages)


def pool(rows: Tensor, ptr: Int64, members: Ints, counts: NDArray[Any]) -> Tensor:
    """Return ``P @ rows`` for a matrix of counts (or other weights) in CSR form, shape (n_graphs, width).

    >>> rows = torch.tensor([[1.0], [2.0]])
    >>> pool(rows, np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 1], np.int32)).tolist()
    [[5.0]]
    """
    return aggregate(rows, ptr, members, weights=counts)


def gather(rows: Tensor, index: Int64) -> Tensor:
    """Return ``rows[index]``, with a gradient that is several times as fast on the processor.

    >>> gather(torch.tensor([[1.0], [2.0]]), np.array([1, 1, 0])).tolist()
    [[2.0], [2.0], [1.0]]
    """
    return aggregate(rows, np.zeros(len(index) + 1, np.int64), _NONE, rows, index)


def expanded(ptr: Int64, device: torch.device) -> Tensor:
    """Return the row of each entry of a CSR matrix, on a device.

    >>> expanded(np.array([0, 2, 3]), torch.device("cpu"))
    tensor([0, 0, 1])
    """
    return as_tensor(np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), device)


class _Aggregate(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        rows: Tensor,
        own_rows: Tensor | None,
        *arrays: NDArray[Any],
    ) -> Tensor:
        ctx.arrays, ctx.lengths = arrays, (len(rows), None if own_rows is None else len(own_rows))
        table = rows.detach().contiguous().numpy()
        own_table = table if own_rows is None else own_rows.detach().contiguous().numpy()
        return torch.from_numpy(_aggregate(table, own_table, *arrays))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        total, (n_rows, n_own) = grad.contiguous().numpy(), ctx.lengths
        of_rows = np.zeros((n_rows, total.shape[1]), total.dtype)
        of_own = of_rows if n_own is None else np.zeros((n_own, total.shape[1]), total.dtype)
        _aggregate_backward(total, of_rows, of_own, *ctx.arrays)
        own_grad = None if n_own is None else torch.from_numpy(of_own)
        return torch.from_numpy(of_rows), own_grad, None, None, None, None


@kernel(fastmath={"contract"})
def _aggregate(
    rows: NDArray[np.floating],
    own_rows: NDArray[np.floating],
    ptr: Int64,
    senders: Ints,
    own: Ints,
    weights: NDArray[Any],
) -> NDArray[np.floating]:
    n, width = len(ptr) - 1, rows.shape[1]
    out = np.zeros((n, width), rows.dtype)
    weighted = len(weights) > 0
    for row in range(n):
        target = out[row]
        if len(own):
            source = own_rows[own[row]]
            for unit in range(width):
                target[unit] = source[unit]
        for entry in range(ptr[row], ptr[row + 1]):
            source = rows[senders[entry]]
            weight = rows.dtype.type(weights[entry] if weighted else 1)
            for unit in range(width):
                target[unit] += weight * source[unit]
    return out


@kernel(fastmath={"contract"})
def _aggregate_backward(
    grad: NDArray[np.floating],
    of_rows: NDArray[np.floating],
    of_own: NDArray[np.floating],
    ptr: Int64,
    senders: Ints,
    own: Ints,
    weights: NDArray[Any],
) -> None:
    n, width = grad.shape
    weighted = len(weights) > 0
    for row in range(n):
        source = grad[row]
        if len(own):
            target = of_own[own[row]]
            for unit in range(width):
                target[unit] += source[unit]
        for entry in range(ptr[row], ptr[row + 1]):
            target = of_rows[senders[entry]]
            weight = grad.dtype.type(weights[entry] if weighted else 1)
            for unit in range(width):
                target[unit] += weight * source[unit]


def aggregate_and_pool(
    below: Tensor, bias: Tensor, layer: RowLayer, of_code: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the first ``n_passed`` rows of ``relu(sums + bias)``, and those of all rows, pooled by graph.

    A sum has the own row, the senders and, if messages have kinds, the row of ``of_code`` of each. Rows that
    only the pooling needs, most of them in the top layer, are never written to memory: the gradient needs
    no more than which of their units are above zero. On DD this halves the time of an epoch.

    Returns
    -------
    rows : tensor, shape (n_passed, width)
    total : tensor, shape (n_graphs, width)
    """
    if below.device.type != "cpu":
        return _with_torch(below, bias, layer, of_code)
    codes, first_code = (_NONE if of_code is None else layer.codes), len(below)
    if of_code is not None:  # one table, so that there is one gradient
        below = torch.cat([below, of_code])
    arrays = (layer.own, layer.ptr, layer.senders, codes, first_code)
    result: tuple[Tensor, Tensor] = _AggregateAndPool.apply(  # type: ignore[no-untyped-call]
        below, bias, layer.pool, layer.n_passed, arrays
    )
    return result


def _with_torch(
    below: Tensor, bias: Tensor, layer: RowLayer, of_code: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the same as `aggregate_and_pool` with torch's own operations, for any device."""
    sums = aggregate(below, layer.ptr, layer.senders, below, layer.own) + bias
    if of_code is not None:
        known = np.flatnonzero(layer.codes >= 0)
        into = expanded(layer.ptr, below.device)[as_tensor(known, below.device)]
        sums = sums.index_add(0, into, of_code[as_tensor(layer.codes[known], below.device)])
    units = sums.relu()
    return units[: layer.n_passed], pool(units, *layer.pool)


class _AggregateAndPool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        below: Tensor,
        bias: Tensor,
        pool: Pool,
        n_passed: int,
        arrays: tuple[Any, ...],
    ) -> tuple[Tensor, Tensor]:
        pooling = _transposed(*pool, len(arrays[0]))
        rows, above_zero, total = _aggregate_and_pool(
            below.detach().contiguous().numpy(),
            bias.detach().numpy(),
            pooling,
            n_passed,
            len(pool.ptr) - 1,
            *arrays,
        )
        ctx.arrays = pooling, above_zero, len(below), *arrays
        return torch.from_numpy(rows), torch.from_numpy(total)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        of_rows: Tensor,
        of_total: Tensor,
    ) -> tuple[Tensor | None, ...]:
        gradients = _aggregate_and_pool_backward(
            of_rows.contiguous().numpy(), of_total.contiguous().numpy(), *ctx.arrays
        )
        return *map(torch.from_numpy, gradients), None, None, None


@kernel
def _transposed(ptr: Int64, rows: Ints, counts: Ints, n_rows: int) -> Pool:
    """Return a pooling matrix by its columns: the graphs of each row, and how often they have it."""
    out_ptr = np.zeros(n_rows + 1, np.int64)
    for row in rows:
        out_ptr[row + 1] += 1
    for row in range(n_rows):
        out_ptr[row + 1] += out_ptr[row]
    graph = np.empty(len(rows), np.int32)
    count = np.empty(len(rows), np.int32)
    free = out_ptr[:-1].copy()
    for index in range(len(ptr) - 1):
        for entry in range(ptr[index], ptr[index + 1]):
            place = free[rows[entry]]
            free[rows[entry]] += 1
            graph[place] = index
            count[place] = counts[entry]
    return Pool(out_ptr, graph, count)


@kernel(fastmath={"contract"})
def _aggregate_and_pool(  # noqa: C901, PLR0912  (one pass, few calls)
    below: NDArray[np.floating],
    bias: NDArray[np.floating],
    pooling: Pool,
    n_passed: int,
    n_graphs: int,
    own: Ints,
    ptr: Int64,
    senders: Ints,
    codes: Int64,
    first_code: int,
) -> tuple[NDArray[np.floating], NDArray[np.uint8], NDArray[np.floating]]:
    n, width = len(own), below.shape[1]
    passed = np.empty((n_passed, width), below.dtype)
    above_zero = np.empty((n, width), np.uint8)
    total = np.zeros((n_graphs, width), below.dtype)
    units = np.empty(width, below.dtype)
    zero = below.dtype.type(0)
    for row in range(n):
        first = below[np.uint32(own[row])]
        for unit in range(width):
            units[unit] = bias[unit] + first[unit]
        entry, stop = ptr[row], ptr[row + 1]
        # Four rows in one pass, so that the sum is read and written less often; it is added up in order.
        while entry + 4 <= stop:
            first, second = below[np.uint32(senders[entry])], below[np.uint32(senders[entry + 1])]
            third, fourth = below[np.uint32(senders[entry + 2])], below[np.uint32(senders[entry + 3])]
            for unit in range(width):
                units[unit] = (((units[unit] + first[unit]) + second[unit]) + third[unit]) + fourth[unit]
            entry += 4
        while entry < stop:
            first = below[np.uint32(senders[entry])]
            for unit in range(width):
                units[unit] += first[unit]
            entry += 1
        if len(codes):
            for entry in range(ptr[row], stop):
                if codes[entry] >= 0:
                    first = below[first_code + codes[entry]]
                    for unit in range(width):
                        units[unit] += first[unit]
        signs = above_zero[row]
        for unit in range(width):
            signs[unit] = units[unit] > zero
            units[unit] = max(units[unit], zero)
        if row < n_passed:
            passed[row] = units
        for entry in range(pooling.ptr[row], pooling.ptr[row + 1]):
            target = total[pooling.rows[entry]]
            count = below.dtype.type(pooling.counts[entry])
            for unit in range(width):
                target[unit] += count * units[unit]
    return passed, above_zero, total


@kernel(fastmath={"contract"})
def _aggregate_and_pool_backward(
    of_passed: NDArray[np.floating],
    of_total: NDArray[np.floating],
    pooling: Pool,
    above_zero: NDArray[np.uint8],
    n_below: int,
    own: Ints,
    ptr: Int64,
    senders: Ints,
    codes: Int64,
    first_code: int,
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    n, width = above_zero.shape
    below = np.zeros((n_below, width), of_total.dtype)
    bias = np.zeros(width, of_total.dtype)
    passed = np.empty(width, of_total.dtype)
    zero = of_total.dtype.type(0)
    for row in range(n):
        if row < len(of_passed):
            passed[:] = of_passed[row]
        else:
            passed[:] = zero
        for entry in range(pooling.ptr[row], pooling.ptr[row + 1]):
            source = of_total[np.uint32(pooling.rows[entry])]
            count = of_total.dtype.type(pooling.counts[entry])
            for unit in range(width):
                passed[unit] += count * source[unit]
        signs = above_zero[row]
        target = below[np.uint32(own[row])]
        for unit in range(width):
            passed[unit] = passed[unit] if signs[unit] else zero
            bias[unit] += passed[unit]
            target[unit] += passed[unit]
        for entry in range(ptr[row], ptr[row + 1]):
            place = np.uint32(senders[entry])
            for unit in range(width):
                below[place, unit] += passed[unit]
            if len(codes) and codes[entry] >= 0:
                for unit in range(width):
                    below[first_code + codes[entry], unit] += passed[unit]
    return below, bias


# ---------------------------------------------------------------------- layers of different items


class _Whole(NamedTuple):
    """A level of all graphs; levels are numbered, and -1 stands for none."""

    graph_ptr: Int64
    first: Int32
    colours: Int32
    place: Int64
    own_level: int
    own: Ints | None
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
    >>> messages = (nodes, np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
    >>> after = levels.add(np.array([0, 3]), own=(nodes, None), messages=messages)
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
        messages: tuple[int, Int64, Ints] | None = None,
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
        messages
            A level, and the items of it that each item gets messages from, in CSR form; an item may occur
            several times. They are in the same graph.
        codes : array of int32, optional
            Kind of each message.
        refined : array of int32, shape (n_items,), optional
            The colours, numbered from 0, where items get more than a multiset of messages.
        """
        own_level, own_items = own or (-1, None)
        sent_level, indptr, senders = messages or (-1, _NONE, _NONE)
        colours = np.zeros(int(graph_ptr[-1]), np.int32) if first is None else first.astype(np.int32)
        if own is not None:
            before = self.colours(own_level)
            before = before if own_items is None else before[own_items]
            colours = before if first is None else _paired(colours, before)
        if messages is not None:
            colours = _refined(colours, self.colours(sent_level), indptr, senders, codes)
        colours = colours if refined is None else refined
        place = np.full(int(colours.max(initial=-1)) + 1, -1, np.int64)
        marks = np.empty(0, np.int32) if first is None else first
        self._levels.append(
            _Whole(graph_ptr, marks, colours, place, own_level, own_items, sent_level, indptr, senders)
        )
        return len(self._levels) - 1

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._levels[0].graph_ptr) - 1

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
        self._built: dict[int, RowLayer] = {}
        self._ptrs: dict[int, Int64] = {}

    def item_ptr(self, level: int) -> Int64:
        """Return the range of each graph's items in the mini-batch."""
        graph_ptr = self.whole.whole(level).graph_ptr
        if id(graph_ptr) not in self._ptrs:
            self._ptrs[id(graph_ptr)] = pointer(graph_ptr[self.rows + 1] - graph_ptr[self.rows])
        return self._ptrs[id(graph_ptr)]

    def level(self, number: int) -> RowLayer:
        """Return a level, without its pool."""
        if number not in self._built:
            self._built[number] = self._build(self.whole.whole(number), self.item_ptr(number))
        return self._built[number]

    def marks(self, number: int) -> Int64:
        """Return the number that each row of a level was given at first."""
        return self.whole.whole(number).first[self.level(number).item_of_row].astype(np.int64)

    def senders(self, number: int, of: int) -> Int64:
        """Return the rows of the items that a level gets messages from, in another level of these items."""
        return self.level(of).row_of_item[self.level(number).sent]

    def arcs(self, number: int) -> Int64:
        """Return the numbers of the messages of a level among those of all graphs."""
        level, indptr = self.level(number), self.whole.whole(number).indptr
        return ranges(indptr[level.item_of_row], np.diff(level.ptr))

    def pooled(self, number: int) -> Pool:
        """Return how often each row of a level occurs in each graph."""
        return count_rows(self.item_ptr(number), self.level(number).row_of_item)

    def _build(self, whole: _Whole, item_ptr: Int64) -> RowLayer:
        starts = whole.graph_ptr[self.rows]
        items, graphs, row_of_item, counts = _number_rows(whole.colours, starts, item_ptr, whole.place)
        own = senders = sent = _NONE
        ptr = np.zeros(len(items) + 1, np.int64)
        if whole.own_level >= 0:
            below = items if whole.own is None else whole.own[items]
            own = self.level(whole.own_level).row_of_item[below + self._shift(whole.own_level)[graphs]]
        if whole.sent_level >= 0:
            lengths = whole.indptr[items + 1] - whole.indptr[items]
            shift = np.repeat(self._shift(whole.sent_level)[graphs], lengths)
            ptr, sent = pointer(lengths), whole.senders[ranges(whole.indptr[items], lengths)] + shift
            senders = self.level(whole.sent_level).row_of_item[sent]
        return RowLayer(
            own, ptr, senders, item_of_row=items, row_of_item=row_of_item, counts=counts, sent=sent
        )

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
    pairs = first.astype(np.int64) * (int(second.max(initial=-1)) + 1) + second
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def _refined(own: Int32, sent: Int32, indptr: Int64, senders: Ints, codes: Int32 | None) -> Int32:
    """Return the colours of items by their own before, and the multiset of those of their messages."""
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
def _number_rows(
    colours: Int32, starts: Int64, item_ptr: Int64, place: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
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
def count_rows(item_ptr: Int64, row_of_item: Ints) -> Pool:
    """Count the rows within each range of items; one small hash table per graph stays in the cache."""
    n_graphs = len(item_ptr) - 1
    most = 1
    for graph in range(n_graphs):
        most = max(most, item_ptr[graph + 1] - item_ptr[graph])
    length = 16
    while length < 2 * most:
        length *= 2
    stamps = np.full(length, -1, np.int64)
    entry_at = np.empty(length, np.int64)
    ptr = np.zeros(n_graphs + 1, np.int64)
    rows = np.empty(len(row_of_item), np.int32)
    counts = np.empty(len(row_of_item), np.int32)
    end = 0
    for graph in range(n_graphs):
        for item in range(item_ptr[graph], item_ptr[graph + 1]):
            row = row_of_item[item]
            slot = ((np.int64(row) * 0x9E3779B1) >> 7) & (length - 1)
            while stamps[slot] == graph and rows[entry_at[slot]] != row:
                slot = (slot + 1) & (length - 1)
            if stamps[slot] == graph:
                counts[entry_at[slot]] += 1
            else:
                stamps[slot] = graph
                entry_at[slot] = end
                rows[end] = row
                counts[end] = 1
                end += 1
        ptr[graph + 1] = end
    return Pool(ptr, rows[:end].copy(), counts[:end].copy())
