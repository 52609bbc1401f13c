"""Mini-batches of graphs sliced straight from CSR arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.graphs.selection import ranges

if TYPE_CHECKING:
    from twinwl.arrays import Int64, Ints

__all__ = ["GraphSlice", "GraphSlicer"]


class GraphSlice(NamedTuple):
    """Some graphs, their nodes numbered anew from 0.

    Attributes
    ----------
    nodes : array of int64, shape (n,)
        Original number of each node.
    edge_index : array of int64, shape (2, n_arcs)
        Source and target of each arc, in new numbers.
    graph_of_node : array of int64, shape (n,)
        Place of each node's graph in the slice.
    shift : array of int64, shape (n_graphs,)
        What was added to the node numbers of each graph.
    """

    nodes: Int64
    edge_index: Int64
    graph_of_node: Int64
    shift: Int64


class GraphSlicer:
    """Take graphs out of one large CSR structure, whatever its nodes stand for.

    Parameters
    ----------
    graph_ptr : array, shape (n_graphs + 1,)
        Node range of each graph.
    indptr : array, shape (n_nodes + 1,)
    indices : array, shape (n_arcs,)
        Neighbours, numbered over all graphs.

    Examples
    --------
    >>> slicer = GraphSlicer(np.array([0, 2, 4]), np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 2]))
    >>> part = slicer.take(np.array([1]))
    >>> part.nodes.tolist(), part.edge_index.tolist()
    ([2, 3], [[0, 1], [1, 0]])
    """

    def __init__(self, graph_ptr: Int64, indptr: Int64, indices: Ints) -> None:
        self.graph_ptr = graph_ptr
        self.arc_ptr = indptr[graph_ptr]
        sources = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        self.arcs = np.stack([sources, indices.astype(np.int64)])

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    def take(self, rows: Int64) -> GraphSlice:
        """Return these graphs, in this order."""
        starts, sizes = self.graph_ptr[rows], self.graph_ptr[rows + 1] - self.graph_ptr[rows]
        n_arcs = self.arc_ptr[rows + 1] - self.arc_ptr[rows]
        shift = np.cumsum(sizes) - sizes - starts
        arcs = self.arcs[:, ranges(self.arc_ptr[rows], n_arcs)] + np.repeat(shift, n_arcs)
        return GraphSlice(ranges(starts, sizes), arcs, np.repeat(np.arange(len(rows)), sizes), shift)
