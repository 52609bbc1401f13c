"""When two batches hold the same graphs: same structure, same labels by kind and value."""

import numpy as np

from twinwl.graphs.batch import validate
from twinwl.graphs.labels import label_token


def assert_same_graphs(one, other):
    for batch in (one, other):
        validate(batch)
    for name in ("graph_ptr", "indptr", "indices"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.directed == other.directed
    assert tokens_of_nodes(one) == tokens_of_nodes(other)
    assert tokens_of_arcs(one) == tokens_of_arcs(other)
    assert (one.node_features is None) == (other.node_features is None)
    if one.node_features is not None:
        np.testing.assert_array_equal(one.node_features, other.node_features)


def tokens_of_nodes(batch):
    return [label_token(label) for label in batch.labels_of_nodes()]


def tokens_of_arcs(batch):
    if batch.edge_labels is None or not len(batch.edge_labels):
        return []
    return [label_token(batch.edge_vocabulary[code]) for code in batch.edge_labels]


def edge_dict(batch):
    """Return {(u, v): label} of a batch, with batch-wide node numbers."""
    sources, targets = batch.arcs()
    labels = [None] * len(targets)
    if batch.edge_labels is not None:
        labels = [batch.edge_vocabulary[code] for code in batch.edge_labels]
    return dict(zip(zip(sources.tolist(), targets.tolist(), strict=True), labels, strict=True))
