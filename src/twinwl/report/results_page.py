"""A results page as HTML: one file that needs nothing else, for screens large and small, and for paper."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from twinwl import __version__
from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write
from twinwl.report.results_markdown import results_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.report.blocks import Page

__all__ = ["results_html", "write_results"]

_TEMPLATES = files("twinwl.report") / "templates"
_STYLES = ("theme.css", "report.css", "figures.css")


def results_html(page: Page) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page
        What it says.

    Examples
    --------
    >>> from twinwl.report.blocks import Page
    >>> results_html(Page("Results", [], [], [], [])).startswith("<!DOCTYPE html>")
    True
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.tests["of_kind"] = lambda block, kind: type(block).__name__ == kind
    environment.filters["drawn"] = Markup  # our own drawings
    template = environment.from_string(_asset("report.html.jinja"))
    style = Markup("\n".join(map(_asset, _STYLES)))  # noqa: S704  (our own files)
    return template.render(page=page, version=__version__, style=style)


def write_results(page: Page, html: Path | None = None, markdown: Path | None = None) -> None:
    """Write the page as HTML, as Markdown, or as both; each file as a whole or not at all.

    Raises
    ------
    TwinWLError
        If a file cannot be written.
    """
    for path, make in ((html, results_html), (markdown, results_markdown)):
        if path is None:
            continue
        try:
            with atomic_write(path) as stream:
                stream.write(make(page).encode())
        except OSError as error:
            raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
