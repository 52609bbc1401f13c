"""The inverted index against all pairs of the kernel."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest

from twinwl import GraphBatch, TwinKernel
from twinwl.errors import TwinWLError
from twinwl.models.similarity import NearGraphs


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


@pytest.mark.parametrize("threshold", [0.05, 1 / 3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_the_kernel(seed, threshold):
    left, right = random_graphs(seed, 60, labels="abc"), random_graphs(100 + seed, 80)
    expected = similarities(left, right)
    found = NearGraphs(right).pairs(left, threshold)
    rows, columns = np.nonzero(expected >= threshold)
    assert found.query.tolist() == rows.tolist()
    assert found.graph.tolist() == columns.tolist()
    assert found.similarity.tolist() == expected[rows, columns].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_is_that_of_the_kernel(seed):
    left, right = random_graphs(seed, 60, labels="abz"), random_graphs(100 + seed, 80)
    expected = similarities(left, right)
    index, similarity = NearGraphs(right).nearest(left)
    assert similarity.tolist() == expected.max(axis=1).tolist()
    assert index.tolist() == np.where(expected.max(axis=1) > 0, expected.argmax(axis=1), -1).tolist()


def test_many_pairs_go_in_pieces(monkeypatch):
    monkeypatch.setattr("twinwl.models.similarity._QUERIES_AT_ONCE", 1)
    path = GraphBatch.from_edges([[(0, 1), (1, 2)]] * 7)
    found = NearGraphs(path).pairs(path, 1.0)
    assert len(found.query) == 49
    assert found.query.tolist() == sorted(found.query.tolist())


def test_nothing_in_common_and_nothing_at_all():
    near = NearGraphs(GraphBatch.from_edges([[(0, 1)]], [["a", "a"]]))
    strange = GraphBatch.from_edges([[(0, 1)], []], [["z", "z"], []])
    index, similarity = near.nearest(strange)
    assert (index.tolist(), similarity.tolist()) == ([-1, -1], [0.0, 0.0])
    assert len(near.pairs(strange[:0], 0.5).query) == 0


def test_edge_labels_count_where_there_are_any():
    single, double = (GraphBatch.from_edges([[(0, 1)]], edge_labels=[[kind]]) for kind in ("-", "="))
    assert NearGraphs(single).nearest(single)[1].tolist() == [1.0]
    assert NearGraphs(single).nearest(double)[1][0] < 1


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan"), "x", None])
def test_a_wrong_threshold_is_refused(threshold):
    graphs = GraphBatch.from_edges([[(0, 1)]])
    with pytest.raises(TwinWLError, match="threshold"):
        NearGraphs(graphs).pairs(graphs, threshold)
