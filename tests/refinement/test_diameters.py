"""Diameters equal the round after which literal identity sets stop growing."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.refinement import diameters as module
from twinwl.refinement.diameters import diameters


@given(st.booleans().flatmap(lambda directed: batches(directed=directed)))
def test_after_the_diameter_no_identity_set_grows(batch):
    assert diameters(batch).tolist() == [naive.diameter(graph) for graph in naive.from_batch(batch)]


def test_the_whole_atlas():
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g())
    assert diameters(atlas).tolist() == [naive.diameter(graph) for graph in naive.from_batch(atlas)]


def expected(graph):
    """Return the largest finite distance, by a search from every node."""
    return max(max(reached.values()) for _, reached in nx.all_pairs_shortest_path_length(graph))


def larger_graphs():
    random = nx.gnm_random_graph(300, 330, seed=0)
    return [
        random,
        nx.disjoint_union(nx.path_graph(5), nx.cycle_graph(40)),
        nx.random_labeled_tree(200, seed=0),
        nx.star_graph(300),
        nx.barabasi_albert_graph(300, 2, seed=0),
        nx.grid_2d_graph(9, 14),
        nx.lollipop_graph(20, 30),
        nx.empty_graph(4),
        nx.disjoint_union_all([nx.path_graph(n) for n in (2, 9, 3, 9, 4)]),
        nx.random_regular_graph(3, 100, seed=0),
    ]


@pytest.mark.parametrize("most_steps", [0, 1000, 1 << 24])
def test_it_does_not_matter_where_a_search_is_interrupted(monkeypatch, most_steps):
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in larger_graphs()]
    monkeypatch.setattr(module, "STEPS_PER_PIECE", most_steps)
    found = diameters(GraphBatch.from_networkx(graphs), n_threads=1)
    assert found.tolist() == [expected(graph) for graph in graphs]


def test_large_directed_graphs_search_once_from_nodes_of_equal_arcs(monkeypatch):
    hub = nx.DiGraph([*((node, 0) for node in range(1, 90)), *((0, node) for node in range(80, 150))])
    graphs = [hub, nx.gnm_random_graph(150, 300, seed=0, directed=True), nx.gn_graph(120, seed=0)]
    monkeypatch.setattr(module, "LARGE", 10)
    assert diameters(GraphBatch.from_networkx(graphs)).tolist() == [expected(graph) for graph in graphs]


def test_a_hub_takes_few_searches():
    star = GraphBatch.from_scipy([_star_matrix(200_000)])
    assert diameters(star).tolist() == [2]


def _star_matrix(n_leaves):
    leaves = np.arange(1, n_leaves + 1)
    upper = sparse.csr_matrix(
        (np.ones(n_leaves), (np.zeros(n_leaves, int), leaves)), shape=(n_leaves + 1,) * 2
    )
    return upper + upper.T
