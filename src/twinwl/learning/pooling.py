"""Weighted sums of rows, with their gradient: a sparse matrix in CSR form times a dense one.

Mini-batches have a few thousand short rows. For them a plain compiled loop is several times as fast as
general sparse kernels; on other devices than the processor, torch's own operations do the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

from twinwl.compilation.kernel import kernel
from twinwl.learning.devices import as_tensor, single

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64, Ints


def pool(rows: torch.Tensor, pool_ptr: Int64, pooled: Ints, counts: NDArray[Any]) -> torch.Tensor:
    """Return ``P @ rows`` for a matrix of counts (or other weights) in CSR form, shape (n_graphs, width).

    >>> rows = torch.tensor([[1.0], [2.0]])
    >>> pool(rows, np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 1], np.int32)).tolist()
    [[5.0]]
    """
    if rows.device.type != "cpu":
        return weighted_sums(rows, pool_ptr, pooled, counts)
    result: torch.Tensor = _Pool.apply(single(rows), pool_ptr, pooled, counts)  # type: ignore[no-untyped-call]
    return result


def weighted_sums(rows: torch.Tensor, pool_ptr: Int64, pooled: Ints, counts: NDArray[Any]) -> torch.Tensor:
    """Return the same as `pool` with torch's own operations, for any device.

    >>> rows = torch.tensor([[1.0], [2.0]])
    >>> weighted_sums(rows, np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 1], np.int32)).tolist()
    [[5.0]]
    """
    rows, device = single(rows), rows.device
    into, taken = expanded(pool_ptr, device), as_tensor(pooled, device).long()
    weights = torch.from_numpy(counts).to(rows.dtype).to(device)
    return rows.new_zeros(len(pool_ptr) - 1, rows.shape[1]).index_add(0, into, rows[taken] * weights[:, None])


def expanded(pointer: Int64, device: torch.device) -> torch.Tensor:
    """Return the row of each entry of a CSR matrix, on a device.

    >>> expanded(np.array([0, 2, 3]), torch.device("cpu"))
    tensor([0, 0, 1])
    """
    return torch.from_numpy(np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))).to(device)


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
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


class PooledSumNorm(torch.nn.BatchNorm1d):
    """Batch normalisation over graphs; a single graph, which has no spread, is scaled as at prediction."""

    # Sums over all processes that share a batch (`twinwl.learning.data_parallel`), if there are several.
    total: Callable[[torch.Tensor], torch.Tensor] | None = None

    def forward(self, sums: torch.Tensor) -> torch.Tensor:
        """Normalise each column."""
        if self.training and self.total is not None:
            return self._normalised_together(sums, self.total)
        if self.training and len(sums) > 1:
            return super().forward(sums)
        return functional.batch_norm(
            sums, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
        )

    def _normalised_together(
        self, sums: torch.Tensor, total: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """Normalise by mean and variance of the rows of all processes."""
        count = total(torch.tensor(float(len(sums))))
        centred = sums - total(sums.sum(dim=0)) / count
        variance = total((centred * centred).sum(dim=0)) / count
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias

    def recalibrate(self, sums: torch.Tensor) -> None:
        """Use mean and variance of these rows at prediction, instead of the running averages."""
        if self.running_mean is not None and self.running_var is not None and len(sums) > 1:
            # In double precision: sums are large, and differences between graphs may be small.
            exact = (
                sums.float() if sums.device.type == "mps" else sums.double()
            )  # mps has no double precision
            self.running_mean.copy_(exact.mean(dim=0))
            self.running_var.copy_(exact.var(dim=0))
