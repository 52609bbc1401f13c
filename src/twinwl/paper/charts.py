"""The charts of the results page: how much is protocol, what accuracy costs, and what features tell apart."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twinwl.paper.tables import TITLES
from twinwl.report.drawing.svg import Canvas, linear_ticks, log_ticks, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from twinwl.paper.reported import Reported
    from twinwl.report.results.cells import ResultCell

__all__ = ["cost_chart", "family", "growth_chart", "pairs_chart", "protocol_chart", "widest_label"]

_WIDTH = 360.0
_WIDE = 440.0  # a chart full of labels needs room
_LABEL = 12.5  # font sizes of labels and of ticks, as in charts.css
_TICK = 12.0
_BESIDE, _FARTHER = (9,), (18, 30, 44, 60, 78)  # how far a label may be from its point
_MARKS = {"fair": 5.5, "best-epoch": 4.0, "best-fold-epoch": 5.5}
_FAMILIES = {
    "stwin": "stwin", "stwin-joint": "stwin", "stwin-svc": "stwin", "STwin": "stwin", "ntwin": "ntwin",
    "STwin, joint counts": "joint", "wl": "wl", "wl-svc": "wl", "wl-kernel": "wl", "wl-oa": "wl",
    "wl-encoder": "wl", "1-WL": "wl",
}  # fmt: skip


_Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom


class _Frame(NamedTuple):
    """Where the data area lies, and how values become places in it."""

    left: float
    top: float
    right: float
    bottom: float
    x: Callable[[float], float]
    y: Callable[[float], float]


class _Spot(NamedTuple):
    """Where a label is written, how it is anchored there, and whether a line must lead to it."""

    x: float
    y: float
    anchor: str
    far: bool


def family(method: str) -> str:
    """Return the class by which a method is coloured: the Twins, 1-WL, and all others.

    >>> family("stwin-svc"), family("gin")
    ('stwin', 'other')
    """
    return _FAMILIES.get(method, "other")


def widest_label(texts: Iterable[str], kinds: Iterable[str]) -> float:
    """Return the room that labels of methods need, each of its family: only the others are not bold.

    >>> widest_label(["GCN", "STwin"], ["other", "stwin"]) == text_width("STwin", 12.5, bold=True)
    True
    """
    return max(
        text_width(text, _LABEL, bold=kind != "other") for text, kind in zip(texts, kinds, strict=True)
    )


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
    frame = _frame(left, top, width - 18, bottom, (ticks[0], ticks[-1]), (0, 1))
    canvas.text(0, 16, dataset, "title")
    _x_axis(canvas, frame, [(tick, f"{tick:g}") for tick in ticks])
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
    ticks, (ends, powers) = _percent_ticks(accuracies), _log_axis(seconds)
    frame = _frame(44, 40, _WIDE - 18, bottom, ends, (ticks[0], ticks[-1]))
    canvas.text(0, 16, dataset, "title")
    _y_axis(canvas, frame, [(tick, f"{tick:g}") for tick in ticks])
    _x_axis(canvas, frame, [(log10(power), _seconds(power)) for power in powers])
    canvas.text((frame.left + frame.right) / 2, bottom + 40, "time of one fit", "axis-title middle")
    places = [(frame.x(log10(x)), frame.y(y)) for x, y in zip(seconds, accuracies, strict=True)]
    dots = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    labels: list[_Box] = []
    order = sorted(range(len(cells)), key=lambda place: family(cells[place].method) == "other")
    titles = [TITLES.get(cell.method, cell.method) for cell in cells]
    spots: dict[int, _Spot | None] = dict.fromkeys(order)
    for reaches in (_BESIDE, _FARTHER):  # a label beside its own point goes before all that need a line
        for place in order:
            if spots[place] is None:
                width = widest_label([titles[place]], [family(cells[place].method)])
                spots[place] = _free_spot(width, places[place], frame, dots, labels, reaches)
    for place, spot in spots.items():
        if spot is not None and spot.far:
            canvas.line(*places[place], spot.x, spot.y, "leader")
    for place, spot in spots.items():
        kind = family(cells[place].method)
        tip = f"{titles[place]}: {accuracies[place]:.2f} %, {seconds[place]:.2f} s"
        canvas.circle(*places[place], 5, f"dot fair {kind}", tip=tip)
        if spot is not None:
            canvas.text(spot.x, spot.y + 4, titles[place], f"label {spot.anchor} {kind}")
    return canvas


def pairs_chart(counts: Mapping[str, Mapping[int, int]], n_pairs: int, dataset: str) -> Canvas:
    """Draw how many pairs each kind of feature tells apart, round by round."""
    canvas = Canvas(_WIDTH, 300, f"{dataset}: pairs told apart after h rounds, of {n_pairs}")
    rounds = sorted({h for found in counts.values() for h in found})
    names = {name: name.partition(",")[2].strip() or name for name in counts}
    margin = 12 + widest_label(names.values(), [family(name) for name in names])
    frame = _frame(44, 40, _WIDTH - margin, 254, (rounds[0], rounds[-1]), (0, n_pairs))
    canvas.text(0, 16, f"{dataset}: pairs told apart, of {n_pairs}", "title")
    _y_axis(canvas, frame, [(tick, f"{tick:g}") for tick in linear_ticks(0, n_pairs, 4) if tick <= n_pairs])
    _x_axis(canvas, frame, [(h, str(h)) for h in rounds])
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
    (x_ends, across), (y_ends, up) = _log_axis(sizes), _log_axis(seconds)
    left = 8 + max(text_width(_seconds(power), _TICK) for power in up)
    right = text_width(_short(across[-1]), _TICK) / 2
    frame = _frame(left, 40, _WIDTH - right, 254, x_ends, y_ends)
    canvas.text(0, 16, title, "title")
    _y_axis(canvas, frame, [(log10(power), _seconds(power)) for power in up])
    _x_axis(canvas, frame, [(log10(power), _short(power)) for power in across])
    canvas.text((frame.left + frame.right) / 2, 292, unit, "axis-title middle")
    guide = [(size, seconds[0] * size / sizes[0]) for size in (sizes[0], sizes[-1])]
    canvas.polyline([(frame.x(log10(x)), frame.y(log10(y))) for x, y in guide], "guide")
    drawn = [(frame.x(log10(x)), frame.y(log10(y))) for x, y in points]
    canvas.polyline(drawn, "curve width-1 stwin")
    for (x, y), (size, second) in zip(drawn, points, strict=True):
        canvas.circle(x, y, 5, "dot fair stwin", tip=f"{size:,.0f} {unit}: {_seconds(second)}")
    return canvas


def _frame(
    left: float,
    top: float,
    right: float,
    bottom: float,
    across: tuple[float, float],
    up: tuple[float, float],
) -> _Frame:
    def x(value: float) -> float:
        return left + (value - across[0]) / max(across[1] - across[0], 1e-12) * (right - left)

    def y(value: float) -> float:
        return bottom - (value - up[0]) / max(up[1] - up[0], 1e-12) * (bottom - top)

    return _Frame(left, top, right, bottom, x, y)


def _x_axis(canvas: Canvas, frame: _Frame, ticks: Sequence[tuple[float, str]]) -> None:
    for value, text in ticks:
        x = frame.x(value)
        canvas.line(x, frame.top, x, frame.bottom, "grid")
        canvas.text(x, frame.bottom + 18, text, "tick middle")


def _y_axis(canvas: Canvas, frame: _Frame, ticks: Sequence[tuple[float, str]]) -> None:
    for value, text in ticks:
        y = frame.y(value)
        canvas.line(frame.left, y, frame.right, y, "grid")
        canvas.text(frame.left - 8, y + 4, text, "tick end")


def _free_spot(
    width: float,
    point: tuple[float, float],
    frame: _Frame,
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


def _percent_ticks(values: Sequence[float]) -> list[float]:
    """Return ticks for accuracies; none lies beyond 100 %, for there is nothing to be had."""
    ticks = linear_ticks(min(values) - 1, min(max(values) + 1, 100))
    return [tick for tick in ticks if tick <= 100]  # noqa: PLR2004


def _log_axis(values: Sequence[float]) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of a logarithmic axis, as powers of ten, and its ticks: at least two of them."""
    low, high = min(values) / 1.4, max(values) * 1.4
    ticks = [tick for tick in log_ticks(low, high) if low <= tick <= high]
    if len(ticks) < 2:  # noqa: PLR2004
        ticks = log_ticks(low, high)
        low, high = ticks[0], ticks[-1]
    return (log10(low), log10(high)), ticks


def _short(number: float) -> str:
    return f"{number / 1e6:,.0f} million" if number >= 1e6 else f"{number:,.0f}"  # noqa: PLR2004


def _seconds(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"  # noqa: PLR2004
