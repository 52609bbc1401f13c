"""SAGPool: a graph convolution chooses which nodes to keep."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import torch

from twinwl.arguments import number, one_of
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.estimators.base import Constraints

__all__ = ["SAGPoolClassifier"]


class SAGPoolClassifier(GNNClassifier):
    r"""Classify graphs with self-attention graph pooling (Lee et al., 2019), its global architecture.

    A graph convolution of the node states scores the nodes (equation 3 there), the best share of them is kept
    (equation 4) and weighted by the score (equation 5); the readout is their maximum and their sum, or their
    maximum and their mean, as in the paper. In the global architecture the states of all layers are pooled
    once, so nodes with equal scores have equal states and it does not matter which of them is kept; in the
    hierarchical one the order of the nodes would matter. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    ratio : float, default=0.5
        Share of the nodes to keep.
    readout : {"sum", "mean"}, default="sum"
        Pooling used in addition to the maximum. The mean is the paper's; it does not depend on a graph's
        size.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = SAGPoolClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "ratio": (number(0, 1, above=True, below=True),),
        "readout": (one_of("sum", "mean"),),
    }

    def __init__(self, ratio: float = 0.5, readout: str = "sum", **common: Unpack[CommonOptions]) -> None:
        super().__init__(**common)
        self.ratio = ratio
        self.readout = readout

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return SAGPoolNetwork(
            n_columns, self.hidden, self.layers, self.ratio, self.readout, n_classes, self.dropout
        )


class _GCNLayers(torch.nn.Module):
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


class SAGPoolNetwork(torch.nn.Module):
    """Graph convolutions, one pooling of all their states, sum or mean and maximum, a classifier."""

    def __init__(
        self,
        n_columns: int,
        hidden: int,
        layers: int,
        ratio: float,
        readout: str,
        n_classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.layers = _GCNLayers(n_columns, hidden, layers)
        self.pool = pyg.SAGPooling(layers * hidden, ratio, GNN=pyg.GCNConv)
        self.gather = pyg.global_add_pool if readout == "sum" else pyg.global_mean_pool
        self.head = ReadoutHead(2 * layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        states = torch.cat(self.layers(graphs.x, graphs.edge_index), dim=1)
        kept, _, _, graph_of_kept, _, _ = self.pool(states, graphs.edge_index, batch=graphs.graph_of_node)
        gathered = self.gather(kept, graph_of_kept, graphs.n_graphs)
        most = pyg.global_max_pool(kept, graph_of_kept, graphs.n_graphs)
        logits: torch.Tensor = self.head(torch.cat([gathered, most], dim=1))
        return logits
