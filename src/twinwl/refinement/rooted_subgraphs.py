"""Rooted subgraphs: the subgraphs induced by the identity sets ``t_h(v)``, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS
from twinwl.arrays import Int32, Int64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.threads import STEPS_PER_PIECE, run_ranges


class RootedSubgraphs(NamedTuple):
    """The disjoint union of rooted subgraphs, in CSR form.

    Within a subgraph nodes are in the order of the batch, so its neighbour lists are sorted.

    Attributes
    ----------
    subgraph_ptr : array of int64, shape (n_roots + 1,)
        Node range of each subgraph.
    root : array of int32, shape (n_roots,)
        Place of each root among the nodes of the union.
    node : array of int32, shape (n_union_nodes,)
        The batch's node that each node of the union is a copy of.
    distance : array of int32, shape (n_union_nodes,)
        Distance from the root.
    indptr : array of int64, shape (n_union_nodes + 1,)
    indices : array of int32, shape (n_union_arcs,)
        Neighbours, numbered within the union.
    arc : array of int64, shape (n_union_arcs,)
        The batch's arc that each arc of the union is a copy of.
    """

    subgraph_ptr: Int64
    root: Int32
    node: Int32
    distance: Int32
    indptr: Int64
    indices: Int32
    arc: Int64

    def as_batch(self, batch: GraphBatch) -> GraphBatch:
        """Return the subgraphs as a batch of their own, one graph per root.

        Parameters
        ----------
        batch
            The batch they were cut out of, which has the labels and features.
        """
        return GraphBatch.unchecked(
            indptr=self.indptr,
            indices=self.indices,
            graph_ptr=self.subgraph_ptr,
            node_labels=batch.node_labels[self.node],
            node_vocabulary=batch.node_vocabulary,
            edge_labels=None if batch.edge_labels is None else batch.edge_labels[self.arc],
            edge_vocabulary=batch.edge_vocabulary,
            node_features=None if batch.node_features is None else batch.node_features[self.node],
            directed=batch.directed,
        )


def rooted_subgraphs(batch: GraphBatch, hops: int, roots: Int64 | None = None) -> RootedSubgraphs:
    """Cut out the subgraph induced by the nodes within ``hops`` steps of each root.

    In a directed batch steps follow the arcs. The subgraph is the *induced* one: it includes the
    edges between two nodes that are both ``hops`` steps away, which are not in the identity tree.

    Parameters
    ----------
    batch
        The graphs.
    hops
        The h of ``G_v^h``.
    roots : array of int64, shape (n_roots,), optional
        Nodes of the batch; all of them by default.

    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> cut = rooted_subgraphs(batch, 1)
    >>> cut.subgraph_ptr.tolist(), cut.node.tolist()
    ([0, 2, 5, 8, 10], [0, 1, 0, 1, 2, 1, 2, 3, 2, 3])
    """
    if hops < 0:
        raise TwinWLError(f"hops: got {hops}, expected 0 or more")
    chosen = np.arange(batch.n_nodes, dtype=np.int64) if roots is None else np.asarray(roots, np.int64)
    indptr, indices = batch.indptr, batch.indices
    subgraph_ptr = np.zeros(len(chosen) + 1, np.int64)
    arc_ptr = np.zeros(len(chosen) + 1, np.int64)

    def count(first: int, last: int) -> int:
        done = _count(first, last, indptr, indices, chosen, hops, STEPS_PER_PIECE, subgraph_ptr, arc_ptr)
        if subgraph_ptr[done] > MAX_ITEMS:
            raise TwinWLError(
                f"the rooted subgraphs of {len(chosen)} nodes have more than {MAX_ITEMS} nodes together; "
                "pass fewer roots at a time or lower hops"
            )
        return int(done)

    run_ranges(count, [(0, len(chosen))])
    n_nodes, n_arcs = int(subgraph_ptr[-1]), int(arc_ptr[-1])
    cut = RootedSubgraphs(
        subgraph_ptr,
        root=np.empty(len(chosen), np.int32),
        node=np.empty(n_nodes, np.int32),
        distance=np.empty(n_nodes, np.int32),
        indptr=np.zeros(n_nodes + 1, np.int64),
        indices=np.empty(n_arcs, np.int32),
        arc=np.empty(n_arcs, np.int64),
    )

    def fill(first: int, last: int) -> int:
        return int(_cut(first, last, indptr, indices, chosen, hops, STEPS_PER_PIECE, cut))

    run_ranges(fill, [(0, len(chosen))])
    return cut


@kernel
def _ball(
    indptr: Int64, indices: Int32, root: int, hops: int, members: Int32, distance_of_node: Int32
) -> int:
    """Write the nodes within ``hops`` steps to ``members``, in order of distance; return their number.

    ``distance_of_node`` must be -1 everywhere and is left filled for the members.
    """
    members[0] = root
    distance_of_node[root] = 0
    n_members = 1
    cursor = 0
    while cursor < n_members:
        node = members[cursor]
        cursor += 1
        step = distance_of_node[node] + 1
        if step > hops:
            break
        for arc in range(indptr[node], indptr[node + 1]):
            other = indices[arc]
            if distance_of_node[other] < 0:
                distance_of_node[other] = step
                members[n_members] = other
                n_members += 1
    return n_members


@kernel
def _count(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    roots: Int64,
    hops: int,
    most_steps: int,
    node_ptr: Int64,
    arc_ptr: Int64,
) -> int:
    """Write running totals of nodes and arcs inside the subgraphs of some roots; return where it stopped."""
    n_nodes = len(indptr) - 1
    members = np.empty(n_nodes, np.int32)
    distance_of_node = np.full(n_nodes, -1, np.int32)
    steps = 0
    while first < last and steps <= most_steps:
        n_members = _ball(indptr, indices, roots[first], hops, members, distance_of_node)
        n_arcs = 0
        for place in range(n_members):
            node = members[place]
            steps += indptr[node + 1] - indptr[node]
            if distance_of_node[node] < hops:
                n_arcs += indptr[node + 1] - indptr[node]
            else:
                for arc in range(indptr[node], indptr[node + 1]):
                    n_arcs += distance_of_node[indices[arc]] >= 0
        for place in range(n_members):
            distance_of_node[members[place]] = -1
        node_ptr[first + 1] = node_ptr[first] + n_members
        arc_ptr[first + 1] = arc_ptr[first] + n_arcs
        first += 1
    return first


@kernel
def _cut(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    roots: Int64,
    hops: int,
    most_steps: int,
    cut: RootedSubgraphs,
) -> int:
    """Write the subgraphs of some roots; return where it stopped."""
    subgraph_ptr, root, node_of_place, distance, cut_indptr, cut_indices, cut_arc = cut
    n_nodes = len(indptr) - 1
    members = np.empty(n_nodes, np.int32)
    distance_of_node = np.full(n_nodes, -1, np.int32)
    place_of_node = np.empty(n_nodes, np.int32)
    written = cut_indptr[subgraph_ptr[first]]
    last_arc = written + most_steps
    while first < last and written <= last_arc:
        n_members = _ball(indptr, indices, roots[first], hops, members, distance_of_node)
        start = subgraph_ptr[first]
        members[:n_members].sort()
        for place in range(n_members):
            node = members[place]
            place_of_node[node] = start + place
            node_of_place[start + place] = node
            distance[start + place] = distance_of_node[node]
        root[first] = place_of_node[roots[first]]
        for place in range(n_members):
            node = members[place]
            for arc in range(indptr[node], indptr[node + 1]):
                other = indices[arc]
                if distance_of_node[other] >= 0:
                    cut_indices[written] = place_of_node[other]
                    cut_arc[written] = arc
                    written += 1
            cut_indptr[start + place + 1] = written
        for place in range(n_members):
            distance_of_node[members[place]] = -1
        first += 1
    return first
