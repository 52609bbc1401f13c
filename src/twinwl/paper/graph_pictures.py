"""Small graphs as the paper's figures show them: discs with letters, bonds with their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.report.drawing.layout import spring_positions
from twinwl.report.drawing.svg import Canvas

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch

_FILLS = {"C": "#dddddd", "H": "#f6f5f2", "N": "#77aadd", "O": "#ee8866", "S": "#eedd88", "F": "#99ddff"}
_OTHER_FILL = "#bbcc33"
_EDGE = 46.0
_MARGIN = 30.0
_HEADING = 52.0
_NARROWEST = 300.0
_BETWEEN_STROKES = 5.0
_GAP = 24.0  # between pictures


class MoleculePicture(NamedTuple):
    """A graph with its title, caption and letters.

    Attributes
    ----------
    graph : GraphBatch
        A batch of one.
    letters : sequence of str
        Letter of each atom.
    title, caption : str
    strokes : sequence of int
        Number of strokes of each arc; empty if all bonds are single.
    shaded : tuple of int
        Nodes with a shaded background.
    """

    graph: GraphBatch
    letters: Sequence[str]
    title: str
    caption: str
    strokes: Sequence[int] = ()
    shaded: tuple[int, ...] = ()

    def places(self) -> Float64:
        """Return a layout that is wider than high, with its corner at the origin, shape (n_nodes, 2)."""
        places = spring_positions(self.graph) * _EDGE
        places = places if np.ptp(places[:, 0]) >= np.ptp(places[:, 1]) else places[:, ::-1]
        return places - places.min(axis=0)

    def put_on(self, canvas: Canvas, places: Float64, left: float = 0.0, width: float | None = None) -> None:
        """Draw it in one column of a canvas."""
        canvas.text(left, 18, self.title, "title")
        canvas.text(left, 38, self.caption, "caption")
        wide = _extent(places)[0] if width is None else width
        corner = np.array([left + (wide - places[:, 0].max()) / 2, _MARGIN + _HEADING])
        sources, targets = self.graph.arcs()
        strokes = list(self.strokes) or [1] * len(sources)
        arcs = zip(sources.tolist(), targets.tolist(), strokes, strict=True)
        put_graph(
            canvas,
            [(float(x), float(y)) for x, y in places + corner],
            [(u, v, n) for u, v, n in arcs if u < v],
            [_FILLS.get(letter, _OTHER_FILL) for letter in self.letters],
            self.letters,
            radii=[9.5 if letter == "H" else 14.5 for letter in self.letters],
            shaded=self.shaded,
        )


def on_equal_canvases(pictures: Iterable[MoleculePicture]) -> list[Canvas]:
    """Draw each picture on its own canvas, all of the same size and scale.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> bond = MoleculePicture(GraphBatch.from_edges([[(0, 1)]]), ["C", "O"], "a bond", "")
    >>> [canvas.width for canvas in on_equal_canvases([bond, bond])]
    [300.0, 300.0]
    """
    laid_out = [(picture, picture.places()) for picture in pictures]
    width = max(_extent(places)[0] for _, places in laid_out)
    height = max(_extent(places)[1] for _, places in laid_out)
    canvases = []
    for picture, places in laid_out:
        canvas = Canvas(width, height, f"{picture.title}, {picture.caption}")
        picture.put_on(canvas, places, width=width)
        canvases.append(canvas)
    return canvases


def side_by_side(pictures: Iterable[MoleculePicture], title: str) -> Canvas:
    """Draw several pictures on one canvas."""
    laid_out = [(picture, picture.places()) for picture in pictures]
    extents = [_extent(places) for _, places in laid_out]
    width = sum(wide for wide, _ in extents) + _GAP * (len(extents) - 1)
    canvas = Canvas(width, max(high for _, high in extents), title)
    left = 0.0
    for (picture, places), (wide, _) in zip(laid_out, extents, strict=True):
        picture.put_on(canvas, places, left)
        left += wide + _GAP
    return canvas


def put_graph(
    canvas: Canvas,
    points: Sequence[tuple[float, float]],
    edges: Iterable[tuple[int, int, int]],
    fills: Sequence[str],
    texts: Sequence[str],
    *,
    radii: Sequence[float] | float = 15.0,
    shaded: Iterable[int] = (),
) -> None:
    """Draw a graph.

    Parameters
    ----------
    canvas
        The canvas to draw on.
    points
        Position of each node.
    edges
        Node, node, number of strokes.
    fills, texts
        Paint and text of each node.
    radii
        Radius of each disc.
    shaded
        Nodes with a shaded background, which includes the edges between them.

    >>> from twinwl.report.drawing.svg import Canvas
    >>> canvas = Canvas(60, 30, "an edge")
    >>> put_graph(canvas, [(15, 15), (45, 15)], [(0, 1, 1)], ["#fff"] * 2, ["C", "O"])
    >>> canvas.markup().count("<circle")
    2
    """
    edges = list(edges)
    radius_of_node = [float(radii)] * len(points) if isinstance(radii, int | float) else list(radii)
    ground = set(shaded)
    for u, v, _ in edges:
        if u in ground and v in ground:
            canvas.line(*points[u], *points[v], "shade line")
    for node in sorted(ground):
        canvas.circle(*points[node], 23, "shade")
    for u, v, strokes in edges:
        start, end = np.array(points[u]), np.array(points[v])
        along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
        across = np.array([-along[1], along[0]]) * _BETWEEN_STROKES
        for stroke in range(strokes):
            shift = across * (stroke - (strokes - 1) / 2)
            (x1, y1), (x2, y2) = (start + shift).tolist(), (end + shift).tolist()
            canvas.line(x1, y1, x2, y2, "bond")
    for (x, y), fill, text, radius in zip(points, fills, texts, radius_of_node, strict=True):
        canvas.circle(x, y, radius, "disc", fill=fill)
        small = " small" if radius < 13 else ""  # noqa: PLR2004
        canvas.text(x, y + (4 if small else 4.7), text, f"in-disc{small}")


def _extent(places: Float64) -> tuple[float, float]:
    width, height = places.max(axis=0).tolist()
    return max(width + 2 * _MARGIN, _NARROWEST), height + 2 * _MARGIN + _HEADING
