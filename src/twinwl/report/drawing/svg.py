"""SVG shapes with CSS classes, so that the style sheet of the page decides how they look."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    >>> from twinwl.report.drawing.svg import Canvas
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
