"""Calibration on held-out graphs: Platt scaling to probabilities; conformal sets of classes and intervals.

Conformal prediction gives sets of classes and intervals that contain the truth with a given probability. The
scores of graphs that a model had not seen, with their true targets, are kept. A new graph's score for a
class, were that its class, is ranked among them: a class stays in the set unless its score is among the
worst. If new graphs are exchangeable with those the scores come from, the set holds the true class at least
as often as the confidence says, however wrong the model is. Under a shift it need not. For molecules the
scores are those of held-out scaffolds, so that new scaffolds are no shift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, TypeVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from twinwl.arguments import FLAG, Constraint, checked, number
from twinwl.arrays import Bool, Float64, Int64
from twinwl.errors import TwinWLError
from twinwl.models.targets import Scored, one_each, per_task, probabilities_of

if TYPE_CHECKING:
    from twinwl.graphs.coercion import GraphsLike

Kept = TypeVar("Kept", "ConformalSets", "ConformalIntervals")

CONFIDENCE: Constraint = number(0, 1, above=True, below=True)
_HARDLY_REGULARISED = 1e6  # the doubt about each target keeps the slope finite already
_TOLERANCE = 1e-12  # equal scores may differ in the last digit


@dataclass(frozen=True, eq=False)
class Calibration:
    """Platt scaling: a logistic regression on decision values.

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
        if decisions.ndim == 1 and regression.coef_[0, 0] < 0:
            # Worse than chance: a probability that falls as the decision rises would contradict it.
            total = doubt.sum(axis=0)
            return cls(np.zeros((1, 1)), np.log(total[1:] / total[:1]))
        return cls(regression.coef_, regression.intercept_)

    def probabilities(self, decisions: Float64) -> Float64:
        """Return the probability of each class, shape (n, n_classes).

        >>> Calibration(np.array([[2.0]]), np.array([0.0])).probabilities(np.array([0.0])).tolist()
        [[0.5, 0.5]]
        """
        return probabilities_of(decisions.reshape(len(decisions), -1) @ self.slopes.T + self.offsets)


def _doubt(codes: Int64, n_classes: int) -> Float64:
    """Return how much each graph counts as each class: nearly all as its own, a little as the others.

    Platt's targets, (n + 1) / (n + 2) in a class of n: without them, classes that the decisions separate
    would get probabilities of exactly 0 and 1.
    """
    own = (np.bincount(codes, minlength=n_classes) + 1) / (np.bincount(codes, minlength=n_classes) + 2)
    doubt = np.repeat(((1 - own[codes]) / (n_classes - 1))[:, None], n_classes, axis=1)
    doubt[np.arange(len(codes)), codes] = own[codes]
    return doubt


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Scores of held-out graphs, one minus the probability of the true class: small where it fits.

    Attributes
    ----------
    scores : array of float64, shape (n,)
        By class, and rising within each.
    ptr : array of int64, shape (n_classes + 1,)
        Which of them belong to each class.
    """

    scores: Float64
    ptr: Int64

    @classmethod
    def fitted(cls, probabilities: Float64, codes: Int64) -> ConformalSets:
        """Keep the scores of graphs that the model had not seen.

        Parameters
        ----------
        probabilities : array of float64, shape (n, n_classes)
        codes : array of int64, shape (n,)
            Their true classes.
        """
        scores = 1 - probabilities[np.arange(len(codes)), codes]
        ptr = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=probabilities.shape[1]))])
        return cls(scores[np.lexsort((scores, codes))], ptr)

    def p_values(self, probabilities: Float64, *, per_class: bool = True) -> Float64:
        """Return how usual each class would be, as a rank between 0 and 1; shape (n, n_classes).

        Parameters
        ----------
        probabilities : array of float64, shape (n, n_classes)
        per_class
            Rank among the held-out graphs of that class, so that the promise holds within each class, also
            within a rare one; else among all.

        >>> sets = ConformalSets.fitted(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 0, 1]))
        >>> sets.p_values(np.array([[0.7, 0.3]])).round(2).tolist()
        [[0.67, 0.5]]
        """
        out = np.empty(probabilities.shape)
        of_all = np.sort(self.scores)
        for code in range(probabilities.shape[1]):
            own = self.scores[self.ptr[code] : self.ptr[code + 1]] if per_class else of_all
            worse = len(own) - np.searchsorted(own, 1 - probabilities[:, code] - _TOLERANCE, side="left")
            out[:, code] = (worse + 1) / (len(own) + 1)
        return out

    def of(self, probabilities: Float64, confidence: float, *, per_class: bool = True) -> Bool:
        """Return which classes are in the set of each graph, shape (n, n_classes)."""
        confidence = checked("confidence", confidence, CONFIDENCE)
        return self.p_values(probabilities, per_class=checked("per_class", per_class, FLAG)) > 1 - confidence


@dataclass(frozen=True, eq=False)
class ConformalIntervals:
    """Absolute errors on held-out graphs, rising."""

    errors: Float64

    @classmethod
    def fitted(cls, predicted: Float64, y: Float64) -> ConformalIntervals:
        """Keep the errors on graphs that the model had not seen."""
        return cls(np.sort(np.abs(predicted - y)))

    def of(self, predicted: Float64, confidence: float) -> Float64:
        """Return the lower and the upper end of each interval, shape (n, 2).

        All intervals are equally wide. They are infinite where there are too few errors for the confidence:
        0.9 needs 9 of them, 0.99 needs 99.

        >>> ConformalIntervals(np.arange(1.0, 10.0)).of(np.array([0.0]), 0.9)
        array([[-9.,  9.]])
        """
        confidence = checked("confidence", confidence, CONFIDENCE)
        rank = int(np.ceil((len(self.errors) + 1) * confidence - _TOLERANCE))
        width = self.errors[rank - 1] if rank <= len(self.errors) else np.inf
        return np.stack([predicted - width, predicted + width], axis=1)


class PredictsSets(Scored):
    """Sets of classes, for classifiers with ``conformal_`` scores."""

    _measure = "accuracy_score"

    conformal_: ConformalSets | None

    @per_task(one_each)
    def predict_set(
        self, X: GraphsLike, confidence: float = 0.9, per_class: bool = True
    ) -> Bool | list[Bool]:
        """Return which classes cannot be ruled out at a confidence, shape (n_graphs, n_classes).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), a set contains the true class with at least this probability. A set may contain
        several classes, if the model is unsure, or none, if the graph is unlike all classes. Under a shift
        (another laboratory) sets contain the true class less often.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1. The closer to 1, the larger the sets.
        per_class
            Whether the guarantee holds within each class, also a rare one, or only on average.
        """
        checked("confidence", confidence, CONFIDENCE)
        probabilities = self.predict_proba(X)  # type: ignore[attr-defined]
        return kept(self.conformal_).of(probabilities, confidence, per_class=per_class)

    def _conformal_to_state(self) -> dict[str, object]:
        if self.conformal_ is None:
            return {}
        return {"conformal_scores": self.conformal_.scores, "conformal_ptr": self.conformal_.ptr}

    def _conformal_from_state(self, state: Mapping[str, object], n_classes: int) -> None:
        """Read the scores back; models saved by twinwl 0.1 have none."""
        scores, ptr = state.get("conformal_scores"), state.get("conformal_ptr")
        self.conformal_ = None
        if scores is None and ptr is None:
            return
        if (
            not _is_rising(scores, 0.0, 1.0 + _TOLERANCE, falls=n_classes)
            or not isinstance(ptr, np.ndarray)
            or ptr.dtype != np.int64
            or ptr.shape != (n_classes + 1,)
            or ptr[0] != 0
            or ptr[-1] != len(scores)
            or (np.diff(ptr) < 0).any()
        ):
            raise TwinWLError("the model's conformal scores do not fit; the file is damaged")
        self.conformal_ = ConformalSets(scores, ptr)


class PredictsIntervals(Scored):
    """Intervals, for regressors with ``conformal_`` errors."""

    _measure = "r2_score"

    conformal_: ConformalIntervals | None

    @per_task(one_each)
    def predict_interval(self, X: GraphsLike, confidence: float = 0.9) -> Float64 | list[Float64]:
        """Return the lower and upper end of an interval for each graph, shape (n_graphs, 2).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), an interval contains the true number with at least this probability. All intervals are
        equally wide, and infinite if too few graphs were held out.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1.
        """
        checked("confidence", confidence, CONFIDENCE)
        predicted = self.predict(X)  # type: ignore[attr-defined]
        return kept(self.conformal_).of(predicted, confidence)

    def _conformal_to_state(self) -> dict[str, object]:
        return {} if self.conformal_ is None else {"conformal_errors": self.conformal_.errors}

    def _conformal_from_state(self, state: Mapping[str, object]) -> None:
        errors = state.get("conformal_errors")
        if errors is not None and not _is_rising(errors, 0.0, np.inf):
            raise TwinWLError("the model's conformal errors do not fit; the file is damaged")
        self.conformal_ = None if errors is None else ConformalIntervals(errors)


def kept(conformal: Kept | None) -> Kept:
    """Return the scores of a model; the error says how to train a model that has them."""
    if conformal is None:
        raise TwinWLError(
            "this model kept no scores of held-out graphs; train it again with validation_fraction, or (a "
            "model of twinwl 0.1) with this version"
        )
    return conformal


def _is_rising(values: object, low: float, high: float, falls: int = 1) -> TypeGuard[Float64]:
    """Return whether these are finite numbers within bounds that decrease fewer than ``falls`` times."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.ndim == 1
        and bool(np.isfinite(values).all())
        and bool(((values >= low) & (values <= high)).all())
        and int((np.diff(values) < 0).sum()) < falls
    )
