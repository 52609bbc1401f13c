"""Cells of a results table, computed from stored rows.

The content of a results page, independent of its format: the same for HTML and Markdown.

A results page as Markdown: the same content, with tables where the page has charts.

A results page as one self-contained HTML file, for screens of all sizes and for print.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from markupsafe import Markup

from twinwl.evaluation.methods import METHODS, Config
from twinwl.evaluation.protocols import PROTOCOLS, Summary, summarise
from twinwl.files.atomic import errors_of_writing
from twinwl.report.html import rendered, templates, write_page
from twinwl.report.svg import Canvas, sheet, standalone

if TYPE_CHECKING:
    from twinwl.evaluation.store import Row

_GRIDS = ("paper", "compact", None)  # of equally complete ones the first is shown


@dataclass(frozen=True)
class ResultCell:
    """Results of one method on one data set.

    Attributes
    ----------
    dataset, method : str
    grid : str or None
        The grid that was searched; None for the default parameters.
    n_configs : int
        Number of configurations in it.
    readings : dict
        Protocol to `Summary`; protocols that do not apply to the method are missing.
    runs : tuple of (seed, fold)
        The folds that are complete, in the order of the fold scores.
    n_folds : int
        Number of folds of one repeat.
    seconds : float
        Median time of one fit; not the mean, because the first fit of a process also compiles.
    n_leaked : int
        Test graphs of the first repeat with an isomorphic copy in training.
    without_leaks : float or None
        Mean accuracy on the other test graphs; None if there are no such copies.
    """

    dataset: str
    method: str
    grid: str | None
    n_configs: int
    readings: dict[str, Summary]
    runs: tuple[tuple[int, int], ...]
    n_folds: int
    seconds: float
    n_leaked: int
    without_leaks: float | None

    @property
    def n_runs(self) -> int:
        """Number of folds over all repeats."""
        return len(self.runs)

    @property
    def partial(self) -> bool:
        """Whether folds of a repeat are still missing."""
        return self.n_runs % self.n_folds != 0


class Results:
    """Stored rows, from which cells are computed.

    Parameters
    ----------
    rows
        Of one or more stores.
    n_folds
        Rows of evaluations with another number of folds are not shown.

    >>> Results([]).cell("MUTAG", "stwin") is None
    True
    """

    def __init__(self, rows: Iterable[Row], n_folds: int = 10) -> None:
        self.rows = list(rows)
        self.n_folds = n_folds
        self._cells: dict[tuple[str, str], ResultCell | None] = {}
        self._of_cell: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            if row["splits"] == f"{n_folds} folds":
                self._of_cell[row["dataset"], row["method"]].append(row)

    def cell(self, dataset: str, method: str) -> ResultCell | None:
        """Return a cell, or None if there are no complete results."""
        key = dataset, method
        if key not in self._cells:  # a page asks for each of them many times
            self._cells[key] = result_cell(self._of_cell.get(key, []), self.n_folds)
        return self._cells[key]

    def of_kind(self, splits: str) -> list[Row]:
        """Return rows of another kind than folds."""
        return [row for row in self.rows if row["splits"] == splits]


def result_cell(rows: Sequence[Row], n_folds: int) -> ResultCell | None:
    """Read the rows of one method on one data set.

    Rows of an older version of the method, or of other data under the same name, are left out. A fold counts
    only when every configuration of the grid was run on it.

    >>> result_cell([], 10) is None
    True
    """
    if not rows:
        return None
    method = METHODS.get(rows[0]["method"])
    version = method.version if method else max(row["version"] for row in rows)
    rows = [row for row in rows if row["version"] == version]
    digest = Counter(row["digest"] for row in rows).most_common(1)
    rows = [row for row in rows if row["digest"] == digest[0][0]] if digest else []
    best: tuple[str | None, list[Config], list[Row]] | None = None
    for grid in _GRIDS:
        configs = method.configs(grid) if method and (grid is None or grid in method.grids) else [{}]
        kept = _complete(rows, configs)
        if kept and (best is None or len(kept) // len(configs) > len(best[2]) // len(best[1])):
            best = grid, configs, kept
    if best is None:
        return None
    grid, configs, kept = best
    readings = {name: summary for name in PROTOCOLS if (summary := summarise(kept, name)) is not None}
    first_seed = min(row["seed"] for row in kept)
    leaked = {row["fold"]: row["n_leaked"] for row in kept if row["seed"] == first_seed}
    return ResultCell(
        kept[0]["dataset"],
        kept[0]["method"],
        grid if len(configs) > 1 else None,
        len(configs),
        readings,
        tuple(sorted({(row["seed"], row["fold"]) for row in kept})),
        n_folds,
        float(np.median([row["seconds"] for row in kept])),
        sum(leaked.values()),
        _without_leaks(kept, readings) if any(leaked.values()) else None,
    )


def _complete(rows: Sequence[Row], configs: list[Config]) -> list[Row]:
    """Keep the folds on which every configuration was run, configurations in the order of the grid."""
    of_fold: dict[tuple[int, int], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        if row["config"] in configs:
            of_fold[row["seed"], row["fold"]][configs.index(row["config"])] = row
    whole = [found for _, found in sorted(of_fold.items()) if len(found) == len(configs)]
    return [found[place] for found in whole for place in range(len(configs))]


def _without_leaks(rows: Sequence[Row], readings: dict[str, Summary]) -> float | None:
    """Return the fair mean over test graphs without a copy in training."""
    found = {(row["seed"], row["fold"], repr(row["config"])): row["scores"] for row in rows}
    runs = sorted({(row["seed"], row["fold"]) for row in rows})
    scores = [
        found[seed, fold, repr(config)].get("accuracy-without-duplicates")
        for (seed, fold), config in zip(runs, readings["fair"].configs, strict=True)
    ]
    known = [
        found[seed, fold, repr(config)]["accuracy"] if score is None else score
        for score, (seed, fold), config in zip(scores, runs, readings["fair"].configs, strict=True)
    ]
    return float(np.mean(known)) if known else None


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


_WIDTH = 110


def results_markdown(page: Page, pictures: str = "") -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    page
        Content of the page.
    pictures
        Folder of its pictures, relative to the file; None shows tables instead of pictures.


    >>> section = Section("a", "Part", [Bullets(["One sentence."])])
    >>> print(results_markdown(Page("Results", ["To begin with."], [], [section], ["made so"])))
    # Results
    <BLANKLINE>
    To begin with.
    <BLANKLINE>
    ## Part
    <BLANKLINE>
    - One sentence.
    <BLANKLINE>
    ---
    <BLANKLINE>
    made so
    <BLANKLINE>
    """
    parts = [f"# {page.title}", *map(_filled, page.lede)]
    parts.append(markdown_list(page.findings or [f"**{figure}** {text}" for figure, text in page.highlights]))
    for section in page.sections:
        parts.append(f"## {section.title}")
        parts += [_block(block, pictures) for block in section.blocks]
    parts += ["---", *map(_filled, page.made_by)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, pictures: str) -> str:
    if isinstance(block, Paragraph):
        return _filled(block.text)
    if isinstance(block, Bullets):
        return markdown_list(block.items)
    if isinstance(block, PlainTable):
        return _table(block)
    if isinstance(block, AccuracyTable):
        return _accuracies(block)
    return _pictures(block, pictures)


def _pictures(block: Drawings, folder: str) -> str:
    """Show the picture with its collapsed table, or only the table if there is no picture."""
    table = "" if block.table is None else _table(block.table)
    if not (folder and block.name):
        return table
    picture = f"![{block.title}]({folder}/{block.name}.svg)"
    folded = f"<details><summary>The figures as a table</summary>\n\n{table}\n\n</details>" if table else ""
    return "\n\n".join(part for part in (picture, _filled(block.caption), folded) if part)


def markdown_list(items: Sequence[str]) -> str:
    """Return items as a bulleted list, with lines wrapped.

    >>> markdown_list(["One sentence."])
    '- One sentence.'
    """
    return "\n".join(_filled(item, "- ") for item in items)


def _filled(text: str, first: str = "") -> str:
    """Wrap lines, so that diffs are readable."""
    return fill(
        text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False
    )


def _table(table: PlainTable) -> str:
    rules = ["---" if place == 0 or place in table.words else "---:" for place in range(len(table.header))]
    return "\n".join(_line(cells) for cells in [table.header, rules, *table.rows])


def _accuracies(table: AccuracyTable) -> str:
    rows = [["", "reading", *table.datasets], ["---", "---", *["---:"] * len(table.datasets)]]
    for group in table.groups:
        for place, line in enumerate(group.lines):
            title = f"**{group.title}**" + (f" ({group.note})" if group.note else "") if place == 0 else ""
            rows.append(
                [title, line.label, *(_accuracy(cell, bold=line.kind == "fair") for cell in line.cells)]
            )
    return "\n".join(_line(cells) for cells in rows)


def _accuracy(cell: AccuracyCell, *, bold: bool) -> str:
    if cell.mean is None:
        return cell.text
    figure = f"{cell.mean:.2f} ± {cell.std:.2f}"
    runs = f" ({cell.runs})" if cell.runs else ""
    return (f"**{figure}**" if bold else figure) + runs


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


_PICTURES = "figures"
_COLUMNS = {"small": 3, "medium": 2, "wide": 1}
_STYLES = ("theme.css", "report.css", "figures.css", "charts.css")


def results_html(page: Page) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page
        Content of the page.


    >>> results_html(Page("Results", [], [], [], [])).startswith("<!DOCTYPE html>")
    True
    """
    environment = templates(trim_blocks=True, lstrip_blocks=True, finalize=_unbroken)
    environment.tests["of_kind"] = lambda block, kind: type(block).__name__ == kind
    environment.filters["drawn"] = Markup  # our own drawings
    return rendered(environment.get_template("report.html.jinja"), _STYLES, page=page)


def _unbroken(value: object) -> object:
    """Keep a per cent sign on the line of its figure."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if isinstance(value, str) else value


def write_results(page: Page, html: Path | None = None, markdown: Path | None = None) -> None:
    """Write the page as HTML, as Markdown, or both; each file is written atomically.

    The pictures of the Markdown file are written to the folder ``figures`` next to it.

    Raises
    ------
    TwinWLError
        If a file cannot be written.
    """
    texts = {} if html is None else {html: results_html(page)}
    if markdown is not None:
        folder = markdown.with_name(_PICTURES)
        texts |= {folder / f"{name}.svg": text for name, text in _picture_files(page).items()}
        texts[markdown] = results_markdown(page, _PICTURES)
    for path, text in texts.items():
        if path.parent.name == _PICTURES:
            with errors_of_writing(path):
                path.parent.mkdir(exist_ok=True)
        write_page(path, text)


def _picture_files(page: Page) -> dict[str, str]:
    """Return each named drawing as one self-contained picture."""
    blocks = [block for section in page.sections for block in section.blocks if isinstance(block, Drawings)]
    return {
        block.name: standalone(sheet(block.canvases, _COLUMNS[block.size], block.title))
        for block in blocks
        if block.name
    }
