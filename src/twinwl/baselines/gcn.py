"""GCN: sum-pooled graph convolutions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import linear

from twinwl.baselines.batching.level_examples import LevelExamples, add_rounds
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead
from twinwl.learning.devices import as_tensor
from twinwl.learning.pooling import hear, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.parts import PartedExamples
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import Level

__all__ = ["GCNClassifier", "degree_examples"]


class GCNClassifier(GNNClassifier):
    r"""Classify graphs with a GCN (Kipf and Welling, 2017), its last node states summed over each graph.

    A layer is equation (2) there, :math:`H' = \mathrm{ReLU}(\tilde D^{-1/2} \tilde A \tilde D^{-1/2} H W)`
    with self-loops in :math:`\tilde A`. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = GCNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        return degree_examples(batch, columns, self.layers)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GCNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


def degree_examples(batch: GraphBatch, columns: NDArray[np.float32], rounds: int) -> LevelExamples:
    """Return graphs as rows: level 1 tells nodes apart by input and degree, those above are rounds from it.

    A layer that divides by degrees needs those of the neighbours, of which a round of colours is one behind.
    """
    examples = LevelExamples(batch, columns)
    degrees = np.diff(batch.indptr).astype(np.int32)
    first = examples.levels.add(batch.graph_ptr, degrees, own=(0, None))
    add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, rounds, first)
    return examples


class GCNNetwork(torch.nn.Module):
    """Graph convolutions, each followed by a ReLU, the sum over nodes, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * layers
        self.layers = torch.nn.ModuleList(_Convolution(n_in, n_out) for n_in, n_out in pairwise(widths))
        self.head = ReadoutHead(hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        x = x[as_tensor(levels.level(1).own, x.device)]
        scale = _scale(levels.marks(1), x)
        for number, layer in enumerate(self.layers, start=2):
            x, scale = layer(x, scale, levels.level(number))
        logits: torch.Tensor = self.head(pool(x, *levels.pooled(len(self.layers) + 1)))
        return logits


class _Convolution(torch.nn.Linear):
    """One layer, with a ReLU."""

    def reset_parameters(self) -> None:
        """Start as the authors do: Glorot and Bengio's weights, drawn twice as by PyG, no bias."""
        for _ in range(2):
            torch.nn.init.xavier_uniform_(self.weight)
        torch.nn.init.zeros_(self.bias)

    def forward(  # type: ignore[override]
        self, x: torch.Tensor, scale: torch.Tensor, level: Level
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of a level, and their scale, from those of the level before."""
        said = linear(x, self.weight) * scale
        scale = _scale(np.diff(level.ptr), x)
        return (hear(said, level.ptr, level.senders, said, level.own) * scale + self.bias).relu(), scale


def _scale(degrees: Int64, like: torch.Tensor) -> torch.Tensor:
    """Return the diagonal of the inverse root of the degrees, with self-loops, as a column."""
    return as_tensor(1 / np.sqrt(degrees + 1), like.device).to(like.dtype)[:, None]
