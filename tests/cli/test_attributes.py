"""One file is one graph: the command line and the library read the same attributes, those that are named."""

from __future__ import annotations

import json

import networkx as nx
import pytest
from typer.testing import CliRunner

import twinwl as tw
from twinwl.cli.app import app

runner = CliRunner()


def graph_with_attributes():
    graph = nx.relabel_nodes(nx.lollipop_graph(4, 3), str)
    nx.set_node_attributes(graph, {node: "CNO"[int(node) % 3] for node in graph}, "element")
    nx.set_edge_attributes(graph, {edge: 1 + int(edge[0]) % 2 for edge in graph.edges}, "order")
    nx.set_edge_attributes(graph, {edge: 0.5 + int(edge[1]) % 2 for edge in graph.edges}, "weight")
    return graph


def write_json(graph, path):
    path.write_text(json.dumps(nx.node_link_data(graph)))


def read_json(path):
    return nx.node_link_graph(json.loads(path.read_text()))


FORMATS = {
    "graphml": (nx.write_graphml, nx.read_graphml),
    "gml": (nx.write_gml, nx.read_gml),
    "json": (write_json, read_json),
}


def hash_of(path, *options):
    result = runner.invoke(app, ["hash", str(path), *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout.split()[0], result.stderr


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    "named", [{"node_label": "element", "edge_label": "order"}, {"edge_label": "weight"}], ids=str
)
@pytest.mark.filterwarnings("ignore::twinwl.TwinWLWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # networkx is about to rename "links"
def test_the_library_and_the_command_line_give_one_hash(tmp_path, ending, named):
    write, read = FORMATS[ending]
    path = tmp_path / f"a.{ending}"
    write(graph_with_attributes(), path)
    graph = read(path)
    plain, _ = hash_of(path)
    assert plain == tw.graph_hash([graph])
    options = [word for name, value in named.items() for word in (f"--{name.replace('_', '-')}", value)]
    labelled, _ = hash_of(path, *options)
    assert labelled == tw.graph_hash(tw.as_batch([graph], **named))
    assert labelled != plain


def test_what_was_not_read_is_said_once_with_the_options(tmp_path):
    path = tmp_path / "a.graphml"
    nx.write_graphml(graph_with_attributes(), path)
    again = tmp_path / "b.graphml"
    nx.write_graphml(graph_with_attributes().subgraph("0123"), again)
    result = runner.invoke(app, ["hash", str(path), str(again)])
    assert result.stderr.splitlines() == [
        (
            "twinwl: did not read node attribute 'element' and edge attribute 'order'; to read one as labels "
            "pass --node-label element or --edge-label order"
        ),
        (
            "twinwl: ignored edge weights, 9 of 9 other than 1; pass --edge-label weight to take them as "
            "labels, or remove them"
        ),
    ]
    _, said = hash_of(path, "--node-label", "element", "--edge-label", "weight")
    assert said == ""


def test_attribute_called_label_is_read_only_where_it_is_named(tmp_path):
    path = tmp_path / "a.graphml"
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "C", 1: "O"}, "label")
    nx.write_graphml(graph, path)
    plain, said = hash_of(path)
    assert plain == tw.graph_hash(nx.path_graph(2))
    assert "--node-label label" in said
    labelled, said = hash_of(path, "--node-label", "label")
    assert labelled == tw.graph_hash(tw.GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    assert said == ""


@pytest.mark.parametrize("command", [["compare", "{0}", "{0}"], ["dedup", "{0}"]], ids=["compare", "dedup"])
def test_other_commands_say_it_too(tmp_path, command):
    path = tmp_path / "a.graphml"
    nx.write_graphml(graph_with_attributes(), path)
    result = runner.invoke(app, [word.format(path) for word in command])
    assert result.exit_code == 0
    assert "--node-label element" in result.stderr
    assert "--edge-label weight" in result.stderr
    assert "TwinWLWarning" not in result.stderr
