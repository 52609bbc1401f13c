"""Explanations as pictures: nodes shaded by their share, molecules the way chemists draw them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import igraph
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from twinwl.errors import TwinWLError, import_extra
from twinwl.estimators.trees import shown
from twinwl.files.atomic import atomic_write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.explanation import Explanation

__all__ = ["draw_explanation"]

# Red speaks for, blue against, white for nothing: told apart by colour-blind eyes, and no end so dark that a
# black letter on it could not be read.
_SHADES = LinearSegmentedColormap.from_list("shares", ["#5b8dd9", "#ffffff", "#e8705c"])
_MOLECULE_PIXELS = (800, 600)
_LABELLED_UP_TO = 80
_GAP = 1.0


def draw_explanation(explanation: Explanation, target: str | Path | Axes, molecule: object = None) -> None:
    """Draw an explanation into a file or onto axes; see `Explanation.draw`."""
    if isinstance(target, Axes):
        _draw_on(target, explanation, molecule)
        return
    path = Path(target)
    if molecule is not None and path.suffix.lower() in {".png", ".svg"}:
        with atomic_write(path) as stream:
            stream.write(_depicted(explanation, molecule, path.suffix.lower()))
        return
    figure = Figure(figsize=(8, 6), layout="constrained")
    if path.suffix.lower().lstrip(".") not in figure.canvas.get_supported_filetypes():
        raise TwinWLError(f"{path.name} does not end in a picture's format; use .png, .svg or .pdf")
    _draw_on(figure.subplots(), explanation, molecule)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix.lower().lstrip("."), dpi=150, metadata=_no_date(path))


def _draw_on(axes: Axes, explanation: Explanation, molecule: object) -> None:
    axes.set_axis_off()
    axes.set_title(f"{explanation.prediction} (decision {explanation.decision:+.2f})")
    if molecule is not None:
        from matplotlib.image import imread  # noqa: PLC0415

        axes.imshow(imread(io.BytesIO(_depicted(explanation, molecule, ".png")), format="png"))
        return
    graph = explanation.graph
    positions = _positions(graph)
    for source, neighbour in zip(*graph.arcs(), strict=True):
        if source < neighbour or graph.directed:
            start, end = positions[source], positions[neighbour]
            if graph.directed:
                axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "0.6", "shrinkB": 8})
            else:
                axes.plot(*zip(start, end, strict=True), color="0.6", linewidth=1.2, zorder=1)
    area = 6000 / max(10, graph.n_nodes)
    points = axes.scatter(
        positions[:, 0],
        positions[:, 1],
        s=area,
        c=explanation.node_shares,
        cmap=_SHADES,
        norm=_scale(explanation),
        edgecolors="0.3",
        zorder=2,
    )
    if graph.has_node_labels and graph.n_nodes <= _LABELLED_UP_TO:
        for (x, y), label in zip(positions, graph.labels_of_nodes(), strict=True):
            axes.text(x, y, shown(label), ha="center", va="center", fontsize=8, zorder=3)
    axes.set_aspect("equal")
    axes.figure.colorbar(points, ax=axes, label="share of the decision", shrink=0.7)


def _scale(explanation: Explanation) -> Normalize:
    largest = float(np.abs(explanation.node_shares).max(initial=0.0)) or 1.0
    return Normalize(-largest, largest)


def _depicted(explanation: Explanation, molecule: object, kind: str) -> bytes:
    """Return RDKit's depiction, atoms shaded, as the bytes of a file."""
    drawing = import_extra("rdkit.Chem.Draw.rdMolDraw2D", "chem")
    atoms = _checked_molecule(molecule, explanation.graph.n_nodes)
    scale = _scale(explanation)
    colours = {
        node: tuple(_SHADES(scale(share))[:3]) for node, share in enumerate(explanation.node_shares.tolist())
    }
    canvas = (drawing.MolDraw2DSVG if kind == ".svg" else drawing.MolDraw2DCairo)(*_MOLECULE_PIXELS)
    canvas.drawOptions().highlightBondWidthMultiplier = 8
    drawing.PrepareAndDrawMolecule(
        canvas,
        atoms,
        legend=f"{explanation.prediction} (decision {explanation.decision:+.2f}; red for it, blue against)",
        highlightAtoms=list(colours),
        highlightAtomColors=colours,
        highlightBonds=[],
    )
    canvas.FinishDrawing()
    drawn = canvas.GetDrawingText()
    return drawn.encode() if isinstance(drawn, str) else drawn


def _checked_molecule(molecule: object, n_nodes: int) -> object:
    chem = import_extra("rdkit.Chem", "chem")
    atoms = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if not isinstance(atoms, chem.Mol):
        raise TwinWLError(f"{molecule!r} is no SMILES that RDKit can read, and no RDKit molecule")
    if atoms.GetNumAtoms() != n_nodes:
        raise TwinWLError(f"the molecule has {atoms.GetNumAtoms()} atoms and the graph {n_nodes} nodes")
    return atoms


def _positions(graph: GraphBatch) -> NDArray[np.float64]:
    """Lay out each component by springs of the length of shortest paths, and put them in a row."""
    sources, targets = graph.arcs()
    whole = igraph.Graph(graph.n_nodes, list(zip(sources.tolist(), targets.tolist(), strict=True)))
    whole.simplify()
    positions = np.zeros((graph.n_nodes, 2))
    right = 0.0
    for nodes in whole.connected_components():
        part = whole.induced_subgraph(nodes)
        placed = _relaxed(part)
        placed[:, 0] += right - placed[:, 0].min()
        placed[:, 1] -= placed[:, 1].mean()
        positions[nodes] = placed
        right = float(placed[:, 0].max()) + _GAP
    return positions


def _relaxed(component: igraph.Graph) -> NDArray[np.float64]:
    """Relax springs from a fixed start: distances brought to the plane, and a hint of a circle."""
    n_nodes = component.vcount()
    if n_nodes <= 2:  # noqa: PLR2004
        return np.column_stack([np.arange(n_nodes), np.zeros(n_nodes)])
    # Alone, the first would put the leaves of a star on one spot, where springs have no direction.
    start = np.array(component.layout_mds().coords) + 0.01 * np.array(component.layout_circle().coords)
    return np.array(component.layout_kamada_kawai(seed=start.tolist()).coords)


def _no_date(path: Path) -> dict[str, None] | None:
    """Leave out when the picture was made, so that the same explanation gives the same bytes."""
    return {"Date": None} if path.suffix.lower() == ".svg" else None
