"""The picture of an explanation: the same drawing as on the page, for slides and papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.files.atomic import written
from twinwl.report.explain import STRONGEST, ShownNode, drawing_of, nodes_shown, percent, signed
from twinwl.report.graph_drawing import Drawing
from twinwl.report.molecule_drawing import AtomText

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.models.explanation import Explanation

_FOR, _AGAINST, _NOTHING = "#d4502e", "#2b73b8", "#f4f2ec"
_INK, _SOFT, _FAINT, _EDGE = "#1d2026", "#5b616e", "#8b909b", "#9aa0ab"
_HALO, _DISC, _KNOCK_OUT = 21.0, 16.0, 12.0
_HEAD, _FOOT, _SIDE = 84.0, 70.0, 26.0  # room around the drawing
_LARGEST = 1400.0  # points across; a larger drawing is scaled down
_DPI = 200
_POINTS = 72.0  # per inch
_UNDATED: dict[str, dict[str, None] | None] = {
    "png": None,
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
_LONGEST_NAME = 70


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
        _paint(target, explanation, drawing, atoms, name, probability, model)
        return
    path = Path(target)
    kind = path.suffix.lower().lstrip(".")
    if kind not in _UNDATED:
        raise TwinWLError(f"{path.name} must end in .png, .svg or .pdf")
    width, height = drawing.width + 2 * _SIDE, drawing.height + _HEAD + _FOOT
    scale = min(1.0, _LARGEST / max(width, height)) / _POINTS
    figure = Figure(figsize=(width * scale, height * scale), facecolor="white")
    _paint(figure.add_axes((0, 0, 1, 1)), explanation, drawing, atoms, name, probability, model)
    # Without a date, and with names that are not random, the same explanation gives the same bytes.
    with written(path) as stream, rc_context({"svg.hashsalt": "twinwl"}):
        figure.savefig(stream, format=kind, dpi=_DPI, metadata=_UNDATED[kind])


def _checked_molecule(molecule: object, n_nodes: int) -> Chem.Mol:
    chem = import_extra("rdkit.Chem", "chem")
    atoms = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if not isinstance(atoms, chem.Mol):
        raise TwinWLError(f"molecule: got {shown(molecule)}, expected SMILES or an RDKit molecule")
    if atoms.GetNumAtoms() != n_nodes:
        raise TwinWLError(f"the molecule has {atoms.GetNumAtoms()} atoms and the graph {n_nodes} nodes")
    return atoms


def _paint(
    axes: Axes,
    explanation: Explanation,
    drawing: Drawing,
    atoms: Chem.Mol | None,
    name: str,
    probability: float | None,
    model: Any,  # noqa: ANN401
) -> None:
    """Draw on axes; letters and lines are as large as the axes are, measured in points."""
    axes.set_xlim(-_SIDE, drawing.width + _SIDE)
    axes.set_ylim(drawing.height + _FOOT, -_HEAD)  # y points down
    axes.set_axis_off()
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    width, height = drawing.width + 2 * _SIDE, drawing.height + _HEAD + _FOOT
    scale = _POINTS * min(box.width / width, box.height / height)
    nodes = nodes_shown(explanation, drawing, atoms, model)
    largest = max([abs(node.share) for node in nodes], default=0.0) or 1.0
    shades = LinearSegmentedColormap.from_list("shares", [_mixed(_AGAINST), _NOTHING, _mixed(_FOR)])
    colours = [shades(Normalize(-largest, largest)(node.share)) for node in nodes]
    paint = _draw_graph if atoms is None else _draw_molecule
    paint(axes, drawing, nodes, colours, scale)
    unseen = [node.number for node in nodes if node.unseen is not None]
    for x, y in drawing.points[unseen]:
        dashes = {"linestyle": (0, (3, 2)), "linewidth": 1.4 * scale, "edgecolor": _INK, "zorder": 5}
        axes.add_patch(Circle((x, y), _HALO - 1, fill=False, **dashes))
    _write_around(axes, name, explanation, probability, drawing, scale)
    noun = "node" if atoms is None else "atom"
    _add_legend(axes, explanation, largest, shades, drawing, scale, noun if unseen else "")
    axes.set_aspect("equal")  # the legend's colours have just loosened it


def _draw_molecule(
    axes: Axes,
    drawing: Drawing,
    nodes: list[ShownNode],
    colours: list[tuple[float, float, float, float]],
    scale: float,
) -> None:
    for (x, y), colour in zip(drawing.points, colours, strict=True):
        axes.add_patch(Circle((x, y), _HALO, facecolor=colour, linewidth=0, zorder=1))
    for stroke in drawing.strokes:
        dashes = (0, (2.2, 2.2)) if stroke.style == "dashed" else "solid"
        axes.plot(
            [stroke.x1, stroke.x2],
            [stroke.y1, stroke.y2],
            color=_INK,
            linewidth=1.9 * scale,
            linestyle=dashes,
            solid_capstyle="round",
            zorder=2,
        )
    for (x, y), node, colour in zip(drawing.points, nodes, colours, strict=True):
        if node.text is not None and node.text.element:
            axes.add_patch(Circle((x, y), _KNOCK_OUT, facecolor=colour, linewidth=0, zorder=3))
            _write_atom(axes, x, y, node.text, scale)


def _write_atom(axes: Axes, x: float, y: float, text: AtomText, scale: float) -> None:
    def write(x: float, y: float, words: str, align: str, size: float = 16) -> None:
        _put(axes, x, y, words, size * scale, _INK, align, fontweight="bold", zorder=4)

    hydrogens = "H" if text.hydrogens else ""
    if text.hydrogens > 1:
        hydrogens += f"$_{{\\mathregular{{{text.hydrogens}}}}}$"
    beside = 4.6 * len(text.element) + 1.6
    write(x, y, text.element, "center")
    if text.side == "right":
        write(x + beside, y, hydrogens, "left")
    elif text.side == "left":
        write(x - beside, y, hydrogens, "right")
    else:
        write(x, y + (17 if text.side == "below" else -17), hydrogens, "center")
    if text.side == "right" and text.hydrogens:
        write(x + beside + (19 if text.hydrogens > 1 else 12), y - 7, text.charge, "left", 11)
    else:
        across, down = text.corner
        write(x + across * (beside + 4), y + 8 * down, text.charge, "center", 11)


def _draw_graph(
    axes: Axes,
    drawing: Drawing,
    nodes: list[ShownNode],
    colours: list[tuple[float, float, float, float]],
    scale: float,
) -> None:
    arrows = {"arrow": "-|>", "arrows": "<|-|>"}
    for stroke in drawing.strokes:
        start, end = (stroke.x1, stroke.y1), (stroke.x2, stroke.y2)
        look = {"arrowstyle": arrows.get(stroke.style, "-"), "color": _EDGE, "linewidth": 1.6 * scale}
        axes.annotate("", end, start, arrowprops={**look, "shrinkA": 0, "shrinkB": 0}, zorder=1)
    for letter in drawing.edge_letters:
        behind = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
        _put(axes, letter.x, letter.y, _plain(letter.text), 9 * scale, _SOFT, bbox=behind, zorder=1)
    for (x, y), node, colour in zip(drawing.points, nodes, colours, strict=True):
        axes.add_patch(
            Circle((x, y), _DISC, facecolor=colour, edgecolor="#3b404a", linewidth=1.1 * scale, zorder=2)
        )
        if node.label != "–":
            size = 13 if len(node.label) <= 2 else 9  # noqa: PLR2004
            _put(axes, x, y, _plain(node.label[:5]), size * scale, _INK, zorder=3)


def _write_around(
    axes: Axes, name: str, explanation: Explanation, probability: float | None, drawing: Drawing, scale: float
) -> None:
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    middle = drawing.width / 2
    sure = "" if probability is None else f" ({percent(probability)})"
    against = explanation.verdict.removeprefix(explanation.predicted)
    head = f"Predicted {explanation.subject}{explanation.predicted}{sure}{against}"
    for text, y, size, colour, weight in (
        (head, -_HEAD + 34, 17, _INK, "bold"),
        (short, -_HEAD + 60, 11, _SOFT, "normal"),
    ):
        fitting = min(size, 1.55 * (drawing.width + _SIDE) / max(1, len(text)))
        _put(axes, middle, y, _plain(text), fitting * scale, colour, fontweight=weight)


def _add_legend(
    axes: Axes,
    explanation: Explanation,
    largest: float,
    shades: LinearSegmentedColormap,
    drawing: Drawing,
    scale: float,
    unseen: str,
) -> None:
    half = min(140.0, drawing.width / 4)
    middle, y = drawing.width / 2, drawing.height + 26
    axes.imshow(
        [[step / 255 for step in range(256)]],
        cmap=shades,
        extent=(middle - half, middle + half, y + 5, y - 5),
        aspect="auto",
        zorder=1,
    )
    wanted, other = explanation.sides
    for side, name, share in ((-1, other, -largest), (1, wanted, largest)):
        place = middle + side * (half + 10)
        align = "right" if side < 0 else "left"
        _put(axes, place, y - 6, _plain(f"for {name[:24]}"), 11 * scale, _INK, align)
        _put(axes, place, y + 8, signed(share), 9 * scale, _FAINT, align)
    below = "share of the decision" + (f"; dashed: unseen {unseen}s" if unseen else "")
    _put(axes, middle, y + 20, below, 9 * scale, _FAINT)


def _put(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str,
    align: str = "center",
    **more: Any,  # noqa: ANN401  (as matplotlib has it)
) -> None:
    axes.text(x, y, text, ha=align, va="center", fontsize=size, color=colour, **more)


def _plain(text: str) -> str:
    """Escape what matplotlib would read as a formula."""
    return text.replace("$", r"\$")


def _mixed(colour: str) -> str:
    """Return the strongest shade in use; letters stay readable on it."""
    parts = [
        round(STRONGEST * int(colour[at : at + 2], 16) + (1 - STRONGEST) * int(_NOTHING[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)
