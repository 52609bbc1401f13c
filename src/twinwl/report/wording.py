"""Functions that format parts of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, in the plural if needed.

    >>> counted(1, "node"), counted(1200, "edge")
    ('1 node', '1,200 edges')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def enumerated(parts: Sequence[str], word: str = "and") -> str:
    """Join items with commas and a last word.

    >>> enumerated(["9", "10", "12"], "or")
    '9, 10 or 12'
    """
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def facts_of(graph: GraphBatch, *, molecule: bool = False) -> str:
    """Return the number of nodes and edges of a graph as text; those of a molecule are atoms and bonds.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> facts_of(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    '3 nodes, 2 edges'
    """
    node, edge = ("atom", "bond") if molecule else ("node", "arc" if graph.directed else "edge")
    return f"{counted(graph.n_nodes, node)}, {counted(graph.n_edges, edge)}"


def signed(points: float) -> str:
    """Format a difference in points with its sign; a value that rounds to zero has none.

    >>> signed(1.25), signed(-0.8), signed(-0.004)
    ('+1.25', '−0.80', '0.00')
    """
    rounded = round(points, 2)
    return f"{rounded:+.2f}".replace("-", "−") if rounded else "0.00"


def points_between(first: float, second: float) -> float:
    """Return the difference of two figures as they are shown, with two digits, so that readers find the same.

    >>> points_between(86.034, 87.106)
    -1.08
    """
    return round(round(first, 2) - round(second, 2), 2)
