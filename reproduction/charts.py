"""Charts of the results page, and figures of the paper.

The charts show protocols, cost of accuracy, pairs told apart, differences and growth.

Figures 1, 2 and 4 of the paper, computed; figure 3 (the architecture of NTwin) is drawn by hand.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import twinwl as tw
from reproduction.results import TITLES, Reported, ResultCell, TwinAgainstWL, signed
from reproduction.runs import CASE_GRAPHS, cosine_of

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
    figure, axes = _panels(len(cells), len(cells), 5)
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
    return figure


def _panels(n_charts: int, n_places: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, two in each row; those behind the charts are not drawn."""
    rows = -(-n_places // 2)
    figure, axes = new_figure(11, height * rows, rows, 2)
    for axis in axes[n_charts:]:
        axis.set_axis_off()
    return figure, axes


def cost_charts(cells: Mapping[str, Sequence[ResultCell]]) -> Figure:
    """Draw fair accuracy against the seconds of one fit, on a logarithmic axis, one chart per data set."""
    figure, axes = _panels(len(cells), len(cells) + 1, 4)  # one place is for the legend
    shown = {cell.method for each in cells.values() for cell in each}
    methods = [name for name in TITLES if name in shown]
    known: dict[str, Any] = dict.fromkeys(methods)
    for axis, (dataset, found) in zip(axes, cells.items(), strict=False):
        axis.set(title=dataset, xlabel="seconds of one fit", ylabel="fair accuracy, %", xscale="log")
        for cell in found:
            colour = colormaps["tab20"](methods.index(cell.method) % 20)
            mark = {TWIN: "*", WL: "^", OTHER: "o"}[colour_of(cell.method)]
            place = max(cell.seconds, 1e-3), cell.percent()
            (known[cell.method],) = axis.plot(*place, mark, color=colour, markersize=9)
    axes[len(cells)].legend(known.values(), [TITLES[name] for name in known], ncols=2, loc="upper left")
    return figure


def pairs_chart(counts: Mapping[str, Mapping[int, int]], n_pairs: int, dataset: str) -> Figure:
    """Draw how many pairs each kind of feature tells apart, round by round."""
    figure, (axis,) = new_figure(5, 3.4)
    axis.set(title=f"{dataset}: pairs told apart, of {n_pairs}", xlabel="rounds h")
    # Curves may lie on one another: the thicker ones come first, so that all can be seen.
    for width, (name, found) in zip(range(2 * len(counts), 0, -2), list(counts.items())[::-1]):
        colour = "#77aadd" if "joint" in name else colour_of(name)
        axis.plot(list(found), list(found.values()), "o-", color=colour, linewidth=width, label=name)
    axis.legend()
    return figure


def growth_charts(measured: Mapping[str, Sequence[Mapping[str, float]]]) -> Figure:
    """Draw seconds against size, both logarithmic, beside what growing linearly would look like."""
    titles = {"graphs": "STwin features, by graphs", "nodes": "Rooted sizes of one graph, by nodes"}
    figure, axes = new_figure(9, 3.4, 1, len(measured))
    for axis, (unit, points) in zip(axes, measured.items()):
        sizes, seconds = (np.array([point[of] for point in points]) for of in (unit, "seconds"))
        axis.set(title=titles[unit], xlabel=unit, ylabel="seconds", xscale="log", yscale="log")
        axis.plot(sizes[[0, -1]], seconds[0] * sizes[[0, -1]] / sizes[0], "--", color=OTHER)
        axis.plot(sizes, seconds, "o-", color=TWIN)
    return figure


def difference_charts(found: Sequence[TwinAgainstWL]) -> Figure:
    """Draw mean differences and their 95 % intervals by data set; small ones on an enlarged axis below.

    Each pair of methods has a column of its own, on the same axes.
    """
    pairs = list(dict.fromkeys((each.twin, each.wl) for each in found))
    is_large = [abs(each.points) > _LARGE for each in found]
    sizes = sorted(set(is_large), reverse=True)
    rows = max(len(found) / len(pairs), len(sizes))
    figure, axes = new_figure(3.6 * len(pairs), 1.6 + 0.3 * rows, len(sizes), len(pairs))
    for place, axis in enumerate(axes):
        pair = pairs[place % len(pairs)]
        shared = [each for each, large in zip(found, is_large) if large == sizes[place // len(pairs)]]
        ends = [each.points + side * each.half_width for each in shared for side in (-1, 1)]
        room = 0.1 * (max(*ends, 0) - min(*ends, 0))
        axis.set_xlim(min(*ends, 0) - room, max(*ends, 0) + 3 * room)
        if place < len(pairs):
            axis.set_title(" minus\n".join(TITLES[name] for name in pair))
        axis.set_xlabel("points of accuracy, fair" if place < len(pairs) else "the others, enlarged")
        _draw_differences(axis, [each for each in shared if (each.twin, each.wl) == pair])
    return figure


def _draw_differences(axis: Axes, shown: Sequence[TwinAgainstWL]) -> None:
    axis.axvline(0, color="black", linewidth=0.8)
    for y, each in enumerate(shown):
        fill = TWIN if each.comparison.significant else "white"
        axis.errorbar(each.points, y, xerr=each.half_width, fmt="o", color=TWIN, markerfacecolor=fill)
        axis.text(axis.get_xlim()[1], y, signed(each.points), ha="right", va="center", color=TWIN)
    axis.set_yticks(range(len(shown)), [each.dataset for each in shown])
    axis.set_ylim(len(shown) - 0.5, -0.5)


_PAINTS = ("#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#bbcc33")
_GREY, _SHADE = "#dddddd", "#ffe9a8"
_ROUNDS = 2
# The worked example: G1 is a ladder, G2 two triangles joined by an edge; nodes count from 1.
_EXAMPLE: tuple[tuple[list[tuple[int, int]], list[tuple[float, float]]], ...] = (
    (
        [(1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6)],
        [(0, 2), (1, 2), (0, 1), (1, 1), (0, 0), (1, 0)],
    ),
    (
        [(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)],
        [(0, 1.5), (0, 0.5), (0.85, 1), (1.85, 1), (2.7, 1.5), (2.7, 0.5)],
    ),
)
# The readme inside Mutagenicity's archive numbers its atoms and bonds so.
_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_FILLS = {"C": "#dddddd", "H": "#f6f5f2", "N": "#77aadd", "O": "#ee8866", "S": "#eedd88", "F": "#99ddff"}
_CLASSES = {0: "mutagen", 1: "nonmutagen"}


def write_figures(folder: Path, mutagenicity: tw.Dataset | None = None) -> list[Path]:
    """Write the figures into a folder; that of the case study needs its data set. Return the files."""
    drawn = {"figure-1-label-and-identity-trees": trees_figure(), "figure-2-worked-example": rounds_figure()}
    if mutagenicity is not None:
        drawn["figure-4-case-study"] = case_figure(mutagenicity, with_cosines=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {folder / f"{name}.svg": figure for name, figure in drawn.items()}
    for path, figure in paths.items():
        path.write_text(as_svg(figure), encoding="utf-8")
    return list(paths)


def rounds_figure() -> Figure:
    """Draw the worked example round by round: fill is the colour, the number is the rooted size."""
    pair = tw.from_edges([np.array(edges) - 1 for edges, _ in _EXAMPLE])
    colours, sizes = tw.colours(pair, _ROUNDS, initial="degree"), tw.rooted_sizes(pair, _ROUNDS)
    figure, axes = new_figure(9, 6.4, 2, _ROUNDS + 1)
    first = 0  # a paint belongs to one round and colour, so that no paint means two things
    for h in range(_ROUNDS + 1):
        n_colours = 1 + int(colours[h].max())
        vectors = []
        for graph, axis in enumerate(axes[h :: _ROUNDS + 1]):
            nodes = slice(*pair.graph_ptr[graph : graph + 2])
            codes, reached = colours[h, nodes], sizes[h, nodes]
            fills = [_PAINTS[(first + code) % len(_PAINTS)] for code in codes]
            places = dict(enumerate(_EXAMPLE[graph][1]))
            _draw(axis, pair[graph].to_networkx()[0], places, fills, dict(enumerate(reached)))
            axis.set_title(f"{('G₁', 'G₂')[graph]}, round h = {h}")
            counts = np.bincount(codes, minlength=n_colours)
            sums = np.bincount(codes, reached, n_colours).astype(int)
            vectors.append((counts.tolist(), sums.tolist()))
        first += n_colours
        lines = [
            f"{name}: {tuple(one)} {'=' if one == other else '≠'} {tuple(other)}"
            for name, one, other in zip(("1-WL", "STwin"), *vectors)
        ]
        axes[h + _ROUNDS + 1].text(0.5, -0.12, "\n".join(lines), ha="center", transform=axis.transAxes)
    figure.supxlabel(
        "Fill: colour in 1-WL. Number: nodes reached in h steps.\n"
        "1-WL counts nodes by colour, STwin sums their numbers."
    )
    return figure


def trees_figure() -> Figure:
    """Draw the label tree and the identity tree of node 1 of both graphs, which 1-WL confuses."""
    figure, axes = new_figure(10, 5.6, 2, 3)
    for graph, (edges, places) in enumerate(_EXAMPLE):
        one, row = nx.Graph(edges), axes[3 * graph : 3 * graph + 3]
        degree = dict(one.degree)
        fills = [_PAINTS[degree[node]] for node in sorted(one)]
        names = {node: str(node) for node in one}
        _draw(row[0], one, dict(zip(sorted(one), places)), fills, names, shaded=[1])
        row[0].set_title(f"{('G₁', 'G₂')[graph]} and its node 1")
        tree, where = _tree(one, degree)
        labels = [degree[path[-1]] for path in where]
        _draw(
            row[1], tree, where, [_PAINTS[label] for label in labels], dict(zip(where, np.array(labels) - 1))
        )
        tree, where = _tree(one, dict.fromkeys(one, 0))
        nodes = [path[-1] for path in where]
        fills = ["white" if node in nodes[:place] else _GREY for place, node in enumerate(nodes)]
        _draw(row[2], tree, where, fills, dict(zip(where, nodes)))
        reached = sorted(set(nodes))
        about = f"{{{', '.join(map(str, reached))}}}: {len(reached)} nodes"
        titles = (("label tree", "the same for both nodes"), ("identity tree", about))
        for axis, (title, text) in zip(row[1:], titles):
            axis.set_title(title)
            axis.text(0.5, -0.08, text, ha="center", transform=axis.transAxes)
    figure.supxlabel(
        "Two steps from node 1. Label tree: fill and number are the label of a node.\n"
        "Identity tree: the number is the node, white where it was reached before."
    )
    return figure


def case_figure(data: tw.Dataset, *, with_cosines: bool = False) -> Figure:
    """Draw the two molecules of the case study, shaded where their colours after one round differ."""
    figure, axes = new_figure(9, 4.2, 1, 2)
    for axis, number, shaded in zip(axes, CASE_GRAPHS, strangers(data)):
        one = data.graphs[number - 1].to_networkx()[0]
        letters = {node: _ATOMS[label] for node, label in one.nodes(data="label")}
        fills = [_FILLS.get(letter, "#bbcc33") for letter in letters.values()]
        _draw(axis, one, nx.kamada_kawai_layout(one), fills, letters, shaded=shaded, node_size=160)
        truth = data.targets[number - 1].item()
        axis.set_title(f"Graph {number}: {_CLASSES[truth]}, {len(one)} atoms")
    if with_cosines:
        wl, stwin = (cosine_of(data, features) for features in ("count", "size"))
        figure.supxlabel(
            f"Shaded: where they differ. Cosine after two rounds: 1-WL {wl:.4f}, STwin {stwin:.4f}."
        )
    return figure


def strangers(data: tw.Dataset, graphs: Sequence[int] = CASE_GRAPHS) -> list[list[int]]:
    """Return the nodes of each of two graphs, counted from 1, whose 1-WL colour is not in the other."""
    pair = data.graphs[np.array(graphs) - 1]
    first, second = np.split(tw.colours(pair, 1)[1], pair.graph_ptr[1:2])
    return [
        np.flatnonzero(~np.isin(one, other)).tolist() for one, other in ((first, second), (second, first))
    ]


def _tree(
    one: nx.Graph, label: Mapping[int, int]
) -> tuple[nx.Graph, dict[tuple[int, ...], tuple[float, float]]]:
    """Return the walks of up to two steps from node 1 as a tree, and where each is drawn, the root on top.

    A walk is a tuple of nodes. Children are sorted by label, so that trees of equal labels look equal.
    """

    def longer(walk: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [(*walk, node) for node in sorted(one[walk[-1]], key=lambda node: (label[node], node))]

    children = longer((1,))
    leaves = [leaf for child in children for leaf in longer(child)]
    x = {leaf: float(place) for place, leaf in enumerate(leaves)}
    for walk in (*children, (1,)):
        x[walk] = float(np.mean([x[below] for below in longer(walk)]))
    tree = nx.Graph((walk[:-1], walk) for walk in (*children, *leaves))
    return tree, {walk: (x[walk], 3.0 - len(walk)) for walk in ((1,), *children, *leaves)}


def _draw(
    axis: Axes,
    graph: nx.Graph,
    places: Mapping[Any, Any],
    fills: Sequence[str],
    texts: Mapping[Any, object],
    shaded: Iterable[Any] = (),
    node_size: int = 320,
) -> None:
    """Draw a graph; a double or triple bond is drawn wider."""
    nodes, shaded = list(places), list(shaded)
    nx.draw_networkx_nodes(graph, places, shaded, node_size=3 * node_size, node_color=_SHADE, ax=axis)
    widths = [1.2 + 2.4 * (order or 0) for _, _, order in graph.edges(data="label")]
    nx.draw_networkx_edges(graph, places, width=widths, edge_color="#666", ax=axis)
    look = {"node_size": node_size, "edgecolors": "#444", "ax": axis}
    nx.draw_networkx_nodes(graph, places, nodes, node_color=fills, **look)
    nx.draw_networkx_labels(graph, places, dict(texts), font_size=9, ax=axis)
    axis.set_axis_off()
    axis.margins(0.15)
