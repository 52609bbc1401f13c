"""What the neural baselines share: graphs as rows of colours, layers, and the estimator.

A network computes one row for all nodes (pairs, sets, …) that it cannot tell apart: its input is a mini-batch
of `twinwl.neural.rows.ColourLevels`. Prediction takes a thousand graphs at once, too many for some networks,
so an expensive batch is split into parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import linear

from twinwl.arguments import DEPTH, WIDTH
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.memory import check_fits
from twinwl.models.base import Constraints, RandomState, keeps_parameters
from twinwl.neural.devices import as_tensor
from twinwl.neural.estimator import NeuralGraphClassifier
from twinwl.neural.network import PooledSumNorm
from twinwl.neural.rows import BatchLevels, ColourLevels, RowLayer, aggregate, distinct_rows, gather
from twinwl.neural.training import Callbacks

# Items of a part plus the messages between them: a few hundred megabytes with 64 columns.
_BUDGET = 1 << 20
_BYTES_OF_FLOAT = 4
Layers = TypeVar("Layers", bound=torch.nn.Module)


class LevelInput(NamedTuple):
    """Some graphs as rows: the input of each row of level 0, and the levels."""

    x: torch.Tensor
    levels: BatchLevels


class LevelExamples:
    """Graphs as training examples; whoever makes it adds levels to ``levels``.

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
        table: NDArray[np.float32],
        cost_of_graph: Int64,
        *,
        padded: bool = False,
    ) -> None:
        self.cost_of_graph, self.budget, self.padded = cost_of_graph, _BUDGET, padded
        self.table = torch.from_numpy(table)
        self.levels = ColourLevels()
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
    batch: GraphBatch, columns: NDArray[np.float32], cost: Int64 | None = None, *, padded: bool = False
) -> LevelExamples:
    """Return graphs whose level 0 has a row for each distinct input of a node; by default arcs are messages.

    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = node_examples(batch, np.ones((5, 1), np.float32))
    >>> add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, 1)
    1
    >>> part = examples.part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).counts.tolist()
    ([[1.0]], [2, 1])
    """
    codes, first = distinct_rows(columns)
    cost = batch.nodes_per_graph + np.diff(batch.indptr[batch.graph_ptr]) if cost is None else cost
    return LevelExamples(batch.graph_ptr, codes, columns[first], cost, padded=padded)


def add_rounds(
    levels: ColourLevels, graph_ptr: Int64, indptr: Int64, indices: Ints, rounds: int, first: int = 0
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


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """One-hot labels and standardised features of nodes, fitted on the training graphs.

    Attributes
    ----------
    labels : tuple of labels
        One column each; a node with any other label has zeros there.
    centre, scale : arrays of float64, shape (n_continuous,)
        Mean and standard deviation of each continuous feature.

    Examples
    --------
    >>> inputs = NodeInputs.fitted(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    >>> inputs.rows(GraphBatch.from_edges([[(0, 1)]], node_labels=[["O", "N"]]))
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """

    labels: tuple[Label, ...]
    centre: Float64
    scale: Float64

    @classmethod
    def fitted(cls, batch: GraphBatch, extra: Float64 | None = None) -> NodeInputs:
        """Fit labels and scales; ``extra`` are further continuous features, shape (n_nodes, n_extra)."""
        values = _continuous(batch, extra)
        values = values if len(values) else np.zeros((1, values.shape[1]))
        scale = values.std(axis=0)
        labels = tuple(batch.node_vocabulary[code] for code in np.unique(batch.node_labels).tolist())
        return cls(labels, values.mean(axis=0), np.where(scale > 0, scale, 1.0))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels) + len(self.centre)

    def rows(self, batch: GraphBatch, extra: Float64 | None = None) -> NDArray[np.float32]:
        """Return the columns of every node, shape (n_nodes, n_columns)."""
        values = _continuous(batch, extra)
        if not batch.n_nodes:
            return np.empty((0, self.n_columns), np.float32)
        if values.shape[1] != len(self.centre):
            n_extra = 0 if extra is None else extra.shape[1]
            raise TwinWLError(
                f"the nodes have {values.shape[1] - n_extra} continuous features, but the network was "
                f"trained with {len(self.centre) - n_extra}; give it the same columns"
            )
        places = recode(batch.node_labels, batch.node_vocabulary, self.labels)
        # The last row is zero, and the place of an unseen label is -1.
        one_hot = np.eye(len(self.labels) + 1, len(self.labels), dtype=np.float32)[places]
        return np.hstack([one_hot, ((values - self.centre) / self.scale).astype(np.float32)])


def _continuous(batch: GraphBatch, extra: Float64 | None) -> Float64:
    if batch.directed:
        raise TwinWLError(
            "the graphs are directed, but the method is defined for undirected graphs; symmetrise them"
        )
    parts = [part for part in (batch.node_features, extra) if part is not None]
    return np.hstack(parts) if parts else np.empty((batch.n_nodes, 0))


# ---------------------------------------------------------------------- layers


def with_neighbours(messages: torch.Tensor, layer: RowLayer, own: torch.Tensor | None = None) -> torch.Tensor:
    """Return the sum of the messages to each row, and of its own row (by default its own message)."""
    return aggregate(messages, layer.ptr, layer.senders, messages if own is None else own, layer.own)


def as_column(values: NDArray[Any], like: torch.Tensor) -> torch.Tensor:
    """Return a vector as a column to multiply rows with."""
    return as_tensor(values, like.device).to(like.dtype)[:, None]


class Perceptron(torch.nn.Module):
    """Two layers, each normalised over the items of a batch and followed by a ReLU."""

    def __init__(self, n_inputs: int, hidden: int) -> None:
        super().__init__()
        self.first, self.first_norm = torch.nn.Linear(n_inputs, hidden), PooledSumNorm(hidden)
        self.second, self.second_norm = torch.nn.Linear(hidden, hidden), PooledSumNorm(hidden)

    def forward(
        self, x: torch.Tensor, layer: RowLayer | None = None, *, aggregates: bool = False
    ) -> torch.Tensor:
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
        units = self.first_norm.rectified(x, counts, self.first.bias)
        return self.second_norm.rectified(linear(units, self.second.weight), counts, self.second.bias)


class Convolution(torch.nn.Module):
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
        self.neighbours = torch.nn.Linear(n_in, n_out, bias=not bias_of_own)
        self.own = torch.nn.Linear(n_in, n_out, bias=bias_of_own)
        drawn_again(self)

    def messages(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what rows send to others, and what they keep, to which the bias is added."""
        bias = self.own.bias if self.neighbours.bias is None else self.neighbours.bias
        return linear(x, self.neighbours.weight), linear(x, self.own.weight, bias)

    def mean(self, x: torch.Tensor, layer: RowLayer) -> torch.Tensor:
        """Return what each row keeps plus the mean of its messages."""
        messages, kept = self.messages(x)
        share = as_column(1 / np.maximum(np.diff(layer.ptr), 1), x)
        return aggregate(messages, layer.ptr, layer.senders) * share + gather(kept, layer.own)


def drawn_again(module: Layers) -> Layers:
    """Draw the weights a second time, as layers of PyG do: a seed then gives the weights it has there."""
    for layer in module.children():
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()
    return module


class RowNetwork(torch.nn.Module):
    """A network on rows: a vector for each graph, then a classifier, its ``head``."""

    head: torch.nn.Module

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        logits: torch.Tensor = self.head(self.pooled(*graphs))
        return logits

    def pooled(self, x: torch.Tensor, levels: BatchLevels) -> torch.Tensor:
        """Return the vectors of the graphs from the rows of level 0."""
        raise NotImplementedError


def readout_head(model: GNNClassifier, n_inputs: int, n_classes: int) -> torch.nn.Module:
    """Return layers from the pooled vector of a graph to logits: normalisation, a hidden layer, dropout."""
    return torch.nn.Sequential(
        PooledSumNorm(n_inputs),
        torch.nn.Linear(n_inputs, model.hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(model.dropout),
        torch.nn.Linear(model.hidden, n_classes),
    )


class PartwiseNetwork(torch.nn.Module):
    """Run a network on each part and join the logits."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, parts: tuple[LevelInput, ...]) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        return torch.cat([self.network(part) for part in parts])


# ---------------------------------------------------------------------- the estimator


class GNNClassifier(NeuralGraphClassifier):
    """Base of the neural baselines; a subclass names its ``_network`` and makes ``_level_examples``.

    The input of a node is its one-hot label, all zeros if it occurs in no training graph, and its continuous
    features, standardised. Edge labels are ignored. Training is that of all neural methods of this package:
    Adam, early stopping on a held-out part, the weights of the best epoch.

    A subclass lists parameters of its own, and other defaults, as arguments of its class statement.

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

    _constraints: ClassVar[Constraints] = {"layers": (DEPTH,), "hidden": (WIDTH,)}
    _network: ClassVar[Any]

    layers: int
    hidden: int
    dropout: float
    inputs_: NodeInputs

    @keeps_parameters
    def __init__(
        self,
        *,
        layers: int = 3,
        hidden: int = 64,
        dropout: float = 0.5,
        random_state: RandomState = 0,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        class_weight: object = None,
        verbose: bool | int | None = None,
        device: str = "auto",
        scoring: str | None = None,
        refit: bool = False,
        average_epochs: int = 1,
        warm_start: bool = False,
        callbacks: Callbacks = None,
    ) -> None: ...

    def __init_subclass__(cls, **own: object) -> None:
        """Make an ``__init__`` whose signature, which scikit-learn reads, has the own parameters first."""
        inherited = signature(GNNClassifier.__init__).parameters.items()
        shared = [p.replace(default=own.pop(name, p.default)) for name, p in inherited]
        first = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=own[name]) for name in own]

        def init(self: object, *args: object, **kwargs: object) -> None: ...

        init.__signature__ = Signature([shared[0], *first, *shared[1:]])  # type: ignore[attr-defined]
        cls.__init__ = keeps_parameters(init)  # type: ignore[method-assign]
        super().__init_subclass__()

    def _level_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> LevelExamples:
        """Return the graphs as input of the network."""
        raise NotImplementedError

    def _extra_features(self, batch: GraphBatch) -> Float64 | None:  # noqa: ARG002
        """Return continuous features of the nodes that the method computes, or None."""
        return None

    def _inspect(self, batch: GraphBatch) -> None:
        """Compute from the training graphs what else the shape of the network depends on."""

    def _fit_examples(self, batch: GraphBatch) -> LevelExamples:
        extra = self._extra_features(batch)
        self.inputs_ = NodeInputs.fitted(batch, extra)
        self._inspect(batch)
        return self._level_examples(batch, self.inputs_.rows(batch, extra))

    def _examples(self, batch: GraphBatch) -> LevelExamples:
        return self._level_examples(batch, self.inputs_.rows(batch, self._extra_features(batch)))

    def _build_module(self, n_classes: int) -> torch.nn.Module:
        return PartwiseNetwork(self._network(self, self.inputs_.n_columns, n_classes))
