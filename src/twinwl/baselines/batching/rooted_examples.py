"""Graphs as the disjoint union of their rooted subgraphs, for networks that run inside each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.baselines.batching.graph_slicer import GraphSlicer
from twinwl.baselines.parts import PartedExamples
from twinwl.ntwin.blocks import check_memory
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["RootedExamples", "RootedInput"]

# (root, node) pairs of a part plus the arcs between them.
_BUDGET = 1 << 20


class RootedInput(NamedTuple):
    """Some graphs, each node with its rooted subgraph; a *pair* is a node inside the subgraph of a root.

    Attributes
    ----------
    x : tensor of float, shape (n_nodes, n_columns)
    node_of_pair, root_of_pair : tensors of int64, shape (n_pairs,)
    distance : tensor of int64, shape (n_pairs,)
        Distance of the node from the root.
    edge_index : tensor of int64, shape (2, n_arcs)
        Arcs between pairs with the same root.
    graph_of_node : tensor of int64, shape (n_nodes,)
    n_graphs : int
    """

    x: torch.Tensor
    node_of_pair: torch.Tensor
    root_of_pair: torch.Tensor
    distance: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class RootedExamples(PartedExamples[RootedInput]):
    """A batch of graphs as training examples, with the rooted subgraph of every node.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
    hops
        Radius of the rooted subgraphs.
    max_memory
        Limit in bytes; None allows half of the machine's memory.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> part = RootedExamples(path, np.ones((3, 1), np.float32), hops=1).part(np.array([0]))
    >>> part.root_of_pair.tolist(), part.distance.tolist()
    ([0, 0, 1, 1, 1, 2, 2], [0, 1, 1, 0, 1, 1, 0])
    """

    def __init__(
        self, batch: GraphBatch, columns: NDArray[np.float32], hops: int, max_memory: int | None = None
    ) -> None:
        check_memory(batch, (hops,), max_memory)
        cut = rooted_subgraphs(batch, hops)
        pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
        arcs = cut.indptr[pair_ptr[1:]] - cut.indptr[pair_ptr[:-1]]
        super().__init__(np.diff(pair_ptr) + arcs, _BUDGET)
        self.nodes = GraphSlicer(
            batch.graph_ptr, batch.indptr[:1].repeat(batch.n_nodes + 1), batch.indices[:0]
        )
        self.pairs = GraphSlicer(pair_ptr, cut.indptr, cut.indices)
        self.node_of_pair = cut.node.astype(np.int64)
        self.root_of_pair = np.repeat(np.arange(batch.n_nodes), np.diff(cut.subgraph_ptr))
        self.distance = cut.distance.astype(np.int64)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> RootedInput:
        """Return these graphs as tensors."""
        nodes, pairs = self.nodes.take(rows), self.pairs.take(rows)
        shift = nodes.shift[pairs.graph_of_node]
        return RootedInput(
            self.columns[torch.from_numpy(nodes.nodes)],
            torch.from_numpy(self.node_of_pair[pairs.nodes] + shift),
            torch.from_numpy(self.root_of_pair[pairs.nodes] + shift),
            torch.from_numpy(self.distance[pairs.nodes]),
            torch.from_numpy(pairs.edge_index),
            torch.from_numpy(nodes.graph_of_node),
            len(rows),
        )
