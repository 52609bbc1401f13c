"""The page that explains a model's prediction for a graph: one self-contained HTML file."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twinwl.report.compare.page import LARGEST_DRAWN
from twinwl.report.explain.page_data import (
    STRONGEST,
    ShownNode,
    columns_shown,
    drawing_of,
    nodes_shown,
    percent,
    signed,
)
from twinwl.report.html import rendered, templates
from twinwl.report.wording import counted, facts_of

if TYPE_CHECKING:
    import jinja2

    from twinwl.datasets.dataset import Dataset
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet

STYLES = ("compare.css", "explain.css")


def explain_page(
    named: Dataset,
    explanation: Explanation,
    *,
    alphabet: Alphabet | None = None,
    probability: float | None = None,
    atoms: str = "skeleton",
    edge_labels: bool = True,
    nearest: tuple[Dataset, float] | None = None,
) -> str:
    """Return the page of an explanation as HTML.

    Parameters
    ----------
    named
        One graph with its name, and its SMILES if it is a molecule.
    explanation
        The result of a classifier's ``explain`` for this graph.
    alphabet
        Alphabet of the model, to find the nodes that a column counts; without it they are not shown.
    probability
        Probability of the predicted class.
    atoms
        What the model's atom labels contain, as in `GraphBatch.from_smiles`.
    edge_labels
        Whether the model sees edge labels; if not, the page says that they are drawn for the eye only.
    nearest
        The most similar training graph, and its similarity, if it is known.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl import load_dataset
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    >>> model = STwinSVC().fit(GraphBatch.from_edges([triangle, path] * 5), ["ring", "chain"] * 5)
    >>> named = load_dataset("graph6:Bw")
    >>> page = explain_page(named, model.explain(named.graphs), alphabet=model.space_.alphabet)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    molecule = named.smiles[0] if named.smiles else None
    drawing = drawing_of(named.graphs, molecule)
    nodes = nodes_shown(explanation, drawing, molecule, alphabet)
    columns = columns_shown(named.graphs, explanation, alphabet, drawing, molecule, atoms)
    noun = "node" if molecule is None else "atom"
    return rendered(
        explain_template("explain.html.jinja"),
        STYLES,
        "explain.js",
        name=named.names[0],
        facts=facts_of(named.graphs, molecule=molecule is not None),
        noun=noun,
        eye=drawn_for_the_eye(named.graphs, molecule=molecule is not None, edge_labels=edge_labels),
        any_unseen=any(node.unseen is not None for node in nodes),
        arrows=named.graphs.directed,
        is_molecule=bool(named.smiles),
        explanation=explanation,
        wanted=explanation.sides[0],
        other=explanation.sides[1],
        probability=None if probability is None else percent(probability),
        nearest=None if nearest is None else _tile(explanation, *nearest),
        parts=_parts(explanation),
        drawing=drawing,
        nodes=nodes,
        listed=_by_weight(nodes),
        n_listed=counted(len(nodes), noun),
        columns=columns,
        largest=max([abs(node.share) for node in nodes], default=0.0),
        strongest=100 * STRONGEST,
        notice=f"A graph of more than {LARGEST_DRAWN} nodes is not drawn. The shares below are complete.",
    )


def _tile(explanation: Explanation, near: Dataset, similarity: float) -> dict[str, object]:
    """Return a training graph as it is drawn, without shares."""
    molecule = near.smiles[0] if near.smiles else None
    drawing = drawing_of(near.graphs, molecule)
    bare = replace(explanation, graph=near.graphs, node_shares=np.zeros(near.graphs.n_nodes), columns=())
    return {
        "name": near.names[0],
        "facts": facts_of(near.graphs, molecule=molecule is not None),
        "similarity": similarity,
        "drawing": drawing,
        "nodes": nodes_shown(bare, drawing, molecule),
    }


def drawn_for_the_eye(graphs: GraphBatch, *, molecule: bool, edge_labels: bool) -> str:
    """Return a sentence if edge labels are drawn that the model does not see, otherwise nothing."""
    if edge_labels or graphs.edge_labels is None:
        return ""
    what = "Bond orders" if molecule else "Edge labels"
    return f"{what} are drawn for the eye; this model does not see them."


def explain_template(name: str) -> jinja2.Template:
    """Return a template of a page about explanations, with the filter that writes shares."""
    environment = templates()
    environment.filters["signed"] = signed
    return environment.get_template(name)


def _parts(explanation: Explanation) -> list[dict[str, object]]:
    """Return the terms of the decision as bars, each starting where the previous one ends."""
    shares = explanation.node_shares
    steps = [
        ("Intercept", explanation.intercept),
        (f"Shares for {explanation.sides[0]}", float(shares[shares > 0].sum())),
        (f"Shares for {explanation.sides[1]}", float(shares[shares < 0].sum())),
    ]
    starts = [0.0]
    for _, step in steps:
        starts.append(starts[-1] + step)
    spans = [*itertools.pairwise(starts), (0.0, starts[-1])]
    low, high = min(0.0, *starts), max(0.0, *starts)
    scale = 100 / ((high - low) or 1.0)
    titled = [*steps, ("Decision", starts[-1])]
    return [
        {
            "title": title,
            "value": value,
            "left": (min(span) - low) * scale,
            "width": (max(span) - min(span)) * scale,
            "zero": -low * scale,
        }
        for (title, value), span in zip(titled, spans, strict=True)
    ]


def _by_weight(nodes: list[ShownNode]) -> list[ShownNode]:
    return sorted(nodes, key=lambda node: -abs(node.share))
