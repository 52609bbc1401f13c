"""A few graphs of a data set as one picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.arrays import Int64
from twinwl.errors import TwinWLError
from twinwl.files.atomic import written
from twinwl.report.graph_drawing import spring_positions
from twinwl.report.svg import paint

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch

_FORMATS = (".png", ".svg", ".pdf")
_INCHES = 3.6
_EASY_TO_DRAW = 60  # maximum number of nodes of a readable drawing


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
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise TwinWLError(f"{str(path)!r}: the name must end in one of {', '.join(_FORMATS)}")
    if not graphs:
        raise TwinWLError("there is no graph to draw; expected at least one")
    from matplotlib.figure import Figure  # noqa: PLC0415  (heavy)

    figure = Figure(figsize=(_INCHES * len(graphs), _INCHES), layout="constrained")
    for axes, graph in zip(figure.subplots(1, len(graphs), squeeze=False)[0], graphs, strict=True):
        _draw(axes, data.graphs[graph])
        axes.set_title(title_of(data, graph), fontsize=10)
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower(), dpi=150, metadata=_undated(path))
    with written(path) as stream:
        stream.write(content.getvalue())


def _usual(sizes: Int64, among: Int64) -> int:
    """Return the graph whose size is nearest the median, or nearest the drawable limit if that is less."""
    wanted = min(float(np.median(sizes[among])), float(_EASY_TO_DRAW))
    return int(among[np.argmin(np.abs(sizes[among] - wanted))])


def _draw(axes: Any, graph: GraphBatch) -> None:  # noqa: ANN401  (matplotlib has no types)
    from matplotlib.collections import LineCollection  # noqa: PLC0415

    places = spring_positions(graph)
    sources, targets = graph.arcs()
    size = float(np.clip(4000 / max(graph.n_nodes, 1), 12, 170))
    strokes = np.stack([places[sources], places[targets]], axis=1)
    axes.add_collection(LineCollection(list(strokes), colors="#777777"))
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=size,
        c=[paint(int(code)).fill for code in graph.node_labels],
        edgecolors="#333333",
        linewidths=0.8,
        zorder=2,
    )
    if graph.has_node_labels and graph.n_nodes <= _EASY_TO_DRAW:
        for (x, y), label in zip(places.tolist(), graph.labels_of_nodes(), strict=True):
            axes.text(x, y, str(label)[:3], fontsize=7, ha="center", va="center_baseline", zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.axis("off")


def _undated(path: Path) -> dict[str, None] | None:
    """Return metadata without a date, so that the same call gives the same bytes."""
    return {"Date": None} if path.suffix.lower() == ".svg" else None
