"""Graphs as pictures, for slides and papers: an explanation, as on its page, and examples of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from twinwl.arrays import Fields, Int64
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
_INK, _SOFT, _FAINT, _EDGE = "#1d2026", "#5b616e", "#8b909b", "#9aa0ab"
_HALO, _DISC = 21.0, 16.0
_HEAD, _FOOT, _SIDE = 84.0, 70.0, 26.0  # room around the drawing
_LARGEST = 1400.0  # points across; a larger drawing is scaled down
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
    atoms = None if molecule is None else _checked_molecule(molecule, explanation.graph.n_nodes)
    drawing = drawing_of(explanation.graph, atoms)
    if drawing is None:
        raise TwinWLError(
            f"{name or 'the graph'} has {explanation.graph.n_nodes:,} nodes, too many for a picture; "
            "its page (--html) lists their shares"
        )
    if isinstance(target, Axes):
        axes = target
    else:
        _check_ending(Path(target))
        width, height = drawing.width + 2 * _SIDE, drawing.height + _HEAD + _FOOT
        scale = min(1.0, _LARGEST / max(width, height)) / _POINTS
        figure = Figure(figsize=(width * scale, height * scale), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
    scale = _frame(axes, drawing, _HEAD, _FOOT, _SIDE)
    nodes = nodes_shown(explanation, drawing, atoms, model)
    largest = max([abs(node.share) for node in nodes], default=0.0) or 1.0
    shades = LinearSegmentedColormap.from_list("shares", [_AGAINST, _NOTHING, _FOR])
    colours = shades(Normalize(-largest, largest)([node.share for node in nodes]))
    texts = [] if atoms is not None else [node.label.replace("–", "")[:5] for node in nodes]
    _draw(axes, drawing, colours, texts, scale, molecule=atoms is not None)
    if atoms is not None:
        for (x, y), node, colour in zip(drawing.points, nodes, colours):
            if node.text is not None and node.text.element:
                axes.add_patch(Circle((x, y), 12, facecolor=colour, linewidth=0, zorder=3))
                _write_atom(axes, x, y, node.text, 16 * scale)
    unseen = [node.number for node in nodes if node.unseen is not None]
    for x, y in drawing.points[unseen]:
        dashes = {"linestyle": (0, (3, 2)), "linewidth": 1.4 * scale, "edgecolor": _INK, "zorder": 5}
        axes.add_patch(Circle((x, y), _HALO - 1, fill=False, **dashes))
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    for text, y, size, ink in ((headline(explanation, probability), 34, 17, _INK), (short, 60, 11, _SOFT)):
        fitting = min(size, 1.55 * (drawing.width + _SIDE) / max(1, len(text)))
        weight = "bold" if ink == _INK else "normal"
        _put(axes, drawing.width / 2, y - _HEAD, text, fitting * scale, ink, fontweight=weight)
    marked = f"; dashed: unseen {'node' if atoms is None else 'atom'}s" if unseen else ""
    _add_legend(axes, explanation, largest, shades, drawing, scale, f"share of the decision{marked}")
    axes.set_aspect("equal")  # the legend's colours have just loosened it
    if not isinstance(target, Axes):
        _write(figure, Path(target), dpi=200)


def explanation_svg(explanation: Explanation) -> Markup:
    """Return the drawing of an explanation as an SVG element, for notebooks."""
    figure = Figure(figsize=(6, 4))
    draw_explanation(explanation, figure.add_axes((0, 0, 1, 1)))
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
    if data.groups is not None and n_graphs > 1:
        first = _usual(sizes, np.arange(len(data)))
        return np.flatnonzero(data.groups == data.groups[first]).tolist()[:n_graphs]
    y = np.zeros(len(data)) if data.y is None or data.card.n_classes is None else data.y
    classes = np.unique(y)
    chosen: list[int] = []
    for turn in range(n_graphs):
        left = np.setdiff1d(np.flatnonzero(y == classes[turn % len(classes)]), chosen)
        if len(left):
            chosen.append(_usual(sizes, left))
    return chosen


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
        _draw(axes, drawing, colours, [str(label)[:3] for label in labels], _frame(axes, drawing))
        axes.set_title(title_of(data, number), fontsize=10)
    _write(figure, Path(path), dpi=150)


def _usual(sizes: Int64, among: Int64) -> int:
    """Return the graph whose size is nearest the median, or nearest the drawable limit if that is less."""
    wanted = min(float(np.median(sizes[among])), float(_EASY_TO_DRAW))
    return int(among[np.argmin(np.abs(sizes[among] - wanted))])


def _check_ending(path: Path) -> None:
    if path.suffix.lower() not in _UNDATED:
        raise TwinWLError(f"{path.name!r}: the name must end in .png, .svg or .pdf")


def _write(figure: Figure, path: Path, dpi: int) -> None:
    with open_to_write(path) as stream:
        _save(figure, stream, path.suffix.lower(), dpi)


def _save(figure: Figure, stream: IO[bytes], ending: str, dpi: int) -> None:
    """Write a figure without dates and random names, so that the same call gives the same bytes."""
    with rc_context({"svg.hashsalt": "twinwl"}):
        figure.savefig(stream, format=ending[1:], dpi=dpi, metadata=_UNDATED[ending])


def _checked_molecule(molecule: object, n_nodes: int) -> Chem.Mol:
    chem = import_extra("rdkit.Chem", "chem")
    atoms = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if not isinstance(atoms, chem.Mol):
        raise TwinWLError(f"molecule: got {shown(molecule)}, expected SMILES or an RDKit molecule")
    if atoms.GetNumAtoms() != n_nodes:
        raise TwinWLError(f"the molecule has {atoms.GetNumAtoms()} atoms and the graph {n_nodes} nodes")
    return atoms


def _frame(axes: Axes, drawing: Drawing, head: float = 0, foot: float = 0, side: float = 0) -> float:
    """Fit axes around a drawing; return points per unit of it, for letters as large as the axes are."""
    axes.set_xlim(-side, drawing.width + side)
    axes.set_ylim(drawing.height + foot, -head)  # y points down
    axes.set_axis_off()
    axes.set_aspect("equal")
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    return _POINTS * min(
        box.width / max(drawing.width + 2 * side, 1), box.height / max(drawing.height + head + foot, 1)
    )


def _draw(
    axes: Axes,
    drawing: Drawing,
    colours: Iterable[Any],
    texts: Sequence[str],
    scale: float,
    *,
    molecule: bool = False,
) -> None:
    """Draw strokes, discs (the halos of atoms lie below the bonds) and what is written on them."""
    for stroke in drawing.strokes:
        dashes = (0, (2.2, 2.2)) if stroke.style == "dashed" else "solid"
        colour, width = (_INK, 1.9) if molecule else (_EDGE, 1.6)
        look = {"arrowstyle": _ARROWS.get(stroke.style, "-"), "color": colour, "linewidth": width * scale}
        look |= {"linestyle": dashes, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (stroke.x2, stroke.y2), (stroke.x1, stroke.y1), arrowprops=look, zorder=2)
    for letter in drawing.edge_letters:
        behind = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
        _put(axes, letter.x, letter.y, letter.text, 9 * scale, _SOFT, bbox=behind, zorder=2)
    rim = {"linewidth": 0, "zorder": 1} if molecule else {"linewidth": 1.1 * scale, "zorder": 3}
    for (x, y), colour in zip(drawing.points, colours):
        radius = _HALO if molecule else _DISC
        axes.add_patch(Circle((x, y), radius, facecolor=colour, edgecolor="#3b404a", **rim))
    for (x, y), text in zip(drawing.points, texts, strict=False):
        _put(axes, x, y, text, (13 if len(text) <= 2 else 9) * scale, _INK, zorder=4)  # noqa: PLR2004


def _write_atom(axes: Axes, x: float, y: float, text: AtomText, size: float) -> None:
    """Write an atom with its hydrogens and charge; its element stands at the point."""
    number = f"$_{{\\mathregular{{{text.hydrogens}}}}}$" if text.hydrogens > 1 else ""
    hydrogens = f"H{number}" if text.hydrogens else ""
    charge = f"$^{{\\mathregular{{{text.charge}}}}}$" if text.charge else ""
    to_the_left = bool(hydrogens) and text.side == "left"
    parts = (hydrogens, text.element, charge) if to_the_left else (text.element, hydrogens, charge)
    shift, align = 5.4 * len(text.element), "left"  # half the width of the element
    if to_the_left:
        shift, align = -shift, "right"
    look: Fields = {"va": "center", "color": _INK, "fontweight": "bold", "zorder": 4}
    axes.text(x - shift, y, "".join(parts), ha=align, fontsize=size, **look)


def _add_legend(
    axes: Axes,
    explanation: Explanation,
    largest: float,
    shades: LinearSegmentedColormap,
    drawing: Drawing,
    scale: float,
    below: str,
) -> None:
    half = min(140.0, drawing.width / 4)
    middle, y = drawing.width / 2, drawing.height + 26
    extent = (middle - half, middle + half, y + 5, y - 5)
    axes.imshow(np.linspace(0, 1, 256)[None], cmap=shades, extent=extent, aspect="auto", zorder=1)
    wanted, other = explanation.sides
    for side, name in ((-1, other), (1, wanted)):
        place, align = middle + side * (half + 10), "right" if side < 0 else "left"
        _put(axes, place, y - 6, f"for {name[:24]}", 11 * scale, _INK, ha=align)
        _put(axes, place, y + 8, signed(side * largest), 9 * scale, _FAINT, ha=align)
    _put(axes, middle, y + 20, below, 9 * scale, _FAINT)


def _put(axes: Axes, x: float, y: float, text: str, size: float, colour: str, **more: Any) -> None:  # noqa: ANN401
    """Write text as it is, also where matplotlib would read a formula."""
    look = {"ha": "center", "va": "center", "fontsize": size, "color": colour, **more}
    axes.text(x, y, text.replace("$", r"\$"), **look)
