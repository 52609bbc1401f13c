"""One graph as shapes on a canvas: circles for nodes, strokes for edges, and letters.

The layout of a graph: the same graph always gets the same picture. Each component is laid out by springs of
the length of the shortest paths (Kamada-Kawai), turned so that its edges lie straight, and the components are
packed in rows. Molecules are laid out by RDKit, as structural formulas.

Paints for colours: light enough for dark numbers on them, and distinct for colour-blind readers. The fills
are Paul Tol's "light" scheme, made for filling labelled cells. From the tenth class on, a class has a fill
and a ring of another paint, so there are 81 combinations before any repeats.

Drawings are written as SVG, or with characters, for terminals: edges in Braille dots, nodes as their labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np

from twinwl.arguments import Float64, Int64
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
    drawn = nx.Graph(zip(*(ends.tolist() for ends in graph.arcs())))
    drawn.add_nodes_from(range(graph.n_nodes))
    components = [tuple(sorted(component)) for component in nx.connected_components(drawn)]
    boxes = {nodes: _component(drawn.subgraph(nodes)) for nodes in components}
    largest_first = sorted(boxes, key=lambda nodes: (-boxes[nodes].max(axis=0).sum().round(6), nodes))
    area = sum(float((box.max(axis=0) + _GAP).prod()) for box in boxes.values())
    width = max([float(np.sqrt(area * _ASPECT)), *(float(box[:, 0].max()) for box in boxes.values())])
    positions = np.zeros((graph.n_nodes, 2))
    x = y = row_height = 0.0
    for nodes in largest_first:
        wide, high = boxes[nodes].max(axis=0).tolist()
        if x > 0 and x + wide > width + 1e-9:
            x, y, row_height = 0.0, y + row_height + _GAP, 0.0
        positions[list(nodes)] = boxes[nodes] + [x, y]
        x, row_height = x + wide + _GAP, max(row_height, high)
    return positions


def _component(component: nx.Graph) -> Float64:
    """Lay out one component, its lower left corner at the origin."""
    nodes = sorted(component)
    if len(nodes) == 1:
        return np.zeros((1, 2))
    edges = np.sort(np.searchsorted(nodes, np.array(component.edges)), axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    spread = [
        _apart(found / max(float(np.median(_lengths(found, edges))), 1e-9))
        for found in _candidates(len(nodes), edges)
    ]
    placed = _straightened(min(spread, key=lambda found: _untidiness(found, edges)), edges)
    return placed - placed.min(axis=0)


def _candidates(n_nodes: int, edges: Int64) -> list[Float64]:
    """Relax the springs from a circle and, if the graph is planar, from a drawing without crossings."""
    import igraph  # noqa: PLC0415

    graph = igraph.Graph(n_nodes, edges.tolist())
    angles = 2 * np.pi * np.arange(n_nodes) / n_nodes
    starts = [np.column_stack([np.cos(angles), np.sin(angles)])]
    plain = nx.Graph(edges.tolist())
    if nx.is_planar(plain):
        drawn = nx.planar_layout(plain)
        starts.append(np.array([drawn[node] for node in range(n_nodes)]))
    if n_nodes <= _LARGEST_RESTARTED:  # other ways round the circle may untangle it
        generator = np.random.default_rng(0)
        starts += [generator.permutation(starts[0]) for _ in range(_RESTARTS)]
    steps = {"maxiter": _ITERATIONS_PER_NODE * n_nodes, "epsilon": 1e-6}
    scale = np.sqrt(n_nodes) / 2
    seeds = [(start - start.mean(axis=0)) / max(float(start.std()), 1e-9) * scale for start in starts]
    return [np.array(graph.layout_kamada_kawai(seed=seed.tolist(), **steps).coords) for seed in seeds]


def _lengths(placed: Float64, edges: Int64) -> Float64:
    return np.linalg.norm(placed[edges[:, 0]] - placed[edges[:, 1]], axis=1)


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


RADIUS = 16.0
_EDGE = 56.0  # length of an edge, in the units of the canvas
_MARGIN = 34.0
_SMALLEST = (330.0, 210.0)  # a smaller canvas would make the nodes of small graphs huge
_SECOND_STROKE = 5.5
_MOST_EDGE_LABELS = 48  # more of them hide the drawing
_SIDES = {(1, 0): "right", (-1, 0): "left", (0, 1): "below", (0, -1): "above"}
_CORNERS = ((1, -1), (-1, -1), (1, 1), (-1, 1))


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

    def centred(self, width: float, height: float, head: float = 0) -> Drawing:
        """Return the same drawing in the middle of a larger canvas, below a head of some height."""
        x, y = (width - self.width) / 2, (height - self.height) / 2 + head
        letters, edge_letters = (
            [letter._replace(x=letter.x + x, y=letter.y + y) for letter in found]
            for found in (self.letters, self.edge_letters)
        )
        strokes = [s._replace(x1=s.x1 + x, y1=s.y1 + y, x2=s.x2 + x, y2=s.y2 + y) for s in self.strokes]
        return Drawing(self.points + np.array([x, y]), strokes, letters, edge_letters, width, height)


def draw(graph: GraphBatch, molecule: Chem.Mol | str | None = None) -> Drawing:
    """Lay out one graph, as a molecule if one (or its SMILES) is given.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> len(draw(GraphBatch.from_edges([[(0, 1), (1, 2)]])).strokes)
    2
    """
    letters, edge_letters = [], []
    if molecule is None:
        points = spring_positions(graph) * _EDGE + _MARGIN
        strokes = _plain_strokes(graph, points)
        edge_letters = _edge_letters(graph, points)
    else:
        atoms = read_molecule(molecule)
        points = _formula(atoms) * _EDGE + _MARGIN
        strokes = _bonds(atoms, points)
        elements = [atom.GetSymbol() for atom in atoms.GetAtoms()]
        # Carbon is a corner of the formula, but a single one needs a letter to be visible.
        texts = {node: text for node, text in enumerate(elements) if text != "C" or len(elements) == 1}
        letters = [_beside(text, node, graph, points) for node, text in texts.items()]
    width, height = (points.max(axis=0) + _MARGIN).tolist() if len(points) else (0.0, 0.0)
    return Drawing(points, strokes, letters, edge_letters, width, height)


def on_one_canvas(drawings: list[Drawing]) -> list[Drawing]:
    """Centre drawings on canvases of one size, so that an edge is equally long in all of them."""
    width, height = np.max([_SMALLEST, *((each.width, each.height) for each in drawings)], axis=0).tolist()
    return [each.centred(width, height) for each in drawings]


def _plain_strokes(graph: GraphBatch, points: Float64) -> list[Stroke]:
    sources, targets = graph.arcs()
    arcs = set(zip(sources.tolist(), targets.tolist()))
    strokes = []
    for u, v in sorted(arcs):
        both = (v, u) in arcs
        if both and u > v:
            continue
        tip = _unit(points[v] - points[u]) * (RADIUS + 2) * graph.directed  # arrows end at the rim of a disc
        style = ("arrows" if both else "arrow") if graph.directed else "line"
        strokes.append(_stroke(u, v, points[u] + tip * both, points[v] - tip, style))
    return strokes


def _formula(molecule: Chem.Mol) -> Float64:
    """Return positions of the atoms as RDKit draws them; a bond is about 1 long and y points down."""
    depictor = import_extra("rdkit.Chem.rdDepictor", "chem")
    depictor.Compute2DCoords(molecule)
    depictor.StraightenDepiction(molecule)
    found = molecule.GetConformer().GetPositions()[:, :2] * [1, -1] / 1.5  # in RDKit a bond is 1.5 long
    return found - found.min(axis=0) if len(found) else found


def _bonds(molecule: Chem.Mol, points: Float64) -> list[Stroke]:
    """Return the strokes of all bonds; the second stroke of a bond in a ring lies inside the ring."""
    centres: dict[int, Float64] = {}
    rings = molecule.GetRingInfo()
    # Small rings last: a bond shared by two rings gets its second stroke in the smaller one.
    for atoms, bonds in sorted(zip(rings.AtomRings(), rings.BondRings()), key=lambda ring: -len(ring[0])):
        centres |= dict.fromkeys(bonds, points[list(atoms)].mean(axis=0))
    strokes = []
    for bond in molecule.GetBonds():
        u, v = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        kind, centre = bond.GetBondType().name, centres.get(bond.GetIdx())
        along = _unit(points[v] - points[u])
        across = np.array([-along[1], along[0]]) * _SECOND_STROKE
        if centre is not None and across @ (centre - points[u]) < 0:
            across = -across
        shifts = {"DOUBLE": (0.5, -0.5), "TRIPLE": (0, 1, -1)}.get(kind, (0,))
        if centre is not None and kind in {"DOUBLE", "AROMATIC"}:
            shifts = (0, 1)
        for shift in shifts:
            style = "dashed" if kind == "AROMATIC" and shift else "line"
            strokes.append(_stroke(u, v, points[u] + shift * across, points[v] + shift * across, style))
    return strokes


def read_molecule(molecule: Chem.Mol | str) -> Chem.Mol:
    """Return a copy of a molecule that may be drawn on; a SMILES is parsed."""
    chem = import_extra("rdkit.Chem", "chem")
    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # what it warns of was told when the data was read
        return chem.MolFromSmiles(molecule) if isinstance(molecule, str) else chem.Mol(molecule)


class AtomText(NamedTuple):
    """Text at an atom; carbon has an empty element and no text."""

    element: str
    hydrogens: int
    charge: str
    side: str
    """Position of the hydrogens: ``right``, ``left``, ``below`` or ``above`` the element."""
    corner: tuple[int, int]
    """Position of the charge, as signs of x and y."""


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
    >>> atom_texts("CCO", ethanol, np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))[2]
    AtomText(element='O', hydrogens=1, charge='', side='right', corner=(1, -1))
    """
    texts = []
    for node, atom in enumerate(read_molecule(molecule).GetAtoms()):
        element, charge = str(atom.GetSymbol()), int(atom.GetFormalCharge())
        neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        if element == "C" and not charge and len(neighbours) and not atom.GetNumRadicalElectrons():
            texts.append(AtomText("", 0, "", "right", (1, -1)))
            continue
        bonds = points[neighbours] - points[node]
        bonds /= np.maximum(np.linalg.norm(bonds, axis=1, keepdims=True), 1e-9)
        texts.append(
            AtomText(
                element,
                int(atom.GetTotalNumHs()),
                _shown_charge(charge),
                _SIDES[_roomiest(bonds, _SIDES, 0.5)],  # no bond within 60 degrees
                _roomiest(bonds, _CORNERS, 1.1),  # none within 39 degrees
            )
        )
    return texts


def _roomiest(bonds: Float64, ways: Iterable[tuple[int, int]], near: float) -> tuple[int, int]:
    """Return the first way without a bond near it, or the one where the nearest bond is farthest."""
    nearest_bond = {way: float((bonds @ way).max(initial=-2.0)) for way in ways}
    free = (way for way, cosine in nearest_bond.items() if cosine < near)
    return next(free, min(nearest_bond, key=lambda way: round(nearest_bond[way], 3)))


def _shown_charge(charge: int) -> str:
    size = "" if abs(charge) == 1 else str(abs(charge))
    return f"{size}{'+' if charge > 0 else '−'}" if charge else ""


def _stroke(u: int, v: int, start: Float64, end: Float64, style: str) -> Stroke:
    (x1, y1), (x2, y2) = start.tolist(), end.tolist()
    return Stroke(u, v, x1, y1, x2, y2, style)


def _beside(text: str, node: int, graph: GraphBatch, points: Float64) -> Letter:
    """Put a letter next to its node, in the widest gap between its edges."""
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    across = points[neighbours] - points[node]
    angles, angle = np.sort(np.arctan2(across[:, 1], across[:, 0])), -np.pi / 2
    if len(angles):
        gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
        widest = int(np.argmax(gaps.round(6)))
        angle = angles[widest] + gaps[widest] / 2
    distance = RADIUS + 6 + 4 * len(text)
    x, y = points[node] + distance * np.array([np.cos(angle), np.sin(angle)])
    return Letter(text, float(x), float(y), node)


def _edge_letters(graph: GraphBatch, points: Float64) -> list[Letter]:
    if graph.edge_labels is None or graph.n_edges > _MOST_EDGE_LABELS:
        return []
    sources, targets = graph.arcs()
    letters = []
    for u, v, code in zip(sources.tolist(), targets.tolist(), graph.edge_labels.tolist()):
        if u < v or graph.directed:
            share = 0.5 if u < v else 0.35  # so that labels of opposite arcs lie apart
            x, y = (points[u] * share + points[v] * (1 - share)).tolist()
            text = str(graph.edge_vocabulary[code])
            letters.append(Letter(text if len(text) <= 8 else text[:7] + "…", x, y))  # noqa: PLR2004
    return letters


def _unit(vector: Float64) -> Float64:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def svg_of(
    graph: GraphBatch,
    molecule: str | None = None,
    *,
    title: str = "",
    size: tuple[float, float] = (0, 0),
    root: int | None = None,
    slots: dict[object, int] | None = None,
) -> str:
    """Return one graph as an SVG element: nodes painted by label, the carbons of a molecule as corners.

    Parameters
    ----------
    graph
        A batch of one.
    molecule
        Its SMILES, to draw a structural formula.
    title
        Written above the drawing.
    size
        Smallest width and height of the drawing.
    root
        A node with a ring around it.
    slots
        Paint of each label, which grows; so that a label has one colour in several pictures.
    """
    drawing, slots = draw(graph, molecule), {} if slots is None else slots
    width, height = max(size[0], drawing.width), max(size[1], drawing.height)
    head = 30 if title else 0
    drawing = drawing.centred(width, height, head)
    shapes = [f'<text class="caption" x="0" y="16">{escape(title)}</text>'] if title else []
    for stroke in drawing.strokes:
        ends = f'x1="{stroke.x1:.1f}" y1="{stroke.y1:.1f}" x2="{stroke.x2:.1f}" y2="{stroke.y2:.1f}"'
        shapes.append(f'<line class="bond {stroke.style}" {ends} stroke="#888" stroke-width="3"/>')
    points = [f'cx="{x:.1f}" cy="{y:.1f}"' for x, y in drawing.points.tolist()]
    if root is not None:
        ring = f'r="{RADIUS + 7:g}" fill="none" stroke="#c00" stroke-width="4"'
        shapes.append(f"<circle {points[root]} {ring}><title>root</title></circle>")
    for point, label in zip(points, graph.labels_of_nodes()):
        text = str(label) if graph.has_node_labels else ""
        if molecule is not None and text == "C":
            continue
        look = paint(slots.setdefault(label, len(slots)))
        line = f'stroke="{look.ring or "#444"}" stroke-width="{4 if look.ring else 1.5}"'
        shapes.append(f'<circle class="disc" {point} r="{RADIUS:g}" fill="{look.fill}" {line}/>')
        if text:
            place = f'{point.replace("c", "")} dy="6" text-anchor="middle"'
            shapes.append(
                f'<text class="in-disc" {place} font-size="17" fill="#222">{escape(text[:3])}</text>'
            )
    about = f' role="img" aria-label="{escape(title)}"' if title else ""
    box = f'viewBox="0 0 {width:.0f} {height + head:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}{about}>{"".join(shapes)}</svg>'


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
    canvas = np.zeros((4 * lines, 2 * columns), dtype=bool)
    sources, targets = graph.arcs()
    for source, target in zip(sources.tolist(), targets.tolist()):
        if source < target or graph.directed:
            n_steps = int(np.abs(dots[target] - dots[source]).max()) + 1
            xs, ys = np.rint(np.linspace(dots[source], dots[target], n_steps)).astype(np.int64).T
            canvas[ys, xs] = True
    blocks = canvas.reshape(lines, 4, columns, 2).transpose(0, 2, 1, 3)
    codes = (blocks * _BITS).sum(axis=(2, 3))
    grid = [[chr(_BLANK + code) if code else " " for code in line] + [" "] for line in codes.tolist()]
    for label, (x, y) in zip(graph.labels_of_nodes(), dots.tolist()):
        text = str(label)[:2] if graph.has_node_labels else "●"
        grid[y // 4][x // 2 : x // 2 + len(text)] = text
    return "\n".join("".join(line) for line in grid)
