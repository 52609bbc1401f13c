from __future__ import annotations

import numpy as np
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC, STwinSVR
from twinwl.report.explain import explain_all

RING, CHAIN, STAR = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
LONG = [(node, node + 1) for node in range(450)]


@pytest.fixture(scope="module")
def graphs():
    return GraphBatch.from_edges([RING, CHAIN, STAR] * 5)


@pytest.fixture(scope="module", params=[2, 3])
def model(request, graphs):
    names = ["ring", "chain", "star" if request.param == 3 else "chain"]
    return STwinSVC(n_iter=2, C=1.0).fit(graphs, names * 5)


def test_totals_are_sums_over_the_single_explanations(model, graphs):
    found = explain_all(model, Dataset("g", graphs), 5)
    totals, places = {}, {}
    for number in range(len(graphs)):
        for column in model.explain(graphs[number], 1000).columns:
            totals[column.name] = totals.get(column.name, 0) + abs(column.share)
            places.setdefault(column.name, []).append(number)
    expected = sorted(totals, key=lambda name: (-totals[name], name))[:5]
    assert [pattern.column.name for pattern in found.patterns] == expected
    for pattern in found.patterns:
        assert pattern.total == pytest.approx(totals[pattern.column.name])
        assert [place.graph for place in pattern.occurrences] == places[pattern.column.name]


def test_the_mean_is_in_favour_of_the_side(model, graphs):
    found = explain_all(model, Dataset("g", graphs), 5)
    for pattern in found.patterns:
        towards = []
        for place in pattern.occurrences:
            one = found.explanations[place.graph]
            direction = (one.sides[0] == pattern.side) - (one.sides[1] == pattern.side)
            towards.append(direction * place.share)
        assert abs(pattern.mean) == pytest.approx(np.mean(towards))


def test_a_regressors_patterns_raise_or_lower_the_number(graphs):
    model = STwinSVR(n_iter=1, C=1.0).fit(graphs, np.array([4.0, 1.0, 2.0] * 5))
    found = explain_all(model, Dataset("g", graphs), 4)
    assert {pattern.side for pattern in found.patterns} <= {"a higher number", "a lower number"}
    assert found.explanations[0].sides[0] == "a higher number"


def test_the_example_is_a_graph_that_can_be_drawn(graphs):
    model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain", "chain"] * 5)
    both = GraphBatch.from_edges([LONG, CHAIN])
    for pattern in explain_all(model, Dataset("g", both), 3).patterns:
        if {place.graph for place in pattern.occurrences} == {0, 1}:
            assert pattern.example == 1
            break
    else:
        pytest.fail("no pattern is in both graphs")
