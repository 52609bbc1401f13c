from __future__ import annotations

import time

import numpy as np
import pytest

from tests.batch_equality import assert_same_graphs
from twinwl import load_dataset
from twinwl.datasets.graph_files import read_exp_text, read_tu
from twinwl.errors import GraphInputError

TWO = "2\n3 1\n0 1 1\n1 2 0 2\n0 1 1\n2 0\n7 0\n7 0\n"


def written(tmp_path, text, name="GRAPHSAT.txt"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def as_text(graphs, y):
    """The authors' form of a batch."""
    lines = [str(len(graphs))]
    labels = graphs.labels_of_nodes()
    for graph, value in enumerate(y.tolist()):
        first, last = graphs.graph_ptr[graph : graph + 2].tolist()
        lines.append(f"{last - first} {value}")
        for node in range(first, last):
            neighbours = graphs.indices[graphs.indptr[node] : graphs.indptr[node + 1]] - first
            lines.append(" ".join(map(str, [labels[node], len(neighbours), *neighbours.tolist()])))
    return "\n".join(lines) + "\n"


def test_graphs_labels_and_classes(tmp_path):
    graphs, y = read_exp_text(written(tmp_path, TWO))
    assert y.tolist() == [1, 0]
    assert graphs.nodes_per_graph.tolist() == [3, 2]
    assert graphs.labels_of_nodes() == [0, 1, 0, 7, 7]
    assert graphs[0].indices.tolist() == [1, 0, 2, 1]
    assert graphs[1].n_edges == 0


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), str.strip, lambda t: t + "\n\n"])
def test_line_ends_do_not_matter(tmp_path, change):
    graphs, y = read_exp_text(written(tmp_path, change(TWO)))
    assert (len(graphs), y.tolist()) == (2, [1, 0])


def test_real_set_reads_as_its_tu_form(tu_zip, tmp_path):
    expected = read_tu(tu_zip("EXP"))
    path = written(tmp_path, as_text(expected.graphs, expected.y), "data/EXP/raw/GRAPHSAT.txt")
    began = time.process_time()
    graphs, y = read_exp_text(path)
    assert time.process_time() - began < 2
    assert_same_graphs(graphs, expected.graphs)
    np.testing.assert_array_equal(y, expected.y)
    by_name = load_dataset("EXP", tmp_path / "data")
    assert by_name.digest == load_dataset("EXP", tu_zip("EXP").parent).digest
    assert by_name.groups.tolist() == [pair for pair in range(600) for _ in range(2)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2 3\n", "line 1: got '2 3', expected the number of graphs"),
        ("-1\n", "line 1: got '-1', expected the number of graphs"),
        ("2\n1 0\n0 0\n", "line after the last: got '', expected the number of nodes of graph 1"),
        ("1\n1 0 9\n0 0\n", "line 2: got '1 0 9', expected the number of nodes of graph 0 and its class"),
        ("1\n2 0\n0 0\n", "line after the last: got '', expected the label of a node"),
        ("1\n1 0\n0 0\n0 0\n", "more lines follow after 1 graphs"),
        ("1\n1 0\n0\n", "line 3: got '0', expected the label of a node, its degree, and as many neighbours"),
        ("1\n2 0\n0 2 1\n0 1 0\n", "line 3: got '0 2 1', expected the label"),
        ("1\n2 0\n0 1 1\n0 0\n", "graph 0: (0, 1) is there but (1, 0) is not; a neighbour must name"),
        ("1\n2 0\n0 1 5\n0 0\n", "names node 5, which does not exist"),
        ("1\n1 x\n0 0\n", "line 2: got '1 x', expected"),
        ("1\n1 0\n0 0.5\n", "line 3: got '0 0.5', expected"),
        ("1\n1 -\n0 0\n", "line 2: got '1 -', expected"),
        ("1\n1 99999999999999999999\n0 0\n", "line 2: got '1 99999999999999999999', expected"),
        ("", "the file is empty"),
    ],
)
def test_bad_file_is_explained(tmp_path, text, problem):
    with pytest.raises(GraphInputError) as caught:
        read_exp_text(written(tmp_path, text))
    assert problem in str(caught.value)
    assert "GRAPHSAT.txt" in str(caught.value)


def test_pickle_is_never_loaded(tmp_path):
    path = tmp_path / "GRAPHSAT.pkl"
    path.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(GraphInputError, match="is a pickle, which could run anything"):
        load_dataset(path)
