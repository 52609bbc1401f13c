"""The layout of a graph: the same graph always gets the same picture.

Each component is laid out by springs of the length of the shortest paths (Kamada-Kawai), turned so that
its edges lie straight, and the components are packed in rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
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
