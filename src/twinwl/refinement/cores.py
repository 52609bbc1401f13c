"""Trees that hang on a core: their rooted sizes take one pass up and one pass down, and no search.

Leaves are removed until none is left. What remains is the *core*: cycles and the paths between them or, in a
tree, only its last node. Rooted sizes of a node outside the core follow from those of its parent: within h
steps are the nodes at most h below it, and those within h - 1 steps of its parent, minus those counted twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.graph_arrays import Graph, Graphs, graph_between

if TYPE_CHECKING:
    from twinwl.arrays import Int32

# In graphs of up to this many nodes, or with less than one leaf in this many, removing leaves costs more than
# keeping them.
_FEW_NODES, _FEW_LEAVES = 256, 16


class Core(NamedTuple):
    """A core, and the nodes that hang on it.

    ``anchors`` and ``depths``, of shape (n_hanging,), are the node of the core that each of the others hangs
    on, and its depth. Those that are deeper than the number of rounds are omitted.
    """

    graph: Graph
    anchors: Int32
    depths: Int32


@kernel
def is_core(low: int, high: int, graphs: Graphs) -> bool:
    """Return whether to treat nodes ``low..high`` as a core: directed, or few, or with few leaves."""
    if graphs.directed or high - low <= _FEW_NODES:
        return True
    n_leaves = 0
    for node in range(low, high):
        n_leaves += int(graphs.indptr[node + 1] - graphs.indptr[node] == 1)
    return n_leaves * _FEW_LEAVES < high - low


@kernel
def whole(low: int, high: int, graphs: Graphs) -> Core:
    """Return the graph of nodes ``low..high`` as a core on which nothing hangs."""
    nothing = np.empty(0, np.int32)
    return Core(graph_between(low, high, graphs), nothing, nothing)


@kernel
def peeled(
    low: int, high: int, graphs: Graphs, n_iter: int, column: int, out: Int32
) -> tuple[Core, Int32, Int32, Int32]:
    """Cut the core out of an undirected graph.

    Parameters
    ----------
    low, high
        The nodes of the graph; in the result they are numbered from ``low``.
    column
        The column of ``out`` that belongs to node ``low``.
    out : array of int32, shape (n_iter + 1, at least column + high - low)
        Filled with the number of nodes at most h below each node, itself included.

    Returns
    -------
    core : Core
    nodes : array of int32, shape (n_core,)
        The nodes of the core.
    order : array of int32, shape (n_peeled,)
        Nodes outside the core, each after all nodes below it.
    parent : array of int32, shape (n,)
        The node that each of them hangs on.
    """
    n = high - low
    indptr, indices = graphs.indptr, graphs.indices
    order, parent, left = _peel(low, high, graphs, n_iter, column, out)
    place = np.full(n, -1, np.int32)
    nodes = np.empty(n, np.int32)
    n_core, n_arcs = 0, 0
    for node in range(n):
        if left[node] > 0:
            place[node] = n_core
            nodes[n_core] = node
            n_core += 1
            n_arcs += left[node]
    core_ptr = np.zeros(n_core + 1, np.int64)
    core_indices = np.empty(n_arcs + 1, np.int32)  # written one place ahead, to avoid a branch
    end = 0
    for core_node in range(n_core):
        node = low + nodes[core_node]
        for arc in range(indptr[node], indptr[node + 1]):
            core_indices[end] = place[indices[arc] - low]
            end += int(place[indices[arc] - low] >= 0)
        core_ptr[core_node + 1] = end
    anchors, depths = _hanging(order if n_core > 0 else order[:0], parent, place, n_iter)
    core = Core(Graph(0, core_ptr, core_indices, graphs.directed), anchors, depths)
    return core, nodes[:n_core], order, parent


@kernel
def spread(order: Int32, parent: Int32, n_iter: int, column: int, out: Int32) -> None:
    """Turn the numbers of nodes below those outside the core into rooted sizes, from the core outwards."""
    for place in range(len(order) - 1, -1, -1):
        node, above = column + order[place], column + parent[order[place]]
        for h in range(n_iter, 1, -1):
            out[h, node] += out[h - 1, above] - out[h - 2, node]
        if n_iter > 0:
            out[1, node] += 1


@kernel
def _hanging(order: Int32, parent: Int32, place: Int32, n_iter: int) -> tuple[Int32, Int32]:
    """Return node of the core and depth of all nodes that hang on it."""
    anchors = np.empty(len(order), np.int32)
    depths = np.empty(len(order), np.int32)
    depth = np.zeros(len(place) if len(order) else 0, np.int32)
    n_hanging = 0
    for turn in range(len(order) - 1, -1, -1):
        node = order[turn]
        place[node] = place[parent[node]]
        depth[node] = depth[parent[node]] + 1
        if place[node] >= 0 and depth[node] <= n_iter:
            anchors[n_hanging], depths[n_hanging] = place[node], depth[node]
            n_hanging += 1
    return anchors[:n_hanging], depths[:n_hanging]


@kernel
def _peel(
    low: int, high: int, graphs: Graphs, n_iter: int, column: int, out: Int32
) -> tuple[Int32, Int32, Int32]:
    """Remove the leaves of an undirected graph, counting the nodes below each node on the way up.

    Returns the order in which they were taken off, what each node hangs on, and the number of neighbours that
    nodes have in the core, 0 outside of it.
    """
    n = high - low
    indptr, indices = graphs.indptr, graphs.indices
    for h in range(n_iter + 1):
        for node in range(column, column + n):
            out[h, node] = 1
    left = np.empty(n, np.int32)
    # The exclusive or of the remaining neighbours: if there is only one, it is its number.
    parent = np.empty(n, np.int32)
    for node in range(n):
        left[node] = indptr[low + node + 1] - indptr[low + node]
        others = np.int32(0)
        for arc in range(indptr[low + node], indptr[low + node + 1]):
            others ^= np.int32(indices[arc] - low)
        parent[node] = others
    order = np.empty(n, np.int32)
    n_peeled = 0
    for start in range(n):
        node = start
        while left[node] == 1:
            above = parent[node]
            order[n_peeled] = node
            n_peeled += 1
            left[node] = 0
            left[above] -= 1
            parent[above] ^= node
            for h in range(1, n_iter + 1):
                out[h, column + above] += out[h - 1, column + node]
            if above > start:  # its turn comes
                break
            node = above
    return order[:n_peeled], parent, left
