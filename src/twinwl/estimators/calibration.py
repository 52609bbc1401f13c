"""From decision values to probabilities, after Platt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64

__all__ = ["Calibration", "probabilities_of"]

_HARDLY_REGULARISED = 1e6  # the doubt about each target keeps the slope finite already


@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic regression on decision values.

    Attributes
    ----------
    slopes : array of float64, shape (1, 1) for two classes, else (n_classes, n_classes)
    offsets : array of float64, shape (1,) for two classes, else (n_classes,)
    """

    slopes: Float64
    offsets: Float64

    @classmethod
    def fitted(cls, decisions: Float64, codes: Int64, weights: Float64 | None = None) -> Calibration:
        """Fit to decisions about graphs that the machine had not seen.

        Parameters
        ----------
        decisions : array of float64, shape (n,) or (n, n_classes)
        codes : array of int64, shape (n,)
        weights : array of float64, shape (n,), optional
        """
        regression = LogisticRegression(C=_HARDLY_REGULARISED, max_iter=1000)
        n_classes = int(codes.max()) + 1
        every_class = np.tile(np.arange(n_classes), len(codes))
        rows = np.repeat(decisions.reshape(len(codes), -1), n_classes, axis=0)
        doubt = _doubt(codes, n_classes) * (1.0 if weights is None else weights[:, None])
        regression.fit(rows, every_class, doubt.ravel())
        return cls(regression.coef_, regression.intercept_)

    def probabilities(self, decisions: Float64) -> Float64:
        """Return the probability of each class, shape (n, n_classes).

        >>> Calibration(np.array([[2.0]]), np.array([0.0])).probabilities(np.array([0.0])).tolist()
        [[0.5, 0.5]]
        """
        return probabilities_of(decisions.reshape(len(decisions), -1) @ self.slopes.T + self.offsets)


def probabilities_of(logits: Float64) -> Float64:
    """Return the probability of each class, shape (n, n_classes), from decision values that are logits.

    >>> probabilities_of(np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    scores = logits.reshape(len(logits), -1)
    if scores.shape[1] == 1:  # two classes share one value
        scores = np.hstack([np.zeros_like(scores), scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _doubt(codes: Int64, n_classes: int) -> Float64:
    """Return how much each graph counts as each class: nearly all as its own, a little as the others.

    Platt's targets, (n + 1) / (n + 2) in a class of n: without them, classes that the decisions separate
    would get probabilities of exactly 0 and 1.
    """
    own = (np.bincount(codes, minlength=n_classes) + 1) / (np.bincount(codes, minlength=n_classes) + 2)
    doubt = np.repeat(((1 - own[codes]) / (n_classes - 1))[:, None], n_classes, axis=1)
    doubt[np.arange(len(codes)), codes] = own[codes]
    return doubt
