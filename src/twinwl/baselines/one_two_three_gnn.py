"""1-2-3-GNN: message passing between nodes, then pairs, then triples of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch
from torch.nn.functional import elu, linear

from twinwl.arguments import FLAG, MEMORY
from twinwl.baselines.batching.level_examples import LevelExamples, add_rounds
from twinwl.baselines.batching.node_sets import check_sets, node_pairs, node_triples
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Convolution, ReadoutHead
from twinwl.learning.pooling import hear, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.colour_levels import BatchLevels

__all__ = ["OneTwoThreeGNNClassifier"]


class OneTwoThreeGNNClassifier(GNNClassifier):
    r"""Classify graphs with a hierarchical 1-2-3-GNN (Morris et al., 2019), on local neighbourhoods.

    A layer on k-sets is :math:`f_k'(s) = \sigma(f_k(s) W_1 + \sum_{t \in N_L(s)} f_k(t) W_2)`, where
    :math:`N_L(s)` are the sets that differ from s in one node, the old and the new node being adjacent. The
    first state of a set is :math:`\sigma([f^{iso}(s), \sum_{u \subset s} f_{k-1}(u)] W_3)`: its isomorphism
    type and the last states of the (k-1)-sets in it. The type is the number of edges; labels come from the
    nodes. The readout is the sum over nodes, pairs and triples.

    Parameters
    ----------
    connected : bool, default=True
        Use only connected triples, as in the authors' experiments; all pairs are used.
    max_memory : int or None
        Limit for the sets, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`; nodes, pairs and triples have ``layers``
        layers each.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = OneTwoThreeGNNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "connected": (FLAG,),
        "max_memory": MEMORY,
    }

    def __init__(
        self, connected: bool = True, max_memory: int | None = None, **common: Unpack[CommonOptions]
    ) -> None:
        super().__init__(**common)
        self.connected = connected
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        check_sets(batch, self.hidden, self.layers, connected=self.connected, max_memory=self.max_memory)
        return set_examples(batch, columns, self.layers, connected=self.connected)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return OneTwoThreeNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


def set_examples(
    batch: GraphBatch, columns: NDArray[np.float32], layers: int, *, connected: bool
) -> LevelExamples:
    """Return graphs as rows: inputs and layers of the nodes, then those of pairs, then those of triples."""
    sets = [node_pairs(batch), node_triples(batch, connected=connected)]
    costs = [np.diff(each.set_ptr) + np.diff(each.indptr[each.set_ptr]) for each in sets]
    examples = LevelExamples(batch, columns, np.sum(costs, axis=0))
    levels = examples.levels
    last = add_rounds(levels, batch.graph_ptr, batch.indptr, batch.indices, layers)
    for each in sets:
        n, k = each.subsets.shape
        inside = (last, np.arange(n + 1) * k, each.subsets.ravel())
        first = levels.add(each.set_ptr, each.n_edges.astype(np.int32), heard=inside)
        last = add_rounds(levels, each.set_ptr, each.indptr, each.indices, layers, first)
    return examples


class OneTwoThreeNetwork(torch.nn.Module):
    """A k-GNN on nodes, on pairs, on triples, each starting from the one before; sums; a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.on_nodes = _SetLayers(n_columns, hidden, layers)
        self.on_pairs = _FedSetLayers(2, hidden, layers)
        self.on_triples = _FedSetLayers(3, hidden, layers)
        self.head = ReadoutHead(3 * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        x, last = self.on_nodes(x, levels, 0)
        pooled = [pool(x, *levels.pooled(last))]
        for on_sets in (self.on_pairs, self.on_triples):
            x, last = on_sets(x, levels, last)
            pooled.append(pool(x, *levels.pooled(last)))
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


class _SetLayers(torch.nn.Module):
    """Layers on the sets of one size."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.convolutions = torch.nn.ModuleList(Convolution(width, hidden) for width in widths)

    def forward(self, x: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
        """Return the rows after the layers, from those of level ``last``, and the number of their level."""
        for convolution in self.convolutions:
            last += 1
            level = levels.level(last)
            said, kept = convolution(x)
            x = elu(hear(said, level.ptr, level.senders, kept, level.own))
        return x, last


class _FedSetLayers(torch.nn.Module):
    """Layers on k-sets that start from the states of the (k-1)-sets in them."""

    def __init__(self, k: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.n_types = k * (k - 1) // 2 + 1
        self.first = torch.nn.Linear(self.n_types + hidden, hidden)
        self.layers = _SetLayers(hidden, hidden, layers)

    def forward(self, below: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
        """Return the rows after the layers, and the number of their level."""
        of_type, of_state = self.first.weight[:, : self.n_types], self.first.weight[:, self.n_types :]
        level, types = levels.level(last + 1), of_type.T + self.first.bias
        inside = hear(linear(below, of_state), level.ptr, level.senders, types, levels.marks(last + 1))
        states: tuple[torch.Tensor, int] = self.layers(elu(inside), levels, last + 1)
        return states
