from __future__ import annotations

import networkx as nx
import pytest

from twinwl import GraphBatch
from twinwl.report.drawing import text_drawing


def test_every_node_is_there_with_its_label():
    labels = ["C", "N", "O", "Cl", "Br", "F"]
    drawn = text_drawing(GraphBatch.from_edges([[(n, n + 1) for n in range(5)]], node_labels=[labels]))
    for label in labels:
        assert label in drawn


def test_unlabelled_nodes_are_dots():
    drawn = text_drawing(GraphBatch.from_networkx([nx.cycle_graph(6)]))
    assert drawn.count("●") == 6


@pytest.mark.parametrize(
    "graph", [nx.path_graph(80), nx.grid_2d_graph(9, 9), nx.empty_graph(30), nx.star_graph(40)]
)
def test_drawing_fits_its_frame(graph):
    lines = text_drawing(GraphBatch.from_networkx([graph]), width=40, height=12).split("\n")
    assert len(lines) <= 12
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 40


def test_graphs_without_edges_and_without_nodes():
    assert text_drawing(GraphBatch.from_edges([[]], num_nodes=[1])).strip() == "●"
    assert text_drawing(GraphBatch.from_edges([[]], num_nodes=[0])) == "(no nodes)"


def test_edge_is_a_line_between_its_ends():
    drawn = text_drawing(GraphBatch.from_edges([[(0, 1)]], node_labels=[["A", "B"]]))
    assert drawn.strip("AB ")
    assert all(0x2800 < ord(letter) < 0x2900 for letter in drawn.strip(" ")[1:-1])
