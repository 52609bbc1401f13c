"""Graphs as levels of colours: a network computes one row for all items that it cannot tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from twinwl.baselines.parts import PartedExamples
from twinwl.learning.colour_levels import ColourLevels, distinct_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Int64, Ints
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import BatchLevels

__all__ = ["LevelExamples", "LevelInput", "add_rounds"]

# Items of a part plus the messages between them.
_BUDGET = 1 << 20


class LevelInput(NamedTuple):
    """Some graphs as rows.

    Attributes
    ----------
    x : tensor of float, shape (n_rows, n_columns)
        Input of each row of level 0, whose items are the nodes.
    levels : BatchLevels
    """

    x: torch.Tensor
    levels: BatchLevels


class LevelExamples(PartedExamples[LevelInput]):
    """A batch of graphs as training examples; whoever makes it adds levels to ``levels``.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node. Level 0 has a row for each that is distinct.
    cost_of_graph : array, shape (n_graphs,), optional
        Items and messages of each graph; by default nodes and arcs.
    padded
        Whether every graph of a part costs as much as the costliest.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = LevelExamples(batch, np.ones((5, 1), np.float32))
    >>> add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, 1)
    1
    >>> part = examples.part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).counts.tolist()
    ([[1.0]], [2, 1])
    """

    def __init__(
        self,
        batch: GraphBatch,
        columns: NDArray[np.float32],
        cost_of_graph: Int64 | None = None,
        *,
        padded: bool = False,
    ) -> None:
        arcs = batch.indptr[batch.graph_ptr[1:]] - batch.indptr[batch.graph_ptr[:-1]]
        costs = batch.nodes_per_graph + arcs if cost_of_graph is None else cost_of_graph
        super().__init__(costs, _BUDGET, padded=padded)
        codes, first = distinct_rows(columns)
        self.table = torch.from_numpy(columns[first])
        self.levels = ColourLevels()
        self.levels.add(batch.graph_ptr, codes)

    def part(self, rows: Int64) -> LevelInput:
        """Return these graphs as rows."""
        levels = self.levels.take(rows)
        return LevelInput(self.table[torch.from_numpy(levels.marks(0))], levels)


def add_rounds(
    levels: ColourLevels, graph_ptr: Int64, indptr: Int64, indices: Ints, rounds: int, first: int = 0
) -> int:
    """Add levels of message passing between the items of a level, and return the number of the last."""
    for _ in range(rounds):
        first = levels.add(graph_ptr, own=(first, None), heard=(first, indptr, indices))
    return first
