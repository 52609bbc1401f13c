"""Similarities between all pairs of rows of two sparse matrices: sums of products or of minima, then scaled.

Each row on the left walks the columns it has. A rare column is a short list of the rows on the right that
have it; a frequent one is a dense vector, which the processor takes several entries at a time. On molecules a
few dozen frequent columns make up most of the work.

Graphs that are nearly the same: exact search by similarity through an inverted index.

The similarity is that of ``TwinKernel(features="joint", base="minmax")``: two graphs have as many pairs of
colour and rooted size in common, over all rounds, as their similarity times all that either has. Order the
columns from rare to frequent. Two rows whose similarity is a threshold or more have a column in common among
the first columns of each, where "first" ends before the rest weighs less than the threshold times the row. So
only lists of rare columns are walked, and each pair that is met there is then compared in full.

TwinKernel: similarities of graphs through their STwin features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from twinwl.arguments import FLAG, MAX_ITEMS, ROUNDS, checked, integer, number, one_of
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.base import Constraints, keeps_parameters
from twinwl.models.features import (
    FEATURE_PARAMETERS,
    Encoding,
    FeatureEstimator,
    FeatureSpace,
    encode_in_full,
    keep_columns,
    matrix_from_state,
    matrix_to_state,
    space_from_state,
    space_to_state,
    stwin_features,
)
from twinwl.refinement.threads import balanced_ranges, run_ranges
from twinwl.terminal import ProgressBar

if TYPE_CHECKING:
    from scipy import sparse

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
        return self._pairwise.sums(left, self.base)

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

    def divisors(self, own: Float64, sums: Float64) -> Float64:
        """Return the divisor of each sum of one row, whose sum with itself is ``own``; infinite for zero."""
        divisors = np.ones(len(self.own))
        if self.base == "minmax":
            divisors = own + self.own - sums[0]
        elif self.normalize:
            divisors = np.sqrt(own * self.own)
        return np.where(divisors > 0, divisors, np.inf)

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
        PairwiseSums(part[right]).sums(part, base, sums)
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
    >>> PairwiseSums(x).sums(x, "minmax")
    array([[3., 1.],
           [1., 4.]])
    >>> PairwiseSums(x).sums(x, "linear")
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

    def sums(
        self, left: sparse.csr_matrix, base: str, out: Float64 | None = None, n_threads: int | None = None
    ) -> Float64:
        """Return what a base kernel sums over columns, for all pairs of rows, added to ``out`` where given.

        ``left @ right.T`` for ``"linear"``, else ``sum_c min(left[i, c], right[j, c])``.
        """
        minima, largest = base != "linear", self._largest_sum
        if not minima:  # Cauchy and Schwarz bound every product of two rows by the squares of both
            largest = (_largest_row(left.multiply(left)) * self._largest_square) ** 0.5
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

    def _rows(self, matrix: sparse.csr_matrix, totals: Float64) -> _NearRows:
        """Return rows whose columns go from rare to frequent."""
        places = self._place_of_column[matrix.indices]
        row_of_entry = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        order = np.lexsort((places, row_of_entry))
        return _NearRows(
            matrix.indptr.astype(np.int64), places[order].astype(np.int32), matrix.data[order], totals
        )


class _NearRows(NamedTuple):
    """Rows of whole numbers, columns from rare to frequent; ``totals`` also count what has no column."""

    ptr: Int64
    columns: Int32
    values: Float64
    totals: Float64


class _Lists(NamedTuple):
    """For each column, rows that have it."""

    ptr: Int64
    rows: Int32


def _first_entries(rows: _NearRows, threshold: float) -> Int64:
    """Return the number of leading entries of each row, one of which every similar row has."""
    after = np.concatenate([[0.0], np.cumsum(rows.values)])
    lengths = np.diff(rows.ptr)
    remaining = np.repeat(after[rows.ptr[1:]], lengths) - after[:-1]
    needed = np.repeat(threshold * rows.totals, lengths) - _TOLERANCE * np.repeat(rows.totals, lengths)
    counted = np.concatenate([[0], np.cumsum(remaining >= needed)])
    return counted[rows.ptr[1:]] - counted[rows.ptr[:-1]]


def _lists(rows: _NearRows, threshold: float, n_columns: int) -> _Lists:
    """Return for each column the rows that have it among their leading entries."""
    lengths = np.diff(rows.ptr)
    ends = np.repeat(rows.ptr[:-1] + _first_entries(rows, threshold), lengths)
    first = np.arange(len(rows.columns)) < ends
    columns = rows.columns[first]
    row_of_entry = np.repeat(np.arange(len(rows.totals), dtype=np.int32), lengths)[first]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n_columns))])
    return _Lists(ptr, row_of_entry[np.argsort(columns, kind="stable")])


def _work(rows: _NearRows, firsts: Int64, lists: _Lists) -> Int64:
    """Return about how many steps lie before each query, as a pointer."""
    before = np.concatenate([[0], np.cumsum(np.diff(lists.ptr)[rows.columns])])
    met = before[rows.ptr[:-1] + firsts] - before[rows.ptr[:-1]]
    return np.concatenate([[0], np.cumsum(64 * (met + 1))])  # each row that is found is compared in full


@kernel
def _pairs(
    low: int,
    high: int,
    firsts: Int64,
    rows: _NearRows,
    others: _NearRows,
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
    rows: _NearRows,
    others: _NearRows,
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
def _similarity(query: int, other: int, rows: _NearRows, others: _NearRows) -> float:
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


@savable
class TwinKernel(TransformerMixin, FeatureEstimator):
    """Kernel matrices between graphs, from their STwin features.

    Parameters
    ----------
    n_iter : int or None, default=3
        Number of rounds of twin passing; None continues until the training graphs' colours are stable.
    features : {"count", "size", "joint"}, default="size"
        As for `STwinVectorizer`. ``"count"`` gives the Weisfeiler-Lehman kernels.
    base : {"linear", "minmax", "intersection"}, default="linear"
        ``"linear"``: the inner product. ``"intersection"``: the sum of minima, the optimal assignment.
        ``"minmax"``: the sum of minima over the sum of maxima, Tanimoto on counts.
    normalize : bool, default=True
        Divide by the geometric mean of both graphs' similarity with themselves, so that the diagonal is 1.
        ``"minmax"`` has that property anyway. The similarity of a graph without nodes is 0, also with itself.
    edge_labels : bool or None, default=None
        As for `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        As for `STwinVectorizer`.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        As for `STwinVectorizer`.

    Attributes
    ----------
    space_ : FeatureSpace
    matrix_ : csr_matrix, shape (n_training_graphs, n_columns)
        Features of the training graphs.

    Notes
    -----
    A new graph may have colours that occur in no training graph. They add nothing to its similarity with a
    training graph but count in its similarity with itself, as if all graphs had been encoded together.

    Examples
    --------
    >>> from twinwl import GraphBatch, TwinKernel
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> kernel = TwinKernel(n_iter=1, features="count", normalize=False)
    >>> kernel.fit_transform(GraphBatch.from_edges([path, triangle]))
    array([[14., 12.],
           [12., 18.]])
    """

    _constraints: ClassVar[Constraints] = {
        **FEATURE_PARAMETERS,
        "base": (one_of(*BASES),),
        "normalize": (FLAG,),
    }

    _fitted_attribute = "similarity_"

    space_: FeatureSpace
    matrix_: sparse.csr_matrix
    similarity_: Similarity

    @keeps_parameters
    def __init__(
        self,
        n_iter: int | None = 3,
        features: str = "size",
        base: str = "linear",
        normalize: bool = True,
        edge_labels: bool | None = None,
        initial: str = "label",
        ignore_features: bool = False,
        *,
        readout: ReadoutChoice = "size",
    ) -> None: ...

    def fit(self, X: GraphsLike, y: object = None) -> TwinKernel:  # noqa: ARG002
        """Encode the training graphs; ``y`` is ignored."""
        batch = self._graphs_to_fit(X)
        encoding = stwin_features(batch, **self.settings)
        self.space_, self.matrix_ = encoding.space, encoding.matrix
        self.similarity_ = Similarity(self.matrix_, self.base, normalize=self.normalize)
        return self

    def fit_transform(self, X: GraphsLike, y: object = None) -> Float64:
        """Return the kernel matrix of the training graphs, shape (n_graphs, n_graphs)."""
        self.fit(X, y)
        return self.similarity_.of(self.matrix_, self.similarity_.own)

    def transform(self, X: GraphsLike) -> Float64:
        """Return similarities with the training graphs, shape (n_graphs, n_training_graphs)."""
        matrix, own = self._encode(X)
        return self.similarity_.of(matrix, own)

    def blocks(self, X: GraphsLike | None = None, block_size: int = 1024) -> Iterator[tuple[slice, Float64]]:
        """Yield the rows of ``transform(X)`` a block at a time, so that it never exists as a whole.

        Parameters
        ----------
        X
            The graphs; None means the training graphs.
        block_size
            Most rows of a block.

        Yields
        ------
        rows : slice
            Which graphs.
        similarities : array of float64, shape (n_rows, n_training_graphs)
        """
        block_size = checked("block_size", block_size, integer(1, MAX_ITEMS))
        matrix, own = self._encode(X)
        yield from self.similarity_.blocks(matrix, own, block_size)

    def diagonal(self, X: GraphsLike | None = None) -> Float64:
        """Return each graph's similarity with itself, without building a matrix.

        Parameters
        ----------
        X
            The graphs; None means the training graphs.

        Returns
        -------
        array of float64, shape (n_graphs,)
            What the diagonal of ``fit_transform(X)`` would be: ones where normalised.
        """
        _, own = self._encode(X)
        if self.base == "minmax" or self.normalize:
            return (own > 0).astype(np.float64)
        return own.copy()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name each column after its training graph: ``graph0``, ``graph1``, …."""
        self._check_fitted()
        return np.array([f"graph{i}" for i in range(self.matrix_.shape[0])], dtype=object)

    def _encode(self, X: GraphsLike | None) -> tuple[sparse.csr_matrix, Float64]:
        """Return the features in the space of the training graphs, and sums over all features."""
        self._check_fitted()
        if X is None:
            return self.matrix_, self.similarity_.own
        known, full = encode_in_full(self._new_graphs(X, "transform"), self.space_)
        return known.matrix, own_sums(full, self.base)

    def _to_state(self) -> dict[str, object]:
        self._check_fitted()
        return {**space_to_state(self.space_), **matrix_to_state(self.matrix_)}

    @classmethod
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> TwinKernel:
        self = cls._with_params(params)
        self.space_ = space_from_state(state)
        self.matrix_ = matrix_from_state(state, self.space_.n_columns)
        self.similarity_ = Similarity(self.matrix_, self.base, normalize=self.normalize)
        return self
