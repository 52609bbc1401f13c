"""Batch normalisation over graphs for pooled sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable


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
