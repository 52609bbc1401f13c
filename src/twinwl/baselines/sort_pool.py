"""DGCNN: nodes sorted by their last state, and read as a sequence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch
from torch.nn.functional import linear

from twinwl.arguments import number
from twinwl.baselines.gin import gin_examples
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.learning.devices import as_tensor
from twinwl.learning.pooling import gather, hear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.baselines.parts import PartedExamples
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

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        return gin_examples(batch, columns, self.layers + 1)

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

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        keys: list[NDArray[np.float32]] = []
        read, start = None, 0
        for place, weight in enumerate(self.weights, start=1):
            level = levels.level(place)
            said = weight(x)
            # The mean over a node and its neighbours is the normalised product of equation (1).
            share = as_tensor(1 / (np.diff(level.ptr) + 1), x.device).to(x.dtype)[:, None]
            x = (hear(said, level.ptr, level.senders, said, level.own) * share).tanh()
            # Rounded, so that values that differ only by the order of a sum are ties.
            key = x[:, -1].detach().float().cpu().numpy().round(_DIGITS)
            keys.append(-key[level.row_of_item])
            # The filters read the states of all layers: each is multiplied where there are fewest rows.
            filtered = linear(x, self.filters.weight[:, start : start + x.shape[1]])
            read = filtered if read is None else filtered + gather(read, level.own)
            start += x.shape[1]
        assert read is not None  # noqa: S101  (there is a layer)
        sequence = self._sequence(read, level.row_of_item, keys, np.diff(levels.item_ptr(0)))
        logits: torch.Tensor = self.read((sequence + self.filters.bias).mT)
        return logits

    def _sequence(
        self, rows: torch.Tensor, row_of_node: Int64, keys: list[NDArray[np.float32]], sizes: Int64
    ) -> torch.Tensor:
        """Return the first nodes of each graph, padded with zeros, shape (n_graphs, n_kept, width)."""
        graph = np.repeat(np.arange(len(sizes)), sizes)
        # The last key counts most: the graph, then the sorting layer, then each layer before it.
        order = np.lexsort((*keys, graph))  # type: ignore[arg-type]
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = rank < self.n_kept
        first = gather(rows, row_of_node[order[kept]])
        places = tuple(as_tensor(each[kept], rows.device) for each in (graph, rank))
        return first.new_zeros(len(sizes), self.n_kept, rows.shape[1]).index_put(places, first)
