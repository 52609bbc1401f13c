from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from twinwl.report.svg import Canvas, linear_ticks, log_ticks


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
