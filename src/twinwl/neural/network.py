"""The whole NTwin-GNN: encoder, normalisation of the pooled sums, and the classifier of the paper.

Batch normalisation over graphs for pooled sums, and over items of which several share a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from twinwl.arrays import Floats, Int64
from twinwl.compilation import kernel
from twinwl.neural.devices import as_tensor, moved, own_device
from twinwl.neural.sparse import SparseLinear, SparseRows
from twinwl.neural.training import Examples, rows_at_once

if TYPE_CHECKING:
    from twinwl.neural.encoder import GraphData, NTwinEncoder, TwinInput


class PooledSumNorm(nn.BatchNorm1d):
    """Batch normalisation over graphs; a single graph, which has no spread, is scaled as at prediction."""

    def forward(self, sums: Tensor) -> Tensor:
        """Normalise each column."""
        if self.training and len(sums) > 1:
            return super().forward(sums)
        return self._scaled(sums)

    def rectified(self, rows: Tensor, counts: Int64, added: Tensor) -> Tensor:
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
        if not self.training or counts.sum() <= 1:
            return self._scaled(rows + added).relu_()
        if rows.device.type != "cpu":
            return self._with_torch(rows + added, as_tensor(counts, rows.device).to(rows.dtype)).relu()
        assert self.running_mean is not None and self.running_var is not None  # noqa: PT018, S101
        running = (self.running_mean.numpy(), self.running_var.numpy())
        settings = (counts, running, self.eps, self.momentum)
        result: Tensor = _Rectified.apply(rows, added, self.weight, self.bias, settings)  # type: ignore[no-untyped-call]
        return result

    def _scaled(self, sums: Tensor) -> Tensor:
        return functional.batch_norm(
            sums, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
        )

    def _with_torch(self, rows: Tensor, weights: Tensor) -> Tensor:
        """Normalise weighted rows with torch's own operations, on any device."""
        count = weights.sum()
        mean = weights @ rows / count
        centred = rows - mean
        variance = weights @ (centred * centred) / count
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)  # type: ignore[union-attr, arg-type]
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)  # type: ignore[union-attr, arg-type]
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias

    def recalibrate(self, sums: Tensor) -> None:
        """Use mean and variance of these rows at prediction, instead of the running averages."""
        if self.running_mean is not None and self.running_var is not None and len(sums) > 1:
            # In double precision: sums are large, and differences between graphs may be small.
            exact = (
                sums.float() if sums.device.type == "mps" else sums.double()
            )  # mps has no double precision
            self.running_mean.copy_(exact.mean(dim=0))
            self.running_var.copy_(exact.var(dim=0))


class _Rectified(torch.autograd.Function):
    """Normalisation over weighted rows, and a ReLU, in one pass each way."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        rows: Tensor,
        added: Tensor,
        weight: Tensor,
        bias: Tensor,
        settings: tuple[Any, ...],
    ) -> Tensor:
        x, scale = rows.detach().contiguous().numpy(), weight.detach().numpy()
        out, mean, inverse = _rectify(x, added.detach().numpy(), scale, bias.detach().numpy(), *settings)
        ctx.arrays = x, out, settings[0], scale, mean, inverse
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        gradients = _rectify_backward(grad.contiguous().numpy(), *ctx.arrays)
        of_rows, of_weight, of_bias = map(torch.from_numpy, gradients)
        return of_rows, torch.zeros_like(of_bias), of_weight, of_bias, None


@kernel(fastmath={"contract"})
def _rectify(
    x: Floats,
    added: Floats,
    weight: Floats,
    bias: Floats,
    counts: Int64,
    running: tuple[Floats, Floats],
    eps: float,
    momentum: float,
) -> tuple[Floats, Floats, Floats]:
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
    grad: Floats,
    x: Floats,
    out: Floats,
    counts: Int64,
    weight: Floats,
    mean: Floats,
    inverse: Floats,
) -> tuple[Floats, Floats, Floats]:
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


class NTwinInput(NamedTuple):
    """Some graphs, as input of `NTwinNetwork`.

    ``graphs`` is the input of the encoder; ``histograms`` are the rows of the subtree encoder, or None.
    """

    graphs: TwinInput | GraphData
    histograms: SparseRows | None = None


class NTwinNetwork(nn.Module):
    """Encoder and two-layer classifier.

    Parameters
    ----------
    encoder
        Computes the pooled sums.
    n_classes
        Number of logits.
    n_histogram_columns
        Width of the subtree histograms; 0 if there are none. They enter the classifier's first layer through
        a sparse product.
    hidden
        Width of the classifier's hidden layer.
    dropout, input_dropout
        Share of the classifier's hidden units, and of its inputs, dropped in training.
    normalize
        Normalise the pooled sums over the graphs of a batch; they grow with the square of a graph's size.
    """

    def __init__(
        self,
        encoder: NTwinEncoder,
        n_classes: int,
        *,
        n_histogram_columns: int = 0,
        hidden: int = 64,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        normalize: bool = True,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.norm = PooledSumNorm(encoder.n_outputs) if normalize else nn.Identity()
        self.first = nn.Linear(encoder.n_outputs, hidden)
        self.wide = SparseLinear(n_histogram_columns, hidden) if n_histogram_columns else None
        self.dropout = nn.Dropout(dropout)
        self.input_dropout = nn.Dropout(input_dropout)
        self.second = nn.Linear(hidden, n_classes)

    def forward(self, graphs: NTwinInput) -> Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        return self.from_sums(self.encoder(graphs.graphs), graphs.histograms)

    def from_sums(self, sums: Tensor, histograms: SparseRows | None) -> Tensor:
        """Return logits from the two encoders' output."""
        logits: Tensor = self.second(self.dropout(self.hidden_units(sums, histograms).relu()))
        return logits

    def recalibrate(self, examples: Examples) -> None:
        """Measure mean and spread of the pooled sums on the training graphs, with the current weights.

        Running averages lag behind the weights, and sums over hundreds of pairs move fast: by more than a
        standard deviation within a few batches of TWINS, where accuracy then fell from 100 to 72 % for an
        epoch.
        """
        if not isinstance(self.norm, PooledSumNorm):
            return
        place, step = own_device(self), rows_at_once(examples)
        was_training = self.encoder.training
        self.encoder.eval()  # as at prediction: an own readout may have dropout
        with torch.no_grad():
            parts = [
                self.encoder(moved(examples.take(rows), place).graphs)  # type: ignore[attr-defined]
                for rows in np.split(np.arange(len(examples)), range(step, len(examples), step))
            ]
        self.encoder.train(was_training)
        self.norm.recalibrate(torch.cat(parts))

    def hidden_units(self, sums: Tensor, histograms: SparseRows | None) -> Tensor:
        """Return the classifier's hidden units before the rectifier, from the two encoders' output."""
        units: Tensor = self.first(self.input_dropout(self.norm(sums)))
        if self.wide is not None and histograms is not None:
            units = units + self.wide(self._thinned(histograms))
        return units

    def _thinned(self, rows: SparseRows) -> SparseRows:
        """Drop entries of sparse rows, as dropout does with units."""
        share = self.input_dropout.p
        if not self.training or not share:
            return rows
        kept = functional.dropout(torch.from_numpy(rows.values), share).numpy()
        return SparseRows(rows.indptr, rows.indices, kept)
