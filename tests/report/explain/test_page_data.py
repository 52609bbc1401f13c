from __future__ import annotations

import numpy as np
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC
from twinwl.refinement.identities import rooted_sizes
from twinwl.report.explain import columns_shown, drawing_of, nodes_shown, percent
from twinwl.report.page import signed

RING, CHAIN = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (2, 3)]


@pytest.fixture(scope="module", params=["size", "joint"])
def model(request):
    graphs = GraphBatch.from_edges([RING, CHAIN] * 6)
    return STwinSVC(n_iter=2, C=1.0, features=request.param).fit(graphs, ["ring", "chain"] * 6)


def shown(model, edges):
    named = Dataset("g", GraphBatch.from_edges([edges]), names=("it",))
    explanation = model.explain(named.graphs, 20)
    drawing = drawing_of(named.graphs)
    return (
        named,
        explanation,
        drawing,
        columns_shown(explanation, drawing, None, model),
    )


def test_a_columns_nodes_are_those_it_counts(model):
    named, explanation, _, columns = shown(model, CHAIN)
    sizes = rooted_sizes(named.graphs, 2)
    assert len(columns) == len(explanation.columns) > 3
    for counted in (shown.column for shown in columns):
        h = counted.tree.depth
        expected = len(counted.nodes) if model.features == "joint" else sizes[h][list(counted.nodes)].sum()
        assert counted.value == expected


def test_the_neighbourhood_shown_is_the_identity_set_of_a_node(model):
    named, explanation, drawing, columns = shown(model, CHAIN)
    sizes = rooted_sizes(named.graphs, 2)
    for column, counted in zip(columns, explanation.columns, strict=True):
        assert column.root in counted.nodes
        assert len(column.around) == sizes[counted.tree.depth][column.root]
        x, y, width, height = column.frame
        inside = (drawing.points[column.around] >= (x, y)) & (
            drawing.points[column.around] <= (x + width, y + height)
        )
        assert inside.all()


def test_strength_is_relative_to_the_largest_share(model):
    _, explanation, drawing, _ = shown(model, CHAIN)
    nodes = nodes_shown(explanation, drawing)
    assert max(node.strength for node in nodes) == 1.0
    np.testing.assert_allclose([node.share for node in nodes], explanation.node_shares)


def test_a_large_graph_is_not_drawn():
    path = [(node, node + 1) for node in range(500)]
    assert drawing_of(GraphBatch.from_edges([path])) is None


def test_numbers_are_written_for_people():
    assert [signed(value) for value in (1.0, -0.5, -0.0001)] == ["+1.000", "−0.500", "0.000"]
    assert [percent(value) for value in (0.5, 0.994, 0.996, 0.001)] == [
        "50 %",
        "99 %",
        "over 99 %",
        "under 1 %",
    ]
