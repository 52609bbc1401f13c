"""Parts that most of the networks share: a two-layer perceptron, sums by index, the classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import torch
from torch.nn.functional import linear

from twinwl.learning.pooled_sum_norm import PooledSumNorm
from twinwl.learning.pooling import hear

if TYPE_CHECKING:
    from twinwl.learning.colour_levels import Level

__all__ = ["Convolution", "Perceptron", "ReadoutHead", "drawn_again", "sum_by"]

Layers = TypeVar("Layers", bound=torch.nn.Module)


class Perceptron(torch.nn.Module):
    """Two layers, each normalised over the items of a batch and followed by a ReLU."""

    def __init__(self, n_inputs: int, hidden: int) -> None:
        super().__init__()
        self.first, self.first_norm = torch.nn.Linear(n_inputs, hidden), PooledSumNorm(hidden)
        self.second, self.second_norm = torch.nn.Linear(hidden, hidden), PooledSumNorm(hidden)

    def forward(self, x: torch.Tensor, level: Level | None = None, *, hears: bool = False) -> torch.Tensor:
        """Return the results, one row each.

        Parameters
        ----------
        x : tensor, shape (n_rows, n_inputs)
        level
            Says how many items share each row; None if there is one row per item.
        hears
            Whether the input of a row is the sum of its own row and those that it hears, which are rows of
            the level before; there are fewer of these, so the first layer is applied before the sum.
        """
        if level is None:
            units = self.first_norm(self.first(x)).relu()
            return self.second_norm(self.second(units)).relu()
        said = linear(x, self.first.weight)
        said = hear(said, level.ptr, level.senders, said, level.own) if hears else said
        units = self.first_norm.rectified(said, level.counts, self.first.bias)
        return self.second_norm.rectified(linear(units, self.second.weight), level.counts, self.second.bias)


class Convolution(torch.nn.Module):
    """A weight for a row itself, and one for what it hears.

    Parameters
    ----------
    n_in, n_out
        Number of columns before and after.
    bias_of_own
        Which of the weights has the bias: it decides how a seed draws them.
    """

    def __init__(self, n_in: int, n_out: int, *, bias_of_own: bool = False) -> None:
        super().__init__()
        self.heard = torch.nn.Linear(n_in, n_out, bias=not bias_of_own)
        self.own = torch.nn.Linear(n_in, n_out, bias=bias_of_own)
        drawn_again(self)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what rows say to others, and what they keep, to which the bias is added."""
        bias = self.own.bias if self.heard.bias is None else self.heard.bias
        return linear(x, self.heard.weight), linear(x, self.own.weight, bias)


def drawn_again(module: Layers) -> Layers:
    """Draw the weights a second time, as layers of PyG do: a seed then gives the weights it has there."""
    for layer in module.children():
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()
    return module


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
