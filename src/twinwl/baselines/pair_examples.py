"""Graphs as all ordered pairs of their nodes, graph after graph and without padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from twinwl.baselines.graph_slicer import GraphSlicer
from twinwl.baselines.parts import PartedExamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["PairExamples", "PairInput"]

# Pairs of a part.
_BUDGET = 1 << 20


class PairInput(NamedTuple):
    """Some graphs, each as the n² ordered pairs of its nodes, row by row of the adjacency matrix.

    Attributes
    ----------
    pairs : tensor of float, shape (1 + n_columns, n_pairs)
        Whether there is an arc; and a node's columns at the pair of the node with itself, else zeros.
    sizes : list of int
        Number of nodes of each graph.
    diagonal : tensor of int64, shape (n_nodes,)
        Where the pair of each node with itself is.
    graph_of_node : tensor of int64, shape (n_nodes,)
    """

    pairs: torch.Tensor
    sizes: list[int]
    diagonal: torch.Tensor
    graph_of_node: torch.Tensor


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
    >>> import numpy as np
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> PairExamples(batch, np.ones((5, 1), np.float32)).part(np.array([0])).pairs
    tensor([[0., 1., 1., 0.],
            [1., 0., 0., 1.]])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32]) -> None:
        super().__init__(batch.nodes_per_graph**2, _BUDGET)
        self.slicer = GraphSlicer(batch.graph_ptr, batch.indptr, batch.indices)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> PairInput:
        """Return these graphs as tensors."""
        piece = self.slicer.take(rows)
        graph_of_node = torch.from_numpy(piece.graph_of_node)
        sizes = torch.bincount(graph_of_node, minlength=len(rows))
        squares = sizes**2
        place = torch.arange(len(graph_of_node)) - (sizes.cumsum(0) - sizes)[graph_of_node]
        row_begin = (squares.cumsum(0) - squares)[graph_of_node] + place * sizes[graph_of_node]
        diagonal = row_begin + place
        x = self.columns[torch.from_numpy(piece.nodes)]
        pairs = x.new_zeros(1 + x.shape[1], int(squares.sum()))
        source, target = torch.from_numpy(piece.edge_index)
        pairs[0, row_begin[source] + place[target]] = 1
        pairs[1:, diagonal] = x.T
        return PairInput(pairs, sizes.tolist(), diagonal, graph_of_node)
