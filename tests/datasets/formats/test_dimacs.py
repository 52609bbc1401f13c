"""DIMACS files of undirected graphs, as benchmarks of colouring have them."""

from __future__ import annotations

import networkx as nx
import pytest

import twinwl as tw
from twinwl.errors import GraphInputError


def written(path, graph, *, both_ways=False):
    edges = [f"e {u + 1} {v + 1}" for u, v in graph.edges]
    edges += [f"e {v + 1} {u + 1}" for u, v in graph.edges if both_ways]
    path.write_text("\n".join(["c a comment", f"p edge {len(graph)} {graph.size()}", "", *edges]))
    return path


@pytest.mark.parametrize("both_ways", [False, True])
def test_graph_is_the_one_that_was_written(tmp_path, both_ways):
    graph = nx.mycielski_graph(4)
    graph.add_node(len(graph))  # without an edge
    path = written(tmp_path / "a.col", graph, both_ways=both_ways)
    assert tw.load_dataset(path).graphs.to_networkx()[0].edges == graph.edges
    assert tw.graph_hashes(tw.load_dataset(path).graphs) == [tw.graph_hash(graph)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e 1 2\n", "line 1: got 'e 1 2', expected one line 'p edge NODES EDGES'"),
        ("p edge 2 1\np edge 2 1\n", "line 2: got 'p edge 2 1'"),
        ("p edge 2 1\ne 1 3\n", "line 2: got 'e 1 3', expected nodes 1 to 2"),
        ("p edge 2 1\ne 0 1\n", "line 2: got 'e 0 1', expected nodes 1 to 2"),
        ("p edge 2 1\ne 1 x\n", "line 2: got 'e 1 x'"),
        (
            "p edge 3 2\ne 1 2\n",
            "has 1 edges, but no line 'p edge NODES EDGES' with that number; is it cut off",
        ),
        ("p sp 2 1\na 1 2 3\n", "line 1: got 'p sp 2 1'"),
        ("c nothing\n", "has 0 edges, but no line"),
    ],
)
def test_another_content_is_refused_at_its_line(tmp_path, text, message):
    (tmp_path / "a.col").write_text(text)
    with pytest.raises(GraphInputError, match=message):
        tw.load_dataset(tmp_path / "a.col")
