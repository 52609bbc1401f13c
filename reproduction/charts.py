"""The charts of the results page: protocols, cost of accuracy, pairs told apart, differences, growth."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduction.reported import TITLES, Reported
from reproduction.results import ResultCell, TwinAgainstWL, signed

_STYLE = {
    "svg.hashsalt": "twinwl",  # the same results give the same bytes
    "svg.fonttype": "none",
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "font.size": 9,
    "figure.constrained_layout.use": True,
}
TWIN, WL, OTHER, PAPER = "#1d6fb8", "#c2571a", "#8b909b", "#cc2222"
_COLOURS = {"stwin-svc": "#77a", "stwin": TWIN, "ntwin": "#1b8a5a"}  # where several classifiers share a chart
_LARGE = 12.0  # points; on one axis with such a difference the others would all lie on zero


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure in our style, and its axes row by row."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG text, without a date.

    >>> as_svg(new_figure(1, 1)[0]).startswith("<svg")
    True
    """
    stream = io.StringIO()
    with rc_context(_STYLE):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return "".join(stream.getvalue().partition("<svg")[1:])


def colour_of(method: str) -> str:
    """Return the colour of the Twins, of 1-WL or of all others, by the name of a method or feature."""
    if "twin" in method.lower():
        return TWIN
    return WL if method.lower().startswith(("wl", "1-wl")) else OTHER


def protocol_charts(
    cells: Mapping[str, Sequence[ResultCell]], reported: Mapping[str, Mapping[str, Reported]]
) -> Figure:
    """Draw the protocols side by side, one chart per data set: a row per method."""
    rows = -(-len(cells) // 2)
    figure, axes = new_figure(11, 5 * rows, rows, 2)
    for axis, (dataset, found) in zip(axes, cells.items(), strict=False):
        axis.set(title=dataset, xlabel="accuracy, %")
        axis.set_yticks(range(len(found)), [TITLES[cell.method] for cell in found])
        axis.invert_yaxis()
        for y, cell in enumerate(found):
            means = {name: cell.percent(name) for name in cell.readings}
            colour = colour_of(cell.method)
            axis.plot([min(means.values()), max(means.values())], [y, y], color=colour, alpha=0.5)
            for name, mean in means.items():
                size, fill = (5 if name == "best-epoch" else 8), (colour if name == "fair" else "white")
                axis.plot(mean, y, "o", markersize=size, color=colour, markerfacecolor=fill)
            if cell.method in reported[dataset]:
                axis.plot(reported[dataset][cell.method].mean, y, "|", markersize=14, color=PAPER)
    for axis in axes[len(cells) :]:
        axis.set_axis_off()
    return figure


def cost_charts(cells: Mapping[str, Sequence[ResultCell]]) -> Figure:
    """Draw fair accuracy against the seconds of one fit, on a logarithmic axis, one chart per data set."""
    figure, axes = new_figure(11, 4 * -(-(len(cells) + 1) // 2), -(-(len(cells) + 1) // 2), 2)
    methods = [
        name for name in TITLES if any(cell.method == name for each in cells.values() for cell in each)
    ]
    palette = colormaps["tab20"]
    for axis, (dataset, found) in zip(axes, cells.items(), strict=False):
        axis.set(title=dataset, xlabel="seconds of one fit", ylabel="fair accuracy, %", xscale="log")
        for cell in found:
            place = methods.index(cell.method)
            mark = "*" if colour_of(cell.method) == TWIN else "^" if colour_of(cell.method) == WL else "o"
            look: Any = {"color": palette(place % 20), "markersize": 9, "label": TITLES[cell.method]}
            axis.plot(max(cell.seconds, 1e-3), cell.percent(), mark, **look)
    known = {
        label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    for axis in axes[len(cells) :]:
        axis.set_axis_off()
    ordered = [TITLES[name] for name in methods]
    axes[len(cells)].legend([known[name] for name in ordered], ordered, ncols=2, loc="upper left")
    return figure


def pairs_chart(counts: Mapping[str, Mapping[int, int]], n_pairs: int, dataset: str) -> Figure:
    """Draw how many pairs each kind of feature tells apart, round by round."""
    figure, (axis,) = new_figure(5, 3.4)
    axis.set(title=f"{dataset}: pairs told apart, of {n_pairs}", xlabel="rounds h")
    # Curves may lie on one another: the thicker ones come first, so that all can be seen.
    for width, (name, found) in zip(range(2 * len(counts), 0, -2), list(counts.items())[::-1], strict=True):
        colour = "#77aadd" if "joint" in name else colour_of(name)
        axis.plot(list(found), list(found.values()), "o-", color=colour, linewidth=width, label=name)
    axis.legend()
    return figure


def growth_charts(measured: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw seconds against size, both logarithmic, beside what growing linearly would look like."""
    titles = {"graphs": "STwin features, by graphs", "nodes": "Rooted sizes of one graph, by nodes"}
    figure, axes = new_figure(9, 3.4, 1, len(measured))
    for axis, (unit, points) in zip(axes, measured.items(), strict=True):
        sizes, seconds = np.array(points).T
        axis.set(title=titles[unit], xlabel=unit, ylabel="seconds", xscale="log", yscale="log")
        axis.plot(sizes[[0, -1]], seconds[0] * sizes[[0, -1]] / sizes[0], "--", color=OTHER)
        axis.plot(sizes, seconds, "o-", color=TWIN)
    return figure


def is_large(each: TwinAgainstWL) -> bool:
    """Return whether a difference would flatten the others on a common axis."""
    return abs(each.points) > _LARGE


def difference_charts(found: Sequence[TwinAgainstWL], *, together: bool = False) -> Figure:
    """Draw mean differences and their 95 % intervals by data set; small ones on an enlarged axis below.

    Each pair of methods has a column of its own, on the same axes; ``together`` draws all into one column.
    """
    pairs = [None] if together else list(dict.fromkeys((each.twin, each.wl) for each in found))
    sizes = [size for size in (True, False) if any(is_large(each) == size for each in found)]
    rows = max(len(found) / len(pairs), len(sizes))
    figure, axes = new_figure(7 if together else 3.6 * len(pairs), 1.6 + 0.3 * rows, len(sizes), len(pairs))
    for place, axis in enumerate(axes):
        large, pair = sizes[place // len(pairs)], pairs[place % len(pairs)]
        shared = [each for each in found if is_large(each) == large]
        shown = [each for each in shared if pair in {None, (each.twin, each.wl)}]
        ends = [each.points + side * each.half_width for each in shared for side in (-1, 1)]
        room = 0.1 * (max(*ends, 0) - min(*ends, 0))
        axis.set_xlim(min(*ends, 0) - room, max(*ends, 0) + 3 * room)
        if place < len(pairs):
            names = (
                ()
                if pair is None
                else shown[0].comparison.names
                if shown
                else [TITLES[name] for name in pair]
            )
            axis.set_title(" minus\n".join(names) or "Twin minus 1-WL under the same classifier")
        axis.set_xlabel("points of accuracy, fair" if place < len(pairs) else "the others, enlarged")
        _draw_differences(axis, shown, together=together)
    return figure


def _draw_differences(axis: Axes, shown: Iterable[TwinAgainstWL], *, together: bool) -> None:
    axis.axvline(0, color="black", linewidth=0.8)
    labels: list[str] = []
    for y, each in enumerate(shown):
        labels.append("" if each.dataset in labels else each.dataset)
        colour = _COLOURS[each.twin] if together else TWIN
        fill = colour if each.comparison.significant else "white"
        new = each.comparison.names[0] not in axis.get_legend_handles_labels()[1]
        label = each.comparison.names[0] if together and new else None
        axis.errorbar(
            each.points, y, xerr=each.half_width, fmt="o", color=colour, markerfacecolor=fill, label=label
        )
        axis.text(axis.get_xlim()[1], y, signed(each.points), ha="right", va="center", color=colour)
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    if together:
        axis.legend(loc="lower right")
