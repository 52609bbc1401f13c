"""Adam that touches only the rows of a wide layer that a batch has touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64

__all__ = ["SparseAwareAdam"]

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class SparseAwareAdam:
    """Adam for all weights of a network; weights with sparse gradients are updated row by row.

    A row without a gradient keeps its value *and* its moments until a batch touches it again ("lazy" Adam, as
    `torch.optim.SparseAdam`): a step costs what the batch holds, not what the layer holds. It differs from
    Adam proper for rare rows: there Adam goes on moving a row for some twenty steps after its last gradient.

    Parameters
    ----------
    module
        The network. A weight's first gradient tells whether its gradients are sparse.
    learning_rate, weight_decay
        Weight decay is decoupled (AdamW); a lazy row decays when it is touched.

    Examples
    --------
    >>> line = torch.nn.Linear(1, 1)
    >>> optimiser = SparseAwareAdam(line, learning_rate=0.1)
    >>> loss = line(torch.ones(1, 1)).sum()
    >>> loss.backward()
    >>> before = line.bias.item()
    >>> optimiser.step()
    >>> round(before - line.bias.item(), 3)
    0.1
    """

    def __init__(self, module: torch.nn.Module, learning_rate: float, weight_decay: float = 0.0) -> None:
        self._parameters = [weight for weight in module.parameters() if weight.requires_grad]
        self._learning_rate = learning_rate
        self._weight_decay = weight_decay
        self._dense: torch.optim.AdamW | None = None
        self._sparse: list[_LazyRows] = []

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        for weight in self._parameters:
            weight.grad = None

    def step(self) -> None:
        """Move every weight that has a gradient."""
        if self._dense is None:
            self._sort_out()
        if self._dense is not None:
            self._dense.step()
        for rows in self._sparse:
            rows.step(self._learning_rate, self._weight_decay)

    def settle(self) -> None:
        """Finish what was put off; nothing is, with lazy rows."""

    def _sort_out(self) -> None:
        dense = []
        for weight in self._parameters:
            if weight.grad is not None and weight.grad.is_sparse:
                self._sparse.append(_LazyRows(weight))
            else:
                dense.append(weight)
        self._dense = torch.optim.AdamW(
            dense,
            lr=self._learning_rate,
            weight_decay=self._weight_decay,
            betas=(_BETA1, _BETA2),
            eps=_EPSILON,
            foreach=False,
            fused=True,
        )


class _LazyRows:
    """The moments of one wide weight, and its row-wise step."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = weight
        self._values = weight.detach().numpy()
        self._mean = np.zeros_like(self._values)
        self._square = np.zeros_like(self._values)
        self._seen = np.zeros(len(self._values), np.bool_)
        self._steps = 0

    def step(self, learning_rate: float, weight_decay: float) -> None:
        grad = self._weight.grad
        if grad is None:
            return
        self._steps += 1
        # autograd drops the mark that the rows are distinct, and coalescing costs more than the step itself.
        if not _distinct(grad._indices()[0].numpy(), self._seen):  # noqa: SLF001
            grad = grad.coalesce()
        _move_rows(
            grad._indices()[0].numpy(),  # noqa: SLF001
            grad._values().numpy(),  # noqa: SLF001
            self._values,
            self._mean,
            self._square,
            np.float32(learning_rate / (1 - _BETA1**self._steps)),
            np.float32(1 / np.sqrt(1 - _BETA2**self._steps)),
            np.float32(1 - learning_rate * weight_decay),
        )


@njit(cache=True, nogil=True)
def _distinct(rows: Int64, seen: NDArray[np.bool_]) -> bool:
    """Tell whether no row is named twice; ``seen`` is all False before and after."""
    distinct = True
    for row in rows:
        distinct &= not seen[row]
        seen[row] = True
    for row in rows:
        seen[row] = False
    return distinct


# NumPy's division, which never raises, is what lets the loop over units be vectorised.
@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _move_rows(
    rows: Int64,
    grads: NDArray[np.float32],
    values: NDArray[np.float32],
    mean: NDArray[np.float32],
    square: NDArray[np.float32],
    step_size: np.float32,
    correction: np.float32,
    keep: np.float32,
) -> None:
    """Adam's step for the rows given, each named once."""
    beta1, beta2, epsilon = np.float32(_BETA1), np.float32(_BETA2), np.float32(_EPSILON)
    rest1, rest2 = np.float32(1 - _BETA1), np.float32(1 - _BETA2)
    for place in range(len(rows)):
        grad, value = grads[place], values[rows[place]]
        m, v = mean[rows[place]], square[rows[place]]
        for unit in range(len(grad)):
            m[unit] = beta1 * m[unit] + rest1 * grad[unit]
            v[unit] = beta2 * v[unit] + rest2 * grad[unit] * grad[unit]
            value[unit] = value[unit] * keep - step_size * m[unit] / (np.sqrt(v[unit]) * correction + epsilon)
