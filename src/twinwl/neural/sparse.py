"""A linear layer whose input is sparse and wide, and Adam whose steps cost in proportion to the batch.

There is no dense copy of the input or of the gradient, also for layers of a hundred thousand rows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from twinwl.arguments import Bool, Float32, Float64, Int64
from twinwl.compilation import kernel
from twinwl.neural.rows import as_tensor

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
        return SparseRows(*_gather(*self, np.asarray(rows, np.int64)))


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
        return self.rows.take(rows)


class SparseLinear(nn.Module):
    """``x @ weight + bias`` for sparse ``x``; the gradient of ``weight`` is a sparse tensor of touched rows.

    Parameters
    ----------
    n_columns, n_units
        Shape of ``weight``.
    scale
        Weights start uniform in ±scale; None takes ``1 / sqrt(n_columns)``, as `torch.nn.Linear` does.

    >>> layer = SparseLinear(3, 2)
    >>> layer(SparseRows(np.array([0, 1]), np.array([2]), np.array([0.5], np.float32))).shape
    torch.Size([1, 2])
    """

    def __init__(self, n_columns: int, n_units: int, scale: float | None = None) -> None:
        super().__init__()
        bound = scale if scale is not None else 1 / max(1, n_columns) ** 0.5
        self.weight = nn.Parameter(torch.empty(n_columns, n_units).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(n_units).uniform_(-bound, bound))
        # Place of each row of the weight in the batch's gradient; -1 outside of a backward pass.
        self._place_of_row: Int64 = np.empty(0, np.int64)

    def forward(self, rows: SparseRows) -> Tensor:
        """Return the product, shape (len(rows), n_units)."""
        if self.weight.device.type != "cpu":
            return _with_torch(self.weight, rows) + self.bias
        if torch.is_grad_enabled() and len(self._place_of_row) != len(self.weight):
            self._place_of_row = np.full(len(self.weight), -1, np.int64)
        product: Tensor = _SparseProduct.apply(self.weight, rows, self._place_of_row)  # type: ignore[no-untyped-call]
        return product + self.bias


def _with_torch(weight: Tensor, rows: SparseRows) -> Tensor:
    """Return the product with torch's own operations, for any device; the gradient of the weight is dense."""
    values = as_tensor(rows.values, weight.device).to(weight.dtype)
    taken = weight[as_tensor(rows.indices, weight.device)] * values[:, None]
    into = as_tensor(np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), weight.device)
    return weight.new_zeros(len(rows), weight.shape[1]).index_add(0, into, taken)


class _SparseProduct(torch.autograd.Function):
    """The product of sparse rows and a dense weight, with a sparse gradient."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, weight: Tensor, rows: SparseRows, place_of_row: Int64
    ) -> Tensor:
        ctx.rows, ctx.place_of_row, ctx.shape = rows, place_of_row, weight.shape  # type: ignore[attr-defined]
        return torch.from_numpy(_multiply(*rows, weight.detach().numpy()))

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad: Tensor) -> tuple[Tensor, None, None]:
        touched, values = _gradient(*ctx.rows, grad.contiguous().numpy(), ctx.place_of_row)  # type: ignore[attr-defined]
        return (
            torch.sparse_coo_tensor(
                torch.from_numpy(touched)[None],
                torch.from_numpy(values),
                ctx.shape,  # type: ignore[attr-defined]
                is_coalesced=True,  # the rows are distinct, and order does not matter to a row-wise step
                check_invariants=False,
            ),
            None,
            None,
        )


@kernel
def _gather(indptr: Int64, indices: Int64, values: Float32, rows: Int64) -> tuple[Int64, Int64, Float32]:
    out_ptr = np.zeros(len(rows) + 1, np.int64)
    for place in range(len(rows)):
        out_ptr[place + 1] = out_ptr[place] + indptr[rows[place] + 1] - indptr[rows[place]]
    out_indices = np.empty(out_ptr[-1], np.int64)
    out_values = np.empty(out_ptr[-1], np.float32)
    for place in range(len(rows)):
        low = indptr[rows[place]]
        for entry in range(out_ptr[place], out_ptr[place + 1]):
            out_indices[entry] = indices[low + entry - out_ptr[place]]
            out_values[entry] = values[low + entry - out_ptr[place]]
    return out_ptr, out_indices, out_values


@kernel(fastmath={"contract"})
def _multiply(indptr: Int64, indices: Int64, values: Float32, weight: Float32) -> Float32:
    out = np.zeros((len(indptr) - 1, weight.shape[1]), np.float32)
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            value, column = values[entry], indices[entry]
            for unit in range(weight.shape[1]):
                out[row, unit] += value * weight[column, unit]
    return out


@kernel(fastmath={"contract"})
def _gradient(
    indptr: Int64, indices: Int64, values: Float32, grad: Float32, place_of_row: Int64
) -> tuple[Int64, Float32]:
    """Return the rows of the weight that the batch touches, and their gradients."""
    touched = np.empty(len(indices), np.int64)
    n_touched = 0
    for column in indices:
        if place_of_row[column] < 0:
            place_of_row[column] = n_touched
            touched[n_touched] = column
            n_touched += 1
    out = np.zeros((n_touched, grad.shape[1]), np.float32)
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            value, place = values[entry], place_of_row[indices[entry]]
            for unit in range(grad.shape[1]):
                out[place, unit] += value * grad[row, unit]
    for place in range(n_touched):
        place_of_row[touched[place]] = -1
    return touched[:n_touched], out


# ---------------------------------------------------------------------- the optimiser

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
# After this many steps without a gradient the first moment is below float32's precision of what it was.
_FADED = 160


class SparseAwareAdam(AbstractContextManager["SparseAwareAdam"]):
    """Adam, with decoupled weight decay, for all weights of a network.

    A row of a `SparseLinear` without a gradient still moves under Adam, by its fading momentum. Here it moves
    when it is next used: all the steps it has missed are made up for at once, in closed form. So the cost of
    a step depends on the batch and not on the size of the layer, and the result is Adam's to rounding (except
    for epsilon, which matters only for gradients of its own size, 1e-8).

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
        # Elsewhere than on the processor the gradient of a wide layer is dense, and so are its steps.
        layers = [
            layer
            for layer in module.modules()
            if isinstance(layer, SparseLinear) and layer.weight.device.type == "cpu"
        ]
        wide = {id(layer.weight) for layer in layers if layer.weight.requires_grad}
        self._weights = [weight for weight in module.parameters() if weight.requires_grad]
        self._rows = [
            _Rows(layer, learning_rate, weight_decay) for layer in layers if id(layer.weight) in wide
        ]
        dense = [weight for weight in self._weights if id(weight) not in wide]
        self._dense = torch.optim.AdamW(
            dense,
            lr=learning_rate,
            weight_decay=weight_decay,
            betas=(_BETA1, _BETA2),
            eps=_EPSILON,
            fused=all(weight.device.type in ("cpu", "cuda", "mps") for weight in dense),
        )

    def __exit__(self, *_: object) -> None:
        for rows in self._rows:
            rows.flush()
            rows.hook.remove()

    def zero_grad(self) -> None:
        """Clear the gradients of the last step."""
        for weight in self._weights:
            weight.grad = None

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
    """The values of a wide weight, their moments, and the last step applied to each row."""

    values: Float32
    mean: Float32
    square: Float32
    step_of_row: Int64


class _Rows:
    """One wide weight, whose rows are moved when they are needed."""

    def __init__(self, layer: SparseLinear, learning_rate: float, weight_decay: float) -> None:
        self._weight = layer.weight
        values = layer.weight.detach().numpy()
        steps = np.zeros(len(values), np.int64)
        self._moments = _Moments(values, np.zeros_like(values), np.zeros_like(values), steps)
        self._all_rows = np.arange(len(values))
        self._seen = np.zeros(len(values), np.bool_)
        self._keep = 1 - learning_rate * weight_decay
        self._learning_rate = learning_rate
        self._steps = self._flushed_at = 0
        # Step s moves a weight by sizes[s] · mean / sqrt(square): bias corrections and learning rate in one.
        self._sizes: Float64 = np.zeros(1)
        self.hook = layer.register_forward_pre_hook(self._before_use)

    def _before_use(self, _: nn.Module, arguments: tuple[SparseRows]) -> None:
        self._catch_up(arguments[0].indices)

    def flush(self) -> None:
        """Apply the missing steps to every row."""
        self._catch_up(self._all_rows)
        self._flushed_at = self._steps

    def step(self) -> None:
        grad = self._weight.grad
        self._steps += 1
        if self._steps >= len(self._sizes):
            self._sizes = _sizes_of_steps(2 * self._steps, self._learning_rate)
        if grad is None:
            return
        # autograd drops the flag that the rows are distinct, and coalescing costs more than the step itself.
        if not _distinct(grad._indices()[0].numpy(), self._seen):  # noqa: SLF001
            grad = grad.coalesce()
        _move_rows(
            grad._indices()[0].numpy(),  # noqa: SLF001
            grad._values().numpy(),  # noqa: SLF001
            self._moments,
            self._steps,
            np.float32(self._sizes[self._steps]),
            np.float32(_EPSILON * np.sqrt(1 - _BETA2**self._steps)),
            np.float32(self._keep),
        )

    def _catch_up(self, rows: Int64) -> None:
        if self._steps == self._flushed_at:
            return
        moves, keeps = _moves_put_off(self._flushed_at, self._steps, self._sizes, self._keep)
        _bring_up(rows, self._moments, self._flushed_at, self._steps, moves, keeps)


def _sizes_of_steps(n_steps: int, learning_rate: float) -> Float64:
    steps = np.arange(1, n_steps + 1)
    sizes: Float64 = learning_rate * np.sqrt(1 - _BETA2**steps) / (1 - _BETA1**steps)
    return np.concatenate([[0.0], sizes])


@kernel
def _moves_put_off(first: int, now: int, sizes: Float64, keep: float) -> tuple[Float64, Float64]:
    """Sum up, for a row last moved at step s = first … now, the moves and the decay of the steps after it.

    Without gradients mean / sqrt(square) shrinks by the same factor each step. Counting back from now, each
    sum follows from the one after it: moves[s - 1] = factor · (sizes[s] · keep^(now - s) + moves[s]).
    """
    factor = np.sqrt(_BETA1 * _BETA1 / _BETA2)
    moves = np.zeros(now - first + 1)
    keeps = np.ones(now - first + 1)
    for place in range(now - first, 0, -1):
        moves[place - 1] = factor * (sizes[first + place] * keeps[place] + moves[place])
        keeps[place - 1] = keeps[place] * keep
    return moves, keeps


# With NumPy's division, which never raises, the loops over units can be vectorised.
@kernel(fastmath={"contract"}, error_model="numpy")
def _bring_up(rows: Int64, moments: _Moments, first: int, now: int, moves: Float64, keeps: Float64) -> None:
    """Make up for the steps that rows have missed; a row may occur twice."""
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


@kernel
def _distinct(rows: Int64, seen: Bool) -> bool:
    """Return whether all rows are distinct; ``seen`` is all False before and after."""
    distinct = True
    for row in rows:
        distinct &= not seen[row]
        seen[row] = True
    for row in rows:
        seen[row] = False
    return distinct


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
    """Adam's step for the rows given, distinct and up to date."""
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
