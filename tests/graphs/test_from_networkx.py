import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from tests.batch_equality import assert_same_graphs, edge_dict
from tests.strategies import graphs
from twinwl import GraphBatch, TwinWLWarning
from twinwl.errors import GraphInputError


def _networkx(part, kind):
    n, edges, node_labels, edge_labels = part
    graph = kind()
    graph.add_nodes_from((node, {"atom": label}) for node, label in zip(range(n), node_labels, strict=True))
    graph.add_edges_from((u, v, {"bond": label}) for (u, v), label in zip(edges, edge_labels, strict=True))
    return graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@given(part=graphs())
def test_undirected_graph_equals_its_edge_list(kind, part):
    n, edges, node_labels, edge_labels = part
    batch = GraphBatch.from_networkx([_networkx(part, kind)], node_label="atom", edge_label="bond")
    assert_same_graphs(batch, GraphBatch.from_edges([edges], [node_labels], [n], [edge_labels]))


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@given(part=graphs(directed=True))
def test_directed_graph_equals_its_arc_list(kind, part):
    n, edges, node_labels, edge_labels = part
    batch = GraphBatch.from_networkx([_networkx(part, kind)], node_label="atom", edge_label="bond")
    assert_same_graphs(
        batch, GraphBatch.from_edges([edges], [node_labels], [n], [edge_labels], directed=True)
    )


def test_nodes_of_any_name_keep_their_order():
    graph = nx.Graph([("b", (1, 2)), ((1, 2), "a")])
    nx.set_node_attributes(graph, {"b": 10, (1, 2): 20, "a": 30}, "value")
    batch = GraphBatch.from_networkx([graph], node_label="value")
    assert batch.labels_of_nodes() == [10, 20, 30]
    assert set(edge_dict(batch)) == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_view_with_filtered_nodes_equals_its_copy():
    view = nx.complete_graph(9).subgraph([7, 2, 5])
    assert_same_graphs(GraphBatch.from_networkx([view]), GraphBatch.from_networkx([view.copy()]))


def test_labels_are_not_read_unless_named():
    graph = nx.Graph()
    graph.add_edge(0, 1, label=3)
    graph.nodes[0]["label"] = "C"
    batch = GraphBatch.from_networkx([graph])
    assert not batch.has_node_labels
    assert batch.edge_labels is None


def test_vectors_and_numbers_are_node_features():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: [0.5, 1], 1: np.array([2, 3])}, "x")
    nx.set_node_attributes(graph, {0: 4, 1: 5.5}, "y")
    assert GraphBatch.from_networkx([graph], node_features="x").node_features.tolist() == [[0.5, 1], [2, 3]]
    assert GraphBatch.from_networkx([graph], node_features="y").node_features.tolist() == [[4], [5.5]]


def test_empty_graphs_need_no_attributes():
    batch = GraphBatch.from_networkx([nx.Graph(), nx.Graph()], "a", "b", "c")
    assert batch.nodes_per_graph.tolist() == [0, 0]


def test_parallel_edges_and_loops_are_merged_with_a_count():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 0), (1, 1)])
    with pytest.warns(TwinWLWarning, match="dropped 1 self-loops and merged 2 repeated edges"):
        batch = GraphBatch.from_networkx([graph])
    assert batch.n_edges == 1
    loop = nx.Graph([(0, 0), (0, 1)])
    with pytest.warns(TwinWLWarning, match="dropped 1 self-loops and merged 0"):
        GraphBatch.from_networkx([loop])


def test_parallel_edges_of_two_labels_are_refused():
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, bond=1)
    graph.add_edge(0, 1, bond=2)
    with pytest.raises(GraphInputError, match="different labels"):
        GraphBatch.from_networkx([graph], edge_label="bond")


def _with(attribute, values, nodes=2):
    graph = nx.path_graph(nodes)
    nx.set_node_attributes(graph, values, attribute)
    return graph


GOOD = _with("atom", {0: "C", 1: "C"})
nx.set_edge_attributes(GOOD, "single", "bond")
nx.set_node_attributes(GOOD, 0.5, "x")
BAD = {
    "missing label": (_with("atom", {0: "C"}), {"node_label": "atom"}, "node 1 has no attribute 'atom'"),
    "missing edge label": (
        nx.path_graph(2),
        {"edge_label": "bond"},
        r"edge \(0, 1\) has no attribute 'bond'",
    ),
    "missing features": (nx.path_graph(2), {"node_features": "x"}, "node 0 has no attribute 'x'"),
    "NaN label": (_with("atom", {0: "C", 1: float("nan")}), {"node_label": "atom"}, "node 1: label nan"),
    "array label": (_with("atom", {0: "C", 1: np.ones(2)}), {"node_label": "atom"}, "of type ndarray"),
    "ragged features": (
        _with("x", {0: [1], 1: [1, 2]}),
        {"node_features": "x"},
        "expected an array of float64",
    ),
    "text features": (_with("x", {0: "a", 1: "b"}), {"node_features": "x"}, "expected an array of float64"),
    "wider features": (_with("x", {0: [1, 2], 1: [1, 2]}), {"node_features": "x"}, "equally many"),
    "directed among undirected": (nx.DiGraph([(0, 1)]), {}, "it is directed and graph 0 is undirected"),
    "no graph": ("CC", {}, "str is not a graph of networkx"),
    "None": (None, {}, "NoneType is not a graph of networkx"),
}


@pytest.mark.parametrize(("graph", "options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_graph_is_refused_by_its_index(graph, options, message):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_networkx([GOOD, graph], **options)
    assert caught.value.graph == 1


def test_missing_label_of_a_multigraph_edge_is_refused():
    with pytest.raises(GraphInputError, match=r"graph 0: edge \(0, 1\) has no attribute"):
        GraphBatch.from_networkx([nx.MultiGraph([(0, 1)])], edge_label="bond")


def test_lone_graph_is_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match=r"one networkx graph.*wrap it in a list"):
        GraphBatch.from_networkx(nx.path_graph(3))
