"""Neural baselines bounded by 1-WL, and what all of them share: graphs as rows, layers, the estimator.

A network computes one row for all nodes (pairs, sets, …) that it cannot tell apart: its input is a mini-batch
of `twinwl.neural.rows.ColourLevels`. Prediction takes a thousand graphs at once, too many for some networks,
so an expensive batch is split into parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import elu, embedding, linear

from twinwl.arguments import DEPTH, MEMORY, WIDTH, check_fits, integer, number, one_of, owners, pointer
from twinwl.arrays import Float32, Int32, Int64, Ints
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import RandomState, with_parameters
from twinwl.neural import rows
from twinwl.neural.encoder import PooledSumNorm
from twinwl.neural.estimator import NeuralGraphClassifier
from twinwl.neural.inputs import NodeInputs
from twinwl.neural.rows import BatchLevels, Pool, RowLayer, aggregate, as_tensor, gather, pool, row_of_entry

# Items of a part plus the messages between them: a few hundred megabytes with 64 columns.
_BUDGET = 1 << 20
_BYTES_OF_FLOAT = 4
Layers = TypeVar("Layers", bound=nn.Module)


class LevelInput(NamedTuple):
    """Some graphs as rows: the input of each row of level 0, and the levels."""

    x: Tensor
    levels: BatchLevels


class LevelExamples:
    """Graphs as training examples; the caller adds levels to ``levels``.

    Parameters
    ----------
    graph_ptr : array, shape (n_graphs + 1,)
        Range of each graph's items in level 0.
    codes : array of int32, shape (n_items,)
        The row of ``table`` that is the input of each item.
    table : array of float32, shape (n_codes, n_columns)
    cost_of_graph : array, shape (n_graphs,)
        Items and messages of each graph.
    padded
        Whether every graph of a part costs as much as the costliest.
    """

    def __init__(
        self,
        graph_ptr: Int64,
        codes: Int32,
        table: Float32,
        cost_of_graph: Int64,
        *,
        padded: bool = False,
    ) -> None:
        self.cost_of_graph, self.budget, self.padded = cost_of_graph, _BUDGET, padded
        self.table = torch.from_numpy(table)
        self.levels = rows.ColourLevels()
        self.levels.add(graph_ptr, codes)

    def __len__(self) -> int:
        return len(self.cost_of_graph)

    def part(self, rows: Int64) -> LevelInput:
        """Return these graphs as rows, regardless of their cost."""
        levels = self.levels.take(rows)
        return LevelInput(self.table[torch.from_numpy(levels.marks(0))], levels)

    def take(self, rows: Int64) -> tuple[LevelInput, ...]:
        """Return these graphs in parts, in order."""
        bounds = _bounds(self.cost_of_graph[rows], self.budget, padded=self.padded)
        return tuple(self.part(rows[low:high]) for low, high in pairwise(bounds))


def node_examples(
    batch: GraphBatch, columns: Float32, rounds: int = 0, cost: Int64 | None = None, *, padded: bool = False
) -> LevelExamples:
    """Return graphs whose level k has a row for each colour of a node after k rounds, as in a GIN.

    Level 0 has a row for each distinct input of a node. Without ``cost``, a graph costs its nodes and arcs.

    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = node_examples(batch, np.ones((5, 1), np.float32), rounds=1)
    >>> part = examples.part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).counts.tolist()
    ([[1.0]], [2, 1])
    """
    codes, first = rows.distinct_rows(columns)
    cost = batch.nodes_per_graph + np.diff(batch.indptr[batch.graph_ptr]) if cost is None else cost
    examples = LevelExamples(batch.graph_ptr, codes, columns[first], cost, padded=padded)
    add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, rounds)
    return examples


def add_rounds(
    levels: rows.ColourLevels, graph_ptr: Int64, indptr: Int64, indices: Ints, rounds: int, first: int = 0
) -> int:
    """Add levels of message passing between the items of a level, and return the number of the last."""
    for _ in range(rounds):
        first = levels.add(graph_ptr, own=(first, None), messages=(first, indptr, indices))
    return first


def _bounds(costs: Int64, budget: float, *, padded: bool) -> list[int]:
    """Cut a row of costs into consecutive parts; a graph above the budget is a part of its own.

    >>> _bounds(np.array([3, 3, 9, 1]), 6, padded=False)
    [0, 2, 3, 4]
    >>> _bounds(np.array([1, 1, 3, 1]), 6, padded=True)
    [0, 2, 4]
    """
    bounds = [0]
    total = highest = 0.0
    for place, cost in enumerate(costs.tolist()):
        highest = max(highest, cost)
        total = highest * (place + 1 - bounds[-1]) if padded else total + cost
        if total > budget and place > bounds[-1]:
            bounds.append(place)
            total = highest = cost
    return [*bounds, len(costs)]


def check_dense(
    batch: GraphBatch, batch_size: int, n_matrices: int, name: str, max_memory: int | None
) -> None:
    """Refuse graphs that are too large for the n × n matrices of one training step."""
    largest = int(batch.nodes_per_graph.argmax())
    n_nodes, count = int(batch.nodes_per_graph[largest]), min(batch_size, len(batch))
    check_fits(
        n_nodes**2 * count * n_matrices * _BYTES_OF_FLOAT,
        max_memory,
        f"graph {largest} has {n_nodes:,} nodes: {name} keeps up to {n_matrices} dense matrices of its size "
        f"for each of {count} graphs in a batch, which",
        "leave out the largest graphs, lower batch_size or hidden, or raise max_memory",
    )


# ---------------------------------------------------------------------- layers


def with_neighbours(messages: Tensor, layer: RowLayer, own: Tensor | None = None) -> Tensor:
    """Return the sum of the messages to each row, and of its own row (by default its own message)."""
    return aggregate(messages, layer.ptr, layer.senders, messages if own is None else own, layer.own)


def as_column(values: NDArray[Any], like: Tensor) -> Tensor:
    """Return a vector as a column to multiply rows with."""
    return as_tensor(values, like.device).to(like.dtype)[:, None]


class Perceptron(nn.Module):
    """Two layers, each normalised over the items of a batch and followed by a ReLU."""

    def __init__(self, n_inputs: int, hidden: int) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Linear(n_inputs, hidden), PooledSumNorm(hidden)
        self.second, self.second_norm = nn.Linear(hidden, hidden), PooledSumNorm(hidden)

    def forward(self, x: Tensor, layer: RowLayer | None = None, *, aggregates: bool = False) -> Tensor:
        """Return the results, one row each.

        Parameters
        ----------
        x : tensor, shape (n_rows, n_inputs)
        layer
            Says how many items share each row; None if there is one row per item.
        aggregates
            Whether the input of a row is the sum of its own row and of its neighbours', which are rows of the
            layer below; there are fewer of these, so the first linear map is applied before the sum.
        """
        x = linear(x, self.first.weight)
        if aggregates and layer is not None:
            x = with_neighbours(x, layer)
        counts = np.ones(len(x), np.int64) if layer is None else layer.counts
        units = self.first_norm.normalise_and_rectify(x, counts, self.first.bias)
        return self.second_norm.normalise_and_rectify(
            linear(units, self.second.weight), counts, self.second.bias
        )


class Convolution(nn.Module):
    """A weight for a row itself, and one for its neighbours.

    Parameters
    ----------
    n_in, n_out
        Number of columns before and after.
    bias_of_own
        Which of the weights has the bias: it decides how a seed draws them.
    """

    def __init__(self, n_in: int, n_out: int, *, bias_of_own: bool = False) -> None:
        super().__init__()
        self.neighbours = nn.Linear(n_in, n_out, bias=not bias_of_own)
        self.own = nn.Linear(n_in, n_out, bias=bias_of_own)
        redraw(self)

    def messages(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what rows send to others, and what they keep, to which the bias is added."""
        bias = self.own.bias if self.neighbours.bias is None else self.neighbours.bias
        return linear(x, self.neighbours.weight), linear(x, self.own.weight, bias)

    def mean(self, x: Tensor, layer: RowLayer) -> Tensor:
        """Return what each row keeps plus the mean of its messages."""
        messages, own = self.messages(x)
        share = as_column(1 / np.maximum(np.diff(layer.ptr), 1), x)
        return aggregate(messages, layer.ptr, layer.senders) * share + gather(own, layer.own)


def redraw(module: Layers) -> Layers:
    """Draw the weights a second time, as layers of PyG do: a seed then gives the weights it has there."""
    for layer in module.children():
        if isinstance(layer, nn.Linear):
            layer.reset_parameters()
    return module


def stack(layer: Callable[..., nn.Module], *widths: int) -> nn.ModuleList:
    """Return a layer between each two widths, made of the numbers of columns before and after it."""
    return nn.ModuleList(layer(*pair) for pair in pairwise(widths))


class RowNetwork(nn.Module):
    """A network on rows: a vector for each graph, then a classifier, its ``head``."""

    head: nn.Module

    def forward(self, parts: tuple[LevelInput, ...]) -> Tensor:
        """Return logits of the graphs of all parts, shape (n_graphs, n_classes)."""
        return torch.cat([self.logits(*part) for part in parts])

    def logits(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return logits of the graphs of one part."""
        logits: Tensor = self.head(self.pooled(x, levels))
        return logits

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the vectors of the graphs from the rows of level 0."""
        raise NotImplementedError


def readout_head(model: GNNClassifier, n_inputs: int, n_classes: int) -> nn.Module:
    """Return layers from the pooled vector of a graph to logits: normalisation, a hidden layer, dropout."""
    return nn.Sequential(
        PooledSumNorm(n_inputs),
        nn.Linear(n_inputs, model.hidden),
        nn.ReLU(),
        nn.Dropout(model.dropout),
        nn.Linear(model.hidden, n_classes),
    )


# ---------------------------------------------------------------------- the estimator


@with_parameters
class GNNClassifier(NeuralGraphClassifier):
    """Base of the neural baselines; a subclass names its ``_network`` and makes ``_level_examples``.

    The input of a node is its one-hot label, all zeros if it occurs in no training graph, and its continuous
    features, standardised. Edge labels are ignored. Training is that of all neural methods of this package:
    Adam, early stopping on a held-out part, the weights of the best epoch.

    A subclass declares parameters of its own, and other defaults, as attributes (`with_parameters`).

    Parameters
    ----------
    layers : int, default=3
        Number of message passing layers.
    hidden : int, default=64
        Width of the states and of the classifier's hidden layer.
    dropout : float, default=0.5
        Share of the classifier's hidden units dropped in training.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, class_weight, verbose
        As for every neural classifier: see `twinwl.neural.estimator.NeuralGraphClassifier`.
    device
        Where to train, and how exactly: see `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.neural.estimator.NeuralGraphClassifier`.
    refit, average_epochs, warm_start, callbacks
        Training on all graphs once the epoch is chosen, several hold-outs, means of weights, going on from
        the fit before, functions to call: see `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
    history_ : History
        Curves of the training.
    inputs_ : NodeInputs
        Labels and scales of the training graphs.
    """

    _constraints = {"layers": (DEPTH,), "hidden": (WIDTH,)}
    _network: ClassVar[Any]

    _: KW_ONLY
    layers: int = 3
    hidden: int = 64
    random_state: RandomState = 0

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        """Return the graphs as input of the network."""
        raise NotImplementedError

    def _describe(self, batch: GraphBatch) -> GraphBatch:
        """Return the graphs with the node features that the method adds."""
        if batch.directed:
            raise TwinWLError(
                "the graphs are directed, but the method is defined for undirected graphs; symmetrise them"
            )
        return batch

    def _inspect(self, batch: GraphBatch) -> None:
        """Compute from the training graphs what else the shape of the network depends on."""

    def _fit_examples(self, batch: GraphBatch) -> LevelExamples:
        described = self._describe(batch)
        self.inputs_ = NodeInputs.fit_to(described)
        self._inspect(batch)
        return self._level_examples(batch, self.inputs_.columns(described))

    def _examples(self, batch: GraphBatch) -> LevelExamples:
        return self._level_examples(batch, self.inputs_.columns(self._describe(batch)))

    def _build_module(self, n_classes: int) -> nn.Module:
        module: nn.Module = self._network(self, self.inputs_.n_features, n_classes)
        return module


# ---------------------------------------------------------------------- GIN


class GINLayers(nn.Module):
    """A stack of GIN layers with two-layer perceptrons."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.perceptrons = stack(lambda *pair: redraw(Perceptron(*pair)), n_columns, *[hidden] * layers)

    def forward(self, x: Tensor, levels: BatchLevels, first: int = 0) -> list[Tensor]:
        """Return the rows after each layer, from those of level ``first``."""
        states = []
        for level, perceptron in enumerate(self.perceptrons, start=first + 1):
            x = perceptron(x, levels.level(level), aggregates=True)
            states.append(x)
        return states


class GINNetwork(RowNetwork):
    """GIN layers, the sums over nodes of all of them, a classifier."""

    def __init__(self, model: GNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.layers = GINLayers(n_columns, model.hidden, model.layers)
        self.head = readout_head(model, n_columns + model.layers * model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums of the input and of all layers."""
        states = [x, *self.layers(x, levels)]
        return torch.cat([pool(rows, *levels.pooled(level)) for level, rows in enumerate(states)], dim=1)


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
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = GINClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    _network = GINNetwork

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        return node_examples(batch, columns, self.layers)


# ---------------------------------------------------------------------- GCN


def degree_examples(batch: GraphBatch, columns: Float32, rounds: int) -> LevelExamples:
    """Return graphs as rows: level 1 distinguishes nodes by input and degree, those above are rounds from it.

    A layer that divides by degrees needs those of the neighbours, of which a round of colours is one behind.
    """
    examples = node_examples(batch, columns)
    degrees = np.diff(batch.indptr).astype(np.int32)
    first = examples.levels.add(batch.graph_ptr, degrees, own=(0, None))
    add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, rounds, first)
    return examples


class GCNLayer(nn.Linear):
    """One graph convolution, without its ReLU."""

    def reset_parameters(self) -> None:
        """Start as the authors do: Glorot and Bengio's weights, drawn twice as by PyG, no bias."""
        for _ in range(2):
            nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(  # type: ignore[override]
        self, x: Tensor, scale: Tensor, layer: RowLayer
    ) -> tuple[Tensor, Tensor]:
        """Return the rows of a layer, and their scale, from those of the layer below."""
        messages = linear(x, self.weight) * scale
        scale = _scale(np.diff(layer.ptr), x)
        return with_neighbours(messages, layer) * scale + self.bias, scale


def _scale(degrees: Int64, like: Tensor) -> Tensor:
    """Return the diagonal of the inverse root of the degrees, with self-loops, as a column."""
    return as_column(1 / np.sqrt(degrees + 1), like)


def _first_of_degrees(x: Tensor, levels: BatchLevels) -> tuple[Tensor, Tensor]:
    """Return the rows of level 1 and their scale."""
    x = x[as_tensor(levels.level(1).own, x.device)]
    return x, _scale(levels.marks(1), x)


class GCNNetwork(RowNetwork):
    """Graph convolutions, each followed by a ReLU, the sum over nodes, a classifier."""

    def __init__(self, model: GNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.layers = stack(GCNLayer, n_columns, *[model.hidden] * model.layers)
        self.head = readout_head(model, model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums of the last layer."""
        x, scale = _first_of_degrees(x, levels)
        for level, layer in enumerate(self.layers, start=2):
            x, scale = layer(x, scale, levels.level(level))
            x = x.relu()
        return pool(x, *levels.pooled(len(self.layers) + 1))


class GCNClassifier(GNNClassifier):
    r"""Classify graphs with a GCN (Kipf and Welling, 2017), its last node states summed over each graph.

    A layer is equation (2) there, :math:`H' = \mathrm{ReLU}(\tilde D^{-1/2} \tilde A \tilde D^{-1/2} H W)`
    with self-loops in :math:`\tilde A`. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.
    """

    _network = GCNNetwork

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        return degree_examples(batch, columns, self.layers)


# ---------------------------------------------------------------------- SAGPool


class SAGPoolNetwork(RowNetwork):
    """Graph convolutions, one choice of nodes by all their states, sum or mean and maximum, a classifier."""

    sign: Tensor

    def __init__(self, model: SAGPoolClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.layers = stack(GCNLayer, n_columns, *[model.hidden] * model.layers)
        self.score = GCNLayer(model.layers * model.hidden, 1)
        # PyG multiplies scores by w / |w|, so by a random sign, and draws both weights once more.
        torch.rand(1)
        nn.init.xavier_uniform_(self.score.weight)
        self.register_buffer("sign", torch.empty(1).uniform_(-1, 1).sign())
        self.ratio, self.readout = model.ratio, model.readout
        self.head = readout_head(model, 2 * model.layers * model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return sum or mean, and maximum, of the nodes with the best scores."""
        x, scale = _first_of_degrees(x, levels)
        states = x[:, :0]
        for level, layer in enumerate(self.layers, start=2):
            x, scale = layer(x, scale, levels.level(level))
            x = x.relu()
            states = torch.cat([gather(states, levels.level(level).own), x], dim=1)
        last = len(self.layers) + 2
        score, _ = self.score(states, scale, levels.level(last))
        score = (score * self.sign).tanh()
        weighted = gather(states, levels.level(last).own) * score
        best_rows, n_kept = self._best(levels.pooled(last), score.detach()[:, 0])
        total = pool(weighted, *best_rows)
        if self.readout == "mean":
            total = total / as_column(np.maximum(n_kept, 1), total)
        return torch.cat([total, maxima(weighted, best_rows)], dim=1)

    def _best(self, rows: Pool, score: Tensor) -> tuple[Pool, Int64]:
        """Return how often each row is among the best of a graph, and how many of these there are."""
        graph = owners(np.diff(rows.ptr))
        order = np.lexsort((-score.cpu().numpy()[rows.rows], graph))
        counts = rows.counts[order]
        ends = pointer(counts)
        first = ends[rows.ptr[:-1]]
        # In single precision, as in PyG: a product that is a whole number must not be rounded up.
        n_kept = np.ceil(np.float32(self.ratio) * np.float32(ends[rows.ptr[1:]] - first)).astype(np.int64)
        left = np.clip((first + n_kept)[graph] - ends[:-1], 0, counts)
        ptr = pointer(np.bincount(graph[left > 0], minlength=len(first)))
        return Pool(ptr, rows.rows[order][left > 0], left[left > 0]), n_kept


def maxima(x: Tensor, rows: Pool) -> Tensor:
    """Return the largest entry of each column over the rows of each graph, 0 if it has none."""
    graph = row_of_entry(rows.ptr, x.device)[:, None].expand(-1, x.shape[1])
    zeros = x.new_zeros(len(rows.ptr) - 1, x.shape[1])
    return zeros.scatter_reduce(0, graph, gather(x, rows.rows), "amax", include_self=False)


@with_parameters
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
        As for `twinwl.baselines.gnn.GNNClassifier`.
    """

    _constraints = {
        "ratio": (number(0, 1, above=True, below=True),),
        "readout": (one_of("sum", "mean"),),
    }
    _network = SAGPoolNetwork

    ratio: float = 0.5
    readout: str = "sum"

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        return degree_examples(batch, columns, self.layers + 1)


# ---------------------------------------------------------------------- DGCNN

# Section 5 of the paper: 16 filters, pooling of pairs, 32 filters of width 5.
_FIRST_FILTERS, _SECOND_FILTERS, _FILTER_WIDTH = 16, 32, 5
_FEWEST_KEPT = 10
_DIGITS = 5


class SortPoolNetwork(RowNetwork):
    """Graph convolutions, SortPooling; the head has convolutions along the sorted nodes, and a classifier."""

    def __init__(self, model: SortPoolClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        widths = [n_columns] + [model.hidden] * model.layers + [1]
        self.weights = stack(nn.Linear, *widths)
        self.n_kept = model.n_kept_
        # The first filters are as wide as a node's states and move node by node: a linear layer.
        self.filters = nn.Linear(sum(widths[1:]), _FIRST_FILTERS)
        self.head = nn.Sequential(
            nn.ReLU(),
            nn.MaxPool1d(2, 2),
            nn.Conv1d(_FIRST_FILTERS, _SECOND_FILTERS, _FILTER_WIDTH),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(_SECOND_FILTERS * (self.n_kept // 2 - _FILTER_WIDTH + 1), 2 * model.hidden),
            nn.ReLU(),
            nn.Dropout(model.dropout),
            nn.Linear(2 * model.hidden, n_classes),
        )

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the first filters of the first nodes of each graph, shape (n_graphs, filters, n_kept)."""
        keys: list[Float32] = []
        read, start = x.new_zeros(len(x), _FIRST_FILTERS), 0
        for place, weight in enumerate(self.weights, start=1):
            layer = levels.level(place)
            # The mean over a node and its neighbours is the normalised product of equation (1).
            share = as_column(1 / (np.diff(layer.ptr) + 1), x)
            x = (with_neighbours(weight(x), layer) * share).tanh()
            # Rounded, so that values that differ only by the order of a sum are ties.
            key = x[:, -1].detach().float().cpu().numpy().round(_DIGITS)
            keys.append(-key[layer.row_of_item])
            # The filters read the states of all layers: each is multiplied where there are fewest rows.
            read = linear(x, self.filters.weight[:, start : start + x.shape[1]]) + gather(read, layer.own)
            start += x.shape[1]
        sizes = np.diff(levels.item_ptr(0))
        graph = owners(sizes)
        # The last key counts most: the graph, then the sorting layer, then each layer before it.
        order = np.lexsort((*keys, graph))  # type: ignore[arg-type]
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        is_first = rank < self.n_kept
        places = tuple(as_tensor(each[is_first], x.device) for each in (graph, rank))
        sequence = x.new_zeros(len(sizes), self.n_kept, _FIRST_FILTERS)
        sequence = sequence.index_put(places, gather(read, layer.row_of_item[order[is_first]]))
        return (sequence + self.filters.bias).mT


@with_parameters
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
    """

    _constraints = {"share_larger": (number(0, 1, above=True, below=True),)}
    _network = SortPoolNetwork

    share_larger: float = 0.6

    def _inspect(self, batch: GraphBatch) -> None:
        sizes = np.sort(batch.nodes_per_graph)
        self.n_kept_ = max(_FEWEST_KEPT, int(sizes[int((1 - self.share_larger) * (len(sizes) - 1))]))

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        return node_examples(batch, columns, self.layers + 1)


# ---------------------------------------------------------------------- DiffPool

# A part has as many nodes, padded, as need some tens of megabytes with a hundred clusters.
_COST_OF_NODE = 32
_TINY = 1e-15


class DiffPoolNetwork(RowNetwork):
    """Embedding, assignment, coarsening, one more convolution, a classifier."""

    def __init__(self, model: DiffPoolClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        hidden, inner = model.hidden, [n_columns] + [model.hidden] * (model.layers - 1)
        convolution = partial(Convolution, bias_of_own=True)  # as in the paper's GraphSAGE
        self.embed = stack(convolution, *inner, hidden)
        self.assign = stack(convolution, *inner, model.n_clusters_)
        self.coarse = convolution(hidden, hidden)
        self.head = readout_head(model, 2 * hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over nodes before the pooling and over clusters after it."""
        nodes, soft = x, x
        for place, (embed, assign) in enumerate(zip(self.embed, self.assign), start=1):
            layer = levels.level(place)
            nodes, soft = embed.mean(nodes, layer).relu(), assign.mean(soft, layer).relu()  # type: ignore[operator]
        soft = soft.softmax(dim=1)
        last = len(self.embed) + 1
        layer = levels.level(last)
        around = aggregate(soft, layer.ptr, layer.senders)
        nodes, soft = gather(nodes, layer.own), gather(soft, layer.own)
        # The products of the transposed assignment with the embedding, its sums over neighbours and itself.
        products = _products(soft, torch.cat([nodes, around, soft], dim=1), levels.pooled(last))
        of_nodes, coarse, overlap = products.split([nodes.shape[1], *2 * [soft.shape[1]]], dim=2)  # type: ignore[no-untyped-call]
        around = coarse @ of_nodes / coarse.sum(dim=2, keepdim=True).clamp(min=1)
        clusters = (self.coarse.neighbours(around) + self.coarse.own(of_nodes)).relu()
        # Each node belongs to its clusters by shares that sum to 1.
        pooled = torch.cat([of_nodes.sum(dim=1), clusters.sum(dim=1)], dim=1)
        if not self.training:
            return pooled
        return with_auxiliary_loss(pooled, _auxiliary_loss(soft, coarse, overlap, levels, layer))


def _products(left: Tensor, right: Tensor, rows: Pool) -> Tensor:
    """Return the sums of the outer products of rows over each graph, shape (n_graphs, left, right)."""
    lengths = np.diff(rows.ptr)
    graph = owners(lengths)
    place = np.arange(len(rows.rows)) - rows.ptr[graph]
    shape = (len(lengths), int(lengths.max(initial=0)))
    padded, weights = np.zeros(shape, np.int64), np.zeros(shape)
    padded[graph, place], weights[graph, place] = rows.rows, rows.counts
    index, factors = as_tensor(padded, left.device), as_tensor(weights, left.device).to(left.dtype)
    return (embedding(index, left) * factors[:, :, None]).mT @ embedding(index, right)


def _auxiliary_loss(
    soft: Tensor, coarse: Tensor, overlap: Tensor, levels: BatchLevels, layer: RowLayer
) -> Tensor:
    """Return the link prediction and entropy losses of section 3.3, averaged over padded nodes as PyG does.

    The squares of the entries of :math:`A - S S^T` sum to those of :math:`A`, of which there are as many as
    arcs, minus twice the trace of :math:`S^T A S`, plus the squares of the entries of :math:`S^T S`.
    """
    n_arcs = int(layer.counts @ np.diff(layer.ptr))
    squares = n_arcs - 2 * coarse.diagonal(dim1=1, dim2=2).sum() + overlap.square().sum()
    n_graphs, largest = len(coarse), max(1, int(np.diff(levels.item_ptr(0)).max(initial=1)))
    link = squares.clamp(min=0).sqrt() / (n_graphs * largest**2)
    entropy = -(soft * (soft + _TINY).log()).sum(dim=1) @ as_column(layer.counts, soft)[:, 0]
    return link + entropy / (n_graphs * largest)


class _Attached(torch.autograd.Function):
    @staticmethod
    def forward(_: object, values: Tensor, loss: Tensor) -> Tensor:  # noqa: ARG004
        return values.view_as(values)

    @staticmethod
    def backward(_: object, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient.new_ones(())


def with_auxiliary_loss(values: Tensor, loss: Tensor) -> Tensor:
    """Return the values unchanged; the trainer, which minimises one loss, also minimises ``loss``.

    >>> weight = torch.tensor(3.0, requires_grad=True)
    >>> with_auxiliary_loss(2 * weight, weight**2).backward()
    >>> weight.grad
    tensor(8.)
    """
    result: Tensor = _Attached.apply(values, loss)  # type: ignore[no-untyped-call]
    return result


@with_parameters
class DiffPoolClassifier(GNNClassifier):
    r"""Classify graphs with differentiable pooling (Ying et al., 2018), one pooling step.

    There are two networks: one embeds the nodes, :math:`Z = \mathrm{GNN}_{embed}(A, X)`, one assigns them to
    clusters, :math:`S = \mathrm{softmax}(\mathrm{GNN}_{pool}(A, X))` (equations 5 and 6 there). The coarse
    graph :math:`X' = S^T Z`, :math:`A' = S^T A S` (equations 3 and 4) is convolved once more. The readout is
    the sum over nodes before the pooling and over clusters after it. The link prediction and entropy losses
    of section 3.3 are added to the cross-entropy. Its expressive power is at most that of 1-WL.

    Parameters
    ----------
    cluster_ratio : float, default=0.25
        Number of clusters, as a share of the largest training graph's nodes.
    max_memory : int or None
        Limit for the dense matrices, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`; ``layers`` is the number before the pooling.
    """

    _constraints = {
        "cluster_ratio": (number(0, 1, above=True),),
        "max_memory": MEMORY,
    }
    _network = DiffPoolNetwork

    cluster_ratio: float = 0.25
    max_memory: int | None = None

    def _inspect(self, batch: GraphBatch) -> None:
        self.n_clusters_ = max(1, math.ceil(self.cluster_ratio * int(batch.nodes_per_graph.max())))

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        # The assignment, its sums over neighbours, both of them padded, and the gradients of all of these.
        n_matrices = math.ceil(12 * self.cluster_ratio)
        check_dense(batch, self.batch_size, n_matrices, "DiffPool", self.max_memory)
        cost = _COST_OF_NODE * batch.nodes_per_graph
        # The round after the last layer is that of the sums of assignments over neighbours.
        return node_examples(batch, columns, self.layers + 1, cost, padded=True)


# ---------------------------------------------------------------------- GCN-RNI

_SEEDS_BELOW = 2**31 - 1


class GCNRNINetwork(RowNetwork):
    """Two convolutions of the labels, random numbers appended; convolutions, the maximum, a classifier.

    Level 0 has the inputs, level 1 a row for each node, level 2 its neighbours.
    """

    seed: Tensor

    def __init__(self, model: GCNRNIClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        hidden = model.hidden
        self.n_random = max(1, round(model.ratio * hidden))
        self.draws = model.draws
        n_learnt = hidden - self.n_random
        widths = [n_columns, hidden, n_learnt] if n_learnt else []
        self.of_labels = stack(Convolution, *widths)
        self.layers = stack(Convolution, hidden, *[hidden] * model.layers)
        self.head = nn.Sequential(
            nn.Linear(hidden, hidden),
            nn.ELU(),
            nn.Dropout(model.dropout),
            nn.Linear(hidden, n_classes),
        )
        self.register_buffer("seed", torch.randint(_SEEDS_BELOW, ()))

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the maxima of one draw in training, else of all draws, shape (draws, n_graphs, hidden)."""
        nodes, starts = levels.level(1).item_of_row, levels.levels.level_of_all(1).graph_ptr
        if self.training:
            return self.of_draw(x, levels, torch.randn(len(nodes), self.n_random).to(x.device))
        # The i-th node of every graph gets the same numbers, so the other graphs of the batch do not matter.
        place = nodes - starts[np.searchsorted(starts, nodes, side="right") - 1]
        random = np.random.default_rng(int(self.seed))
        noise = random.standard_normal((int(place.max(initial=-1)) + 1, self.draws, self.n_random))
        draws = torch.from_numpy(noise)[place].unbind(dim=1)
        return torch.stack([self.of_draw(x, levels, draw) for draw in draws])

    def logits(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return logits, averaged over draws except in training."""
        logits = super().logits(x, levels)
        return logits if self.training else logits.mean(dim=0)

    def of_draw(self, x: Tensor, levels: BatchLevels, noise: Tensor) -> Tensor:
        """Return the maxima for one draw; ``noise`` has shape (n_nodes, n_random)."""
        states = noise.to(x.dtype)
        if len(self.of_labels):
            learnt = x[as_tensor(levels.level(1).own, x.device)]
            states = torch.cat([_convolve(self.of_labels, learnt, levels), states], dim=1)
        return maxima(_convolve(self.layers, states, levels), levels.pooled(2))


def _convolve(layers: nn.ModuleList, x: Tensor, levels: BatchLevels) -> Tensor:
    for layer in layers:
        x = elu(layer.mean(x, levels.level(2)))  # type: ignore[operator]
    return x


@with_parameters
class GCNRNIClassifier(GNNClassifier):
    r"""Classify graphs by graph convolutions with random node initialisation (Abboud et al., 2021).

    A share of the entries of each node's initial state are standard normal numbers, drawn anew in each
    forward pass; the others are learnt from the labels around it. A convolution has one weight for the node
    itself and one for the mean of its neighbours. The network is a random variable, invariant in
    expectation, and can in principle tell all graphs apart. In training every batch gets fresh numbers;
    predictions average the logits of a fixed set of draws, so they are repeatable and do not depend on the
    other graphs in the batch.

    Its authors used deep networks and long training, and so does the method ``"gcn-rni"`` of the tables:
    eight layers, batches of 20, 300 epochs (theirs: 500) without early stopping. On EXP the accuracy stays at
    chance level for the first fifty epochs or more.

    Parameters
    ----------
    ratio : float, default=0.5
        Share of random entries; 1 ignores the labels.
    draws : int, default=4
        Number of draws that a prediction averages.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.
    """

    _constraints = {
        "ratio": (number(0, 1, above=True),),
        "draws": (integer(1, 10_000),),
    }
    _network = GCNRNINetwork

    ratio: float = 0.5
    draws: int = 4

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        examples, every_node = node_examples(batch, columns), np.arange(batch.n_nodes, dtype=np.int32)
        nodes = examples.levels.add(batch.graph_ptr, own=(0, None), refined=every_node)
        arcs = (nodes, batch.indptr, batch.indices)
        examples.levels.add(batch.graph_ptr, own=(nodes, None), messages=arcs, refined=every_node)
        return examples
