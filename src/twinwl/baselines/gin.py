"""GIN: the graph isomorphism network, with a sum readout of all layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from twinwl.baselines.batching.level_examples import LevelExamples, add_rounds
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Perceptron, ReadoutHead, drawn_again
from twinwl.learning.pooling import pool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.parts import PartedExamples
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import BatchLevels

__all__ = ["GINClassifier", "GINLayers", "GINNetwork", "gin_examples"]


class GINClassifier(GNNClassifier):
    r"""Classify graphs with a GIN (Xu et al., 2019).

    A layer is equation (4.1) there with :math:`\epsilon = 0`,
    :math:`h_v' = \mathrm{MLP}(h_v + \sum_{u \in N(v)} h_u)`; the readout is equation (4.2), the sums over
    the nodes of all layers, including the input, concatenated. Its expressive power is that of 1-WL.

    Parameters
    ----------
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = GINClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        return gin_examples(batch, columns, self.layers)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GINNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


def gin_examples(batch: GraphBatch, columns: NDArray[np.float32], layers: int) -> LevelExamples:
    """Return graphs as input of a GIN: level k has the colours of the nodes after k rounds."""
    examples = LevelExamples(batch, columns)
    add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, layers)
    return examples


class GINLayers(torch.nn.Module):
    """A stack of GIN layers with two-layer perceptrons."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.perceptrons = torch.nn.ModuleList(drawn_again(Perceptron(width, hidden)) for width in widths)

    def forward(self, x: torch.Tensor, levels: BatchLevels, first: int = 0) -> list[torch.Tensor]:
        """Return the rows after each layer, from those of level ``first``."""
        states = []
        for number, perceptron in enumerate(self.perceptrons, start=first + 1):
            x = perceptron(x, levels.level(number), hears=True)
            states.append(x)
        return states


class GINNetwork(torch.nn.Module):
    """GIN layers, the sums over nodes of all of them, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = GINLayers(n_columns, hidden, layers)
        self.head = ReadoutHead(n_columns + layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        states = [x, *self.layers(x, levels)]
        pooled = [pool(rows, *levels.pooled(number)) for number, rows in enumerate(states)]
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits
