"""DiffPool: nodes are softly assigned to clusters, and a coarser graph is convolved again."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch
from torch.nn.functional import embedding

from twinwl.arguments import MEMORY, number
from twinwl.baselines.batching.dense_graphs import check_dense
from twinwl.baselines.batching.level_examples import LevelExamples, add_rounds
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Convolution, ReadoutHead
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
    from twinwl.learning.colour_levels import BatchLevels, Level

__all__ = ["DiffPoolClassifier"]

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
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`; ``layers`` is the number before the pooling.

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
        around = hear(soft, last.ptr, last.senders)
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
            heard = hear(said, level.ptr, level.senders) * share
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
    soft: torch.Tensor, coarse: torch.Tensor, overlap: torch.Tensor, levels: BatchLevels, level: Level
) -> torch.Tensor:
    """Return the link prediction and entropy losses of section 3.3, averaged over padded nodes as PyG does.

    The squares of the entries of :math:`A - S S^T` sum to those of :math:`A`, of which there are as many as
    arcs, minus twice the trace of :math:`S^T A S`, plus the squares of the entries of :math:`S^T S`.
    """
    n_arcs = int(level.counts @ np.diff(level.ptr))
    squares = n_arcs - 2 * coarse.diagonal(dim1=1, dim2=2).sum() + overlap.square().sum()
    n_graphs, largest = levels.n_graphs, max(1, int(np.diff(levels.item_ptr(0)).max(initial=1)))
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
