"""Differences of methods, drawn, and figures 1, 2 and 4 of the paper, computed.

Figure 3 (the architecture of NTwin) is drawn by hand. All are narrow, so that a phone shows them whole.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import twinwl as tw
from reproduction.results import TwinAgainstWL, signed
from reproduction.runs import CASE_GRAPHS

_STYLE = {
    "svg.hashsalt": "twinwl",  # the same results give the same bytes
    "svg.fonttype": "none",
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
}
_WIDTH = 5
_BLUE = "#1d6fb8"
_LARGE = 12.0  # points; on one axis with such a difference the others would all lie on zero


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG text, without a date.

    >>> as_svg(Figure()).startswith("<svg")
    True
    """
    stream = io.StringIO()
    with rc_context(_STYLE):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return "".join(stream.getvalue().partition("<svg")[1:])


@rc_context(_STYLE)
def difference_charts(found: Sequence[TwinAgainstWL]) -> Figure:
    """Draw mean differences and their 95 % intervals, one chart for each pair of methods, on the same axis.

    An arrow at the end of the axis stands for a difference that is too large for it.
    """
    of_pair = defaultdict(list)
    for each in found:
        of_pair[each.comparison.names].append(each)
    figure = Figure(figsize=(_WIDTH, 0.5 + 0.24 * len(found) + 0.5 * len(of_pair)))
    n_rows = [len(shown) for shown in of_pair.values()]
    axes = figure.subplots(len(of_pair), squeeze=False, sharex=True, height_ratios=n_rows).ravel()
    end = max((abs(each.points) + each.half_width for each in found if abs(each.points) <= _LARGE), default=1)
    for axis, (pair, shown) in zip(axes, of_pair.items()):
        axis.set_title(" minus\n".join(pair))
        axis.axvline(0, color="black", linewidth=0.8)
        for y, each in enumerate(shown):
            look: dict[str, Any] = {"color": _BLUE, "clip_on": False}
            if abs(each.points) > _LARGE:
                axis.plot(np.copysign(end, each.points), y, ">" if each.points > 0 else "<", **look)
            else:
                fill = _BLUE if each.comparison.significant else "white"
                axis.errorbar(each.points, y, xerr=each.half_width, fmt="o", markerfacecolor=fill, **look)
            axis.text(1.1 * end, y, signed(each.points), va="center")
        axis.set_yticks(range(len(shown)), [each.dataset for each in shown])
        axis.set_ylim(len(shown) - 0.5, -0.5)
        axis.set_xlim(-1.05 * end, 1.05 * end)
    axes[-1].set_xlabel("points of accuracy, fair; arrows: beyond the axis")
    return figure


_PAINTS = ("#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#bbcc33")
# The worked example: G1 is a ladder, G2 two triangles joined by an edge; nodes count from 1.
_EXAMPLE: tuple[tuple[nx.Graph, dict[int, tuple[float, float]]], ...] = (
    (
        nx.Graph([(1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6)]),
        {1: (0, 2), 2: (1, 2), 3: (0, 1), 4: (1, 1), 5: (0, 0), 6: (1, 0)},
    ),
    (
        nx.Graph([(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)]),
        {1: (0, 1), 2: (0, 0), 3: (0.9, 0.5), 4: (1.8, 0.5), 5: (2.7, 1), 6: (2.7, 0)},
    ),
)
# The readme inside Mutagenicity's archive numbers its atoms and bonds so.
_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_FILLS = {"C": "#dddddd", "H": "#f6f5f2", "N": "#77aadd", "O": "#ee8866"}
_CLASSES = {0: "mutagen", 1: "nonmutagen"}


@rc_context(_STYLE)
def rounds_figure() -> Figure:
    """Draw the worked example round by round: fill is the colour, the number is the rooted size."""
    figure = Figure(figsize=(_WIDTH, 7))
    pair = tw.from_networkx([graph for graph, _ in _EXAMPLE])
    colours, sizes = tw.colours(pair, 2, initial="degree"), tw.rooted_sizes(pair, 2)
    for h, row in enumerate(figure.subplots(3, 2)):
        for place, (axis, (graph, places)) in enumerate(zip(row, _EXAMPLE)):
            nodes = slice(*pair.graph_ptr[place : place + 2])
            codes, reached = colours[h, nodes], sizes[h, nodes]
            # Each round has two colours, and its own paints, so that no paint means two things.
            _draw(axis, graph, places, [_PAINTS[2 * h + code] for code in codes], reached)
            counts, sums = np.bincount(codes), np.bincount(codes, reached).astype(int)
            vectors = f"1-WL {counts.tolist()}, STwin {sums.tolist()}"
            axis.set_title(f"G{'₁₂'[place]}, round {h}\n{vectors}")
    return figure


@rc_context(_STYLE)
def trees_figure() -> Figure:
    """Draw the label tree and the identity tree of node 1 of both graphs, which 1-WL confuses."""
    figure = Figure(figsize=(_WIDTH, 7))
    for name, column, (graph, places) in zip("₁₂", figure.subplots(3, 2).T, _EXAMPLE):
        label = {node: degree - 1 for node, degree in graph.degree}
        _draw(column[0], graph, places, [_PAINTS[label[node]] for node in places], places, shaded=[1])
        column[0].set_title(f"G{name}, node 1 shaded")
        walks: list[list[tuple[int, ...]]] = [[(1,)]]  # those of each length
        for _ in range(2):
            # Sorted by label, so that trees of equal labels look equal.
            walks.append(
                [
                    (*walk, node)
                    for walk in walks[-1]
                    for node in sorted(graph[walk[-1]], key=lambda node: (label[node], node))
                ]
            )
        tree = nx.Graph((walk[:-1], walk) for walk in chain(*walks[1:]))
        layers = {-depth: layer for depth, layer in enumerate(walks)}
        spread = nx.multipartite_layout(tree, layers, align="horizontal")
        where = {walk: spread[walk] for walk in chain(*walks)}
        nodes = [walk[-1] for walk in where]
        labels = [label[node] for node in nodes]
        _draw(column[1], tree, where, [_PAINTS[each] for each in labels], labels)
        column[1].set_title("label tree")
        fills = ["white" if node in nodes[:place] else "#dddddd" for place, node in enumerate(nodes)]
        _draw(column[2], tree, where, fills, nodes)
        reached = sorted(set(nodes))
        column[2].set_title(f"identity tree,\n{len(reached)} nodes: {reached}")
    return figure


@rc_context(_STYLE)
def case_figure(data: tw.Dataset) -> Figure:
    """Draw the two molecules of the case study, shaded where their colours after one round differ."""
    figure = Figure(figsize=(_WIDTH, 7))
    for axis, number, shaded in zip(figure.subplots(2), CASE_GRAPHS, strangers(data)):
        graph = data.graphs[number - 1].to_networkx()[0]
        letters = [_ATOMS[label] for _, label in graph.nodes(data="label")]
        places = nx.kamada_kawai_layout(graph)
        _draw(axis, graph, places, [_FILLS[letter] for letter in letters], letters, shaded, 160)
        axis.set_title(f"Graph {number}: {_CLASSES[data.targets[number - 1].item()]}, {len(graph)} atoms")
    return figure


def strangers(data: tw.Dataset, graphs: Sequence[int] = CASE_GRAPHS) -> list[list[int]]:
    """Return the nodes of each of two graphs, counted from 1, whose 1-WL colour is not in the other."""
    pair = data.graphs[np.array(graphs) - 1]
    first, second = np.split(tw.colours(pair, 1)[1], pair.graph_ptr[1:2])
    return [np.flatnonzero(~np.isin(*both)).tolist() for both in ((first, second), (second, first))]


def _draw(
    axis: Axes,
    graph: nx.Graph,
    places: Mapping[Any, Any],
    fills: Sequence[str],
    texts: Collection[object],
    shaded: Sequence[Any] = (),
    node_size: int = 320,
) -> None:
    """Draw a graph, its nodes in the order of places; a double or triple bond is drawn wider."""
    nodes = list(places)
    nx.draw_networkx_nodes(graph, places, shaded, node_size=3 * node_size, node_color="#ffe9a8", ax=axis)
    widths = [1.2 + 2.4 * (order or 0) for _, _, order in graph.edges(data="label")]
    nx.draw_networkx_edges(graph, places, width=widths, edge_color="#666", ax=axis)
    look = {"node_size": node_size, "edgecolors": "#444", "ax": axis}
    nx.draw_networkx_nodes(graph, places, nodes, node_color=fills, **look)
    nx.draw_networkx_labels(graph, places, dict(zip(nodes, texts)), font_size=9, ax=axis)
    axis.set_axis_off()
    axis.margins(0.15)
