"""Self-contained HTML of batches, comparisons, explanations, trees and results, for notebooks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from twinwl.report.drawing import svg_of
from twinwl.report.page import counted, facts_of

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch
    from twinwl.models.explanation import Explanation, RootedTree

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
