from __future__ import annotations

import gzip

import networkx as nx
import pytest

from twinwl.datasets.source import ReadOptions, load_dataset, read_source
from twinwl.errors import GraphInputError, TwinWLWarning


def write(path, graph, label=None):
    path.parent.mkdir(exist_ok=True, parents=True)
    if label is not None:
        nx.set_node_attributes(graph, label, "label")
    nx.write_graphml(graph, path)


def test_subfolders_are_the_classes(tmp_path):
    write(tmp_path / "ring" / "b.graphml", nx.cycle_graph(4))
    write(tmp_path / "ring" / "a.graphml", nx.cycle_graph(3))
    write(tmp_path / "path" / "a.graphml", nx.path_graph(5))
    found = load_dataset(tmp_path)
    assert found.names == ("path/a.graphml", "ring/a.graphml", "ring/b.graphml")
    assert found.y.tolist() == ["path", "ring", "ring"]
    assert found.graphs.nodes_per_graph.tolist() == [5, 3, 4]


def test_classes_that_are_numbers_become_numbers(tmp_path):
    write(tmp_path / "1" / "a.graphml", nx.cycle_graph(4))
    write(tmp_path / "-1" / "a.graphml", nx.path_graph(4))
    assert load_dataset(tmp_path).y.tolist() == [-1, 1]


def test_a_table_names_the_classes_whatever_its_order(tmp_path):
    write(tmp_path / "a.graphml", nx.path_graph(2))
    write(tmp_path / "b.graphml", nx.path_graph(3))
    (tmp_path / "labels.csv").write_text("kind,file\nlong,b.graphml\n\nshort,a\n")
    found = load_dataset(tmp_path)
    assert found.names == ("a.graphml", "b.graphml")
    assert found.y.tolist() == ["short", "long"]


def test_files_alone_have_no_classes(tmp_path):
    write(tmp_path / "a.graphml", nx.path_graph(2))
    assert load_dataset(tmp_path).y is None


def test_a_file_may_hold_several_graphs(tmp_path):
    writer = nx.readwrite.graphml.GraphMLWriter(nx.path_graph(2))
    writer.add_graph_element(nx.path_graph(3))
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "two.graphml").write_text(str(writer))
    write(tmp_path / "one" / "a.graphml", nx.path_graph(4))
    found = load_dataset(tmp_path)
    assert found.names == ("few/two.graphml#0", "few/two.graphml#1", "one/a.graphml")
    assert found.y.tolist() == ["few", "few", "one"]


def test_other_formats_may_stand_in_place_of_graphml(tmp_path):
    for name, text in {"a.gml": "graph [ node [ id 0 ] ]", "b.edges": "0 1\n", "c.g6": "Bw\nA_\n"}.items():
        (tmp_path / name).write_text(text)
    found = load_dataset(tmp_path)
    assert found.names == ("a.gml", "b.edges", "c.g6#0", "c.g6#1")
    assert found.graphs.nodes_per_graph.tolist() == [1, 2, 3, 2]


def test_packed_files_are_read_like_others(tmp_path):
    texts = {"a.gml": "graph [ node [ id 0 ] ]", "b.edges": "0 1\n", "c.g6": "Bw\nA_\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "labels.csv").write_text("file,class\na,1\nb.edges,2\nc.g6.gz,3\n")
    found = load_dataset(tmp_path)
    assert found.names == ("a.gml.gz", "b.edges.gz", "c.g6.gz#0", "c.g6.gz#1")
    assert found.graphs.nodes_per_graph.tolist() == [1, 2, 3, 2]
    assert found.y.tolist() == [1, 2, 3, 3]


def test_files_that_are_not_read_are_counted_and_the_first_is_named(tmp_path):
    write(tmp_path / "x" / "a.graphml", nx.path_graph(2))
    write(tmp_path / "x" / "deep" / "b.graphml", nx.path_graph(2))
    for name in ("notes.txt", "more.graphml.bz2", ".hidden"):
        (tmp_path / "x" / name).write_text("1 2\n")
    with pytest.warns(TwinWLWarning, match=r"did not read 3 of 4 files, first 'x/deep/b\.graphml'; .*\.gz"):
        assert load_dataset(tmp_path).names == ("x/a.graphml",)


def test_a_file_that_cannot_be_read_keeps_its_place(tmp_path):
    for kind, text in {"x": "Bw\n", "y": "rubbish\n", "z": "A_\n"}.items():
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "a.g6").write_text(text)
    with pytest.warns(TwinWLWarning, match=r"left out 1 of 3 rows \(1 cannot be read\).*y/a\.g6"):
        found = load_dataset(tmp_path)
    assert found.rows.tolist() == [0, 2]
    assert found.y.tolist() == ["x", "z"]
    with pytest.raises(GraphInputError, match=r"y/a\.g6, line 1"):
        load_dataset(tmp_path, on_error="fail")
    with pytest.raises(GraphInputError, match=r"graph 1 cannot be read: .*line 1"):
        read_source(f"{tmp_path}#1", ReadOptions())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("file,class\na,1\n", "has no class for 1 of 2 files, first 'b.graphml'"),
        ("name,class\na,1\n", "expected two columns, 'file' and one of classes"),
        ("file,class\na,1\na,2\nb,1\n", "file 'a' is listed 2 times"),
        ("file,class\na,1\nb,\n", "has no class for 1 of 2 files, first 'b.graphml'"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, table, message):
    write(tmp_path / "a.graphml", nx.path_graph(2))
    write(tmp_path / "b.graphml", nx.path_graph(2))
    (tmp_path / "labels.csv").write_text(table)
    with pytest.raises(GraphInputError, match=message):
        load_dataset(tmp_path)


def test_a_file_beside_class_folders_is_refused(tmp_path):
    write(tmp_path / "x" / "a.graphml", nx.path_graph(2))
    write(tmp_path / "b.graphml", nx.path_graph(2))
    with pytest.raises(GraphInputError, match=r"b\.graphml: is not in a subfolder"):
        load_dataset(tmp_path)


def test_files_that_do_not_go_together_are_named(tmp_path):
    write(tmp_path / "a.graphml", nx.path_graph(2), label="C")
    write(tmp_path / "b.graphml", nx.path_graph(2))
    with pytest.raises(GraphInputError, match=r"b\.graphml: 2 of 2 nodes have no attribute 'label'"):
        load_dataset(tmp_path, node_label="label", on_error="fail")
    write(tmp_path / "b.graphml", nx.DiGraph([(0, 1)]), label="C")
    with pytest.raises(GraphInputError, match=r"b\.graphml is directed and .*a\.graphml is not"):
        load_dataset(tmp_path, node_label="label")


def test_labels_where_a_file_holds_an_empty_graph(tmp_path):
    write(tmp_path / "a.graphml", nx.path_graph(2), label="C")
    write(tmp_path / "b.graphml", nx.Graph())
    found = load_dataset(tmp_path, node_label="label")
    assert found.graphs.nodes_per_graph.tolist() == [2, 0]


def test_what_many_files_have_in_common_is_told_once(tmp_path):
    for number in range(4):
        weighted = nx.path_graph(number + 2)
        nx.set_edge_attributes(weighted, 0.5, "weight")
        write(tmp_path / f"{number}.graphml", weighted, label="C")
    write(tmp_path / "z.graphml", nx.path_graph(2))
    with pytest.warns(TwinWLWarning) as caught:
        load_dataset(tmp_path)
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2
    assert all(message.endswith("the same in 4 of 5 files") for message in messages)
    assert "edge weights, 1 of 1 other than 1" in messages[1]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(GraphInputError, match="neither a TU data set nor files of graphs"):
        load_dataset(tmp_path)
