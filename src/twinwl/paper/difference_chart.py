"""Differences between two methods with their intervals: what the folds can prove lies clear of zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.evaluation.significance import p_value_text
from twinwl.paper.charts import family
from twinwl.report.drawing.svg import Canvas, linear_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.paper.findings import TwinAgainstWL

__all__ = ["difference_chart", "difference_ticks"]

_WIDTH = 440.0
_LEFT, _TOP, _ROW = 98.0, 52.0, 27.0
_WIDEST = 12.0  # points; where 1-WL guesses, the difference would flatten all others


def difference_ticks(found: Sequence[TwinAgainstWL]) -> list[float]:
    """Return one axis for all comparisons, so that charts side by side can be compared.

    >>> difference_ticks([])
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    near = [each for each in found if abs(100 * each.comparison.difference) <= _WIDEST]
    ends = [100 * each.comparison.difference + sign * each.half_width for each in near for sign in (-1, 1)]
    return linear_ticks(min([-2.0, *ends]), max([2.0, *ends]))


def difference_chart(found: Sequence[TwinAgainstWL], ticks: Sequence[float]) -> Canvas:
    """Draw one pair of methods on all data sets: the mean difference and its 95 % interval.

    Parameters
    ----------
    found
        Comparisons of the same two methods.
    ticks
        Of `difference_ticks`.

    Examples
    --------
    >>> from twinwl.evaluation.significance import compare_scores
    >>> from twinwl.paper.findings import TwinAgainstWL
    >>> outcome = compare_scores([0.9, 0.8, 0.9], [0.8, 0.8, 0.8], ("STwin", "1-WL"))
    >>> found = [TwinAgainstWL("MUTAG", "stwin", "wl", 86.7, 80.0, outcome, 4.1)]
    >>> difference_chart(found, difference_ticks(found)).markup().count("dot fair")
    1
    """
    names = found[0].comparison.names
    bottom = _TOP + _ROW * len(found)
    canvas = Canvas(_WIDTH, bottom + 48, f"{names[0]} minus {names[1]}, in points of accuracy, by data set")
    canvas.text(0, 16, names[0], "title")
    canvas.text(0, 36, f"minus {names[1]}", "caption")
    right = _WIDTH - 22

    def x(points: float) -> float:
        return _LEFT + (points - ticks[0]) / (ticks[-1] - ticks[0]) * (right - _LEFT)

    for tick in ticks:
        canvas.line(x(tick), _TOP, x(tick), bottom, "zero" if tick == 0 else "grid")
        canvas.text(x(tick), bottom + 18, f"{tick:+g}".replace("-", "−") if tick else "0", "tick middle")
    canvas.text((_LEFT + right) / 2, bottom + 40, "points of accuracy, fair", "axis-title middle")
    for place, each in enumerate(found):
        y = _TOP + _ROW * (place + 0.5)
        points, kind = 100 * each.comparison.difference, family(each.twin)
        sure = "" if each.comparison.significant else " open"
        canvas.text(_LEFT - 14, y + 4, each.dataset, "label end")
        tip = f"{each.dataset}: {points:+.2f} points, {p_value_text(each.comparison.t_p_value)}"
        if abs(points) > _WIDEST:
            edge = right if points > 0 else _LEFT
            canvas.text(edge - 12 if points > 0 else edge + 12, y + 4, f"{points:+.1f}".replace("-", "−"),
                        f"label {kind}" + (" end" if points > 0 else ""))  # fmt: skip
            tip_x = 9 if points > 0 else -9
            canvas.path(
                f"M{edge:.1f} {y - 5:.1f} L{edge + tip_x:.1f} {y:.1f} L{edge:.1f} {y + 5:.1f} Z",
                f"more {kind}",
            )
            continue
        canvas.line(x(points - each.half_width), y, x(points + each.half_width), y, f"span {kind}")
        canvas.circle(x(points), y, 4.5, f"dot fair {kind}{sure}", tip=tip)
    return canvas
