"""Similarities of graphs through their STwin features: kernel matrices, and the most similar graphs.

In this order: similarities between all pairs of rows of two sparse matrices (`Similarity`), the largest of
them (`MostSimilar`), and the kernel for users (`TwinKernel`).

Similarities are sums of products or of minima over columns, which are then scaled. Each row on the left goes
through its columns. A rare column is a short list of the rows on the right that have it. A frequent one is a
dense vector, so that the processor handles several entries at a time; on molecules a few dozen frequent
columns make up most of the work.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin

from twinwl.arguments import FLAG, MAX_ITEMS, checked, integer, one_of, pointer
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.base import with_parameters
from twinwl.models.features import Encoding, FeatureSpace, Space, ViewEncodings, ViewEstimator, ViewSpaces
from twinwl.models.pairs import PairEncoding
from twinwl.refinement.colours import balanced_ranges, run_ranges

BASES = ("linear", "minmax", "intersection")

# A dense vector is faster than a list for a column that at least this share of rows has (measured on NCI1).
_FREQUENT = 0.2
# Sums up to here are exact in single precision, which moves twice as many numbers at a time.
_EXACT_IN_SINGLE = 1 << 24
_BLOCK_ENTRIES = 1 << 21  # number of similarities of a block: 16 megabytes
_ROWS_AT_ONCE = 64


class Similarity:
    """Similarities with the rows of one matrix of non-negative integers, which is prepared once.

    Parameters
    ----------
    matrix : csr_matrix, shape (n_right, n_columns)
        Features of the graphs to compare with.
    base : {"linear", "minmax", "intersection"}
        See `similarities_from_sums`.
    normalize : bool

    >>> from scipy import sparse
    >>> x = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    >>> similarity = Similarity(x, "minmax", normalize=True)
    >>> similarity.sums(x)
    array([[3., 1.],
           [1., 4.]])
    >>> similarity.of(x, own_sums(x, "minmax")).round(2)
    array([[1.  , 0.17],
           [0.17, 1.  ]])
    """

    def __init__(self, matrix: sparse.csr_matrix, base: str, *, normalize: bool) -> None:
        self.matrix, self.base, self.normalize = matrix, base, normalize
        self.own = own_sums(matrix, base)
        n_rows, n_columns = matrix.shape
        lists = matrix.tocsc()
        frequent = np.flatnonzero(np.diff(lists.indptr) > max(8.0, _FREQUENT * n_rows))
        dense_place = np.full(n_columns, -1, np.int32)
        dense_place[frequent] = np.arange(len(frequent), dtype=np.int32)
        dense = lists[:, frequent].T.toarray()
        self._columns = _Columns(lists.indptr, lists.indices, lists.data, dense_place, dense)

    def sums(self, left: sparse.csr_matrix, out: Float64 | None = None) -> Float64:
        """Return the sums over columns, of all pairs of rows, added to ``out`` where given.

        ``left @ right.T`` for ``"linear"``, else ``sum_c min(left[i, c], right[j, c])``.
        """
        # A sum of minima is at most a row's own sum; by Cauchy and Schwarz an inner product is at most the
        # root of both own sums' product.
        minima, largest = self.base != "linear", self.own.max(initial=0)
        if not minima:
            largest = (own_sums(left, self.base).max(initial=0) * largest) ** 0.5
        dtype = np.float32 if largest < _EXACT_IN_SINGLE else np.float64
        if out is None:
            out = np.zeros((left.shape[0], len(self.own)))
        values, dense = self._columns.values, self._columns.dense
        right = self._columns._replace(
            values=values.astype(dtype, copy=False), dense=dense.astype(dtype, copy=False)
        )
        rows = _Rows.of(left, dtype)

        def add(low: int, high: int) -> None:
            _add_rows(minima, low, high, rows, right, out)

        # At most: an entry in a frequent column costs one step for eight rows.
        steps_per_entry = 1 + len(self.own) // 8
        run_ranges(add, balanced_ranges(left.indptr.astype(np.int64) * steps_per_entry))
        return out

    def of(self, left: sparse.csr_matrix, own: Float64) -> Float64:
        """Return the similarities of rows whose sums with themselves are ``own``."""
        return similarities_from_sums(self.sums(left), own, self.own, self.base, normalize=self.normalize)


def _gaussian(left: Float64, right: Float64) -> Float64:
    """Return ``exp(-d²/k)`` for all pairs of rows, d their distance and k the number of features."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    return np.exp(-np.maximum(squares, 0) / left.shape[1])


_SHARE_OF_PAIRS = 0.5  # of that of a view, as measured on sets of MoleculeACE


def _shares(spaces: ViewSpaces, *, extra: bool) -> list[float]:
    """Return the weight of the similarities of each space, and of extra features; the sum is 1."""
    # Extra features weigh as much as everything else together.
    total = (len(spaces.views) + _SHARE_OF_PAIRS * len(spaces.pairs)) * (1 + extra)
    of_pairs = [_SHARE_OF_PAIRS / total] * len(spaces.pairs)
    return [1 / total] * len(spaces.views) + of_pairs + [0.5] * extra


def _mean(kernels: Iterable[Float64], shares: list[float]) -> Float64:
    """Return the weighted sum of matrices, the first of which may be overwritten; one alone is returned."""
    total: Float64 | None = None
    for similarities, share in zip(kernels, shares):
        if total is None:
            total = similarities if share == 1 else np.multiply(similarities, share, out=similarities)
        else:
            total += share * similarities
    assert total is not None  # noqa: S101  (there is at least one view)
    return total


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
    for low in range(0, len(sums), _ROWS_AT_ONCE):  # so that divisors need no second matrix
        rows = slice(low, low + _ROWS_AT_ONCE)
        sums[rows] /= divisors_of(sums[rows], own_left[rows], own_right, base == "minmax", normalize)
    return sums


@kernel
def divisors_of(
    sums: Float64, own_left: Float64, own_right: Float64, minima: bool, normalize: bool
) -> Float64:
    """Return what turns each of the sums into a similarity; infinite for zero."""
    out = np.ones(sums.shape)
    if minima or normalize:
        for row in range(sums.shape[0]):
            for column in range(sums.shape[1]):
                if minima:  # min + max of two numbers is their sum
                    divisor = own_left[row] + own_right[column] - sums[row, column]
                else:  # the root of a square is exact in binary floating point, so the diagonal is exactly 1
                    divisor = np.sqrt(own_left[row] * own_right[column])
                out[row, column] = divisor if divisor > 0 else np.inf
    return out


class KernelQueries(NamedTuple):
    """Graphs to compare with those of a `MeanSimilarity`.

    ``rows`` and ``own`` are indexed by space, then by number of rounds. ``rows`` has the columns that come on
    top of the previous number of rounds; ``own`` has each graph's sum with itself over all columns so far.
    """

    known: ViewEncodings
    rows: list[list[sparse.csr_matrix]]
    own: list[list[Float64]]
    extra: Float64 | None = None


class MeanSimilarity:
    """Similarities with the graphs of one matrix: their mean over views, pairs and, if asked for, rounds.

    Parameters
    ----------
    spaces : ViewSpaces
    matrix : csr_matrix, shape (n_right, n_columns)
        Features of the graphs to compare with, the columns of all spaces.
    rounds : list of int
        The numbers of rounds over which to take the mean; one alone where there is nothing to average.
    base, normalize
        As for `Similarity`.
    extra : array of float64, shape (n_right, n_features), or None
        Their extra features, scaled.
    """

    def __init__(
        self,
        spaces: ViewSpaces,
        matrix: sparse.csr_matrix,
        rounds: list[int],
        base: str,
        *,
        normalize: bool,
        extra: Float64 | None = None,
    ) -> None:
        self._spaces, self._rounds, self._base, self._normalize = spaces, rounds, base, normalize
        self._matrices = spaces.split(matrix)
        self._steps = [
            [Similarity(part, base, normalize=normalize) for part in self._steps_of(space, rows)]
            for space, rows in zip(spaces, self._matrices)
        ]
        self._own = [list(itertools.accumulate(step.own for step in steps)) for steps in self._steps]
        self._extra, self._shares = extra, _shares(spaces, extra=extra is not None)

    def _ends(self, space: Space) -> list[int]:
        """Return the number of columns up to each number of rounds."""
        first = pointer(space.columns_per_round).tolist()
        return [first[n_iter + 1] for n_iter in (self._rounds if isinstance(space, FeatureSpace) else [0])]

    def _steps_of(self, space: Space, matrix: sparse.csr_matrix) -> list[sparse.csr_matrix]:
        ends = self._ends(space)
        return [_columns(matrix, low, high) for low, high in zip([0, *ends], ends)]

    def queries(self, batch: GraphBatch | None = None, extra: Float64 | None = None) -> KernelQueries:
        """Encode graphs to compare, with their scaled extra features; None stands for those of the matrix."""
        if batch is None:
            rows = [[step.matrix for step in steps] for steps in self._steps]
            return KernelQueries(ViewEncodings([], self._spaces), rows, self._own)
        return self.queries_from_features(*self._spaces.encoded_with_rest(batch), extra)

    def queries_from_features(
        self, known: ViewEncodings, extended: Sequence[Encoding | PairEncoding], extra: Float64 | None
    ) -> KernelQueries:
        """Return queries from features: ``extended`` has all, ``known`` those of the matrix alone."""
        rows = [self._steps_of(space, part.matrix) for space, part in zip(self._spaces, known.parts)]
        sums = (
            [own_sums(step, self._base) for step in self._steps_of(part.space, part.matrix)]
            for part in extended
        )
        return KernelQueries(known, rows, [list(itertools.accumulate(of_steps)) for of_steps in sums], extra)

    def by_rounds(self, queries: KernelQueries, rows: slice = slice(None)) -> Iterator[Float64]:
        """Yield the similarities of some of the graphs after each number of rounds."""
        by_space = [self._of_space(place, queries, rows) for place in range(len(self._steps))]
        # Pairs and extra features have no rounds. They come last: `_mean` overwrites the first matrix alone.
        n_views = len(self._spaces.views)
        constant = [*map(next, by_space[n_views:]), *self._of_extra(queries, rows)]
        by_space[n_views:] = map(itertools.repeat, constant)
        for _ in self._rounds:
            yield _mean(map(next, by_space), self._shares)

    def of(self, queries: KernelQueries, rows: slice = slice(None)) -> Float64:
        """Return the similarities of some of the graphs, the mean over the numbers of rounds."""
        n_rounds = len(self._rounds)
        return _mean(self.by_rounds(queries, rows), [1 / n_rounds] * n_rounds)

    def _of_extra(self, queries: KernelQueries, rows: slice = slice(None)) -> Iterator[Float64]:
        if queries.extra is not None and self._extra is not None:
            yield _gaussian(queries.extra[rows], self._extra)

    def extra_share(self, queries: KernelQueries, weights: Float64) -> float:
        """Return what extra features add to the weighted sum of the similarities of one graph."""
        return sum(self._shares[-1] * float(found[0] @ weights) for found in self._of_extra(queries))

    def _of_space(self, place: int, queries: KernelQueries, rows: slice) -> Iterator[Float64]:
        """Yield the similarities in one space after each number of rounds, each from the sums of the last."""
        steps, own_left = self._steps[place], queries.own[place]
        sums = np.zeros((len(own_left[0][rows]), len(self._own[place][0])))
        for h, step in enumerate(steps):
            step.sums(queries.rows[place][h][rows], sums)
            similarities = sums if h == len(steps) - 1 else sums.copy()
            left, right = own_left[h][rows], self._own[place][h]
            yield similarities_from_sums(similarities, left, right, self._base, normalize=self._normalize)

    def diagonal(self, queries: KernelQueries) -> Float64:
        """Return the similarity of each graph with itself.

        Without scaling it is the sum itself, else 1, or 0 for a graph without nodes.
        """
        total = np.zeros(len(queries.own[0][0]))
        for own, share in zip(queries.own, self._shares):
            for sums in own:
                plain = self._base != "minmax" and not self._normalize
                total += share / len(own) * (sums if plain else sums > 0)
        return total

    def contributions(self, queries: KernelQueries, weights: Float64) -> Float64:
        """Return what each column adds to the weighted sum of the similarities of one graph.

        It is the column's part of each similarity, the divisors held fixed.
        """
        out = []
        for place, (space, matrix, share) in enumerate(zip(self._spaces, self._matrices, self._shares)):
            steps, ends, known = self._steps[place], self._ends(space), queries.known.parts[place].matrix
            added, sums = np.zeros(known.shape[1]), np.zeros((1, matrix.shape[0]))
            for h, end in enumerate(ends):
                steps[h].sums(queries.rows[place][h], sums)
                left, right = queries.own[place][h], self._own[place][h]
                divisors = divisors_of(sums, left, right, self._base == "minmax", self._normalize)[0]
                weighted = share / len(ends) * weights / divisors
                added[:end] += _parts(_columns(known, 0, end), _columns(matrix, 0, end), weighted, self._base)
            out.append(added)
        return np.concatenate(out)

    def blocks(
        self, queries: KernelQueries, block_size: int | None = None
    ) -> Iterator[tuple[slice, Float64]]:
        """Yield the result of `of` by blocks of rows; without a ``block_size``, of about 16 megabytes."""
        n_left, n_right = len(queries.own[0][0]), len(self._own[0][0])
        if block_size is None:  # a multiple of the block size of BLAS, so that rows round the same way
            block_size = max(64, _BLOCK_ENTRIES // max(1, n_right) // 64 * 64)
        for first in range(0, n_left, block_size):
            rows = slice(first, min(first + block_size, n_left))
            yield rows, self.of(queries, rows)


def _columns(matrix: sparse.csr_matrix, low: int, high: int) -> sparse.csr_matrix:
    """Return a range of columns; all of them without a copy."""
    return matrix if (low, high) == (0, matrix.shape[1]) else matrix[:, low:high]


def _parts(row: sparse.csr_matrix, others: sparse.csr_matrix, weights: Float64, base: str) -> Float64:
    """Return each column's part of the sums of one row with others, weighted and summed over these."""
    value = row.toarray()[0]
    if base == "linear":
        return np.asarray(others.T @ weights) * value
    shared = others.copy()
    shared.data = np.minimum(shared.data, value[shared.indices])
    return np.asarray(shared.T @ weights)


class _Rows(NamedTuple):
    """The arrays of a CSR matrix."""

    ptr: Ints
    columns: Ints
    values: NDArray[np.floating]

    @classmethod
    def of(cls, matrix: sparse.csr_matrix, dtype: DTypeLike = np.float64) -> _Rows:
        return cls(matrix.indptr, matrix.indices, matrix.data.astype(dtype, copy=False))


class _Columns(NamedTuple):
    """The columns on the right: each a list of rows and values, the frequent ones also as dense vectors.

    ``dense_place`` is the row of ``dense`` for each column, -1 if it is only a list.
    """

    ptr: Ints
    rows: Ints
    values: NDArray[np.floating]
    dense_place: Int32
    dense: NDArray[np.floating]


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
                for listed in range(right.ptr[column], right.ptr[column + 1]):
                    other = right.values[listed]
                    sums[right.rows[listed]] += min(other, value) if minima else value * other
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


class MostSimilar(NamedTuple):
    """The most similar graphs of each query, the most similar first; of equal ones the first.

    Attributes
    ----------
    similarities : array of float64, shape (n_queries, k)
    indices : array of int64, shape (n_queries, k)
    """

    similarities: Float64
    indices: Int64

    @classmethod
    def empty(cls, n_queries: int, k: int) -> MostSimilar:
        """Return places for ``k`` graphs of each query, which `add` fills."""
        return cls(np.full((n_queries, k), -1.0), np.full((n_queries, k), -1))

    def add(self, similarities: Float64, first_query: int = 0, first_graph: int = 0) -> None:
        """Take in similarities of queries (rows) with graphs that come after all earlier ones (columns).

        >>> found = MostSimilar.empty(1, 2)
        >>> found.add(np.array([[0.5, 0.1]]))
        >>> found.add(np.array([[0.2, 0.9, 0.5]]), first_graph=2)
        >>> found
        MostSimilar(similarities=array([[0.9, 0.5]]), indices=array([[3, 0]]))
        """

        def keep(low: int, high: int) -> None:
            rows = slice(first_query + low, first_query + high)
            _keep_best(similarities[low:high], first_graph, self.similarities[rows], self.indices[rows])

        n_queries, n_graphs = similarities.shape
        run_ranges(keep, balanced_ranges(np.arange(n_queries + 1) * n_graphs))


@kernel
def _keep_best(similarities: Float64, first: int, best: Float64, indices: Int64) -> None:
    """Insert the graphs ``first``, … into each query's list, behind those that are as similar."""
    last = best.shape[1] - 1
    for query in range(len(similarities)):
        for graph in range(similarities.shape[1]):
            value = similarities[query, graph]
            if value <= best[query, last]:
                continue
            place = last
            while place > 0 and best[query, place - 1] < value:
                best[query, place] = best[query, place - 1]
                indices[query, place] = indices[query, place - 1]
                place -= 1
            best[query, place], indices[query, place] = value, first + graph


@savable
@with_parameters
class TwinKernel(TransformerMixin, ViewEstimator):
    """Kernel matrices between graphs, from their STwin features.

    Where graphs have several views, it is the mean of the kernels of all views.

    Parameters
    ----------
    n_iter : int or None, default=3
        Number of rounds of twin passing; None continues until the training graphs' colours are stable.
    features : {"count", "size", "joint"}, default="size"
        See `STwinVectorizer`. ``"count"`` gives the Weisfeiler-Lehman kernels.
    base : {"linear", "minmax", "intersection"}, default="linear"
        ``"linear"``: the inner product. ``"intersection"``: the sum of minima, the optimal assignment.
        ``"minmax"``: the sum of minima over the sum of maxima, Tanimoto on counts.
    normalize : bool, default=True
        Divide by the geometric mean of both graphs' similarity with themselves, so that the diagonal is 1.
        ``"minmax"`` has that property anyway. The similarity of a graph without nodes is 0, also with itself.
    edge_labels : bool or None, default=None
        See `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        See `STwinVectorizer`.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        See `STwinVectorizer`.
    average_rounds : bool, default=False
        The mean of the kernels of 0, 1, … and ``n_iter`` rounds, instead of that of ``n_iter`` rounds.
    pairs : int or None, default=None
        Also count pairs as `STwinVectorizer` does; their kernel weighs half as much as that of a view.

    Attributes
    ----------
    spaces_ : ViewSpaces
        The feature space of each view; that of the first is also ``space_``.
    matrix_ : csr_matrix, shape (n_training_graphs, n_columns)
        Features of the training graphs.

    See Also
    --------
    STwinVectorizer : The features themselves.
    STwinSVC : A classifier on this kernel.
    neighbours : The most similar graphs in one call.

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

    _constraints = {"base": (one_of(*BASES),), "normalize": (FLAG,), "average_rounds": (FLAG,)}
    _fitted_attribute = "similarity_"
    _kept = {"matrix": sparse.csr_matrix}

    n_iter: int | None = 3
    features: str = "size"
    base: str = "linear"
    normalize: bool = True
    edge_labels: bool | None = None
    initial: str = "label"
    ignore_features: bool = False
    _: KW_ONLY
    readout: ReadoutChoice = "size"
    average_rounds: bool = False
    pairs: int | None = None

    def fit(self, X: GraphsLike, y: object = None) -> Self:  # noqa: ARG002
        """Encode the training graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The training graphs, in any form that `as_batch` accepts.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        TwinKernel
            The fitted kernel itself.
        """
        encodings = ViewSpaces.learn(self._graphs_to_fit(X), self.settings, self.pairs)
        self._keep_views(encodings.spaces, encodings.matrix)
        return self

    def _keep_views(self, spaces: ViewSpaces, matrix: sparse.csr_matrix) -> None:
        spaces.widen(matrix)
        self.spaces_, self.matrix_, n_iter = spaces, matrix, spaces.views[0].alphabet.n_iter
        rounds = list(range(n_iter + 1)) if self.average_rounds else [n_iter]
        self.similarity_ = MeanSimilarity(spaces, matrix, rounds, self.base, normalize=self.normalize)

    def fit_transform(self, X: GraphsLike, y: object = None) -> Float64:
        """Return the kernel matrix of the training graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The training graphs, in any form that `as_batch` accepts.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        array of float64, shape (n_graphs, n_graphs)
        """
        return self.fit(X, y).similarity_.of(self.similarity_.queries())

    def transform(self, X: GraphsLike) -> Float64:
        """Return the similarities of graphs with the training graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The graphs, in any form that `as_batch` accepts.

        Returns
        -------
        array of float64, shape (n_graphs, n_training_graphs)
        """
        queries = self._queries(X)
        return self.similarity_.of(queries)

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
        queries = self._queries(X)
        yield from self.similarity_.blocks(queries, block_size)

    def kneighbors(self, X: GraphsLike | None = None, k: int = 10) -> MostSimilar:
        """Return the ``k`` most similar training graphs of each graph, exactly, without building a matrix.

        Parameters
        ----------
        X
            The graphs; None means the training graphs, each of which then finds itself too.
        k
            How many, at most the number of training graphs.

        Returns
        -------
        similarities : array of float64, shape (n_graphs, k)
            The largest first.
        indices : array of int64, shape (n_graphs, k)
            Which training graphs; of equally similar ones those that come first.

        Examples
        --------
        >>> from twinwl import GraphBatch, TwinKernel
        >>> rings = GraphBatch.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in (3, 5, 9, 10)])
        >>> kernel = TwinKernel(n_iter=1, features="joint", base="minmax").fit(rings[:3])
        >>> kernel.kneighbors(rings[3:], k=2).indices
        array([[2, 1]])
        """
        queries = self._queries(X)
        n_graphs = len(queries.own[0][0])
        nearest = MostSimilar.empty(n_graphs, checked("k", k, integer(1, self.matrix_.shape[0])))
        for rows, block in self.similarity_.blocks(queries):
            nearest.add(block, rows.start)
        return nearest

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
        queries = self._queries(X)
        return self.similarity_.diagonal(queries)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name each column after its training graph: ``graph0``, ``graph1``, …."""
        self._check_fitted()
        return np.array([f"graph{i}" for i in range(self.matrix_.shape[0])], dtype=object)

    def _queries(self, X: GraphsLike | None) -> KernelQueries:
        """Encode graphs; None stands for the training graphs."""
        self._check_fitted()
        return self.similarity_.queries(None if X is None else self._new_graphs(X, "transform"))
