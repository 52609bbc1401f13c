from __future__ import annotations

import json

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinwl.datasets import formats
from twinwl.datasets.source import ReadOptions, load_dataset, read_one
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning


def edges_of(batch):
    """Return the undirected edges of a batch of one."""
    sources, targets = batch.arcs()
    return {(int(u), int(v)) for u, v in zip(sources, targets, strict=True) if u < v}


def write(path, graph):
    """Write a networkx graph in the format of the file's ending."""
    writers = {
        ".g6": lambda: nx.write_graph6(graph, path, header=False),
        ".s6": lambda: nx.write_sparse6(graph, path),
        ".graphml": lambda: nx.write_graphml(graph, path),
        ".gml": lambda: nx.write_gml(graph, path),
        ".json": lambda: path.write_text(json.dumps(nx.node_link_data(graph, edges="links"))),
        ".edgelist": lambda: path.write_text(
            "\n".join(map(str, graph.nodes)) + "\n" + "\n".join(f"{u} {v}" for u, v in graph.edges)
        ),
    }
    writers[path.suffix]()


@pytest.mark.parametrize("ending", [".g6", ".s6", ".graphml", ".gml", ".json", ".edgelist"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), size=st.integers(1, 12))
def test_every_format_gives_back_the_graph_that_was_written(tmp_path, ending, seed, size):
    graph = nx.gnp_random_graph(size, 0.4, seed=seed)
    path = tmp_path / f"graph{ending}"
    write(path, graph)
    found = read_one(path, ReadOptions())
    assert found.graphs.n_nodes == size
    assert edges_of(found.graphs) == {(min(e), max(e)) for e in graph.edges}
    assert found.names[0].startswith(str(path))


def test_digraph6_is_directed(tmp_path):
    path = tmp_path / "a.d6"
    path.write_text("&BP_\n")  # 0 -> 2, 1 -> 0
    assert read_one(path, ReadOptions()).graphs.directed


def test_literals():
    assert read_one("graph6:Bw", ReadOptions()).graphs.n_edges == 3
    pytest.importorskip("rdkit", reason="needs RDKit")
    ethanol = read_one("smiles:CCO", ReadOptions())
    assert ethanol.graphs.labels_of_nodes() == ["CH3 X4", "CH2 X4", "OH X2"]
    assert ethanol.smiles == ("CCO",)
    assert read_one("smiles:C#N", ReadOptions()).graphs.n_nodes == 2  # '#' is a bond here


def test_a_file_of_smiles_has_names(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    molecules = tmp_path / "m.smi"
    molecules.write_text("CCO ethanol\n\nC methane of the bog\nCC\n")
    assert load_dataset(molecules).names == ("ethanol", "methane of the bog", "CC")
    assert load_dataset(molecules).smiles == ("CCO", "C", "CC")


def test_headers_of_graph6_are_skipped(tmp_path):
    graphs = tmp_path / "a.g6"
    graphs.write_text(">>graph6<<Bw\nA_\n")
    assert [name.rpartition("/")[2] for name in load_dataset(graphs).names] == ["a.g6#0", "a.g6#1"]


def test_hash_sign_picks_one_graph_counted_from_0(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("@\nA_\nBw\n")
    assert read_one(f"{path}#2", ReadOptions()).graphs.n_nodes == 3
    assert read_one(f"{path}#0", ReadOptions()).names == (f"{path}#0",)
    with pytest.raises(GraphInputError, match=r"graph 3 is out of range: .*3 graphs, numbered 0 to 2"):
        read_one(f"{path}#3", ReadOptions())
    with pytest.raises(GraphInputError, match=r"got 3 graphs, expected one.*#0' to .*#2'"):
        read_one(path, ReadOptions())
    with pytest.raises(GraphInputError, match=r"got '-1' after '#'"):
        read_one(f"{path}#-1", ReadOptions())


def test_a_hash_sign_in_a_file_name_is_no_index(tmp_path):
    path = tmp_path / "graph#7"
    path.mkdir()
    inner = path / "b#1.g6"
    inner.write_text("Bw\n")
    assert read_one(inner, ReadOptions()).graphs.n_nodes == 3


def test_tu_index(tu_zip):
    path = tu_zip("MUTAG")
    found = read_one(f"{path}#17", ReadOptions())
    assert found.names == (f"{path}#17",)
    assert len(load_dataset(path).graphs) == 188
    with pytest.raises(
        GraphInputError, match="graph 188 is out of range: there are 188 graphs, numbered 0 to 187"
    ):
        read_one(f"{path}#188", ReadOptions())


@pytest.fixture
def labelled():
    graph = nx.Graph()
    graph.add_node("x", label="C", mass=12)
    graph.add_node("y", label="O", mass=16)
    graph.add_edge("x", "y", label="double", order=2)
    return graph


def test_what_cannot_be_a_label_is_a_clear_error(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"nodes": [{"id": 1, "label": {"a": 1}}], "edges": []}')
    with pytest.raises(TwinWLError, match=r"a\.json.*cannot be a label"):
        load_dataset(path, node_label="label")


@pytest.mark.parametrize("ending", [".graphml", ".json"])
def test_labels_are_read_where_named_and_the_others_are_listed(tmp_path, labelled, ending):
    path = tmp_path / f"a{ending}"
    write(path, labelled)
    with pytest.warns(
        TwinWLWarning,
        match=r"did not read node attributes 'label', 'mass' and edge attributes 'label', 'order'; "
        r'.*node_label="label" or edge_label="label"',
    ):
        plain = load_dataset(path).graphs
    assert not plain.has_node_labels
    assert plain.edge_labels is None
    with pytest.warns(TwinWLWarning, match=r"did not read edge attributes 'label', 'order'; "):
        load_dataset(path, node_label="label")
    chosen = load_dataset(path, node_label="mass", edge_label="order").graphs
    assert chosen.labels_of_nodes() == [12, 16]
    assert chosen.edge_vocabulary == (2,)
    with pytest.raises(GraphInputError, match=r"no attribute 'colour'.*label.*mass"):
        read_one(path, ReadOptions(node_label="colour"))


def test_names_of_nodes_in_gml_are_no_attribute_to_tell_of(tmp_path):
    path = tmp_path / "a.gml"
    text = 'graph [ node [ id 0 label "{}" ] node [ id 1 label "{}" ] edge [ source 0 target 1 ] ]'
    path.write_text(text.format("a", "b"))
    assert not load_dataset(path).graphs.has_node_labels
    assert load_dataset(path, node_label="label").graphs.labels_of_nodes() == ["a", "b"]
    path.write_text(text.format("C", "C"))
    with pytest.warns(TwinWLWarning, match="did not read node attribute 'label'"):
        load_dataset(path)


@pytest.mark.parametrize("ending", [".graphml", ".json", ".gml"])
def test_weights_are_ignored_aloud(tmp_path, ending):
    graph = nx.relabel_nodes(nx.path_graph(3), str)
    nx.set_edge_attributes(graph, {("0", "1"): 1.0, ("1", "2"): 2.5}, "weight")
    path = tmp_path / f"a{ending}"
    write(path, graph) if ending != ".gml" else nx.write_gml(graph, path)
    with pytest.warns(TwinWLWarning, match=r'edge weights, 1 of 2 other than 1; pass edge_label="weight"'):
        assert load_dataset(path).graphs.edge_labels is None
    assert load_dataset(path, edge_label="weight").graphs.edge_vocabulary == (2.5, 1.0)


def test_json_takes_links_and_edges_and_arrays_of_graphs(tmp_path):
    path = tmp_path / "a.json"
    graphs = [nx.node_link_data(nx.path_graph(n), edges=key) for n, key in ((2, "links"), (3, "edges"))]
    path.write_text(json.dumps(graphs))
    assert load_dataset(path).graphs.nodes_per_graph.tolist() == [2, 3]
    assert read_one(f"{path}#1", ReadOptions()).graphs.n_edges == 2


def test_json_numbers_nodes_without_ids(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"nodes": [{}, {}, {}], "links": [{"source": 1, "target": 2}]}')
    assert edges_of(read_one(path, ReadOptions()).graphs) == {(1, 2)}


def test_json_tells_ids_of_different_kinds_apart(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        '{"nodes": [{"id": 1}, {"id": "1"}, {"id": [0, 1]}], "links": [{"source": 1, "target": [0, 1]}]}'
    )
    assert edges_of(read_one(path, ReadOptions()).graphs) == {(0, 2)}


def test_several_graphs_in_one_graphml(tmp_path):
    path = tmp_path / "a.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<graph id="G" edgedefault="undirected"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/></graph>'
        '<graph id="H" edgedefault="undirected"><node id="a"/></graph></graphml>'
    )
    assert load_dataset(path).graphs.nodes_per_graph.tolist() == [2, 1]


def test_graphml_that_does_not_say_is_undirected(tmp_path):
    """The attribute is required, but networkx and igraph read such files so."""
    path = tmp_path / "a.graphml"
    path.write_bytes(graphml('<node id="a"/><node id="b"/><edge source="a" target="b"/>', "<graph>"))
    assert not load_dataset(path).graphs.directed
    path.write_bytes(path.read_bytes().replace(b"<edge ", b'<edge directed="true" '))
    with pytest.raises(TwinWLError, match="not valid GraphML"):
        load_dataset(path)


def test_words_in_quotes_are_no_directions_of_a_gml_file(tmp_path):
    path = tmp_path / "a.gml"
    path.write_text('graph [ directed 1 node [ id 0 label "directed by" ] node [ id 1 label "x" ] ]')
    assert load_dataset(path).graphs.directed


def test_all_graphs_of_a_graphml_without_namespace_are_read(tmp_path):
    path = tmp_path / "a.graphml"
    path.write_text(
        '<graphml><graph><node id="a"/></graph><graph><node id="a"/><node id="b"/></graph></graphml>'
    )
    assert load_dataset(path).graphs.nodes_per_graph.tolist() == [1, 2]


def test_groups_of_yed_are_read_with_their_nodes(tmp_path):
    path = tmp_path / "a.graphml"
    path.write_text(
        '<graphml><graph><edge source="b" target="a"/><node id="a" yfiles.foldertype="group">'
        '<graph><node id="b"/></graph></node></graph></graphml>'
    )
    assert edges_of(read_one(path, ReadOptions()).graphs) == {(0, 1)}


def graphml(content, graph='<graph edgedefault="undirected">'):
    """Return a GraphML file whose second line is the content of its graph."""
    return f"<graphml>{graph}\n{content}\n</graph></graphml>".encode()


DOCTYPE = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.graphml", DOCTYPE.encode(), "declares a document type"),
        (
            "a.graphml",
            b'<?xml version="1.0" encoding="cp037"?>' + DOCTYPE[21:].encode("cp037"),
            "a.graphml: ",
        ),
        ("a.graphml", DOCTYPE.encode("utf-16"), "binary file"),
        ("a.graphml", b"<graphml><graph><node", "not valid GraphML.*cut off"),
        ("a.graphml", b"<html></html>", "not valid GraphML"),
        ("a.graphml", graphml('<node id="a"/><edge source="a" target="b"/>'), "got 0 nodes with the id 'b'"),
        ("a.graphml", graphml('<node id="a"/><node id="a"/>'), "got 2 nodes with the id 'a', expected one"),
        ("a.graphml", graphml("<node/>"), "got 1 nodes with the id None"),
        ("a.graphml", graphml('<node id="a"><graph><node id="b"/></graph></node>'), "with the id 'b'"),
        ("a.graphml", graphml('<node id="a"><node id="b"/></node>'), "with the id 'b'"),
        (
            "a.graphml",
            graphml('<node id="a"><edge source="a" target="a"/></node>'),
            "an <edge> is not read; write it directly into its <graph>",
        ),
        ("a.graphml", graphml("<hyperedge/>"), "not valid GraphML .*hyperedges"),
        ("a.graphml", graphml("", '<graph edgedefault="Directed">'), "edgedefault: got 'Directed'"),
        (
            "a.graphml",
            graphml('<node id="a"/><edge source="a" target="a" directed="1"/>'),
            "directed: got '1', expected 'true' or 'false'",
        ),
        ("a.gml", b"graph [ node [ id 0 ] node [ id 0 ] ]", "node id 0 is duplicated"),
        ("a.gml", b"graph [ node [ id 0 ", "not valid GML"),
        ("a.gml", b"graph [ node [ label 3 ] ]", "not valid GML"),
        ("a.json", b'{"nodes": [', "not valid JSON.*line 1.*cut off"),
        ("a.json", b"[" * 100_000, "not valid JSON"),
        ("a.json", b"3", 'expected an object {"nodes": '),
        ("a.json", b"[]", "expected at least one graph"),
        ("a.json", b'{"nodes": [{"id": 1}]}', "expected an object"),
        ("a.json", b'{"nodes": 3, "edges": []}', r"expected an object .*\(TypeError: .*int"),
        (
            "a.json",
            b'{"nodes": [{"id": 1}, {"id": 1}], "edges": []}',
            "got 2 nodes with the id 1, expected one",
        ),
        ("a.json", b'{"nodes": [{"id": 1}], "edges": [{"source": 1}]}', r"\(KeyError: target\)"),
        (
            "a.json",
            b'{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}',
            "got 0 nodes with the id 2, expected one",
        ),
        ("a.json", b'{"directed": "true", "nodes": [], "edges": []}', '"directed" true or false'),
        ("a.json", b'{"directed": 1, "nodes": [], "edges": []}', '"directed" true or false'),
        ("a.json", b'{"nodes": [], "edges": [], "links": []}', '"links" or "edges"'),
        (
            "a.json",
            b'{"directed": true, "nodes": [], "edges": [], "directed": false}',
            "an object has a key twice",
        ),
        ("a.json", b'{"nodes": [{"id": 1, "id": 2}], "edges": []}', "a key twice"),
        ("a.gml", b'graph [ directed "0" node [ id 0 ] ]', 'directed: got "", expected 0 or 1'),
        ("a.gml", b"graph [ directed 1 directed 0 node [ id 0 ] ]", "directed: got 0, 1, expected 0 or 1"),
        ("a.g6", b"Bw\nD\n", r"line 2: cannot read 'D'.*cut off"),
        ("a.g6", b"Bw\n\xff\xfe\n", "line 2: not UTF-8"),
        ("a.g6", b"", "no graph in it"),
        ("a.smi", b"C\nC1CC oops\n", "line 2: SMILES 'C1CC' cannot be read"),
        ("a.edges", b"", "empty"),
        ("a.edges", b"   \n", "empty"),
        ("a.txt", b"PK\x03\x04\0\0", "binary file"),
        ("a.txt", b"a b\nc \xe4\n", "line 2: not UTF-8"),
        ("a.zip", b"PK\x03\x04 no zip", "a.zip"),
    ],
)
def test_a_bad_file_is_a_clear_error(tmp_path, name, content, message):
    if name.endswith(".smi"):
        pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TwinWLError, match=message):
        load_dataset(path, on_error="fail")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere.g6", "cannot read 'nowhere.g6': no such file"),
        ("a.xyz", "there is no data set or file 'a.xyz'"),
        ("smile:CCO", "did you mean 'smiles:CCO'"),
        ("smiles:", "nothing follows"),
        ("smiles:C1CC", "smiles:C1CC"),
        ("graph6:D", "graph6:D"),
    ],
)
def test_a_bad_spec_is_a_clear_error(spec, message):
    if spec == "smiles:C1CC":
        pytest.importorskip("rdkit", reason="needs RDKit")
    with pytest.raises(TwinWLError, match=message):
        load_dataset(spec)


@pytest.mark.parametrize(("name", "said"), [("a.xyz", "unknown ending '.xyz'"), ("a", "has no ending")])
def test_a_file_that_does_not_say_what_it_holds(tmp_path, name, said):
    path = tmp_path / name
    path.write_text("Bw\n")
    with pytest.raises(
        GraphInputError, match=rf'{said}.* Pass kind="…". Known: graph6 \(.g6 .s6 .d6\).*TU data'
    ):
        load_dataset(path)
    assert load_dataset(path, kind="graph6").graphs.n_nodes == 3


def test_a_file_too_large_to_parse_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.edges"
    path.write_text("a b\n" * 100)
    monkeypatch.setattr(formats, "MAX_BYTES", 50)
    with pytest.raises(GraphInputError, match="too large"):
        read_one(path, ReadOptions())


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.g6"
    path.write_text("?" * 100)
    monkeypatch.setattr(formats, "MAX_LINE", 50)
    with pytest.raises(GraphInputError, match="line 1: longer"):
        read_one(path, ReadOptions())
