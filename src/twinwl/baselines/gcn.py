"""GCN: sum-pooled graph convolutions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead, sum_by

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput

__all__ = ["GCNClassifier", "GCNLayers"]


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

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GCNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class GCNLayers(torch.nn.Module):
    """A stack of graph convolutions, each followed by a ReLU."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * layers
        self.convolutions = torch.nn.ModuleList(pyg.GCNConv(n_in, n_out) for n_in, n_out in pairwise(widths))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> list[torch.Tensor]:
        """Return the node states after each layer."""
        states = []
        for convolution in self.convolutions:
            x = convolution(x, edge_index).relu()
            states.append(x)
        return states


class GCNNetwork(torch.nn.Module):
    """Graph convolutions, the sum over nodes, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = GCNLayers(n_columns, hidden, layers)
        self.head = ReadoutHead(hidden, hidden, n_classes, dropout)

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        states = self.layers(graphs.x, graphs.edge_index)[-1]
        logits: torch.Tensor = self.head(sum_by(states, graphs.graph_of_node, graphs.n_graphs))
        return logits
