import igraph
import pytest
from hypothesis import given

from tests.batch_equality import assert_same_graphs
from tests.strategies import graphs
from twinwl import GraphBatch, TwinWLWarning
from twinwl.errors import GraphInputError


@given(graphs())
def test_undirected_graph_equals_its_edge_list(part):
    n, edges, _, _ = part
    names = [f"v{node}" for node in range(n)]
    types = list(range(len(edges)))
    graph = igraph.Graph(n, edges, vertex_attrs={"name": names}, edge_attrs={"type": types})
    batch = GraphBatch.from_igraph([graph], node_label="name", edge_label="type")
    assert_same_graphs(batch, GraphBatch.from_edges([edges], [names], [n], [types]))


@given(graphs(directed=True))
def test_directed_graph_equals_its_arc_list(part):
    n, edges, _, _ = part
    batch = GraphBatch.from_igraph([igraph.Graph(n, edges, directed=True)])
    assert_same_graphs(batch, GraphBatch.from_edges([edges], num_nodes=[n], directed=True))


def test_graph_without_nodes_needs_no_attributes():
    labelled = igraph.Graph(1, vertex_attrs={"atom": ["C"]})
    batch = GraphBatch.from_igraph([labelled, igraph.Graph()], node_label="atom", edge_label="bond")
    assert batch.nodes_per_graph.tolist() == [1, 0]
    assert batch.labels_of_nodes() == ["C"]


def test_parallel_edges_are_merged_with_a_count():
    with pytest.warns(TwinWLWarning, match="merged 1 repeated"):
        GraphBatch.from_igraph([igraph.Graph(2, [(0, 1), (0, 1)])])


GOOD = igraph.Graph(2, [(0, 1)], vertex_attrs={"atom": ["C", "N"]}, edge_attrs={"bond": [1]})
BAD = {
    "no attribute": (igraph.Graph(2), {"node_label": "atom"}, "nodes have no attribute 'atom'"),
    "no edge attribute": (
        igraph.Graph(2, [(0, 1)]),
        {"edge_label": "bond"},
        "edges have no attribute 'bond'",
    ),
    "unset attribute": (
        igraph.Graph(2, vertex_attrs={"atom": ["C", None]}),
        {"node_label": "atom"},
        "node 1 has no 'atom'",
    ),
    "NaN": (
        igraph.Graph(1, vertex_attrs={"atom": [float("nan")]}),
        {"node_label": "atom"},
        "node 0: label nan",
    ),
    "directed": (igraph.Graph(2, directed=True), {}, "it is directed"),
    "no graph": ([(0, 1)], {}, "list is not a graph of igraph"),
}


@pytest.mark.parametrize(("graph", "options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_graph_is_refused_by_its_index(graph, options, message):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_igraph([GOOD, graph], **options)
    assert caught.value.graph == 1


def test_typo_in_an_attribute_is_corrected():
    with pytest.raises(GraphInputError, match="did you mean 'atom'"):
        GraphBatch.from_igraph([GOOD], node_label="atoms")


def test_lone_graph_is_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match="wrap it in a list"):
        GraphBatch.from_igraph(igraph.Graph(2))
