"""Figures 1 and 2 of the paper, computed from its worked example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.generators.worked_example import worked_example
from twinwl.paper.graph_pictures import put_graph
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes
from twinwl.report.drawing.palette import paint
from twinwl.report.drawing.svg import Canvas

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

# G1 is a ladder; G2 two triangles joined by an edge. In units of an edge.
_PLACES = (
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)],
    [(0, 0.45), (0, 1.55), (0.85, 1), (1.85, 1), (2.7, 0.45), (2.7, 1.55)],
)
_EDGE = 58.0
_ROUNDS = 2
_ROOT = 0
_HEIGHT = 452.0


def rounds_figure() -> Canvas:
    """Draw the worked example round by round: fill is the colour, the number is the rooted size.

    >>> rounds_figure().title[:18]
    'The worked example'
    """
    canvas = Canvas(
        820, _HEIGHT, "The worked example of the paper, round by round: 1-WL finds no difference, STwin does"
    )
    for h in range(_ROUNDS + 1):
        _put_round(canvas, h, 280.0 * h)
    canvas.note(
        "Fill: colour in 1-WL. Number: nodes reached in h steps. 1-WL counts nodes by colour, STwin sums "
        "their numbers."
    )
    return canvas


def round_pictures() -> list[Canvas]:
    """Draw the same, each round on a canvas of its own.

    >>> len(round_pictures())
    3
    """
    canvases = [Canvas(260, 446, f"The worked example after round {h}") for h in range(_ROUNDS + 1)]
    for h, canvas in enumerate(canvases):
        _put_round(canvas, h, 0.0)
    return canvases


def _put_round(canvas: Canvas, h: int, left: float) -> None:
    """Draw both graphs in one round, and below them what each method counts."""
    batch = worked_example()
    colours, sizes = refine(batch, _ROUNDS).colours, rooted_sizes(batch, _ROUNDS)
    # A paint belongs to one round and colour, so that no paint means two things.
    first_paint = sum(int(colours[earlier].max()) + 1 for earlier in range(h))
    n_colours = int(colours[h].max()) + 1
    centre = left + 148
    canvas.text(left, 18, f"round h = {h}", "title")
    vectors = []
    for graph in (0, 1):
        nodes = slice(*batch.graph_ptr[graph : graph + 2].tolist())
        colour_of_node, size_of_node = colours[h, nodes], sizes[h, nodes]
        shift = (centre - max(x for x, _ in _PLACES[graph]) * _EDGE / 2, 56 + 166 * graph)
        points = [(shift[0] + x * _EDGE, shift[1] + y * _EDGE) for x, y in _PLACES[graph]]
        fills = [paint(first_paint + colour).fill for colour in colour_of_node.tolist()]
        put_graph(canvas, points, _edges(batch, graph), fills, [str(size) for size in size_of_node.tolist()])
        canvas.text(left, shift[1] + _EDGE + 5, ("G₁", "G₂")[graph], "title")
        counts = np.bincount(colour_of_node, minlength=n_colours)
        sums = np.bincount(colour_of_node, size_of_node, minlength=n_colours).astype(int)
        vectors.append((counts.tolist(), sums.tolist()))
    for place, method in enumerate(("1-WL", "STwin")):
        first, second = vectors[0][place], vectors[1][place]
        same = first == second
        text = f"{_written(first)} {'=' if same else '≠'} {_written(second)}"
        canvas.text(left, 404 + 28 * place, method, "caption strong")
        canvas.text(centre, 404 + 28 * place, text, "vector middle" + ("" if same else " differs"))


def trees_figure() -> Canvas:
    """Draw the label tree and the identity tree of two nodes that 1-WL confuses.

    >>> trees_figure().width
    880.0
    """
    batch = worked_example()
    canvas = Canvas(
        880.0,
        _HEIGHT,
        "Two nodes with the same label tree, and so the same 1-WL colour, but different identity trees",
    )
    labels = batch.node_labels
    for graph in (0, 1):
        top = 232 * graph
        first = int(batch.graph_ptr[graph])
        canvas.text(0, top + 18, f"{('G₁', 'G₂')[graph]} and its node {_ROOT + 1}", "title")
        shift = (24 if graph else 62, top + 62)
        points = [(shift[0] + x * _EDGE, shift[1] + y * _EDGE) for x, y in _PLACES[graph]]
        fills = [paint(int(labels[first + node])).fill for node in range(6)]
        canvas.circle(*points[_ROOT], 21, "shade")
        put_graph(canvas, points, _edges(batch, graph), fills, [str(node + 1) for node in range(6)])
        children = {node: _neighbours(batch, graph, node) for node in range(6)}
        _tree(canvas, 264, top, "label tree", children, [int(labels[first + node]) for node in range(6)])
        _tree(canvas, 574, top, "identity tree", children, None)
        reached = sorted({_ROOT, *children[_ROOT], *(w for u in children[_ROOT] for w in children[u])})
        text = f"{{{', '.join(str(node + 1) for node in reached)}}}: {len(reached)} nodes"
        canvas.text(574 + 140, top + 214, text, "caption middle mark")
        canvas.text(264 + 140, top + 214, "the same for both nodes", "caption middle")
    canvas.note(
        "Two steps from node 1. Label tree: fill and number are the label of a node. Identity tree: the "
        "number is the node, dashed where it was reached before."
    )
    return canvas


def _tree(
    canvas: Canvas,
    left: float,
    top: float,
    title: str,
    children: dict[int, list[int]],
    labels: list[int] | None,
) -> None:
    """Draw what reaches a root in two rounds: labels or, if ``labels`` is None, identities."""
    canvas.text(left + 140, top + 18, title, "title middle")
    leaves = [
        (child, leaf)
        for child in _ordered(children[_ROOT], labels)
        for leaf in _ordered(children[child], labels)
    ]
    step = 280 / len(leaves)
    x_of_leaf = [left + step * (place + 0.5) for place in range(len(leaves))]
    x_of_child = {
        child: float(np.mean([x for x, (owner, _) in zip(x_of_leaf, leaves, strict=True) if owner == child]))
        for child in children[_ROOT]
    }
    root = (left + 140, top + 58)
    for child, x in x_of_child.items():
        canvas.line(*root, x, top + 114, "branch")
        for leaf_x, (owner, _) in zip(x_of_leaf, leaves, strict=True):
            if owner == child:
                canvas.line(x, top + 114, leaf_x, top + 170, "branch")
    placed = [(_ROOT, *root), *((child, x, top + 114) for child, x in x_of_child.items())]
    placed += [(leaf, x, top + 170) for x, (_, leaf) in zip(x_of_leaf, leaves, strict=True)]
    seen: set[int] = set()
    for node, x, y in placed:
        if labels is not None:
            canvas.circle(x, y, 15, "disc", fill=paint(labels[node]).fill)
            canvas.text(x, y + 4.7, str(labels[node] + 1), "in-disc")
        elif node in seen:
            canvas.circle(x, y, 15, "disc repeat")
            canvas.text(x, y + 4.7, str(node + 1), "in-disc again")
        else:
            canvas.circle(x, y, 15, "disc", fill=paint(8).fill)
            canvas.text(x, y + 4.7, str(node + 1), "in-disc")
        seen.add(node)


def _ordered(nodes: list[int], labels: list[int] | None) -> list[int]:
    """Sort children by label where the tree shows labels, so that equal trees look equal."""
    return sorted(nodes, key=lambda node: (0 if labels is None else labels[node], node))


def _edges(batch: GraphBatch, graph: int) -> list[tuple[int, int, int]]:
    sources, targets = batch[graph].arcs()
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    return [(u, v, 1) for u, v in pairs if u < v]


def _neighbours(batch: GraphBatch, graph: int, node: int) -> list[int]:
    one = batch[graph]
    return one.indices[one.indptr[node] : one.indptr[node + 1]].tolist()


def _written(values: list[int]) -> str:
    return f"({', '.join(map(str, values))})"
