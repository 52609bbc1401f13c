"""Figures 1, 2 and 4 of the paper, computed; figure 3 (the architecture of NTwin) is drawn by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import twinwl as tw
from reproduction.charts import as_svg, new_figure
from reproduction.runs import CASE_GRAPHS, cosine_of

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in drawn.items():
            (folder / f"{name}.svg").write_text(as_svg(figure), encoding="utf-8")
    except OSError as error:
        raise tw.TwinWLError(f"cannot write to {str(folder)!r} ({error.strerror}); name a folder") from error
    return [folder / f"{name}.svg" for name in drawn]


def rounds_figure() -> Figure:
    """Draw the worked example round by round: fill is the colour, the number is the rooted size."""
    graphs = [nx.Graph(edges) for edges, _ in _EXAMPLE]
    figure, axes = new_figure(9, 6.4, 2, _ROUNDS + 1)
    first = 0  # a paint belongs to one round and colour, so that no paint means two things
    for h, colours in enumerate(_colours(graphs)):
        n_colours = 1 + max(max(of_node.values()) for of_node in colours)
        vectors = []
        for graph, (of_node, axis) in enumerate(zip(colours, axes[h :: _ROUNDS + 1], strict=True)):
            one, places = graphs[graph], _EXAMPLE[graph][1]
            sizes = {node: len(nx.single_source_shortest_path_length(one, node, h)) for node in one}
            fills = [_PAINTS[(first + of_node[node]) % len(_PAINTS)] for node in sorted(one)]
            _draw(axis, one, dict(zip(sorted(one), places, strict=True)), fills, sizes)
            axis.set_title(f"{('G₁', 'G₂')[graph]}, round h = {h}")
            codes = [of_node[node] for node in one]
            counts = np.bincount(codes, minlength=n_colours)
            sums = np.bincount(codes, [sizes[node] for node in one], n_colours).astype(int)
            vectors.append((counts.tolist(), sums.tolist()))
        first += n_colours
        lines = [
            f"{name}: {tuple(one)} {'=' if one == other else '≠'} {tuple(other)}"
            for name, one, other in zip(("1-WL", "STwin"), *vectors, strict=True)
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
        _draw(row[0], one, dict(zip(sorted(one), places, strict=True)), fills, names, shaded=[1])
        row[0].set_title(f"{('G₁', 'G₂')[graph]} and its node 1")
        for axis, of_labels in ((row[1], True), (row[2], False)):
            tree, nodes, where = _tree(one, degree if of_labels else dict.fromkeys(one, 0))
            seen: set[int] = set()
            fills, texts = [], {}
            for place, node in nodes.items():
                again = not of_labels and node in seen
                fills.append(_PAINTS[degree[node]] if of_labels else "white" if again else _GREY)
                texts[place] = degree[node] - 1 if of_labels else node
                seen.add(node)
            _draw(axis, tree, where, fills, texts)
            axis.set_title("label tree" if of_labels else "identity tree")
            reached = f"{{{', '.join(map(str, sorted(seen)))}}}: {len(seen)} nodes"
            text = "the same for both nodes" if of_labels else reached
            axis.text(0.5, -0.08, text, ha="center", transform=axis.transAxes)
    figure.supxlabel(
        "Two steps from node 1. Label tree: fill and number are the label of a node.\n"
        "Identity tree: the number is the node, white where it was reached before."
    )
    return figure


def case_figure(data: tw.Dataset, *, with_cosines: bool = False) -> Figure:
    """Draw the two molecules of the case study, shaded where their colours after one round differ."""
    figure, axes = new_figure(9, 4.2, 1, 2)
    for axis, number, shaded in zip(axes, CASE_GRAPHS, strangers(data), strict=True):
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
    pair = [data.graphs[number - 1].to_networkx()[0] for number in graphs]
    first, second = _colours(pair, "label")[1]
    return [
        [node for node, colour in one.items() if colour not in other.values()]
        for one, other in ((first, second), (second, first))
    ]


def _colours(graphs: Sequence[nx.Graph], label: str | None = None) -> list[list[dict[int, int]]]:
    """Return the 1-WL colour of each node, by round and graph; the first is a label, or else the degree."""
    names: Any = [dict(one.nodes(data=label)) if label else dict(one.degree) for one in graphs]
    rounds = []
    for _ in range(_ROUNDS + 1):
        order = {
            name: code for code, name in enumerate(sorted({name for each in names for name in each.values()}))
        }
        rounds.append([{node: order[name] for node, name in each.items()} for each in names])
        names = [
            {node: (of[node], tuple(sorted(of[other] for other in one[node]))) for node in one}
            for one, of in zip(graphs, rounds[-1], strict=True)
        ]
    return rounds


def _tree(
    one: nx.Graph, order: Mapping[int, int]
) -> tuple[nx.Graph, dict[str, int], dict[str, tuple[float, float]]]:
    """Return what reaches node 1 in two steps as a tree, the node of each place, and where places are.

    Children are sorted by label where the tree shows labels, so that equal trees look equal.
    """
    tree, nodes, where = nx.Graph(), {"1": 1}, {}
    children = sorted(one[1], key=lambda node: (order[node], node))
    leaves = [(child, leaf) for child in children for leaf in sorted(one[child], key=lambda n: (order[n], n))]
    nodes |= {f"1-{child}": child for child in children}
    for x, (child, leaf) in enumerate(leaves):
        name = f"1-{child}-{leaf}"
        nodes[name], where[name] = leaf, (float(x), 0.0)
        tree.add_edges_from([("1", f"1-{child}"), (f"1-{child}", name)])
    for child in children:
        below = [where[f"1-{child}-{leaf}"][0] for leaf in one[child]]
        where[f"1-{child}"] = float(np.mean(below)), 1.0
    where["1"] = float(np.mean([where[f"1-{child}"][0] for child in children])), 2.0
    return tree, nodes, where


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
