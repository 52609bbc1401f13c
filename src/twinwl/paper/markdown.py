"""A results page as Markdown: the same content as in HTML, with tables where the page has charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from twinwl.files.atomic import errors_of_writing
from twinwl.paper.result_cells import AccuracyCell, AccuracyTable
from twinwl.report.page import Block, Bullets, Drawings, Page, Paragraph, PlainTable, results_html, write_page
from twinwl.report.svg import sheet, standalone

_PICTURES = "figures"
_COLUMNS = {"small": 3, "medium": 2, "wide": 1}
_WIDTH = 110


def results_markdown(page: Page, pictures: str = "") -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    page
        Content of the page.
    pictures
        Folder of its pictures, relative to the file; None shows tables instead of pictures.


    >>> from twinwl.report.page import Section
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
