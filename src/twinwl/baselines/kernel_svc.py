"""A support vector machine on a graph kernel, its C chosen inside the training part."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from twinwl.errors import TwinWLError
from twinwl.graphs.fitting import check_fitted, graphs_of
from twinwl.graphs.targets import check_groups, check_weights, encode_targets, weights_of_classes
from twinwl.stwin.calibration import Calibration
from twinwl.stwin.inner_choice import Problem, inner_folds, machine
from twinwl.stwin.support_vectors import SupportVectors, predicted_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["PENALTIES", "KernelSVC", "labelled_graphs"]

PENALTIES = (0.1, 1, 3, 10, 100, 1000)


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
    if batch.node_features is not None and batch.node_features.shape[1]:
        raise TwinWLError(
            f"the nodes have {batch.node_features.shape[1]} continuous features, which the {kernel} cannot "
            "use: it compares labels. Cut them into classes and give those as labels, or use a neural method"
        )
    return batch


class KernelSVC(ClassifierMixin, BaseEstimator):
    """Base of the kernels that other libraries compute; a subclass brings the kernel matrices.

    A subclass implements ``_fit_kernel(batch)``, the square matrix of the graphs that are learnt from, and
    ``_kernel(batch)``, similarities of other graphs (rows) with those.

    Parameters
    ----------
    C : float or sequence of float
        Penalties to choose from by cross-validation inside the training graphs.
    inner_folds : int
        Folds of that choice; fewer where a class has fewer graphs (or groups).
    class_weight : None, "balanced" or mapping from class to weight
    random_state : int or None
        Seed of the inner folds, and of the kernel where there is chance in it; None is 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    C_ : float
        Penalty chosen.
    inner_score_ : float
        Its accuracy on held-out graphs of the inner folds; optimistic, for it was the best one.
    """

    C: float | Sequence[float]
    inner_folds: int
    class_weight: object
    random_state: int | None

    classes_: NDArray[np.generic]
    C_: float
    inner_score_: float
    support_vectors_: SupportVectors
    calibration_: Calibration

    kernel_name = "graph kernel"

    def _fit_kernel(self, batch: GraphBatch) -> Float64:
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
            Their classes, of any kind that sorts.
        groups
            Graphs of one group stay on one side of every inner fold.
        sample_weight
            How much each graph weighs.
        """
        batch = labelled_graphs(X, "fit", self.kernel_name)
        penalties = _penalties(self.C)
        self.classes_, codes = encode_targets(y, len(batch))
        weights = check_weights(sample_weight, len(batch))
        by_class = weights_of_classes(self.class_weight, self.classes_, codes, weights)
        problem = Problem(
            codes,
            np.ones(len(codes)) if weights is None else weights,
            {} if by_class is None else dict(enumerate(by_class.tolist())),
        )
        folds = inner_folds(
            codes, check_groups(groups, len(batch)), self.inner_folds, self.random_state or 0, self.classes_
        )
        similarities = self._fit_kernel(batch)
        self.inner_score_ = -1.0
        for C in penalties:
            decisions = _held_out_decisions(similarities, problem, folds, C)
            score = problem.score(decisions)
            if score > self.inner_score_:  # of equals the smallest C
                self.C_, self.inner_score_, chosen = C, score, decisions
        fitted = machine(self.C_, problem).fit(similarities, codes, problem.weights)
        self.support_vectors_ = SupportVectors.of(fitted)
        self.calibration_ = Calibration.fitted(chosen, codes, problem.weights)
        return self

    def decision_function(self, X: GraphsLike) -> Float64:
        """Return decision values: shape (n_graphs,) for two classes, else (n_graphs, n_classes)."""
        check_fitted(self, "support_vectors_")
        similarities = self._kernel(labelled_graphs(X, "predict", self.kernel_name))
        return self.support_vectors_.decisions(similarities[:, self.support_vectors_.rows])

    def predict(self, X: GraphsLike) -> NDArray[np.generic]:
        """Return the class of each graph."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    def predict_proba(self, X: GraphsLike) -> Float64:
        """Return the probability of each class, shape (n_graphs, n_classes), after Platt."""
        decisions = self.decision_function(X)
        return self.calibration_.probabilities(decisions)

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def _held_out_decisions(
    similarities: Float64, problem: Problem, folds: list[tuple[Int64, Int64]], C: float
) -> Float64:
    """Decide about every graph with a machine that has not seen it."""
    parts = []
    for learnt, held in folds:
        fitted = machine(C, problem).fit(
            similarities[np.ix_(learnt, learnt)], problem.codes[learnt], problem.weights[learnt]
        )
        parts.append(fitted.decision_function(similarities[np.ix_(held, learnt)]))
    order = np.argsort(np.concatenate([held for _, held in folds]))
    return np.concatenate(parts)[order]


def _penalties(C: object) -> list[float]:
    values = [C] if isinstance(C, numbers.Number) else list(C)  # type: ignore[call-overload]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
            raise TwinWLError(f"C holds {value!r}; give numbers above 0")
    if not values:
        raise TwinWLError("C is empty; give at least one number to choose from")
    return sorted({float(value) for value in values})  # type: ignore[arg-type]
