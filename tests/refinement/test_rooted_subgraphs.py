import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.batch_equality import assert_same_graphs
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.graphs.batch import validate
from twinwl.refinement.identities import rooted_subgraphs

any_batches = st.booleans().flatmap(lambda directed: batches(directed=directed))


@given(batch=any_batches, hops=st.integers(0, 4))
def test_subgraphs_are_those_of_the_oracle(batch, hops):
    cut = rooted_subgraphs(batch, hops)
    union = cut.as_batch(batch)
    validate(union)
    fast = naive.from_batch(union)
    position = 0
    for first, graph in zip(batch.graph_ptr, naive.from_batch(batch), strict=False):
        for node in range(graph.n):
            rooted = naive.rooted_subgraph(graph, node, hops)
            start, stop = cut.subgraph_ptr[position : position + 2]
            assert fast[position] == rooted.graph
            assert (cut.node[start:stop] - first).tolist() == rooted.members
            assert cut.root[position] - start == rooted.root
            position += 1
    assert position == len(fast)


@given(batch=any_batches, hops=st.integers(0, 3))
def test_distances_are_steps_from_the_root(batch, hops):
    cut = rooted_subgraphs(batch, hops)
    graphs = naive.from_batch(batch)
    position = 0
    for first, graph in zip(batch.graph_ptr[:-1], graphs, strict=True):
        for node in range(graph.n):
            for place in range(cut.subgraph_ptr[position], cut.subgraph_ptr[position + 1]):
                steps, other = int(cut.distance[place]), int(cut.node[place] - first)
                assert other in naive.identity_sets(graph, steps)[node]
                assert steps == 0 or other not in naive.identity_sets(graph, steps - 1)[node]
            position += 1


def test_edges_between_the_outermost_nodes_belong_to_the_subgraph():
    triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]])
    assert len(rooted_subgraphs(triangle, 1, np.array([0])).indices) == 6


def test_arcs_are_followed_in_their_direction():
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=True)
    cut = rooted_subgraphs(path, 1)
    assert np.split(cut.node, cut.subgraph_ptr[1:-1])[1].tolist() == [1, 2]


@given(batch=any_batches, data=st.data())
def test_chosen_roots_come_in_their_order(batch, data):
    if batch.n_nodes == 0:
        return
    roots = np.array(data.draw(st.lists(st.integers(0, batch.n_nodes - 1), max_size=6)), np.int64)
    whole = rooted_subgraphs(batch, 2).as_batch(batch)
    assert_same_graphs(rooted_subgraphs(batch, 2, roots).as_batch(batch), whole[roots])


def test_features_and_edge_labels_come_along():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]],
        node_labels=[["a", "b", "c"]],
        edge_labels=[["x", "y"]],
        node_features=[np.array([[0.0], [1.0], [2.0]])],
    )
    end = rooted_subgraphs(batch, 1, np.array([2])).as_batch(batch)
    assert end.labels_of_nodes() == ["b", "c"]
    assert [end.edge_vocabulary[code] for code in end.edge_labels] == ["y", "y"]
    assert end.node_features.tolist() == [[1.0], [2.0]]


def test_negative_hops_are_refused():
    with pytest.raises(TwinWLError, match="hops: got -1"):
        rooted_subgraphs(GraphBatch.from_edges([[(0, 1)]]), -1)


@pytest.mark.parametrize("most_steps", [0, 20])
def test_it_does_not_matter_where_a_cut_is_interrupted(monkeypatch, most_steps):
    batch = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)], [(0, 1), (1, 2)]])
    at_once = rooted_subgraphs(batch, 2)
    monkeypatch.setattr("twinwl.refinement.identities.STEPS_PER_PIECE", most_steps)
    for expected, in_pieces in zip(at_once, rooted_subgraphs(batch, 2), strict=True):
        assert np.array_equal(expected, in_pieces)


def test_subgraphs_that_would_hold_too_much_are_refused(monkeypatch):
    monkeypatch.setattr("twinwl.refinement.identities.MAX_ITEMS", 5)
    with pytest.raises(TwinWLError, match="more than 5 nodes together"):
        rooted_subgraphs(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2)


def test_arrays_with_room_fit_together():
    cut = rooted_subgraphs(GraphBatch.from_edges([[(0, 1)]]), 1)
    for n_nodes in range(1, 40):
        roomy = cut.with_room(n_nodes, 2).with_room(n_nodes + 1, 2)
        assert len(roomy.node) <= len(roomy.distance)
        assert len(roomy.node) < len(roomy.indptr)
