"""Exact keys are compared with igraph's canonical forms, which stay the judge."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.isomorphism.known_graphs import rook, shrikhande
from tests.isomorphism.relabelling import relabelled
from tests.strategies import batches
from twinwl.isomorphism import canonical as module
from twinwl.isomorphism.canonical import certificates, exact_keys

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2], max_nodes=6, max_graphs=4)
)


def groups(values):
    number = {}
    return [number.setdefault(value, len(number)) for value in values]


def assert_exact(batch, seed=0):
    """Compare the groups of a batch and a relabelled copy with those of canonical forms."""
    both = tw.concatenate([batch, relabelled(batch, np.random.default_rng(seed))])
    keys = [row.tobytes() for row in exact_keys(both)]
    assert groups(keys) == groups(certificates(both, range(len(both))))
    assert keys[: len(batch)] == keys[len(batch) :]


@given(batch=any_batches, seed=st.integers(0, 99))
def test_groups_are_those_of_canonical_forms(batch, seed):
    assert_exact(batch, seed)


@pytest.mark.parametrize("colours", [1, 2])
def test_every_graph_of_up_to_seven_nodes(colours):
    graphs = nx.graph_atlas_g()
    labels = [[node % colours for node in graph] for graph in graphs]
    for graph, given_labels in zip(graphs, labels, strict=True):
        nx.set_node_attributes(graph, dict(enumerate(given_labels)), "colour")
    assert_exact(tw.from_networkx(graphs, node_label="colour"))


def test_every_edge_labelling_of_small_graphs():
    square, wheel = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 1)]
    for edges in (square, wheel):
        labellings = [list(labels) for labels in itertools.product("abc", repeat=len(edges))]
        assert_exact(tw.from_edges([edges] * len(labellings), edge_labels=labellings))


def test_every_directed_graph_of_four_nodes():
    pairs = list(itertools.permutations(range(4), 2))
    chosen = [
        [pair for pair, bit in zip(pairs, bits, strict=True) if bit]
        for bits in itertools.product([0, 1], repeat=12)
    ]
    batch = tw.from_edges(chosen, num_nodes=[4] * len(chosen), directed=True)
    assert len(tw.deduplicate(batch)) == 218  # A000273
    assert_exact(batch)


def symmetric_graphs():
    """Yield graphs whose stable colours leave much open."""
    for n in (3, 4, 5, 8, 13):
        yield nx.cycle_graph(n)
        yield nx.complement(nx.cycle_graph(n))
    yield from (nx.petersen_graph(), nx.dodecahedral_graph(), nx.hypercube_graph(4), nx.cubical_graph())
    yield from (nx.complete_bipartite_graph(3, 3), nx.circular_ladder_graph(3), nx.moebius_kantor_graph())
    yield from (nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(6)), nx.cycle_graph(9))
    yield from (
        nx.empty_graph(7),
        nx.complete_graph(7),
        nx.star_graph(9),
        nx.complete_multipartite_graph(2, 2, 3),
    )
    yield from (rook(), shrikhande(), nx.paley_graph(13).to_undirected(), nx.balanced_tree(3, 4))
    yield from (nx.random_regular_graph(3, n, seed=n) for n in range(4, 40, 2))
    yield nx.grid_2d_graph(7, 7)


def test_symmetric_graphs():
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in symmetric_graphs()]
    for seed in range(3):
        assert_exact(tw.from_networkx(graphs), seed)


def test_many_equal_components_take_no_longer_than_one():
    # For 30 hexagons igraph would search for hours.
    rings = [[6] * 30, [3] * 60, [3, 9] * 15, [9, 3] * 15, [6] * 28 + [3, 9], [6] * 28 + [12]]
    graphs = [nx.disjoint_union_all([nx.cycle_graph(n) for n in sizes]) for sizes in rings]
    assert tw.deduplicate(graphs).labels.tolist() == [0, 1, 2, 2, 3, 4]
    batch = tw.from_networkx(graphs)
    assert (exact_keys(relabelled(batch, np.random.default_rng(0))) == exact_keys(batch)).all()


def test_most_graphs_need_no_canonical_form(monkeypatch):
    asked = []

    def forms(batch, graphs):
        asked.extend(graphs)
        return certificates(batch, graphs)

    monkeypatch.setattr(module, "certificates", forms)
    exact_keys(tw.from_networkx(nx.graph_atlas_g()))
    assert len(asked) < 10  # of 1,253


def test_keys_do_not_depend_on_the_batch_or_on_threads(monkeypatch):
    batch = tw.from_networkx(nx.graph_atlas_g()[:300])
    whole = exact_keys(batch)
    assert (np.concatenate([exact_keys(graph) for graph in batch]) == whole).all()
    monkeypatch.setenv("TWINWL_NUM_THREADS", "3")
    monkeypatch.setattr("twinwl.refinement.colours._STEPS_WORTH_A_THREAD", 10)
    monkeypatch.setattr(module, "_NODES_PER_BLOCK", 100)
    assert (exact_keys(batch) == whole).all()


def test_directions_and_numbers_of_nodes_are_part_of_the_key():
    empty = [
        tw.from_edges([[]], num_nodes=[n], directed=directed) for n in (0, 1, 2) for directed in (False, True)
    ]
    assert len({exact_keys(graph).tobytes() for graph in empty}) == len(empty)


@pytest.mark.parametrize("name", [pytest.param("NCI1", marks=pytest.mark.slow), "EXP", "IMDB-BINARY"])
def test_real_graphs(name, tu_zip):
    assert_exact(tw.load_dataset(str(tu_zip(name))).graphs)
