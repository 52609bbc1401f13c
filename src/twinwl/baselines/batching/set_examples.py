"""Graphs with their sets of two and three nodes, for 1-2-3-GNNs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.baselines.batching.examples import GraphExamples
from twinwl.baselines.batching.graph_slicer import GraphSlicer
from twinwl.baselines.batching.node_sets import count_node_sets, node_pairs, node_triples
from twinwl.baselines.parts import PartedExamples
from twinwl.memory import check_fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.baselines.batching.graph_slicer import GraphSlice
    from twinwl.baselines.batching.node_sets import NodeSets
    from twinwl.graphs.batch import GraphBatch

__all__ = ["SetExamples", "SetInput", "SetLevel", "check_sets"]

# Sets per part; each has a handful of neighbours.
_BUDGET = 1 << 18
_BYTES_OF_INTEGER, _BYTES_OF_FLOAT = 8, 4


class SetLevel(NamedTuple):
    """The k-sets of some graphs, for one k.

    Attributes
    ----------
    subsets : tensor of int64, shape (n_sets, k)
        The sets of the level below that are inside each set.
    n_edges : tensor of int64, shape (n_sets,)
    edge_index : tensor of int64, shape (2, n_arcs)
        Local neighbours.
    graph_of_set : tensor of int64, shape (n_sets,)
    """

    subsets: torch.Tensor
    n_edges: torch.Tensor
    edge_index: torch.Tensor
    graph_of_set: torch.Tensor


class SetInput(NamedTuple):
    """Some graphs with their pairs and triples of nodes."""

    graphs: GraphInput
    pairs: SetLevel
    triples: SetLevel


class SetExamples(PartedExamples[SetInput]):
    """A batch of graphs as training examples, with all pairs and triples of nodes.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
    connected
        Use only connected triples.
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32], *, connected: bool = True) -> None:
        self.nodes = GraphExamples(batch, columns)
        self.levels = (node_pairs(batch), node_triples(batch, connected=connected))
        self.slicers = [GraphSlicer(level.set_ptr, level.indptr, level.indices) for level in self.levels]
        super().__init__(np.sum([np.diff(level.set_ptr) for level in self.levels], axis=0), _BUDGET)

    def part(self, rows: Int64) -> SetInput:
        """Return these graphs as tensors."""
        below = self.nodes.slicer.take(rows)
        levels = []
        for level, slicer in zip(self.levels, self.slicers, strict=True):
            piece = slicer.take(rows)
            levels.append(_level(level, piece, below))
            below = piece
        return SetInput(self.nodes.part(rows), *levels)


def check_sets(
    batch: GraphBatch, hidden: int, layers: int, *, connected: bool, max_memory: int | None
) -> None:
    """Refuse graphs whose pairs and triples would not fit into memory.

    Parameters
    ----------
    batch
        The graphs.
    hidden, layers
        Width of a state, and number of layers of each level.
    connected
        Whether only connected triples count.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    """
    if not len(batch):
        return
    counts = count_node_sets(batch, connected=connected)
    of_graph = counts.sum(axis=1)
    largest = int(of_graph.argmax())
    degree = 2 * batch.n_edges / max(1, batch.n_nodes)
    # Each of a set's k nodes moves along its edges; forward and backward, each layer keeps two states per
    # set.
    indices = int(((2 * counts[:, 0] + 3 * counts[:, 1]) * degree).sum() + 6 * of_graph.sum())
    states = int(of_graph[largest]) * hidden * 4 * layers
    check_fits(
        indices * _BYTES_OF_INTEGER + states * _BYTES_OF_FLOAT,
        max_memory,
        f"1-2-3-GNN on {len(batch)} graphs with {int(of_graph.sum()):,} pairs and triples of nodes (graph "
        f"{largest} alone, of {int(batch.nodes_per_graph[largest]):,} nodes, has {int(of_graph[largest]):,})",
        "leave out the largest graphs, use connected=True, or raise max_memory",
    )


def _level(level: NodeSets, piece: GraphSlice, below: GraphSlice) -> SetLevel:
    shift = below.shift[piece.graph_of_node]
    return SetLevel(
        torch.from_numpy(level.subsets[piece.nodes] + shift[:, None]),
        torch.from_numpy(level.n_edges[piece.nodes]),
        torch.from_numpy(piece.edge_index),
        torch.from_numpy(piece.graph_of_node),
    )
