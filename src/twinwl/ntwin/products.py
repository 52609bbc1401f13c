"""The sparse product of the encoder, with its gradient: message passing with pooling.

Mini-batches have a few thousand short rows. For them a plain loop over rows, in one compiled pass with the
bias and the ReLU, is several times as fast as general sparse kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from twinwl.compilation.kernel import kernel
from twinwl.learning.devices import as_tensor, single
from twinwl.learning.pooling import expanded, weighted_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64
    from twinwl.ntwin.slicing import LayerSlice

__all__ = ["hear_and_pool"]


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
    result: tuple[torch.Tensor, torch.Tensor] = _HearAndPool.apply(single(below), single(bias), layer)  # type: ignore[no-untyped-call]
    return result


def _with_torch(
    below: torch.Tensor, bias: torch.Tensor, layer: LayerSlice
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the same with torch's own operations, for any device."""
    below, bias = single(below), single(bias)
    into, heard = expanded(layer.hear_ptr, below.device), as_tensor(layer.heard, below.device).long()
    units = (bias + below.new_zeros(layer.n_rows, below.shape[1]).index_add(0, into, below[heard])).relu()
    return units[: layer.n_heard], weighted_sums(units, layer.pool_ptr, layer.pooled, layer.counts)


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
