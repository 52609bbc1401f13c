"""The two sparse products of the encoder, with their gradients: message passing and pooling.

Mini-batches have a few thousand short rows. For them a plain loop over rows, in one compiled pass with the
bias and the ReLU, is several times as fast as general sparse kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64

__all__ = ["hear", "pool"]


def hear(below: torch.Tensor, bias: torch.Tensor, hear_ptr: Int64, heard: Int32) -> torch.Tensor:
    """Return ``relu(A @ below + bias)`` for a matrix of ones in CSR form, shape (n_rows, width).

    >>> below, bias = torch.tensor([[1.0], [2.0]]), torch.tensor([-2.0])
    >>> hear(below, bias, np.array([0, 1, 3]), np.array([0, 0, 1], np.int32)).tolist()
    [[0.0], [1.0]]
    """
    result: torch.Tensor = _Hear.apply(below, bias, hear_ptr, heard)  # type: ignore[no-untyped-call]
    return result


def pool(rows: torch.Tensor, pool_ptr: Int64, pooled: Int32, counts: Int32) -> torch.Tensor:
    """Return ``P @ rows`` for a matrix of counts in CSR form, shape (n_graphs, width).

    >>> rows = torch.tensor([[1.0], [2.0]])
    >>> pool(rows, np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 1], np.int32)).tolist()
    [[5.0]]
    """
    result: torch.Tensor = _Pool.apply(rows, pool_ptr, pooled, counts)  # type: ignore[no-untyped-call]
    return result


class _Hear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        below: torch.Tensor,
        bias: torch.Tensor,
        hear_ptr: Int64,
        heard: Int32,
    ) -> torch.Tensor:
        out = torch.from_numpy(
            _hear_forward(below.detach().contiguous().numpy(), bias.detach().numpy(), hear_ptr, heard)
        )
        ctx.save_for_backward(out)
        ctx.arrays = hear_ptr, heard, below.shape[0]
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:  # noqa: ANN401
        (out,) = ctx.saved_tensors
        hear_ptr, heard, n_below = ctx.arrays
        below, bias = _hear_backward(
            grad.contiguous().numpy(), out.detach().numpy(), hear_ptr, heard, n_below
        )
        return torch.from_numpy(below), torch.from_numpy(bias), None, None


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        rows: torch.Tensor,
        pool_ptr: Int64,
        pooled: Int32,
        counts: Int32,
    ) -> torch.Tensor:
        ctx.arrays = pool_ptr, pooled, counts, rows.shape[0]
        return torch.from_numpy(_pool_forward(rows.detach().contiguous().numpy(), pool_ptr, pooled, counts))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:  # noqa: ANN401
        return torch.from_numpy(_pool_backward(grad.contiguous().numpy(), *ctx.arrays)), None, None, None


@kernel(fastmath={"contract"})
def _hear_forward(
    below: NDArray[np.floating], bias: NDArray[np.floating], hear_ptr: Int64, heard: Int32
) -> NDArray[np.floating]:
    n, width = len(hear_ptr) - 1, below.shape[1]
    out = np.empty((n, width), below.dtype)
    zero = below.dtype.type(0)
    for row in range(n):
        target = out[row]
        for unit in range(width):
            target[unit] = bias[unit]
        for entry in range(hear_ptr[row], hear_ptr[row + 1]):
            source = below[heard[entry]]
            for unit in range(width):
                target[unit] += source[unit]
        for unit in range(width):
            target[unit] = max(target[unit], zero)
    return out


@kernel(fastmath={"contract"})
def _hear_backward(
    grad: NDArray[np.floating], out: NDArray[np.floating], hear_ptr: Int64, heard: Int32, n_below: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    n, width = grad.shape
    below = np.zeros((n_below, width), grad.dtype)
    bias = np.zeros(width, grad.dtype)
    passed = np.empty(width, grad.dtype)
    zero = grad.dtype.type(0)
    for row in range(n):
        for unit in range(width):
            passed[unit] = grad[row, unit] if out[row, unit] > zero else zero
            bias[unit] += passed[unit]
        for entry in range(hear_ptr[row], hear_ptr[row + 1]):
            target = below[heard[entry]]
            for unit in range(width):
                target[unit] += passed[unit]
    return below, bias


@kernel(fastmath={"contract"})
def _pool_forward(
    rows: NDArray[np.floating], pool_ptr: Int64, pooled: Int32, counts: Int32
) -> NDArray[np.floating]:
    n, width = len(pool_ptr) - 1, rows.shape[1]
    out = np.zeros((n, width), rows.dtype)
    for graph in range(n):
        target = out[graph]
        for entry in range(pool_ptr[graph], pool_ptr[graph + 1]):
            count = rows.dtype.type(counts[entry])
            source = rows[pooled[entry]]
            for unit in range(width):
                target[unit] += count * source[unit]
    return out


@kernel(fastmath={"contract"})
def _pool_backward(
    grad: NDArray[np.floating], pool_ptr: Int64, pooled: Int32, counts: Int32, n_rows: int
) -> NDArray[np.floating]:
    n, width = grad.shape
    out = np.zeros((n_rows, width), grad.dtype)
    for graph in range(n):
        source = grad[graph]
        for entry in range(pool_ptr[graph], pool_ptr[graph + 1]):
            count = grad.dtype.type(counts[entry])
            target = out[pooled[entry]]
            for unit in range(width):
                target[unit] += count * source[unit]
    return out
