"""A results page as one self-contained HTML file, for screens of all sizes and for print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from twinwl.files.atomic import errors_of_writing
from twinwl.report.drawing.svg import sheet, standalone
from twinwl.report.html import rendered, templates, write_page
from twinwl.report.results.blocks import Drawings, Page
from twinwl.report.results.markdown import results_markdown

if TYPE_CHECKING:
    from pathlib import Path


_PICTURES = "figures"
_COLUMNS = {"small": 3, "medium": 2, "wide": 1}
_STYLES = ("theme.css", "report.css", "figures.css", "charts.css")


def results_html(page: Page) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page
        Content of the page.

    >>> from twinwl.report.results.blocks import Page
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
