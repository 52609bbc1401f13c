"""What the network is fed: STwin features, rescaled so that it trains well on raw sums.

Sums of rooted sizes are hard to learn from as they are. A column's sum is, up to a few per cent, the number
of nodes times the colour's usual rooted size, so the little that goes beyond 1-WL drowns in the count. Each
sum is therefore written as two columns, of which it is a linear combination: how many nodes have the colour,
and by how much their rooted sizes exceed what is usual for it,

    sum of sizes = usual size · count + excess.

Counts are square-rooted and each graph's counts brought to one length; the excess, mostly zero, is only
multiplied. Counts alone (features "count" and "joint") take the first half of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Float64, Int64, Ints

__all__ = ["COUNT_LENGTH", "EXCESS_SCALE", "SCALINGS", "NetworkInput"]

SCALINGS = ("twin", "none")

COUNT_LENGTH = 5.0
EXCESS_SCALE = 0.3
# Sums of whole numbers minus a rounded multiple: what is smaller than this is zero.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class NetworkInput:
    """How the features of any graph are rescaled; fitted on the graphs that are learnt from.

    Attributes
    ----------
    usual_sizes : array of float64, shape (n_columns,), or None
        Mean rooted size of the nodes of each colour; None where the features are counts.
    excess_columns : array of int64, or None
        The columns whose sizes vary among the graphs learnt from; each gets a second column.
    n_columns : int
        Number of columns of the features.

    Examples
    --------
    >>> counts = sparse.csr_matrix([[4.0, 1.0], [4.0, 0.0]])
    >>> sums = sparse.csr_matrix([[13.0, 2.0], [11.0, 0.0]])
    >>> scaling = NetworkInput.fitted(sums, counts)
    >>> scaling.usual_sizes, scaling.excess_columns
    (array([3., 2.]), array([0]))
    >>> scaling.apply(sums, counts).toarray().round(2)
    array([[ 4.47,  2.24,  0.3 ],
           [ 5.  ,  0.  , -0.3 ]])
    """

    usual_sizes: Float64 | None
    excess_columns: Int64 | None
    n_columns: int

    @classmethod
    def fitted(cls, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> NetworkInput:
        """Learn usual sizes from features and, where those are sums of sizes, the counts beside them."""
        n_columns = int(features.shape[1])
        if counts is None:
            return cls(None, None, n_columns)
        nodes = np.bincount(counts.indices, counts.data, n_columns)
        usual = np.bincount(features.indices, features.data, n_columns) / np.maximum(nodes, 1)
        excess = _excess(features, counts, usual)
        varying = np.bincount(features.indices, excess != 0, n_columns) > 0
        return cls(usual, np.flatnonzero(varying), n_columns)

    @property
    def width(self) -> int:
        """Number of columns that the network sees."""
        return self.n_columns + (0 if self.excess_columns is None else len(self.excess_columns))

    def apply(self, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> sparse.csr_matrix:
        """Return what the network sees, shape (n_graphs, width): counts, then excesses."""
        rooted = _to_length(np.sqrt((features if counts is None else counts).data), features.indptr)
        scaled = sparse.csr_matrix((rooted, features.indices, features.indptr), shape=features.shape)
        if counts is None or self.usual_sizes is None or self.excess_columns is None:
            return scaled
        excess = sparse.csr_matrix(
            (EXCESS_SCALE * _excess(features, counts, self.usual_sizes), features.indices, features.indptr),
            shape=features.shape,
        )[:, self.excess_columns]
        excess.eliminate_zeros()
        return sparse.hstack([scaled, excess], format="csr")

    def to_state(self) -> dict[str, object]:
        """Return arrays for a model file."""
        if self.usual_sizes is None:
            return {}
        return {"usual_sizes": self.usual_sizes, "excess_columns": self.excess_columns}

    @classmethod
    def from_state(cls, state: Mapping[str, object], n_columns: int, *, sums: bool) -> NetworkInput:
        """Undo `to_state`, refusing what does not fit the features."""
        if not sums:
            return cls(None, None, n_columns)
        usual, columns = state.get("usual_sizes"), state.get("excess_columns")
        sound = (
            isinstance(usual, np.ndarray)
            and usual.dtype == np.float64
            and usual.shape == (n_columns,)
            and isinstance(columns, np.ndarray)
            and columns.dtype == np.int64
            and columns.ndim == 1
            and (not len(columns) or (columns[0] >= 0 and columns[-1] < n_columns))
            and bool((np.diff(columns) > 0).all())
        )
        if not sound:
            raise TwinWLError("the model's usual sizes do not fit its features; the file is damaged")
        return cls(usual, columns, n_columns)  # type: ignore[arg-type]


def _excess(features: sparse.csr_matrix, counts: sparse.csr_matrix, usual: Float64) -> Float64:
    """Return each entry's sum of sizes minus what is usual; both matrices have the same entries."""
    excess: Float64 = features.data - usual[features.indices] * counts.data
    excess[np.abs(excess) < _NOTHING * features.data] = 0.0
    return excess


def _to_length(values: Float64, indptr: Ints) -> Float64:
    """Bring each row to the length `COUNT_LENGTH`; an empty row stays empty."""
    row_of_entry = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    lengths = np.sqrt(np.bincount(row_of_entry, values * values, len(indptr) - 1))
    return values * (COUNT_LENGTH / np.where(lengths > 0, lengths, 1.0))[row_of_entry]
