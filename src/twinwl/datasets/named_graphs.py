"""Graphs with the names they came under."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

__all__ = ["NamedGraphs"]


class NamedGraphs(NamedTuple):
    """A batch of graphs, and what each one is called.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> NamedGraphs(GraphBatch.from_edges([[(0, 1)]]), ("an edge",)).names
    ('an edge',)
    """

    graphs: GraphBatch
    """The graphs."""
    names: tuple[str, ...]
    """One name a graph: the file, ``file#index``, or the name that stands in the file."""
    smiles: tuple[str, ...] | None = None
    """One SMILES a graph where they are molecules, so that they can be drawn as such."""
    skipped: tuple[int, ...] = ()
    """Numbers of the lines that were left out because they could not be read."""
