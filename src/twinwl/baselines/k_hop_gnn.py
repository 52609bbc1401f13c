"""k-hop GNN: each node aggregates its k-hop neighbourhood, ring by ring from the outside in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import torch

from twinwl.arguments import DEPTH, MEMORY
from twinwl.baselines.batching.rooted_examples import RootedExamples
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead, perceptron, sum_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.baselines.batching.rooted_examples import RootedInput
    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

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
        return RootedExamples(batch, columns, self.hops, self.max_memory)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return KHopNetwork(n_columns, self.hidden, self.layers, self.hops, n_classes, self.dropout)


class KHopNetwork(torch.nn.Module):
    """Passes through the rings of every root, the sum over roots, a classifier."""

    def __init__(
        self, n_columns: int, hidden: int, layers: int, hops: int, n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.passes = torch.nn.ModuleList(_RingPass(width, hidden, hops) for width in widths)
        self.head = ReadoutHead(hidden, hidden, n_classes, dropout)

    def forward(self, graphs: RootedInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x = graphs.x
        for ring_pass in self.passes:
            x = ring_pass(x, graphs)
        logits: torch.Tensor = self.head(sum_by(x, graphs.graph_of_node, graphs.n_graphs))
        return logits


class _RingPass(torch.nn.Module):
    """One pass from the outermost ring to the roots."""

    def __init__(self, n_columns: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.hops = hops
        self.enter = torch.nn.ModuleList(perceptron(n_columns, hidden) for _ in range(hops + 1))
        self.within_own = torch.nn.ModuleList(perceptron(hidden, hidden) for _ in range(hops))
        self.within_other = torch.nn.ModuleList(perceptron(hidden, hidden) for _ in range(hops))
        self.across = torch.nn.ModuleList(perceptron(hidden, hidden) for _ in range(hops))

    def forward(self, x: torch.Tensor, graphs: RootedInput) -> torch.Tensor:
        """Return new node states, shape (n_nodes, hidden)."""
        distance = graphs.distance
        source, target = graphs.edge_index
        place = torch.empty_like(distance)
        outer: torch.Tensor | None = None
        for d in range(self.hops, -1, -1):
            members = torch.nonzero(distance == d)[:, 0]
            # Places are counted within a ring; those of the outer ring do not change.
            place[members] = torch.arange(len(members), device=place.device)
            states = self.enter[d](x[graphs.node_of_pair[members]])
            if outer is not None:
                inwards = (distance[target] == d) & (distance[source] == d + 1)
                heard = self.across[d](outer)[place[source[inwards]]]
                states = states + sum_by(heard, place[target[inwards]], len(members))
            if d > 0:
                level = (distance[target] == d) & (distance[source] == d)
                heard = self.within_other[d - 1](states)[place[source[level]]]
                states = self.within_own[d - 1](states) + sum_by(heard, place[target[level]], len(members))
            outer = states
        assert outer is not None  # noqa: S101  (ring 0 is always there)
        # The roots come in node order, each being the root of its own subgraph.
        return outer
