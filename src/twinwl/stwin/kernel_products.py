"""All pairs of rows of two sparse matrices at once: sums of minima and sums of products.

Each row on the left walks the columns it has. A rare column is a short list of the rows on the right that
have it; a frequent one is a dense vector, which the processor eats several entries at a time. On molecules a
few dozen frequent columns make up most of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from twinwl.arrays import Float64, Int64, Ints

__all__ = ["RightHandSide"]

# From about this share of rows on, a dense vector is faster than a list (measured on NCI1).
_FREQUENT = 0.2
# Sums up to here are exact in single precision, which moves twice as many numbers at a time.
_EXACT_IN_SINGLE = 1 << 24


class RightHandSide:
    """A matrix of non-negative whole numbers, made ready to be multiplied from the left.

    Parameters
    ----------
    matrix : csr_matrix, shape (n_right, n_columns)

    >>> from scipy import sparse
    >>> x = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> RightHandSide(x).sums_of_minima(x)
    array([[3., 1.],
           [1., 4.]])
    >>> RightHandSide(x).sums_of_products(x)
    array([[ 5.,  2.],
           [ 2., 10.]])
    """

    def __init__(self, matrix: sparse.csr_matrix) -> None:
        self.n_rows, self.n_columns = matrix.shape
        lists = matrix.tocsc()
        self._largest_sum = _largest_row(matrix)
        self._largest_square = _largest_row(matrix.multiply(matrix))
        self._ptr, self._rows, self._values = lists.indptr, lists.indices, lists.data
        rows_with_column = np.diff(self._ptr)
        frequent = np.flatnonzero(rows_with_column > max(8.0, _FREQUENT * self.n_rows))
        self._dense_place = np.full(self.n_columns, -1, np.int32)
        self._dense_place[frequent] = np.arange(len(frequent), dtype=np.int32)
        self._dense = np.zeros((len(frequent), self.n_rows))
        for place, column in enumerate(frequent.tolist()):
            entries = slice(self._ptr[column], self._ptr[column + 1])
            self._dense[place, self._rows[entries]] = self._values[entries]

    def sums_of_minima(
        self, left: sparse.csr_matrix, out: Float64 | None = None, n_threads: int | None = None
    ) -> Float64:
        """Return ``sum_c min(left[i, c], right[j, c])`` for all i and j, added to ``out`` where given."""
        return self._run(left, out, self._largest_sum, n_threads, minima=True)

    def sums_of_products(
        self, left: sparse.csr_matrix, out: Float64 | None = None, n_threads: int | None = None
    ) -> Float64:
        """Return ``left @ right.T`` as a dense array, added to ``out`` where given."""
        # Cauchy and Schwarz bound every product of two rows by the squares of both.
        largest = (_largest_row(left.multiply(left)) * self._largest_square) ** 0.5
        return self._run(left, out, largest, n_threads, minima=False)

    def _run(
        self,
        left: sparse.csr_matrix,
        out: Float64 | None,
        largest: float,
        n_threads: int | None,
        *,
        minima: bool,
    ) -> Float64:
        dtype = np.float32 if largest < _EXACT_IN_SINGLE else np.float64
        if out is None:
            out = np.zeros((left.shape[0], self.n_rows))
        values, dense = self._values.astype(dtype, copy=False), self._dense.astype(dtype, copy=False)
        left_values = left.data.astype(dtype, copy=False)

        def rows(low: int, high: int) -> None:
            _add_rows(
                minima,
                low,
                high,
                left.indptr,
                left.indices,
                left_values,
                self._ptr,
                self._rows,
                values,
                self._dense_place,
                dense,
                out,
            )

        run_ranges(rows, balanced_ranges(self._work(left), n_threads))
        return out

    def _work(self, left: sparse.csr_matrix) -> Int64:
        """Return the steps before each row on the left, as a pointer."""
        per_column = np.where(self._dense_place >= 0, self.n_rows // 8, np.diff(self._ptr))
        before_entry = np.concatenate([[0], np.cumsum(per_column[left.indices], dtype=np.int64)])
        return before_entry[left.indptr] + np.arange(left.shape[0] + 1, dtype=np.int64) * self.n_rows


def _largest_row(matrix: sparse.csr_matrix) -> float:
    return float(matrix.sum(axis=1).max()) if matrix.shape[0] else 0.0


@kernel
def _add_rows(
    minima: bool,
    low: int,
    high: int,
    left_ptr: Ints,
    left_columns: Ints,
    left_values: NDArray[np.floating],
    ptr: Ints,
    rows: Ints,
    values: NDArray[np.floating],
    dense_place: Ints,
    dense: NDArray[np.floating],
    out: Float64,
) -> None:
    """Add rows ``low..high`` of the sums of minima, or else of products, to ``out``."""
    sums = np.empty(out.shape[1], left_values.dtype)
    for row in range(low, high):
        sums[:] = 0
        for entry in range(left_ptr[row], left_ptr[row + 1]):
            value = left_values[entry]
            column = left_columns[entry]
            if dense_place[column] >= 0:
                _add_dense(minima, value, dense[dense_place[column]], sums)
            else:
                entries = slice(ptr[column], ptr[column + 1])
                _add_listed(minima, value, rows[entries], values[entries], sums)
        out[row] += sums


@kernel
def _add_dense(minima: bool, value: float, others: NDArray[np.floating], sums: NDArray[np.floating]) -> None:
    # Two plain loops, so that the compiler can make each take several entries at a time.
    if minima:
        for place in range(len(sums)):
            sums[place] += min(others[place], value)
    else:
        for place in range(len(sums)):
            sums[place] += value * others[place]


@kernel
def _add_listed(
    minima: bool, value: float, rows: Ints, values: NDArray[np.floating], sums: NDArray[np.floating]
) -> None:
    if minima:
        for place in range(len(rows)):
            sums[rows[place]] += min(values[place], value)
    else:
        for place in range(len(rows)):
            sums[rows[place]] += value * values[place]
