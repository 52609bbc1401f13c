"""GIN: the graph isomorphism network, with a sum readout of all layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead, perceptron, sum_by

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput

__all__ = ["GINClassifier", "GINLayers", "GINNetwork"]


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

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GINNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class GINLayers(torch.nn.Module):
    """A stack of GIN layers with two-layer perceptrons."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.convolutions = torch.nn.ModuleList(pyg.GINConv(perceptron(width, hidden)) for width in widths)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> list[torch.Tensor]:
        """Return the node states after each layer."""
        states = []
        for convolution in self.convolutions:
            x = convolution(x, edge_index)
            states.append(x)
        return states


class GINNetwork(torch.nn.Module):
    """GIN layers, the sums over nodes of all of them, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = GINLayers(n_columns, hidden, layers)
        self.head = ReadoutHead(n_columns + layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        states = torch.cat([graphs.x, *self.layers(graphs.x, graphs.edge_index)], dim=1)
        logits: torch.Tensor = self.head(sum_by(states, graphs.graph_of_node, graphs.n_graphs))
        return logits
