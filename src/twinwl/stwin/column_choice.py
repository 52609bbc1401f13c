"""The choice of columns: those that occur in enough graphs, up to a maximum number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from twinwl.arguments import FRACTION, MAX_ITEMS, integer
from twinwl.compilation.kernel import kernel
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int32, Int64, Ints
    from twinwl.estimators.base import Constraints

COLUMN_PARAMETERS: Constraints = {
    "min_df": (integer(1, MAX_ITEMS), FRACTION),
    "max_features": (integer(1, MAX_ITEMS), None),
}


def choose_columns(
    matrix: sparse.csr_matrix, min_df: int | float = 1, max_features: int | None = None
) -> Int64 | None:
    """Return the columns to keep, sorted; None if all are kept.

    Parameters
    ----------
    matrix : shape (n_graphs, n_columns)
        Every column occurs in at least one graph.
    min_df
        Smallest number of graphs in which a column must occur; a float is a share of the graphs.
    max_features
        Largest number of columns to keep: the most frequent ones, the first of equally frequent ones.

    >>> choose_columns(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), min_df=2)
    array([1])
    """
    fewest = fewest_graphs(min_df, matrix.shape[0])
    n_columns = matrix.shape[1]
    if fewest <= 1 and (max_features is None or max_features >= n_columns):
        return None
    graphs_with_column = np.bincount(matrix.indices, minlength=n_columns)
    kept = np.flatnonzero(graphs_with_column >= fewest)
    if n_columns and not len(kept):
        raise TwinWLError(
            f"min_df: got {min_df!r}, but no column occurs in {fewest} of {matrix.shape[0]} graphs; lower it"
        )
    return most_frequent(graphs_with_column, kept, max_features)


def most_frequent(graphs_with_column: Int64, kept: Int64, max_features: int | None) -> Int64:
    """Return at most ``max_features`` of the columns ``kept``, sorted: the first of equally frequent ones.

    >>> most_frequent(np.array([3, 5, 3]), np.arange(3), 2)
    array([0, 1])
    """
    if max_features is None or len(kept) <= max_features:
        return kept
    by_frequency = np.argsort(-graphs_with_column[kept], kind="stable")
    return np.sort(kept[by_frequency[:max_features]])


def keep_columns(matrix: sparse.csr_matrix, columns: Int64 | None) -> sparse.csr_matrix:
    """Return the matrix with only these columns (rising), or itself where ``columns`` is None.

    >>> keep_columns(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([1])).toarray()
    array([[2.],
           [3.]])
    """
    if columns is None:
        return matrix
    place = np.full(matrix.shape[1], -1, np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    data, indices, indptr = _kept(matrix.data, matrix.indices, matrix.indptr, place)
    smaller = sparse.csr_matrix((data, indices, indptr), shape=(matrix.shape[0], len(columns)), copy=False)
    smaller.has_canonical_format = True
    return smaller


def fewest_graphs(min_df: int | float, n_graphs: int) -> int:
    """Return the number of graphs in which a column must occur."""
    if isinstance(min_df, float | np.floating):
        # Corrected for rounding: 0.1 of 30 graphs is 3, not 4.
        return max(1, int(np.ceil(float(min_df) * n_graphs - 1e-9)))
    return int(min_df)


@kernel
def _kept(data: Float64, indices: Ints, indptr: Ints, place: Int32) -> tuple[Float64, Int32, Ints]:
    """Copy the entries of the columns that are kept."""
    new_indptr = np.zeros_like(indptr)
    for row in range(len(indptr) - 1):
        n_kept = 0
        for entry in range(indptr[row], indptr[row + 1]):
            n_kept += place[indices[entry]] >= 0
        new_indptr[row + 1] = new_indptr[row] + n_kept
    new_data = np.empty(new_indptr[-1], data.dtype)
    new_indices = np.empty(new_indptr[-1], np.int32)
    end = 0
    for entry in range(len(indices)):
        column = place[indices[entry]]
        if column >= 0:
            new_data[end] = data[entry]
            new_indices[end] = column
            end += 1
    return new_data, new_indices, new_indptr
