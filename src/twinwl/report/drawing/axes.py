"""Axes of charts, and labels of points that cover nothing."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twinwl.report.drawing.svg import Canvas, log_ticks, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


_LABEL = 12.5  # font size of labels, as in charts.css
_BESIDE, _FARTHER = (9,), (18, 30, 44, 60, 78)  # how far a label may be from its point


_Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom


class Frame(NamedTuple):
    """Where the data area lies, and how values become places in it."""

    left: float
    top: float
    right: float
    bottom: float
    x: Callable[[float], float]
    y: Callable[[float], float]


class Point(NamedTuple):
    """A point of a chart: its place, its label, its family (for the colour) and its tip."""

    x: float
    y: float
    label: str
    family: str
    tip: str


class _Spot(NamedTuple):
    """Where a label is written, how it is anchored there, and whether a line must lead to it."""

    x: float
    y: float
    anchor: str
    far: bool


def frame_of(
    left: float, top: float, right: float, bottom: float, across: tuple[float, float], up: tuple[float, float]
) -> Frame:
    """Return a data area for values from ``across[0]`` to ``across[1]`` and from ``up[0]`` to ``up[1]``."""

    def x(value: float) -> float:
        return left + (value - across[0]) / max(across[1] - across[0], 1e-12) * (right - left)

    def y(value: float) -> float:
        return bottom - (value - up[0]) / max(up[1] - up[0], 1e-12) * (bottom - top)

    return Frame(left, top, right, bottom, x, y)


def x_axis(canvas: Canvas, frame: Frame, ticks: Sequence[tuple[float, str]]) -> None:
    """Draw a grid line and a text for each value on the axis below."""
    for value, text in ticks:
        x = frame.x(value)
        canvas.line(x, frame.top, x, frame.bottom, "grid")
        canvas.text(x, frame.bottom + 18, text, "tick middle")


def y_axis(canvas: Canvas, frame: Frame, ticks: Sequence[tuple[float, str]]) -> None:
    """Draw a grid line and a text for each value on the axis at the left."""
    for value, text in ticks:
        y = frame.y(value)
        canvas.line(frame.left, y, frame.right, y, "grid")
        canvas.text(frame.left - 8, y + 4, text, "tick end")


def labelled_points(canvas: Canvas, frame: Frame, points: Sequence[Point]) -> None:
    """Draw points with labels beside them; a line leads to a label for which there is no room there.

    Labels of the family ``"other"`` are placed last; a label without any room is left out.
    """
    places = [(frame.x(point.x), frame.y(point.y)) for point in points]
    dots = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    labels: list[_Box] = []
    order = sorted(range(len(points)), key=lambda place: points[place].family == "other")
    spots: dict[int, _Spot | None] = dict.fromkeys(order)
    for reaches in (_BESIDE, _FARTHER):  # a label beside its own point goes before all that need a line
        for place in order:
            if spots[place] is None:
                width = widest_label([points[place].label], [points[place].family])
                spots[place] = _free_spot(width, places[place], frame, dots, labels, reaches)
    for place, spot in spots.items():
        if spot is not None and spot.far:
            canvas.line(*places[place], spot.x, spot.y, "leader")
    for place, spot in spots.items():
        point = points[place]
        canvas.circle(*places[place], 5, f"dot fair {point.family}", tip=point.tip)
        if spot is not None:
            canvas.text(spot.x, spot.y + 4, point.label, f"label {spot.anchor} {point.family}")


def log_axis(values: Sequence[float]) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of a logarithmic axis, as powers of ten, and its ticks: at least two of them."""
    low, high = min(values) / 1.4, max(values) * 1.4
    ticks = [tick for tick in log_ticks(low, high) if low <= tick <= high]
    if len(ticks) < 2:  # noqa: PLR2004
        ticks = log_ticks(low, high)
        low, high = ticks[0], ticks[-1]
    return (log10(low), log10(high)), ticks


def seconds_text(value: float) -> str:
    """Write a time in milliseconds or seconds.

    >>> seconds_text(0.0123), seconds_text(4.5)
    ('12.3 ms', '4.5 s')
    """
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"  # noqa: PLR2004


def widest_label(texts: Iterable[str], kinds: Iterable[str]) -> float:
    """Return the room that labels of methods need, each of its family: only the others are not bold.

    >>> widest_label(["GCN", "STwin"], ["other", "stwin"]) == text_width("STwin", 12.5, bold=True)
    True
    """
    return max(
        text_width(text, _LABEL, bold=kind != "other") for text, kind in zip(texts, kinds, strict=True)
    )


def _free_spot(
    width: float,
    point: tuple[float, float],
    frame: Frame,
    dots: list[_Box],
    labels: list[_Box],
    reaches: Sequence[int],
) -> _Spot | None:
    """Return the nearest place where a label of some width covers nothing, and take it."""
    x, y = point
    far = reaches is not _BESIDE
    for reach in reaches:
        slant, half = 0.8 * reach + 2, 0.5 * reach
        shifts = [(reach, 0.0), (-reach, 0.0), (0.0, -reach - 5), (0.0, reach + 5)]
        shifts += [(dx, dy) for dx in (slant, -slant) for dy in (-slant, slant)]
        shifts += [(dx, dy) for dx in (half, -half) for dy in (-reach - 5, reach + 5)]
        for dx, dy in shifts:
            anchor = "middle" if dx == 0 else "start" if dx > 0 else "end"
            left = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            box = (left, y + dy - 7, left + width, y + dy + 7)
            ground = (left - 7, y + dy - 7, left + width + 7, y + dy + 7) if far else box
            inside = box[0] >= frame.left - 4 and box[2] <= frame.right + 18 and box[1] >= frame.top - 10
            covered = any(_overlap(ground, dot) for dot in dots)
            covered = covered or any(_overlap(box, label) for label in labels)
            if covered or not inside or box[3] > frame.bottom:
                continue
            # A line leads to a label that is not beside its point; it must not cross other labels.
            steps = [step / 8 for step in range(2, 8)] if far else []
            line = [(x + t * dx - 2, y + t * dy - 2, x + t * dx + 2, y + t * dy + 2) for t in steps]
            if not any(_overlap(part, other) for part in line for other in labels):
                labels += [box, *line]
                return _Spot(x + dx, y + dy, anchor, far)
    return None


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
