"""Differences between two methods with their intervals: what the folds can prove lies clear of zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.evaluation.significance import p_value_text
from twinwl.paper.charts import family
from twinwl.report.drawing.axes import widest_label
from twinwl.report.drawing.svg import Canvas, linear_ticks
from twinwl.report.wording import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.paper.findings import TwinAgainstWL

_WIDTH = 440.0
_TOP, _ROW, _BELOW = 52.0, 27.0, 50.0  # where rows begin, their height, and what an axis takes below them
_LARGE = 12.0  # points; on one axis with such a difference the others would all lie on zero


class DifferenceAxes(NamedTuple):
    """The ticks of large differences and of small ones, each empty where there are none."""

    large: list[float]
    small: list[float]


def difference_axes(found: Sequence[TwinAgainstWL]) -> DifferenceAxes:
    """Return axes that span all comparisons, so that charts side by side can be compared.

    >>> difference_axes([])
    DifferenceAxes(large=[], small=[])
    """
    ticks = []
    for large, least in ((True, 0.0), (False, 2.0)):
        ends = [
            _points(each) + sign * each.half_width
            for each in found
            if _is_large(each) == large
            for sign in (-1, 1)
        ]
        ticks.append(linear_ticks(min([-least, *ends]), max([least, *ends])) if ends else [])
    return DifferenceAxes(*ticks)


def difference_chart(found: Sequence[TwinAgainstWL], axes: DifferenceAxes) -> Canvas:
    """Draw one pair of methods on all data sets: the mean difference and its 95 % interval.

    Small differences stand on an enlarged axis of their own, below the large ones.

    Parameters
    ----------
    found
        Comparisons of the same two methods.
    axes
        Of `difference_axes`.

    >>> from twinwl.evaluation.significance import compare_scores
    >>> from twinwl.paper.findings import TwinAgainstWL
    >>> outcome = compare_scores([0.9, 0.8, 0.9], [0.8, 0.8, 0.8], ("STwin", "1-WL"))
    >>> found = [TwinAgainstWL("MUTAG", "stwin", "wl", 86.7, 80.0, outcome, 4.1)]
    >>> difference_chart(found, difference_axes(found)).markup().count("dot fair")
    1
    """
    names = found[0].comparison.names
    groups = [
        (ticks, [each for each in found if _is_large(each) == large])
        for large, ticks in ((True, axes.large), (False, axes.small))
    ]
    groups = [(ticks, rows) for ticks, rows in groups if rows]
    height = _TOP + _ROW * len(found) + _BELOW * len(groups)
    canvas = Canvas(_WIDTH, height, f"{names[0]} minus {names[1]}, in points of accuracy, by data set")
    canvas.text(0, 16, names[0], "title")
    canvas.text(0, 36, f"minus {names[1]}", "caption")
    ends = (
        14 + widest_label([each.dataset for each in found], ["other"] * len(found)),
        _WIDTH - 16 - widest_label([signed(_points(each), 1) for each in found], ["twin"] * len(found)),
    )
    top = _TOP
    for place, (ticks, rows) in enumerate(groups):
        title = "points of accuracy, fair" if place == 0 else "the others, enlarged"
        top = _put_group(canvas, rows, ticks, top, ends, title)
    return canvas


def _put_group(
    canvas: Canvas,
    rows: Sequence[TwinAgainstWL],
    ticks: Sequence[float],
    top: float,
    ends: tuple[float, float],
    title: str,
) -> float:
    """Draw comparisons on one axis, between its ends and from the top down; return where the next begins."""
    left, right = ends
    bottom = top + _ROW * len(rows)

    def x(points: float) -> float:
        return left + (points - ticks[0]) / (ticks[-1] - ticks[0]) * (right - left)

    for tick in ticks:
        canvas.line(x(tick), top, x(tick), bottom, "zero" if tick == 0 else "grid")
        canvas.text(x(tick), bottom + 17, f"{tick:+g}".replace("-", "−") if tick else "0", "tick middle")
    canvas.text((left + right) / 2, bottom + 36, title, "axis-title middle")
    for place, each in enumerate(rows):
        y, points, kind = top + _ROW * (place + 0.5), _points(each), family(each.twin)
        sure = "" if each.comparison.significant else " open"
        canvas.text(left - 14, y + 4, each.dataset, "label end")
        canvas.line(x(points - each.half_width), y, x(points + each.half_width), y, f"span {kind}")
        tip = f"{each.dataset}: {points:+.2f} points, {p_value_text(each.comparison.t_p_value)}"
        canvas.circle(x(points), y, 4.5, f"dot fair {kind}{sure}", tip=tip)
        canvas.text(canvas.width, y + 4, signed(points, 1), f"label end {kind}")
    return bottom + _BELOW


def _points(each: TwinAgainstWL) -> float:
    return 100 * each.comparison.difference


def _is_large(each: TwinAgainstWL) -> bool:
    return abs(_points(each)) > _LARGE
