"""1-2-3-GNN: message passing between nodes, then pairs, then triples of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import torch

from twinwl.arguments import FLAG, MEMORY
from twinwl.baselines.batching.set_examples import SetExamples, check_sets
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead, sum_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.baselines.batching.set_examples import SetInput, SetLevel
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

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
        return SetExamples(batch, columns, connected=self.connected)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return OneTwoThreeNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class OneTwoThreeNetwork(torch.nn.Module):
    """A k-GNN on nodes, on pairs, on triples, each starting from the one before; sums; a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.on_nodes = _SetLayers(n_columns, hidden, layers)
        self.on_pairs = _FedSetLayers(2, hidden, layers)
        self.on_triples = _FedSetLayers(3, hidden, layers)
        self.head = ReadoutHead(3 * hidden, hidden, n_classes, dropout)

    def forward(self, sets: SetInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        graphs = sets.graphs
        nodes = self.on_nodes(graphs.x, graphs.edge_index)
        pairs = self.on_pairs(nodes, sets.pairs)
        triples = self.on_triples(pairs, sets.triples)
        pooled = [
            sum_by(nodes, graphs.graph_of_node, graphs.n_graphs),
            sum_by(pairs, sets.pairs.graph_of_set, graphs.n_graphs),
            sum_by(triples, sets.triples.graph_of_set, graphs.n_graphs),
        ]
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


class _SetLayers(torch.nn.Module):
    """Layers on the sets of one level."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.convolutions = torch.nn.ModuleList(pyg.GraphConv(width, hidden) for width in widths)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for convolution in self.convolutions:
            x = torch.nn.functional.elu(convolution(x, edge_index))
        return x


class _FedSetLayers(torch.nn.Module):
    """Layers on k-sets that start from the states of the (k-1)-sets in them."""

    def __init__(self, k: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.n_types = k * (k - 1) // 2 + 1
        self.first = torch.nn.Linear(self.n_types + hidden, hidden)
        self.layers = _SetLayers(hidden, hidden, layers)

    def forward(self, below: torch.Tensor, level: SetLevel) -> torch.Tensor:
        kind = torch.nn.functional.one_hot(level.n_edges, self.n_types).to(below.dtype)
        inside = below[level.subsets].sum(dim=1)
        first = torch.nn.functional.elu(self.first(torch.cat([kind, inside], dim=1)))
        states: torch.Tensor = self.layers(first, level.edge_index)
        return states
