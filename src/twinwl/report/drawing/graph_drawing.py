"""One graph as shapes on a canvas: circles for nodes, strokes for edges, and letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.report.drawing.layout import spring_positions
from twinwl.report.drawing.molecule_drawing import lay_out_molecule

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch

RADIUS = 16.0
_EDGE = 56.0  # length of an edge, in the units of the canvas
_MARGIN = 34.0
_SMALLEST = (330.0, 210.0)  # a smaller canvas would make the nodes of small graphs huge
_SECOND_STROKE = 5.5
_MOST_EDGE_LABELS = 48  # more of them hide the drawing


class Stroke(NamedTuple):
    """A line of an edge; a double bond has two of them."""

    source: int
    target: int
    x1: float
    y1: float
    x2: float
    y2: float
    style: str
    """``line``, ``dashed``, ``arrow`` or ``arrows`` (pointing both ways)."""


class Letter(NamedTuple):
    """A few characters somewhere on the canvas."""

    text: str
    x: float
    y: float
    node: int | None = None


@dataclass(frozen=True)
class Drawing:
    """A graph with a layout, ready to be written as SVG.

    Attributes
    ----------
    points : array of float64, shape (n_nodes, 2)
    strokes, letters, edge_letters
        The other shapes; ``letters`` are the elements of a molecule's atoms.
    width, height : float
        Size of the canvas.
    """

    points: Float64
    strokes: list[Stroke]
    letters: list[Letter]
    edge_letters: list[Letter]
    width: float
    height: float

    def moved(self, x: float, y: float, width: float, height: float) -> Drawing:
        """Return the same drawing elsewhere on a canvas of another size."""
        return Drawing(
            self.points + np.array([x, y]),
            [s._replace(x1=s.x1 + x, y1=s.y1 + y, x2=s.x2 + x, y2=s.y2 + y) for s in self.strokes],
            [letter._replace(x=letter.x + x, y=letter.y + y) for letter in self.letters],
            [letter._replace(x=letter.x + x, y=letter.y + y) for letter in self.edge_letters],
            width,
            height,
        )


def draw(graph: GraphBatch, molecule: Chem.Mol | str | None = None) -> Drawing:
    """Lay out one graph, as a molecule if one (or its SMILES) is given.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> len(draw(GraphBatch.from_edges([[(0, 1), (1, 2)]])).strokes)
    2
    """
    letters: list[Letter] = []
    edge_letters: list[Letter] = []
    if molecule is None:
        points = spring_positions(graph) * _EDGE + _MARGIN
        strokes = _plain_strokes(graph, points)
        edge_letters = _edge_letters(graph, points)
    else:
        laid_out = lay_out_molecule(molecule)
        points = laid_out.positions * _EDGE + _MARGIN
        centres = {bond: centre * _EDGE + _MARGIN for bond, centre in laid_out.centres.items()}
        strokes = [
            stroke
            for (u, v), kind in laid_out.bonds.items()
            for stroke in _bond_strokes(u, v, points, kind, centres.get((u, v)))
        ]
        letters = [_beside(text, node, graph, points) for node, text in enumerate(laid_out.letters) if text]
    width, height = (points.max(axis=0) + _MARGIN).tolist() if len(points) else (0.0, 0.0)
    return Drawing(points, strokes, letters, edge_letters, width, height)


def on_one_canvas(drawings: list[Drawing]) -> list[Drawing]:
    """Centre drawings on canvases of one size, so that an edge is equally long in all of them."""
    width = max([drawing.width for drawing in drawings] + [_SMALLEST[0]])
    height = max([drawing.height for drawing in drawings] + [_SMALLEST[1]])
    return [
        drawing.moved((width - drawing.width) / 2, (height - drawing.height) / 2, width, height)
        for drawing in drawings
    ]


def _plain_strokes(graph: GraphBatch, points: Float64) -> list[Stroke]:
    sources, targets = graph.arcs()
    arcs = set(zip(sources.tolist(), targets.tolist(), strict=True))
    strokes = []
    for u, v in sorted(arcs):
        if (v, u) in arcs and u > v:
            continue
        if not graph.directed:
            strokes.append(_stroke(u, v, points[u], points[v], "line"))
            continue
        both = (v, u) in arcs
        step = _unit(points[v] - points[u]) * (RADIUS + 2)
        start = points[u] + step if both else points[u]
        strokes.append(_stroke(u, v, start, points[v] - step, "arrows" if both else "arrow"))
    return strokes


def _bond_strokes(u: int, v: int, points: Float64, kind: str, centre: Float64 | None) -> list[Stroke]:
    start, end = points[u], points[v]
    main = _stroke(u, v, start, end, "line")
    if kind == "single":
        return [main]
    along = _unit(end - start)
    across = np.array([-along[1], along[0]])
    if centre is not None and across @ (centre - start) < 0:
        across = -across
    shift = across * _SECOND_STROKE
    if kind == "triple":
        return [
            main,
            _stroke(u, v, start + shift, end + shift, "line"),
            _stroke(u, v, start - shift, end - shift, "line"),
        ]
    if centre is None:  # outside a ring the two strokes of a double bond lie on either side
        return [
            _stroke(u, v, start + shift / 2, end + shift / 2, "line"),
            _stroke(u, v, start - shift / 2, end - shift / 2, "line"),
        ]
    return [main, _stroke(u, v, start + shift, end + shift, "dashed" if kind == "aromatic" else "line")]


def _stroke(u: int, v: int, start: Float64, end: Float64, style: str) -> Stroke:
    (x1, y1), (x2, y2) = start.tolist(), end.tolist()
    return Stroke(u, v, x1, y1, x2, y2, style)


def _beside(text: str, node: int, graph: GraphBatch, points: Float64) -> Letter:
    """Put a letter next to its node, in the widest gap between its edges."""
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    across = points[neighbours] - points[node]
    angles = np.sort(np.arctan2(across[:, 1], across[:, 0]))
    if len(angles):
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        widest = int(np.argmax(gaps.round(6)))
        angle = angles[widest] + gaps[widest] / 2
    else:
        angle = -np.pi / 2
    distance = RADIUS + 6 + 4 * len(text)
    x, y = points[node] + distance * np.array([np.cos(angle), np.sin(angle)])
    return Letter(text, float(x), float(y), node)


def _edge_letters(graph: GraphBatch, points: Float64) -> list[Letter]:
    if graph.edge_labels is None or graph.n_edges > _MOST_EDGE_LABELS:
        return []
    sources, targets = graph.arcs()
    letters = []
    for u, v, code in zip(sources.tolist(), targets.tolist(), graph.edge_labels.tolist(), strict=True):
        if u < v or graph.directed:
            x, y = (points[u] * (0.5 if u < v else 0.35) + points[v] * (0.5 if u < v else 0.65)).tolist()
            text = str(graph.edge_vocabulary[code])
            letters.append(Letter(text if len(text) <= 8 else text[:7] + "…", x, y))  # noqa: PLR2004
    return letters


def _unit(vector: Float64) -> Float64:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
