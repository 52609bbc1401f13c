import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.isomorphism.rooted import RootedSource
from twinwl.refinement.identities import rooted_sizes

any_batches = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], max_nodes=6)
)


def subgraphs(batch, hops):
    roots = np.arange(batch.n_nodes)
    blocks = RootedSource(batch).blocks(roots, hops, rooted_sizes(batch, hops)[hops])
    return [subgraph for block in blocks for subgraph in block.subgraphs()]


@given(batch=any_batches, hops=st.integers(0, 3))
def test_a_function_is_given_the_subgraph_of_the_oracle(batch, hops):
    given_to_function = iter(subgraphs(batch, hops))
    for graph in naive.from_batch(batch):
        for node in range(graph.n):
            seen, rooted = next(given_to_function), naive.rooted_subgraph(graph, node, hops)
            assert seen.root == node
            assert len(seen) == rooted.graph.n
            assert list(seen.nodes) == rooted.members
            assert list(map(repr, seen.labels)) == list(map(repr, rooted.graph.labels))
            inside = [(u, v) for u in rooted.members for v in graph.neighbours[u] if v in rooted.members]
            assert sorted(seen.edges) == sorted(arc for arc in inside if graph.directed or arc[0] < arc[1])
            if graph.edge_labels is not None:
                assert list(map(repr, seen.edge_labels)) == [
                    repr(graph.edge_labels[arc]) for arc in seen.edges
                ]


def test_networkx_gets_labels_distances_and_the_root():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]], edge_labels=[[1, 2]])
    graph = subgraphs(batch, 1)[2].to_networkx()
    assert dict(graph.nodes(data=True)) == {
        1: {"label": "N", "distance": 1, "root": False},
        2: {"label": "O", "distance": 0, "root": True},
    }
    assert list(graph.edges(data="label")) == [(1, 2, 2)]


def test_a_directed_subgraph_becomes_a_directed_networkx_graph():
    batch = GraphBatch.from_edges([[(0, 1), (1, 0), (1, 2)]], directed=True)
    assert sorted(subgraphs(batch, 2)[0].to_networkx().edges) == [(0, 1), (1, 0), (1, 2)]
