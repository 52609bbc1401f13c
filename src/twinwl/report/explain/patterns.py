"""Patterns that recur: the columns that contribute most to a model's decisions about many graphs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS
from twinwl.report.compare.page import LARGEST_DRAWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.estimators.explanation import ColumnShare, Explanation
    from twinwl.graphs.batch import GraphBatch


class Occurrence(NamedTuple):
    """A pattern in one graph."""

    graph: int
    share: float
    """What it adds to the decision about this graph; positive is for the first of its sides."""
    value: float


class Pattern(NamedTuple):
    """A column with its contributions to all decisions."""

    column: ColumnShare
    """The column in its example."""
    example: int
    """The graph where it contributes most, among those small enough to be drawn."""
    total: float
    """Sum of its absolute shares."""
    side: str
    """What it speaks for, summed over all graphs: a class, or a higher or lower number."""
    mean: float
    """Mean contribution over the graphs that have the pattern; negative for the second of their sides."""
    occurrences: tuple[Occurrence, ...]


class ExplainedGraphs(NamedTuple):
    """The explanation of each graph, without columns, and the patterns that contribute most."""

    explanations: tuple[Explanation, ...]
    patterns: tuple[Pattern, ...]


def explained(model: Any, graph: GraphBatch, n_columns: int) -> Explanation:  # noqa: ANN401
    """Explain one graph; of two classes, positive shares are for the second one, whichever is predicted."""
    found: Explanation = model.explain(graph, n_columns)
    classes = getattr(model, "classes_", np.array([])).tolist()
    return found.towards(classes[1]) if len(classes) == 2 else found  # noqa: PLR2004


def explain_all(
    explain: Callable[[GraphBatch, int], Explanation], graphs: GraphBatch, n_patterns: int
) -> ExplainedGraphs:
    """Explain every graph, and find the patterns with the largest total of absolute shares.

    Parameters
    ----------
    explain
        The method of a fitted model, or `explained` of one.
    graphs
    n_patterns
        Number of patterns to return.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]] * 5)
    >>> model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain"] * 5)
    >>> found = explain_all(model.explain, graphs, 2)
    >>> [(pattern.column.name, pattern.side, len(pattern.occurrences)) for pattern in found.patterns]
    [('h1:c0:s3', 'ring', 10), ('h1:c1:s2', 'chain', 5)]
    """
    explanations: list[Explanation] = []
    occurrences: dict[str, list[Occurrence]] = defaultdict(list)
    columns: dict[str, tuple[tuple[bool, float], ColumnShare, int]] = {}
    for number in range(len(graphs)):
        found = explain(graphs[number], MAX_ITEMS)
        for column in found.columns:
            occurrences[column.name].append(Occurrence(number, column.share, column.value))
            rank = (found.graph.n_nodes <= LARGEST_DRAWN, abs(column.share))
            if column.name not in columns or rank > columns[column.name][0]:
                columns[column.name] = rank, column, number
        explanations.append(replace(found, columns=()))
    totals = {name: sum(abs(one.share) for one in places) for name, places in occurrences.items()}
    strongest = sorted(totals, key=lambda name: (-totals[name], name))[:n_patterns]
    patterns = [
        Pattern(
            *columns[name][1:],
            totals[name],
            *_side_and_mean(explanations, occurrences[name]),
            tuple(occurrences[name]),
        )
        for name in strongest
    ]
    return ExplainedGraphs(tuple(explanations), tuple(patterns))


def side_of(explanation: Explanation, share: float) -> str:
    """Return what a share speaks for: a class, or a higher or lower number."""
    return explanation.sides[0 if share > 0 else 1]


def classes_named(explanation: Explanation, target: str | None) -> Explanation:
    """Name classes that are numbers after the target, ``p_np = 1``; other predictions stay as they are."""
    if target is None or explanation.against is None or isinstance(explanation.prediction, str):
        return explanation

    def name(label: object) -> str | None:
        return None if label is None else f"{target} = {label}"

    return replace(
        explanation,
        prediction=name(explanation.prediction),
        against=name(explanation.against),
        positive=name(explanation.positive),
    )


def _side_and_mean(explanations: list[Explanation], places: list[Occurrence]) -> tuple[str, float]:
    sides = {explanations[place.graph].sides for place in places}
    if len(sides) == 1:
        mean = sum(place.share for place in places) / len(places)
        return sides.pop()[mean <= 0], mean
    # Of several classes, a share for one is a share against the class that it was weighed against.
    sums: dict[str, float] = defaultdict(float)
    for place in places:
        wanted, other = explanations[place.graph].sides
        sums[wanted] += place.share
        sums[other] -= place.share
    side = max(sorted(sums), key=lambda name: sums[name])
    return side, sums[side] / len(places)
