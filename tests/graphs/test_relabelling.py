from __future__ import annotations

import numpy as np

from twinwl.graphs.batch import GraphBatch, renumbered, validate
from twinwl.isomorphism.canonical import certificates

EDGES = [[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [(0, 1)], [(1, 0), (1, 2)]]


def batch(*, directed):
    return GraphBatch.from_edges(
        EDGES,
        node_labels=[list("abcd"), list("ba"), list("cab")],
        edge_labels=[[1, 2, 3, 4, 5], [6], [7, 8]],
        node_features=[np.arange(8.0).reshape(4, 2), np.zeros((2, 2)), np.ones((3, 2))],
        directed=directed,
    )


def test_copies_are_isomorphic_with_labels_and_features_moved_along():
    for directed in (False, True):
        graphs = batch(directed=directed)
        discrete = graphs.discretise()  # features become a part of the labels
        moved = renumbered(graphs, np.random.default_rng(0))
        assert certificates(moved.discretise(), range(3)) == certificates(discrete, range(3))
        assert not np.array_equal(moved.node_labels, graphs.node_labels)
        validate(moved)


def test_the_same_seed_gives_the_same_order():
    one, two = (renumbered(batch(directed=False), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.indices, two.indices)
