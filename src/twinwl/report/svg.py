"""SVG shapes with CSS classes, so that the style sheet of the page decides how they look.

Paints for colours: light enough for dark numbers on them, and distinct for colour-blind readers.

The fills are Paul Tol's "light" scheme, made for filling labelled cells. From the tenth class on, a class
has a fill and a ring of another paint, so there are 81 combinations before any repeats.

Axes of charts, and labels of points that cover nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from math import ceil, floor, log10
from typing import Any, NamedTuple, TypeAlias

FILLS = (
    "#77aadd",  # blue
    "#ee8866",  # orange
    "#eedd88",  # yellow
    "#44bb99",  # mint
    "#ffaabb",  # pink
    "#bbcc33",  # pear
    "#99ddff",  # cyan
    "#aaaa00",  # olive
    "#dddddd",  # grey
)


class Paint(NamedTuple):
    """How a class of nodes is painted."""

    fill: str
    ring: str | None


def paint(slot: int) -> Paint:
    """Return the paint of a class.

    >>> paint(0), paint(9)
    (Paint(fill='#77aadd', ring=None), Paint(fill='#77aadd', ring='#ee8866'))
    """
    turn, place = divmod(slot % len(FILLS) ** 2, len(FILLS))
    return Paint(FILLS[place], FILLS[(place + turn) % len(FILLS)] if turn else None)


_TEMPLATES = files("twinwl.report") / "templates"
_STYLES = ("theme.css", "figures.css", "charts.css")
_MARGIN = 22.0
_CAPTION = 13.0  # its font size, as in figures.css
_RULERS = ("DejaVuSans", "DejaVuSerif")
_RULER = 1000.0  # the size in which letters are measured


class Canvas:
    """A picture made of shapes, in the order in which they are drawn.

    Parameters
    ----------
    width, height
        In the units of all coordinates.
    title
        Description of the picture for screen readers.

    >>> canvas = Canvas(20, 10, "a dot")
    >>> canvas.circle(5, 5, 2, "dot")
    >>> canvas.markup().partition(">")[2]
    '<circle class="dot" cx="5" cy="5" r="2"/></svg>'
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._shapes: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a straight line."""
        self._add(f'<line class="{kind}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>')

    def path(self, data: str, kind: str) -> None:
        """Draw a path."""
        self._add(f'<path class="{kind}" d="{data}"/>')

    def polyline(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Draw a line through points."""
        joined = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._add(f'<polyline class="{kind}" points="{joined}"/>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, radius: float = 0) -> None:
        """Draw a box."""
        self._add(
            f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" '
            f'rx="{_n(radius)}"/>'
        )

    def circle(self, x: float, y: float, radius: float, kind: str, *, fill: str = "", tip: str = "") -> None:
        """Draw a circle; ``tip`` is shown when pointed at."""
        colour = f' fill="{fill}"' if fill else ""
        inner = f"><title>{escape(tip)}</title></circle>" if tip else "/>"
        self._add(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"{colour}{inner}')

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Write text; its class says how it is anchored."""
        named = f' class="{kind}"' if kind else ""
        self._add(f'<text{named} x="{_n(x)}" y="{_n(y)}">{escape(text)}</text>')

    def note(self, text: str) -> None:
        """Write a caption below everything, in as many lines as needed, and extend the canvas."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if text_width(longer, _CAPTION) <= self.width:
                lines[-1] = longer
            else:
                lines.append(word)
        self.height += 8
        for line in lines:
            self.height += 18
            self.text(0, self.height - 4, line, "caption")

    def put(self, other: Canvas, x: float, y: float) -> None:
        """Put a whole picture on this one, with its upper left corner at (x, y)."""
        self._add(f'<g transform="translate({_n(x)} {_n(y)})">{"".join(other._shapes)}</g>')

    def markup(self, style: str = "", margin: float = 0.0) -> str:
        """Return the picture as an SVG element; with a style sheet it is self-contained."""
        width, height = _n(self.width + 2 * margin), _n(self.height + 2 * margin)
        inside = f"<style>{style}</style>" if style else ""
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="{_n(-margin)} {_n(-margin)} {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{escape(self.title)}">{inside}{"".join(self._shapes)}</svg>'
        )

    def _add(self, shape: str) -> None:
        self._shapes.append(shape)


def standalone(canvas: Canvas) -> str:
    """Return a picture with its style sheet and background.

    >>> "prefers-color-scheme" in standalone(Canvas(10, 10, "nothing"))
    True
    """
    style = "".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in _STYLES)
    return canvas.markup(style + "svg { background: var(--card); }", _MARGIN) + "\n"


def sheet(canvases: Sequence[Canvas], columns: int, title: str, gap: float = 36.0) -> Canvas:
    """Put pictures on one canvas, row by row.

    >>> sheet([Canvas(10, 5, "a"), Canvas(12, 5, "b"), Canvas(9, 7, "c")], 2, "all", gap=1).height
    13
    """
    rows = [canvases[first : first + columns] for first in range(0, len(canvases), columns)]
    wide = max(canvas.width for canvas in canvases)
    heights = [max(canvas.height for canvas in row) for row in rows]
    across = len(rows[0])
    whole = Canvas(across * wide + gap * (across - 1), sum(heights) + gap * (len(rows) - 1), title)
    for number, row in enumerate(rows):
        for place, canvas in enumerate(row):
            whole.put(canvas, (wide + gap) * place, sum(heights[:number]) + gap * number)
    return whole


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of text in the widest of the common fonts, DejaVu Sans and DejaVu Serif.

    Browsers use these on machines with few fonts; in other fonts the text is narrower.

    Parameters
    ----------
    text
        One line.
    size
        Font size.
    bold
        Whether the text is bold, which is wider.

    >>> text_width("NTwin", 12) > text_width("iii", 12)
    True
    >>> text_width("NTwin", 12, bold=True) > text_width("NTwin", 12)
    True
    """
    return size * sum(_advance(letter, bold=bold) for letter in text)


def linear_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers that cover a range.

    >>> linear_ticks(52, 97)
    [50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    """
    span = max(high - low, 1e-9)
    step = 10 ** floor(log10(span / most))
    while span / step > most:
        step *= 2 if str(step / 10 ** floor(log10(step)))[0] != "2" else 2.5
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(tick * step, 10) for tick in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten that cover a range.

    >>> log_ticks(0.03, 20)
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    return [10.0**power for power in range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)]


@cache
def _advance(letter: str, *, bold: bool) -> float:
    """Return the largest advance width of a letter, in units of the font size."""
    fonts = [font for font in _fonts(bold=bold) if ord(letter) in font.get_charmap()]
    # A letter of another script comes from another font; few are wider than they are high.
    return max(
        (font.load_char(ord(letter)).linearHoriAdvance / 65536 / _RULER for font in fonts), default=1.0
    )


@cache
def _fonts(*, bold: bool) -> list[Any]:
    """Return the fonts that come with matplotlib, so that the result is the same on every machine."""
    from matplotlib import get_data_path  # noqa: PLC0415  (heavy)
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415

    weight = "-Bold" if bold else ""
    fonts = [FT2Font(f"{get_data_path()}/fonts/ttf/{name}{weight}.ttf") for name in _RULERS]
    for font in fonts:
        font.set_size(_RULER, 72)
    return fonts


def _n(value: float) -> str:
    """Write a coordinate with as few digits as it needs."""
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: never "-0"


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
