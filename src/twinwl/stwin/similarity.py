"""Similarities between all pairs of rows of two sparse matrices: sums of products or of minima, then scaled.

Each row on the left walks the columns it has. A rare column is a short list of the rows on the right that
have it; a frequent one is a dense vector, which the processor takes several entries at a time. On molecules a
few dozen frequent columns make up most of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from scipy import sparse

    from twinwl.arrays import Float64, Int32, Int64, Ints
    from twinwl.stwin.features import Encoding

BASES = ("linear", "minmax", "intersection")

# From about this share of rows on, a dense vector is faster than a list (measured on NCI1).
_FREQUENT = 0.2
# Sums up to here are exact in single precision, which moves twice as many numbers at a time.
_EXACT_IN_SINGLE = 1 << 24
_BLOCK_ENTRIES = 1 << 21  # similarities at once where only sums of them are kept: 16 megabytes


class Similarity:
    """Similarities with the rows of one matrix, which is prepared once.

    Parameters
    ----------
    matrix : csr_matrix, shape (n_right, n_columns)
        Features of the graphs to compare with.
    base : {"linear", "minmax", "intersection"}
        See `similarities_from_sums`.
    normalize : bool

    >>> from scipy import sparse
    >>> x = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> Similarity(x, "minmax", normalize=True).of(x, own_sums(x, "minmax")).round(2)
    array([[1.  , 0.17],
           [0.17, 1.  ]])
    """

    def __init__(self, matrix: sparse.csr_matrix, base: str, *, normalize: bool) -> None:
        self.matrix, self.base, self.normalize = matrix, base, normalize
        self.own = own_sums(matrix, base)
        self._pairwise = PairwiseSums(matrix)

    def sums(self, left: sparse.csr_matrix) -> Float64:
        """Return the sums of products (``"linear"``) or minima of all pairs, shape (n_left, n_right)."""
        return self._pairwise.of_base(left, self.base)

    def of(self, left: sparse.csr_matrix, own: Float64) -> Float64:
        """Return the similarities of rows whose sums with themselves are ``own``."""
        return self.from_sums(self.sums(left), own)

    def blocks(
        self, left: sparse.csr_matrix, own: Float64, block_size: int | None = None
    ) -> Iterator[tuple[slice, Float64]]:
        """Yield the result of `of` a block of rows at a time; None bounds its memory."""
        if block_size is None:  # a multiple of what BLAS takes at a time, so that rows round the same way
            block_size = max(64, _BLOCK_ENTRIES // max(1, len(self.own)) // 64 * 64)
        for first in range(0, len(own), block_size):
            rows = slice(first, min(first + block_size, len(own)))
            yield rows, self.of(left[rows], own[rows])

    def from_sums(self, sums: Float64, own: Float64) -> Float64:
        """Turn the result of `sums` into similarities, in place."""
        return similarities_from_sums(sums, own, self.own, self.base, normalize=self.normalize)


def similarities_by_rounds(
    encoding: Encoding, n_iters: list[int], base: str, *, normalize: bool, landmarks: Int64 | None = None
) -> Iterator[tuple[int, Float64]]:
    """Yield the kernel matrix of each number of rounds, rising: with all graphs, or with ``landmarks`` alone.

    Those of more rounds go on from those of fewer, so all together cost no more than the last.
    """
    bounds = np.concatenate([[0], np.cumsum(encoding.space.columns_per_round)])
    n_graphs, right = encoding.matrix.shape[0], slice(None) if landmarks is None else landmarks
    own, done = np.zeros(n_graphs), 0
    sums = np.zeros((n_graphs, n_graphs if landmarks is None else len(landmarks)))
    for n_iter in sorted(set(n_iters)):
        part = encoding.matrix[:, bounds[done] : bounds[n_iter + 1]]
        PairwiseSums(part[right]).of_base(part, base, sums)
        own += own_sums(part, base)
        done = n_iter + 1
        yield n_iter, similarities_from_sums(sums.copy(), own, own[right], base, normalize=normalize)


def own_sums(matrix: sparse.csr_matrix, base: str) -> Float64:
    """Return each row's sum with itself: of its squares for ``"linear"``, else of its entries."""
    entries = matrix.multiply(matrix) if base == "linear" else matrix
    return np.asarray(entries.sum(axis=1), dtype=np.float64).ravel()


def similarities_from_sums(
    sums: Float64, own_left: Float64, own_right: Float64, base: str, *, normalize: bool
) -> Float64:
    """Turn sums of pairs into similarities, in place.

    Parameters
    ----------
    sums : array of float64, shape (n_left, n_right)
    own_left, own_right
        The sums of each row with itself.
    base
        ``"minmax"`` divides the minima by the maxima; the others divide by the geometric mean of the own
        sums where ``normalize``. The similarity of a zero row is 0.

    >>> similarities_from_sums(np.array([[3.0]]), np.array([4.0]), np.array([5.0]), "minmax", normalize=True)
    array([[0.5]])
    """
    if base == "minmax" or normalize:
        divide = _divide_by_maxima if base == "minmax" else _divide_by_means
        work = np.arange(len(sums) + 1, dtype=np.int64) * sums.shape[1]
        run_ranges(
            lambda low, high: divide(sums[low:high], own_left[low:high], own_right),
            balanced_ranges(work, None),
            None,
        )
    return sums


@kernel
def _divide_by_maxima(sums: Float64, own_left: Float64, own_right: Float64) -> None:
    """Use that min + max of two numbers is their sum."""
    for row in range(sums.shape[0]):
        for column in range(sums.shape[1]):
            maxima = own_left[row] + own_right[column] - sums[row, column]
            sums[row, column] = sums[row, column] / maxima if maxima > 0 else 0.0


@kernel
def _divide_by_means(sums: Float64, own_left: Float64, own_right: Float64) -> None:
    for row in range(sums.shape[0]):
        for column in range(sums.shape[1]):
            # The root of a square is exact in binary floating point, so the diagonal is exactly 1.
            mean = np.sqrt(own_left[row] * own_right[column])
            sums[row, column] = sums[row, column] / mean if mean > 0 else 0.0


class _Rows(NamedTuple):
    """The rows on the left, as arrays of a CSR matrix."""

    ptr: Ints
    columns: Ints
    values: NDArray[np.floating]


class _Columns(NamedTuple):
    """The columns on the right: each a list of rows and values, the frequent ones also as dense vectors.

    ``dense_place`` is the row of ``dense`` for each column, -1 if it is only a list.
    """

    ptr: Ints
    rows: Ints
    values: NDArray[np.floating]
    dense_place: Int32
    dense: NDArray[np.floating]


class PairwiseSums:
    """A matrix of non-negative integers, prepared to be multiplied from the left.

    Parameters
    ----------
    matrix : csr_matrix, shape (n_right, n_columns)

    >>> from scipy import sparse
    >>> x = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> PairwiseSums(x).sums_of_minima(x)
    array([[3., 1.],
           [1., 4.]])
    >>> PairwiseSums(x).sums_of_products(x)
    array([[ 5.,  2.],
           [ 2., 10.]])
    """

    def __init__(self, matrix: sparse.csr_matrix) -> None:
        self.n_rows, self.n_columns = matrix.shape
        lists = matrix.tocsc()
        self._largest_sum = _largest_row(matrix)
        self._largest_square = _largest_row(matrix.multiply(matrix))
        frequent = np.flatnonzero(np.diff(lists.indptr) > max(8.0, _FREQUENT * self.n_rows))
        dense_place = np.full(self.n_columns, -1, np.int32)
        dense_place[frequent] = np.arange(len(frequent), dtype=np.int32)
        dense = np.zeros((len(frequent), self.n_rows))
        for place, column in enumerate(frequent.tolist()):
            entries = slice(lists.indptr[column], lists.indptr[column + 1])
            dense[place, lists.indices[entries]] = lists.data[entries]
        self._columns = _Columns(lists.indptr, lists.indices, lists.data, dense_place, dense)

    def of_base(self, left: sparse.csr_matrix, base: str, out: Float64 | None = None) -> Float64:
        """Return what a base kernel sums over columns: products for ``"linear"``, else minima."""
        return self.sums_of_products(left, out) if base == "linear" else self.sums_of_minima(left, out)

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
        values, dense = self._columns.values, self._columns.dense
        right = self._columns._replace(
            values=values.astype(dtype, copy=False), dense=dense.astype(dtype, copy=False)
        )
        rows = _Rows(left.indptr, left.indices, left.data.astype(dtype, copy=False))

        def add(low: int, high: int) -> None:
            _add_rows(minima, low, high, rows, right, out)

        run_ranges(add, balanced_ranges(self._work(left), n_threads), n_threads)
        return out

    def _work(self, left: sparse.csr_matrix) -> Int64:
        """Return the steps before each row on the left, as a pointer."""
        per_column = np.where(self._columns.dense_place >= 0, self.n_rows // 8, np.diff(self._columns.ptr))
        before_entry = np.concatenate([[0], np.cumsum(per_column[left.indices], dtype=np.int64)])
        return before_entry[left.indptr] + np.arange(left.shape[0] + 1, dtype=np.int64) * self.n_rows


def _largest_row(matrix: sparse.csr_matrix) -> float:
    return float(matrix.sum(axis=1).max()) if matrix.shape[0] else 0.0


@kernel
def _add_rows(minima: bool, low: int, high: int, left: _Rows, right: _Columns, out: Float64) -> None:
    """Add rows ``low..high`` of the sums of minima, or else of products, to ``out``."""
    sums = np.empty(out.shape[1], left.values.dtype)
    for row in range(low, high):
        sums[:] = 0
        for entry in range(left.ptr[row], left.ptr[row + 1]):
            value = left.values[entry]
            column = left.columns[entry]
            place = right.dense_place[column]
            if place >= 0:
                _add_dense(minima, value, right.dense[place], sums)
            else:
                entries = slice(right.ptr[column], right.ptr[column + 1])
                _add_listed(minima, value, right.rows[entries], right.values[entries], sums)
        out[row] += sums


@kernel
def _add_dense(minima: bool, value: float, others: NDArray[np.floating], sums: NDArray[np.floating]) -> None:
    # Two plain loops, so that the compiler can vectorise each.
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
