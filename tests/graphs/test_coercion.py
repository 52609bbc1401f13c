import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from twinwl.errors import GraphInputError

PATH = [(0, 1), (1, 2)]
MATRIX = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
EXPECTED = tw.GraphBatch.from_edges([PATH, PATH])


def _objects(*graphs):
    array = np.empty(len(graphs), dtype=object)
    array[:] = graphs
    return array


KINDS = {
    "networkx": [nx.path_graph(3), nx.path_graph(3)],
    "tuple": (nx.path_graph(3), nx.path_graph(3)),
    "object array": _objects(nx.path_graph(3), nx.path_graph(3)),
    "igraph": [igraph.Graph(3, PATH), igraph.Graph(3, PATH)],
    "dense": [MATRIX, MATRIX],
    "sparse": [sp.csr_array(MATRIX), sp.coo_matrix(MATRIX)],
    "dense and sparse": [MATRIX, sp.csr_array(MATRIX)],
    "stack": np.stack([MATRIX, MATRIX]),
    "edge lists": [PATH, PATH],
    "tuples of edges": [tuple(PATH), tuple(PATH)],
    "batches": [EXPECTED[0], EXPECTED[1]],
    "batch": EXPECTED,
}


@pytest.mark.parametrize("graphs", KINDS.values(), ids=KINDS.keys())
def test_every_kind_of_collection_is_taken(graphs):
    assert_same_graphs(tw.as_batch(graphs), EXPECTED)


@pytest.mark.parametrize("graphs", KINDS.values(), ids=KINDS.keys())
def test_iterator_is_as_good_as_a_list(graphs):
    assert_same_graphs(tw.as_batch(iter(graphs)), EXPECTED)


def test_batch_is_returned_as_it_is():
    assert tw.as_batch(EXPECTED) is EXPECTED


def test_molecules_are_taken():
    chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")
    assert tw.as_batch([chem.MolFromSmiles("CCO")]).labels_of_nodes() == ["CH3 X4", "CH2 X4", "OH X2"]


def test_pyg_data_are_taken():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")
    arcs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [data.Data(edge_index=arcs, num_nodes=3)] * 2
    assert_same_graphs(tw.as_batch(graphs), EXPECTED)
    with pytest.raises(GraphInputError, match=r"one PyTorch Geometric Data.*wrap it"):
        tw.as_batch(graphs[0])


@pytest.mark.parametrize("nothing", [[], (), np.array([]), iter([])])
def test_nothing_is_an_empty_batch(nothing):
    batch = tw.as_batch(nothing)
    assert (len(batch), batch.n_nodes) == (0, 0)


def test_attributes_are_read_only_where_named():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, "C", "atom")
    nx.set_edge_attributes(graph, "single", "bond")
    assert not tw.as_batch([graph]).has_node_labels
    labelled = tw.as_batch([graph], node_label="atom", edge_label="bond")
    assert labelled.labels_of_nodes() == ["C", "C"]
    assert labelled.edge_vocabulary == ("single",)
    for options in ({"node_label": "atom"}, {"edge_label": "bond"}):
        with pytest.raises(
            GraphInputError, match="_label names an attribute, which kind 'edge list' does not"
        ):
            tw.as_batch([PATH], **options)
    with pytest.raises(GraphInputError, match="node_label names an attribute, which kind 'matrix'"):
        tw.as_batch([MATRIX], node_label="atom")


LONE = {
    "string": ("CC", "SMILES or graph6.*from_smiles.*from_graph6"),
    "bytes": (b"CC", "SMILES or graph6"),
    "networkx": (nx.path_graph(3), r"this is one networkx graph.*wrap it in a list: \[graph\]"),
    "igraph": (igraph.Graph(2), "this is one igraph graph.*wrap it"),
    "matrix": (MATRIX, "this is one matrix.*wrap it"),
    "sparse matrix": (sp.csr_array(MATRIX), "this is one matrix.*wrap it"),
    "edges": (PATH, "wrap the edges of a single graph in a list"),
    "number": (3, "graphs: got 3, expected a GraphBatch, or a list of networkx graphs"),
    "None": (None, "graphs: got None"),
    "dict": ({0: nx.path_graph(3)}, "graphs: got {0: "),
    "set": ({1, 2}, "graphs: got {1, 2}"),
    "0-d array": (np.array(None), "graphs: got array"),
}


@pytest.mark.parametrize(("graphs", "message"), LONE.values(), ids=LONE.keys())
def test_what_is_no_collection_is_refused_kindly(graphs, message):
    with pytest.raises(GraphInputError, match=message):
        tw.as_batch(graphs)


BAD = {
    "strings": (["CC", "CC"], "graph 0: 'CC': a string may be SMILES or graph6"),
    "string last": ([PATH, "CC"], "graph 1: 'CC': a string may be"),
    "unknown": ([PATH, 3.5], "graph 1: 3.5 of type float is not a graph"),
    "None": ([PATH, None], "graph 1: None of type NoneType is not a graph"),
    "mixed": (
        [nx.path_graph(2), PATH],
        "graph 1: it is of kind 'edge list' and graph 0 of kind 'networkx graph'",
    ),
    "mixed directions": ([nx.path_graph(2), nx.DiGraph()], "graph 1: it is directed"),
    "array of numbers": (np.arange(3), "graph 0: .* is not a graph"),
    "table of objects": (np.array([[None, None]]), "graph 0: .* is not a graph"),
}


@pytest.mark.parametrize(("graphs", "message"), BAD.values(), ids=BAD.keys())
def test_what_would_need_guessing_is_refused_by_its_index(graphs, message):
    with pytest.raises(GraphInputError, match=message):
        tw.as_batch(graphs)


def test_nothing_heavy_is_imported_to_find_out():
    code = (
        "import sys, twinwl; twinwl.as_batch([[(0, 1)]]); "
        "heavy = {'torch', 'torch_geometric', 'rdkit', 'networkx', 'igraph', 'sklearn', 'matplotlib'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
