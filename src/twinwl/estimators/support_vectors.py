"""A trained support vector machine reduced to what predicts: its support vectors and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.svm import SVC

    from twinwl.arrays import Float64, Int64

__all__ = ["SupportVectors"]


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """Which training graphs decide, and how.

    Attributes
    ----------
    rows : array of int64, shape (n_support,)
        The support vectors among the training graphs, grouped by class.
    weights : array of float64, shape (n_pairs, n_support)
        Their weights in the decision between each pair of classes, (0, 1), (0, 2), …, (1, 2), …; positive
        speaks for the pair's second class where there are only two classes, else for the first, as
        scikit-learn has it.
    intercepts : array of float64, shape (n_pairs,)
    n_classes : int
    """

    rows: Int64
    weights: Float64
    intercepts: Float64
    n_classes: int

    @classmethod
    def of(cls, machine: SVC) -> SupportVectors:
        """Take them out of a fitted scikit-learn machine."""
        n_classes = len(machine.classes_)
        rows = machine.support_.astype(np.int64)
        if n_classes == 2:  # noqa: PLR2004
            return cls(rows, np.array(machine.dual_coef_), np.array(machine.intercept_), n_classes)
        bounds = np.concatenate([[0], np.cumsum(machine.n_support_)])
        weights = np.zeros((n_classes * (n_classes - 1) // 2, len(rows)))
        for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
            # libsvm keeps, for each vector, its weights against the other classes, its own left out.
            of_i, of_j = slice(bounds[i], bounds[i + 1]), slice(bounds[j], bounds[j + 1])
            weights[pair, of_i] = machine.dual_coef_[j - 1, of_i]
            weights[pair, of_j] = machine.dual_coef_[i, of_j]
        return cls(rows, weights, np.array(machine.intercept_), n_classes)

    def decisions(self, similarities: Float64) -> Float64:
        """Return the decision values from similarities with the support vectors.

        Parameters
        ----------
        similarities : array of float64, shape (n_graphs, n_support)

        Returns
        -------
        array of float64, shape (n_graphs,) for two classes, else (n_graphs, n_classes)
            For two classes the distance towards the second. For more the votes of all pairs, their summed
            margins breaking ties, as scikit-learn's ``decision_function_shape="ovr"``.
        """
        margins = similarities @ self.weights.T + self.intercepts
        if self.n_classes == 2:  # noqa: PLR2004
            return margins[:, 0]
        votes = np.zeros((len(margins), self.n_classes))
        confidence = np.zeros_like(votes)
        for pair, (i, j) in enumerate(combinations(range(self.n_classes), 2)):
            confidence[:, i] += margins[:, pair]
            confidence[:, j] -= margins[:, pair]
            votes[:, i] += margins[:, pair] >= 0
            votes[:, j] += margins[:, pair] < 0
        return votes + confidence / (3 * (np.abs(confidence) + 1))

    def between(self, wanted: int, other: int) -> tuple[Float64, float]:
        """Return weights and intercept of one pair's decision, turned so that positive is ``wanted``."""
        if self.n_classes == 2:  # noqa: PLR2004
            sign = 1.0 if wanted == 1 else -1.0
            return sign * self.weights[0], sign * float(self.intercepts[0])
        pairs = list(combinations(range(self.n_classes), 2))
        pair = pairs.index((min(wanted, other), max(wanted, other)))
        sign = 1.0 if wanted < other else -1.0
        return sign * self.weights[pair], sign * float(self.intercepts[pair])


def predicted_codes(decisions: Float64 | NDArray[np.float32]) -> Int64:
    """Return the class that wins by decision values, as a place among the classes.

    >>> predicted_codes(np.array([-0.5, 0.2])).tolist()
    [0, 1]
    """
    if decisions.ndim == 1:
        return (decisions > 0).astype(np.int64)
    return decisions.argmax(axis=1)
