"""DGCNN: nodes sorted by their last state, and read as a sequence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch

from twinwl.arguments import number
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["SortPoolClassifier"]

# Section 5 of the paper: 16 filters, pooling of pairs, 32 filters of width 5.
_FIRST_FILTERS, _SECOND_FILTERS, _FILTER_WIDTH = 16, 32, 5
_FEWEST_KEPT = 10
_DIGITS = 5


class SortPoolClassifier(GNNClassifier):
    r"""Classify graphs with DGCNN and its SortPooling (Zhang et al., 2018).

    A layer is equation (1) there, :math:`Z' = \tanh(\tilde D^{-1} \tilde A Z W)`; the last has one channel.
    Nodes are sorted by it and the first k are kept (padded with zeros); two one-dimensional convolutions read
    their states in all layers as a sequence. k is chosen such that a given share of the training graphs have
    more nodes. Ties are broken by the previous layers, as in the paper but not in PyTorch Geometric's own
    aggregation: otherwise the order of the nodes would matter. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    share_larger : float, default=0.6
        Share of the training graphs with more than k nodes; k is at least 10.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`; the sorting layer is an additional one.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = SortPoolClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {"share_larger": (number(0, 1, above=True, below=True),)}

    n_kept_: int

    def __init__(self, share_larger: float = 0.6, **common: Unpack[CommonOptions]) -> None:
        super().__init__(**common)
        self.share_larger = share_larger

    def _look_at(self, batch: GraphBatch) -> None:
        sizes = np.sort(batch.nodes_per_graph)
        self.n_kept_ = max(_FEWEST_KEPT, int(sizes[int((1 - self.share_larger) * (len(sizes) - 1))]))

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return SortPoolNetwork(n_columns, self.hidden, self.layers, self.n_kept_, n_classes, self.dropout)


class SortPoolNetwork(torch.nn.Module):
    """Graph convolutions, SortPooling, convolutions along the sorted nodes, a classifier."""

    def __init__(
        self, n_columns: int, hidden: int, layers: int, n_kept: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * layers + [1]
        self.weights = torch.nn.ModuleList(torch.nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths))
        # The mean over a node and its neighbours is the normalised product of equation (1).
        self.mean = pyg.SimpleConv(aggr="mean", combine_root="self_loop")
        self.n_kept = n_kept
        width = sum(widths[1:])
        # The first filters are as wide as a node's states and move node by node: a linear layer.
        self.filters = torch.nn.Linear(width, _FIRST_FILTERS)
        self.read = torch.nn.Sequential(
            torch.nn.ReLU(),
            torch.nn.MaxPool1d(2, 2),
            torch.nn.Conv1d(_FIRST_FILTERS, _SECOND_FILTERS, _FILTER_WIDTH),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(_SECOND_FILTERS * (n_kept // 2 - _FILTER_WIDTH + 1), 2 * hidden),
            torch.nn.ReLU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(2 * hidden, n_classes),
        )

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, states = graphs.x, []
        for weight in self.weights:
            x = self.mean(weight(x), graphs.edge_index).tanh()
            states.append(x)
        logits: torch.Tensor = self.read(self.filters(self._sorted(states, graphs)).mT)
        return logits

    def _sorted(self, states: list[torch.Tensor], graphs: GraphInput) -> torch.Tensor:
        """Return the first nodes of each graph, padded with zeros, shape (n_graphs, n_kept, width)."""
        # The last key counts most: the graph, then the sorting layer, then each layer before it. Rounded, so
        # that values that differ only by the order of a sum are ties.
        keys = [-state[:, -1].detach().float().cpu().numpy().round(_DIGITS) for state in states]
        order = torch.from_numpy(np.lexsort([*keys, graphs.graph_of_node.cpu().numpy()])).to(graphs.x.device)
        sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
        rank = torch.arange(len(order), device=order.device) - (sizes.cumsum(0) - sizes)[graphs.graph_of_node]
        kept = rank < self.n_kept
        rows = torch.cat(states, dim=1)[order[kept]]
        sequence = rows.new_zeros(graphs.n_graphs, self.n_kept, rows.shape[1])
        return sequence.index_put((graphs.graph_of_node[kept], rank[kept]), rows)
