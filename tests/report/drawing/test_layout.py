from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinwl.graphs.batch import GraphBatch
from twinwl.report.drawing import spring_positions


def batch_of(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return GraphBatch.from_edges([list(graph.edges)], num_nodes=[len(graph)])


def closest(positions):
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances.min()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 25), density=st.floats(0, 0.5))
def test_positions_are_finite_apart_and_the_same_every_time(seed, size, density):
    graph = batch_of(nx.gnp_random_graph(size, density, seed=seed))
    positions = spring_positions(graph)
    assert positions.shape == (size, 2)
    assert np.isfinite(positions).all()
    assert (positions.min(axis=0) >= -1e-9).all()
    assert size == 1 or closest(positions) > 0.4
    np.testing.assert_array_equal(positions, spring_positions(graph))


def test_a_graph_without_nodes_has_no_positions():
    assert spring_positions(GraphBatch.from_edges([[]])).shape == (0, 2)


def test_a_grid_is_drawn_straight():
    positions = spring_positions(batch_of(nx.grid_2d_graph(3, 4)))
    rows = np.unique(positions[:, 1].round(0))
    assert len(rows) == 3
    assert np.ptp(positions[:, 0]) > np.ptp(positions[:, 1])


def test_components_do_not_overlap():
    graph = nx.disjoint_union_all([nx.cycle_graph(5), nx.star_graph(4), nx.path_graph(3), nx.empty_graph(2)])
    positions = spring_positions(batch_of(graph))
    boxes = [positions[sorted(component)] for component in nx.connected_components(graph)]
    corners = [(box.min(axis=0), box.max(axis=0)) for box in boxes]
    for index, (low, high) in enumerate(corners):
        for other_low, other_high in corners[:index]:
            assert (low > other_high + 0.5).any() or (other_low > high + 0.5).any()


@pytest.mark.parametrize("graph", [nx.path_graph(7), nx.cycle_graph(6), nx.balanced_tree(2, 3)], ids=str)
def test_edges_are_about_as_long_as_each_other(graph):
    positions = spring_positions(batch_of(graph))
    lengths = [np.linalg.norm(positions[u] - positions[v]) for u, v in graph.edges]
    assert max(lengths) / min(lengths) < 2
