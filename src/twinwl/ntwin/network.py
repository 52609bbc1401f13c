"""The whole NTwin-GNN: encoder, normalisation of the pooled sums, and the classifier of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from twinwl.learning.devices import moved, own_device
from twinwl.learning.pooled_sum_norm import PooledSumNorm
from twinwl.learning.sparse import SparseLinear, SparseRows
from twinwl.learning.training import rows_at_once

if TYPE_CHECKING:
    from twinwl.learning.training import Examples
    from twinwl.ntwin.distinct_subgraphs import DistinctSlice
    from twinwl.ntwin.encoder import NTwinEncoder, TwinSlices
    from twinwl.ntwin.slicing import QuotientSlice
    from twinwl.ntwin.uncompressed import GraphData

__all__ = ["NTwinInput", "NTwinNetwork"]


class NTwinInput(NamedTuple):
    """Some graphs, as input of `NTwinNetwork`.

    ``graphs`` is the input of the encoder; ``histograms`` are the rows of the subtree encoder, or None.
    """

    graphs: QuotientSlice | TwinSlices | DistinctSlice | GraphData
    histograms: SparseRows | None = None


class NTwinNetwork(torch.nn.Module):
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
        self.norm = PooledSumNorm(encoder.n_outputs) if normalize else torch.nn.Identity()
        self.first = torch.nn.Linear(encoder.n_outputs, hidden)
        self.wide = SparseLinear(n_histogram_columns, hidden) if n_histogram_columns else None
        self.dropout = torch.nn.Dropout(dropout)
        self.input_dropout = torch.nn.Dropout(input_dropout)
        self.second = torch.nn.Linear(hidden, n_classes)

    def forward(self, graphs: NTwinInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        return self.from_sums(self.encoder(graphs.graphs), graphs.histograms)

    def from_sums(self, sums: torch.Tensor, histograms: SparseRows | None) -> torch.Tensor:
        """Return logits from the two encoders' output."""
        logits: torch.Tensor = self.second(self.dropout(self.hidden_units(sums, histograms).relu()))
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

    def hidden_units(self, sums: torch.Tensor, histograms: SparseRows | None) -> torch.Tensor:
        """Return the classifier's hidden units before the rectifier, from the two encoders' output."""
        units: torch.Tensor = self.first(self.input_dropout(self.norm(sums)))
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
