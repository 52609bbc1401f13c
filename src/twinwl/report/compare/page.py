"""The page that shows why two graphs are told apart, or not: one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.report.compare.page_data import LARGEST_DRAWN, page_data, script_safe_json, side_of_page
from twinwl.report.compare.rounds import Round, rounds_of_pair, rounds_to_show
from twinwl.report.compare.verdict_text import caption, verdict_of
from twinwl.report.drawing.graph_drawing import draw, on_one_canvas
from twinwl.report.html import rendered, templates

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.isomorphism.verdict import Comparison


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
