"""Rooted sizes equal the sizes of literal identity sets, whichever way they are computed."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.formats.tu import read_tu
from twinwl.refinement import identities
from twinwl.refinement.identities import rooted_sizes

PAPER_SETS = ["MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109"]


def oracle(batch, n_iter):
    rows = [naive.rooted_sizes(graph, n_iter) for graph in naive.from_batch(batch)]
    return np.array([[size for graph in rows for size in graph[h]] for h in range(n_iter + 1)])


@pytest.mark.parametrize("name", PAPER_SETS)
def test_equals_oracle_on_real_sets(tu_zip, name):
    batch = read_tu(tu_zip(name)).graphs
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


def large_graphs():
    return GraphBatch.from_networkx(
        [
            nx.gnm_random_graph(700, 1500, seed=0),
            nx.path_graph(300),
            nx.star_graph(400),
            nx.disjoint_union(nx.complete_graph(70), nx.empty_graph(5)),
        ]
    )


@pytest.mark.parametrize("words_at_most", [0, 1 << 23])
@pytest.mark.parametrize("alone_from", [100, 1 << 14])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_bitsets_and_searches_agree_on_large_graphs(monkeypatch, words_at_most, alone_from, n_threads):
    batch = large_graphs()
    expected = oracle(batch, 4)
    monkeypatch.setattr("twinwl.refinement.threads._STEPS_WORTH_A_THREAD", 10)
    monkeypatch.setattr(identities, "_ALONE_FROM", alone_from)
    if words_at_most == 0:
        force = lambda *_: False  # noqa: E731
        monkeypatch.setattr(identities, "_words_are_cheaper", force)
    np.testing.assert_array_equal(rooted_sizes(batch, 4, n_threads=n_threads), expected)


def test_both_ways_give_the_same_numbers_on_one_graph():
    batch = large_graphs()[0]
    shape = (6, batch.n_nodes)
    words, searched = np.empty(shape, np.int32), np.empty(shape, np.int32)
    identities._pass_words(0, batch.n_nodes, batch.indptr, batch.indices, 5, 0, words)
    identities._search(0, batch.n_nodes, 0, batch.n_nodes, batch.indptr, batch.indices, 5, 0, searched)
    np.testing.assert_array_equal(words, searched)
    np.testing.assert_array_equal(words, oracle(batch, 5))


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
