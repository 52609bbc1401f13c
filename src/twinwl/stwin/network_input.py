"""The input of the network: STwin features, rescaled for training.

Sums of rooted sizes are hard to learn from as they are. A column's sum is, up to a few per cent, the number
of nodes times the colour's usual rooted size, so the little that goes beyond 1-WL drowns in the count. Each
sum is therefore taken apart into the two: how many nodes have the colour, and by how much their rooted sizes
exceed what is usual for it,

    sum of sizes = usual size · count + excess.

A count becomes steps: one column for "at least 1 node", one for "at least 2", then 3, 4, 6, 8, 12, 16 and so
on, so that the network need not find out by itself that one more matters less the more there are (a dot
product of steps is the intersection kernel). Each graph's steps are brought to one length; the excess, mostly
zero, is only multiplied. Where the features are counts (``"count"`` and ``"joint"``) there are steps alone.
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

SCALINGS = ("twin", "none")

# 1, 2, 3, 4, 6, 8, 12, 16, …: all that a graph with 2³¹ nodes can need.
STEPS: Int64 = np.unique(np.concatenate([2 ** np.arange(32), 3 * 2 ** np.arange(30)]))
STEPS_LENGTH = 5.0
EXCESS_SCALE = 0.3
# Sums of whole numbers minus a rounded multiple: what is smaller than this share of the sum is zero.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class NetworkInput:
    """The rescaling of features, fitted on the training graphs.

    Attributes
    ----------
    step_ptr : array of int64, shape (n_columns + 1,)
        Column c has the network's columns ``step_ptr[c]`` to ``step_ptr[c + 1]``: as many steps as the
        largest count among the training graphs reaches.
    usual_sizes : array of float64, shape (n_columns,), or None
        Mean rooted size of the nodes of each colour; None where the features are counts.
    excess_columns : array of int64, or None
        The columns whose sizes vary among the training graphs; each has one more column behind all steps.

    >>> counts = sparse.csr_matrix([[2.0, 1.0], [2.0, 0.0]])
    >>> sums = sparse.csr_matrix([[7.0, 2.0], [5.0, 0.0]])
    >>> scaling = NetworkInput.fitted(sums, counts)
    >>> scaling.usual_sizes, scaling.step_ptr, scaling.excess_columns
    (array([3., 2.]), array([0, 2, 3]), array([0]))
    >>> scaling.apply(sums, counts).toarray().round(2)
    array([[ 2.89,  2.89,  2.89,  0.3 ],
           [ 3.54,  3.54,  0.  , -0.3 ]])
    """

    step_ptr: Int64
    usual_sizes: Float64 | None
    excess_columns: Int64 | None

    @classmethod
    def fitted(cls, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> NetworkInput:
        """Learn steps and usual sizes from features and, where those are sums of sizes, their counts."""
        seen = ColumnStatistics(int(features.shape[1]), sums=counts is not None)
        seen.add(features, counts)
        return seen.scaling()

    @property
    def n_steps(self) -> int:
        """Number of the network's columns that are steps; excesses stand behind them."""
        return int(self.step_ptr[-1])

    @property
    def width(self) -> int:
        """Number of input columns of the network."""
        return self.n_steps + (0 if self.excess_columns is None else len(self.excess_columns))

    def apply(self, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> sparse.csr_matrix:
        """Return the input of the network, shape (n_graphs, width)."""
        steps = self._steps(features if counts is None else counts)
        if counts is None or self.usual_sizes is None or self.excess_columns is None:
            return steps
        excess = sparse.csr_matrix(
            (EXCESS_SCALE * _excess(features, counts, self.usual_sizes), features.indices, features.indptr),
            shape=features.shape,
        )[:, self.excess_columns]
        excess.eliminate_zeros()
        return sparse.hstack([steps, excess], format="csr")

    def _steps(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return the steps that each count reaches, every graph's brought to one length."""
        column = counts.indices
        reached = np.minimum(_steps_reached(counts.data), np.diff(self.step_ptr)[column])
        first = np.concatenate([[0], np.cumsum(reached)])
        place = np.arange(first[-1]) - np.repeat(first[:-1], reached)
        indptr = first[counts.indptr]
        per_graph = np.diff(indptr)
        values = np.repeat(STEPS_LENGTH / np.sqrt(np.maximum(per_graph, 1)), per_graph)
        indices = np.repeat(self.step_ptr[column], reached) + place
        return sparse.csr_matrix((values, indices, indptr), shape=(counts.shape[0], self.n_steps))

    def to_state(self) -> dict[str, object]:
        """Return arrays for a model file."""
        state: dict[str, object] = {"step_ptr": self.step_ptr}
        if self.usual_sizes is not None:
            state |= {"usual_sizes": self.usual_sizes, "excess_columns": self.excess_columns}
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, object], n_columns: int, *, sums: bool) -> NetworkInput:
        """Undo `to_state`, refusing what does not fit the features."""
        step_ptr = _whole_numbers(state, "step_ptr")
        steps = np.diff(step_ptr)
        if (
            step_ptr.shape != (n_columns + 1,)
            or step_ptr[0]
            or (n_columns and not _within(steps, len(STEPS)))
        ):
            raise _damaged("step_ptr")
        if not sums:
            return cls(step_ptr, None, None)
        columns = _whole_numbers(state, "excess_columns")
        if not _within(columns, n_columns - 1) or not (np.diff(columns) > 0).all():
            raise _damaged("excess_columns")
        usual = state.get("usual_sizes")
        if not isinstance(usual, np.ndarray) or usual.dtype != np.float64 or usual.shape != (n_columns,):
            raise _damaged("usual_sizes")
        return cls(step_ptr, usual, columns)


class ColumnStatistics:
    """What a `NetworkInput` is fitted to, collected over any number of parts of the training graphs.

    All are sums of whole numbers, or extremes, so the parts and their order do not matter.
    """

    def __init__(self, n_columns: int, *, sums: bool) -> None:
        self._largest = np.zeros(n_columns)
        self._nodes, self._sizes = np.zeros(n_columns), np.zeros(n_columns)
        self._lowest, self._highest = np.full(n_columns, np.inf), np.zeros(n_columns)
        self._sums = sums

    def add(self, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> None:
        """Take in the features of some graphs and, where those are sums of sizes, their counts."""
        counted = features if counts is None else counts
        np.maximum.at(self._largest, counted.indices, counted.data)
        if counts is None:
            return
        n_columns = len(self._nodes)
        self._nodes += np.bincount(counts.indices, counts.data, n_columns)
        self._sizes += np.bincount(features.indices, features.data, n_columns)
        mean = features.data / counts.data
        np.minimum.at(self._lowest, features.indices, mean)
        np.maximum.at(self._highest, features.indices, mean)

    def scaling(self) -> NetworkInput:
        """Return the scaling of the graphs so far."""
        step_ptr = np.concatenate([[0], np.cumsum(_steps_reached(self._largest))])
        if not self._sums:
            return NetworkInput(step_ptr, None, None)
        usual = self._sizes / np.maximum(self._nodes, 1)
        # In a graph whose mean size is furthest from the usual one, the excess is the largest.
        varying = np.zeros(len(usual), np.bool_)
        for extreme in (self._lowest, self._highest):
            seen = np.isfinite(extreme)
            varying[seen] |= np.abs(extreme[seen] - usual[seen]) > _NOTHING * extreme[seen]
        return NetworkInput(step_ptr, usual, np.flatnonzero(varying))


def _steps_reached(counts: Float64) -> Int64:
    return np.searchsorted(STEPS, counts, side="right")


def _excess(features: sparse.csr_matrix, counts: sparse.csr_matrix, usual: Float64) -> Float64:
    """Return each entry's sum of sizes minus what is usual; both matrices have the same entries."""
    excess: Float64 = features.data - usual[features.indices] * counts.data
    excess[np.abs(excess) < _NOTHING * features.data] = 0.0
    return excess


def _whole_numbers(state: Mapping[str, object], name: str) -> Int64:
    value = state.get(name)
    if not isinstance(value, np.ndarray) or value.dtype != np.int64 or value.ndim != 1:
        raise _damaged(name)
    return value


def _within(values: Ints, highest: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() <= highest)


def _damaged(name: str) -> TwinWLError:
    return TwinWLError(f"{name} in the model does not fit its features; the file is damaged")
