"""The page that explains a model's predictions for many graphs: recurring patterns, and a gallery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from twinwl.arrays import Float64
from twinwl.refinement.alphabet import Alphabet
from twinwl.report.explain import (
    STRONGEST,
    STYLES,
    ExplainedGraphs,
    Pattern,
    ShownColumn,
    ShownNode,
    columns_shown,
    drawing_of,
    drawn_for_the_eye,
    explain_template,
    nodes_shown,
    percent,
)
from twinwl.report.graph_drawing import Drawing
from twinwl.report.page import counted, facts_of, rendered

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.models.explanation import Explanation


class Answers(NamedTuple):
    """What else is known about the predictions, one value per graph; None where it is unknown."""

    classes: Sequence[object] = ()
    """The classes of the model; empty for a regressor."""
    probabilities: Sequence[float] | None = None
    """Probability of the predicted class."""
    unseen: Float64 | None = None
    """Share of node colours that occur in no training graph."""
    truth: Sequence[object] | None = None
    """The targets in the data; None in the list where one is missing."""
    nearest: Sequence[str] | None = None
    """The most similar training graph and its similarity, as text."""


class _Tile(NamedTuple):
    name: str
    facts: str
    predicted: str
    right: bool | None
    notes: str
    drawing: Drawing | None
    nodes: list[ShownNode]


class _Card(NamedTuple):
    pattern: Pattern
    strength: float
    words: str
    name: str
    column: ShownColumn
    drawing: Drawing | None
    nodes: list[ShownNode]


def gallery_page(
    data: Dataset,
    found: ExplainedGraphs,
    answers: Answers,
    *,
    alphabet: Alphabet | None = None,
    atoms: str = "skeleton",
    edge_labels: bool = True,
    most: int = 60,
) -> str:
    """Return the page about all graphs of a data set as HTML.

    Parameters
    ----------
    data
        The graphs, with names, and SMILES if they are molecules.
    found
        Their explanations.
    answers
        Classes, probabilities, shares of unseen colours and known targets.
    alphabet
        Alphabet of the model, to find the nodes that a pattern counts and those with unseen colours.
    atoms, edge_labels
        As for `twinwl.report.explain.explain_page`.
    most
        Number of graphs to draw, the first ones of the data set.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl.datasets.dataset import Dataset
    >>> from twinwl.report.explain import explain_all
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]] * 5)
    >>> model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain"] * 5)
    >>> found = explain_all(model.explain, graphs, 2)
    >>> page = gallery_page(Dataset("tiny", graphs), found, Answers(["chain", "ring"]))
    >>> page.count('class="tile"')
    10
    """
    sides = {explanation.sides for explanation in found.explanations}
    noun = "graph" if data.smiles is None else "molecule"
    predictions = Counter(explanation.predicted for explanation in found.explanations)
    tiles = [
        _tile(data, number, explanation, answers, alphabet)
        for number, explanation in enumerate(found.explanations[:most])
    ]
    return rendered(
        explain_template("gallery.html.jinja"),
        STYLES,
        name=data.name,
        n_graphs=counted(len(data), noun),
        noun=noun,
        node="node" if data.smiles is None else "atom",
        is_molecule=data.smiles is not None,
        numbers=not answers.classes,
        predictions=predictions.most_common(),
        right=_right(found.explanations, answers),
        left_out=counted(len(data.errors), "row") if data.errors else "",
        one_scale=len(sides) == 1,
        sides=min(sides) if len(sides) == 1 else ("the class that is predicted", "another class"),
        tiles=tiles,
        n_tiles=f"the first {len(tiles):,} of {counted(len(data), noun)}"
        if len(tiles) < len(data)
        else f"all {counted(len(data), noun)}",
        any_unseen=any(node.unseen is not None for tile in tiles for node in tile.nodes if tile.drawing),
        eye=drawn_for_the_eye(data.graphs, molecule=data.smiles is not None, edge_labels=edge_labels),
        cards=_cards(data, found, alphabet, atoms),
        arrows=data.graphs.directed,
        strongest=100 * STRONGEST,
        method=found.explanations[0].method if found.explanations else "",
    )


def _right(explanations: Sequence[Explanation], answers: Answers) -> str:
    """Say how many predictions of classes are those in the data; empty where the data have none."""
    if answers.truth is None or not answers.classes:
        return ""
    pairs = zip(answers.truth, explanations, strict=True)
    known = [str(truth) == explanation.predicted for truth, explanation in pairs if truth is not None]
    return f"{sum(known):,} of {len(known):,} as in the data" if known else ""


def _tile(
    data: Dataset, number: int, explanation: Explanation, answers: Answers, alphabet: Alphabet | None
) -> _Tile:
    molecule = data.smiles[number] if data.smiles else None
    drawing = drawing_of(explanation.graph, molecule)
    truth = None if answers.truth is None else answers.truth[number]
    notes = [] if molecule is None else [f"row {data.rows[number]}"]
    if answers.probabilities is not None:
        notes.append(f"probability {percent(answers.probabilities[number])}")
    if truth is not None:
        notes.append(f"in the data: {truth}")
    if answers.unseen is not None:
        notes.append(f"unseen {100 * answers.unseen[number]:.0f} %")
    if answers.nearest is not None:
        notes.append(answers.nearest[number])
    return _Tile(
        data.names[number],
        facts_of(explanation.graph, molecule=molecule is not None),
        explanation.predicted,
        None if truth is None or not answers.classes else str(truth) == explanation.predicted,
        " · ".join(notes),
        drawing,
        nodes_shown(explanation, drawing, molecule, alphabet),
    )


def _cards(
    data: Dataset,
    found: ExplainedGraphs,
    alphabet: Alphabet | None,
    atoms: str,
) -> list[_Card]:
    noun = "graph" if data.smiles is None else "molecule"
    largest = max([pattern.total for pattern in found.patterns], default=0.0) or 1.0
    cards = []
    for pattern in found.patterns:
        example = replace(found.explanations[pattern.example], columns=(pattern.column,))
        molecule = data.smiles[pattern.example] if data.smiles else None
        drawing = drawing_of(example.graph, molecule)
        cards.append(
            _Card(
                pattern,
                pattern.total / largest,
                f"In {len(pattern.occurrences):,} of {counted(len(data), noun)}, "
                f"{pattern.total:#.3g} in total",
                data.names[pattern.example],
                columns_shown(example.graph, example, alphabet, drawing, molecule, atoms)[0],
                drawing,
                nodes_shown(example, drawing, molecule),
            )
        )
    return cards
