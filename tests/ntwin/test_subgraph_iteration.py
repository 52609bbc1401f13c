import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import TwinWLError
from twinwl.ntwin.subgraph_iteration import iter_rooted_subgraphs


@given(batch=batches(), hops=st.integers(0, 3))
def test_each_subgraph_is_the_ego_graph_of_its_root(batch, hops):
    found = list(iter_rooted_subgraphs(batch, hops))
    assert len(found) == batch.n_nodes
    for graph, rooted in found:
        low, high = batch.graph_ptr[graph : graph + 2]
        whole = nx.Graph()
        whole.add_nodes_from(range(high - low))
        for node in range(low, high):
            for other in batch.indices[batch.indptr[node] : batch.indptr[node + 1]]:
                whole.add_edge(int(node - low), int(other - low))
        ego = nx.ego_graph(whole, rooted.root, radius=hops)
        assert set(rooted.nodes) == set(ego.nodes)
        assert {frozenset(edge) for edge in rooted.edges} == {frozenset(edge) for edge in ego.edges}


def test_negative_hops_are_refused():
    with pytest.raises(TwinWLError, match="hops: got -1"):
        list(iter_rooted_subgraphs([[(0, 1)]], -1))
