"""One graph as shapes on a canvas: circles for nodes, strokes for edges, and letters.

The layout of a graph: the same graph always gets the same picture.

Each component is laid out by springs of the length of the shortest paths (Kamada-Kawai), turned so that
its edges lie straight, and the components are packed in rows.

A graph drawn with characters, for terminals: edges in Braille dots, nodes as their labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np

from twinwl.arrays import Bool, Float64, Int64
from twinwl.report.molecule_drawing import lay_out_molecule

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

_GAP = 1.1  # between components, in edge lengths
_ASPECT = 1.35  # width to height of the packed whole
_ANGLES = np.linspace(0.0, np.pi / 2, 90, endpoint=False)
_CLOSEST = 0.8  # nodes nearer than this, in edge lengths, would touch
_PUSHES = 60
_TOUCHING = 0.3  # a node this near to an edge seems to lie on it
_RESTARTS = 6
_LARGEST_RESTARTED = 120
_ITERATIONS_PER_NODE = 60


def spring_positions(graph: GraphBatch) -> Float64:
    """Return coordinates of the nodes of one graph; an edge is about 1 long.

    Parameters
    ----------
    graph
        A batch of one.

    Returns
    -------
    array of float64, shape (n_nodes, 2)
        The smallest coordinate on either axis is 0.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> spring_positions(GraphBatch.from_edges([[(0, 1), (1, 2)]])).shape
    (3, 2)
    """
    sources, targets = graph.arcs()
    drawn = nx.Graph()
    drawn.add_nodes_from(range(graph.n_nodes))
    drawn.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    positions = np.zeros((graph.n_nodes, 2))
    components = [sorted(component) for component in nx.connected_components(drawn)]
    boxes = []
    for nodes in components:
        placed = _component(drawn.subgraph(nodes), nodes)
        positions[nodes] = placed
        boxes.append(placed.max(axis=0))
    for nodes, corner in zip(components, _packed(boxes), strict=True):
        positions[nodes] += corner
    return positions


def _component(component: nx.Graph, nodes: list[int]) -> Float64:
    """Lay out one component, its lower left corner at the origin."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    place = {node: position for position, node in enumerate(nodes)}
    edges = np.array(sorted((min(place[u], place[v]), max(place[u], place[v])) for u, v in component.edges))
    spread = [_apart(_scaled(found, edges)) for found in _candidates(len(nodes), edges)]
    placed = _straightened(min(spread, key=lambda found: _untidiness(found, edges)), edges)
    return placed - placed.min(axis=0)


def _candidates(n_nodes: int, edges: Int64) -> list[Float64]:
    """Relax the springs from a circle and, if the graph is planar, from a drawing without crossings."""
    import igraph  # noqa: PLC0415

    graph = igraph.Graph(n_nodes, edges.tolist())
    angles = 2 * np.pi * np.arange(n_nodes) / n_nodes
    starts = [np.column_stack([np.cos(angles), np.sin(angles)])]
    plain = nx.Graph()
    plain.add_nodes_from(range(n_nodes))
    plain.add_edges_from(edges.tolist())
    planar, _ = nx.check_planarity(plain)
    if planar:
        drawn = nx.planar_layout(plain)
        starts.append(np.array([drawn[node] for node in range(n_nodes)]))
    if n_nodes <= _LARGEST_RESTARTED:  # other ways round the circle may untangle it
        generator = np.random.default_rng(0)
        starts += [generator.permutation(starts[0]) for _ in range(_RESTARTS)]
    relaxed = []
    for start in starts:
        scaled = (start - start.mean(axis=0)) / max(float(start.std()), 1e-9) * np.sqrt(n_nodes) / 2
        layout = graph.layout_kamada_kawai(
            seed=scaled.tolist(), maxiter=_ITERATIONS_PER_NODE * n_nodes, epsilon=1e-6
        )
        relaxed.append(np.array(layout.coords))
    return relaxed


def _scaled(placed: Float64, edges: Int64) -> Float64:
    """Scale the median length of an edge to 1."""
    return placed / max(float(np.median(_lengths(placed, edges))), 1e-9)


def _lengths(placed: Float64, edges: Int64) -> Float64:
    lengths: Float64 = np.linalg.norm(placed[edges[:, 0]] - placed[edges[:, 1]], axis=1)
    return lengths


def _untidiness(placed: Float64, edges: Int64) -> tuple[int, float]:
    """Return a sorting key: few crossings and collisions of edges with nodes first, then even edges."""
    faults = _crossings(placed, edges) + 2 * _collisions(placed, edges)
    return faults, round(float(_lengths(placed, edges).std()), 6)


def _collisions(placed: Float64, edges: Int64) -> int:
    """Count nodes that lie on an edge of others."""
    start, end = placed[edges[:, 0]], placed[edges[:, 1]]
    along = end - start
    to_node = placed[None] - start[:, None]
    share = (to_node * along[:, None]).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-9)[:, None]
    nearest = start[:, None] + np.clip(share, 0, 1)[..., None] * along[:, None]
    distances = np.linalg.norm(placed[None] - nearest, axis=2)
    own = (np.arange(len(placed))[None, :, None] == edges[:, None, :]).any(axis=2)
    return int(((distances < _TOUCHING) & ~own).sum())


def _crossings(placed: Float64, edges: Int64) -> int:
    """Count pairs of edges that cross: each has its ends on either side of the other."""
    start, end = placed[edges[:, 0]], placed[edges[:, 1]]
    along = (end - start)[:, None]
    to_start, to_end = start[None] - start[:, None], end[None] - start[:, None]
    sides = _turn(along, to_start) * _turn(along, to_end)
    shared = (edges[:, None, :, None] == edges[None, :, None, :]).any(axis=(2, 3))
    return int(((sides < 0) & (sides.T < 0) & ~shared).sum()) // 2


def _turn(one: Float64, other: Float64) -> Float64:
    return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]


def _apart(placed: Float64) -> Float64:
    """Push overlapping nodes apart in small steps."""
    for _ in range(_PUSHES):
        across = placed[:, None] - placed[None]
        distances = np.linalg.norm(across, axis=2)
        np.fill_diagonal(distances, np.inf)
        missing = np.clip(_CLOSEST - distances, 0, None)
        if not missing.any():
            break
        # Nodes in the same place have no direction to go: their numbers decide.
        order = np.sign(np.arange(len(placed))[:, None] - np.arange(len(placed)))
        across[distances < 1e-6] = np.array([1.0, 0.5]) * order[distances < 1e-6][:, None]  # noqa: PLR2004
        units = across / np.maximum(np.linalg.norm(across, axis=2), 1e-9)[..., None]
        placed = placed + (units * missing[..., None]).sum(axis=1) / 2
    return placed


def _straightened(placed: Float64, edges: Int64) -> Float64:
    """Rotate the drawing so that many edges are horizontal or vertical and it is wider than high."""
    across = placed[edges[:, 1]] - placed[edges[:, 0]]
    directions = np.arctan2(across[:, 1], across[:, 0])
    slant = np.abs(np.sin(2 * (directions[None] + _ANGLES[:, None]))).sum(axis=1)
    angle = _ANGLES[int(np.argmin(slant.round(6)))]
    turned = placed @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    width, height = np.ptp(turned, axis=0)
    return turned if width >= height - 1e-6 else turned[:, ::-1] * [1, -1]


def _packed(boxes: list[Float64]) -> list[Float64]:
    """Return the corner of each box, packed in rows, largest first, with the best of several widths."""
    order = sorted(range(len(boxes)), key=lambda i: (-boxes[i].sum().round(6), i))
    widest = max((float(box[0]) for box in boxes), default=0.0)
    area = sum(float((box + _GAP).prod()) for box in boxes)
    widths = {max(widest, float(np.sqrt(area * _ASPECT) * stretch)) for stretch in (0.8, 1.0, 1.2, 1.5, 1.8)}
    trials = [_in_rows(boxes, order, width) for width in sorted(widths, reverse=True)]
    extents = [_extent(boxes, corners) for corners in trials] if boxes else []
    # Side by side where that is nearly as good, so that two similar graphs are packed alike.
    good = (
        corners for corners, extent in zip(trials, extents, strict=False) if extent <= 1.15 * min(extents)
    )
    return next(good, [])


def _in_rows(boxes: list[Float64], order: list[int], width: float) -> list[Float64]:
    corners = [np.zeros(2)] * len(boxes)
    x = y = row_height = 0.0
    for index in order:
        if x > 0 and x + boxes[index][0] > width + 1e-9:
            x, y, row_height = 0.0, y + row_height + _GAP, 0.0
        corners[index] = np.array([x, y])
        x += float(boxes[index][0]) + _GAP
        row_height = max(row_height, float(boxes[index][1]))
    return corners


def _extent(boxes: list[Float64], corners: list[Float64]) -> float:
    """Return the height of the smallest canvas of the wanted shape that holds everything."""
    ends = np.array([box + corner for box, corner in zip(boxes, corners, strict=True)]).max(axis=0)
    return round(max(float(ends[0]) / _ASPECT, float(ends[1])), 6)


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
            _text_stroke(canvas, dots[source], dots[target])
    blocks = canvas.reshape(lines, 4, columns, 2).transpose(0, 2, 1, 3)
    codes = (blocks * _BITS).sum(axis=(2, 3))
    grid = [[chr(_BLANK + code) if code else " " for code in line] + [" "] for line in codes.tolist()]
    labels = [str(label)[:2] for label in graph.labels_of_nodes()] if graph.has_node_labels else None
    for node, (x, y) in enumerate(dots.tolist()):
        text = _UNLABELLED if labels is None else labels[node]
        for offset, letter in enumerate(text):
            grid[y // 4][x // 2 + offset] = letter
    return "\n".join("".join(line) for line in grid)


def _text_stroke(canvas: Bool, start: Int64, end: Int64) -> None:
    n_steps = int(np.abs(end - start).max()) + 1
    xs, ys = (np.rint(np.linspace(start[axis], end[axis], n_steps)).astype(np.int64) for axis in (0, 1))
    canvas[ys, xs] = True
