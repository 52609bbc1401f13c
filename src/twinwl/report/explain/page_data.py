"""The content of the page and the picture of an explanation, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.refinement.colours import refine
from twinwl.report.compare.page import LARGEST_DRAWN, shown_label
from twinwl.report.drawing.graph_drawing import Drawing, draw, on_one_canvas
from twinwl.report.drawing.molecule_drawing import AtomText, atom_texts
from twinwl.report.explain.environments import Environment, environment_of
from twinwl.report.wording import counted

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.estimators.explanation import ColumnShare, Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet

STRONGEST = 0.86  # of the full colour, so that letters on a disc stay readable
_FRAME = (264.0, 188.0)  # smallest frame around the neighbourhood of a column
_AROUND = 30.0


class ShownNode(NamedTuple):
    """A node with its share."""

    number: int
    label: str
    share: float
    strength: float
    """Absolute share divided by the largest one, 0 to 1."""
    text: AtomText | None
    unseen: int | None = None
    """First round in which no training graph has its colour; None if all its colours are known."""


class ShownColumn(NamedTuple):
    """A column with its share, and where it occurs in the graph."""

    name: str
    share: float
    strength: float
    words: str
    tree: str
    nodes: list[int]
    """The nodes it counts."""
    around: list[int]
    """The nodes that the first of them reaches: the neighbourhood to show."""
    root: int | None
    frame: tuple[float, float, float, float]
    """View of the drawing that shows the neighbourhood: x, y, width, height."""
    environment: Environment | None
    """The neighbourhood as SMARTS and SMILES, if the graph is a molecule."""


def drawing_of(graph: GraphBatch, molecule: Chem.Mol | str | None = None) -> Drawing | None:
    """Lay out one graph, as a molecule if it is one; None if it is too large to be drawn."""
    if graph.n_nodes > LARGEST_DRAWN or not graph.n_nodes:
        return None
    return on_one_canvas([draw(graph, molecule)])[0]


def nodes_shown(
    explanation: Explanation,
    drawing: Drawing | None,
    molecule: Chem.Mol | str | None = None,
    alphabet: Alphabet | None = None,
) -> list[ShownNode]:
    """Return every node with its share, in the order of the graph.

    Parameters
    ----------
    explanation
        The model's explanation for the graph.
    drawing
        The graph laid out, or None.
    molecule
        The molecule that the graph is, if it is one.
    alphabet
        Alphabet of the model, to find the nodes with unseen colours.
    """
    graph, shares = explanation.graph, explanation.node_shares
    largest = float(np.abs(shares).max(initial=0.0)) or 1.0
    texts: list[AtomText] | list[None] = [None] * graph.n_nodes
    if drawing is not None and molecule is not None:
        texts = atom_texts(molecule, graph, drawing.points)
    labels = [shown_label(label) for label in graph.labels_of_nodes()]
    unseen = _first_unseen(graph, alphabet)
    return [
        ShownNode(node, labels[node], share, abs(share) / largest, texts[node], unseen[node])
        for node, share in enumerate(shares.tolist())
    ]


def columns_shown(
    graph: GraphBatch,
    explanation: Explanation,
    alphabet: Alphabet | None,
    drawing: Drawing | None = None,
    molecule: Chem.Mol | str | None = None,
    atoms: str = "skeleton",
) -> list[ShownColumn]:
    """Return the columns with the largest shares, and the nodes that they count.

    Parameters
    ----------
    graph
        A batch of one.
    explanation
        The model's explanation for it.
    alphabet
        Alphabet of the model; without it there are no environments.
    drawing
        The graph laid out, or None.
    molecule
        The molecule that the graph is, if it is one.
    atoms
        What the model's atom labels contain, as in `GraphBatch.from_smiles`.
    """
    plain = graph.without_features()
    largest = max([abs(column.share) for column in explanation.columns], default=0.0) or 1.0
    shown = []
    for column in explanation.columns:
        nodes = list(column.nodes)
        root = max(nodes, key=lambda node: abs(explanation.node_shares[node]), default=None)
        around = [] if root is None else _reached(plain, root, column.tree.depth)
        environment = None
        if root is not None and molecule is not None and alphabet is not None:
            bonds = alphabet.edge_labels is not None
            environment = environment_of(molecule, root, column.tree.depth, atoms, bonds=bonds)
        shown.append(
            ShownColumn(
                column.name,
                column.share,
                abs(column.share) / largest,
                _words(column, len(nodes), "node" if molecule is None else "atom"),
                str(column.tree),
                nodes,
                around,
                root,
                _frame(drawing, around),
                environment,
            )
        )
    return shown


def signed(number: float) -> str:
    """Format a share with its sign; the minus is as wide as the plus.

    >>> signed(0.25), signed(-1.0), signed(0.0001)
    ('+0.250', '−1.000', '0.000')
    """
    text = f"{number:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")


def percent(probability: float) -> str:
    """Format a probability as a percentage, never as 0 % or 100 %.

    >>> percent(0.614), percent(0.9991)
    ('61 %', 'over 99 %')
    """
    if probability >= 0.995:  # noqa: PLR2004  (would be rounded to 100)
        return "over 99 %"
    return "under 1 %" if probability < 0.005 else f"{100 * probability:.0f} %"  # noqa: PLR2004


def _first_unseen(graph: GraphBatch, alphabet: Alphabet | None) -> list[int | None]:
    if alphabet is None:
        return [None] * graph.n_nodes
    unseen = refine(graph.without_features(), None, alphabet=alphabet).colours < 0
    rounds = np.where(unseen.any(axis=0), unseen.argmax(axis=0), -1).tolist()
    return [None if h < 0 else h for h in rounds]


def _words(column: ColumnShare, n_nodes: int, noun: str) -> str:
    steps = column.tree.depth
    many = f"{counted(n_nodes, noun)} like this, each" if n_nodes > 1 else f"One {noun} like this,"
    seen = f"compared up to {counted(steps, 'step')} away" if steps else "compared by its label alone"
    return f"{many} {seen}" if n_nodes else seen[0].upper() + seen[1:]


def _reached(graph: GraphBatch, root: int, steps: int) -> list[int]:
    """Return the nodes within some steps of a node; arcs are followed in both directions."""
    sources, targets = graph.arcs()
    reached = np.zeros(graph.n_nodes, bool)
    reached[root] = True
    for _ in range(steps):
        further = reached.copy()
        further[targets[reached[sources]]] = True
        further[sources[reached[targets]]] = True
        reached = further
    return np.flatnonzero(reached).tolist()


def _frame(drawing: Drawing | None, nodes: list[int]) -> tuple[float, float, float, float]:
    if drawing is None or not nodes:
        return 0.0, 0.0, *_FRAME
    low, high = drawing.points[nodes].min(axis=0) - _AROUND, drawing.points[nodes].max(axis=0) + _AROUND
    centre, size = (low + high) / 2, np.maximum(high - low, _FRAME)
    x, y = (centre - size / 2).tolist()
    return x, y, float(size[0]), float(size[1])
