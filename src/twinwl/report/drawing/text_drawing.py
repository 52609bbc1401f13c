"""A graph drawn with characters, for terminals: edges in Braille dots, nodes as their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.report.drawing.layout import spring_positions

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int64
    from twinwl.graphs.batch import GraphBatch

_BLANK = 0x2800  # the Braille character without a dot
# The bit of each of the 4 × 2 dots of a Braille character.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_DOTS_PER_EDGE = 11
_UNLABELLED = "●"


def text_drawing(graph: GraphBatch, width: int = 60, height: int = 20) -> str:
    r"""Draw one graph.

    Parameters
    ----------
    graph
        A batch of one.
    width, height
        The most columns and lines to take.

    Returns
    -------
    str
        Lines of equal length.

    >>> from twinwl import GraphBatch
    >>> text_drawing(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "C"]]))
    'C⠒⠒⠒⠒C '
    """
    if graph.n_nodes == 0:
        return "(no nodes)"
    cells_wide, cells_high = width - 1, height  # the last column is for the second letter of a label
    places = spring_positions(graph)
    extent = np.maximum(places.max(axis=0), 1e-9)
    scale = min(_DOTS_PER_EDGE, (2 * cells_wide - 2) / extent[0], (4 * cells_high - 4) / extent[1])
    dots = np.rint(places * scale).astype(np.int64) + np.array([0, 1])
    columns, lines = (dots.max(axis=0) // [2, 4] + 1).tolist()
    canvas = np.zeros((4 * lines, 2 * columns), dtype=bool)
    sources, targets = graph.arcs()
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        if source < target or graph.directed:
            _stroke(canvas, dots[source], dots[target])
    blocks = canvas.reshape(lines, 4, columns, 2).transpose(0, 2, 1, 3)
    codes = (blocks * _BITS).sum(axis=(2, 3))
    grid = [[chr(_BLANK + code) if code else " " for code in line] + [" "] for line in codes.tolist()]
    labels = [str(label)[:2] for label in graph.labels_of_nodes()] if graph.has_node_labels else None
    for node, (x, y) in enumerate(dots.tolist()):
        text = _UNLABELLED if labels is None else labels[node]
        for offset, letter in enumerate(text):
            grid[y // 4][x // 2 + offset] = letter
    return "\n".join("".join(line) for line in grid)


def _stroke(canvas: Bool, start: Int64, end: Int64) -> None:
    n_steps = int(np.abs(end - start).max()) + 1
    xs, ys = (np.rint(np.linspace(start[axis], end[axis], n_steps)).astype(np.int64) for axis in (0, 1))
    canvas[ys, xs] = True
