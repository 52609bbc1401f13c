"""Nested GIN: a GIN inside the rooted subgraph of every node.

k-hop GNN: each node aggregates its k-hop neighbourhood, ring by ring from the outside in.
"""

from __future__ import annotations

from typing import ClassVar, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import one_hot

from twinwl.arguments import DEPTH, FLAG, MEMORY
from twinwl.arrays import Int64, pointer, ranges
from twinwl.baselines.batching import LevelExamples, LevelInput, PartedExamples, add_rounds
from twinwl.baselines.gin import GINLayers
from twinwl.baselines.gnn import GNNClassifier, Perceptron, ReadoutHead, TrainingOptions
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import Constraints
from twinwl.neural.devices import as_tensor
from twinwl.neural.quotient import check_memory
from twinwl.neural.rows import BatchLevels, RowLayer, aggregate, pool
from twinwl.refinement.rooted_subgraphs import RootedSubgraphs, rooted_subgraphs


class NestedGINClassifier(GNNClassifier):
    r"""Classify graphs with a Nested GIN (Zhang and Li, 2021).

    Inside the rooted subgraph :math:`G_w^h` of every node w a base GNN, here a GIN, gives each node v a state
    :math:`h_{v,w}`; they are pooled to the state of the root, :math:`h_w = R_0(\{h_{v,w}\})`, and those to
    that of the graph. The distance from the root, one-hot, is part of each node's input. Both poolings
    are sums here, of the states of all layers.

    Parameters
    ----------
    height : int, default=3
        Radius of the rooted subgraphs.
    distance_features : bool, default=True
        Add each node's distance from the root to its input.
    max_memory : int or None
        Limit for the subgraphs, in bytes; None allows half of the machine's memory.
    layers : int, default=4
        Layers of the GIN.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = NestedGINClassifier(2, layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "height": (DEPTH,),
        "distance_features": (FLAG,),
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        height: int = 3,
        distance_features: bool = True,
        max_memory: int | None = None,
        *,
        layers: int = 4,
        hidden: int = 32,
        **training: Unpack[TrainingOptions],
    ) -> None:
        super().__init__(layers=layers, hidden=hidden, **training)
        self.height = height
        self.distance_features = distance_features
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        check_memory(batch, (self.height,), self.max_memory)
        cut = rooted_subgraphs(batch, self.height)
        pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
        examples = LevelExamples(batch, columns, np.diff(pair_ptr) + np.diff(cut.indptr[pair_ptr]))
        levels = examples.levels
        # A pair is a node inside the subgraph of a root.
        marks = cut.distance if self.distance_features else None
        pairs = levels.add(pair_ptr, marks, own=(0, cut.node))
        last = add_rounds(levels, pair_ptr, cut.indptr, cut.indices, self.layers, pairs)
        levels.add(
            batch.graph_ptr, messages=(last, cut.subgraph_ptr, np.arange(len(cut.node), dtype=np.int32))
        )
        return examples

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        n_distances = self.height + 1 if self.distance_features else 0
        return NestedGINNetwork(n_columns, n_distances, self.hidden, self.layers, n_classes, self.dropout)


class NestedGINNetwork(torch.nn.Module):
    """A GIN on the union of rooted subgraphs, sums over subgraphs and graphs, a classifier.

    RowLayer 0 has nodes, level 1 pairs of a root and a node of its subgraph, the last level roots.
    """

    def __init__(
        self, n_columns: int, n_distances: int, hidden: int, layers: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.n_distances = n_distances
        self.layers = GINLayers(n_columns + n_distances, hidden, layers)
        self.of_root = Perceptron(layers * hidden, hidden)
        self.head = ReadoutHead(hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        x = x[as_tensor(levels.level(1).own, x.device)]
        if self.n_distances:
            marks = one_hot(as_tensor(levels.marks(1), x.device), self.n_distances)
            x = torch.cat([x, marks.to(x.dtype)], dim=1)
        states = self.layers(x, levels, first=1)
        last = len(states) + 2
        roots = levels.level(last)
        sums = [
            aggregate(rows, roots.ptr, levels.senders(last, number))
            for number, rows in enumerate(states, start=2)
        ]
        pooled = pool(self.of_root(torch.cat(sums, dim=1), roots), *levels.pooled(last))
        logits: torch.Tensor = self.head(pooled)
        return logits


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
        As for `twinwl.baselines.gnn.GNNClassifier`.

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
                messages = (outermost, *ring.neighbours(outer))
                last = levels.add(ring.graph_ptr, own=(last, None), messages=messages)
            if ring is not rings[0]:
                last = levels.add(ring.graph_ptr, own=(last, None), messages=(last, *ring.neighbours(ring)))
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


def _heard(said: torch.Tensor, states: torch.Tensor, level: RowLayer) -> torch.Tensor:
    return aggregate(said, level.ptr, level.senders, states, level.own)
