import numpy as np
import pytest
from hypothesis import given

from tests.batch_equality import assert_same_graphs, edge_dict
from tests.strategies import graphs
from twinwl import GraphBatch, TwinWLError, TwinWLWarning
from twinwl.errors import GraphInputError, LabelError


@given(graphs())
def test_holds_what_was_given(graph):
    n, edges, node_labels, edge_labels = graph
    batch = GraphBatch.from_edges([edges], [node_labels], [n], [edge_labels])
    assert batch.labels_of_nodes() == node_labels
    expected = {}
    for (u, v), label in zip(edges, edge_labels, strict=True):
        expected[u, v] = expected[v, u] = label
    assert edge_dict(batch) == expected


@given(graphs(directed=True))
def test_arrays_tuples_and_generators_equal_lists(graph):
    n, edges, _, _ = graph
    expected = GraphBatch.from_edges([edges], num_nodes=[n], directed=True)
    array = np.array(edges, dtype=np.int32).reshape(-1, 2)
    for same in (array, array.astype(np.uint8), tuple(edges), (list(edge) for edge in edges), iter(edges)):
        assert_same_graphs(GraphBatch.from_edges([same], num_nodes=[n], directed=True), expected)


def test_no_graphs_make_an_empty_batch():
    batch = GraphBatch.from_edges([])
    assert (len(batch), batch.n_nodes, batch.n_edges) == (0, 0, 0)


def test_graph_without_edges_has_the_nodes_it_is_said_to_have():
    batch = GraphBatch.from_edges([[], [], []], num_nodes=[0, 1, 3])
    assert batch.nodes_per_graph.tolist() == [0, 1, 3]


def test_features_say_how_many_nodes_there_are():
    batch = GraphBatch.from_edges([[(0, 1)], []], node_features=[np.ones((3, 2)), [[5, 6]]])
    assert batch.nodes_per_graph.tolist() == [3, 1]
    assert batch.node_features[3].tolist() == [5.0, 6.0]


def test_thousands_of_nodes_are_ordinary():
    n = 20_000
    batch = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, n)], [(i, i + 1) for i in range(n - 1)]])
    assert batch.n_edges == 2 * (n - 1)
    assert np.diff(batch.indptr)[0] == n - 1


def test_warning_points_at_the_caller():
    with pytest.warns(TwinWLWarning, match="dropped 1 self-loops and merged 2 repeated edges") as caught:
        GraphBatch.from_edges([[(0, 0), (0, 1), (0, 1)], [(0, 1), (0, 1)]])
    assert len(caught) == 1
    assert caught[0].filename == __file__


BAD = {
    "node that does not exist": ({"num_nodes": [2, 2]}, [[(0, 1)], [(0, 2)]], r"\(0, 2\) names node 2"),
    "negative node": ({}, [[(0, 1)], [(0, -1)]], r"\(0, -1\) names node -1"),
    "only negative nodes": ({}, [[(0, 1)], [(-2, -1)]], "names node -2"),
    "fraction": ({}, [[(0, 1)], [(0, 1.5)]], r"got edge \(0, 1.5\), expected pairs"),
    "whole float": ({}, [[(0, 1)], [(0.0, 1.0)]], "expected pairs"),
    "text for a node": ({}, [[(0, 1)], [(0, "1")]], "expected pairs"),
    "bool for a node": ({}, [[(0, 1)], [(False, True)]], "expected pairs"),
    "triple": ({}, [[(0, 1)], [(0, 1, 2)]], r"shape \(1, 3\)"),
    "ragged edges": ({}, [[(0, 1)], [(0, 1), (0,)]], "edge list: got"),
    "empty edge": ({}, [[(0, 1)], [()]], "shape"),
    "transposed array": ({}, [[(0, 1)], np.zeros((2, 5), int)], r"shape \(2, 5\)"),
    "None": ({}, [[(0, 1)], None], "edge list: got None, expected pairs"),
    "text for edges": ({}, [[(0, 1)], "ab"], "edge list: got 'ab'"),
    "number for edges": ({}, [[(0, 1)], 3], "edge list: got 3"),
    "huge node number": ({}, [[(0, 1)], [(0, 10**30)]], "expected pairs"),
    "huge uint64": ({}, [[(0, 1)], np.array([[0, 2**63]], np.uint64)], "expected pairs"),
    "numbers that are no indices": ({}, [[(0, 1)], [(0, 2_000_000_000)]], "without gaps"),
    "unlabelled node": ({"node_labels": [[1, 2], [1]]}, [[(0, 1)], [(0, 1)]], "names node 1"),
    "label too many": (
        {"node_labels": [[1, 2], [1, 2, 3]], "num_nodes": [2, 2]},
        [[(0, 1)], [(0, 1)]],
        "3 node labels for 2 nodes",
    ),
    "edge label too few": ({"edge_labels": [[1], []]}, [[(0, 1)], [(0, 1)]], "0 edge labels for 1 edges"),
    "labels in some graphs": ({"node_labels": [[1, 2], None]}, [[(0, 1)], [(0, 1)]], "no node_labels here"),
    "edge labels in some graphs": ({"edge_labels": [[1], None]}, [[(0, 1)], [(0, 1)]], "no edge_labels here"),
    "NaN label": ({"node_labels": [[1, 2], [1, float("nan")]]}, [[(0, 1)], [(0, 1)]], "node 1: label nan"),
    "list label": (
        {"node_labels": [[1, 2], [1, [2]]]},
        [[(0, 1)], [(0, 1)]],
        r"node 1: label \[2\] of type list",
    ),
    "NaN edge label": ({"edge_labels": [[1], [float("nan")]]}, [[(0, 1)], [(0, 1)]], "edge 0: label nan"),
    "text as labels": (
        {"node_labels": [["C", "C"], "CC"]},
        [[(0, 1)], [(0, 1)]],
        "expected a list of labels",
    ),
    "set as labels": (
        {"node_labels": [["C", "C"], {1, 2}]},
        [[(0, 1)], [(0, 1)]],
        "expected a list of labels",
    ),
    "dict as labels": (
        {"node_labels": [["C", "C"], {0: 1, 1: 2}]},
        [[(0, 1)], [(0, 1)]],
        "expected a list of labels",
    ),
    "negative num_nodes": ({"num_nodes": [2, -1]}, [[(0, 1)], []], "num_nodes: got -1"),
    "fractional num_nodes": ({"num_nodes": [2, 1.5]}, [[(0, 1)], []], "num_nodes: got 1.5"),
    "bool num_nodes": ({"num_nodes": [2, True]}, [[(0, 1)], []], "num_nodes: got True"),
    "endless node number": ({}, [[(0, 1)], [(0, 10**5000)]], "an integer of 16610 bits"),
    "endless num_nodes": ({"num_nodes": [2, 10**5000]}, [[(0, 1)], []], "an integer of 16610 bits"),
    "huge num_nodes": ({"num_nodes": [2, 2**70]}, [[(0, 1)], []], "num_nodes: got 1180591620717411303424"),
    "feature rows": (
        {"node_features": [np.ones((2, 1)), np.ones((3, 1))], "num_nodes": [2, 2]},
        [[(0, 1)], [(0, 1)]],
        "one row for each of 2 nodes",
    ),
    "feature columns": (
        {"node_features": [np.ones((2, 1)), np.ones((2, 2))]},
        [[(0, 1)], [(0, 1)]],
        "equally many",
    ),
    "NaN feature": (
        {"node_features": [np.ones((2, 1)), [[0], [float("nan")]]]},
        [[(0, 1)], [(0, 1)]],
        "node 1 .* not finite",
    ),
    "text feature": (
        {"node_features": [np.ones((2, 1)), [["a"], ["b"]]]},
        [[(0, 1)], [(0, 1)]],
        "expected an array of float64",
    ),
    "two labels for one edge": (
        {"edge_labels": [[1], [1, 2]]},
        [[(0, 1)], [(0, 1), (1, 0)]],
        "different labels",
    ),
}


@pytest.mark.parametrize(("options", "edge_lists", "message"), BAD.values(), ids=BAD.keys())
def test_bad_graph_is_refused_by_its_index(options, edge_lists, message):
    with pytest.raises(TwinWLError, match=message) as caught:
        GraphBatch.from_edges(edge_lists, **options)
    assert isinstance(caught.value, GraphInputError)
    assert caught.value.graph == 1
    assert str(caught.value).startswith("graph 1: ")


def test_label_error_is_one_of_its_own():
    with pytest.raises(LabelError):
        GraphBatch.from_edges([[(0, 1)]], node_labels=[[1, {}]])


@pytest.mark.parametrize("name", ["node_labels", "num_nodes", "edge_labels", "node_features"])
def test_one_entry_a_graph_is_demanded(name):
    with pytest.raises(GraphInputError, match=f"{name} has 1 entries for 2 graphs"):
        GraphBatch.from_edges([[(0, 1)], [(0, 1)]], **{name: [[1, 2]]})


@pytest.mark.parametrize("edge_lists", ["CC", 5, None, {"a": [(0, 1)]}])
def test_what_is_no_list_of_graphs_is_refused(edge_lists):
    with pytest.raises(GraphInputError, match="one entry per graph"):
        GraphBatch.from_edges(edge_lists)


def test_edges_of_a_single_graph_are_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match="wrap the edges of a single graph in a list"):
        GraphBatch.from_edges([(0, 1), (1, 2)])


def test_a_bool_is_no_node_number():
    with pytest.raises(TwinWLError, match=r"graph 1: edge list: got edge \(0, True\)"):
        GraphBatch.from_edges([[(0, 1)], [(0, True)]])


def test_an_implausible_graph_is_refused_beside_a_larger_plausible_one():
    large = np.zeros((600_000, 2), dtype=np.int64)
    large[:, 1] = 20_000_000
    with pytest.raises(TwinWLError, match=r"graph 1: it would have 19000001 nodes"):
        GraphBatch.from_edges([large, [(0, 19_000_000)]])


def test_complex_features_are_refused():
    with pytest.raises(TwinWLError, match="graph 0: node features: got array"):
        GraphBatch.from_edges([[(0, 1)]], node_features=[np.array([[1j], [2]])])
