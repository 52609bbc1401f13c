"""A small graph drawn at given positions: discs with text, edges of one or more strokes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twinwl.report.drawing.svg import Canvas

__all__ = ["put_graph"]

_BETWEEN_STROKES = 5.0


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

    Examples
    --------
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
