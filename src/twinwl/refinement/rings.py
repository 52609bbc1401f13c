"""Which nodes lie on a cycle: one depth-first search over all graphs, linear in nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, Int64


@kernel
def on_cycle(indptr: Int64, indices: Int32) -> Bool:
    """Return whether each node lies on a cycle.

    Parameters
    ----------
    indptr, indices
        Neighbours of each node, in both directions; repeated ones count once.

    Returns
    -------
    array of bool, shape (n_nodes,)

    >>> from twinwl import GraphBatch
    >>> lollipop = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0), (2, 3)]])
    >>> on_cycle(lollipop.indptr, lollipop.indices)
    array([ True,  True,  True, False])
    """
    n = len(indptr) - 1
    found = np.zeros(n, np.bool_)
    place = np.full(n, -1, np.int64)  # in the order of the search
    lowest = np.empty(n, np.int64)  # the first place that a node or what is below it has an edge to
    parent = np.empty(n, np.int32)
    arc = indptr[:-1].copy()  # the next one to walk
    n_seen = 0
    for root in range(n):
        if place[root] >= 0:
            continue
        parent[root] = -1
        node = np.int64(root)
        while node >= 0:
            if place[node] < 0:
                place[node] = lowest[node] = n_seen
                n_seen += 1
            if arc[node] < indptr[node + 1]:
                other = np.int64(indices[arc[node]])
                arc[node] += 1
                if place[other] < 0:
                    parent[other] = node
                    node = other
                elif other != parent[node] and place[other] < place[node]:
                    lowest[node] = min(lowest[node], place[other])
                    found[node] = found[other] = True
                continue
            above = np.int64(parent[node])
            if above >= 0:
                lowest[above] = min(lowest[above], lowest[node])
                # An edge of the search is on a cycle if something below it leads back to above it.
                if lowest[node] <= place[above]:
                    found[node] = found[above] = True
            node = above
    return found
