import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.batch_equality import assert_same_graphs
from tests.strategies import graphs
from twinwl import GraphBatch, TwinWLWarning
from twinwl.errors import GraphInputError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]
GOOD = np.array([[0, 1], [1, 0]])


def _matrix(n, edges, *, directed):
    matrix = np.zeros((n, n), dtype=int)
    for u, v in edges:
        matrix[u, v] = 1
        if not directed:
            matrix[v, u] = 1
    return matrix


@given(graphs(), st.sampled_from([bool, np.int8, np.uint64, np.float32, float]))
def test_dense_and_sparse_matrices_equal_the_edge_list(part, dtype):
    n, edges, node_labels, _ = part
    dense = _matrix(n, edges, directed=False).astype(dtype)
    expected = GraphBatch.from_edges([edges], [node_labels], [n])
    for matrix in (dense, sp.csr_array(dense), sp.coo_matrix(dense)):
        assert_same_graphs(GraphBatch.from_scipy([matrix], node_labels=[node_labels]), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_any_sparse_format_is_read(form, kind):
    dense = _matrix(5, [(0, 1), (1, 4), (2, 3)], directed=False)
    matrix = getattr(sp, f"{form}_{kind}")(dense)
    assert_same_graphs(GraphBatch.from_scipy([matrix]), GraphBatch.from_scipy([dense]))


@given(graphs(directed=True))
def test_one_way_matrix_is_taken_as_directed(part):
    n, edges, _, _ = part
    batch = GraphBatch.from_scipy([sp.csr_array(_matrix(n, edges, directed=True))], directed=True)
    assert_same_graphs(batch, GraphBatch.from_edges([edges], num_nodes=[n], directed=True))


def test_stored_zeros_are_no_edges():
    matrix = sp.coo_array(([1, 1, 0, 0], ([0, 1, 0, 2], [1, 0, 2, 0])), shape=(3, 3))
    assert GraphBatch.from_scipy([matrix]).n_edges == 1
    assert GraphBatch.from_scipy([matrix.tocsr()]).n_edges == 1


def test_the_callers_matrix_is_left_as_it_is():
    matrix = sp.csr_array(([1.0, 0.0, 1.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    before = (matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy())
    GraphBatch.from_scipy([matrix])
    for was, now in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(was, now)


def test_diagonal_is_dropped_with_a_count():
    with pytest.warns(TwinWLWarning, match="dropped 2 self-loops"):
        batch = GraphBatch.from_scipy([np.ones((2, 2))])
    assert batch.n_edges == 1


def test_entry_stored_twice_is_merged_with_a_count():
    matrix = sp.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.warns(TwinWLWarning, match="merged 1 repeated"):
        assert GraphBatch.from_scipy([matrix]).n_edges == 1


def test_stack_of_matrices_is_one_graph_each():
    assert len(GraphBatch.from_scipy(np.zeros((3, 4, 4)))) == 3


def test_empty_matrix_is_the_empty_graph():
    batch = GraphBatch.from_scipy([np.zeros((0, 0)), sp.csr_array((0, 0)), sp.csr_array((2, 2))])
    assert batch.nodes_per_graph.tolist() == [0, 0, 2]


BAD = {
    "asymmetric": ([[0, 1], [0, 0]], r"\(0, 1\) is there but \(1, 0\) is not.*directed=True"),
    "asymmetric sparse": (sp.csr_array([[0, 0], [1, 0]]), r"\(1, 0\) is there but \(0, 1\) is not"),
    "NaN": ([[0, np.nan], [np.nan, 0]], r"entry \(0, 1\) is nan, not a finite number"),
    "infinite": ([[0, np.inf], [np.inf, 0]], "is inf, not a finite number.*binarise"),
    "not square": (np.zeros((2, 3)), r"shape \(2, 3\).*square"),
    "not square sparse": (sp.csr_array((2, 3)), r"shape \(2, 3\)"),
    "edge array": (np.array([[0, 1], [1, 2], [2, 3]]), "from_edges"),
    "one axis": (np.zeros(4), "square"),
    "three axes": (np.zeros((2, 2, 2)), "square"),
    "ragged": ([[0, 1], [1]], "expected an array"),
    "text": ([["0", "1"], ["1", "0"]], "not numbers"),
    "objects": (np.array([[0, None], [None, 0]]), "not numbers"),
    "complex": (np.zeros((2, 2), complex), "not numbers"),
    "complex sparse": (sp.csr_array(np.eye(2, dtype=complex)), "not numbers"),
    "None": (None, "square"),
}


@pytest.mark.parametrize(("matrix", "message"), BAD.values(), ids=BAD.keys())
def test_bad_matrix_is_refused_by_its_index(matrix, message):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_scipy([GOOD, matrix])
    assert caught.value.graph == 1


def test_labels_must_fit_the_matrix():
    with pytest.raises(GraphInputError, match="graph 1: 3 node labels for 2 nodes"):
        GraphBatch.from_scipy([GOOD, GOOD], node_labels=[[1, 2], [1, 2, 3]])


@pytest.mark.parametrize("matrix", [GOOD, sp.csr_array(GOOD)])
def test_lone_matrix_is_told_to_be_wrapped(matrix):
    with pytest.raises(GraphInputError, match="wrap it in a list"):
        GraphBatch.from_scipy(matrix)
