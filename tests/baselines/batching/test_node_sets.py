from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch  # noqa: F401  (an extra; without it this file is skipped)
from hypothesis import given

from tests.strategies import batches
from twinwl.baselines.higher_order import node_sets


def literal(batch, k, *, connected=False):
    """Return, graph by graph, each k-set with its edges and its local neighbours, from the definition."""
    out = []
    for graph in batch:
        edges = {frozenset(edge) for edge in zip(*(part.tolist() for part in graph.arcs()), strict=True)}
        sets = [
            chosen
            for chosen in combinations(range(graph.n_nodes), k)
            if not connected or nx.is_connected(induced(chosen, edges))
        ]
        out.append(
            {
                chosen: (
                    sum(frozenset(pair) in edges for pair in combinations(chosen, 2)),
                    [other for other in sets if is_local(set(chosen), set(other), edges)],
                )
                for chosen in sets
            }
        )
    return out


def induced(chosen, edges):
    graph = nx.Graph()
    graph.add_nodes_from(chosen)
    graph.add_edges_from(tuple(edge) for edge in edges if edge <= set(chosen))
    return graph


def is_local(one, other, edges):
    return len(one - other) == 1 and frozenset([*(one - other), *(other - one)]) in edges


def members(batch, pairs, triples=None):
    """Return the nodes of each set, by their numbers within their graph."""
    start = np.repeat(batch.graph_ptr[:-1], np.diff((pairs if triples is None else triples).set_ptr))
    if triples is None:
        return [tuple(sorted(nodes)) for nodes in (pairs.subsets - start[:, None]).tolist()]
    nodes = pairs.subsets[triples.subsets] - start[:, None, None]
    return [tuple(sorted({node for pair in row for node in pair})) for row in nodes.tolist()]


def check(sets, names, expected):
    for graph, of_graph in enumerate(expected):
        places = range(sets.set_ptr[graph], sets.set_ptr[graph + 1])
        assert [names[place] for place in places] == list(of_graph)
        for place in places:
            n_edges, neighbours = of_graph[names[place]]
            assert sets.n_edges[place] == n_edges
            found = sets.indices[sets.indptr[place] : sets.indptr[place + 1]]
            assert sorted(names[other] for other in found) == neighbours


@given(batches(edge_label=False, node_label=False, max_nodes=6))
def test_pairs_and_their_local_neighbours_are_those_of_the_definition(batch):
    pairs, _ = node_sets(batch)
    check(pairs, members(batch, pairs), literal(batch, 2))


@pytest.mark.parametrize("connected", [False, True])
@given(batch=batches(edge_label=False, node_label=False, max_nodes=6))
def test_triples_and_their_local_neighbours_are_those_of_the_definition(batch, connected):
    pairs, triples = node_sets(batch, connected=connected)
    check(triples, members(batch, pairs, triples), literal(batch, 3, connected=connected))
