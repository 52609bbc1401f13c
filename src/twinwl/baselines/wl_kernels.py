"""The WL subtree kernel and the WL optimal assignment kernel, based on this package's own refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.baselines.kernel_svc import USUAL_PENALTIES, labelled_graphs
from twinwl.estimators.base import graphs_of
from twinwl.stwin.svc import STwinSVC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.arrays import Float64
    from twinwl.estimators.base import RandomState
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["WLOptimalAssignmentSVC", "WLSubtreeSVC"]


class WLSubtreeSVC(STwinSVC):
    r"""Classify graphs with the WL subtree kernel (Shervashidze et al., 2011).

    A graph is described by its number of nodes of each colour in rounds 0 to h; the kernel is the inner
    product :math:`\sum_{i=0}^{h} \langle \phi_i(G), \phi_i(G') \rangle`, divided by the geometric mean of the
    self-similarities. The number of rounds and C are chosen inside the training graphs.

    Parameters
    ----------
    n_iter : int or sequence of int, default=(2, 3, 4, 5)
        Numbers of rounds to choose from.
    C : float or sequence of float, default=(0.1, 1, 3, 10, 100, 1000)
    normalize : bool, default=True
    inner_folds : int, default=5
    class_weight : None, "balanced" or mapping from class to weight, default=None
    random_state : int, RandomState, Generator or None, default=0

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = WLSubtreeSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "WL subtree kernel"
    _base = "linear"

    def __init__(
        self,
        n_iter: int | Sequence[int] = (2, 3, 4, 5),
        C: float | Sequence[float] = USUAL_PENALTIES,
        normalize: bool = True,
        inner_folds: int = 5,
        class_weight: str | Mapping[object, float] | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(
            n_iter,
            C,
            features="count",
            base=self._base,
            normalize=normalize,
            inner_folds=inner_folds,
            class_weight=class_weight,
            random_state=random_state,
        )

    _learns_tasks = False

    def fit(
        self, X: GraphsLike, y: object, groups: object = None, sample_weight: object = None
    ) -> WLSubtreeSVC:
        """Choose rounds and C, then learn from all graphs; as `twinwl.STwinSVC.fit`."""
        super().fit(labelled_graphs(graphs_of(X, "fit"), self.kernel_name), y, groups, sample_weight)
        return self

    def decision_function(self, X: GraphsLike) -> Float64:
        """Return decision values: shape (n_graphs,) for two classes, else (n_graphs, n_classes)."""
        return super().decision_function(labelled_graphs(self._new_graphs(X, "predict"), self.kernel_name))


class WLOptimalAssignmentSVC(WLSubtreeSVC):
    r"""Classify graphs with the WL optimal assignment kernel (Kriege, Giscard and Wilson, 2016).

    The kernel is the weight of the best one-to-one assignment of the nodes of two graphs, where two nodes
    have as weight the number of rounds in which they have the same colour. As colours form a hierarchy, that
    is the histogram intersection :math:`\sum_c \min(\phi_c(G), \phi_c(G'))` over the colours of all rounds.

    Parameters
    ----------
    n_iter, C, normalize, inner_folds, class_weight, random_state
        As for `WLSubtreeSVC`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> graphs = GraphBatch.from_edges(paths + cycles)
    >>> model = WLOptimalAssignmentSVC().fit(graphs, ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "WL optimal assignment kernel"
    _base = "intersection"
