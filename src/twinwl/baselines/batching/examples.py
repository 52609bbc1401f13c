"""Graphs as the input of a graph neural network: node columns, arcs, and the graph of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from twinwl.baselines.batching.graph_slicer import GraphSlicer
from twinwl.baselines.parts import PartedExamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["GraphExamples", "GraphInput"]

# Nodes plus arcs of a part: a few hundred megabytes with 64 columns.
_BUDGET = 1 << 20


class GraphInput(NamedTuple):
    """Some graphs as tensors.

    Attributes
    ----------
    x : tensor of float, shape (n_nodes, n_columns)
    edge_index : tensor of int64, shape (2, n_arcs)
        Each edge occurs in both directions.
    graph_of_node : tensor of int64, shape (n_nodes,)
        Ascending, as PyTorch Geometric's ``batch``.
    n_graphs : int
        Cannot be derived from ``graph_of_node``, because a graph may have no nodes.
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class GraphExamples(PartedExamples[GraphInput]):
    """A batch of graphs as training examples, sliced from its CSR arrays.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = GraphExamples(batch, np.ones((5, 1), np.float32))
    >>> examples.part(np.array([1])).edge_index
    tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32]) -> None:
        sizes = batch.nodes_per_graph
        arcs = batch.indptr[batch.graph_ptr[1:]] - batch.indptr[batch.graph_ptr[:-1]]
        super().__init__(sizes + arcs, _BUDGET)
        self.slicer = GraphSlicer(batch.graph_ptr, batch.indptr, batch.indices)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> GraphInput:
        """Return these graphs as tensors."""
        piece = self.slicer.take(rows)
        return GraphInput(
            self.columns[torch.from_numpy(piece.nodes)],
            torch.from_numpy(piece.edge_index),
            torch.from_numpy(piece.graph_of_node),
            len(rows),
        )
