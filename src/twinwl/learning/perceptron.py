"""The two-layer perceptron over wide, sparse input."""

from __future__ import annotations

import torch

from twinwl.learning.sparse import SparseLinear, SparseRows


class SparsePerceptron(torch.nn.Module):
    """Input, one hidden layer of rectified units, classes.

    Parameters
    ----------
    n_columns, hidden, n_classes
        Width of the input, of the hidden layer and of the output.
    dropout
        Share of hidden units dropped in training.

    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from twinwl.learning.sparse import SparseExamples
    >>> rows = SparseExamples(csr_matrix([[0.0, 2.0], [1.0, 0.0]])).take(np.arange(2))
    >>> SparsePerceptron(2, 8, 3)(rows).shape
    torch.Size([2, 3])
    """

    def __init__(self, n_columns: int, hidden: int, n_classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.first = SparseLinear(n_columns, hidden)
        self.dropout = torch.nn.Dropout(dropout)
        self.second = torch.nn.Linear(hidden, n_classes)

    def forward(self, rows: SparseRows) -> torch.Tensor:
        """Return the logits, shape (len(rows), n_classes)."""
        logits: torch.Tensor = self.second(self.dropout(torch.relu(self.first(rows))))
        return logits

    def gradient(self, rows: SparseRows, weights: torch.Tensor) -> torch.Tensor:
        """Return the gradient of ``logits @ weights`` at one row's entries, shape (n_entries,).

        Parameters
        ----------
        rows
            A single row.
        weights : shape (n_classes,)
            The linear combination of logits.
        """
        with torch.no_grad():
            active = (self.first(rows)[0] > 0).to(torch.float32)
            hidden = active * (weights @ self.second.weight)
            return self.first.weight[torch.as_tensor(rows.indices)] @ hidden
