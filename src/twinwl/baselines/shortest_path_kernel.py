"""The shortest-path kernel of GraKeL, with a support vector machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.baselines.kernel_svc import USUAL_PENALTIES, KernelSVC
from twinwl.errors import import_extra
from twinwl.estimators.base import keeps_parameters
from twinwl.graphs.labels import label_token
from twinwl.stwin.similarity import similarities_from_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.base import RandomState
    from twinwl.graphs.batch import GraphBatch

__all__ = ["ShortestPathSVC"]


class ShortestPathSVC(KernelSVC):
    r"""Classify graphs with the shortest-path kernel (Borgwardt and Kriegel, 2005).

    A graph is the counts of its (label, label, distance) triples over ordered pairs of connected nodes, and
    the kernel :math:`k(G, G') = \sum_{p \in SP(G)} \sum_{p' \in SP(G')} k_{path}(p, p')` with equality as
    :math:`k_{path}` is their inner product, divided here by the geometric mean of the self-similarities.
    The similarity of a graph without edges to any other is 0.

    Parameters
    ----------
    C : float or sequence of float, default=(0.1, 1, 3, 10, 100, 1000)
        Penalties to choose from by cross-validation inside the training graphs.
    normalize : bool, default=True
    inner_folds : int, default=5
    class_weight : None, "balanced" or mapping from class to weight, default=None
    random_state : int, RandomState, Generator or None, default=0
        Seed of the inner folds.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = ShortestPathSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "shortest-path kernel"

    normalize: bool

    @keeps_parameters
    def __init__(
        self,
        C: float | Sequence[float] = USUAL_PENALTIES,
        normalize: bool = True,
        inner_folds: int = 5,
        class_weight: object = None,
        random_state: RandomState = 0,
    ) -> None: ...

    def _fit_kernel(self, batch: GraphBatch, seed: int) -> Float64:  # noqa: ARG002  (nothing is random)
        grakel = import_extra("grakel", "baselines")
        self.kernel_ = grakel.kernels.ShortestPath(normalize=False, with_labels=True)
        self.known_ = _with_edges(batch)
        self.n_known_ = len(batch)
        sums = np.zeros((len(batch), len(batch)))
        if len(self.known_):
            sums[np.ix_(self.known_, self.known_)] = self.kernel_.fit_transform(
                _grakel_graphs(batch, self.known_)
            )
        self.own_ = sums.diagonal().copy()
        return self._divided(sums, self.own_)

    def _kernel(self, batch: GraphBatch) -> Float64:
        rows = _with_edges(batch)
        sums, own = np.zeros((len(batch), self.n_known_)), np.zeros(len(batch))
        if len(rows) and len(self.known_):
            sums[np.ix_(rows, self.known_)] = self.kernel_.transform(_grakel_graphs(batch, rows))
            own[rows] = self.kernel_.diagonal()[1]
        return self._divided(sums, own)

    def _divided(self, sums: Float64, own: Float64) -> Float64:
        return similarities_from_sums(sums, own, self.own_, "linear", normalize=self.normalize)


def _with_edges(batch: GraphBatch) -> Int64:
    """Return the graphs that have an edge: GraKeL does not accept others, and they have no paths to count."""
    return np.flatnonzero(np.diff(batch.indptr[batch.graph_ptr]) > 0)


def _grakel_graphs(batch: GraphBatch, graphs: Int64) -> list[object]:
    """Convert graphs to GraKeL's input: the edges of each node, and labels distinguished by type too."""
    tokens = [label_token(label) for label in batch.node_vocabulary]
    converted: list[object] = []
    for graph in graphs.tolist():
        start, stop = batch.graph_ptr[graph : graph + 2].tolist()
        edges = {
            node - start: dict.fromkeys(
                (batch.indices[batch.indptr[node] : batch.indptr[node + 1]] - start).tolist(), 1.0
            )
            for node in range(start, stop)
        }
        labels = {node - start: tokens[batch.node_labels[node]] for node in range(start, stop)}
        converted.append([edges, labels])
    return converted
