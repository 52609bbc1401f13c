import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.isomorphism.relabelling import relabelled
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.graphs.labels import label_token
from twinwl.isomorphism import canonical
from twinwl.isomorphism.canonical import certificates

any_batches = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], max_graphs=3)
)


@given(batch=any_batches, seed=st.integers(0, 2**32 - 1))
def test_relabelled_copies_share_their_form(batch, seed):
    copy = relabelled(batch, np.random.default_rng(seed))
    assert certificates(batch, range(len(batch))) == certificates(copy, range(len(copy)))


@given(batch=st.booleans().flatmap(lambda directed: batches(directed=directed, max_nodes=4, min_graphs=2)))
def test_forms_are_equal_exactly_when_networkx_finds_an_isomorphism(batch):
    forms = certificates(batch, range(len(batch)))
    graphs = [networkx_graph(graph) for graph in batch]
    same = nx.algorithms.isomorphism.categorical_node_match("token", None)
    for one, other in zip(range(len(batch) - 1), range(1, len(batch)), strict=True):
        isomorphic = nx.is_isomorphic(graphs[one], graphs[other], node_match=same, edge_match=same)
        assert (forms[one] == forms[other]) == isomorphic


def networkx_graph(graph):
    result = nx.DiGraph() if graph.directed else nx.Graph()
    for node, label in enumerate(graph.labels_of_nodes()):
        result.add_node(node, token=label_token(label))
    for source, target, code in zip(*graph.arcs(), graph.edge_labels, strict=True):
        result.add_edge(int(source), int(target), token=label_token(graph.edge_vocabulary[code]))
    return result


def test_all_atlas_graphs_have_forms_of_their_own():
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g())
    assert len(set(certificates(atlas, range(len(atlas))))) == 1253


@given(batch=any_batches)
def test_a_form_does_not_depend_on_the_rest_of_the_batch(batch):
    rng = np.random.default_rng(0)
    alone = [certificates(relabelled(graph, rng), [0])[0] for graph in batch]  # each with its own vocabulary
    assert certificates(batch, range(len(batch))) == alone


@pytest.mark.parametrize("labels", [(1, True), (1, 1.0), (1, "1"), (b"1", "1"), (None, 0), ("ab", "abc")])
def test_labels_count_by_kind_and_value(labels):
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=[[label, "x"] for label in labels])
    assert len(set(certificates(batch, range(2)))) == 2


def test_labels_cannot_run_together():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]] * 2, edge_labels=[["1", "111"], ["11", "11"]], node_labels=[["a"] * 3] * 2
    )
    assert len(set(certificates(batch, range(2)))) == 2


def test_one_edge_label_throughout_still_counts():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_labels=[["single"], ["double"]])
    assert len(set(certificates(batch, range(2)))) == 2


def test_the_root_is_part_of_the_form():
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]] * 3)
    end, middle, other_end = certificates(path, range(3), np.array([0, 4, 8]))
    assert end == other_end
    assert end != middle
    assert certificates(path, [0])[0] not in {end, middle}


@given(batch=any_batches, seed=st.integers(0, 2**32 - 1))
def test_either_direction_of_igraph_permutations_is_understood(batch, seed):
    """igraph 1.0 turned the meaning round; a form must not depend on the release, only on the graph."""
    turned = TurnedRound(canonical._gives_new_places())
    copy = relabelled(batch, np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_gives_new_places", lambda: not turned.gives_new_places)
        patch.setattr(igraph, "GraphBase", turned.graph)
        again = certificates(copy, range(len(copy)))
    assert certificates(batch, range(len(batch))) == again


class TurnedRound:
    """An igraph whose permutations point the other way."""

    def __init__(self, gives_new_places):
        self.gives_new_places = gives_new_places
        self._base = igraph.GraphBase

    def graph(self, *arguments):
        self._graph = self._base(*arguments)
        return self

    def canonical_permutation(self, color):
        return np.argsort(self._graph.canonical_permutation(color=color)).tolist()


def test_what_needs_no_canonical_form_does_not_pay_for_igraph():
    code = (
        "import sys, twinwl as tw; g = tw.GraphBatch.from_edges([[(0, 1)]]); "
        "tw.graph_hash(g); tw.compare(g, g); "
        "print(sorted({'igraph', 'matplotlib', 'networkx', 'sklearn', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
