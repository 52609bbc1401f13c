"""PPGN: matrices over pairs of nodes, multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, Unpack

import numpy as np
import torch

from twinwl.arguments import MEMORY
from twinwl.baselines.batching.dense_graphs import check_dense
from twinwl.baselines.batching.graph_slicer import GraphSlicer
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead
from twinwl.baselines.parts import PartedExamples
from twinwl.ntwin.ppgn import PairBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["PPGNClassifier", "PairExamples", "PairInput"]

# In one block: input, two perceptrons of two layers, product, skip, output; and their gradients.
_MATRICES_OF_BLOCK = 16
_PAIRS_PER_PART = 1 << 20


class PPGNClassifier(GNNClassifier):
    r"""Classify graphs with a provably powerful graph network (Maron et al., 2019), of 3-WL power.

    A graph is a tensor over pairs of nodes: the adjacency, and the node's columns on the diagonal. A block
    applies two perceptrons to the features of each pair, multiplies their results as matrices, feature by
    feature, and joins that with the input by a third perceptron: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`.
    The readout is the sums over the diagonal and off it, after every block.

    Parameters
    ----------
    max_memory : int or None
        Limit for the tensors, in bytes; None allows half of the machine's memory.
    layers : int, default=3
        Number of blocks.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = PPGNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        max_memory: int | None = None,
        *,
        layers: int = 3,
        hidden: int = 32,
        **training: Unpack[TrainingOptions],
    ) -> None:
        super().__init__(layers=layers, hidden=hidden, **training)
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        n_matrices = _MATRICES_OF_BLOCK * self.layers * self.hidden
        check_dense(batch, self.batch_size, n_matrices, "PPGN", self.max_memory)
        return PairExamples(batch, columns)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return PPGNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class PairInput(NamedTuple):
    """Some graphs as tensors over the ordered pairs of their nodes, those of one size together.

    Attributes
    ----------
    pairs : tuple of tensors of float, shape (1 + n_columns, n_graphs of the size, size, size)
        Whether there is an arc; and a node's columns at the pair of the node with itself, else zeros.
    place : tensor of int64, shape (n_graphs,)
        Place of each graph among those of all sizes.
    """

    pairs: tuple[torch.Tensor, ...]
    place: torch.Tensor


class PairExamples(PartedExamples[PairInput]):
    """A batch of graphs to learn from, as pairs of nodes.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    >>> part = PairExamples(batch, np.ones((5, 1), np.float32)).part(np.array([0, 1]))
    >>> [tuple(pairs.shape) for pairs in part.pairs], part.place.tolist()
    ([(2, 1, 2, 2), (2, 1, 3, 3)], [1, 0])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32]) -> None:
        self.sizes = batch.nodes_per_graph
        super().__init__(self.sizes**2, _PAIRS_PER_PART)
        self.slicer = GraphSlicer(batch.graph_ptr, batch.indptr, batch.indices)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> PairInput:
        """Return these graphs as tensors."""
        sizes = self.sizes[rows]
        place = torch.from_numpy(np.argsort(np.argsort(sizes, kind="stable")))
        alike = (self._alike(rows[sizes == size], size) for size in np.unique(sizes).tolist())
        return PairInput(tuple(alike), place)

    def _alike(self, rows: Int64, size: int) -> torch.Tensor:
        """Return graphs of one size."""
        piece = self.slicer.take(rows)
        graph, node = (torch.arange(len(rows) * size) // max(size, 1), torch.arange(size).repeat(len(rows)))
        source, target = torch.from_numpy(piece.edge_index)
        x = self.columns[torch.from_numpy(piece.nodes)]
        pairs = x.new_zeros(1 + x.shape[1], len(rows), size, size)
        pairs[0, graph[source], node[source], node[target]] = 1
        pairs[1:, graph, node, node] = x.T
        return pairs


class PPGNNetwork(torch.nn.Module):
    """Blocks of multiplied perceptrons, sums on and off the diagonal, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        widths = [n_columns + 1] + [hidden] * (layers - 1)
        self.blocks = torch.nn.ModuleList(PairBlock(width, hidden) for width in widths)
        self.head = ReadoutHead(2 * layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: PairInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        pooled = torch.cat([self._pooled(pairs) for pairs in graphs.pairs])
        logits: torch.Tensor = self.head(pooled[graphs.place])
        return logits

    def _pooled(self, pairs: torch.Tensor) -> torch.Tensor:
        sums = []
        for block in self.blocks:
            pairs = block(pairs)
            diagonal = pairs.diagonal(dim1=2, dim2=3).sum(dim=-1)
            sums += [diagonal, pairs.sum(dim=(2, 3)) - diagonal]
        return torch.cat(sums).T
