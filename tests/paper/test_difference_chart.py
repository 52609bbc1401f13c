"""No difference is cut off by its axis, and none is flattened by a larger one."""

from __future__ import annotations

import re

import pytest

from twinwl.evaluation.significance import compare_scores
from twinwl.paper.charts import difference_axes, difference_chart, differences_by_set
from twinwl.paper.findings import TwinAgainstWL


def against(dataset, points, half_width=0.4):
    ours, theirs = [0.5 + points / 100] * 3, [0.5] * 3
    outcome = compare_scores(ours, theirs, ("STwin-GNN", "1-WL"))
    return TwinAgainstWL(dataset, "stwin", "wl", 50 + points, 50.0, outcome, half_width)


def drawn(found):
    """Return where the dots are, what is written, and how wide the chart is."""
    canvas = difference_chart(found, difference_axes(found))
    places = re.findall(r'<circle class="dot[^"]*" cx="([\d.]+)" cy="([\d.]+)"', canvas.markup())
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", canvas.markup())
    return [(float(x), float(y)) for x, y in places], texts, canvas.width


def test_a_large_difference_is_on_its_axis_and_small_ones_are_enlarged():
    (large, small, minus), texts, width = drawn(
        [against("TWINS", 49.7), against("MUTAG", 0.5), against("NCI1", -0.5)]
    )
    assert {"+49.70", "+0.50", "−0.50", "the others, enlarged"} <= set(texts)
    assert 0.6 * width < large[0] < width
    assert small[0] - minus[0] > 0.1 * width  # one point, on an axis of four
    assert large[1] < small[1] < minus[1]


@pytest.mark.parametrize("points", [(0.5, -1.0, 3.0), (49.7, 20.0)])
def test_differences_of_one_size_share_one_axis(points):
    places, texts, _ = drawn([against(f"set {value}", value) for value in points])
    assert texts.count("points of accuracy, fair") == 1
    assert "the others, enlarged" not in texts
    by_value = [x for _, (x, _) in sorted(zip(points, places, strict=True))]
    assert by_value == sorted(by_value)


def test_charts_side_by_side_have_the_same_axes():
    found = [against("TWINS", 49.7), against("MUTAG", 0.5), against("NCI1", -3.5)]
    axes = difference_axes(found)
    assert (axes.large[0], axes.small[0]) == (0, -4)
    assert axes.large[-1] >= 50.1
    assert axes == difference_axes(found[::-1])


def test_a_large_loss_is_shown_left_of_zero():
    axes = difference_axes([against("TWINS", -30.0), against("EXP", 20.0)])
    assert axes.large[0] <= -30.4
    assert axes.large[-1] >= 20.4
    assert axes.small == []


def test_several_classifiers_stand_below_one_name_of_the_set():
    found = [
        against(name, points)._replace(twin=twin)
        for twin, points in (("stwin-svc", 0.5), ("stwin", -0.5), ("ntwin", 49.0))
        for name in ("MUTAG", "NCI1")
    ]
    markup = differences_by_set(found).markup()
    rows = re.findall(r'<circle class="dot fair (\w+)[^"]*" cx="([\d.]+)" cy="([\d.]+)"', markup)[3:]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", markup)
    assert [kind for kind, _, _ in rows] == ["ntwin", "ntwin", "joint", "stwin", "joint", "stwin"]
    heights = [float(y) for _, _, y in rows]
    assert heights == sorted(heights)
    assert float(rows[2][1]) > float(rows[3][1])  # half a point above 1-WL, and half a point below
    assert texts.count("MUTAG") == texts.count("NCI1") == 2  # once on each axis
