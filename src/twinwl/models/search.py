"""Search by the twin kernel: the most similar graphs of each query, and all pairs that are similar enough.

The similarity is that of ``TwinKernel(features="joint", base="minmax")``. The space of features is that of
the queries: what only the searched graphs have counts in their totals, and needs no column. So these graphs
come a block at a time, are forgotten again, and may be more than fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import ROUNDS, checked, number
from twinwl.arrays import Float64, Int64
from twinwl.graphs.batch import GraphBatch
from twinwl.models.features import stwin_features
from twinwl.models.similarity import MostSimilar, Similarity, own_sums
from twinwl.terminal import ProgressBar

N_ITER = 2  # enough to tell environments apart, few enough that similar graphs share some
_BLOCK_ENTRIES = 1 << 22  # similarities of a block: 32 megabytes
_LARGEST_BLOCK = 4096  # graphs
_TOLERANCE = 1e-9  # thresholds are rounded, counts are not


class SimilarPairs(NamedTuple):
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


class Queries:
    """Queries that graphs are compared with, encoded once; edge labels count if the queries have them.

    Parameters
    ----------
    graphs
        The queries.
    n_iter
        Rounds of twin passing.

    >>> rings = GraphBatch.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in (3, 9, 10)])
    >>> Queries(rings[2:]).most_similar([rings[:1], rings[1:2]], 1, n_graphs=2)
    MostSimilar(similarities=array([[0.9]]), indices=array([[1]]))
    >>> Queries(rings).similar_pairs(rings[:2], 0.5).query.tolist()
    [0, 1, 2]
    """

    def __init__(self, graphs: GraphBatch, n_iter: int = N_ITER) -> None:
        checked("n_iter", n_iter, ROUNDS)
        self._edge_labels = graphs.edge_labels is not None
        encoding = stwin_features(graphs.without_features(), n_iter, "joint", edge_labels=self._edge_labels)
        self._space, self._matrix = encoding.space, encoding.matrix
        self._totals = own_sums(encoding.matrix, "minmax")
        self._block = max(64, min(_LARGEST_BLOCK, _BLOCK_ENTRIES // max(1, len(graphs))))

    def most_similar(self, batches: Iterable[GraphBatch], k: int, *, n_graphs: int) -> MostSimilar:
        """Return the ``k`` most similar graphs of each query; ``n_graphs`` are in all batches together."""
        nearest = MostSimilar.empty(len(self._totals), k)
        every = Similarity(self._matrix, "minmax", normalize=False)
        first = 0
        with ProgressBar("graphs searched", n_graphs) as bar:
            for batch in batches:
                for low in range(0, len(batch), self._block):
                    similarities = every.of(*self._encoded(batch[low : low + self._block]))
                    nearest.add(similarities.T, first_graph=first)
                    first += len(similarities)
                    bar.advance(len(similarities))
        return nearest

    def similar_pairs(self, graphs: GraphBatch, threshold: float) -> SimilarPairs:
        """Return all pairs whose similarity is the threshold or more.

        The similarity of two graphs is at most the smaller total over the larger one. So graphs go in order
        of their size, and each block of them is compared only with the queries of about the same size.

        Parameters
        ----------
        graphs
            The searched graphs.
        threshold
            Above 0, at most 1.
        """
        checked("threshold", threshold, number(0, 1, above=True))
        by_total = np.argsort(self._totals, kind="stable")
        totals, matrix = self._totals[by_total], self._matrix[by_total]
        by_size = np.argsort(graphs.nodes_per_graph, kind="stable")
        pairs = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        with ProgressBar("graphs searched", len(graphs)) as bar:
            for low in range(0, len(graphs), self._block):
                block = by_size[low : low + self._block]
                features, own = self._encoded(graphs[block])
                least, most = own.min() * threshold, own.max() / threshold
                bounds = [least * (1 - _TOLERANCE), most * (1 + _TOLERANCE)]
                near = slice(*np.searchsorted(totals, bounds).tolist())
                similarities = Similarity(matrix[near], "minmax", normalize=False).of(features, own)
                graph, query = np.nonzero(similarities >= threshold)
                pairs.append((by_total[near][query], block[graph], similarities[graph, query]))
                bar.advance(len(block))
        query, graph, similarity = map(np.concatenate, zip(*pairs))
        order = np.lexsort((graph, query))
        return SimilarPairs(query[order], graph[order], similarity[order])

    def _encoded(self, graphs: GraphBatch) -> tuple[Any, Float64]:
        """Return the features that the queries have too, and each graph's total over all its features."""
        plain = graphs.without_features()
        plain = plain if self._edge_labels else plain.without_edge_labels()
        known, extended = self._space.encoded_with_rest(plain)
        return known.matrix, own_sums(extended.matrix, "minmax")
