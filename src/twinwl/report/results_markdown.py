"""A results page as Markdown: the same content, with tables where the page has charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.report.blocks import AccuracyTable, Bullets, Drawings, Paragraph, PlainTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.report.blocks import AccuracyCell, Block, Page

__all__ = ["results_markdown"]


def results_markdown(page: Page) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    page
        What it says.

    Examples
    --------
    >>> from twinwl.report.blocks import Page, Section
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
    parts = [f"# {page.title}", *page.lede]
    parts += (
        ["\n".join(f"- **{figure}** {text}" for figure, text in page.highlights)] if page.highlights else []
    )
    for section in page.sections:
        parts.append(f"## {section.title}")
        parts += [_block(block) for block in section.blocks]
    parts += ["---", *page.made_by]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Bullets):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, PlainTable):
        return _table(block)
    if isinstance(block, AccuracyTable):
        return _accuracies(block)
    return _pictures(block)


def _pictures(block: Drawings) -> str:
    words = block.caption if block.in_words is None else block.in_words
    return "\n\n".join(part for part in (words, _table(block.table) if block.table else "") if part)


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
