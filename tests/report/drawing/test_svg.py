from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from twinwl.report.svg import Canvas, linear_ticks, log_ticks, sheet


def test_text_and_tips_are_escaped():
    canvas = Canvas(10, 10, 'a "<title>"')
    canvas.text(1, 1, "<b> & co", "label")
    canvas.circle(1, 1, 1, "dot", tip="<script>")
    root = ET.fromstring(canvas.markup())  # noqa: S314  (our own)
    assert root.find("{*}text").text == "<b> & co"
    assert root.find("{*}circle/{*}title").text == "<script>"


@pytest.mark.parametrize(("low", "high"), [(0, 1), (49.2, 101), (-6.3, 4.1), (83.1, 83.2), (1e-3, 7e4)])
def test_linear_ticks_cover_the_range_and_are_few(low, high):
    ticks = linear_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 8
    assert all(later > earlier for earlier, later in pairwise(ticks))


def test_log_ticks_are_powers_of_ten():
    assert log_ticks(0.05, 3) == [0.01, 0.1, 1.0, 10.0]


def test_a_sheet_puts_pictures_side_by_side_and_below():
    pictures = [Canvas(10, 5, "a"), Canvas(10, 8, "b"), Canvas(10, 5, "c")]
    root = ET.fromstring(sheet(pictures, 2, "all", gap=2).markup())  # noqa: S314  (our own)
    assert [group.get("transform") for group in root.findall("{*}g")] == [
        "translate(0 0)", "translate(12 0)", "translate(0 10)",
    ]  # fmt: skip
    assert root.get("viewBox") == "0 0 22 15"
