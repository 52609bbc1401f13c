from __future__ import annotations

import pytest

from twinwl.datasets.graph_files import read_graph
from twinwl.errors import GraphInputError


def edges_of(batch):
    """Return the undirected edges of a batch of one."""
    sources, targets = batch.arcs()
    return {(int(u), int(v)) for u, v in zip(sources, targets, strict=True) if u < v}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.edges", "# names\nann bob\nbob eve\nzoe\n"),
        ("a.txt", "ann,bob\nbob;eve\nzoe"),
        ("a.edgelist", "ann bob {}\nbob eve {}\nzoe"),
        ("a.csv", 'source,target\nann,"bob"\nbob,eve\nzoe\n'),
        ("b.csv", "ann;bob\nbob;eve;\nzoe\n"),
        ("c.csv", "\ufeffann,bob\r\nbob,eve\r\nzoe\r\n"),
    ],
)
def test_edge_lists_take_names_comments_and_isolated_nodes(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    graph = read_graph(path).graphs
    assert (graph.n_nodes, edges_of(graph)) == (4, {(0, 1), (1, 2)})


def test_edge_labels_that_look_like_integers_are(tmp_path):
    path = tmp_path / "a.edges"
    path.write_text("a b 1\nb c x\nc d 01\n")
    assert set(read_graph(path).graphs.edge_vocabulary) == {1, "x", "01"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\nc d\n", "line 2: this edge has no label"),
        ("a b\nc d 1\n", "line 2: this edge has a label"),
        ("a b c d\n", "line 1: 4 fields"),
        ("0 1 {'weight': 3}\n", "data=False"),
        ("# nothing\n", "no edge"),
    ],
)
def test_bad_edge_lists_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.edges"
    path.write_text(text)
    with pytest.raises(GraphInputError, match=message):
        read_graph(path)
