"""CFI pairs, held against the construction written out with sets and against known graphs."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from tests import naive
from twinwl.datasets.generators import CFI_BASES, cfi, cfi_pair, strongly_regular_family
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.deduplication import wl_groups

BASES = {name: base for family in CFI_BASES.values() for name, base in family.items()}


def literal_cfi(base, twisted):
    """Join (v, S) and (u, T) by the definition, comparing every two of them; edges are sets of two nodes."""
    edges = {frozenset(edge) for edge in base.edges}
    nodes = [
        (v, frozenset(chosen))
        for v in base
        for around in [[edge for edge in edges if v in edge]]
        for size in range(0, len(around) + 1, 2)
        for chosen in combinations(around, size)
    ]
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    for (v, chosen), (u, others) in combinations(nodes, 2):
        edge = frozenset([u, v])
        if edge in edges and ((edge in chosen) == (edge in others)) != (edge == twisted):
            graph.add_edge((v, chosen), (u, others))
    return graph


@pytest.mark.parametrize("name", ["C3", "C5", "2×3 grid", "K4", "prism", "K5"])
def test_pair_is_the_literal_construction_whichever_edge_is_twisted(name):
    base = BASES[name]
    edges = [frozenset(edge) for edge in base.edges]
    literal = [literal_cfi(base, twisted) for twisted in (None, edges[0], edges[-1])]
    theirs = certificates(GraphBatch.from_networkx(literal), range(3))
    ours = certificates(cfi_pair(base), range(2))
    assert ours == theirs[:2]
    assert theirs[1] == theirs[2]


@pytest.mark.parametrize("name", BASES)
def test_pair_is_not_isomorphic_and_equal_for_1wl(name):
    pair = cfi_pair(BASES[name])
    forms = certificates(pair, range(2))
    assert forms[0] != forms[1]
    assert wl_groups(pair).tolist() == [0, 0]


def test_1wl_of_the_oracle_agrees_on_a_small_pair():
    graphs = naive.from_batch(cfi_pair(nx.complete_graph(4)))
    for colours in naive.colours(graphs, 3):
        assert sorted(colours[0]) == sorted(colours[1])


def test_pairs_over_a_triangle_and_over_k4_are_well_known():
    triangle = GraphBatch.from_networkx(
        [nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.cycle_graph(6)]
    )
    rook_and_shrikhande = strongly_regular_family("16-6-2-2")
    for base, known in ((nx.cycle_graph(3), triangle), (nx.complete_graph(4), rook_and_shrikhande)):
        assert set(certificates(cfi_pair(base), range(2))) == set(certificates(known, range(2)))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (nx.path_graph(4), "fewer than two neighbours"),
        (nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(4)), "not connected"),
        (nx.Graph(), "fewer than two neighbours"),
        (nx.DiGraph([(0, 1)]), "undirected"),
        ("K4", "expected an undirected networkx graph"),
    ],
    ids=["path", "two parts", "empty", "directed", "a name"],
)
def test_unsuitable_base_is_refused(base, message):
    with pytest.raises(TwinWLError, match=message):
        cfi_pair(base)


def test_data_set_has_shuffled_pairs_in_groups_of_two():
    graphs, y, groups = cfi(n_copies=2, random_state=1)
    assert len(graphs) == 2 * 2 * len(BASES)
    np.testing.assert_array_equal(np.bincount(groups), 2)
    assert all(sorted(y[groups == group]) == [0, 1] for group in np.unique(groups))
    forms = certificates(graphs, range(8))
    assert forms[0] == forms[2]
    assert forms[1] == forms[3]
    assert not np.array_equal(graphs[0].indices, graphs[2].indices)


def test_data_set_needs_a_copy():
    with pytest.raises(TwinWLError, match="n_copies: got 0"):
        cfi(n_copies=0)
