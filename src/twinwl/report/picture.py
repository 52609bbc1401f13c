"""Graphs as pictures, for slides and papers: an explanation, as on its page, and examples of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from twinwl.arrays import Fields
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.files.storage import open_to_write
from twinwl.report.drawing import AtomText, Drawing, draw, paint
from twinwl.report.explain import drawing_of, headline, nodes_shown
from twinwl.report.page import signed

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.datasets.dataset import Dataset
    from twinwl.models.explanation import Explanation

_FOR, _AGAINST, _NOTHING = "#d86749", "#4785bf", "#f4f2ec"  # as strong as the page paints them
_INK, _SOFT, _EDGE = "#1d2026", "#5b616e", "#9aa0ab"
_HALO, _DISC = 21.0, 16.0
_LARGEST = 1400.0  # points across; a larger drawing is scaled down
_TITLES = 130.0  # room above and below the drawing, in points
_POINTS = 72.0  # per inch
_UNDATED: dict[str, dict[str, None] | None] = {
    ".png": None,
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
_LONGEST_NAME = 70
_INCHES = 3.6
_EASY_TO_DRAW = 60  # maximum number of nodes of a readable drawing
_ARROWS = {"arrow": "-|>", "arrows": "<|-|>"}


def draw_explanation(
    explanation: Explanation,
    target: str | Path | Axes,
    molecule: object = None,
    *,
    name: str = "",
    probability: float | None = None,
    model: Any = None,  # noqa: ANN401
) -> None:
    """Draw a graph with its nodes shaded by their shares, onto axes or into a file.

    Parameters
    ----------
    explanation
        The result of a classifier's ``explain``.
    target
        Matplotlib axes, or a file that ends in .png, .svg or .pdf, which is written atomically.
    molecule
        SMILES or RDKit molecule to draw as a structural formula, atoms in the order of the graph's nodes.
    name
        Name of the graph, shown below the headline.
    probability
        Probability of the predicted class.
    model
        The model, to mark the nodes with unseen colours by a dashed circle.

    Raises
    ------
    TwinWLError
        If the graph is too large to be drawn, the molecule does not match it, or the file cannot be written.
    """
    drawing = drawing_of(
        explanation.graph,
        None if molecule is None else _checked_molecule(molecule, explanation.graph.n_nodes),
    )
    if drawing is None:
        raise TwinWLError(
            f"{name or 'the graph'} has {explanation.graph.n_nodes:,} nodes, too many for a picture; "
            "its page (--html) lists their shares"
        )
    if isinstance(target, Axes):
        axes = target
    else:
        _check_ending(Path(target))
        scale = min(1.0, _LARGEST / max(drawing.width, drawing.height)) / _POINTS
        axes = Figure((drawing.width * scale, drawing.height * scale + _TITLES / _POINTS)).add_subplot()
    nodes = nodes_shown(explanation, drawing, model)
    unseen = [node.number for node in nodes if node.unseen is not None]
    largest = max([abs(node.share) for node in nodes], default=0.0) or 1.0
    shades = ScalarMappable(
        Normalize(-largest, largest),
        LinearSegmentedColormap.from_list("shares", [_AGAINST, _NOTHING, _FOR]),
    )
    marked = f"; dashed: unseen {'atom' if drawing.texts else 'node'}s" if unseen else ""
    figure: Any = axes.figure
    legend = figure.colorbar(shades, ax=axes, location="bottom", shrink=0.6, aspect=30, pad=0.04)
    legend.set_label(f"share of the decision{marked}", color=_SOFT)
    legend.outline.set_visible(False)
    wanted, other = explanation.sides
    ends = {-largest: other, largest: wanted}
    legend.set_ticks(
        list(ends), labels=[_plain(f"for {side}\n{signed(share)}") for share, side in ends.items()]
    )
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    axes.set_title(_plain(headline(explanation, probability)), fontweight="bold", pad=24)
    axes.text(0.5, 1.02, _plain(short), transform=axes.transAxes, ha="center", color=_SOFT)
    texts = [node.label.replace("–", "")[:5] for node in nodes]
    scale = _draw(axes, drawing, shades.to_rgba(np.array([node.share for node in nodes])).tolist(), texts)
    for place in drawing.points[unseen]:
        dashes = {"linestyle": (0, (3, 2)), "linewidth": 1.4 * scale, "edgecolor": _INK, "zorder": 5}
        axes.add_patch(Circle(place, _HALO - 1, fill=False, **dashes))
    if not isinstance(target, Axes):
        _write(figure, Path(target), dpi=200)


def explanation_svg(explanation: Explanation) -> Markup:
    """Return the drawing of an explanation as an SVG element, for notebooks."""
    figure = Figure((6, 4))
    draw_explanation(explanation, figure.add_subplot())
    return svg_element(figure)


def svg_element(figure: Figure) -> Markup:
    """Return a figure as an SVG element."""
    stream = BytesIO()
    _save(figure, stream, ".svg", dpi=72)
    picture = stream.getvalue().decode()
    return Markup(picture[picture.index("<svg") :])  # noqa: S704  (matplotlib escapes texts)


def example_graphs(data: Dataset, n_graphs: int = 2) -> list[int]:
    """Choose graphs of typical size: one per class if there are classes; of paired data, a whole pair.

    >>> from twinwl import load_dataset
    >>> twins = load_dataset("TWINS", n_pairs=5)
    >>> sorted(twins.y[example_graphs(twins)].tolist())
    [0, 1]
    """
    sizes = data.graphs.nodes_per_graph
    wanted = min(float(np.median(sizes)), float(_EASY_TO_DRAW))
    nearest_first = np.argsort(np.abs(sizes - wanted), kind="stable")
    if data.groups is not None and n_graphs > 1:
        return np.flatnonzero(data.groups == data.groups[nearest_first[0]]).tolist()[:n_graphs]
    y = np.zeros(len(data)) if data.y is None or data.card.n_classes is None else data.y
    of_class = [nearest_first[y[nearest_first] == value].tolist() for value in np.unique(y)]
    by_turns = [graph for turn in zip_longest(*of_class) for graph in turn if graph is not None]
    return by_turns[:n_graphs]


def title_of(data: Dataset, graph: int) -> str:
    """Return the name of a graph, with its number and its target.

    >>> from twinwl import load_dataset
    >>> title_of(load_dataset("TWINS", n_pairs=1), 0)
    'TWINS#0, class 1'
    """
    name = f"{data.name}#{data.rows[graph]}"
    if data.y is None:
        return name
    return f"{name}, {'target' if data.card.n_classes is None else 'class'} {data.y[graph]}"


def save_figure(data: Dataset, graphs: Sequence[int], path: str | Path) -> None:
    """Draw some graphs of a data set side by side and write them to a file.

    Parameters
    ----------
    data
        The data set.
    graphs
        Indices of the graphs to draw.
    path
        The file; its ending decides the format: ``.png``, ``.svg`` or ``.pdf``.
    """
    if not graphs:
        raise TwinWLError("there is no graph to draw; expected at least one")
    figure = Figure(figsize=(_INCHES * len(graphs), _INCHES))
    for axes, number in zip(figure.subplots(1, len(graphs), squeeze=False)[0], graphs):
        graph = data.graphs[number]
        drawing = draw(graph)
        labels = graph.labels_of_nodes() if graph.has_node_labels and graph.n_nodes <= _EASY_TO_DRAW else []
        colours = [paint(int(code)).fill for code in graph.node_labels]
        _draw(axes, drawing, colours, [str(label)[:3] for label in labels])
        axes.set_title(title_of(data, number), fontsize=10)
    _write(figure, Path(path), dpi=150)


def _check_ending(path: Path) -> None:
    if path.suffix.lower() not in _UNDATED:
        raise TwinWLError(f"{path.name!r}: the name must end in .png, .svg or .pdf")


def _write(figure: Figure, path: Path, dpi: int) -> None:
    with open_to_write(path) as stream:
        _save(figure, stream, path.suffix.lower(), dpi)


def _save(figure: Figure, stream: IO[bytes], ending: str, dpi: int) -> None:
    """Write a figure without dates and random names, so that the same call gives the same bytes."""
    with rc_context({"svg.hashsalt": "twinwl"}):
        figure.savefig(stream, format=ending[1:], dpi=dpi, bbox_inches="tight", metadata=_UNDATED[ending])


def _checked_molecule(molecule: object, n_nodes: int) -> Chem.Mol:
    chem = import_extra("rdkit.Chem", "chem")
    atoms = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if not isinstance(atoms, chem.Mol):
        raise TwinWLError(f"molecule: got {shown(molecule)}, expected SMILES or an RDKit molecule")
    if atoms.GetNumAtoms() != n_nodes:
        raise TwinWLError(f"the molecule has {atoms.GetNumAtoms()} atoms and the graph {n_nodes} nodes")
    return atoms


def _draw(axes: Axes, drawing: Drawing, colours: Sequence[Any], labels: Sequence[str]) -> float:
    """Draw strokes, discs (the halos of atoms lie below the bonds) and texts; return points per unit."""
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")  # y points down
    axes.set_axis_off()
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    scale = _POINTS * min(box.width / drawing.width, box.height / drawing.height)
    molecule = bool(drawing.texts)
    for stroke in drawing.strokes:
        look = {
            "arrowstyle": _ARROWS.get(stroke.style, "-"),
            "color": _INK if molecule else _EDGE,
            "linewidth": 1.8 * scale,
            "linestyle": (0, (2.2, 2.2)) if stroke.style == "dashed" else "solid",
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axes.annotate("", (stroke.x2, stroke.y2), (stroke.x1, stroke.y1), arrowprops=look, zorder=2)
    words: Fields = {"va": "center", "color": _INK, "zorder": 4}
    for letter in drawing.edge_letters:
        behind = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
        axes.text(
            letter.x, letter.y, _plain(letter.text), ha="center", fontsize=9 * scale, bbox=behind, **words
        )
    for x, y, colour in zip(*drawing.points.T, colours):
        rim = {"linewidth": 0, "zorder": 1} if molecule else {"linewidth": 1.1 * scale, "zorder": 3}
        axes.add_patch(
            Circle((x, y), _HALO if molecule else _DISC, facecolor=colour, edgecolor="#3b404a", **rim)
        )
    for (x, y), colour, text in zip(drawing.points, colours, drawing.texts):
        if text.element:
            axes.add_patch(Circle((x, y), 12, facecolor=colour, linewidth=0, zorder=3))
            written, shift, align = _atom(text)
            axes.text(x + shift, y, written, ha=align, fontsize=16 * scale, fontweight="bold", **words)
    for (x, y), label in zip(drawing.points, () if molecule else labels):
        size = 13 if len(label) <= 2 else 9  # noqa: PLR2004
        axes.text(x, y, _plain(label), ha="center", fontsize=size * scale, **words)
    return scale


def _atom(text: AtomText) -> tuple[str, float, str]:
    """Return an atom's text, and where it starts or ends so that the element stands at the atom."""
    number = rf"$_{{\mathregular{{{text.hydrogens}}}}}$" if text.hydrogens > 1 else ""
    hydrogens = f"H{number}" if text.hydrogens else ""
    charge = rf"$^{{\mathregular{{{text.charge}}}}}$" if text.charge else ""
    half = 5.4 * len(text.element)  # of the width of the element
    if hydrogens and text.side == "left":
        return f"{hydrogens}{text.element}{charge}", half, "right"
    return f"{text.element}{hydrogens}{charge}", -half, "left"


def _plain(text: str) -> str:
    """Return text that is shown as it is, also where matplotlib would read a formula."""
    return text.replace("$", r"\$")
