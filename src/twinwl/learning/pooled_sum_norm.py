"""Batch normalisation over graphs for pooled sums, and over items of which several share a row."""

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

    from twinwl.arrays import Int64


class PooledSumNorm(torch.nn.BatchNorm1d):
    """Batch normalisation over graphs; a single graph, which has no spread, is scaled as at prediction."""

    # Sums over all processes that share a batch (`twinwl.learning.data_parallel`), if there are several.
    total: Callable[[torch.Tensor], torch.Tensor] | None = None

    def forward(self, sums: torch.Tensor) -> torch.Tensor:
        """Normalise each column."""
        if self.training and self.total is not None:
            return self._with_torch(sums, sums.new_ones(len(sums)))
        if self.training and len(sums) > 1:
            return super().forward(sums)
        return self._scaled(sums)

    def rectified(self, rows: torch.Tensor, counts: Int64, added: torch.Tensor) -> torch.Tensor:
        """Return ``relu(self(rows + added))`` for items of which ``counts`` share each row.

        Parameters
        ----------
        rows : tensor, shape (n_rows, width)
        counts : array of int64, shape (n_rows,)
            How often each row occurs.
        added : tensor, shape (width,)
            Bias of the layer before. In training it changes the running mean only: it cancels in the rest,
            and its gradient is zero.

        Examples
        --------
        >>> norm, rows = PooledSumNorm(1), torch.tensor([[1.0], [2.0], [2.0]])
        >>> norm.rectified(rows[:2], np.array([1, 2]), torch.zeros(1))[[0, 1, 1]].allclose(norm(rows).relu())
        True
        """
        rows = single(rows)
        if not self.training or (self.total is None and counts.sum() <= 1):
            return self._scaled(rows + added).relu_()
        if self.total is not None or rows.device.type != "cpu":
            return self._with_torch(rows + added, as_tensor(counts, rows.device).to(rows.dtype)).relu()
        assert self.running_mean is not None and self.running_var is not None  # noqa: PT018, S101
        running = (self.running_mean.numpy(), self.running_var.numpy())
        settings = (counts, running, self.eps, self.momentum)
        result: torch.Tensor = _Rectified.apply(rows, added, self.weight, self.bias, settings)  # type: ignore[no-untyped-call]
        return result

    def _scaled(self, sums: torch.Tensor) -> torch.Tensor:
        return functional.batch_norm(
            sums, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
        )

    def _with_torch(self, rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Normalise weighted rows with torch's own operations, on any device; those of all processes."""
        total = self.total or _itself
        count = total(weights.sum())
        mean = total(weights @ rows) / count
        centred = rows - mean
        variance = total(weights @ (centred * centred)) / count
        if self.total is None:
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)  # type: ignore[union-attr, arg-type]
                self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)  # type: ignore[union-attr, arg-type]
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


def _itself(value: torch.Tensor) -> torch.Tensor:
    return value


class _Rectified(torch.autograd.Function):
    """Normalisation over weighted rows, and a ReLU, in one pass each way."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        rows: torch.Tensor,
        added: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        settings: tuple[Any, ...],
    ) -> torch.Tensor:
        x, scale = rows.detach().contiguous().numpy(), weight.detach().numpy()
        out, mean, inverse = _rectify(x, added.detach().numpy(), scale, bias.detach().numpy(), *settings)
        ctx.arrays = x, out, settings[0], scale, mean, inverse
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
        gradients = _rectify_backward(grad.contiguous().numpy(), *ctx.arrays)
        of_rows, of_weight, of_bias = map(torch.from_numpy, gradients)
        return of_rows, torch.zeros_like(of_bias), of_weight, of_bias, None


@kernel(fastmath={"contract"})
def _rectify(
    x: NDArray[np.floating],
    added: NDArray[np.floating],
    weight: NDArray[np.floating],
    bias: NDArray[np.floating],
    counts: Int64,
    running: tuple[NDArray[np.floating], NDArray[np.floating]],
    eps: float,
    momentum: float,
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    n, width = x.shape
    running_mean, running_var = running
    mean, variance = np.zeros(width), np.zeros(width)
    total = 0.0
    for row in range(n):
        count = float(counts[row])
        total += count
        for unit in range(width):
            mean[unit] += count * x[row, unit]
    mean /= total
    for row in range(n):
        count = float(counts[row])
        for unit in range(width):
            centred = x[row, unit] - mean[unit]
            variance[unit] += count * centred * centred
    for unit in range(width):
        unbiased = variance[unit] / (total - 1)
        running_mean[unit] += momentum * (mean[unit] + added[unit] - running_mean[unit])
        running_var[unit] += momentum * (unbiased - running_var[unit])
    inverse = (1 / np.sqrt(variance / total + eps)).astype(x.dtype)
    centre, zero = mean.astype(x.dtype), x.dtype.type(0)
    scale = inverse * weight
    out = np.empty_like(x)
    for row in range(n):
        for unit in range(width):
            out[row, unit] = max((x[row, unit] - centre[unit]) * scale[unit] + bias[unit], zero)
    return out, centre, inverse


@kernel(fastmath={"contract"})
def _rectify_backward(
    grad: NDArray[np.floating],
    x: NDArray[np.floating],
    out: NDArray[np.floating],
    counts: Int64,
    weight: NDArray[np.floating],
    mean: NDArray[np.floating],
    inverse: NDArray[np.floating],
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    n, width = x.shape
    by_spread, by_mean = np.zeros(width), np.zeros(width)
    total = 0.0
    zero = x.dtype.type(0)
    for row in range(n):
        total += counts[row]
        for unit in range(width):
            passed = grad[row, unit] if out[row, unit] > 0 else zero
            by_mean[unit] += passed
            by_spread[unit] += passed * ((x[row, unit] - mean[unit]) * inverse[unit])
    of_weight, of_bias = by_spread.astype(x.dtype), by_mean.astype(x.dtype)
    spread, centre = (by_spread / total).astype(x.dtype), (by_mean / total).astype(x.dtype)
    scale = weight * inverse
    of_rows = np.empty_like(x)
    for row in range(n):
        count = x.dtype.type(counts[row])
        for unit in range(width):
            passed = grad[row, unit] if out[row, unit] > 0 else zero
            normalised = (x[row, unit] - mean[unit]) * inverse[unit]
            of_rows[row, unit] = scale[unit] * (passed - count * (centre[unit] + normalised * spread[unit]))
    return of_rows, of_weight, of_bias
