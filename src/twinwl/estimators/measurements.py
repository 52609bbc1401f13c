"""Numbers to predict, checked and standardised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import FLAG, checked, number
from twinwl.estimators.target_columns import column_of, refuse_missing
from twinwl.estimators.targets import Given, given_for

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Float64, Int64, Values

_MEASUREMENT = number(-1e100, 1e100)  # so that squares stay finite
_NO_SPREAD = 1e-12
# What choices among regressors can go by, as scikit-learn calls them.
NUMBER_SCORINGS = ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error")


@dataclass(frozen=True, eq=False)
class Measurements(Given):
    """Numbers to predict.

    Attributes
    ----------
    answers : array of float64
        What a machine learns: the targets of the graphs that count, minus ``mean``, over ``scale``. So no
        parameter depends on the unit of measurement.
    mean, scale : float
        Weighted mean and standard deviation of the targets; the scale is 1 where all are equal.
    """

    answers: Float64
    mean: float
    scale: float

    @classmethod
    def of(
        cls, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Measurements:
        """Check what a user gave; as for `Targets.of`.

        >>> measured = Measurements.of([1.0, 2.0, 3.0], 3, None, None)
        >>> measured.mean, measured.answers.round(2)
        (2.0, array([-1.22,  0.  ,  1.22]))
        """
        column, given = given_for(y, n_graphs, sample_weight, groups, known)
        values = _numbers(column, given.rows)
        mean = float(np.average(values, weights=given.weights))
        scale = float(np.sqrt(np.average((values - mean) ** 2, weights=given.weights)))
        # A deviation that is only the rounding of the mean counts as 0.
        scale = scale if scale > _NO_SPREAD * float(np.abs(values).max()) else 1.0
        return cls(given.rows, given.weights, given.groups, (values - mean) / scale, mean, scale)

    def score(self, decisions: Float64, scoring: str = "r2") -> float:
        """Return how good decisions are by one of `NUMBER_SCORINGS`; errors are in the targets' unit.

        >>> Measurements.of([1, 2, 3], 3, None, None).score(np.zeros(3))
        0.0
        """
        unit = 1.0 if scoring == "r2" else self.scale
        return unit * score_numbers(self.answers, decisions, scoring, self.weights)


def score_numbers(answers: Float64, found: Float64, scoring: str, weights: Float64 | None = None) -> float:
    """Return how good predicted numbers are: one of `NUMBER_SCORINGS`, the greater the better.

    >>> score_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]), "r2")
    -1.0
    """
    missed = answers - found
    if scoring == "neg_mean_absolute_error":
        return -float(np.average(np.abs(missed), weights=weights))
    squared = float(np.average(missed**2, weights=weights))
    if scoring == "neg_root_mean_squared_error":
        return -math.sqrt(squared)
    spread = float(np.average((answers - np.average(answers, weights=weights)) ** 2, weights=weights))
    return 1 - squared / spread if spread > _NO_SPREAD else -squared


def numbers_of(y: object, n_graphs: int) -> Float64:
    """Return one number per graph, checked.

    >>> numbers_of([1, 2.5], 2)
    array([1. , 2.5])
    """
    return _numbers(column_of(y, n_graphs, "targets"), np.arange(n_graphs))


def _numbers(targets: Values, rows: Int64) -> Float64:
    """Return targets as floats, naming the row of the first that is not a number."""
    refuse_missing(targets)
    named = zip(rows.tolist(), targets.tolist(), strict=True)
    return np.array([checked(f"target {row}", value, _MEASUREMENT, FLAG) for row, value in named], np.float64)
