"""PPGN: matrices over pairs of nodes, multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import torch

from twinwl.baselines.dense_graphs import check_dense
from twinwl.baselines.gnn_classifier import GNNClassifier
from twinwl.baselines.network_parts import ReadoutHead, sum_by
from twinwl.baselines.pair_examples import PairExamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twinwl.baselines.gnn_classifier import TrainingOptions
    from twinwl.baselines.pair_examples import PairInput
    from twinwl.baselines.parts import PartedExamples
    from twinwl.graphs.batch import GraphBatch

__all__ = ["PPGNClassifier"]

# Of one block: input, two perceptrons of two layers, product, skip, output; and their gradients.
_MATRICES_OF_BLOCK = 16


class PPGNClassifier(GNNClassifier):
    r"""Classify graphs with a provably powerful graph network (Maron et al., 2019), of 3-WL power.

    A graph is a tensor over pairs of nodes: the adjacency, and the node's columns on the diagonal. A block
    applies two perceptrons to the features of each pair, multiplies their results as matrices, feature by
    feature, and joins that with the input by a third perceptron: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`.
    The readout is the sums over the diagonal and off it, after every block.

    Parameters
    ----------
    max_memory : int or None
        Bytes that the tensors may take; None allows half of the machine's memory.
    layers : int, default=3
        Number of blocks.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> quick = {"batch_size": 4, "learning_rate": 0.01, "max_epochs": 20, "random_state": 0}
    >>> model = PPGNClassifier(layers=2, hidden=8, **quick)
    >>> model.fit(graphs, ["one", "two"] * 10).predict(graphs[:2]).tolist()
    ['one', 'two']
    """

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
        return PairExamples(batch, columns)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return PPGNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class PPGNNetwork(torch.nn.Module):
    """Blocks of multiplied perceptrons, sums on and off the diagonal, a classifier.

    The pairs of all graphs stand side by side, so that a perceptron is one product of matrices for a whole
    batch, and nothing is padded; only the products over nodes go graph by graph.
    """

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        widths = [n_columns + 1] + [hidden] * (layers - 1)
        self.blocks = torch.nn.ModuleList(_Block(width, hidden) for width in widths)
        self.head = ReadoutHead(2 * layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: PairInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        pairs, squares = graphs.pairs, [size**2 for size in graphs.sizes]
        pooled = []
        for block in self.blocks:
            pairs = block(pairs, graphs.sizes)
            diagonal = sum_by(pairs[:, graphs.diagonal].T, graphs.graph_of_node, len(squares))
            everything = torch.stack([part.sum(dim=1) for part in pairs.split_with_sizes(squares, dim=1)])
            pooled += [diagonal, everything - diagonal]
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


class _Block(torch.nn.Module):
    def __init__(self, n_columns: int, hidden: int) -> None:
        super().__init__()
        self.left = _pair_perceptron(n_columns, hidden)
        self.right = _pair_perceptron(n_columns, hidden)
        self.join = _PairLinear(n_columns + hidden, hidden)

    def forward(self, pairs: torch.Tensor, sizes: list[int]) -> torch.Tensor:
        """Map (n_columns, n_pairs) to (hidden, n_pairs)."""
        product: torch.Tensor = _Products.apply(self.left(pairs), self.right(pairs), sizes)  # type: ignore[no-untyped-call]
        # The weight of both side by side, without setting them side by side.
        of_pairs, of_product = self.join.weight.split_with_sizes([len(pairs), len(product)], dim=1)
        joined = torch.addmm(self.join.bias[:, None], of_pairs, pairs)
        return torch.addmm(joined, of_product, product).relu_()


class _Products(torch.autograd.Function):
    """The product of two matrices over pairs, graph by graph and feature by feature."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, left: torch.Tensor, right: torch.Tensor, sizes: list[int]
    ) -> torch.Tensor:
        ctx.save_for_backward(left, right)
        ctx.sizes = sizes  # type: ignore[attr-defined]
        out = torch.empty_like(left)
        for a, b, product in zip(*(_matrices(rows, sizes) for rows in (left, right, out)), strict=True):
            torch.bmm(a, b, out=product)
        return out

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, grad: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, None]:
        left, right = ctx.saved_tensors  # type: ignore[attr-defined]
        sizes: list[int] = ctx.sizes  # type: ignore[attr-defined]
        of_left, of_right = torch.empty_like(left), torch.empty_like(right)
        everything = (_matrices(rows, sizes) for rows in (left, right, grad.contiguous(), of_left, of_right))
        for a, b, g, of_a, of_b in zip(*everything, strict=True):
            torch.bmm(g, b.mT, out=of_a)
            torch.bmm(a.mT, g, out=of_b)
        return of_left, of_right, None


def _matrices(pairs: torch.Tensor, sizes: list[int]) -> list[torch.Tensor]:
    """Return a view of each graph's pairs, shape (n_features, n, n)."""
    parts = pairs.split_with_sizes([size**2 for size in sizes], dim=1)
    return [part.view(len(part), size, size) for part, size in zip(parts, sizes, strict=True)]


def _pair_perceptron(n_columns: int, hidden: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        _PairLinear(n_columns, hidden),
        torch.nn.ReLU(inplace=True),
        _PairLinear(hidden, hidden),
        torch.nn.ReLU(inplace=True),
    )


class _PairLinear(torch.nn.Linear):
    """A linear layer on the features of each pair, which stand before the pairs as products want them."""

    def reset_parameters(self) -> None:
        """Start without biases: they would drown the adjacency, a single column of zeros and ones."""
        torch.nn.init.xavier_uniform_(self.weight)
        torch.nn.init.zeros_(self.bias)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        """Map (n_columns, n_pairs) to (hidden, n_pairs)."""
        return torch.addmm(self.bias[:, None], self.weight, pairs)
