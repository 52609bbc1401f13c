"""Nested GIN: a GIN inside the rooted subgraph of every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch
from torch.nn.functional import one_hot

from twinwl.arguments import DEPTH, FLAG, MEMORY
from twinwl.baselines.batching.level_examples import LevelExamples, add_rounds
from twinwl.baselines.gin import GINLayers
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import Perceptron, ReadoutHead
from twinwl.learning.devices import as_tensor
from twinwl.learning.pooling import hear, pool
from twinwl.ntwin.blocks import check_memory
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["NestedGINClassifier"]


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
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

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
        levels.add(batch.graph_ptr, heard=(last, cut.subgraph_ptr, np.arange(len(cut.node), dtype=np.int32)))
        return examples

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        n_distances = self.height + 1 if self.distance_features else 0
        return NestedGINNetwork(n_columns, n_distances, self.hidden, self.layers, n_classes, self.dropout)


class NestedGINNetwork(torch.nn.Module):
    """A GIN on the union of rooted subgraphs, sums over subgraphs and graphs, a classifier.

    Level 0 has nodes, level 1 pairs of a root and a node of its subgraph, the last level roots.
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
            hear(rows, roots.ptr, levels.senders(last, number)) for number, rows in enumerate(states, start=2)
        ]
        pooled = pool(self.of_root(torch.cat(sums, dim=1), roots), *levels.pooled(last))
        logits: torch.Tensor = self.head(pooled)
        return logits
