"""Rows: states that must be equal are computed once per layer, and added up as often as they occur.

After k layers of message passing the state of a node depends only on its colour after k rounds of 1-WL,
whatever the layers do with the multiset of messages. So layer k needs one row per colour, with the messages
of any one of its nodes.

In this order: the form of a mini-batch (`RowBatch`), the sums over its rows with their gradients
(`aggregate`, `pool`, `aggregate_and_pool`), and one of its two builders, `ColourLevels`, for layers of
different items (nodes, roots, sets of nodes). The other builder is `twinwl.neural.quotient`, for rooted
subgraphs.

Mini-batches have a few thousand short rows. For these a plain compiled loop is several times as fast as
general sparse kernels. On other devices than the processor, torch's own operations compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from twinwl.arguments import owners, pointer, ranges
from twinwl.arrays import Float32, Float64, Floats, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.refinement.colours import RoundTable, colour_round, read_only_messages

NONE = np.empty(0, np.int64)

# The results of a function, and a second function that turns their gradients into those of the inputs.
Differentiated: TypeAlias = "tuple[Sequence[np.ndarray], Callable[..., Sequence[np.ndarray | Tensor]]]"


class Pool(NamedTuple):
    """How often each row (or colour) occurs in each graph: a matrix in CSR form.

    Attributes
    ----------
    ptr : array of int64, shape (n_graphs + 1,)
        Range of each graph's entries.
    rows, counts : arrays, shape (n_entries,)
        Row (or colour) of each entry, and how often the graph has it.
    """

    ptr: Int64
    rows: Ints
    counts: Ints

    def take(self, graphs: Int64) -> Pool:
        """Return the matrix of some graphs."""
        ptr, entries = entries_of(self.ptr, graphs)
        return Pool(ptr, self.rows[entries], self.counts[entries])


class RowLayer(NamedTuple):
    """One layer of a mini-batch: which rows of the layer below each of its rows is computed from.

    Row i is computed from ``below[own[i]]`` and the sum of ``below[senders[ptr[i]:ptr[i + 1]]]``.

    Attributes
    ----------
    own : array, shape (n_rows,)
        The row of the layer below that each row comes from; empty if there is none.
    ptr, senders : arrays
        The rows of the layer below that each row gets messages from, in CSR form.
    codes : array, shape (n_messages,)
        Kind of each message, -1 if it is unknown to the network; empty if all are of one kind.
    pool : Pool
        How often each graph has each row; empty in levels of `BatchLevels`, whose `pooled` computes it.
    n_passed : int
        Number of rows that the next layer reads. They come first; the others are only pooled.
    item_of_row, row_of_item, counts, sent : arrays of int64
        Only in levels of `ColourLevels`. ``item_of_row``: for each row an item that has it, among the items
        of all graphs. ``row_of_item``: the row of each item of the mini-batch. ``counts``: the number of
        items of the mini-batch with each row. ``sent``: the sender of each message, among the items of the
        mini-batch.
    """

    own: Ints
    ptr: Int64
    senders: Ints
    codes: Int64 = NONE
    pool: Pool = Pool(NONE, NONE, NONE)
    n_passed: int = 0
    item_of_row: Int64 = NONE
    row_of_item: Int64 = NONE
    counts: Int64 = NONE
    sent: Int64 = NONE

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
        Factor for the sums of each graph, if only some of its roots are pooled.
    """

    label: Int64
    mark: Int64
    features: Float32
    layers: tuple[RowLayer, ...]
    scale: Float64 | None = None


# ---------------------------------------------------------------------- sums over rows


def as_tensor(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device, without a copy on the processor."""
    return torch.from_numpy(array).to(device)


def has_kernels(tensor: Tensor) -> bool:
    """Return whether compiled loops can read a tensor; elsewhere torch's own operations do the same."""
    return tensor.device.type == "cpu"


def aggregate(
    rows: Tensor,
    ptr: Int64,
    senders: Ints,
    own_rows: Tensor | None = None,
    own: Ints = NONE,
    weights: NDArray[Any] = NONE,
) -> Tensor:
    """Return the sum of the rows that each row gets messages from, and of its own, shape (n, width).

    Parameters
    ----------
    rows : tensor, shape (n_rows, width)
    ptr, senders : arrays
        The rows that are summed, in CSR form.
    own_rows : tensor, shape (n_own, width), optional
        The rows that ``own`` refers to; may be ``rows`` itself.
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
    if has_kernels(rows):
        tables = [rows] if own_rows is None or own_rows is rows else [rows, own_rows]
        return by_kernels(partial(_sums_of, ptr, senders, own, weights), *tables)[0]
    messages = rows[as_tensor(senders, rows.device)]
    if len(weights):
        messages = messages * as_tensor(weights, rows.device).to(rows.dtype)[:, None]
    total = rows.new_zeros(len(ptr) - 1, rows.shape[1])
    if own_rows is not None:
        total = own_rows[as_tensor(own, rows.device)]
    return total.index_add(0, row_of_entry(ptr, rows.device), messages)


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
    return aggregate(rows, np.zeros(len(index) + 1, np.int64), NONE, rows, index)


def row_of_entry(ptr: Int64, device: torch.device) -> Tensor:
    """Return the row of each entry of a CSR matrix, on a device.

    >>> row_of_entry(np.array([0, 2, 3]), torch.device("cpu"))
    tensor([0, 0, 1])
    """
    return as_tensor(owners(np.diff(ptr)), device)


def aggregate_and_pool(
    below: Tensor, bias: Tensor, layer: RowLayer, of_code: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the first ``n_passed`` rows of ``relu(sums + bias)``, and those of all rows, pooled by graph.

    A sum consists of the own row, the rows of the senders and, if messages have kinds, the row of ``of_code``
    for each message. Rows that only the pooling needs (most of them in the top layer) are never written to
    memory: for the gradient it is enough to know which of their units are above zero. On DD this halves the
    time of an epoch.

    Returns
    -------
    rows : tensor, shape (n_passed, width)
    total : tensor, shape (n_graphs, width)
    """
    if of_code is not None:
        # The kind of a message is treated as one more sender, whose row comes after those of ``below``.
        # Code -1, an unknown kind, sends the row of zeros.
        senders = np.column_stack([layer.senders, layer.codes + len(below) + 1]).ravel()
        layer = layer._replace(ptr=2 * layer.ptr, senders=senders)
        below = torch.cat([below, below.new_zeros(1, below.shape[1]), of_code])
    if not has_kernels(below):
        units = (aggregate(below, layer.ptr, layer.senders, below, layer.own) + bias).relu()
        return units[: layer.n_passed], pool(units, *layer.pool)
    rows, total = by_kernels(partial(_units_of, layer), below, bias)
    return rows, total


def by_kernels(function: Callable[..., Differentiated], *tensors: Tensor) -> tuple[Tensor, ...]:
    """Apply to tensors a function that compiled loops compute; gradients pass through it.

    Tensors must be on the processor.

    Parameters
    ----------
    function
        Gets the tensors as arrays. It returns its results, and a function that turns their gradients into
        those of the tensors.

    Examples
    --------
    >>> def square(x):
    ...     return [x * x], lambda grad: [2 * x * grad]
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> by_kernels(square, x)[0].backward()
    >>> x.grad
    tensor([6.])
    """
    results: tuple[Tensor, ...] = _ByKernels.apply(function, *tensors)  # type: ignore[no-untyped-call]
    return results


class _ByKernels(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        function: Callable[..., Differentiated],
        *tensors: Tensor,
    ) -> tuple[Tensor, ...]:
        results, ctx.gradients = function(*(tensor.detach().contiguous().numpy() for tensor in tensors))
        return tuple(map(torch.from_numpy, results))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        gradients = ctx.gradients(*(grad.contiguous().numpy() for grad in grads))
        return None, *map(torch.as_tensor, gradients)


def _sums_of(ptr: Int64, senders: Ints, own: Ints, weights: NDArray[Any], *tables: Floats) -> Differentiated:
    """Return the sums of `aggregate`; if there are two tables, the second one has the own rows."""
    shapes, arrays = [table.shape for table in tables], (ptr, senders, own, weights)
    sums = np.zeros((len(ptr) - 1, tables[0].shape[1]), tables[0].dtype)
    add_up(sums, tables[0], tables[-1], *arrays, backwards=False)

    def gradients(grad: Floats) -> list[Floats]:
        # With one table, found[0] and found[-1] are the same array.
        found = [np.zeros(shape, grad.dtype) for shape in shapes]
        add_up(grad, found[0], found[-1], *arrays, backwards=True)
        return found

    return [sums], gradients


@kernel(fastmath={"contract"})
def add_up(
    sums: Floats,
    rows: Floats,
    own_rows: Floats,
    ptr: Int64,
    senders: Ints,
    own: Ints,
    weights: NDArray[Any],
    backwards: bool,
) -> None:
    """Add rows to the sums they are part of; backwards, add gradients of sums to those of their rows.

    Arrays are those of `aggregate`; ``own`` and ``weights`` may be empty. Unsigned indices are faster: for
    signed ones numba adds a test whether they count from the end.
    """
    for place in range(len(sums)):
        total = sums[place]
        if len(own):
            row = own_rows[np.uint32(own[place])]
            for unit in range(len(row)):
                if backwards:
                    row[unit] += total[unit]
                else:
                    total[unit] = row[unit]
        for entry in range(ptr[place], ptr[place + 1]):
            row = rows[np.uint32(senders[entry])]
            weight = sums.dtype.type(weights[entry] if len(weights) else 1)
            for unit in range(len(row)):
                if backwards:
                    row[unit] += weight * total[unit]
                else:
                    total[unit] += weight * row[unit]


def _units_of(layer: RowLayer, below: Floats, bias: Floats) -> Differentiated:
    """Return the results of `aggregate_and_pool`."""
    n_below, n_graphs = len(below), len(layer.pool.ptr) - 1
    arrays = layer.own, layer.ptr, layer.senders, _by_row(layer.pool, layer.n_rows)
    rows, total, above_zero = _aggregate_and_pool(below, bias, *arrays, layer.n_passed, n_graphs)

    def gradients(of_rows: Floats, of_total: Floats) -> Sequence[Floats]:
        return _aggregate_and_pool_backward(of_rows, of_total, above_zero, n_below, *arrays)

    return [rows, total], gradients


@kernel
def _by_row(pooling: Pool, n_rows: int) -> Pool:
    """Return the transpose of a pooling matrix: the graphs that have each row, and how often.

    Its ``rows`` are graphs. So a row can be pooled as soon as it is computed.
    """
    ptr = np.zeros(n_rows + 1, np.int64)
    for row in pooling.rows:
        ptr[row + 1] += 1
    ptr = np.cumsum(ptr)
    graphs, counts = np.empty(len(pooling.rows), np.int64), np.empty(len(pooling.rows), np.int32)
    free = ptr.copy()
    for graph in range(len(pooling.ptr) - 1):
        for entry in range(pooling.ptr[graph], pooling.ptr[graph + 1]):
            row = pooling.rows[entry]
            graphs[free[row]], counts[free[row]] = graph, pooling.counts[entry]
            free[row] += 1
    return Pool(ptr, graphs, counts)


@kernel(fastmath={"contract"})
def _aggregate_and_pool(  # noqa: C901  (one pass, few calls)
    below: Floats,
    bias: Floats,
    own: Ints,
    ptr: Int64,
    senders: Ints,
    pooling: Pool,
    n_passed: int,
    n_graphs: int,
) -> tuple[Floats, Floats, NDArray[np.uint8]]:
    """Compute the results of `aggregate_and_pool`, one row after another.

    Parameters
    ----------
    pooling
        From `_by_row`: the graphs of each row.

    Returns
    -------
    passed : array, shape (n_passed, width)
    total : array, shape (n_graphs, width)
    above_zero : array of uint8, shape (n_rows, width)
        Which units of each row are above zero: all that the gradient of a ReLU needs.
    """
    n, width = len(own), below.shape[1]
    passed = np.empty((n_passed, width), below.dtype)
    above_zero = np.empty((n, width), np.uint8)
    total = np.zeros((n_graphs, width), below.dtype)
    units = np.empty(width, below.dtype)
    zero = below.dtype.type(0)
    for row in range(n):
        own_row = below[np.uint32(own[row])]
        for unit in range(width):
            units[unit] = bias[unit] + own_row[unit]
        entry, stop = ptr[row], ptr[row + 1]
        # Four rows in one pass, so that the sum is read and written less often; it is added up in order.
        while entry + 4 <= stop:
            first, second = below[np.uint32(senders[entry])], below[np.uint32(senders[entry + 1])]
            third, fourth = below[np.uint32(senders[entry + 2])], below[np.uint32(senders[entry + 3])]
            for unit in range(width):
                units[unit] = (((units[unit] + first[unit]) + second[unit]) + third[unit]) + fourth[unit]
            entry += 4
        while entry < stop:
            sent = below[np.uint32(senders[entry])]
            for unit in range(width):
                units[unit] += sent[unit]
            entry += 1
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
    return passed, total, above_zero


@kernel(fastmath={"contract"})
def _aggregate_and_pool_backward(
    of_passed: Floats,
    of_total: Floats,
    above_zero: NDArray[np.uint8],
    n_below: int,
    own: Ints,
    ptr: Int64,
    senders: Ints,
    pooling: Pool,
) -> tuple[Floats, Floats]:
    """Return the gradients of ``below`` and ``bias`` from those of the results of `_aggregate_and_pool`.

    The gradient of a row is the sum of that of its passed copy, if there is one, and of those of the totals
    of its graphs, each times how often the graph has the row.
    """
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
            target = below[np.uint32(senders[entry])]
            for unit in range(width):
                target[unit] += passed[unit]
    return below, bias


# ---------------------------------------------------------------------- layers of different items


class _Level(NamedTuple):
    """A level of all graphs: the colours of its items, and the parameters of `ColourLevels.add`."""

    graph_ptr: Int64
    initial: Int32
    colours: Int32
    place: Int32  # scratch of `number_by_first`, shape (n_colours,); all -1 between two calls
    own: tuple[int, Ints | None] | None
    messages: tuple[int, Int64, Ints] | None


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
        self._levels: list[_Level] = []

    def add(
        self,
        graph_ptr: Int64,
        initial: Int32 | None = None,
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
        initial : array of int32, shape (n_items,), optional
            Numbers from 0: items with different numbers have different colours.
        own
            A level, and the item of it that each item comes from; None if the items are the same.
        messages
            A level, and the items of it that each item gets messages from, in CSR form; an item may occur
            several times. They are in the same graph.
        codes : array of int32, optional
            Kind of each message.
        refined : array of int32, shape (n_items,), optional
            Ready-made colours, numbered from 0, for layers in which items receive more than a multiset of
            messages. They replace the colours that follow from the other arguments.
        """
        marks = np.empty(0, np.int32) if initial is None else initial.astype(np.int32)
        colours = np.zeros(int(graph_ptr[-1]), np.int32) if initial is None else marks
        if own is not None:
            level, items = own
            before = self.colours(level) if items is None else self.colours(level)[items]
            colours = before if initial is None else _number_pairs(colours, before)
        if messages is not None:
            level, indptr, senders = messages
            colours = _refine(colours, self.colours(level), indptr, senders, codes)
        colours = colours if refined is None else refined
        place = np.full(int(colours.max(initial=-1)) + 1, -1, np.int32)
        self._levels.append(_Level(graph_ptr, marks, colours, place, own, messages))
        return len(self._levels) - 1

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._levels[0].graph_ptr) - 1

    def level_of_all(self, level: int) -> _Level:
        """Return a level of all graphs."""
        return self._levels[level]

    def colours(self, level: int) -> Int32:
        """Return the colours of a level, shape (n_items,)."""
        return self.level_of_all(level).colours

    def n_colours(self, level: int) -> int:
        """Return the number of colours of a level."""
        return len(self.level_of_all(level).place)

    def take(self, graphs: Int64) -> BatchLevels:
        """Return the levels of these graphs alone."""
        return BatchLevels(self, np.asarray(graphs, np.int64))


class BatchLevels:
    """The levels of some graphs: only rows of their own items; each level is built on first use."""

    def __init__(self, levels: ColourLevels, graphs: Int64) -> None:
        self.levels = levels
        self.graphs = graphs
        self._built: dict[int, RowLayer] = {}

    def item_ptr(self, level: int) -> Int64:
        """Return the range of each graph's items in the mini-batch."""
        graph_ptr = self.levels.level_of_all(level).graph_ptr
        return pointer(graph_ptr[self.graphs + 1] - graph_ptr[self.graphs])

    def level(self, number: int) -> RowLayer:
        """Return a level, without its pool."""
        if number not in self._built:
            self._built[number] = self._build(self.levels.level_of_all(number))
        return self._built[number]

    def marks(self, number: int) -> Int64:
        """Return the number of each row of a level, among those given as ``initial``."""
        return self.levels.level_of_all(number).initial[self.level(number).item_of_row].astype(np.int64)

    def senders(self, number: int, of: int) -> Int64:
        """Return, for each message of level ``number``, the row that its sender has in level ``of``."""
        return self.level(of).row_of_item[self.level(number).sent]

    def arcs(self, number: int) -> Int64:
        """Return the numbers of the messages of a level among those of all graphs."""
        messages = self.levels.level_of_all(number).messages
        return NONE if messages is None else entries_of(messages[1], self.level(number).item_of_row)[1]

    def pooled(self, number: int) -> Pool:
        """Return how often each row of a level occurs in each graph."""
        return count_rows(self.item_ptr(number), self.level(number).row_of_item)

    def _build(self, whole: _Level) -> RowLayer:
        item_ptr, items = entries_of(whole.graph_ptr, self.graphs)
        row_of_item, first = number_by_first(whole.colours[items], whole.place)
        # One item stands for each row; its messages are those of the row.
        items, graphs = items[first], np.searchsorted(item_ptr, first, side="right") - 1
        own = senders = sent = NONE
        ptr = np.zeros(len(items) + 1, np.int64)
        if whole.own is not None:
            level, of_items = whole.own
            below = items if of_items is None else of_items[items]
            own = self.level(level).row_of_item[below + self._shift(level)[graphs]]
        if whole.messages is not None:
            level, indptr, senders = whole.messages
            ptr, arcs = entries_of(indptr, items)
            sent = senders[arcs] + np.repeat(self._shift(level)[graphs], np.diff(ptr))
            senders = self.level(level).row_of_item[sent]
        counts = np.bincount(row_of_item, minlength=len(items))
        return RowLayer(
            own, ptr, senders, item_of_row=items, row_of_item=row_of_item, counts=counts, sent=sent
        )

    def _shift(self, level: int) -> Int64:
        """Return, for each graph, its items' shift from numbers among all to numbers in the mini-batch."""
        return self.item_ptr(level)[:-1] - self.levels.level_of_all(level).graph_ptr[self.graphs]


def distinct_rows(values: NDArray[np.generic]) -> tuple[Int32, Int64]:
    """Return numbers of the distinct rows of a matrix, compared bit by bit, and where each occurs first.

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


def _number_pairs(first: Int32, second: Int32) -> Int32:
    """Return numbers from 0 for pairs of numbers."""
    pairs = first.astype(np.int64) * (int(second.max(initial=-1)) + 1) + second
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def _refine(own: Int32, sent: Int32, indptr: Int64, senders: Ints, codes: Int32 | None) -> Int32:
    """Return the colours of items after one more round of messages."""
    # The senders come after the receivers, so both may be items of different kinds.
    before = np.concatenate([own, sent])
    codes = np.empty(0, np.int32) if codes is None else codes.astype(np.int32)
    n_codes = int(codes.max(initial=0)) + 1
    kinds = codes if n_codes > 1 else codes[:0]
    messages = read_only_messages(indptr, (senders + len(own)).astype(np.int32), kinds, n_codes)
    after = np.empty_like(own)
    table = RoundTable(int(before.max(initial=0)) + 1, n_codes)
    colour_round(messages, before, table, after, insert=True)
    return after


def entries_of(ptr: Int64, rows: Int64, skip: int = 0) -> tuple[Int64, Int64]:
    """Select rows of a CSR matrix: return their own ``ptr``, and where their entries are in the matrix.

    The first ``skip`` entries of each row are left out.
    """
    starts = ptr[rows] + skip
    lengths = ptr[rows + 1] - starts
    return pointer(lengths), ranges(starts, lengths)


@kernel
def number_by_first(colours: Ints, place: Int32) -> tuple[Int64, Int64]:
    """Return numbers of colours by first occurrence, and where each number occurs first.

    ``place`` is scratch of shape (n_colours,): all -1 before and after. So the cost does not depend on the
    number of colours there are.
    """
    numbers = np.empty(len(colours), np.int64)
    first = np.empty(len(colours), np.int64)
    n = 0
    for index in range(len(colours)):
        colour = colours[index]
        if place[colour] < 0:
            place[colour] = n
            first[n] = index
            n += 1
        numbers[index] = place[colour]
    for number in range(n):
        place[colours[first[number]]] = -1
    return numbers, first[:n]


@kernel
def count_rows(item_ptr: Int64, row_of_item: Ints) -> Pool:
    """Count how often each row occurs in each graph's range of items.

    One hash table, small enough to stay in the cache, serves all graphs: a slot is empty unless its stamp is
    the current graph.
    """
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
            slot = ((np.int64(row) * 0x9E3779B1) >> 7) & (length - 1)  # a multiplicative hash
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
