"""One graph as shapes on a canvas: circles for nodes, strokes for edges, and letters.

The layout of a graph: the same graph always gets the same picture. Each component is laid out by springs of
the length of the shortest paths (Kamada-Kawai), turned so that its edges lie straight, and the components are
packed in rows. Molecules are laid out by RDKit, as structural formulas.

Paints for colours: light enough for dark numbers on them, and distinct for colour-blind readers. The fills
are Paul Tol's "light" scheme, made for filling labelled cells. From the tenth class on, a class has a fill
and a ring of another paint, so there are 81 combinations before any repeats.

A graph can also be drawn with characters, for terminals: edges in Braille dots, nodes as their labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import igraph
import networkx as nx
import numpy as np

from twinwl.arrays import Float64, Int64
from twinwl.errors import import_extra

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

FILLS = (
    "#77aadd",  # blue
    "#ee8866",  # orange
    "#eedd88",  # yellow
    "#44bb99",  # mint
    "#ffaabb",  # pink
    "#bbcc33",  # pear
    "#99ddff",  # cyan
    "#aaaa00",  # olive
    "#dddddd",  # grey
)


class Paint(NamedTuple):
    """How a class of nodes is painted."""

    fill: str
    ring: str | None


def paint(slot: int) -> Paint:
    """Return the paint of a class.

    >>> paint(0), paint(9)
    (Paint(fill='#77aadd', ring=None), Paint(fill='#77aadd', ring='#ee8866'))
    """
    turn, place = divmod(slot % len(FILLS) ** 2, len(FILLS))
    return Paint(FILLS[place], FILLS[(place + turn) % len(FILLS)] if turn else None)


_GAP = 1.1  # between components, in edge lengths
_ASPECT = 1.35  # width to height of the packed whole
_ANGLES = np.linspace(0.0, np.pi / 2, 90, endpoint=False)
_CLOSEST = 0.8  # nodes nearer than this, in edge lengths, would touch
_PUSHES = 60
_ITERATIONS_PER_NODE = 60
_RESTARTS = 5
_LARGEST_RESTARTED = 120  # nodes; larger graphs take a second per start


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
    whole = ends_joined(graph)
    boxes = [(nodes, _component(whole.induced_subgraph(nodes))) for nodes in whole.connected_components()]
    boxes.sort(key=lambda box: (-box[1].max(axis=0).sum().round(6), box[0]))  # the largest first
    area = sum(float((placed.max(axis=0) + _GAP).prod()) for _, placed in boxes)
    width = max([np.sqrt(area * _ASPECT), *(placed[:, 0].max() for _, placed in boxes)])
    positions = np.zeros((graph.n_nodes, 2))
    x = y = row_height = 0.0
    for nodes, placed in boxes:
        wide, high = placed.max(axis=0).tolist()
        if x > 0 and x + wide > width + 1e-9:
            x, y, row_height = 0.0, y + row_height + _GAP, 0.0
        positions[nodes] = placed + np.array([x, y])
        x, row_height = x + wide + _GAP, max(row_height, high)
    return positions


def ends_joined(graph: GraphBatch) -> igraph.Graph:
    """Return one graph for igraph, without labels and directions."""
    return igraph.Graph(graph.n_nodes, np.column_stack(graph.arcs()).tolist())


def _component(graph: igraph.Graph) -> Float64:
    """Lay out one component, its lower left corner at the origin."""
    n_nodes = graph.vcount()
    if n_nodes == 1:
        return np.zeros((1, 2))
    edges = np.unique(np.sort(graph.get_edgelist(), axis=1), axis=0)
    plain, generator = nx.Graph(edges.tolist()), np.random.default_rng(0)
    laid_out = (nx.planar_layout if nx.is_planar(plain) else nx.circular_layout)(
        plain, scale=np.sqrt(n_nodes)
    )
    first = np.array([laid_out[node] for node in range(n_nodes)])
    steps = {"maxiter": _ITERATIONS_PER_NODE * n_nodes, "epsilon": 1e-6}
    found = []
    restarts = _RESTARTS if n_nodes <= _LARGEST_RESTARTED else 0
    for start in [first, *(generator.permutation(first) for _ in range(restarts))]:
        relaxed = np.array(graph.layout_kamada_kawai(seed=start.tolist(), **steps).coords)
        found.append(_apart(relaxed / max(float(np.median(_lengths(relaxed, edges))), 1e-9)))
    # Springs that got stuck have long and short edges, often across other edges and nodes.
    tidiest = min(found, key=lambda placed: round(float(_lengths(placed, edges).std()), 6))
    placed = _straighten(tidiest, edges)
    return placed - placed.min(axis=0)


def _lengths(placed: Float64, edges: Int64) -> Float64:
    return np.linalg.norm(placed[edges[:, 0]] - placed[edges[:, 1]], axis=1)


def _apart(placed: Float64) -> Float64:
    """Push overlapping nodes apart in small steps."""
    # Nodes in the same place have no direction to go unless they are moved a little.
    placed = placed + 1e-9 * np.arange(len(placed))[:, None] * [1.0, 0.5]
    for _ in range(_PUSHES):
        across = placed[:, None] - placed[None]
        distances = np.linalg.norm(across, axis=2)
        np.fill_diagonal(distances, np.inf)
        missing = np.clip(_CLOSEST - distances, 0, None)
        if not missing.any():
            break
        placed = placed + (across * (missing / distances)[..., None]).sum(axis=1) / 2
    return placed


def _straighten(placed: Float64, edges: Int64) -> Float64:
    """Rotate the drawing so that many edges are horizontal or vertical and it is wider than high."""
    points = placed[:, 0] + 1j * placed[:, 1]  # as complex numbers, which are turned by multiplication
    directions = np.angle(points[edges[:, 1]] - points[edges[:, 0]])
    slant = np.abs(np.sin(2 * (directions + _ANGLES[:, None]))).sum(axis=1)
    points *= np.exp(1j * _ANGLES[np.argmin(slant.round(6))])
    if np.ptp(points.real) < np.ptp(points.imag) - 1e-6:
        points *= -1j
    return np.column_stack([points.real, points.imag])


RADIUS = 16.0
_EDGE = 56.0  # length of an edge, in the units of the canvas
_MARGIN = 34.0
SMALLEST = (330.0, 210.0)  # a smaller canvas would make the nodes of small graphs huge
_SECOND_STROKE = 5.5
_MOST_EDGE_LABELS = 48  # more of them hide the drawing
_SIDES: dict[tuple[float, float], str] = {(1, 0): "right", (-1, 0): "left", (0, 1): "below", (0, -1): "above"}
_CORNERS = ((1, -1), (-1, -1), (1, 1), (-1, 1))
_DIRECTIONS = [(np.sin(turn), -np.cos(turn)) for turn in np.arange(24) * np.pi / 12]  # upwards first


class Stroke(NamedTuple):
    """A line of an edge; a double bond has two of them."""

    source: int
    target: int
    style: str
    """``line``, ``dashed``, ``arrow`` or ``arrows`` (pointing both ways)."""
    x1: float
    y1: float
    x2: float
    y2: float


class Letter(NamedTuple):
    """The label of an edge."""

    text: str
    x: float
    y: float


class AtomText(NamedTuple):
    """Text at an atom; carbon has an empty element and no text."""

    element: str
    hydrogens: int
    charge: str
    side: str
    """Position of the hydrogens: ``right``, ``left``, ``below`` or ``above`` the element."""
    corner: tuple[float, float]
    """Position of the charge, as signs of x and y."""
    beside: tuple[float, float]
    """From the atom to a place for its element beside a disc: the direction farthest from its bonds."""


@dataclass(frozen=True)
class Drawing:
    """A graph with a layout, ready to be written as SVG.

    Attributes
    ----------
    points : array of float64, shape (n_nodes, 2)
    strokes, edge_letters
        The other shapes.
    texts : list of AtomText
        One per atom of a molecule; empty for other graphs.
    width, height : float
        Size of the canvas.
    """

    points: Float64
    strokes: list[Stroke]
    edge_letters: list[Letter]
    texts: list[AtomText]
    width: float
    height: float


def draw(
    graph: GraphBatch, molecule: Chem.Mol | str | None = None, smallest: tuple[float, float] = (0, 0)
) -> Drawing:
    """Lay out one graph, as a molecule if one (or its SMILES) is given, in the middle of its canvas.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> len(draw(GraphBatch.from_edges([[(0, 1), (1, 2)]])).strokes)
    2
    """
    return on_one_canvas([graph], [molecule], smallest)[0]


def on_one_canvas(
    graphs: Sequence[GraphBatch],
    molecules: Sequence[Chem.Mol | str | None],
    smallest: tuple[float, float] = SMALLEST,
) -> list[Drawing]:
    """Draw graphs on canvases of one size, so that an edge is equally long in all of them."""
    atoms = [None if molecule is None else read_molecule(molecule) for molecule in molecules]
    layouts = [
        _EDGE * (spring_positions(graph) if each is None else _formula(each))
        for graph, each in zip(graphs, atoms)
    ]
    extents = [points.max(axis=0, initial=-2 * _MARGIN) + 2 * _MARGIN for points in layouts]
    canvas = np.max([smallest, *extents], axis=0).tolist()
    return [
        _drawing(graph, each, points + (np.array(canvas) - extent) / 2 + _MARGIN, canvas)
        for graph, each, points, extent in zip(graphs, atoms, layouts, extents)
    ]


def _drawing(graph: GraphBatch, atoms: Chem.Mol | None, points: Float64, canvas: list[float]) -> Drawing:
    if atoms is None:
        return Drawing(points, _plain_strokes(graph, points), _edge_letters(graph, points), [], *canvas)
    return Drawing(points, _bonds(atoms, points), [], atom_texts(atoms, graph, points), *canvas)


def _plain_strokes(graph: GraphBatch, points: Float64) -> list[Stroke]:
    arcs = set(zip(*(ends.tolist() for ends in graph.arcs())))
    strokes = []
    for u, v in sorted(arcs):
        both = (v, u) in arcs
        if both and u > v:
            continue
        tip = _unit(points[v] - points[u]) * (RADIUS + 2) * graph.directed  # arrows end at the rim of a disc
        style = ("arrows" if both else "arrow") if graph.directed else "line"
        ends = np.concatenate([points[u] + tip * both, points[v] - tip])
        strokes.append(Stroke(u, v, style, *ends.tolist()))
    return strokes


def _formula(molecule: Chem.Mol) -> Float64:
    """Return positions of the atoms as RDKit draws them; a bond is about 1 long and y points down."""
    depictor = import_extra("rdkit.Chem.rdDepictor", "chem")
    depictor.Compute2DCoords(molecule)
    depictor.StraightenDepiction(molecule)
    result = molecule.GetConformer().GetPositions()[:, :2] * [1, -1] / 1.5  # in RDKit a bond is 1.5 long
    return result - result.min(axis=0) if len(result) else result


def _bonds(molecule: Chem.Mol, points: Float64) -> list[Stroke]:
    """Return the strokes of all bonds; the second stroke of a bond in a ring lies inside the ring."""
    rings = molecule.GetRingInfo().AtomRings()
    strokes = []
    for bond in molecule.GetBonds():
        u, v = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        kind = bond.GetBondType().name
        across = _unit(points[v] - points[u])[::-1] * [-_SECOND_STROKE, _SECOND_STROKE]
        shifts = {"DOUBLE": (0.5, -0.5), "TRIPLE": (0, 1, -1)}.get(kind, (0,))
        if bond.IsInRing() and kind in {"DOUBLE", "AROMATIC"}:
            # A bond shared by two rings gets its second stroke in the smaller one.
            ring = min((ring for ring in reversed(rings) if {u, v} <= set(ring)), key=len)
            inwards = across @ (points[list(ring)].mean(axis=0) - points[u])
            shifts = (0, 1 if inwards >= 0 else -1)
        for shift in shifts:
            style = "dashed" if kind == "AROMATIC" and shift else "line"
            ends = (points[[u, v]] + shift * across).ravel()
            strokes.append(Stroke(u, v, style, *ends.tolist()))
    return strokes


def read_molecule(molecule: Chem.Mol | str) -> Chem.Mol:
    """Return a copy of a molecule that may be drawn on; a SMILES is parsed."""
    chem = import_extra("rdkit.Chem", "chem")
    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # its warnings were shown when the data was read
        return chem.MolFromSmiles(molecule) if isinstance(molecule, str) else chem.Mol(molecule)


def atom_texts(molecule: Chem.Mol | str, graph: GraphBatch, points: Float64) -> list[AtomText]:
    """Return the text of each atom of a drawn molecule.

    Parameters
    ----------
    molecule
        The molecule, or its SMILES.
    graph
        The molecule as a graph, nodes in the order of the atoms.
    points : array of float64, shape (n_atoms, 2)
        Positions of the atoms; y points down.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> ethanol = GraphBatch.from_smiles(["CCO"])
    >>> atom_texts("CCO", ethanol, np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))[2][:5]
    ('O', 1, '', 'right', (1, -1))
    """
    texts = []
    for node, atom in enumerate(read_molecule(molecule).GetAtoms()):
        element, charge = str(atom.GetSymbol()), int(atom.GetFormalCharge())
        bonds = _unit(points[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] - points[node])
        if element == "C" and not charge and len(bonds) and not atom.GetNumRadicalElectrons():
            element = ""  # a corner of the formula
        size = "" if abs(charge) == 1 else str(abs(charge))
        distance, away = RADIUS + 8 + 4 * len(element), _roomiest(bonds, _DIRECTIONS, -2.0)
        texts.append(
            AtomText(
                element,
                int(atom.GetTotalNumHs()),
                f"{size}{'+' if charge > 0 else '−'}" if charge else "",
                _SIDES[_roomiest(bonds, _SIDES, 0.5)],  # no bond within 60 degrees
                _roomiest(bonds, _CORNERS, 1.1),  # none within 39 degrees
                (distance * away[0], distance * away[1]),
            )
        )
    return texts


def _roomiest(bonds: Float64, ways: Iterable[tuple[float, float]], near: float) -> tuple[float, float]:
    """Return the first way without a bond near it, or the one where the nearest bond is farthest."""
    nearest_bond = {way: float((bonds @ way).max(initial=-2.0)) for way in ways}
    free = (way for way, cosine in nearest_bond.items() if cosine < near)
    return next(free, min(nearest_bond, key=lambda way: round(nearest_bond[way], 3)))


def _edge_letters(graph: GraphBatch, points: Float64) -> list[Letter]:
    if graph.edge_labels is None or graph.n_edges > _MOST_EDGE_LABELS:
        return []
    letters = []
    for u, v, code in zip(*graph.arcs(), graph.edge_labels):
        if u < v or graph.directed:
            share = 0.5 if u < v else 0.35  # so that labels of opposite arcs lie apart
            place = points[u] * share + points[v] * (1 - share)
            text = str(graph.edge_vocabulary[code])
            letters.append(Letter(text if len(text) <= 8 else text[:7] + "…", *place.tolist()))  # noqa: PLR2004
    return letters


def _unit(vectors: Float64) -> Float64:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


_BLANK = 0x2800  # the Braille character without a dot
# The bit of each of the 4 × 2 dots of a Braille character.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_DOTS_PER_EDGE = 11


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
    places = spring_positions(graph)
    extent = np.maximum(places.max(axis=0), 1e-9)
    # The last column is for the second letter of a label.
    scale = min(_DOTS_PER_EDGE, (2 * width - 4) / extent[0], (4 * height - 4) / extent[1])
    dots = np.rint(places * scale).astype(np.int64) + np.array([0, 1])
    columns, lines = (dots.max(axis=0) // [2, 4] + 1).tolist()
    codes = np.zeros((lines, columns), np.int64)
    for start, end in zip(*(dots[ends] for ends in graph.arcs())):
        n_steps = int(np.abs(end - start).max()) + 1
        xs, ys = np.rint(np.linspace(start, end, n_steps)).astype(np.int64).T
        np.bitwise_or.at(codes, (ys // 4, xs // 2), _BITS[ys % 4, xs % 2])
    grid = [[chr(_BLANK + code) if code else " " for code in line] + [" "] for line in codes.tolist()]
    for label, (x, y) in zip(graph.labels_of_nodes(), dots.tolist()):
        text = str(label)[:2] if graph.has_node_labels else "●"
        grid[y // 4][x // 2 : x // 2 + len(text)] = text
    return "\n".join("".join(line) for line in grid)
