"""PPGN: matrices over pairs of nodes, multiplied; one row per colour of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Unpack

import torch
from torch.nn.functional import linear

from twinwl.arguments import MEMORY
from twinwl.baselines.batching.dense_graphs import check_dense
from twinwl.baselines.batching.pair_examples import PairExamples, check_pairs, diagonal_rows, paths_of
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead
from twinwl.baselines.path_sums import path_sums
from twinwl.learning.pooling import gather, pool
from twinwl.ntwin.ppgn import PairBlock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.level_examples import LevelInput
    from twinwl.baselines.batching.pair_examples import Paths
    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.batch import GraphBatch

__all__ = ["PPGNClassifier"]

# In one block, where no two pairs are alike: input, two perceptrons of two layers, product, skip, output; and
# their gradients.
_MATRICES_OF_BLOCK = 16


class PPGNClassifier(GNNClassifier):
    r"""Classify graphs with a provably powerful graph network (Maron et al., 2019), of 3-WL power.

    A graph is a tensor over pairs of nodes: the adjacency, and the node's columns on the diagonal. A block
    applies two perceptrons to the features of each pair, multiplies their results as matrices, feature by
    feature, and joins that with the input by a third perceptron: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`.
    The readout is the sums over the diagonal and off it, after every block. Pairs that have the same colour
    by folklore 2-WL have the same features, which are computed once.

    Parameters
    ----------
    max_memory : int or None
        Limit for the tensors, in bytes; None allows half of the machine's memory.
    layers : int, default=3
        Number of blocks.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Notes
    -----
    Sums over all pairs of nodes are large, and so are the steps of training: if the loss does not fall, take
    ``learning_rate=3e-4``, as the method ``"ppgn"`` of `twinwl.evaluate` does.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = PPGNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        max_memory: int | None = None,
        *,
        layers: int = 3,
        hidden: int = 32,
        **training: Unpack[TrainingOptions],
    ) -> None:
        super().__init__(layers=layers, hidden=hidden, **training)
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        n_matrices = _MATRICES_OF_BLOCK * self.layers * self.hidden
        check_dense(batch, self.batch_size, n_matrices, "PPGN", self.max_memory)
        check_pairs(batch, self.layers, "PPGN", self.max_memory)
        return PairExamples(batch, columns, self.layers)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return PPGNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class PPGNNetwork(torch.nn.Module):
    """Blocks of multiplied perceptrons, sums on and off the diagonal, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        widths = [n_columns + 1] + [hidden] * (layers - 1)
        self.blocks = torch.nn.ModuleList(PairBlock(width, hidden) for width in widths)
        self.head = ReadoutHead(2 * layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        sums = []
        for number, block in enumerate(self.blocks, 1):
            own, paths = levels.level(number).own, paths_of(levels, number)
            x = _next_rows(block, x, own, paths)  # type: ignore[arg-type]
            ptr, rows, counts = levels.pooled(number)
            diagonal = diagonal_rows(levels, number)[rows]
            sums += [pool(x, ptr, rows, counts * diagonal), pool(x, ptr, rows, counts * ~diagonal)]
        logits: torch.Tensor = self.head(torch.cat(sums, dim=1))
        return logits


def _next_rows(block: PairBlock, x: torch.Tensor, own: Int64, paths: Paths) -> torch.Tensor:
    """Return the rows of a level after a block, from those of the level before, shape (n_rows, hidden)."""
    product = path_sums(_perceptron(block.left, x), _perceptron(block.right, x), paths)
    of_pairs, of_product = block.join.weight.split_with_sizes([x.shape[1], product.shape[1]], dim=1)
    kept = gather(linear(x, of_pairs, block.join.bias), own)
    return torch.addmm(kept, product, of_product.T).relu_()


def _perceptron(layers: torch.nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """Apply a perceptron of pairs to rows, shape (n_rows, hidden)."""
    for layer in layers:
        x = linear(x, layer.weight, layer.bias) if isinstance(layer, torch.nn.Linear) else layer(x)
    return x
