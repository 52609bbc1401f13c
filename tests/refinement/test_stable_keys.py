"""Stable colours by splitting classes: the same as by the definition, and the same as by rounds of 1-WL."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.datasets.graph_files import read_tu
from twinwl.refinement.colours import refine
from twinwl.refinement.content_keys import stable_signatures

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2])
)


def assert_equals_oracle(batch):
    signatures, class_size = stable_signatures(batch)
    expected, sizes = [], []
    for graph in naive.from_batch(batch):
        last, keys = naive.stable_signatures(graph)
        expected += last
        sizes += [keys.count(key) for key in keys]
    assert [tuple(row) for row in signatures.tolist()] == expected
    assert class_size.tolist() == sizes


@given(batch=any_batches)
def test_equals_oracle_on_random_graphs(batch):
    assert_equals_oracle(batch)


def test_equals_oracle_on_small_graphs_with_many_rounds():
    graphs = [
        *(nx.path_graph(n) for n in range(20)),
        nx.star_graph(40),
        nx.balanced_tree(2, 5),
        nx.random_labeled_tree(60, seed=1),
        nx.grid_2d_graph(5, 9),
        nx.lollipop_graph(6, 30),
        nx.disjoint_union(nx.cycle_graph(7), nx.wheel_graph(8)),
        nx.empty_graph(5),
    ]
    assert_equals_oracle(
        GraphBatch.from_networkx([nx.convert_node_labels_to_integers(graph) for graph in graphs])
    )


@pytest.mark.parametrize("directed", [False, True])
def test_equals_oracle_on_random_sparse_graphs(directed):
    graphs = [nx.gnp_random_graph(40, 0.06, seed=seed, directed=directed) for seed in range(20)]
    assert_equals_oracle(GraphBatch.from_networkx(graphs))


@given(batch=any_batches)
def test_work_in_pieces_leaves_no_trace(batch):
    at_once = stable_signatures(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("twinwl.refinement.colours.STEPS_PER_PIECE", 1)
        in_pieces = stable_signatures(batch)
    for one, other in zip(at_once, in_pieces, strict=True):
        np.testing.assert_array_equal(one, other)


def test_classes_are_the_stable_colours_of_1_wl(tu_zip):
    batch = read_tu(tu_zip("MUTAG")).graphs
    signatures, class_size = stable_signatures(batch)
    for graph in range(len(batch)):
        nodes = slice(batch.graph_ptr[graph], batch.graph_ptr[graph + 1])
        colours = refine(batch[graph], None, edge_labels=True).colours[-1]
        pairs = set(zip(map(tuple, signatures[nodes].tolist()), colours.tolist(), strict=True))
        assert len(pairs) == len(np.unique(colours)) == len({signature for signature, _ in pairs})
        assert class_size[nodes].tolist() == np.bincount(colours)[colours].tolist()
