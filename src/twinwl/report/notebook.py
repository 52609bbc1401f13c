"""Self-contained HTML of batches, comparisons, explanations, trees and results, for notebooks."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from twinwl.report.graph_drawing import RADIUS, draw
from twinwl.report.page import counted
from twinwl.report.svg import paint

if TYPE_CHECKING:
    from twinwl.evaluation.ceiling import Ceiling
    from twinwl.evaluation.power import Power
    from twinwl.evaluation.result import Evaluation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.comparison import Comparison
    from twinwl.models.explanation import Explanation, RootedTree

_GRAPHS_DRAWN = 8
_LARGEST_DRAWN = 120  # maximum number of nodes of a readable drawing
_TILE = 150
_LONGEST_LABEL = 3


def batch_html(batch: GraphBatch) -> str:
    """Return a line of statistics and a grid of drawings: the first few graphs, painted by label."""
    tiles = "".join(_tile(batch[graph], graph) for graph in range(min(len(batch), _GRAPHS_DRAWN)))
    left = len(batch) - _GRAPHS_DRAWN
    more = f'<div style="align-self:center">… and {counted(left, "more graph")}</div>' if left > 0 else ""
    grid = f'<div style="display:flex;flex-wrap:wrap;gap:8px">{tiles}{more}</div>'
    return f"<div><p><code>{escape(repr(batch))}</code>{_spread(batch)}</p>{grid}</div>"


def comparison_html(comparison: Comparison) -> str:
    """Return the verdict as a headline, and the evidence below it."""
    verdict, _, evidence = str(comparison).partition("\n")
    return f"<div><p><b>{escape(verdict)}</b></p><p>{escape(evidence)}</p></div>"


def explanation_html(explanation: Explanation) -> str:
    """Return the explanation as text, with a shaded drawing if the graph is small enough."""
    words = f"<details><summary>as text</summary><pre>{escape(str(explanation))}</pre></details>"
    if not 0 < explanation.graph.n_nodes <= _LARGEST_DRAWN:
        return f"<div><pre>{escape(str(explanation))}</pre></div>"
    from matplotlib import rc_context  # noqa: PLC0415  (heavy)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure, stream = Figure(figsize=(6, 4)), io.StringIO()
    explanation.draw(figure.add_axes((0, 0, 1, 1)))
    with rc_context({"svg.hashsalt": "twinwl"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    picture = stream.getvalue().partition("<svg")
    return f"<div>{picture[1]}{picture[2]}{words}</div>"


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
    return f'<div style="display:flex;gap:16px">{words}{_picture(graph, root=example.root)}</div>'


def evaluation_html(evaluation: Evaluation) -> str:
    """Return one row per protocol and metric; optimistic readings are marked."""
    from twinwl.models.metrics import METRICS  # noqa: PLC0415  (an evaluation has already loaded it)

    rows = "".join(
        f"<tr><td>{escape(row['protocol'])}{' (optimistic)' if row['optimistic'] else ''}</td>"
        f"<td>{escape(row['metric'])}{of and escape(f' ({of})')}</td>"
        f"<td>{METRICS[row['metric']].text(row['mean'], row['std'])}</td>"
        f"<td>{row['n_folds']}</td></tr>"
        for row in evaluation.to_records()
        for of in [row.get("positive", "")]
    )
    head = "<tr><th>protocol</th><th>metric</th><th>mean ± std</th><th>folds</th></tr>"
    title = escape(f"{evaluation.method} on {evaluation.dataset}, inputs: {evaluation.inputs}")
    return f"<table><caption>{title}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def power_html(power: Power) -> str:
    """Return the counts as a table, one row per method."""
    return _table_html(power.table())


def ceiling_html(ceiling: Ceiling) -> str:
    """Return one row per way to look at the graphs, and the verdict."""
    return f"<div>{_table_html(ceiling.table())}<p>{escape(ceiling.verdict)}</p></div>"


def _table_html(table: list[list[str]]) -> str:
    head, *rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head.replace('td>', 'th>')}</tr></thead><tbody>{body}</tbody></table>"


def _spread(batch: GraphBatch) -> str:
    if not len(batch):
        return ""
    sizes = batch.nodes_per_graph
    return f" with {sizes.min():,} to {sizes.max():,} nodes (median {np.median(sizes):,.0f})"


def _tile(graph: GraphBatch, number: int) -> str:
    edges = counted(graph.n_edges, "arc" if graph.directed else "edge")
    facts = f"{number}: {counted(graph.n_nodes, 'node')}, {edges}"
    picture = _picture(graph) if 0 < graph.n_nodes <= _LARGEST_DRAWN else "<i>not drawn</i>"
    return (
        f'<figure style="margin:0;width:{_TILE}px;text-align:center">{picture}'
        f'<figcaption style="font-size:smaller">{facts}</figcaption></figure>'
    )


def _picture(graph: GraphBatch, root: int | None = None) -> str:
    drawing = draw(graph)
    shapes = [
        f'<line x1="{stroke.x1:.1f}" y1="{stroke.y1:.1f}" x2="{stroke.x2:.1f}" y2="{stroke.y2:.1f}" '
        'stroke="#888" stroke-width="3"/>'
        for stroke in drawing.strokes
    ]
    if root is not None:
        x, y = drawing.points[root].tolist()
        ring = f'r="{RADIUS + 7:g}" fill="none" stroke="#c00" stroke-width="4"'
        shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {ring}><title>root</title></circle>')
    for (x, y), code in zip(drawing.points.tolist(), graph.node_labels.tolist(), strict=True):
        look = paint(code)
        shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}" fill="{look.fill}" '
            f'stroke="{look.ring or "#444"}" stroke-width="{4 if look.ring else 1.5}"/>'
        )
        if graph.has_node_labels:
            label = escape(str(graph.node_vocabulary[code])[:_LONGEST_LABEL])
            place = f'x="{x:.1f}" y="{y + 6:.1f}" text-anchor="middle"'
            shapes.append(f'<text {place} font-size="17" fill="#222">{label}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_TILE}" height="{_TILE}" '
        f'viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}">{"".join(shapes)}</svg>'
    )
