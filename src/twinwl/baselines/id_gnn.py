"""ID-GNN: message passing inside ego networks, whose centre is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch

from twinwl.arguments import MEMORY, integer, one_of
from twinwl.baselines.batching.rooted_examples import RootedExamples
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gin import GINNetwork, gin_examples
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Perceptron, ReadoutHead, sum_by
from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int32, Int64
    from twinwl.baselines.batching.rooted_examples import RootedInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["IDGNNClassifier", "closed_walks"]


class IDGNNClassifier(GNNClassifier):
    r"""Classify graphs with an identity-aware GNN (You et al., 2021), here on a GIN.

    The full form runs message passing inside the ego network of every node v, as many hops wide as there are
    layers, where messages from v itself have weights of their own (algorithm 1 there): :math:`h_u' =
    \mathrm{MLP}(h_u + \sum_{s \in N(u)} \mathrm{MSG}_{1[s = v]}(h_s))`. The state of v is its final state in
    its own ego network. The fast form gives each node the numbers of closed walks that start from it, the
    diagonals of :math:`A^2, \dots, A^K`, as further features, and runs a plain GIN. The readout is the sum
    over nodes of all layers.

    Parameters
    ----------
    form : {"full", "fast"}, default="full"
    longest_walk : int, default=6
        The K of the fast form.
    max_memory : int or None
        Limit for the ego networks, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = IDGNNClassifier(form="fast", hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "form": (one_of("full", "fast"),),
        "longest_walk": (integer(2, 1_000),),  # there is no closed walk of one step
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        form: str = "full",
        longest_walk: int = 6,
        max_memory: int | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(**common)
        self.form = form
        self.longest_walk = longest_walk
        self.max_memory = max_memory

    def _extra_features(self, batch: GraphBatch) -> Float64 | None:
        return closed_walks(batch, self.longest_walk) if self.form == "fast" else None

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        if self.form == "fast":
            return gin_examples(batch, columns, self.layers)
        return RootedExamples(batch, columns, self.layers, self.max_memory)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        network = GINNetwork if self.form == "fast" else IDGNNNetwork
        return network(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class IDGNNNetwork(torch.nn.Module):
    """Two kinds of messages inside every ego network, the sum over their centres, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.enter = torch.nn.Linear(n_columns, hidden)
        self.from_centre = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(layers))
        self.from_others = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(layers))
        self.updates = torch.nn.ModuleList(pyg.GINConv(Perceptron(hidden, hidden)) for _ in range(layers))
        self.head = ReadoutHead(layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: RootedInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        is_centre = graphs.distance == 0
        states = self.enter(graphs.x)[graphs.node_of_pair]
        centres = []
        for of_centre, of_others, update in zip(
            self.from_centre, self.from_others, self.updates, strict=True
        ):
            messages = torch.where(is_centre[:, None], of_centre(states), of_others(states))
            states = update((messages, states), graphs.edge_index)
            centres.append(states[is_centre])
        # Each node is the centre of one ego network, and these are in node order.
        logits: torch.Tensor = self.head(
            sum_by(torch.cat(centres, dim=1), graphs.graph_of_node, graphs.n_graphs)
        )
        return logits


def closed_walks(batch: GraphBatch, longest: int) -> Float64:
    """Return the number of closed walks of 2, …, ``longest`` steps from each node: diagonals of powers of A.

    There are no walks of one step, because there are no self-loops.

    Returns
    -------
    array of float64, shape (n_nodes, longest - 1)

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> closed_walks(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]]), 4).tolist()
    [[2.0, 2.0, 6.0], [2.0, 2.0, 6.0], [2.0, 2.0, 6.0]]
    """
    return _closed_walks(batch.indptr, batch.indices, batch.graph_ptr, longest)


@kernel
def _closed_walks(indptr: Int64, indices: Int32, graph_ptr: Int64, longest: int) -> Float64:
    counts = np.zeros((len(indptr) - 1, longest - 1))
    for graph in range(len(graph_ptr) - 1):
        start, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        for root in range(n):
            walks = np.zeros(n)
            walks[root] = 1
            for step in range(1, longest + 1):
                onwards = np.zeros(n)
                for node in range(n):
                    if walks[node]:
                        for arc in range(indptr[start + node], indptr[start + node + 1]):
                            onwards[indices[arc] - start] += walks[node]
                walks = onwards
                if step > 1:
                    counts[start + root, step - 2] = walks[root]
    return counts
