"""k-hop GNN: each node aggregates its k-hop neighbourhood, ring by ring from the outside in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch

from twinwl.arguments import DEPTH, MEMORY
from twinwl.baselines.batching.level_examples import LevelExamples
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Perceptron, ReadoutHead
from twinwl.graphs.selection import pointer, ranges
from twinwl.learning.devices import as_tensor
from twinwl.learning.pooling import hear, pool
from twinwl.ntwin.blocks import check_memory
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import BatchLevels, Level
    from twinwl.refinement.rooted_subgraphs import RootedSubgraphs

__all__ = ["KHopGNNClassifier"]


class KHopGNNClassifier(GNNClassifier):
    r"""Classify graphs with a k-hop GNN (Nikolentzos, Dasoulas and Vazirgiannis, 2020).

    For each root the nodes at distance d form the ring :math:`R_d`. From the outermost ring inwards, the
    nodes of a ring first get messages from their neighbours in it,
    :math:`x_u \leftarrow \mathrm{MLP}(x_u) + \sum_{w \in N(u) \cap R_d} \mathrm{MLP}(x_w)` (update within),
    then those of the next ring get messages from them in the same way (update across), each step with its own
    perceptrons. The last step gives the new state of the root. The readout is the sum over nodes.

    Parameters
    ----------
    hops : int, default=3
        The k: radius of the neighbourhood in one layer.
    max_memory : int or None
        Limit for the neighbourhoods, in bytes; None allows half of the machine's memory.
    layers : int, default=1
        Number of such passes; the authors use one in their experiments on graphs.
    hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = KHopGNNClassifier(hops=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "hops": (DEPTH,),
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        hops: int = 3,
        max_memory: int | None = None,
        *,
        layers: int = 1,
        hidden: int = 64,
        **training: Unpack[TrainingOptions],
    ) -> None:
        super().__init__(layers=layers, hidden=hidden, **training)
        self.hops = hops
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        return ring_examples(batch, columns, self.hops, self.layers, self.max_memory)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return KHopNetwork(n_columns, self.hidden, self.layers, self.hops, n_classes, self.dropout)


def ring_examples(
    batch: GraphBatch, columns: NDArray[np.float32], hops: int, layers: int, max_memory: int | None
) -> LevelExamples:
    """Return graphs as rows: the levels of each pass are its steps, in the order of `_RingPass.forward`."""
    check_memory(batch, (hops,), max_memory)
    cut = rooted_subgraphs(batch, hops)
    pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
    rings = [_Ring(cut, pair_ptr, distance) for distance in range(hops + 1)]
    examples = LevelExamples(batch, columns, np.diff(pair_ptr) + np.diff(cut.indptr[pair_ptr]))
    levels, last = examples.levels, 0
    for _ in range(layers):
        roots = last
        for ring, outer in zip(reversed(rings), [None, *reversed(rings)], strict=False):
            outermost = last
            last = levels.add(ring.graph_ptr, own=(roots, ring.node))
            if outer is not None:
                heard = (outermost, *ring.neighbours(outer))
                last = levels.add(ring.graph_ptr, own=(last, None), heard=heard)
            if ring is not rings[0]:
                last = levels.add(ring.graph_ptr, own=(last, None), heard=(last, *ring.neighbours(ring)))
    return examples


class _Ring:
    """The nodes at one distance from all roots; those at distance 0 are the nodes of the graphs, in order."""

    def __init__(self, cut: RootedSubgraphs, pair_ptr: Int64, distance: int) -> None:
        self.cut = cut
        self.members = np.flatnonzero(cut.distance == distance)
        self.graph_ptr = np.searchsorted(self.members, pair_ptr)
        self.node = cut.node[self.members]

    def neighbours(self, other: _Ring) -> tuple[Int64, Int64]:
        """Return the members of another ring that are adjacent to each, in CSR form."""
        place = np.full(len(self.cut.node), -1, np.int64)
        place[other.members] = np.arange(len(other.members))
        starts = self.cut.indptr[self.members]
        degree = self.cut.indptr[self.members + 1] - starts
        found = place[self.cut.indices[ranges(starts, degree)]]
        member = np.repeat(np.arange(len(degree)), degree)[found >= 0]
        return pointer(np.bincount(member, minlength=len(degree))), found[found >= 0]


class KHopNetwork(torch.nn.Module):
    """Passes through the rings of every root, the sum over roots, a classifier."""

    def __init__(
        self, n_columns: int, hidden: int, layers: int, hops: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.passes = torch.nn.ModuleList(_RingPass(width, hidden, hops) for width in widths)
        self.head = ReadoutHead(hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        last = 0
        for ring_pass in self.passes:
            x, last = ring_pass(x, levels, last)
        logits: torch.Tensor = self.head(pool(x, *levels.pooled(last)))
        return logits


class _RingPass(torch.nn.Module):
    """One pass from the outermost ring to the roots."""

    def __init__(self, n_columns: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.hops = hops
        self.enter = torch.nn.ModuleList(Perceptron(n_columns, hidden) for _ in range(hops + 1))
        self.within_own = torch.nn.ModuleList(Perceptron(hidden, hidden) for _ in range(hops))
        self.within_other = torch.nn.ModuleList(Perceptron(hidden, hidden) for _ in range(hops))
        self.across = torch.nn.ModuleList(Perceptron(hidden, hidden) for _ in range(hops))

    def forward(self, x: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
        """Return the rows of the level after the pass, from those of level ``last``, and its number."""
        outer: torch.Tensor | None = None
        for d in range(self.hops, -1, -1):
            outermost, last = last, last + 1
            members = levels.level(last)
            states = self.enter[d](x[as_tensor(members.own, x.device)], members)
            if outer is not None:
                said = self.across[d](outer, levels.level(outermost))
                last += 1
                states = _heard(said, states, levels.level(last))
            if d > 0:
                members = levels.level(last)
                said = self.within_other[d - 1](states, members)
                states = self.within_own[d - 1](states, members)
                last += 1
                states = _heard(said, states, levels.level(last))
            outer = states
        assert outer is not None  # noqa: S101  (ring 0 is always there)
        return outer, last


def _heard(said: torch.Tensor, states: torch.Tensor, level: Level) -> torch.Tensor:
    return hear(said, level.ptr, level.senders, states, level.own)
