"""One rule for weights, whatever library the graphs come from."""

from types import SimpleNamespace

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from twinwl.errors import GraphInputError, TwinWLWarning
from twinwl.graphs.labels import count_weights

PATH = [(0, 1), (1, 2), (2, 3)]
WEIGHTS = [1.0, 0.5, 2.0]
PLAIN = tw.GraphBatch.from_edges([PATH, PATH])
LABELLED = tw.GraphBatch.from_edges([PATH, PATH], edge_labels=[WEIGHTS, WEIGHTS])


def as_networkx(weights):
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, dict(zip(PATH, weights, strict=True)), "weight")
    return graph


def as_multigraph(weights):
    return nx.MultiGraph(as_networkx(weights))


def as_igraph(weights):
    graph = igraph.Graph(4, PATH)
    graph.es["weight"] = weights
    return graph


def as_matrix(weights):
    matrix = np.zeros((4, 4))
    for (u, v), weight in zip(PATH, weights, strict=True):
        matrix[u, v] = matrix[v, u] = weight
    return matrix


def as_pyg(attribute):
    """Read by its attributes alone, so that PyTorch need not be there."""

    def make(weights):
        arcs = np.array([*PATH, *[(v, u) for u, v in PATH]]).T
        return SimpleNamespace(edge_index=arcs, num_nodes=4, **{attribute: np.array([*weights, *weights])})

    return make


KINDS = {
    "networkx": (tw.GraphBatch.from_networkx, as_networkx, "weight"),
    "networkx multigraph": (tw.GraphBatch.from_networkx, as_multigraph, "weight"),
    "igraph": (tw.GraphBatch.from_igraph, as_igraph, "weight"),
    "dense matrix": (tw.GraphBatch.from_scipy, as_matrix, "weight"),
    "sparse matrix": (tw.GraphBatch.from_scipy, lambda weights: sp.csr_array(as_matrix(weights)), "weight"),
    "PyG edge_weight": (tw.GraphBatch.from_pyg, as_pyg("edge_weight"), "edge_weight"),
    "PyG edge_attr": (tw.GraphBatch.from_pyg, as_pyg("edge_attr"), "edge_attr"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_ignored_with_one_warning_that_counts_them(kind):
    build, make, name = KINDS[kind]
    with pytest.warns(TwinWLWarning) as caught:
        batch = build([make(WEIGHTS), make(WEIGHTS)])
    assert [str(each.message) for each in caught] == [
        (
            f'ignored edge weights, 4 of 6 other than 1; pass edge_label="{name}" to take them as labels, '
            "or remove them"
        )
    ]
    assert_same_graphs(batch, PLAIN)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_all_one_say_nothing(kind):
    build, make, _ = KINDS[kind]
    assert_same_graphs(build([make([1.0] * 3)] * 2), PLAIN)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_named_are_labels(kind):
    build, make, name = KINDS[kind]
    assert_same_graphs(build([make(WEIGHTS)] * 2, edge_label=name), LABELLED)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "PyG" not in kind])
def test_as_batch_follows_the_same_rule(kind):
    _, make, name = KINDS[kind]
    with pytest.warns(TwinWLWarning, match="4 of 6 other than 1"):
        tw.as_batch([make(WEIGHTS)] * 2)
    assert_same_graphs(tw.as_batch([make(WEIGHTS)] * 2, edge_label=name), LABELLED)


def test_hash_of_named_weights_does_not_depend_on_the_library():
    hashes = {tw.graph_hash(build([make(WEIGHTS)], edge_label=name)) for build, make, name in KINDS.values()}
    assert len(hashes) == 1
    assert hashes != {tw.graph_hash([PATH])}


def test_other_labels_do_not_silence_the_warning():
    graph = as_networkx(WEIGHTS)
    nx.set_edge_attributes(graph, "single", "bond")
    with pytest.warns(TwinWLWarning, match="2 of 3 other than 1"):
        tw.as_batch([graph], edge_label="bond")


def test_matrices_of_several_kinds_have_one_kind_of_label():
    ones = as_matrix([1, 1, 1])
    for matrices in ([ones, ones.astype(int)], [ones.astype(bool), ones]):
        assert tw.as_batch(matrices, edge_label="weight").edge_vocabulary == (1.0,)
    assert tw.as_batch([ones.astype(bool)], edge_label="weight").edge_vocabulary == (1,)


def test_directed_matrix_has_a_weight_for_each_arc():
    matrix = np.array([[0, 2], [3, 0]])
    with pytest.warns(TwinWLWarning, match="2 of 2 other than 1"):
        tw.GraphBatch.from_scipy([matrix], directed=True)
    batch = tw.GraphBatch.from_scipy([matrix], edge_label="weight", directed=True)
    assert batch.edge_vocabulary == (2, 3)
    with pytest.raises(GraphInputError, match=r"edge \(0, 1\) is given twice with different labels"):
        tw.GraphBatch.from_scipy([matrix], edge_label="weight")


@pytest.mark.parametrize(
    ("build", "graph", "message"),
    [
        (tw.GraphBatch.from_scipy, as_matrix(WEIGHTS), "edge_label: got 'bond', expected 'weight' or None"),
        (tw.GraphBatch.from_pyg, as_pyg("edge_attr")(WEIGHTS), "no graph has an edge attribute 'bond'"),
        (tw.GraphBatch.from_networkx, as_networkx(WEIGHTS), "no attribute 'bond'"),
        (tw.GraphBatch.from_igraph, as_igraph(WEIGHTS), "no attribute 'bond'"),
    ],
)
def test_attribute_that_is_not_there_is_refused(build, graph, message):
    with pytest.raises(tw.TwinWLError, match=message):
        build([graph], edge_label="bond")


def test_rows_of_several_columns_are_labels_where_named():
    rows = np.array([[0.5, 1.0], [0.5, 2.0], [1.5, 1.0]] * 2)
    graph = as_pyg("edge_attr")(WEIGHTS)
    graph.edge_attr = rows
    batch = tw.GraphBatch.from_pyg([graph], edge_label="edge_attr")
    assert set(batch.edge_vocabulary) == set(map(tuple, rows.tolist()))


def test_weight_beside_discrete_attributes_of_pyg():
    graph = as_pyg("edge_weight")(WEIGHTS)
    graph.edge_attr = np.array([1, 2, 3] * 2)
    with pytest.warns(TwinWLWarning, match='2 of 3 other than 1; pass edge_label="edge_weight"'):
        assert tw.GraphBatch.from_pyg([graph]).edge_vocabulary == (1, 2, 3)


@given(st.lists(st.sampled_from([1, 1.0, True, np.int8(1), None, 0, 0.5, -1, "1", float("inf"), (1,)])))
def test_count_goes_by_value(values):
    ones = sum(isinstance(value, int | float | np.int8) and value == 1 for value in values)
    assert count_weights(values) == len(values) - ones - values.count(None)
