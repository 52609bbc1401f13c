"""The figures of the paper as SVG files, light and dark; 3 (architecture) and 4 (case study) are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.files.atomic import errors_of_writing, written
from twinwl.paper.case_study import CASE_GRAPHS, cosine_of
from twinwl.paper.example_figures import rounds_figure, trees_figure
from twinwl.paper.graph_pictures import MoleculePicture, on_equal_canvases, put_graph, side_by_side
from twinwl.refinement.colours import refine
from twinwl.report.drawing.palette import FILLS
from twinwl.report.drawing.svg import Canvas, standalone

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch

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
