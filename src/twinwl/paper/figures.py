"""The figures of the paper as SVG files, light and dark; 3 (architecture) and 4 (case study) are here.

Small graphs as the paper's figures show them: discs with letters, bonds with their order.

Figures 1 and 2 of the paper, computed from its worked example.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twinwl.arrays import Float64, Int64
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.generators import worked_example
from twinwl.files.atomic import errors_of_writing, written
from twinwl.graphs.batch import GraphBatch
from twinwl.paper.case_study import CASE_GRAPHS, cosine_of
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes
from twinwl.report.graph_drawing import spring_positions
from twinwl.report.svg import FILLS, Canvas, paint, standalone

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

    >>> from twinwl.report.svg import Canvas
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


# G1 is a ladder; G2 two triangles joined by an edge. In units of an edge.
_PLACES = (
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)],
    [(0, 0.45), (0, 1.55), (0.85, 1), (1.85, 1), (2.7, 0.45), (2.7, 1.55)],
)
_EXAMPLE_EDGE = 58.0
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
        shift = (centre - max(x for x, _ in _PLACES[graph]) * _EXAMPLE_EDGE / 2, 56 + 166 * graph)
        points = [(shift[0] + x * _EXAMPLE_EDGE, shift[1] + y * _EXAMPLE_EDGE) for x, y in _PLACES[graph]]
        fills = [paint(first_paint + colour).fill for colour in colour_of_node.tolist()]
        put_graph(canvas, points, _edges(batch, graph), fills, [str(size) for size in size_of_node.tolist()])
        canvas.text(left, shift[1] + _EXAMPLE_EDGE + 5, ("G₁", "G₂")[graph], "title")
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
        points = [(shift[0] + x * _EXAMPLE_EDGE, shift[1] + y * _EXAMPLE_EDGE) for x, y in _PLACES[graph]]
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


_NODES = [(34.0, 176.0), (84.0, 140.0), (84.0, 212.0), (138.0, 176.0), (192.0, 176.0)]
_EDGES = [(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1)]
_PAINTS = [FILLS[0], FILLS[1], FILLS[2], FILLS[3], FILLS[4]]

# The readme inside Mutagenicity's archive numbers its atoms and bonds so.
_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_CLASSES = {0: "mutagen", 1: "nonmutagen"}


def write_figures(folder: Path, mutagenicity: Dataset | None = None) -> list[Path]:
    """Write the figures into a folder, which is created; return the files.

    Parameters
    ----------
    folder
        Where.
    mutagenicity
        The data set of the case study; without it that figure is left out.

    Raises
    ------
    TwinWLError
        If a file cannot be written.
    """
    drawn = {
        "figure-1-label-and-identity-trees": trees_figure(),
        "figure-2-worked-example": rounds_figure(),
        "figure-3-ntwin": architecture_figure(),
    }
    if mutagenicity is not None:
        drawn["figure-4-case-study"] = case_figure(mutagenicity)
    with errors_of_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.svg" for name in drawn]
    for path, canvas in zip(paths, drawn.values(), strict=True):
        with written(path) as stream:
            stream.write(standalone(canvas).encode())
    return paths


def architecture_figure() -> Canvas:
    """Draw the two encoders of layer k, the pooling and the concatenation.

    >>> architecture_figure().title
    'NTwin-GNN: two encoders per layer, pooled, concatenated over layers, classified'
    """
    canvas = Canvas(
        1036, 340, "NTwin-GNN: two encoders per layer, pooled, concatenated over layers, classified"
    )
    canvas.text(0, 26, "graph G", "title")
    put_graph(canvas, _NODES, _EDGES, _PAINTS, ["", "", "", "", ""])
    canvas.rect(232, 34, 514, 298, "frame", 12)
    canvas.text(244, 26, "layer k = 1 … K", "title")
    _box(
        canvas,
        (250, 62),
        (214, 76),
        "subtree encoder",
        ["1-WL colour of each node", "after k rounds, one-hot"],
        "stwin",
    )
    _box(
        canvas,
        (250, 208),
        (214, 96),
        "rooted subgraph encoder",
        ["GIN (ε = 0) of depth k inside", "each Gᵥ, hₖ hops around v;", "sum over the subgraph"],
        "ntwin",
    )
    _arrow(canvas, 208, 160, 246, 104)
    _arrow(canvas, 208, 192, 246, 252)
    for kind, y in (("stwin", 74), ("ntwin", 230)):
        for place, height in enumerate((26, 38, 20, 44, 30)):
            canvas.rect(502 + 17 * place, y + 50 - height, 11, height, f"bar {kind}", 2.5)
        canvas.text(541, y + 68, "one vector per node", "box-note")
    _arrow(canvas, 468, 100, 494, 100)
    _arrow(canvas, 468, 256, 494, 256)
    _box(canvas, (614, 148), (116, 70), "Σ over nodes", ["[ gᵥ , hᵥ ]", "summed over G"], "")
    _arrow(canvas, 590, 104, 624, 144)
    _arrow(canvas, 590, 256, 624, 222)
    _box(canvas, (772, 148), (112, 70), "concatenate", ["H¹ … Hᴷ", "over layers"], "")
    _arrow(canvas, 732, 183, 768, 183)
    _box(canvas, (926, 148), (108, 70), "classifier", ["2-layer MLP,", "64 hidden units"], "")
    _arrow(canvas, 886, 183, 922, 183)
    canvas.note("hops: growing (hₖ = k) or fixed; the MLPs of the GIN are shared by all layers.")
    return canvas


def _box(
    canvas: Canvas,
    corner: tuple[float, float],
    size: tuple[float, float],
    title: str,
    notes: list[str],
    kind: str,
) -> None:
    (x, y), (width, height) = corner, size
    canvas.rect(x, y, width, height, f"box {kind}".strip(), 10)
    first = y + height / 2 - 8 * len(notes) + 4
    canvas.text(x + width / 2, first, title, "box-text")
    for place, note in enumerate(notes):
        canvas.text(x + width / 2, first + 18 + 15 * place, note, "box-note")


def _arrow(canvas: Canvas, x1: float, y1: float, x2: float, y2: float) -> None:
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    canvas.line(x1, y1, x2 - 6 * ux, y2 - 6 * uy, "flow")
    left, right = (
        (x2 - 9 * ux - 4.5 * uy, y2 - 9 * uy + 4.5 * ux),
        (x2 - 9 * ux + 4.5 * uy, y2 - 9 * uy - 4.5 * ux),
    )
    canvas.path(f"M{x2:.1f} {y2:.1f} L{left[0]:.1f} {left[1]:.1f} L{right[0]:.1f} {right[1]:.1f} Z", "tip")


def strangers(data: Dataset, graphs: tuple[int, int] = CASE_GRAPHS) -> tuple[Int64, Int64]:
    """Return the nodes of each graph whose colour after one round does not occur in the other.

    Parameters
    ----------
    data
        The data set.
    graphs
        Counted from 1.

    >>> from twinwl import load_dataset
    >>> strangers(load_dataset("TWINS", n_pairs=1), (1, 2))[0].tolist()  # 1-WL sees no difference in a pair
    []
    """
    pair = data.graphs[np.array(graphs) - 1]
    colour_of_node = refine(pair, 1).colours[1]
    first, second = (colour_of_node[slice(*pair.graph_ptr[g : g + 2].tolist())] for g in (0, 1))
    return np.flatnonzero(~np.isin(first, second)), np.flatnonzero(~np.isin(second, first))


def case_pictures(data: Dataset) -> list[Canvas]:
    """Draw the two molecules of the case study (of Mutagenicity), each on its own canvas, in one scale."""
    return on_equal_canvases(_pictures(data))


def case_figure(data: Dataset) -> Canvas:
    """Draw the two molecules of the case study side by side on one canvas."""
    first, second = CASE_GRAPHS
    title = f"Graphs {first} and {second} of {data.name}, shaded where they differ"
    canvas = side_by_side(_pictures(data), title)
    wl, stwin = (cosine_of(data, features, CASE_GRAPHS) for features in ("count", "size"))
    canvas.note(f"{title}. Cosine after two rounds: 1-WL {wl:.4f}, STwin {stwin:.4f}.")
    return canvas


def _pictures(data: Dataset) -> list[MoleculePicture]:
    pictures = []
    for graph, shaded in zip(CASE_GRAPHS, strangers(data), strict=True):
        one = data.graphs[graph - 1]
        truth = _CLASSES.get(data.targets[graph - 1].item(), str(data.targets[graph - 1]))
        letters = [_letter(label) for label in one.labels_of_nodes()]
        caption = f"{truth}, {one.n_nodes} atoms"
        strokes = () if one.edge_labels is None else _strokes(one)
        pictures.append(
            MoleculePicture(one, letters, f"Graph {graph}", caption, strokes, tuple(shaded.tolist()))
        )
    return pictures


def _strokes(graph: GraphBatch) -> list[int]:
    """Return how many strokes each bond is drawn with: its label counts from 0."""
    assert graph.edge_labels is not None  # noqa: S101  (checked by the caller)
    orders = [graph.edge_vocabulary[code] for code in graph.edge_labels.tolist()]
    return [order + 1 if isinstance(order, int) else 1 for order in orders]


def _letter(label: object) -> str:
    return _ATOMS[label] if isinstance(label, int) and 0 <= label < len(_ATOMS) else str(label)[:2]
