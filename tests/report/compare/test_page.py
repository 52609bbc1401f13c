from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import networkx as nx
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import load_dataset
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.comparison import compare
from twinwl.report.compare import compare_page
from twinwl.report.page import write_page

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "&amp;&#x3c;",
    "\u2028\u2029\u202e",
    "' onload='x",
    "{{ 7 * 7 }}",
    "\ud800",
    "\0\x01",
    "🜁" * 200,
]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags_of(page):
    parser = Tags()
    parser.feed(page)
    return parser.found


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def page_of(first, second, **options):
    return compare_page(first, second, compare(first.graphs, second.graphs, **options))


@pytest.fixture
def ladder_and_triangles():
    return load_dataset("graph6:EwCW"), load_dataset("graph6:EhEG")


def test_the_page_needs_nothing_from_outside(ladder_and_triangles):
    page = page_of(*ladder_and_triangles)
    for tag, attributes in tags_of(page):
        assert tag not in {"iframe", "object", "embed", "img", "base"}
        for name in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith(("#", "data:,")), (tag, name, value)
    assert "@import" not in page
    assert "url(http" not in page
    assert "default-src 'none'" in page


def test_the_script_of_the_data_is_what_the_library_says(ladder_and_triangles):
    first, second = ladder_and_triangles
    data = data_of(page_of(first, second))
    assert data["graphs"][0]["sizes"][2] == [3] * 6
    assert data["graphs"][1]["sizes"][2] == [5] * 6
    assert data["start"] == 2
    assert [found["difference"] for found in data["rounds"]][:3] == ["", "", "twin"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_and_names_stay_text(text):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: text, 1: "b", 2: "b"}, "l")
    nx.set_edge_attributes(graph, text, "e")
    batch = GraphBatch.from_networkx([graph], node_label="l", edge_label="e")
    harmless = page_of(*[Dataset("g", load_dataset("graph6:Bg").graphs, names=("x",))] * 2)
    page = page_of(Dataset("g", batch, names=(text,)), Dataset("g", batch, names=("other",)))
    allowed = {tag for tag, _ in tags_of(harmless)}
    assert {tag for tag, _ in tags_of(page)} <= allowed
    assert not [name for _, attributes in tags_of(page) for name in attributes if name.startswith("on")]
    assert page.count("<script") == harmless.count("<script") == 2
    assert "49" not in re.findall(r"<bdi>(.*?)</bdi>", page)
    shown = data_of(page)["labels"]
    assert text in shown or any(label.endswith("…") and text.startswith(label[:-1]) for label in shown)


def test_large_graphs_are_not_drawn_and_the_page_says_so():
    graphs = [nx.gnp_random_graph(401, 0.01, seed=seed) for seed in (1, 2)]
    first, second = (Dataset("g", GraphBatch.from_networkx([g]), names=("g",)) for g in graphs)
    page = page_of(first, second)
    assert "Graphs of more than 400 nodes are not drawn" in page
    assert data_of(page)["graphs"] == []
    assert 'class="node"' not in page


def test_very_many_colours_are_cut_and_those_that_differ_come_first():
    graphs = [nx.gnp_random_graph(900, 0.02, seed=seed) for seed in (1, 2)]
    first, second = (Dataset("g", GraphBatch.from_networkx([g]), names=("g",)) for g in graphs)
    last = data_of(page_of(first, second))["rounds"][-1]
    assert len(last["rows"]) == 400
    assert last["left_out"] > 0


def test_molecules_are_drawn_as_molecules():
    pytest.importorskip("rdkit", reason="needs RDKit")
    page = page_of(
        load_dataset("smiles:CCO", atoms="constitution"), load_dataset("smiles:CCN", atoms="constitution")
    )
    assert re.search(r'class="element el-O"[^>]*>O<', page)
    assert re.search(r'class="element el-N"[^>]*>N<', page)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_tiny_and_empty_graphs_have_a_page(edges):
    graph = Dataset("g", GraphBatch.from_edges([edges]), names=("tiny",))
    assert "Not told apart" in page_of(graph, graph)


def test_directed_graphs_have_arrows():
    graph = Dataset("g", GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=True), names=("d",))
    assert "marker-end" in page_of(graph, graph)


def test_the_same_input_gives_the_same_bytes(ladder_and_triangles):
    assert page_of(*ladder_and_triangles) == page_of(*ladder_and_triangles)


def test_writing_is_all_or_nothing(tmp_path, ladder_and_triangles):
    first, second = ladder_and_triangles
    comparison = compare(first.graphs, second.graphs)
    path = tmp_path / "page.html"
    write_page(path, compare_page(first, second, comparison))
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(TwinWLError, match="cannot write"):
        write_page(tmp_path / "nowhere" / "page.html", compare_page(first, second, comparison))


def test_where_there_are_many_colours_those_that_differ_come_first():
    shared = [nx.star_graph(60), nx.path_graph(25)]
    parts = [[*shared, nx.cycle_graph(6)], [*shared, nx.cycle_graph(3), nx.cycle_graph(3)]]
    first, second = (
        Dataset("g", GraphBatch.from_networkx([nx.disjoint_union_all(part)]), names=("g",)) for part in parts
    )
    page = compare_page(first, second, compare(first.graphs, second.graphs), n_iter=12)
    rows = data_of(page)["rounds"][12]["rows"]
    assert len(rows) > 10
    assert rows[0]["differs"]
    assert rows[0]["slot"] > 0  # it would stand elsewhere in the order of the slots
    differing = [row["differs"] for row in rows]
    assert differing == sorted(differing, reverse=True)
