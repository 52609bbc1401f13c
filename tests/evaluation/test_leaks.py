from __future__ import annotations

import igraph
import networkx as nx
import numpy as np

from twinwl import GraphBatch, load_dataset
from twinwl.evaluation.audit import copies_of
from twinwl.evaluation.evaluate import leaked_test_graphs
from twinwl.evaluation.splits import Fold, make_folds

PATH, MOVED_PATH, STAR = [(0, 1), (1, 2), (2, 3)], [(2, 0), (0, 3), (3, 1)], [(0, 1), (0, 2), (0, 3)]


def fold(train, validation, test):
    return Fold(*(np.array(part, dtype=np.int64) for part in (train, validation, test)))


def test_copy_with_moved_nodes_is_found_in_training_and_in_the_hold_out():
    graphs = GraphBatch.from_edges([PATH, STAR, MOVED_PATH, STAR])
    assert leaked_test_graphs(copies_of(graphs), fold([0], [1], [2, 3])).tolist() == [True, True]
    assert leaked_test_graphs(copies_of(graphs), fold([0], [], [2, 1])).tolist() == [True, False]


def test_copies_within_the_test_part_are_no_leak():
    graphs = GraphBatch.from_edges([STAR, PATH, MOVED_PATH])
    assert leaked_test_graphs(copies_of(graphs), fold([0], [], [1, 2])).tolist() == [False, False]


def test_labels_count():
    graphs = GraphBatch.from_edges([PATH, PATH], node_labels=[list("CCCO"), list("CCCN")])
    assert leaked_test_graphs(copies_of(graphs), fold([0], [], [1])).tolist() == [False]


def test_features_count():
    features = [[[0.0], [0], [0], [1]], [[0.0], [0], [1], [0]], [[0.0], [1], [0], [0]]]
    graphs = GraphBatch.from_edges([PATH, PATH, MOVED_PATH], node_features=features)
    assert leaked_test_graphs(copies_of(graphs), fold([0], [], [1, 2])).tolist() == [False, True]


def test_1wl_equivalent_graphs_are_no_leak():
    graphs = GraphBatch.from_networkx([nx.cycle_graph(6), nx.disjoint_union(*[nx.cycle_graph(3)] * 2)])
    assert leaked_test_graphs(copies_of(graphs), fold([0], [], [1])).tolist() == [False]


def test_leaks_of_a_real_set_are_those_igraph_finds(tu_zip):
    data = load_dataset("IMDB-BINARY", tu_zip("IMDB-BINARY").parent)
    folds = make_folds(data.targets, data.groups)
    plain = [
        igraph.Graph(graph.n_nodes, np.column_stack(graph.arcs()).tolist()).simplify()
        for graph in data.graphs
    ]
    degrees = [tuple(sorted(graph.degree())) for graph in plain]
    training = folds[0].training_part
    expected = [
        any(degrees[test] == degrees[seen] and plain[test].isomorphic(plain[seen]) for seen in training)
        for test in folds[0].test
    ]
    assert leaked_test_graphs(copies_of(data.graphs), folds[0]).tolist() == expected
    assert 10 < sum(expected) < 90
