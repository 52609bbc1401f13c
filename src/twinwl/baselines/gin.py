"""GIN: the graph isomorphism network, with a sum readout of all layers.

GCN: sum-pooled graph convolutions.

DGCNN: nodes sorted by their last state, and read as a sequence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import linear

from twinwl.arguments import number
from twinwl.arrays import Int64
from twinwl.baselines.batching import LevelExamples, LevelInput, PartedExamples, add_rounds
from twinwl.baselines.gnn import CommonOptions, GNNClassifier, Perceptron, ReadoutHead, drawn_again
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import Constraints
from twinwl.neural.devices import as_tensor
from twinwl.neural.rows import BatchLevels, RowLayer, aggregate, gather, pool


class GINClassifier(GNNClassifier):
    r"""Classify graphs with a GIN (Xu et al., 2019).

    A layer is equation (4.1) there with :math:`\epsilon = 0`,
    :math:`h_v' = \mathrm{MLP}(h_v + \sum_{u \in N(v)} h_u)`; the readout is equation (4.2), the sums over
    the nodes of all layers, including the input, concatenated. Its expressive power is that of 1-WL.

    Parameters
    ----------
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

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
        for level, perceptron in enumerate(self.perceptrons, start=first + 1):
            x = perceptron(x, levels.level(level), hears=True)
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
        pooled = [pool(rows, *levels.pooled(level)) for level, rows in enumerate(states)]
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


class GCNClassifier(GNNClassifier):
    r"""Classify graphs with a GCN (Kipf and Welling, 2017), its last node states summed over each graph.

    A layer is equation (2) there, :math:`H' = \mathrm{ReLU}(\tilde D^{-1/2} \tilde A \tilde D^{-1/2} H W)`
    with self-loops in :math:`\tilde A`. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

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
        for level, layer in enumerate(self.layers, start=2):
            x, scale = layer(x, scale, levels.level(level))
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
        self, x: torch.Tensor, scale: torch.Tensor, level: RowLayer
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of a level, and their scale, from those of the level before."""
        said = linear(x, self.weight) * scale
        scale = _scale(np.diff(level.ptr), x)
        return (aggregate(said, level.ptr, level.senders, said, level.own) * scale + self.bias).relu(), scale


def _scale(degrees: Int64, like: torch.Tensor) -> torch.Tensor:
    """Return the diagonal of the inverse root of the degrees, with self-loops, as a column."""
    return as_tensor(1 / np.sqrt(degrees + 1), like.device).to(like.dtype)[:, None]


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
        As for `twinwl.baselines.gnn.GNNClassifier`; the sorting layer is an additional one.

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
            x = (aggregate(said, level.ptr, level.senders, said, level.own) * share).tanh()
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
