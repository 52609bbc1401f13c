"""Self-contained HTML pages: templates filled in with their styles and scripts, each written to one file.

Pages of results are put together from blocks: paragraphs (text), lists, tables and drawings.

Notebooks show batches, explanations, trees and results as smaller pieces of HTML.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from markupsafe import Markup

from twinwl import __version__
from twinwl.files.storage import written
from twinwl.report.drawing import svg_of
from twinwl.terminal import counted

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch
    from twinwl.models.explanation import Explanation, RootedTree


_FOLDER = files("twinwl.report") / "templates"
# Control characters of labels and names as Unicode's pictures of them, which are valid in text, JSON and SVG.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def templates(**options: Any) -> jinja2.Environment:  # noqa: ANN401  (as in Jinja)
    """Return the environment of the page templates."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, **options
    )


def rendered(template: jinja2.Template, styles: Sequence[str], script: str = "", **values: object) -> str:
    """Fill in a template.

    Parameters
    ----------
    template
        From `templates`.
    styles, script
        Names of files next to the templates.
    values
        Further variables of the template.
    """
    code = _asset(script) if script else ""
    page = template.render(
        version=__version__,
        style=Markup("\n".join(map(_asset, styles))),  # noqa: S704  (our own files)
        script=Markup(code),  # noqa: S704  (our own file)
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        **values,
    )
    return page.translate(_PICTURES)


def write_page(path: Path, page: str | Page) -> None:
    """Write a page, as HTML or still to be rendered, to a file, atomically.

    Raises
    ------
    TwinWLError
        If the file cannot be written.
    """
    text = page if isinstance(page, str) else results_html(page)
    with written(path) as stream:
        stream.write(text.encode("utf-8", "replace"))  # labels may hold lone surrogates


def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class PlainTable:
    """A table of text; the first column is a heading, the others are figures unless ``words`` names them."""

    header: list[str]
    rows: list[list[str]]
    words: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Drawings:
    """Pictures side by side, as SVG, what they show, and the figures behind them as a table below.

    ``size`` is ``"small"`` (three abreast on a large screen), ``"medium"`` (two) or ``"wide"`` (one).
    """

    pictures: list[str]
    caption: str
    table: PlainTable | None = None
    size: str = "small"


Block = str | list[str] | PlainTable | Drawings  # a paragraph, a bulleted list, …


@dataclass(frozen=True)
class Section:
    """A part of the page, with a title and an anchor."""

    anchor: str
    title: str
    blocks: Sequence[Block]


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
    kind : str
        What the page is about, in small type above its title.
    """

    title: str
    lede: list[str]
    highlights: list[tuple[str, str]]
    sections: list[Section]
    made_by: list[str]
    kind: str = "results"


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
    environment.filters["drawn"] = Markup  # our own drawings
    return rendered(environment.get_template("report.html.jinja"), _STYLES, page=page)


def _unbroken(value: object) -> object:
    """Keep a per cent sign on the line of its figure."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if isinstance(value, str) else value


def enumerated(parts: Sequence[str], word: str = "and") -> str:
    """Join items with commas and a last word.

    >>> enumerated(["9", "10", "12"], "or")
    '9, 10 or 12'
    """
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def facts_of(graph: GraphBatch, *, molecule: bool = False) -> str:
    """Return the number of nodes and edges of a graph as text; those of a molecule are atoms and bonds.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> facts_of(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    '3 nodes, 2 edges'
    """
    node, edge = ("atom", "bond") if molecule else ("node", "arc" if graph.directed else "edge")
    return f"{counted(graph.n_nodes, node)}, {counted(graph.n_edges, edge)}"


_GRAPHS_DRAWN = 8
_LARGEST_DRAWN = 120  # maximum number of nodes of a readable drawing
_TILE = "margin:0;width:150px;text-align:center"


def result_html(title: str = "", table: Sequence[Sequence[str]] = (), text: str = "") -> str:
    """Return a result as HTML: a title, a table whose first row is its header, and text."""
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table]
    head = f"<thead><tr>{rows[0].replace('td>', 'th>')}</tr></thead>" if rows else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows[1:])
    lines = "".join(
        f"<p>{part}</p>" for part in (f"<b>{escape(title)}</b>" * bool(title), escape(text)) if part
    )
    return f"<div>{f'<table>{head}<tbody>{body}</tbody></table>' if rows else ''}{lines}</div>"


def batch_html(batch: GraphBatch) -> str:
    """Return a line of statistics and a grid of drawings: the first few graphs, painted by label."""
    tiles = []
    for number in range(min(len(batch), _GRAPHS_DRAWN)):
        graph = batch[number]
        picture = svg_of(graph) if 0 < graph.n_nodes <= _LARGEST_DRAWN else "<i>not drawn</i>"
        caption = f'<figcaption style="font-size:smaller">{number}: {facts_of(graph)}</figcaption>'
        tiles.append(f'<figure style="{_TILE}">{picture}{caption}</figure>')
    if len(batch) > _GRAPHS_DRAWN:
        left = counted(len(batch) - _GRAPHS_DRAWN, "more graph")
        tiles.append(f'<div style="align-self:center">… and {left}</div>')
    sizes = batch.nodes_per_graph
    spread = ""
    if len(sizes):
        spread = f" with {sizes.min():,} to {sizes.max():,} nodes (median {np.median(sizes):,.0f})"
    grid = f'<div style="display:flex;flex-wrap:wrap;gap:8px">{"".join(tiles)}</div>'
    return f"<div><p><code>{escape(repr(batch))}</code>{spread}</p>{grid}</div>"


def explanation_html(explanation: Explanation) -> str:
    """Return the explanation as text, with a shaded drawing if the graph is small enough."""
    words = f"<pre>{escape(str(explanation))}</pre>"
    if not 0 < explanation.graph.n_nodes <= _LARGEST_DRAWN:
        return f"<div>{words}</div>"
    from matplotlib import rc_context  # noqa: PLC0415  (heavy)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure, stream = Figure(figsize=(6, 4)), io.StringIO()
    explanation.draw(figure.add_axes((0, 0, 1, 1)))
    with rc_context({"svg.hashsalt": "twinwl"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    picture = stream.getvalue().partition("<svg")
    return f"<div>{picture[1]}{picture[2]}<details><summary>as text</summary>{words}</details></div>"


def tree_html(tree: RootedTree) -> str:
    """Return the tree of a column as text, with a drawing of its example, the root ringed, if it has one."""
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (a tree has already loaded it)

    words, example = f"<pre>{escape(str(tree))}</pre>", tree.example
    if example is None:
        return f"<div>{words}</div>"
    graph = GraphBatch.from_edges(
        [list(example.edges)],
        None if set(example.labels) == {None} else [list(example.labels)],
        num_nodes=[len(example)],
        edge_labels=None if example.edge_labels is None else [list(example.edge_labels)],
        directed=example.directed,
    )
    picture = f'<div style="{_TILE}">{svg_of(graph, root=example.root)}</div>'
    return f'<div style="display:flex;gap:16px">{words}{picture}</div>'
