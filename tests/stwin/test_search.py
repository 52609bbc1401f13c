"""Search against all pairs of the kernel, sorted."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest

from twinwl import GraphBatch, TwinKernel
from twinwl.errors import TwinWLError
from twinwl.models import search
from twinwl.models.search import Queries


def random_graphs(seed, n, *, labels="ab"):
    random = np.random.default_rng(seed)
    edges, names = [], []
    for _ in range(n):
        graph = nx.gnp_random_graph(int(random.integers(1, 12)), 0.3, seed=int(random.integers(10**6)))
        edges.append(list(graph.edges))
        names.append([labels[code] for code in random.integers(0, len(labels), len(graph))])
    return GraphBatch.from_edges(edges, names)


def similarities(left, right):
    kernel = TwinKernel(2, "joint", "minmax").fit(right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that no other graph has
        return kernel.transform(left)


def most_similar_of(matrix, k):
    """Sort every row: the largest first, the first of equals."""
    indices = np.argsort(-matrix, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(matrix, indices, axis=1).tolist(), indices.tolist()


@pytest.fixture(params=[1 << 22, 1])
def block_entries(request, monkeypatch):
    """Search all graphs at once, or in the smallest blocks."""
    monkeypatch.setattr(search, "_BLOCK_ENTRIES", request.param)


@pytest.mark.usefixtures("block_entries")
@pytest.mark.parametrize("threshold", [0.05, 1 / 3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_the_kernel(seed, threshold):
    left, right = random_graphs(seed, 60, labels="abc"), random_graphs(100 + seed, 180)
    expected = similarities(left, right)
    found = Queries(left).similar_pairs(right, threshold)
    rows, columns = np.nonzero(expected >= threshold)
    assert found.query.tolist() == rows.tolist()
    assert found.graph.tolist() == columns.tolist()
    assert found.similarity.tolist() == expected[rows, columns].tolist()


@pytest.mark.usefixtures("block_entries")
@pytest.mark.parametrize("k", [1, 7, 180])
def test_the_most_similar_are_those_of_the_kernel(k):
    left, right = random_graphs(1, 60, labels="abz"), random_graphs(101, 180)
    found = Queries(left).most_similar([right[:50], right[50:50], right[50:]], k, n_graphs=180)
    assert (found.similarities.tolist(), found.indices.tolist()) == most_similar_of(
        similarities(left, right), k
    )


@pytest.mark.parametrize("base", ["linear", "minmax", "intersection"])
@pytest.mark.parametrize("normalize", [True, False])
def test_neighbours_of_a_kernel_are_the_largest_entries_of_its_matrix(base, normalize):
    left, right = random_graphs(2, 40), random_graphs(102, 90)
    kernel = TwinKernel(2, "size", base, normalize).fit(right)
    found = kernel.kneighbors(left, k=12)
    assert (found.similarities.tolist(), found.indices.tolist()) == most_similar_of(
        kernel.transform(left), 12
    )


def test_a_training_graph_is_its_own_nearest_one():
    graphs = GraphBatch.from_edges([[(node, node + 1) for node in range(n)] for n in range(1, 9)])
    similarities, indices = TwinKernel(1, "joint", "minmax").fit(graphs).kneighbors(k=1)
    assert indices.ravel().tolist() == list(range(8))
    assert similarities.ravel().tolist() == [1.0] * 8


@pytest.mark.parametrize("k", [0, 3, 1.5, "1"])
def test_as_many_neighbours_as_training_graphs_at_most(k):
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    with pytest.raises(TwinWLError, match=r"k: got .*, expected an integer from 1 to 2"):
        TwinKernel().fit(graphs).kneighbors(graphs, k)


def test_many_pairs_of_equal_graphs_are_in_order():
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]] * 7)
    found = Queries(path).similar_pairs(path, 1.0)
    assert found.query.tolist() == np.repeat(range(7), 7).tolist()
    assert found.graph.tolist() == [*range(7)] * 7


def test_nothing_in_common_and_nothing_at_all():
    known = GraphBatch.from_edges([[(0, 1)]], [["a", "a"]])
    strange = GraphBatch.from_edges([[(0, 1)], []], [["z", "z"], []])
    found = Queries(strange).most_similar([known], 1, n_graphs=1)
    assert (found.indices.tolist(), found.similarities.tolist()) == ([[0], [0]], [[0.0], [0.0]])
    assert len(Queries(strange).similar_pairs(known, 0.5).query) == 0
    assert len(Queries(strange[:0]).similar_pairs(known, 0.5).query) == 0


def test_edge_labels_count_where_the_queries_have_them():
    single, double = (GraphBatch.from_edges([[(0, 1)]], edge_labels=[[kind]]) for kind in ("-", "="))
    plain = single.without_edge_labels()
    found = [Queries(query).most_similar([double], 1, n_graphs=1) for query in (double, single, plain)]
    assert [one.similarities[0, 0] == 1 for one in found] == [True, False, True]


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan"), "x", None])
def test_a_wrong_threshold_is_refused(threshold):
    graphs = GraphBatch.from_edges([[(0, 1)]])
    with pytest.raises(TwinWLError, match="threshold"):
        Queries(graphs).similar_pairs(graphs, threshold)
