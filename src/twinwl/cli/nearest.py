"""The most similar training graph of each graph, for ``predict`` and ``explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.datasets.dataset import Dataset


class Nearest(NamedTuple):
    """Indices of training graphs, -1 where nothing is similar, and their similarities."""

    training: Dataset
    places: list[int]
    similarity: list[float]

    @classmethod
    def found(cls, data: Dataset, training: Dataset) -> Nearest:
        """Search among the training graphs."""
        from twinwl.stwin.near_graphs import NearGraphs  # noqa: PLC0415  (slow)

        index, similarity = NearGraphs(training.graphs).nearest(data.graphs)
        return cls(training, index.tolist(), similarity.round(4).tolist())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of a table, one value per graph."""
        names, rows = self.training.names, self.training.rows
        return {
            "nearest": [None if place < 0 else names[place] for place in self.places],
            "nearest_row": [None if place < 0 else int(rows[place]) for place in self.places],
            "similarity": self.similarity,
        }

    def at(self, graph: int) -> tuple[Dataset, float] | None:
        """Return the nearest training graph of a graph and its similarity; None if nothing is similar."""
        place = self.places[graph]
        return None if place < 0 else (self.training[place], self.similarity[graph])

    def text(self, graph: int) -> str:
        """Name the nearest training graph of a graph, for people to read."""
        near = self.at(graph)
        if near is None:
            return "no training graph is similar"
        return f"nearest training graph: {near[0].names[0]} (similarity {near[1]:.2f})"
