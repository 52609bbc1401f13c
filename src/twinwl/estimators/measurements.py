"""Numbers to predict, checked and standardised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import FLAG, checked, number
from twinwl.estimators.targets import Given, column_of, given_for, refuse_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64

__all__ = ["Measurements", "numbers_of"]

_MEASUREMENT = number(-1e100, 1e100)  # so that squares stay finite
_NO_SPREAD = 1e-12


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
        cls,
        y: object,
        n_graphs: int,
        sample_weight: object,
        groups: object,
        known: NDArray[np.bool_] | None = None,
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

    def score(self, decisions: Float64) -> float:
        """Return R², the share of the variance that the decisions explain; at most 1.

        >>> Measurements.of([1, 2, 3], 3, None, None).score(np.zeros(3))
        0.0
        """
        missed = float(np.average((self.answers - decisions) ** 2, weights=self.weights))
        spread = float(np.average(self.answers**2, weights=self.weights))  # their mean is 0
        return 1 - missed / spread if spread > _NO_SPREAD else -missed


def numbers_of(y: object, n_graphs: int) -> Float64:
    """Return one number per graph, checked.

    >>> numbers_of([1, 2.5], 2)
    array([1. , 2.5])
    """
    return _numbers(column_of(y, n_graphs, "targets"), np.arange(n_graphs))


def _numbers(targets: NDArray[np.generic], rows: Int64) -> Float64:
    """Return targets as floats, naming the row of the first that is not a number."""
    refuse_missing(targets)
    named = zip(rows.tolist(), targets.tolist(), strict=True)
    return np.array([checked(f"target {row}", value, _MEASUREMENT, FLAG) for row, value in named], np.float64)
