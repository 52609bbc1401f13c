"""Copies of graphs with their nodes in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.graphs.selection import pointer

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch


def relabelled(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """Shuffle the nodes of each graph; labels, edge labels and features move along.

    Parameters
    ----------
    batch
        The graphs.
    rng
        The only random step.

    >>> from twinwl import GraphBatch, graph_hashes
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "C", "O"]])
    >>> other = relabelled(batch, np.random.default_rng(0))
    >>> sorted(other.labels_of_nodes()), graph_hashes(other) == graph_hashes(batch)
    (['C', 'C', 'O'], True)
    """
    place = np.empty(batch.n_nodes, np.int64)  # of each node in the new order
    for first, last in zip(batch.graph_ptr[:-1].tolist(), batch.graph_ptr[1:].tolist(), strict=True):
        place[first:last] = first + rng.permutation(last - first)
    sources, targets = (place[ends] for ends in batch.arcs())
    order = np.lexsort((targets, sources))
    moved = np.argsort(place)
    return type(batch).unchecked(
        indptr=pointer(np.bincount(sources, minlength=batch.n_nodes)),
        indices=targets[order].astype(np.int32),
        graph_ptr=batch.graph_ptr,
        node_labels=batch.node_labels[moved],
        node_vocabulary=batch.node_vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[order],
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None if batch.node_features is None else batch.node_features[moved],
        directed=batch.directed,
    )
