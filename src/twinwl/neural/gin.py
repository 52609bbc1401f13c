"""A graph isomorphism network with epsilon 0, for the quotient and for graphs.

The sparse product of the encoder, with its gradient: message passing with pooling.

Mini-batches have a few thousand short rows. For them a plain loop over rows, in one compiled pass with the
bias and the ReLU, is several times as fast as general sparse kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from twinwl.arrays import Int32, Int64
from twinwl.compilation import kernel
from twinwl.neural.devices import as_tensor
from twinwl.neural.rows import expanded, pool

if TYPE_CHECKING:
    from twinwl.neural.slicing import LayerSlice, QuotientSlice


def hear_and_pool(
    below: torch.Tensor, bias: torch.Tensor, layer: LayerSlice
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first ``layer.n_heard`` rows of ``relu(A @ below + bias)``, and ``P`` times all of them.

    Rows that only the pooling needs, most of them in the top layer, are never written to memory: the gradient
    needs no more than which of their units are above zero.

    Returns
    -------
    rows : tensor, shape (n_heard, width)
    total : tensor, shape (n_graphs, width)
    """
    if below.device.type != "cpu":
        return _with_torch(below, bias, layer)
    result: tuple[torch.Tensor, torch.Tensor] = _HearAndPool.apply(below, bias, layer)  # type: ignore[no-untyped-call]
    return result


def _with_torch(
    below: torch.Tensor, bias: torch.Tensor, layer: LayerSlice
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the same with torch's own operations, for any device."""
    into, heard = expanded(layer.hear_ptr, below.device), as_tensor(layer.heard, below.device).long()
    units = (bias + below.new_zeros(layer.n_rows, below.shape[1]).index_add(0, into, below[heard])).relu()
    return units[: layer.n_heard], pool(units, layer.pool_ptr, layer.pooled, layer.counts)


class _HearAndPool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        below: torch.Tensor,
        bias: torch.Tensor,
        layer: LayerSlice,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        pooling = _by_row(layer.pool_ptr, layer.pooled, layer.counts, layer.n_rows)
        rows, above_zero, total = _hear_and_pool_forward(
            below.detach().contiguous().numpy(),
            bias.detach().numpy(),
            layer.hear_ptr,
            layer.heard,
            pooling,
            layer.n_heard,
            len(layer.pool_ptr) - 1,
        )
        ctx.arrays = layer.hear_ptr, layer.heard, pooling, above_zero, below.shape[0]
        return torch.from_numpy(rows), torch.from_numpy(total)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        of_rows: torch.Tensor,
        of_total: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, None]:
        below, bias = _hear_and_pool_backward(
            of_rows.contiguous().numpy(), of_total.contiguous().numpy(), *ctx.arrays
        )
        return torch.from_numpy(below), torch.from_numpy(bias), None


class _ByRow(NamedTuple):
    """A pooling matrix by its columns: the graphs of each row, and how often they have it."""

    ptr: Int64
    graph: Int32
    times: Int32


@kernel
def _by_row(pool_ptr: Int64, pooled: Int32, counts: Int32, n_rows: int) -> _ByRow:
    ptr = np.zeros(n_rows + 1, np.int64)
    for row in pooled:
        ptr[row + 1] += 1
    for row in range(n_rows):
        ptr[row + 1] += ptr[row]
    graph = np.empty(len(pooled), np.int32)
    count = np.empty(len(pooled), np.int32)
    free = ptr[:-1].copy()
    for index in range(len(pool_ptr) - 1):
        for entry in range(pool_ptr[index], pool_ptr[index + 1]):
            place = free[pooled[entry]]
            free[pooled[entry]] += 1
            graph[place] = index
            count[place] = counts[entry]
    return _ByRow(ptr, graph, count)


@kernel(fastmath={"contract"})
def _hear_and_pool_forward(  # noqa: C901  (one pass, few calls)
    below: NDArray[np.floating],
    bias: NDArray[np.floating],
    hear_ptr: Int64,
    heard: Int32,
    pooling: _ByRow,
    n_kept: int,
    n_graphs: int,
) -> tuple[NDArray[np.floating], NDArray[np.uint8], NDArray[np.floating]]:
    n, width = len(hear_ptr) - 1, below.shape[1]
    kept = np.empty((n_kept, width), below.dtype)
    above_zero = np.empty((n, width), np.uint8)
    total = np.zeros((n_graphs, width), below.dtype)
    units = np.empty(width, below.dtype)
    zero = below.dtype.type(0)
    for row in range(n):
        for unit in range(width):
            units[unit] = bias[unit]
        entry, stop = hear_ptr[row], hear_ptr[row + 1]
        # Four rows in one pass, so that the sum is read and written less often; it is added up in order.
        while entry + 4 <= stop:
            first, second = below[np.uint32(heard[entry])], below[np.uint32(heard[entry + 1])]
            third, fourth = below[np.uint32(heard[entry + 2])], below[np.uint32(heard[entry + 3])]
            for unit in range(width):
                units[unit] = (((units[unit] + first[unit]) + second[unit]) + third[unit]) + fourth[unit]
            entry += 4
        while entry < stop:
            first = below[np.uint32(heard[entry])]
            for unit in range(width):
                units[unit] += first[unit]
            entry += 1
        signs = above_zero[row]
        for unit in range(width):
            signs[unit] = units[unit] > zero
            units[unit] = max(units[unit], zero)
        if row < n_kept:
            kept[row] = units
        for entry in range(pooling.ptr[row], pooling.ptr[row + 1]):
            target = total[pooling.graph[entry]]
            count = below.dtype.type(pooling.times[entry])
            for unit in range(width):
                target[unit] += count * units[unit]
    return kept, above_zero, total


@kernel(fastmath={"contract"})
def _hear_and_pool_backward(
    of_kept: NDArray[np.floating],
    of_total: NDArray[np.floating],
    hear_ptr: Int64,
    heard: Int32,
    pooling: _ByRow,
    above_zero: NDArray[np.uint8],
    n_below: int,
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    n, width = above_zero.shape
    below = np.zeros((n_below, width), of_total.dtype)
    bias = np.zeros(width, of_total.dtype)
    passed = np.empty(width, of_total.dtype)
    zero = of_total.dtype.type(0)
    n_kept = len(of_kept)
    for row in range(n):
        if row < n_kept:
            for unit in range(width):
                passed[unit] = of_kept[row, unit]
        else:
            for unit in range(width):
                passed[unit] = zero
        for entry in range(pooling.ptr[row], pooling.ptr[row + 1]):
            source = of_total[np.uint32(pooling.graph[entry])]
            count = of_total.dtype.type(pooling.times[entry])
            for unit in range(width):
                passed[unit] += count * source[unit]
        signs = above_zero[row]
        for unit in range(width):
            passed[unit] = passed[unit] if signs[unit] else zero
            bias[unit] += passed[unit]
        for entry in range(hear_ptr[row], hear_ptr[row + 1]):
            place = np.uint32(heard[entry])
            for unit in range(width):
                below[place, unit] += passed[unit]
    return below, bias


class GINLayer(torch.nn.Module):
    """One step of equation (5): a two-layer MLP of a node's own state plus the sum of its neighbours'.

    Parameters
    ----------
    n_inputs, hidden
        Width of the state before and after.
    n_codes
        Number of kinds of messages; each has an embedding that is added to the neighbour before the sum. With
        0 all messages are of the same kind.
    """

    def __init__(self, n_inputs: int, hidden: int, n_codes: int = 0) -> None:
        super().__init__()
        self.first = torch.nn.Linear(n_inputs, hidden)
        self.second = torch.nn.Linear(hidden, hidden)
        self.edge = torch.nn.Embedding(n_codes, n_inputs) if n_codes else None

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, codes: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the next state of each node, as in the equation.

        Parameters
        ----------
        x : tensor, shape (n_nodes, n_inputs)
        edge_index : tensor of int64, shape (2, n_messages)
            Sender and receiver of each message.
        codes : tensor of int64, shape (n_messages,), optional
            Kind of each message; -1 for one that did not occur in training, which has no embedding.
        """
        said = x[edge_index[0]]
        if self.edge is not None and codes is not None:
            said = said + self.edge(codes.clamp(min=0)) * (codes >= 0)[:, None]
        state: torch.Tensor = self.second(self.first(x.index_add(0, edge_index[1], said)).relu())
        return state

    def rectified(
        self, projected: torch.Tensor, rows: LayerSlice, codes: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the MLP's hidden units for the rows of a quotient's layer that are heard, and their sums.

        Parameters
        ----------
        projected : tensor, shape (n_below, hidden)
            The previous states, already multiplied by the first weight: the sum over neighbours is linear,
            and there are fewer rows before it than after.
        rows
            The layer's rows.
        codes : tensor of int64
            As in `QuotientSlice.codes`.

        Returns
        -------
        units : tensor, shape (n_heard, hidden)
        total : tensor, shape (n_graphs, hidden)
            Units of all rows, pooled by graph.
        """
        if self.edge is not None and len(codes):
            embedded = self.edge(codes.clamp(min=0)) * (codes >= 0)[:, None]
            projected = torch.cat([projected, functional.linear(embedded, self.first.weight)])
        return hear_and_pool(projected, self.first.bias, rows)


class GIN(torch.nn.Module):
    """The layers ``MLP^(1), …, MLP^(K)``, shared by all depths.

    Parameters
    ----------
    n_inputs
        Width of the nodes' features.
    hidden, layers, n_codes
        As for `GINLayer`.
    """

    def __init__(self, n_inputs: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        widths = [n_inputs] + [hidden] * (layers - 1)
        self.layers = torch.nn.ModuleList(GINLayer(width, hidden, n_codes) for width in widths)

    @property
    def steps(self) -> list[GINLayer]:
        """The layers, with their type."""
        return list(self.layers)  # type: ignore[arg-type]

    def pooled_states(self, graphs: QuotientSlice, n_labels: int) -> list[torch.Tensor]:
        """Return ``R_1, …, R_K`` for a mini-batch of the quotient, each of shape (n_graphs, hidden).

        Inputs are ``n_labels`` columns for the labels, one-hot, and the continuous features, and the rest for
        the marks.
        """
        sums: list[torch.Tensor] = []
        for layer, rows, _, total in self._run(graphs, n_labels, graphs.layers):
            # The MLP ends with a linear layer, so pooling can come first: there are fewer graphs than rows.
            pairs = torch.from_numpy(rows.n_pairs()).to(total.dtype).to(total.device)[:, None]
            state = functional.linear(total, layer.second.weight) + pairs * layer.second.bias
            if graphs.scale is not None:
                state = state * as_tensor(graphs.scale, state.device).to(state.dtype)[:, None]
            sums.append(state)
        return sums

    def rectified_rows(
        self, graphs: QuotientSlice, n_labels: int
    ) -> Iterator[tuple[GINLayer, LayerSlice, torch.Tensor]]:
        """Yield each layer with its rows and the hidden units of all, which ``layer.second`` makes states."""
        layers = tuple(rows._replace(n_heard=rows.n_rows) for rows in graphs.layers)
        for layer, rows, units, _ in self._run(graphs, n_labels, layers):
            yield layer, rows, units

    def _run(
        self, graphs: QuotientSlice, n_labels: int, layers: tuple[LayerSlice, ...]
    ) -> Iterator[tuple[GINLayer, LayerSlice, torch.Tensor, torch.Tensor]]:
        """Yield each layer with its rows, the hidden units of those that are heard, and the pooled sums."""
        first = self.steps[0].first.weight
        n_one_hot = n_labels if graphs.features is None else n_labels - graphs.features.shape[1]
        projected = _looked_up(first[:, :n_one_hot], as_tensor(graphs.label, first.device))
        if graphs.features is not None:
            features = as_tensor(graphs.features, first.device).to(first.dtype)
            projected = projected + functional.linear(features, first[:, n_one_hot:n_labels])
        if first.shape[1] > n_labels:
            projected = projected + _looked_up(first[:, n_labels:], as_tensor(graphs.mark, first.device))
        codes = as_tensor(graphs.codes, first.device)
        for number, (layer, rows) in enumerate(zip(self.steps, layers, strict=True), start=1):
            units, total = layer.rectified(projected, rows, codes)
            yield layer, rows, units, total
            if number < len(self.steps):
                # Two linear maps in a row are one: a product of two small matrices saves one of all rows.
                weight, n_below = self.steps[number].first.weight, graphs.layers[number].n_below
                projected = functional.linear(
                    units if len(units) == n_below else units[:n_below],  # a slice's gradient is a copy
                    weight @ layer.second.weight,
                    weight @ layer.second.bias,
                )


class GINReadout(torch.nn.Module):
    """A GIN as readout of a rooted subgraph: states summed over its nodes, at one depth or several.

    Parameters
    ----------
    gin
        The network; its weights are shared, not copied.
    depths
        Numbers of layers after which to read; the states of several are concatenated.
    """

    def __init__(self, gin: GIN, depths: tuple[int, ...]) -> None:
        super().__init__()
        self.gin = gin
        self.depths = depths

    def forward(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None = None,
        size: int | None = None,
    ) -> torch.Tensor:
        """Return one row per subgraph, shape (n_subgraphs, len(depths) * hidden).

        ``size`` is the number of subgraphs, needed only if the last ones are empty.
        """
        n_subgraphs = int(batch[-1]) + 1 if size is None and len(batch) else size or 0
        parts: list[torch.Tensor] = []
        for depth in range(1, max(self.depths) + 1):
            x = self.gin.steps[depth - 1](x, edge_index, codes)
            if depth in self.depths:
                parts.append(x.new_zeros(n_subgraphs, x.shape[1]).index_add(0, batch, x))
        return torch.cat(parts, dim=1)


def _looked_up(weight: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Return the product of one-hot rows and a weight's transpose; a number of -1 is a row of zeros."""
    return functional.embedding(numbers.clamp(min=0), weight.t()) * (numbers >= 0)[:, None]
