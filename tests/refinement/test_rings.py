"""Nodes on cycles equal the definition: a neighbour stays in reach without the edge to it."""

import networkx as nx
import numpy as np
from hypothesis import given

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.refinement.colours import on_cycle


def assert_equals_oracle(batch):
    expected = [naive.on_cycle(graph, node) for graph in naive.from_batch(batch) for node in range(graph.n)]
    np.testing.assert_array_equal(on_cycle(batch.indptr, batch.indices), np.array(expected, bool))


def test_on_the_whole_atlas():
    assert_equals_oracle(GraphBatch.from_networkx(nx.graph_atlas_g()))


@given(batches())
def test_on_random_graphs(batch):
    assert_equals_oracle(batch)


def test_a_long_path_needs_no_deep_stack():
    path = nx.path_graph(200_000)
    path.add_edge(0, 99_999)
    batch = GraphBatch.from_networkx([path])
    assert np.flatnonzero(on_cycle(batch.indptr, batch.indices)).tolist() == list(range(100_000))


def test_two_cycles_joined_by_an_edge_leave_out_nothing_but_what_hangs():
    graph = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(4))
    graph.add_edge(0, 3)
    nx.add_path(graph, [1, 7, 8])
    batch = GraphBatch.from_networkx([graph])
    assert on_cycle(batch.indptr, batch.indices).tolist() == [True] * 7 + [False] * 2
