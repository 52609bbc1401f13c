"""The page that shows why two graphs are told apart, or not: one self-contained HTML file."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from markupsafe import Markup

from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.report.compare.rounds import Round, rounds_of_pair, rounds_to_show
from twinwl.report.compare.verdict_text import caption, verdict_of
from twinwl.report.drawing.graph_drawing import draw, on_one_canvas
from twinwl.report.drawing.palette import FILLS, paint
from twinwl.report.html import rendered, templates
from twinwl.report.wording import facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label
    from twinwl.isomorphism.verdict import Comparison
    from twinwl.report.compare.rounds import ColourRow, Round
    from twinwl.report.drawing.graph_drawing import Drawing

LARGEST_DRAWN = 400
_MOST_ROWS = 400
_ROWS_AT_A_GLANCE = 10
_LONGEST_LABEL = 120
_BONDS = {"single": "\u2013", "double": "=", "triple": "≡", "aromatic": ":"}

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | dict[str, Json] | None"


def compare_page(first: Dataset, second: Dataset, comparison: Comparison, n_iter: int | None = None) -> str:
    """Return the page of two graphs as HTML.

    Parameters
    ----------
    first, second
        One graph each, with its name.
    comparison
        The result of `twinwl.compare`.
    n_iter
        Last round to show; None shows as many as are needed.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl import load_dataset
    >>> hexagon, triangles = load_dataset("graph6:EhEG"), load_dataset("graph6:EwCW")
    >>> page = compare_page(hexagon, triangles, compare(hexagon.graphs, triangles.graphs))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    pair = concatenate([part.graphs.without_features() for part in (first, second)])
    rounds = _rounds(pair, comparison, n_iter)
    last = len(rounds) - 1
    start = last if comparison.iteration is None else comparison.iteration
    drawn = int(pair.nodes_per_graph.max(initial=0)) <= LARGEST_DRAWN
    drawings = (
        on_one_canvas(
            [draw(part.graphs, part.smiles[0] if part.smiles else None) for part in (first, second)]
        )
        if drawn
        else [None, None]
    )
    captions = [caption(h, found, comparison) for h, found in enumerate(rounds)]
    return rendered(
        templates().get_template("compare.html.jinja"),
        ("compare.css",),
        "compare.js",
        verdict=verdict_of(pair, comparison),
        sides=[
            side_of_page(side, (first, second)[side], drawings[side], pair, rounds[start]) for side in (0, 1)
        ],
        rounds=[
            {"difference": found.difference, "caption": " ".join(text)}
            for found, text in zip(rounds, captions, strict=True)
        ],
        n_iter=last,
        start=start,
        drawn=drawn,
        by_readout=any(found.by_readout for found in rounds),
        notice=f"Graphs of more than {LARGEST_DRAWN} nodes are not drawn. The vectors below are complete.",
        data=script_safe_json(page_data(pair, rounds, captions, start, drawn=drawn)),
    )


def _rounds(pair: GraphBatch, comparison: Comparison, n_iter: int | None) -> list[Round]:
    rounds = rounds_of_pair(pair, rounds_to_show(pair, comparison.iteration, n_iter))
    witness = comparison.witness
    if witness is not None:
        first_of_second = int(pair.graph_ptr[1])
        nodes = [*witness.nodes[0], *(first_of_second + node for node in witness.nodes[1])]
        rounds[witness.iteration] = rounds[witness.iteration].with_witness(nodes)
    return rounds


def page_data(
    pair: GraphBatch, rounds: list[Round], captions: Sequence[tuple[str, str]], start: int, *, drawn: bool
) -> dict[str, Json]:
    """Return the data for the script; it has the graphs themselves only if they are drawn."""
    return {
        "start": start,
        "paints": [list(paint(slot)) for slot in range(len(FILLS) ** 2)],
        "labels": [shown_label(label) for label in pair.node_vocabulary],
        "edge_labels": [_BONDS.get(shown_label(label), shown_label(label)) for label in pair.edge_vocabulary],
        "graphs": [_graph(pair, side, rounds) for side in (0, 1)] if drawn else [],
        "rounds": [
            _round(pair, found, text, drawn=drawn) for found, text in zip(rounds, captions, strict=True)
        ],
    }


def side_of_page(
    index: int, named: Dataset, drawing: Drawing | None, pair: GraphBatch, shown: Round
) -> dict[str, object]:
    """Return the data of one graph for the template, in the round that is shown first."""
    letter = "ab"[index]
    graph = named.graphs
    first = int(pair.graph_ptr[index])
    nodes = []
    letters = {entry.node: entry for entry in drawing.letters} if drawing else {}
    for node, (x, y) in enumerate(drawing.points.tolist() if drawing else []):
        colour, size = int(shown.colours[first + node]), int(shown.sizes[first + node])
        label = shown_label(graph.node_vocabulary[graph.node_labels[node]])
        labelled = f", label {label}" if graph.has_node_labels else ""
        fill, ring = paint(int(shown.slots[first + node]))
        nodes.append(
            {
                "x": x,
                "y": y,
                "fill": fill,
                "ring": ring,
                "size": size,
                "letter": letters.get(node),
                "description": f"Node {node} of graph {letter.upper()}{labelled}, "
                f"colour {colour}, rooted size {size}",
            }
        )
    return {
        "index": index,
        "letter": letter,
        "name": named.names[0],
        "facts": facts_of(graph),
        "drawing": drawing,
        "arrows": graph.directed,
        "nodes": nodes,
    }


def shown_label(label: Label) -> str:
    """Format a label for display.

    >>> shown_label("C"), shown_label(None), shown_label((1, "a"))
    ('C', '–', "(1, 'a')")
    """
    if label is None:
        return "\u2013"
    text = label if isinstance(label, str) else repr(label)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def script_safe_json(data: Json) -> Markup:
    r"""Write JSON that cannot end the script element around it, whatever its strings contain.

    >>> print(script_safe_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  (no character that means anything to HTML is left)


def _graph(pair: GraphBatch, side: int, rounds: list[Round]) -> dict[str, Json]:
    first, end = int(pair.graph_ptr[side]), int(pair.graph_ptr[side + 1])
    ends = pair.indptr[first : end + 1].tolist()
    return {
        "neighbours": [(pair.indices[low:high] - first).tolist() for low, high in pairwise(ends)],
        "around": _around(pair, first, end),
        "labels": pair.node_labels[first:end].tolist() if pair.has_node_labels else None,
        "colours": [found.colours[first:end].tolist() for found in rounds],
        "slots": [found.slots[first:end].tolist() for found in rounds],
        "sizes": [found.sizes[first:end].tolist() for found in rounds],
        "marked": [found.marked[first:end].nonzero()[0].tolist() for found in rounds],
    }


def _around(pair: GraphBatch, first: int, end: int) -> list[Json]:
    """Return the neighbours of each node as (neighbour, edge label or -1), along arcs in both directions."""
    sources, targets = pair.arcs()
    codes = pair.edge_labels if pair.edge_labels is not None else [-1] * len(targets)
    around: list[list[Json]] = [[] for _ in range(end - first)]
    for u, v, code in zip(sources.tolist(), targets.tolist(), list(map(int, codes)), strict=True):
        if first <= u < end:
            around[u - first].append([v - first, code])
            if pair.directed:
                around[v - first].append([u - first, code])
    return list(around)


def _round(pair: GraphBatch, found: Round, text: tuple[str, str], *, drawn: bool) -> dict[str, Json]:
    node_of_colour = {int(colour): node for node, colour in reversed(list(enumerate(found.colours.tolist())))}
    rows = found.rows
    if len(rows) > _ROWS_AT_A_GLANCE:  # rows that differ come first
        rows = sorted(rows, key=lambda row: (not row.differs, row.slot))[:_MOST_ROWS]
    return {
        "difference": found.difference,
        "caption": list(text),
        "left_out": len(found.rows) - len(rows),
        "rows": [_row(pair, row, node_of_colour[row.colour], drawn=drawn) for row in rows],
    }


def _row(pair: GraphBatch, row: ColourRow, node: int, *, drawn: bool) -> dict[str, Json]:
    side = int(node >= pair.graph_ptr[1])
    return {
        "colour": row.colour,
        "slot": row.slot,
        "n": list(row.counts),
        "t": list(row.sums),
        "z": [[list(entry) for entry in side_sizes] for side_sizes in row.sizes],
        "differs": row.differs,
        "label": int(pair.node_labels[node]) if pair.has_node_labels else None,
        "example": [side, int(node - pair.graph_ptr[side])] if drawn else None,
    }
