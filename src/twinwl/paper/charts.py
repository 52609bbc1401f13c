"""The charts of the results page: protocols, cost of accuracy, pairs told apart, differences of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING, NamedTuple

from twinwl.evaluation.significance import p_value_text
from twinwl.paper.result_cells import signed
from twinwl.paper.tables import TITLES, Reported
from twinwl.report.svg import (
    Canvas,
    Point,
    frame_of,
    labelled_points,
    linear_ticks,
    log_axis,
    seconds_text,
    text_width,
    widest_label,
    x_axis,
    y_axis,
)

if TYPE_CHECKING:
    from twinwl.paper.findings import TwinAgainstWL
    from twinwl.paper.result_cells import ResultCell

_WIDTH = 360.0
_WIDE = 440.0  # a chart full of labels needs room
_TICK = 12.0  # font size of ticks, as in charts.css
_MARKS = {"fair": 5.5, "best-epoch": 4.0, "best-fold-epoch": 5.5}
_FAMILIES = {
    "stwin": "stwin", "stwin-joint": "stwin", "stwin-svc": "stwin", "STwin": "stwin", "ntwin": "ntwin",
    "STwin, joint counts": "joint", "wl": "wl", "wl-svc": "wl", "wl-kernel": "wl", "wl-oa": "wl",
    "wl-encoder": "wl", "1-WL": "wl",
}  # fmt: skip

_DIFFERENCE_WIDTH = 440.0
_TOP, _ROW, _BELOW = 52.0, 27.0, 50.0  # where rows begin, their height, and what an axis takes below them
_BY_SET_WIDTH, _LOW_ROW = 600.0, 19.0
_KIND_OF_CLASSIFIER = {"stwin-svc": "joint", "stwin": "stwin", "ntwin": "ntwin"}  # one colour each
_LARGE = 12.0  # points; on one axis with such a difference the others would all lie on zero


def family(method: str) -> str:
    """Return the class by which a method is coloured: the Twins, 1-WL, and all others.

    >>> family("stwin-svc"), family("gin")
    ('stwin', 'other')
    """
    return _FAMILIES.get(method, "other")


def protocol_chart(dataset: str, cells: Sequence[ResultCell], reported: Mapping[str, Reported]) -> Canvas:
    """Draw the protocols side by side for one data set: a row per method.

    Parameters
    ----------
    dataset
        Its name, the title.
    cells
        What was run on it.
    reported
        The paper's figures, by method.
    """
    titles = [TITLES.get(cell.method, cell.method) for cell in cells]
    kinds = [family(cell.method) for cell in cells]
    left, top, row_height = 12 + widest_label(titles, kinds), 40.0, 25.0
    width, bottom = left + 210, top + row_height * len(cells)
    canvas = Canvas(width, bottom + 34, f"{dataset}: accuracy of each method under each protocol")
    values = [100 * reading.mean for cell in cells for reading in cell.readings.values()]
    values += [reported[cell.method].mean for cell in cells if cell.method in reported]
    ticks = _percent_ticks(values)
    frame = frame_of(left, top, width - 18, bottom, (ticks[0], ticks[-1]), (0, 1))
    canvas.text(0, 16, dataset, "title")
    x_axis(canvas, frame, [(tick, f"{tick:g}") for tick in ticks])
    for place, (cell, title, kind) in enumerate(zip(cells, titles, kinds, strict=True)):
        y = top + row_height * (place + 0.5)
        canvas.text(left - 12, y + 4, title, f"label end {kind}")
        places = [frame.x(100 * reading.mean) for reading in cell.readings.values()]
        canvas.line(min(places), y, max(places), y, f"span {kind}")
        if cell.method in reported:
            x, theirs = frame.x(reported[cell.method].mean), reported[cell.method]
            canvas.line(x, y - 8, x, y + 8, "paper")
            canvas.circle(x, y, 7, "hit", tip=f"{title}, paper: {theirs.mean:.2f} ± {theirs.std:.2f}")
        for protocol, reading in reversed(cell.readings.items()):
            tip = f"{title}, {protocol}: {100 * reading.mean:.2f} ± {100 * reading.std:.2f}"
            canvas.circle(frame.x(100 * reading.mean), y, _MARKS[protocol], f"dot {protocol} {kind}", tip=tip)
    return canvas


def cost_chart(dataset: str, cells: Sequence[ResultCell]) -> Canvas:
    """Draw fair accuracy against the seconds of one fit, on a logarithmic axis."""
    # The more methods, the more room their names need.
    bottom = 230 + 8 * len(cells)
    canvas = Canvas(_WIDE, bottom + 48, f"{dataset}: fair accuracy against seconds of one fit")
    seconds = [max(cell.seconds, 1e-3) for cell in cells]
    accuracies = [100 * cell.readings["fair"].mean for cell in cells]
    ticks, (ends, powers) = _percent_ticks(accuracies), log_axis(seconds)
    frame = frame_of(44, 40, _WIDE - 18, bottom, ends, (ticks[0], ticks[-1]))
    canvas.text(0, 16, dataset, "title")
    y_axis(canvas, frame, [(tick, f"{tick:g}") for tick in ticks])
    x_axis(canvas, frame, [(log10(power), seconds_text(power)) for power in powers])
    canvas.text((frame.left + frame.right) / 2, bottom + 40, "time of one fit", "axis-title middle")
    points = [
        Point(log10(x), y, title, family(cell.method), f"{title}: {y:.2f} %, {x:.2f} s")
        for cell, x, y in zip(cells, seconds, accuracies, strict=True)
        for title in (TITLES.get(cell.method, cell.method),)
    ]
    labelled_points(canvas, frame, points)
    return canvas


def pairs_chart(counts: Mapping[str, Mapping[int, int]], n_pairs: int, dataset: str) -> Canvas:
    """Draw how many pairs each kind of feature tells apart, round by round."""
    canvas = Canvas(_WIDTH, 300, f"{dataset}: pairs told apart after h rounds, of {n_pairs}")
    rounds = sorted({h for found in counts.values() for h in found})
    names = {name: name.partition(",")[2].strip() or name for name in counts}
    margin = 12 + widest_label(names.values(), [family(name) for name in names])
    frame = frame_of(44, 40, _WIDTH - margin, 254, (rounds[0], rounds[-1]), (0, n_pairs))
    canvas.text(0, 16, f"{dataset}: pairs told apart, of {n_pairs}", "title")
    y_axis(canvas, frame, [(tick, f"{tick:g}") for tick in linear_ticks(0, n_pairs, 4) if tick <= n_pairs])
    x_axis(canvas, frame, [(h, str(h)) for h in rounds])
    canvas.text((frame.left + frame.right) / 2, 292, "rounds h", "axis-title middle")
    ends: list[float] = []
    # Curves may lie on one another: the thicker ones come first, so that all can be seen.
    for place, (name, found) in enumerate(reversed(list(counts.items()))):
        points = [(frame.x(h), frame.y(found[h])) for h in sorted(found)]
        canvas.polyline(points, f"curve width-{len(counts) - place} {family(name)}")
        for h, (x, y) in zip(sorted(found), points, strict=True):
            tip = f"{name}, h = {h}: {found[h]} of {n_pairs}"
            canvas.circle(x, y, 3 + (len(counts) - place - 1), f"dot fair {family(name)}", tip=tip)
        label_y = points[-1][1]
        while any(abs(label_y - other) < 15 for other in ends):  # noqa: PLR2004
            label_y += 15
        ends.append(label_y)
        canvas.text(frame.right + 12, label_y + 4, names[name], f"label {family(name)}")
    return canvas


def growth_chart(title: str, unit: str, points: Sequence[tuple[float, float]]) -> Canvas:
    """Draw seconds against size, both logarithmic, beside what growing linearly would look like."""
    canvas = Canvas(_WIDTH, 300, f"{title}: seconds against number of {unit}")
    sizes, seconds = [size for size, _ in points], [second for _, second in points]
    (x_ends, across), (y_ends, up) = log_axis(sizes), log_axis(seconds)
    left = 8 + max(text_width(seconds_text(power), _TICK) for power in up)
    right = text_width(_short(across[-1]), _TICK) / 2
    frame = frame_of(left, 40, _WIDTH - right, 254, x_ends, y_ends)
    canvas.text(0, 16, title, "title")
    y_axis(canvas, frame, [(log10(power), seconds_text(power)) for power in up])
    x_axis(canvas, frame, [(log10(power), _short(power)) for power in across])
    canvas.text((frame.left + frame.right) / 2, 292, unit, "axis-title middle")
    guide = [(size, seconds[0] * size / sizes[0]) for size in (sizes[0], sizes[-1])]
    canvas.polyline([(frame.x(log10(x)), frame.y(log10(y))) for x, y in guide], "guide")
    drawn = [(frame.x(log10(x)), frame.y(log10(y))) for x, y in points]
    canvas.polyline(drawn, "curve width-1 stwin")
    for (x, y), (size, second) in zip(drawn, points, strict=True):
        canvas.circle(x, y, 5, "dot fair stwin", tip=f"{size:,.0f} {unit}: {seconds_text(second)}")
    return canvas


def _percent_ticks(values: Sequence[float]) -> list[float]:
    """Return ticks for accuracies; none lies beyond 100 %, for there is nothing to be had."""
    ticks = linear_ticks(min(values) - 1, min(max(values) + 1, 100))
    return [tick for tick in ticks if tick <= 100]  # noqa: PLR2004


def _short(number: float) -> str:
    return f"{number / 1e6:,.0f} million" if number >= 1e6 else f"{number:,.0f}"  # noqa: PLR2004


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
            each.points + sign * each.half_width
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
    groups = _by_size(found, axes)
    canvas = Canvas(
        _DIFFERENCE_WIDTH,
        _TOP + _ROW * len(found) + _BELOW * len(groups),
        f"{names[0]} minus {names[1]}, in points of accuracy, by data set",
    )
    canvas.text(0, 16, names[0], "title")
    canvas.text(0, 36, f"minus {names[1]}", "caption")
    _put_groups(canvas, groups)
    return canvas


def differences_by_set(found: Sequence[TwinAgainstWL]) -> Canvas:
    """Draw several pairs of methods in one chart, by data set: mean differences and their 95 % intervals.

    Parameters
    ----------
    found
        Comparisons with one 1-WL per classifier; those of one data set stand together.

    >>> from twinwl.evaluation.significance import compare_scores
    >>> from twinwl.paper.findings import TwinAgainstWL
    >>> outcome = compare_scores([0.9, 0.8, 0.9], [0.8, 0.8, 0.8], ("STwin", "1-WL"))
    >>> found = [TwinAgainstWL("MUTAG", twin, "wl", 86.7, 80.0, outcome, 4.1) for twin in ("stwin", "ntwin")]
    >>> differences_by_set(found).markup().count("dot fair")
    4
    """
    sets = list(dict.fromkeys(each.dataset for each in found))
    together = sorted(found, key=lambda each: sets.index(each.dataset))
    groups = _by_size(together, difference_axes(found))
    canvas = Canvas(
        _BY_SET_WIDTH,
        _TOP + _LOW_ROW * len(found) + _BELOW * len(groups),
        "Twin minus 1-WL under the same classifier, in points of accuracy, by data set",
    )
    canvas.text(0, 16, "Twin minus 1-WL under the same classifier", "title")
    left = 0.0
    for twin, name in {each.twin: each.comparison.names[0] for each in found}.items():
        canvas.circle(left + 5, 32, 4.5, f"dot fair {_KIND_OF_CLASSIFIER[twin]}")
        canvas.text(left + 15, 36, name, "caption")
        left += 42 + text_width(name, 13)
    _put_groups(canvas, groups, by_set=True)
    return canvas


def _by_size(
    found: Sequence[TwinAgainstWL], axes: DifferenceAxes
) -> list[tuple[list[float], list[TwinAgainstWL]]]:
    """Return the large differences and the small ones, each with its ticks; leave out what is empty."""
    groups = [
        (ticks, [each for each in found if _is_large(each) == large])
        for large, ticks in ((True, axes.large), (False, axes.small))
    ]
    return [(ticks, rows) for ticks, rows in groups if rows]


def _put_groups(
    canvas: Canvas, groups: Sequence[tuple[list[float], list[TwinAgainstWL]]], *, by_set: bool = False
) -> None:
    found = [each for _, rows in groups for each in rows]
    figures = [signed(each.points) for each in found]
    ends = (
        14 + widest_label([each.dataset for each in found], ["other"] * len(found)),
        canvas.width - 16 - widest_label(figures, ["twin"] * len(found)),
    )
    top = _TOP
    for place, (ticks, rows) in enumerate(groups):
        title = "points of accuracy, fair" if place == 0 else "the others, enlarged"
        top = _put_group(canvas, rows, ticks, top, ends, title, by_set=by_set)


def _put_group(
    canvas: Canvas,
    rows: Sequence[TwinAgainstWL],
    ticks: Sequence[float],
    top: float,
    ends: tuple[float, float],
    title: str,
    *,
    by_set: bool,
) -> float:
    """Draw comparisons on one axis, between its ends and from the top down; return where the next begins."""
    left, right = ends
    row = _LOW_ROW if by_set else _ROW
    bottom = top + row * len(rows)

    def x(points: float) -> float:
        return left + (points - ticks[0]) / (ticks[-1] - ticks[0]) * (right - left)

    for tick in ticks:
        canvas.line(x(tick), top, x(tick), bottom, "zero" if tick == 0 else "grid")
        canvas.text(x(tick), bottom + 17, f"{tick:+g}".replace("-", "−") if tick else "0", "tick middle")
    canvas.text((left + right) / 2, bottom + 36, title, "axis-title middle")
    before = ""
    for place, each in enumerate(rows):
        y, points = top + row * (place + 0.5), each.points
        kind = _KIND_OF_CLASSIFIER[each.twin] if by_set else family(each.twin)
        sure = "" if each.comparison.significant else " open"
        if each.dataset != before:
            canvas.text(left - 14, y + 4, each.dataset, "label end")
            if by_set and before:
                canvas.line(0, y - row / 2, canvas.width, y - row / 2, "grid")
            before = each.dataset
        canvas.line(x(points - each.half_width), y, x(points + each.half_width), y, f"span {kind}")
        tip = f"{each.dataset}: {signed(points)} points, {p_value_text(each.comparison.t_p_value)}"
        canvas.circle(x(points), y, 4.5, f"dot fair {kind}{sure}", tip=tip)
        canvas.text(canvas.width, y + 4, signed(points), f"label end {kind}")
    return bottom + _BELOW


def _is_large(each: TwinAgainstWL) -> bool:
    return abs(each.points) > _LARGE
