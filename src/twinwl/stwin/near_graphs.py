"""Graphs that are nearly the same: exact search by similarity through an inverted index.

The similarity is that of ``TwinKernel(features="joint", base="minmax")``: two graphs have as many pairs of
colour and rooted size in common, over all rounds, as their similarity times all that either has. Order the
columns from rare to frequent. Two rows whose similarity is a threshold or more have a column in common among
the first columns of each, where "first" ends before the rest weighs less than the threshold times the row. So
only lists of rare columns are walked, and each pair that is met there is then compared in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import ROUNDS, checked, number
from twinwl.compilation.kernel import kernel
from twinwl.progress import ProgressBar
from twinwl.refinement.threads import balanced_ranges, run_ranges
from twinwl.stwin.column_choice import keep_columns
from twinwl.stwin.features import stwin_features
from twinwl.stwin.similarity import Similarity, own_sums

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.arrays import Float64, Int32, Int64
    from twinwl.graphs.batch import GraphBatch

_QUERIES_AT_ONCE = 128
_PAIRS_AT_ONCE = 1 << 18
_TOLERANCE = 1e-9  # thresholds are rounded, counts are not


class NearPairs(NamedTuple):
    """Pairs of graphs, ordered by the first and then by the second.

    Attributes
    ----------
    query, graph : arrays of int64, shape (n_pairs,)
        Index among the query graphs, and among the searched graphs.
    similarity : array of float64, shape (n_pairs,)
    """

    query: Int64
    graph: Int64
    similarity: Float64

    def at(self, places: Int64) -> NearPairs:
        """Return the pairs at some places."""
        return NearPairs(self.query[places], self.graph[places], self.similarity[places])


class NearGraphs:
    """An index of graphs, to search for those that are nearly the same as others.

    Parameters
    ----------
    graphs
        The graphs to search.
    n_iter : int, default=2
        Rounds of twin passing.

    >>> from twinwl import GraphBatch
    >>> rings = GraphBatch.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in (3, 9, 10)])
    >>> near = NearGraphs(rings[:2])
    >>> index, similarity = near.nearest(rings[2:])
    >>> index.tolist(), similarity.round(2).tolist()
    ([1], [0.9])
    """

    def __init__(self, graphs: GraphBatch, n_iter: int = 2) -> None:
        checked("n_iter", n_iter, ROUNDS)
        labelled = graphs.edge_labels is not None
        encoding = stwin_features(graphs.without_features(), n_iter, "joint", edge_labels=labelled)
        self._space = encoding.space
        # Ties are broken by column number, so that the order is the same everywhere.
        frequency = np.bincount(encoding.matrix.indices, minlength=encoding.matrix.shape[1])
        self._place_of_column = np.argsort(np.argsort(frequency, kind="stable"), kind="stable")
        self._matrix, self._totals = encoding.matrix, own_sums(encoding.matrix, "minmax")

    def nearest(self, graphs: GraphBatch) -> tuple[Int64, Float64]:
        """Return the most similar graph of each, the first of equals, and its similarity.

        The index is -1 and the similarity 0 if two graphs have nothing in common. Without a threshold every
        query is compared with all graphs, some queries at a time.
        """
        matrix, totals = self._encoded(graphs)
        index, similarity = np.full(len(graphs), -1), np.zeros(len(graphs))
        if not len(self._totals):
            return index, similarity
        all_graphs = Similarity(self._matrix, "minmax", normalize=False)
        with ProgressBar("nearest graphs", len(graphs)) as bar:
            for low in range(0, len(graphs), _QUERIES_AT_ONCE):
                block = slice(low, low + _QUERIES_AT_ONCE)
                found = all_graphs.of(matrix[block], totals[block])
                index[block], similarity[block] = found.argmax(axis=1), found.max(axis=1)
                bar.advance(len(found))
        index[similarity == 0] = -1
        return index, similarity

    def pairs(self, graphs: GraphBatch, threshold: float) -> NearPairs:
        """Return all pairs whose similarity is the threshold or more.

        Parameters
        ----------
        graphs
            The query graphs.
        threshold
            Above 0, at most 1.
        """
        checked("threshold", threshold, number(0, 1, above=True))
        rows, others = self._rows(*self._encoded(graphs)), self._rows(self._matrix, self._totals)
        firsts, lists = _first_entries(rows, threshold), _lists(others, threshold, self._matrix.shape[1])
        found: list[NearPairs] = []

        def search(low: int, high: int) -> int:
            room = max(_PAIRS_AT_ONCE, len(self._totals))
            out = NearPairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
            reached, n_found = _pairs(low, high, firsts, rows, others, lists, threshold, out)
            found.append(out.at(np.arange(n_found)))
            return int(reached)

        run_ranges(search, balanced_ranges(_work(rows, firsts, lists), None))
        if not found:
            return NearPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        together = NearPairs(*map(np.concatenate, zip(*found, strict=True)))
        return together.at(np.lexsort((together.graph, together.query)))

    def _encoded(self, graphs: GraphBatch) -> tuple[sparse.csr_matrix, Float64]:
        """Return the known columns, and totals over all columns."""
        grown = stwin_features(graphs.without_features(), space=self._space, extend=True)
        # What is new in a round stands behind what is known.
        widths = zip(self._space.columns_per_round, grown.space.columns_per_round, strict=True)
        known = np.concatenate([np.arange(all_of_round) < width for width, all_of_round in widths])
        return keep_columns(grown.matrix, np.flatnonzero(known)), own_sums(grown.matrix, "minmax")

    def _rows(self, matrix: sparse.csr_matrix, totals: Float64) -> _Rows:
        """Return rows whose columns go from rare to frequent."""
        places = self._place_of_column[matrix.indices]
        row_of_entry = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        order = np.lexsort((places, row_of_entry))
        return _Rows(
            matrix.indptr.astype(np.int64), places[order].astype(np.int32), matrix.data[order], totals
        )


class _Rows(NamedTuple):
    """Rows of whole numbers, columns from rare to frequent; ``totals`` also count what has no column."""

    ptr: Int64
    columns: Int32
    values: Float64
    totals: Float64


class _Lists(NamedTuple):
    """For each column, rows that have it."""

    ptr: Int64
    rows: Int32


def _first_entries(rows: _Rows, threshold: float) -> Int64:
    """Return the number of leading entries of each row, one of which every similar row has."""
    after = np.concatenate([[0.0], np.cumsum(rows.values)])
    lengths = np.diff(rows.ptr)
    remaining = np.repeat(after[rows.ptr[1:]], lengths) - after[:-1]
    needed = np.repeat(threshold * rows.totals, lengths) - _TOLERANCE * np.repeat(rows.totals, lengths)
    counted = np.concatenate([[0], np.cumsum(remaining >= needed)])
    return counted[rows.ptr[1:]] - counted[rows.ptr[:-1]]


def _lists(rows: _Rows, threshold: float, n_columns: int) -> _Lists:
    """Return for each column the rows that have it among their leading entries."""
    lengths = np.diff(rows.ptr)
    ends = np.repeat(rows.ptr[:-1] + _first_entries(rows, threshold), lengths)
    first = np.arange(len(rows.columns)) < ends
    columns = rows.columns[first]
    row_of_entry = np.repeat(np.arange(len(rows.totals), dtype=np.int32), lengths)[first]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n_columns))])
    return _Lists(ptr, row_of_entry[np.argsort(columns, kind="stable")])


def _work(rows: _Rows, firsts: Int64, lists: _Lists) -> Int64:
    """Return about how many steps lie before each query, as a pointer."""
    before = np.concatenate([[0], np.cumsum(np.diff(lists.ptr)[rows.columns])])
    met = before[rows.ptr[:-1] + firsts] - before[rows.ptr[:-1]]
    return np.concatenate([[0], np.cumsum(64 * (met + 1))])  # each row that is found is compared in full


@kernel
def _pairs(
    low: int,
    high: int,
    firsts: Int64,
    rows: _Rows,
    others: _Rows,
    lists: _Lists,
    threshold: float,
    out: NearPairs,
) -> tuple[int, int]:
    """Write pairs that reach the threshold; return the query it stopped before, and how many were written."""
    met_by = np.full(len(others.totals), -1, np.int64)
    candidates = np.empty(len(others.totals), np.int32)
    written = 0
    while low < high and written + len(candidates) <= len(out.query):
        n = _meet(low, firsts[low], rows, others, lists, threshold, met_by, candidates)
        for place in range(n):
            value = _similarity(low, candidates[place], rows, others)
            if value >= threshold:
                out.query[written] = low
                out.graph[written] = candidates[place]
                out.similarity[written] = value
                written += 1
        low += 1
    return low, written


@kernel
def _meet(
    query: int,
    n_first: int,
    rows: _Rows,
    others: _Rows,
    lists: _Lists,
    threshold: float,
    met_by: Int64,
    candidates: Int32,
) -> int:
    """Write the rows of suitable size that share a leading column of a query; return their number."""
    total = rows.totals[query]
    smallest = threshold * total * (1 - _TOLERANCE)
    n = 0
    for entry in range(rows.ptr[query], rows.ptr[query] + n_first):
        column = rows.columns[entry]
        for place in range(lists.ptr[column], lists.ptr[column + 1]):
            other = lists.rows[place]
            if met_by[other] != query:
                met_by[other] = query
                size = others.totals[other]
                if size >= smallest and threshold * size * (1 - _TOLERANCE) <= total:
                    candidates[n] = other
                    n += 1
    return n


@kernel
def _similarity(query: int, other: int, rows: _Rows, others: _Rows) -> float:
    """Return the sum of minima over the sum of maxima."""
    here, here_end = rows.ptr[query], rows.ptr[query + 1]
    there, there_end = others.ptr[other], others.ptr[other + 1]
    shared = 0.0
    while here < here_end and there < there_end:
        left, right = rows.columns[here], others.columns[there]
        if left == right:
            shared += min(rows.values[here], others.values[there])
        here += left <= right
        there += right <= left
    return shared / (rows.totals[query] + others.totals[other] - shared)
