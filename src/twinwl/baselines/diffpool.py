"""DiffPool: nodes are softly assigned to clusters, and a coarser graph is convolved again."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import torch

from twinwl.arguments import MEMORY, number
from twinwl.baselines.batching.dense_graphs import check_dense, dense_graphs
from twinwl.baselines.batching.examples import GraphExamples
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["DiffPoolClassifier"]


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
        # The adjacency, its product with the assignment, and the link prediction, each with its gradient.
        check_dense(batch, self.batch_size, 6, "DiffPool", self.max_memory)
        return GraphExamples(batch, columns, padded=True)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return DiffPoolNetwork(n_columns, self.hidden, self.layers, self.n_clusters_, n_classes, self.dropout)


class DiffPoolNetwork(torch.nn.Module):
    """Embedding, assignment, coarsening, one more convolution, a classifier."""

    def __init__(
        self, n_columns: int, hidden: int, layers: int, n_clusters: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.embed = _DenseLayers([n_columns] + [hidden] * layers)
        self.assign = _DenseLayers([n_columns] + [hidden] * (layers - 1) + [n_clusters])
        self.coarse = _DenseLayers([hidden, hidden])
        self.head = ReadoutHead(2 * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, adjacency, is_node = dense_graphs(graphs)
        nodes = self.embed(x, adjacency, is_node)
        clusters, coarse, link_loss, entropy_loss = pyg.dense_diff_pool(
            nodes, adjacency, self.assign(x, adjacency, is_node), is_node
        )
        clusters = self.coarse(clusters, coarse)
        logits: torch.Tensor = self.head(torch.cat([nodes.sum(dim=1), clusters.sum(dim=1)], dim=1))
        return _with_auxiliary_loss(logits, link_loss + entropy_loss) if self.training else logits


class _DenseLayers(torch.nn.Module):
    """Mean-aggregating convolutions on dense matrices, as in the paper's GraphSAGE, each with a ReLU."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.convolutions = torch.nn.ModuleList(
            pyg.DenseSAGEConv(n_in, n_out) for n_in, n_out in pairwise(widths)
        )

    def forward(
        self, x: torch.Tensor, adjacency: torch.Tensor, is_node: torch.Tensor | None = None
    ) -> torch.Tensor:
        for convolution in self.convolutions:
            x = convolution(x, adjacency, is_node).relu()
        return x


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
