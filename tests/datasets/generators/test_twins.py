from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from twinwl.datasets.generators import _BICYCLOPENTYL, _DECALIN, _kinds, twins
from twinwl.errors import TwinWLError
from twinwl.isomorphism.canonical import certificates
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes

VALENCE = {"C": 4, "N": 3, "O": 2, "F": 1, "Cl": 1}


def histograms(graphs, values):
    """The multiset of a value over the nodes of each graph."""
    return [tuple(sorted(part.tolist())) for part in np.split(values, graphs.graph_ptr[1:-1])]


def pairs(of_graphs):
    return list(zip(of_graphs[::2], of_graphs[1::2], strict=True))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_1wl_never_tells_a_pair_apart(state):
    graphs, _, _ = twins(n_pairs=20, random_state=state)
    stable = refine(graphs, None).colours[-1]
    assert all(one == other for one, other in pairs(histograms(graphs, stable)))


def test_no_pair_is_isomorphic():
    graphs, _, _ = twins(n_pairs=60)
    for first, second in pairs(list(graphs)):
        one, other = (
            igraph.Graph(graph.n_nodes, np.column_stack(graph.arcs()).tolist()).simplify()
            for graph in (first, second)
        )
        assert not one.isomorphic_vf2(
            other, color1=first.node_labels.tolist(), color2=second.node_labels.tolist()
        )


def test_oracle_counts_agree_and_its_size_sums_differ_within_three_rounds():
    graphs, _, _ = twins(n_pairs=15)
    plain = naive.from_batch(graphs)
    assert all(one == other for one, other in pairs(naive.features(plain, 3, "count")))
    assert all(one != other for one, other in pairs(naive.features(plain, 3, "size")))


def size_sums(graphs):
    """Rooted sizes after three rounds, summed by colour: a row per graph, a column per colour."""
    sums = np.zeros((len(graphs), graphs.n_nodes))
    owners = np.repeat(np.arange(len(graphs)), graphs.nodes_per_graph)
    np.add.at(sums, (owners, refine(graphs, 3).colours[3]), rooted_sizes(graphs, 3)[3])
    return sums


def test_size_sums_part_every_pair():
    sums = size_sums(twins(n_pairs=200)[0])
    assert (sums[::2] != sums[1::2]).any(axis=1).all()


def test_what_parts_a_pair_recurs_in_others_of_its_kind():
    sums = size_sums(twins(n_pairs=60)[0])
    parting = sums[::2] != sums[1::2]
    assert parting.sum(axis=0)[parting.any(axis=0)].min() >= 60 // len(_kinds())


def test_each_pair_has_both_classes_in_either_order():
    _, y, groups = twins(n_pairs=50)
    assert y.reshape(-1, 2).sum(axis=1).tolist() == [1] * 50
    assert set(y[::2].tolist()) == {0, 1}
    assert groups.tolist() == [pair for pair in range(50) for _ in range(2)]


def test_same_state_gives_the_same_bytes():
    first, again, other = (twins(n_pairs=10, random_state=state)[0] for state in (3, 3, 4))
    assert first.indices.tobytes() == again.indices.tobytes()
    assert first.node_labels.tobytes() == again.node_labels.tobytes()
    assert first.indices.tobytes() != other.indices.tobytes()


def test_graphs_are_molecule_like():
    graphs, _, _ = twins(n_pairs=100)
    degrees = np.diff(graphs.indptr)
    for label, degree in zip(graphs.labels_of_nodes(), degrees.tolist(), strict=True):
        assert degree <= VALENCE[label]
    assert graphs.n_edges == graphs.n_nodes + len(graphs)  # connected with two rings
    assert len(set(graphs.nodes_per_graph.tolist())) > 5


def test_no_graph_comes_twice_even_among_many():
    graphs, _, _ = twins(n_pairs=400, random_state=1)
    assert len(set(certificates(graphs, range(len(graphs))))) == len(graphs)


def test_cores_are_two_rings_of_six_and_of_five():
    for core, ring in ((_DECALIN, 6), (_BICYCLOPENTYL, 5)):
        assert [len(cycle) for cycle in igraph.Graph(10, core).minimum_cycle_basis()] == [ring, ring]


def test_no_pairs_is_an_error():
    with pytest.raises(TwinWLError, match="n_pairs: got 0"):
        twins(n_pairs=0)
