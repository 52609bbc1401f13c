"""Rooted sizes equal the sizes of literal identity sets, whichever way they are computed."""

from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.graph_files import read_tu
from twinwl.refinement import colours, identities
from twinwl.refinement.identities import representatives, rooted_sizes

PAPER_SETS = [
    *("MUTAG", "PTC_MR", "NCI1"),
    *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("Mutagenicity", "NCI109")),
]


def oracle(batch, n_iter):
    rows = [naive.rooted_sizes(graph, n_iter) for graph in naive.from_batch(batch)]
    return np.array([[size for graph in rows for size in graph[h]] for h in range(n_iter + 1)])


@pytest.mark.parametrize("name", PAPER_SETS)
def test_equals_oracle_on_real_sets(tu_zip, name):
    batch = read_tu(tu_zip(name)).graphs
    batch = batch if len(batch) < 1000 else batch[1::4]
    np.testing.assert_array_equal(rooted_sizes(batch, 5), oracle(batch, 5))


def test_equals_oracle_on_the_whole_atlas():
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g())
    np.testing.assert_array_equal(rooted_sizes(atlas, 6), oracle(atlas, 6))


@given(batches())
def test_equals_oracle_on_random_graphs(batch):
    np.testing.assert_array_equal(rooted_sizes(batch, 3), oracle(batch, 3).reshape(4, -1))


@given(batches(directed=True))
def test_arcs_are_followed_in_their_direction(batch):
    np.testing.assert_array_equal(rooted_sizes(batch, 3), oracle(batch, 3).reshape(4, -1))


def graphs_with_hubs():
    broom = nx.compose(nx.path_graph(200), nx.star_graph(range(199, 500)))
    caterpillar = nx.path_graph(60)
    caterpillar.add_edges_from((node % 60, node) for node in range(60, 900))
    spider = nx.star_graph(300)
    spider.add_edges_from((leg, 300 + leg) for leg in range(1, 301))
    # Nodes of equal neighbours, some with trees of their own below them.
    shared = nx.complete_bipartite_graph(3, 400)
    shared.add_edges_from((node, 1000 + node) for node in range(3, 200))
    shared.add_edges_from((1000 + node, 2000 + node) for node in range(3, 80))
    random = np.random.default_rng(0)
    thread = nx.random_labeled_tree(900, seed=1)
    thread.add_edges_from((0, node) for node in range(1, 900, 7))
    thread.add_edges_from(pair for pair in random.integers(0, 900, (30, 2)).tolist() if pair[0] != pair[1])
    return [
        nx.star_graph(700),
        broom,
        caterpillar,
        spider,
        shared,
        thread,
        nx.random_labeled_tree(600, seed=0),
        nx.barabasi_albert_graph(800, 3, seed=0),
        nx.gnm_random_graph(700, 1500, seed=0),
        nx.gnm_random_graph(600, 400, seed=0),
        nx.disjoint_union(nx.complete_graph(70), nx.empty_graph(5)),
        nx.disjoint_union(nx.cycle_graph(300), nx.star_graph(300)),
        nx.complete_bipartite_graph(2, 600),
        nx.grid_2d_graph(20, 30),
        nx.path_graph(300),
        nx.empty_graph(600),
        nx.gnm_random_graph(100, 300, seed=0),
        nx.gnm_random_graph(200, 300, seed=0),
    ]


def undirected():
    return GraphBatch.from_networkx(
        [nx.convert_node_labels_to_integers(graph) for graph in graphs_with_hubs()]
    )


def directed():
    hub = nx.DiGraph([*((node, 0) for node in range(1, 400)), *((0, node) for node in range(300, 800))])
    return GraphBatch.from_networkx(
        [
            nx.gnm_random_graph(600, 1500, seed=0, directed=True),
            nx.gnm_random_graph(150, 200, seed=1, directed=True),
            hub,
            nx.complete_bipartite_graph(3, 600).to_directed(),
            nx.barabasi_albert_graph(700, 2, seed=0).to_directed(),
            nx.gn_graph(600, seed=0),
            nx.DiGraph(nx.empty_graph(600)),
        ]
    )


@cache
def with_sizes(make):
    """Return the graphs and their rooted sizes in five rounds, which take the oracle a second."""
    return make(), oracle(make(), 5)


# Which way a large graph takes depends on what a row costs in steps of a search.
WAYS = {"searches": 10**9, "blocks": 0, "whichever is cheaper": 2}


@pytest.mark.parametrize("make", [undirected, directed])
def test_graphs_with_hubs(make):
    batch, expected = with_sizes(make)
    np.testing.assert_array_equal(rooted_sizes(batch, 4), expected[:5])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [undirected, directed])
@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_large_graphs_give_the_same_numbers_either_way(monkeypatch, way, make, n_threads):
    monkeypatch.setenv("TWINWL_NUM_THREADS", n_threads)
    monkeypatch.setattr(identities, "LARGE", 66)
    monkeypatch.setattr(identities, "_STEPS_PER_ROW", WAYS[way])
    monkeypatch.setattr(identities, "_GROUPING_STEPS_PER_ARC", 0)
    monkeypatch.setattr(identities, "STEPS_PER_PIECE", 1000)
    monkeypatch.setattr(colours, "_STEPS_WORTH_A_THREAD", 10)
    monkeypatch.setattr(colours, "STEPS_PER_PIECE", 1000)
    batch, expected = with_sizes(make)
    for n_iter in (1, 2, 5):
        np.testing.assert_array_equal(rooted_sizes(batch, n_iter), expected[: n_iter + 1])


def test_nodes_of_equal_neighbours_are_found():
    graph = GraphBatch.from_networkx([nx.complete_bipartite_graph(2, 3)])
    expected = [0, 0, 2, 2, 2]
    assert representatives(graph).tolist() == expected


def test_nodes_of_equal_neighbours_differ_by_the_arcs_they_receive():
    both_ways_to_one = [(0, 2), (1, 2), (2, 0)]
    graph = GraphBatch.from_edges([both_ways_to_one], directed=True)
    assert representatives(graph).tolist() == [0, 1, 2]


def test_more_rounds_than_the_diameter_repeat_the_component_sizes():
    batch = GraphBatch.from_edges([[(0, 1), (2, 3), (3, 4)]])
    assert rooted_sizes(batch, 9)[9].tolist() == [2, 2, 3, 3, 3]


def test_a_graph_of_sixty_four_nodes_still_fits_one_word():
    for n in (63, 64, 65, 128, 129):
        batch = GraphBatch.from_networkx([nx.cycle_graph(n)])
        np.testing.assert_array_equal(rooted_sizes(batch, 40), oracle(batch, 40))


@pytest.mark.parametrize("n_iter", [-1, 0.5, None])
def test_what_is_no_number_of_rounds_is_refused(n_iter):
    with pytest.raises(TwinWLError, match="n_iter: got"):
        rooted_sizes(GraphBatch.from_edges([[(0, 1)]]), n_iter)
