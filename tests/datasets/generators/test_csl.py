from __future__ import annotations

import numpy as np

from twinwl.datasets.generators import N_NODES, SKIPS, circular_skip_links, csl
from twinwl.isomorphism.canonical import certificates
from twinwl.refinement.colours import refine


def test_ten_classes_of_fifteen_copies():
    graphs, y = csl()
    assert np.bincount(y).tolist() == [15] * 10
    assert set(graphs.nodes_per_graph.tolist()) == {41}
    assert set(np.diff(graphs.indptr).tolist()) == {4}


def test_classes_are_isomorphism_classes():
    graphs, y = csl(n_copies=2)
    forms = certificates(graphs, range(len(graphs)))
    assert len(set(forms)) == len(SKIPS)
    assert len(set(zip(forms, y.tolist(), strict=True))) == len(SKIPS)


def test_1wl_sees_one_colour():
    assert refine(csl(n_copies=1)[0], 5).colours.max() == 0


def test_links_join_nodes_one_and_skip_apart():
    edges = circular_skip_links(N_NODES, 7)
    assert set(((edges[:, 1] - edges[:, 0]) % N_NODES).tolist()) == {1, 7}
    assert len({tuple(sorted(edge)) for edge in edges.tolist()}) == 2 * N_NODES


def test_copies_differ_in_the_order_of_their_nodes():
    graphs, _ = csl(n_copies=2)
    assert not np.array_equal(graphs[0].indices, graphs[1].indices)
