"""From sums over columns to similarities: what the three base kernels do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.arrays import Float64
    from twinwl.stwin.kernel_products import RightHandSide

__all__ = ["BASES", "own_sums", "similarities_from_sums", "sums_of_pairs"]

BASES = ("linear", "minmax", "intersection")


def own_sums(matrix: sparse.csr_matrix, base: str) -> Float64:
    """Return each row's sum with itself: of its squares for ``"linear"``, else of its entries."""
    entries = matrix.multiply(matrix) if base == "linear" else matrix
    return np.asarray(entries.sum(axis=1), dtype=np.float64).ravel()


def sums_of_pairs(
    left: sparse.csr_matrix, right: RightHandSide, base: str, out: Float64 | None = None
) -> Float64:
    """Return the sums of products (``"linear"``) or minima of all pairs, added to ``out`` where given."""
    return right.sums_of_products(left, out) if base == "linear" else right.sums_of_minima(left, out)


def similarities_from_sums(
    sums: Float64,
    own_left: Float64,
    own_right: Float64,
    base: str,
    *,
    normalize: bool,
    n_threads: int | None = None,
) -> Float64:
    """Turn sums of pairs into similarities, in place.

    Parameters
    ----------
    sums : array of float64, shape (n_left, n_right)
    own_left, own_right
        The sums of each row with itself.
    base
        ``"minmax"`` divides the minima by the maxima; the others divide by the geometric mean of the own
        sums where ``normalize``. A row that is zero is similar to nothing.

    >>> similarities_from_sums(np.array([[3.0]]), np.array([4.0]), np.array([5.0]), "minmax", normalize=True)
    array([[0.5]])
    """
    if base == "minmax" or normalize:
        divide = _divide_by_maxima if base == "minmax" else _divide_by_means
        work = np.arange(len(sums) + 1, dtype=np.int64) * sums.shape[1]
        run_ranges(
            lambda low, high: divide(sums[low:high], own_left[low:high], own_right),
            balanced_ranges(work, n_threads),
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
