"""A linear layer whose input is sparse and wide, without a dense copy of the input or of the gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.arrays import Float32, Int64
from twinwl.compilation import kernel
from twinwl.neural.devices import as_tensor

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


class SparseLinear(torch.nn.Module):
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
        self.weight = torch.nn.Parameter(torch.empty(n_columns, n_units).uniform_(-bound, bound))
        self.bias = torch.nn.Parameter(torch.empty(n_units).uniform_(-bound, bound))
        # Place of each row of the weight in the batch's gradient; -1 outside of a backward pass.
        self._place_of_row: Int64 = np.empty(0, np.int64)

    def forward(self, rows: SparseRows) -> torch.Tensor:
        """Return the product, shape (len(rows), n_units)."""
        if self.weight.device.type != "cpu":
            return _with_torch(self.weight, rows) + self.bias
        if torch.is_grad_enabled() and len(self._place_of_row) != len(self.weight):
            self._place_of_row = np.full(len(self.weight), -1, np.int64)
        product: torch.Tensor = _SparseProduct.apply(self.weight, rows, self._place_of_row)  # type: ignore[no-untyped-call]
        return product + self.bias


def _with_torch(weight: torch.Tensor, rows: SparseRows) -> torch.Tensor:
    """Return the product with torch's own operations, for any device; the gradient of the weight is dense."""
    values = as_tensor(rows.values, weight.device).to(weight.dtype)
    taken = weight[as_tensor(rows.indices, weight.device)] * values[:, None]
    into = as_tensor(np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), weight.device)
    return weight.new_zeros(len(rows), weight.shape[1]).index_add(0, into, taken)


class _SparseProduct(torch.autograd.Function):
    """The product of sparse rows and a dense weight, with a sparse gradient."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, weight: torch.Tensor, rows: SparseRows, place_of_row: Int64
    ) -> torch.Tensor:
        ctx.rows, ctx.place_of_row, ctx.shape = rows, place_of_row, weight.shape  # type: ignore[attr-defined]
        return torch.from_numpy(_multiply(*rows, weight.detach().numpy()))

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, grad: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
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
