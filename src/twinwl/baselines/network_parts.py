"""Parts that most of the networks share: a two-layer perceptron, sums by index, the classifier."""

from __future__ import annotations

import torch

from twinwl.learning.pooling import PooledSumNorm

__all__ = ["ReadoutHead", "perceptron", "sum_by"]


def perceptron(n_inputs: int, hidden: int) -> torch.nn.Sequential:
    """Return two layers, each normalised over the rows of a batch and followed by a ReLU."""
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, hidden),
        PooledSumNorm(hidden),
        torch.nn.ReLU(),
        torch.nn.Linear(hidden, hidden),
        PooledSumNorm(hidden),
        torch.nn.ReLU(),
    )


def sum_by(rows: torch.Tensor, place: torch.Tensor, n_places: int) -> torch.Tensor:
    """Add up the rows that go to each place, shape (n_places, n_columns).

    >>> sum_by(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 0, 2]), 3).tolist()
    [[3.0], [0.0], [4.0]]
    """
    return rows.new_zeros(n_places, rows.shape[1]).index_add(0, place, rows)


class ReadoutHead(torch.nn.Module):
    """From the pooled vector of a graph to logits: normalisation, a hidden layer, dropout.

    Parameters
    ----------
    n_inputs
        Width of the pooled vectors.
    hidden
        Width of the hidden layer.
    n_classes
        Number of logits.
    dropout
        Share of hidden units dropped in training.
    """

    def __init__(self, n_inputs: int, hidden: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            PooledSumNorm(n_inputs),
            torch.nn.Linear(n_inputs, hidden),
            torch.nn.ReLU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(hidden, n_classes),
        )

    def forward(self, pooled: torch.Tensor) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        logits: torch.Tensor = self.layers(pooled)
        return logits
