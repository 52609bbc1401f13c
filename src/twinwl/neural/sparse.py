"""A linear layer whose input is sparse and wide, and Adam whose steps cost in proportion to the batch.

Neither the input nor the gradient is ever copied to a dense matrix, even for layers of a hundred thousand
rows. In this order: the input (`SparseRows`, `SparseExamples`), the layer (`SparseLinear`), and the optimiser
(`SparseAwareAdam`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from twinwl.arrays import Float32, Float64, Int32, Int64
from twinwl.compilation import kernel
from twinwl.neural.rows import (
    NONE,
    Differentiated,
    add_up,
    aggregate,
    by_kernels,
    entries_of,
    has_kernels,
    number_by_first,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SparseRows(NamedTuple):
    """Some rows of a sparse matrix, in the arrays of CSR; indices within a row are distinct."""

    indptr: Int64
    indices: Int64
    values: Float32

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def take(self, rows: Int64) -> SparseRows:
        """Return some of the rows."""
        indptr, entries = entries_of(self.indptr, rows)
        return SparseRows(indptr, self.indices[entries], self.values[entries])


class SparseExamples:
    """A SciPy CSR matrix as examples of a network: one row per graph.

    >>> from scipy.sparse import csr_matrix
    >>> examples = SparseExamples(csr_matrix([[0.0, 2.0], [1.0, 0.0]]))
    >>> examples.take(np.array([1])).indices.tolist()
    [0]
    """

    def __init__(self, matrix: csr_matrix) -> None:
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self.rows = SparseRows(indptr, indices, matrix.data.astype(np.float32))
        self.n_columns = int(matrix.shape[1])

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Int64) -> SparseRows:
        """Return these rows as input of `SparseLinear`."""
        return self.rows.take(np.asarray(rows, np.int64))


class SparseLinear(nn.Module):
    """``x @ weight + bias`` for sparse ``x``; the gradient of ``weight`` is a sparse tensor of touched rows.

    Parameters
    ----------
    n_columns, n_units
        Shape of ``weight``, which starts as that of `torch.nn.Linear`: uniform in ``±1 / sqrt(n_columns)``.

    >>> layer = SparseLinear(3, 2)
    >>> layer(SparseRows(np.array([0, 1]), np.array([2]), np.array([0.5], np.float32))).shape
    torch.Size([1, 2])
    """

    def __init__(self, n_columns: int, n_units: int) -> None:
        super().__init__()
        bound = 1 / max(1, n_columns) ** 0.5
        self.weight = nn.Parameter(torch.empty(n_columns, n_units).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(n_units).uniform_(-bound, bound))

    @cached_property
    def _place_of_row(self) -> Int32:
        """Scratch of `number_by_first`: place of each row of the weight in the gradient; -1 between calls."""
        return np.full(len(self.weight), -1, np.int32)

    def forward(self, rows: SparseRows) -> Tensor:
        """Return the product, shape (len(rows), n_units)."""
        if has_kernels(self.weight):
            return by_kernels(partial(self._product, rows), self.weight)[0] + self.bias
        # With torch's own operations; the gradient of the weight is dense.
        return aggregate(self.weight, rows.indptr, rows.indices, weights=rows.values) + self.bias

    def _product(self, rows: SparseRows, weight: Float32) -> Differentiated:
        product = np.zeros((len(rows), weight.shape[1]), np.float32)
        add_up(product, weight, weight, rows.indptr, rows.indices, NONE, rows.values, backwards=False)

        def gradients(grad: Float32) -> list[Tensor]:
            places, first = number_by_first(rows.indices, self._place_of_row)
            of_rows = np.zeros((len(first), grad.shape[1]), np.float32)
            add_up(grad, of_rows, of_rows, rows.indptr, places, NONE, rows.values, backwards=True)
            touched = torch.from_numpy(rows.indices[first])[None]
            values, shape = torch.from_numpy(of_rows), self.weight.shape
            return [torch.sparse_coo_tensor(touched, values, shape, check_invariants=False)]

        return [product], gradients


# ---------------------------------------------------------------------- the optimiser

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
# After this many steps without a gradient the first moment has shrunk below float32's precision (0.9¹⁶⁰ is
# 5e-8), and is set to 0.
_FADED = 160


class SparseAwareAdam(AbstractContextManager["SparseAwareAdam"]):
    """Adam, with decoupled weight decay, for all weights of a network.

    Under Adam, a row of a `SparseLinear` without a gradient still moves, by its fading momentum. Here it
    moves when it is next used: all steps that it has missed are applied at once, in closed form. So the cost
    of a step depends on the batch and not on the size of the layer. The result is that of Adam up to rounding
    (except for epsilon, which only matters for gradients of its own size, 1e-8).

    Use it as a context manager: it registers hooks on the layers while they are trained.

    Parameters
    ----------
    module
        The network.
    learning_rate, weight_decay
        As for `torch.optim.AdamW`.

    >>> line = nn.Linear(1, 1)
    >>> with SparseAwareAdam(line, learning_rate=0.1) as optimiser:
    ...     before = line.bias.item()
    ...     line(torch.ones(1, 1)).sum().backward()
    ...     optimiser.step()
    >>> round(before - line.bias.item(), 3)
    0.1
    """

    def __init__(self, module: nn.Module, learning_rate: float, weight_decay: float = 0.0) -> None:
        # Without kernels the gradient of a wide layer is dense, and so are its steps.
        layers = [
            layer
            for layer in module.modules()
            if isinstance(layer, SparseLinear) and layer.weight.requires_grad and has_kernels(layer.weight)
        ]
        self._rows = [_LazyWeight(layer, learning_rate, weight_decay) for layer in layers]
        self.zero_grad = module.zero_grad
        wide = {id(layer.weight) for layer in layers}
        dense = [weight for weight in module.parameters() if weight.requires_grad and id(weight) not in wide]
        self._dense = torch.optim.AdamW(
            dense,
            lr=learning_rate,
            weight_decay=weight_decay,
            betas=(_BETA1, _BETA2),
            eps=_EPSILON,
            fused=all(weight.device.type in ("cpu", "cuda", "mps") for weight in dense),
        )

    def __exit__(self, *_: object) -> None:
        self.flush()
        for rows in self._rows:
            rows.hook.remove()

    def step(self) -> None:
        """Move every weight that has a gradient."""
        self._dense.step()
        for rows in self._rows:
            rows.step()

    def flush(self) -> None:
        """Apply all postponed steps, so that the weights can be read."""
        for rows in self._rows:
            rows.flush()


class _Moments(NamedTuple):
    """The values of a wide weight, their moments, and the last step applied to each row.

    ``values``, ``mean`` and ``square`` have the shape (n_columns, n_units), ``step_of_row`` (n_columns,).
    """

    values: Float32
    mean: Float32
    square: Float32
    step_of_row: Int64


class _LazyWeight:
    """One wide weight; the steps of a row are applied when the row is next used."""

    def __init__(self, layer: SparseLinear, learning_rate: float, weight_decay: float) -> None:
        self._weight = layer.weight
        values = layer.weight.detach().numpy()
        steps = np.zeros(len(values), np.int64)
        self._moments = _Moments(values, np.zeros_like(values), np.zeros_like(values), steps)
        self._n_uses = 0  # since the last step
        self._keep = 1 - learning_rate * weight_decay
        self._learning_rate = learning_rate
        self._steps = self._flushed_at = 0
        # The sizes of the steps since the last flush. A step moves a weight by size · mean / sqrt(square), so
        # its size is the learning rate times both bias corrections.
        self._sizes: Float64 = np.empty(0)
        self.hook = layer.register_forward_pre_hook(self._before_use)

    def _before_use(self, _: nn.Module, arguments: tuple[SparseRows]) -> None:
        self._n_uses += 1
        self._catch_up(arguments[0].indices)

    def flush(self) -> None:
        """Apply the missing steps to every row."""
        self._catch_up(np.arange(len(self._weight)))
        self._flushed_at, self._sizes = self._steps, np.empty(0)

    def step(self) -> None:
        """Record a step, and apply it to the rows that have a gradient."""
        self._steps += 1
        correction2 = np.sqrt(1 - _BETA2**self._steps)
        size = self._learning_rate * correction2 / (1 - _BETA1**self._steps)
        self._sizes = np.append(self._sizes, size)
        grad, n_uses, self._n_uses = self._weight.grad, self._n_uses, 0
        if grad is None:
            return
        if n_uses > 1:  # the rows of one use are distinct; coalescing costs more than the step itself
            grad = grad.coalesce()
        _move_rows(
            grad._indices()[0].numpy(),  # noqa: SLF001
            grad._values().numpy(),  # noqa: SLF001
            self._moments,
            self._steps,
            np.float32(size),
            np.float32(_EPSILON * correction2),
            np.float32(self._keep),
        )

    def _catch_up(self, rows: Int64) -> None:
        if self._steps > self._flushed_at:
            moves, keeps = _postponed_moves(self._sizes, self._keep)
            _apply_postponed(rows, self._moments, self._flushed_at, self._steps, moves, keeps)


@kernel
def _postponed_moves(sizes: Float64, keep: float) -> tuple[Float64, Float64]:
    """Sum up the postponed steps of rows that last moved 0, 1, 2, … steps after the flush.

    Without gradients mean / sqrt(square) shrinks by the same factor in each step. So the sum for s follows
    from that for s + 1: moves[s] = factor · (sizes[s] · keep^(now - s - 1) + moves[s + 1]).

    Returns
    -------
    moves, keeps : arrays of float64, shape (n_steps + 1,)
        For s steps after the flush: how far a weight moves until now, in units of mean / sqrt(square), and
        the factor by which it decays.
    """
    factor = np.sqrt(_BETA1 * _BETA1 / _BETA2)
    moves = np.zeros(len(sizes) + 1)
    keeps = np.ones(len(sizes) + 1)
    for step in range(len(sizes) - 1, -1, -1):
        moves[step] = factor * (sizes[step] * keeps[step + 1] + moves[step + 1])
        keeps[step] = keeps[step + 1] * keep
    return moves, keeps


# With NumPy's division, which never raises, the loops over units can be vectorised.
@kernel(fastmath={"contract"}, error_model="numpy")
def _apply_postponed(
    rows: Int64, moments: _Moments, first: int, now: int, moves: Float64, keeps: Float64
) -> None:
    """Apply the postponed steps to some rows; a row may occur twice."""
    values, mean, square, step_of_row = moments
    tiny = np.float32(1e-36)  # a row without any gradient so far has moments of zero, and stays
    for row in rows:
        # A row's step is that of the last flush or later; before the first move it is that flush.
        step = max(step_of_row[row], first)
        if step == now:
            continue
        move, keep = np.float32(moves[step - first]), np.float32(keeps[step - first])
        gap = now - step
        fade1 = np.float32(_BETA1**gap) if gap < _FADED else np.float32(0)
        fade2 = np.float32(_BETA2**gap)
        value, m, v = values[row], mean[row], square[row]
        for unit in range(len(value)):
            value[unit] = value[unit] * keep - move * m[unit] / np.sqrt(v[unit] + tiny)
            m[unit] *= fade1
            v[unit] *= fade2
        step_of_row[row] = now


@kernel(fastmath={"contract"}, error_model="numpy")
def _move_rows(
    rows: Int64,
    grads: Float32,
    moments: _Moments,
    now: int,
    size: np.float32,
    epsilon: np.float32,
    keep: np.float32,
) -> None:
    """Apply a step of Adam to some rows, which must be distinct and up to date."""
    values, mean, square, step_of_row = moments
    beta1, beta2 = np.float32(_BETA1), np.float32(_BETA2)
    rest1, rest2 = np.float32(1 - _BETA1), np.float32(1 - _BETA2)
    for place in range(len(rows)):
        grad, value = grads[place], values[rows[place]]
        m, v = mean[rows[place]], square[rows[place]]
        for unit in range(len(grad)):
            m[unit] = beta1 * m[unit] + rest1 * grad[unit]
            v[unit] = beta2 * v[unit] + rest2 * grad[unit] * grad[unit]
            value[unit] = value[unit] * keep - size * m[unit] / (np.sqrt(v[unit]) + epsilon)
        step_of_row[rows[place]] = now
