"""Closed walks through each node: the identity features of the fast ID-GNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int32, Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["closed_walks"]


def closed_walks(batch: GraphBatch, longest: int) -> Float64:
    """Return the number of closed walks of 2, …, ``longest`` steps from each node: diagonals of powers of A.

    Walks of one step do not exist, for there are no self-loops.

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
