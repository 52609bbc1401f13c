"""Figure 4 of the paper: two real molecules, shaded where they differ, and what each method makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.paper.case_study import CASE_GRAPHS, cosine_of
from twinwl.paper.graph_pictures import MoleculePicture, on_equal_canvases, side_by_side
from twinwl.refinement.colours import refine

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch
    from twinwl.report.drawing.svg import Canvas

# The readme inside Mutagenicity's archive numbers its atoms and bonds so.
_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_CLASSES = {0: "mutagen", 1: "nonmutagen"}


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


def case_pictures(data: Dataset, graphs: tuple[int, int] = CASE_GRAPHS) -> list[Canvas]:
    """Draw the two molecules, each on a canvas of its own, in one scale.

    Parameters
    ----------
    data
        Mutagenicity.
    graphs
        Counted from 1.
    """
    return on_equal_canvases(_pictures(data, graphs))


def case_figure(data: Dataset, graphs: tuple[int, int] = CASE_GRAPHS) -> Canvas:
    """Draw the two molecules side by side on one canvas; parameters as for `case_pictures`."""
    title = f"Graphs {graphs[0]} and {graphs[1]} of {data.name}, shaded where they differ"
    canvas = side_by_side(_pictures(data, graphs), title)
    wl, stwin = (cosine_of(data, features, graphs) for features in ("count", "size"))
    canvas.note(f"{title}. Cosine after two rounds: 1-WL {wl:.4f}, STwin {stwin:.4f}.")
    return canvas


def _pictures(data: Dataset, graphs: tuple[int, int]) -> list[MoleculePicture]:
    pictures = []
    for graph, shaded in zip(graphs, strangers(data, graphs), strict=True):
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
