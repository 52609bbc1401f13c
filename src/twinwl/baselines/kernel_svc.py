"""A support vector machine on a graph kernel, with C chosen inside the training part."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sklearn.base import ClassifierMixin

from twinwl.arguments import CLASS_WEIGHT, FLAG, RANDOM_STATE
from twinwl.errors import TwinWLError
from twinwl.estimators.base import GraphEstimator, graphs_of, one_seed
from twinwl.estimators.calibration import Calibration
from twinwl.estimators.svm import INNER_FOLDS, PENALTIES, choose_machine, inner_folds, make_svc
from twinwl.estimators.targets import Targets, predicted_codes
from twinwl.memory import check_fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.estimators.svm import SupportVectors
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["USUAL_PENALTIES", "KernelSVC", "labelled_graphs"]

_MATRICES = 3  # at once: similarities, their normalised form, a fold's part
USUAL_PENALTIES = (0.1, 1, 3, 10, 100, 1000)


def labelled_graphs(X: GraphsLike, purpose: str, kernel: str) -> GraphBatch:
    """Return graphs as a batch, and refuse continuous features: a kernel on labels cannot see them.

    Parameters
    ----------
    X
        The graphs.
    purpose
        What they are for, for the message.
    kernel
        Name of the kernel, for the message.
    """
    batch = graphs_of(X, purpose)
    if batch.node_features is not None and batch.has_node_features:
        raise TwinWLError(
            f"the nodes have {batch.node_features.shape[1]} continuous features, which the {kernel} cannot "
            "use: it compares labels. Turn them into labels with batch.discretise(), drop them with "
            "batch.without_features(), or use a neural method"
        )
    return batch


class KernelSVC(ClassifierMixin, GraphEstimator):
    """Base of the kernels that other libraries compute; a subclass computes the kernel matrices.

    A subclass implements ``_fit_kernel(batch, seed)``, which returns the square matrix of the training
    graphs, and ``_kernel(batch)``, which returns the similarities of other graphs (rows) to the training
    graphs.

    Parameters
    ----------
    C : float or sequence of float
        Penalties to choose from by cross-validation inside the training graphs.
    inner_folds : int
        Folds of that choice; fewer where a class has fewer graphs (or groups).
    class_weight : None, "balanced" or mapping from class to weight
    random_state : int, RandomState, Generator or None
        Seed of the inner folds, and of the kernel if it has a random step.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    C_ : float
        Penalty chosen.
    inner_score_ : float
        Its accuracy on held-out graphs of the inner folds; optimistic, because it is that of the best C.
    """

    _constraints: ClassVar[Constraints] = {
        "C": (PENALTIES,),
        "normalize": (FLAG,),
        "inner_folds": (INNER_FOLDS,),
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
    }

    C: float | Sequence[float]
    inner_folds: int
    class_weight: object
    random_state: RandomState

    _fitted_attribute = "calibration_"

    classes_: NDArray[np.generic]
    C_: float
    inner_score_: float
    support_vectors_: SupportVectors
    calibration_: Calibration

    kernel_name = "graph kernel"

    def _fit_kernel(self, batch: GraphBatch, seed: int) -> Float64:
        raise NotImplementedError

    def _kernel(self, batch: GraphBatch) -> Float64:
        raise NotImplementedError

    def fit(self, X: GraphsLike, y: object, groups: object = None, sample_weight: object = None) -> KernelSVC:
        """Choose C, then learn from all graphs.

        Parameters
        ----------
        X
            The graphs, without continuous features.
        y
            Their classes, of any type that can be sorted.
        groups
            Graphs of one group stay on one side of every inner fold.
        sample_weight
            Weight of each graph.
        """
        batch = labelled_graphs(self._graphs_to_fit(X), "fit", self.kernel_name)
        targets = Targets.of(y, len(batch), sample_weight, self.class_weight, groups)
        n_graphs = len(targets.rows)
        check_fits(
            8 * _MATRICES * n_graphs**2,
            None,
            f"the {self.kernel_name} of {n_graphs:,} training graphs, {_MATRICES} matrices of all pairs,",
            "use fewer graphs, or STwinSVC with kernel_approximation='nystroem'",
        )
        seed = one_seed(self.random_state)
        folds = inner_folds(targets, self.inner_folds, seed)
        kernels = [(0, self._fit_kernel(targets.counted(batch), seed))]
        chosen = choose_machine(kernels, targets, make_svc(targets), self.C, folds)
        self.classes_, self.C_, self.inner_score_ = targets.classes, chosen.C, chosen.score
        self.support_vectors_ = chosen.vectors
        self.calibration_ = Calibration.fitted(chosen.held_out_decisions, targets.codes, targets.weights)
        return self

    def decision_function(self, X: GraphsLike) -> Float64:
        """Return decision values: shape (n_graphs,) for two classes, else (n_graphs, n_classes)."""
        self._check_fitted()
        similarities = self._kernel(
            labelled_graphs(self._new_graphs(X, "predict"), "predict", self.kernel_name)
        )
        return self.support_vectors_.decisions(similarities[:, self.support_vectors_.rows])

    def predict(self, X: GraphsLike) -> NDArray[np.generic]:
        """Return the class of each graph."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    def predict_proba(self, X: GraphsLike) -> Float64:
        """Return the probability of each class, shape (n_graphs, n_classes), after Platt."""
        decisions = self.decision_function(X)
        return self.calibration_.probabilities(decisions)
