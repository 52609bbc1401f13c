"""Copies of graphs with their nodes in another order."""

import numpy as np

from twinwl import GraphBatch


def relabelled(batch, rng):
    """Return the batch with the nodes of each graph shuffled, everything else moved along."""
    labels = batch.labels_of_nodes()
    sources, targets = batch.arcs()
    edge_lists, node_labels, edge_labels = [], [], []
    for first, last in zip(batch.graph_ptr[:-1], batch.graph_ptr[1:], strict=True):
        place = rng.permutation(last - first)
        moved = [None] * int(last - first)
        for node in range(first, last):
            moved[place[node - first]] = labels[node]
        inside = (sources >= first) & (sources < last) & ((sources < targets) | batch.directed)
        arcs = rng.permutation(np.flatnonzero(inside))
        edge_lists.append([(place[sources[arc] - first], place[targets[arc] - first]) for arc in arcs])
        node_labels.append(moved)
        if batch.edge_labels is not None:
            edge_labels.append([batch.edge_vocabulary[batch.edge_labels[arc]] for arc in arcs])
    return GraphBatch.from_edges(
        edge_lists,
        node_labels=node_labels,
        edge_labels=None if batch.edge_labels is None else edge_labels,
        directed=batch.directed,
    )
