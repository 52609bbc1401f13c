"""Graphs as all ordered pairs of their nodes, those of one size together: nothing is padded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.baselines.batching.graph_slicer import GraphSlicer
from twinwl.baselines.parts import PartedExamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["PairExamples", "PairInput"]

# Pairs of a part.
_BUDGET = 1 << 20


class PairInput(NamedTuple):
    """Some graphs as tensors over the ordered pairs of their nodes, those of one size together.

    Attributes
    ----------
    pairs : tuple of tensors of float, shape (1 + n_columns, n_graphs of the size, size, size)
        Whether there is an arc; and a node's columns at the pair of the node with itself, else zeros.
    place : tensor of int64, shape (n_graphs,)
        Where each graph stands among those of all sizes.
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
        What the network is told about each node.

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
        super().__init__(self.sizes**2, _BUDGET)
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
