"""Large batches in parts: prediction takes a thousand graphs at once, too many for some networks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import torch

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64, Ints

__all__ = ["PartedExamples", "PartwiseNetwork"]

Part_co = TypeVar("Part_co", covariant=True)


class PartedExamples(Generic[Part_co]):
    """Examples whose batches come in one part, or in several if one would be too large.

    Parameters
    ----------
    cost_of_graph : array, shape (n_graphs,)
        Cost of each graph.
    budget
        Largest cost of a part; a graph that costs more is a part of its own.
    padded
        Whether every graph of a part costs as much as the costliest.
    """

    def __init__(self, cost_of_graph: Ints | Float64, budget: float, *, padded: bool = False) -> None:
        self.cost_of_graph = cost_of_graph
        self.budget = budget
        self.padded = padded

    def __len__(self) -> int:
        return len(self.cost_of_graph)

    def part(self, rows: Int64) -> Part_co:
        """Return the network's input for these graphs, regardless of their cost."""
        raise NotImplementedError

    def take(self, rows: Int64) -> tuple[Part_co, ...]:
        """Return these graphs in parts, in order."""
        rows = np.asarray(rows, np.int64)
        bounds = _bounds(self.cost_of_graph[rows], self.budget, padded=self.padded)
        return tuple(self.part(rows[low:high]) for low, high in pairwise(bounds))


class PartwiseNetwork(torch.nn.Module):
    """Run a network on each part and join the logits."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, parts: tuple[object, ...]) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        return torch.cat([self.network(part) for part in parts])


def _bounds(costs: Ints | Float64, budget: float, *, padded: bool) -> list[int]:
    """Cut a row of costs into consecutive parts.

    >>> _bounds(np.array([3, 3, 9, 1]), 6, padded=False)
    [0, 2, 3, 4]
    >>> _bounds(np.array([1, 1, 3, 1]), 6, padded=True)
    [0, 2, 4]
    """
    bounds = [0]
    total = dearest = 0.0
    for place, cost in enumerate(costs.tolist()):
        dearest = max(dearest, cost)
        total = dearest * (place + 1 - bounds[-1]) if padded else total + cost
        if total > budget and place > bounds[-1]:
            bounds.append(place)
            total = dearest = cost
    return [*bounds, len(costs)]
