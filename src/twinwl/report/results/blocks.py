"""The content of a results page, independent of its format: the same for HTML and Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from twinwl.report.drawing.svg import Canvas


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A bulleted list of sentences."""

    items: list[str]


@dataclass(frozen=True)
class PlainTable:
    """A table of text; the first column is a heading, the others are figures unless ``words`` names them."""

    header: list[str]
    rows: list[list[str]]
    words: frozenset[int] = frozenset()


@dataclass(frozen=True)
class AccuracyCell:
    """Mean and standard deviation in per cent, and number of runs; ``text`` replaces a missing mean."""

    mean: float | None = None
    std: float | None = None
    runs: str = ""
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class AccuracyLine:
    """One reading of a method on all data sets; ``kind`` is a protocol or ``"paper"``."""

    kind: str
    label: str
    cells: list[AccuracyCell]


@dataclass(frozen=True)
class AccuracyGroup:
    """A method with its readings."""

    title: str
    note: str
    lines: list[AccuracyLine]
    highlighted: bool = False


@dataclass(frozen=True)
class AccuracyTable:
    """Methods by data sets."""

    datasets: list[str]
    groups: list[AccuracyGroup]


@dataclass(frozen=True)
class Drawings:
    """Pictures side by side, what they show, and the figures behind them as a table.

    Attributes
    ----------
    canvases : list of Canvas
    caption : str
    legend : list of (class, text)
        Marks and their meaning.
    table : PlainTable or None
        The figures, collapsed below the pictures.
    size : str
        ``"small"`` (three abreast on a large screen), ``"medium"`` (two) or ``"wide"`` (one).
    name : str
        Name of the file that Markdown shows; if empty, Markdown shows only the table.
    """

    canvases: list[Canvas]
    caption: str
    legend: list[tuple[str, str]] = field(default_factory=list)
    table: PlainTable | None = None
    size: str = "small"
    name: str = ""

    @property
    def title(self) -> str:
        """Description of all pictures, for screen readers."""
        return "; ".join(canvas.title for canvas in self.canvases)


Block: TypeAlias = "Paragraph | Bullets | PlainTable | AccuracyTable | Drawings"


@dataclass(frozen=True)
class Section:
    """A part of the page, with a title and an anchor."""

    anchor: str
    title: str
    blocks: list[Block]


@dataclass(frozen=True)
class Page:
    """A whole results page.

    Attributes
    ----------
    title : str
    lede : list of str
        Introduction.
    highlights : list of (figure, what it is)
        A few figures in large type.
    sections : list of Section
    made_by : list of str
        How it was made: commands, versions.
    findings : list of str
        Summary of the page in a few sentences.
    kind : str
        What the page is about, in small type above its title.
    """

    title: str
    lede: list[str]
    highlights: list[tuple[str, str]]
    sections: list[Section]
    made_by: list[str]
    findings: list[str] = field(default_factory=list)
    kind: str = "results"
