"""Self-contained HTML pages: templates filled in with their styles and scripts, each written to one file.

Pages of results are put together from blocks: paragraphs (text), lists, tables and drawings.

Notebooks show batches, explanations, trees and results as smaller pieces of HTML.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import numpy as np
from markupsafe import Markup

from twinwl import __version__
from twinwl.files.storage import open_to_write
from twinwl.report.drawing import draw, paint
from twinwl.terminal import counted

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch
    from twinwl.models.explanation import Explanation, RootedTree


_FOLDER = files("twinwl.report") / "templates"
# Control characters of labels and names as Unicode's pictures of them, which are valid in text, JSON and SVG.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


@cache
def templates() -> jinja2.Environment:
    """Return the environment of the page templates."""
    result = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finish,
    )
    result.filters["signed"] = signed
    return result


def rendered(template: str, styles: Sequence[str], script: str = "", **values: object) -> str:
    """Fill in a template.

    Parameters
    ----------
    template, styles, script
        Names of files of the folder ``templates``.
    values
        Further variables of the template.
    """
    code = _asset(script) if script else ""
    page = (
        templates()
        .get_template(template)
        .render(
            version=__version__,
            style=Markup("\n".join(map(_asset, styles))),  # noqa: S704  (our own files)
            script=Markup(code),  # noqa: S704  (our own file)
            script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
            **values,
        )
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
    with open_to_write(path) as stream:
        stream.write(text.encode("utf-8", "replace"))  # labels may hold lone surrogates


def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _finish(value: object) -> object:
    """Show None as nothing, and keep a per cent sign on the line of its figure; markup is not changed."""
    if value is None:
        return ""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def signed(number: float) -> str:
    """Format a share with its sign; the minus is as wide as the plus.

    >>> signed(0.25), signed(-1.0), signed(0.0001)
    ('+0.250', '−1.000', '0.000')
    """
    text = f"{number:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")


@dataclass(frozen=True)
class PlainTable:
    """A table; the first column is a heading, the others are figures unless ``words`` names them.

    Cells are text, or numbers to be shown unchanged; None is an empty cell.
    """

    header: list[str]
    rows: Sequence[Sequence[object]]
    words: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Drawings:
    """Pictures side by side, as SVG, what they show, and the figures behind them as a table below.

    ``size`` is ``"small"`` (three abreast on a large screen), ``"medium"`` (two) or ``"wide"`` (one).
    """

    pictures: list[str]
    caption: str
    table: PlainTable | None = None
    size: str = "medium"


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


def results_html(page: Page) -> str:
    """Return the page as HTML.

    >>> results_html(Page("Results", [], [], [], [])).startswith("<!DOCTYPE html>")
    True
    """
    styles = ("theme.css", "report.css", "figures.css")
    return rendered("report.html.jinja", styles, page=page)


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


def svg_of(
    graph: GraphBatch,
    molecule: str | None = None,
    *,
    title: str = "",
    size: tuple[float, float] = (0, 0),
    root: int | None = None,
    slots: dict[object, int] | None = None,
) -> Markup:
    """Return one graph as an SVG element: a structural formula, or nodes painted by label.

    Parameters
    ----------
    graph
        A batch of one.
    molecule
        Its SMILES, to draw a structural formula.
    title
        Written above the drawing.
    size
        Smallest width and height of the drawing.
    root
        A node with a ring around it.
    slots
        Paint of each label, which grows; so that a label has one colour in several pictures.
    """
    drawing, slots = draw(graph, molecule, size), {} if slots is None else slots
    discs = [
        (*point, str(label) if graph.has_node_labels else "", paint(slots.setdefault(label, len(slots))))
        for point, label in zip(drawing.points.tolist(), () if drawing.texts else graph.labels_of_nodes())
    ]
    return fragment("graph", drawing, discs, title, root)


def fragment(name: str, *values: object) -> Markup:
    """Return a piece of a page, filled in by the macro of this name."""
    macro = getattr(templates().get_template("fragments.html.jinja").module, name)
    return Markup(macro(*values))  # noqa: S704  (escaped there)


_GRAPHS_DRAWN = 8
_LARGEST_DRAWN = 120  # maximum number of nodes of a readable drawing


def result_html(title: str = "", table: Sequence[Sequence[str]] = (), text: str = "") -> str:
    """Return a result as HTML: a title, a table whose first row is its header, and text."""
    return fragment("result", title, table, text)


def batch_html(batch: GraphBatch) -> str:
    """Return a line of statistics and a grid of drawings: the first few graphs, painted by label."""
    tiles = [
        (svg_of(graph) if 0 < graph.n_nodes <= _LARGEST_DRAWN else None, facts_of(graph))
        for graph in batch[:_GRAPHS_DRAWN]
    ]
    sizes, left = batch.nodes_per_graph, len(batch) - len(tiles)
    spread = ""
    if len(sizes):
        spread = f" with {sizes.min():,} to {sizes.max():,} nodes (median {np.median(sizes):,.0f})"
    return fragment("batch", repr(batch), spread, tiles, left and counted(left, "more graph"))


def explanation_html(explanation: Explanation) -> str:
    """Return the explanation as text, with a shaded drawing if the graph is small enough."""
    picture = ""
    if 0 < explanation.graph.n_nodes <= _LARGEST_DRAWN:
        from twinwl.report.picture import explanation_svg  # noqa: PLC0415  (heavy)

        picture = explanation_svg(explanation)
    return fragment("explanation", str(explanation), picture)


def explanation_page(explanation: Explanation, molecule: str | None) -> str:
    """Return the page of an explanation that stands alone, as HTML."""
    from twinwl.datasets.dataset import Dataset  # noqa: PLC0415  (heavy)
    from twinwl.report.explain import explain_page  # noqa: PLC0415

    named = Dataset("one graph", explanation.graph, smiles=None if molecule is None else (molecule,))
    return explain_page(named, explanation, explanation.model)


def tree_html(tree: RootedTree) -> str:
    """Return the tree of a column as text, with a drawing of its example, the root ringed, if it has one."""
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (a tree has already loaded it)

    example, picture = tree.example, ""
    if example is not None:
        graph = GraphBatch.from_networkx(
            [example.to_networkx()],
            node_label=None if set(example.labels) == {None} else "label",
            edge_label=None if example.edge_labels is None else "label",
        )
        picture = svg_of(graph, root=example.nodes.index(example.root))
    return fragment("tree", str(tree), picture)
