"""PyTorch Geometric, or an error that says which command installs it.

GCN-RNI: graph convolutions whose nodes start with random numbers in addition to their labels.

ID-GNN: message passing inside ego networks, whose centre is marked.

DiffPool: nodes are softly assigned to clusters, and a coarser graph is convolved again.

SAGPool: a graph convolution chooses which nodes to keep.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.nn.functional import embedding

from twinwl.arguments import MEMORY, integer, number, one_of
from twinwl.arrays import Float64, Int32, Int64
from twinwl.baselines.batching import (
    GraphInput,
    LevelExamples,
    LevelInput,
    PartedExamples,
    RootedExamples,
    RootedInput,
    add_rounds,
    check_dense,
)
from twinwl.baselines.gin import GINNetwork, gin_examples
from twinwl.baselines.gnn import CommonOptions, Convolution, GNNClassifier, Perceptron, ReadoutHead, sum_by
from twinwl.compilation import kernel
from twinwl.errors import import_extra
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import Constraints
from twinwl.neural.devices import as_tensor
from twinwl.neural.rows import BatchLevels, RowLayer, aggregate, gather

pyg = import_extra("torch_geometric.nn", "baselines")
"""Its layers and pooling operators."""


_SEEDS_BELOW = 2**31 - 1


class GCNRNIClassifier(GNNClassifier):
    r"""Classify graphs by graph convolutions with random node initialisation (Abboud et al., 2021).

    A share of the entries of each node's initial state are standard normal numbers, drawn anew in each
    forward pass; the others are learnt from the labels around it. The network is a random variable, invariant
    in expectation, and can in principle tell all graphs apart. In training every batch gets fresh numbers;
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

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 10)
    >>> model = GCNRNIClassifier(ratio=0.125, layers=2, hidden=16, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["path", "triangle"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['path', 'triangle'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "ratio": (number(0, 1, above=True),),
        "draws": (integer(1, 10_000),),
    }

    def __init__(self, ratio: float = 0.5, draws: int = 4, **common: Unpack[CommonOptions]) -> None:
        super().__init__(**common)
        self.ratio = ratio
        self.draws = draws

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GCNRNINetwork(
            n_columns, self.hidden, self.layers, self.ratio, self.draws, n_classes, self.dropout
        )


class GCNRNINetwork(torch.nn.Module):
    """Two convolutions of the labels, random numbers appended; convolutions, the maximum, a classifier.

    A convolution has one weight for the node itself and one for the mean of its neighbours.
    """

    seed: torch.Tensor

    def __init__(
        self,
        n_columns: int,
        hidden: int,
        layers: int,
        ratio: float,
        draws: int,
        n_classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.n_random = max(1, round(ratio * hidden))
        self.draws = draws
        n_learnt = hidden - self.n_random
        widths = [n_columns, hidden, n_learnt] if n_learnt else []
        self.of_labels = _convolutions(widths)
        self.layers = _convolutions([hidden] * (layers + 1))
        self.head = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden),
            torch.nn.ELU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(hidden, n_classes),
        )
        self.register_buffer("seed", torch.randint(_SEEDS_BELOW, ()))

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes): of one draw in training, else averaged over draws."""
        if self.training:
            return self.logits(graphs, torch.randn(len(graphs.x), self.n_random).to(graphs.x.device))
        # The i-th node of every graph gets the same numbers, so the other graphs of the batch do not matter.
        sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
        place = (
            torch.arange(len(graphs.x), device=graphs.x.device)
            - (sizes.cumsum(0) - sizes)[graphs.graph_of_node]
        )
        n_places = int(sizes.max()) if len(sizes) else 0
        random = np.random.default_rng(int(self.seed))
        noise = torch.from_numpy(random.standard_normal((n_places, self.draws, self.n_random)))
        draws = [self.logits(graphs, noise[place, draw]) for draw in range(self.draws)]
        return torch.stack(draws).mean(dim=0)

    def logits(self, graphs: GraphInput, noise: torch.Tensor) -> torch.Tensor:
        """Return the logits of one draw; ``noise`` has shape (n_nodes, n_random)."""
        states = noise.to(graphs.x.dtype)
        if len(self.of_labels):
            states = torch.cat([_passed(self.of_labels, graphs.x, graphs), states], dim=1)
        states = _passed(self.layers, states, graphs)
        pooled = pyg.global_max_pool(states, graphs.graph_of_node, graphs.n_graphs)
        logits: torch.Tensor = self.head(pooled)
        return logits


def _convolutions(widths: list[int]) -> torch.nn.ModuleList:
    return torch.nn.ModuleList(pyg.GraphConv(n_in, n_out, aggr="mean") for n_in, n_out in pairwise(widths))


def _passed(layers: torch.nn.ModuleList, states: torch.Tensor, graphs: GraphInput) -> torch.Tensor:
    for layer in layers:
        states = functional.elu(layer(states, graphs.edge_index))
    return states


class IDGNNClassifier(GNNClassifier):
    r"""Classify graphs with an identity-aware GNN (You et al., 2021), here on a GIN.

    The full form runs message passing inside the ego network of every node v, as many hops wide as there are
    layers, where messages from v itself have weights of their own (algorithm 1 there): :math:`h_u' =
    \mathrm{MLP}(h_u + \sum_{s \in N(u)} \mathrm{MSG}_{1[s = v]}(h_s))`. The state of v is its final state in
    its own ego network. The fast form gives each node the numbers of closed walks that start from it, the
    diagonals of :math:`A^2, \dots, A^K`, as further features, and runs a plain GIN. The readout is the sum
    over nodes of all layers.

    Parameters
    ----------
    form : {"full", "fast"}, default="full"
    longest_walk : int, default=6
        The K of the fast form.
    max_memory : int or None
        Limit for the ego networks, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = IDGNNClassifier(form="fast", hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "form": (one_of("full", "fast"),),
        "longest_walk": (integer(2, 1_000),),  # there is no closed walk of one step
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        form: str = "full",
        longest_walk: int = 6,
        max_memory: int | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(**common)
        self.form = form
        self.longest_walk = longest_walk
        self.max_memory = max_memory

    def _extra_features(self, batch: GraphBatch) -> Float64 | None:
        return closed_walks(batch, self.longest_walk) if self.form == "fast" else None

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        if self.form == "fast":
            return gin_examples(batch, columns, self.layers)
        return RootedExamples(batch, columns, self.layers, self.max_memory)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        network = GINNetwork if self.form == "fast" else IDGNNNetwork
        return network(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class IDGNNNetwork(torch.nn.Module):
    """Two kinds of messages inside every ego network, the sum over their centres, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.enter = torch.nn.Linear(n_columns, hidden)
        self.from_centre = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(layers))
        self.from_others = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(layers))
        self.updates = torch.nn.ModuleList(pyg.GINConv(Perceptron(hidden, hidden)) for _ in range(layers))
        self.head = ReadoutHead(layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: RootedInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        is_centre = graphs.distance == 0
        states = self.enter(graphs.x)[graphs.node_of_pair]
        centres = []
        for of_centre, of_others, update in zip(
            self.from_centre, self.from_others, self.updates, strict=True
        ):
            messages = torch.where(is_centre[:, None], of_centre(states), of_others(states))
            states = update((messages, states), graphs.edge_index)
            centres.append(states[is_centre])
        # Each node is the centre of one ego network, and these are in node order.
        logits: torch.Tensor = self.head(
            sum_by(torch.cat(centres, dim=1), graphs.graph_of_node, graphs.n_graphs)
        )
        return logits


def closed_walks(batch: GraphBatch, longest: int) -> Float64:
    """Return the number of closed walks of 2, …, ``longest`` steps from each node: diagonals of powers of A.

    There are no walks of one step, because there are no self-loops.

    Returns
    -------
    array of float64, shape (n_nodes, longest - 1)

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> closed_walks(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]]), 4).tolist()
    [[2.0, 2.0, 6.0], [2.0, 2.0, 6.0], [2.0, 2.0, 6.0]]
    """
    return _closed_walks(batch.indptr, batch.indices, batch.graph_ptr, longest)


@kernel
def _closed_walks(indptr: Int64, indices: Int32, graph_ptr: Int64, longest: int) -> Float64:
    counts = np.zeros((len(indptr) - 1, longest - 1))
    for graph in range(len(graph_ptr) - 1):
        start, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        for root in range(n):
            walks = np.zeros(n)
            walks[root] = 1
            for step in range(1, longest + 1):
                onwards = np.zeros(n)
                for node in range(n):
                    if walks[node]:
                        for arc in range(indptr[start + node], indptr[start + node + 1]):
                            onwards[indices[arc] - start] += walks[node]
                walks = onwards
                if step > 1:
                    counts[start + root, step - 2] = walks[root]
    return counts


# A part has as many nodes, padded, as need some tens of megabytes with a hundred clusters.
_COST_OF_NODE = 32
_TINY = 1e-15


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

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 10)
    >>> model = DiffPoolClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["short", "long"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['long', 'short'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "cluster_ratio": (number(0, 1, above=True),),
        "max_memory": MEMORY,
    }

    n_clusters_: int

    def __init__(
        self, cluster_ratio: float = 0.25, max_memory: int | None = None, **common: Unpack[CommonOptions]
    ) -> None:
        super().__init__(**common)
        self.cluster_ratio = cluster_ratio
        self.max_memory = max_memory

    def _look_at(self, batch: GraphBatch) -> None:
        self.n_clusters_ = max(1, math.ceil(self.cluster_ratio * int(batch.nodes_per_graph.max())))

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        # The assignment, its sums over neighbours, both of them padded, and the gradients of all of these.
        n_matrices = math.ceil(12 * self.cluster_ratio)
        check_dense(batch, self.batch_size, n_matrices, "DiffPool", self.max_memory)
        examples = LevelExamples(batch, columns, _COST_OF_NODE * batch.nodes_per_graph, padded=True)
        # The round after the last layer is that of the sums of assignments over neighbours.
        add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, self.layers + 1)
        return examples

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return DiffPoolNetwork(n_columns, self.hidden, self.layers, self.n_clusters_, n_classes, self.dropout)


class DiffPoolNetwork(torch.nn.Module):
    """Embedding, assignment, coarsening, one more convolution, a classifier."""

    def __init__(
        self, n_columns: int, hidden: int, layers: int, n_clusters: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.embed = _MeanLayers([n_columns] + [hidden] * layers)
        self.assign = _MeanLayers([n_columns] + [hidden] * (layers - 1) + [n_clusters])
        self.coarse = pyg.DenseSAGEConv(hidden, hidden)
        self.head = ReadoutHead(2 * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        nodes, soft = self.embed(x, levels), self.assign(x, levels).softmax(dim=1)
        last = levels.level(len(self.embed.convolutions) + 1)
        around = aggregate(soft, last.ptr, last.senders)
        raised = gather(torch.cat([soft, nodes], dim=1), last.own)
        soft, nodes = raised[:, : soft.shape[1]], raised[:, soft.shape[1] :]
        # The products of the transposed assignment with the embedding, its sums over neighbours and itself.
        pooled = _products(soft, torch.cat([nodes, around, soft], dim=1), *self._pooled(levels))
        of_nodes, coarse, overlap = pooled.split([nodes.shape[1], *2 * [soft.shape[1]]], dim=2)  # type: ignore[no-untyped-call]
        clusters = self.coarse(of_nodes, coarse).relu()
        # Each node belongs to its clusters by shares that sum to 1.
        logits: torch.Tensor = self.head(torch.cat([of_nodes.sum(dim=1), clusters.sum(dim=1)], dim=1))
        if not self.training:
            return logits
        return _with_auxiliary_loss(logits, _auxiliary_loss(soft, coarse, overlap, levels, last))

    def _pooled(self, levels: BatchLevels) -> tuple[Int64, Int64, Int64]:
        return levels.pooled(len(self.embed.convolutions) + 1)


class _MeanLayers(torch.nn.Module):
    """Mean-aggregating convolutions, as in the paper's GraphSAGE, each with a ReLU."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.convolutions = torch.nn.ModuleList(
            Convolution(n_in, n_out, bias_of_own=True) for n_in, n_out in pairwise(widths)
        )

    def forward(self, x: torch.Tensor, levels: BatchLevels) -> torch.Tensor:
        for place, convolution in enumerate(self.convolutions, start=1):
            level = levels.level(place)
            said, kept = convolution(x)
            share = as_tensor(1 / np.maximum(np.diff(level.ptr), 1), x.device).to(x.dtype)[:, None]
            heard = aggregate(said, level.ptr, level.senders) * share
            x = (heard + gather(kept, level.own)).relu()
        return x


def _products(
    left: torch.Tensor, right: torch.Tensor, ptr: Int64, rows: Int64, counts: Int64
) -> torch.Tensor:
    """Return the sums of the outer products of rows over each graph, shape (n_graphs, left, right).

    ``ptr``, ``rows`` and ``counts`` say in CSR form how often each row occurs in each graph.
    """
    lengths = np.diff(ptr)
    graph = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(rows)) - ptr[graph]
    shape = (len(lengths), int(lengths.max(initial=0)))
    padded, weights = np.zeros(shape, np.int64), np.zeros(shape)
    padded[graph, place], weights[graph, place] = rows, counts
    index, factors = as_tensor(padded, left.device), as_tensor(weights, left.device).to(left.dtype)
    return (embedding(index, left) * factors[:, :, None]).mT @ embedding(index, right)


def _auxiliary_loss(
    soft: torch.Tensor, coarse: torch.Tensor, overlap: torch.Tensor, levels: BatchLevels, level: RowLayer
) -> torch.Tensor:
    """Return the link prediction and entropy losses of section 3.3, averaged over padded nodes as PyG does.

    The squares of the entries of :math:`A - S S^T` sum to those of :math:`A`, of which there are as many as
    arcs, minus twice the trace of :math:`S^T A S`, plus the squares of the entries of :math:`S^T S`.
    """
    n_arcs = int(level.counts @ np.diff(level.ptr))
    squares = n_arcs - 2 * coarse.diagonal(dim1=1, dim2=2).sum() + overlap.square().sum()
    n_graphs, largest = len(levels.rows), max(1, int(np.diff(levels.item_ptr(0)).max(initial=1)))
    link = squares.clamp(min=0).sqrt() / (n_graphs * largest**2)
    entropy = -(soft * (soft + _TINY).log()).sum(dim=1) @ as_tensor(level.counts, soft.device).to(soft.dtype)
    return link + entropy / (n_graphs * largest)


def _with_auxiliary_loss(logits: torch.Tensor, loss: torch.Tensor) -> torch.Tensor:
    """Return the logits unchanged; their gradient also flows into ``loss``.

    The trainer minimises a single loss; in this way it minimises the sum of that and ``loss``.

    Parameters
    ----------
    logits : tensor, any shape
    loss : tensor, shape ()

    Examples
    --------
    >>> weight = torch.tensor(3.0, requires_grad=True)
    >>> _with_auxiliary_loss(2 * weight, weight**2).backward()
    >>> weight.grad
    tensor(8.)
    """
    result: torch.Tensor = _Attached.apply(logits, loss)  # type: ignore[no-untyped-call]
    return result


class _Attached(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,  # noqa: ARG004
        logits: torch.Tensor,
        loss: torch.Tensor,  # noqa: ARG004
    ) -> torch.Tensor:
        return logits.view_as(logits)

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx,  # noqa: ARG004
        gradient: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return gradient, gradient.new_ones(())


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
