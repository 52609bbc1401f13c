from __future__ import annotations

import pytest

from twinwl.datasets.source import load_dataset
from twinwl.errors import GraphInputError, TwinWLWarning


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
    graph = load_dataset(path).graphs
    assert (graph.n_nodes, edges_of(graph)) == (4, {(0, 1), (1, 2)})


def read(tmp_path, name, text, **options):
    path = tmp_path / name
    path.write_text(text)
    return load_dataset(path, **options).graphs


def test_third_column_is_read_only_where_it_is_named(tmp_path):
    text = "a b 1\nb c x\nc d 01\n"
    with pytest.warns(TwinWLWarning, match=r"""did not read edge attribute 'label'; .*edge_label="label\""""):
        assert read(tmp_path, "a.edges", text).edge_labels is None
    named = read(tmp_path, "a.edges", text, edge_label="label")
    assert set(named.edge_vocabulary) == {1, "x", "01"}  # what looks like an integer is one


@pytest.mark.parametrize(
    ("values", "expected"), [("1 2", [1, 2]), ("1 2.5", [1.0, 2.5]), ("-1 1e-3", [-1.0, 0.001])]
)
def test_third_column_of_numbers_is_weights(tmp_path, values, expected):
    text = "a b {}\nb c {}\n".format(*values.split())
    with pytest.warns(TwinWLWarning, match=r'edge weights, \d of 2 other than 1; pass edge_label="weight"'):
        assert read(tmp_path, "a.edgelist", text).edge_labels is None
    vocabulary = read(tmp_path, "a.edgelist", text, edge_label="weight").edge_vocabulary
    assert sorted(map(repr, vocabulary)) == sorted(map(repr, expected))


def test_weights_that_are_all_one_say_nothing(tmp_path):
    assert read(tmp_path, "a.edgelist", "a b 1\nb c 1.0\n").edge_labels is None


@pytest.mark.parametrize(("heading", "message"), [("Bond", "'Bond'"), ("Weight", "weights, 1 of 2")])
def test_heading_names_the_third_column(tmp_path, heading, message):
    text = f"source,target,{heading}\na,b,1\nb,c,2\n"
    with pytest.warns(TwinWLWarning, match=message):
        read(tmp_path, "a.csv", text)
    assert read(tmp_path, "a.csv", text, edge_label=heading).edge_vocabulary == (1, 2)
    with pytest.raises(
        GraphInputError, match=f"no column 'label' beside the nodes; it is called '{heading}'"
    ):
        read(tmp_path, "a.csv", text, edge_label="label")


def test_column_that_is_not_there_cannot_be_named(tmp_path):
    with pytest.raises(GraphInputError, match="no column 'weight' beside the nodes; there is none"):
        read(tmp_path, "a.edges", "a b\n", edge_label="weight")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\nc d\n", "line 2: this edge has no label"),
        ("a b\nc d 1\n", "line 2: this edge has a label"),
        ("a b c d\n", "line 1: got 4 columns, expected two or three in an edge list"),
        ("0 1 {'weight': 3}\n", "data=False"),
        ("# nothing\n", "the file is empty"),
        ("a b\na -> b\n", "line 2: got 'a -> b', expected names of nodes"),
        ("a->b\n", "line 1: got 'a->b'"),
        ("a -- b\n", "line 1: got 'a -- b'"),
        ("a \u2192 b\n", "line 1: got 'a \u2192 b'"),
        ("a - b\n", "line 1: got 'a - b'"),
    ],
)
def test_bad_edge_lists_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.edges"
    path.write_text(text)
    with pytest.raises(GraphInputError, match=message):
        load_dataset(path)


def test_names_and_labels_may_contain_dashes(tmp_path):
    assert read(tmp_path, "a.edges", "a-b C->T\n- a-b\n").n_nodes == 3
