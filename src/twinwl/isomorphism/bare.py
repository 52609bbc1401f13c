"""Graphs without what a test does not look at."""

from __future__ import annotations

from twinwl.graphs.batch import GraphBatch

__all__ = ["bare"]


def bare(batch: GraphBatch, *, edge_labels: bool = True) -> GraphBatch:
    """Return the batch without node features and, where asked, without edge labels.

    >>> bare(GraphBatch.from_edges([[(0, 1)]], edge_labels=[["single"]]), edge_labels=False)
    GraphBatch(1 graph, 2 nodes, 1 edge)
    """
    if batch.node_features is None and (edge_labels or batch.edge_labels is None):
        return batch
    return GraphBatch.unchecked(
        indptr=batch.indptr,
        indices=batch.indices,
        graph_ptr=batch.graph_ptr,
        node_labels=batch.node_labels,
        node_vocabulary=batch.node_vocabulary,
        edge_labels=batch.edge_labels if edge_labels else None,
        edge_vocabulary=batch.edge_vocabulary if edge_labels else (),
        node_features=None,
        directed=batch.directed,
    )
