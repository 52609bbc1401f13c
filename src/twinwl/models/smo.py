"""The solver of support vector machines: sequential minimal optimisation, compiled.

It maximises ``t·b - b·K·b / 2`` subject to ``sum(b) = 0`` and ``lower <= b <= upper``: in each step one
weight rises and another falls by the same amount. For two classes the targets ``t`` are ±1 and the bounds [0,
C] or [-C, 0]. An SVM that predicts numbers has two weights per graph: one in [0, C] with target ``y - ε`` and
one in [-C, 0] with target ``y + ε``. In all arrays of weights, weight i belongs to graph ``i % n_graphs``.
The pair to change is chosen as in LIBSVM (second order; Fan, Chen and Lin, 2005), to the same tolerance.

A held-out graph gets the bounds 0 and 0. So its weight stays 0, but its error ``t - K·b`` is kept up to date
like all others and contains the decision about it. Decisions about held-out graphs therefore come for free,
and all folds share one kernel matrix without copying parts of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinwl.arrays import Float32, Float64
from twinwl.compilation import kernel

_TOLERANCE = 1e-3  # of LIBSVM
MAX_STEPS = 10_000_000  # of LIBSVM
_LEAST_CURVATURE = 1e-12  # the least curvature to divide by: that of two equal graphs is 0

# Maxima and minima are computed for this many lanes separately (lane l has the entries l, l + 256, …), so
# that the compiler can vectorise the loop. The extreme of all lanes is found at the end.
_LANES = 256


class Problem(NamedTuple):
    """An SVM to train.

    Attributes
    ----------
    kernel : array of float32, shape (n_graphs, n_graphs)
    own : array of float64, shape (n_graphs,)
        The diagonal of the kernel matrix.
    targets, lower, upper : arrays of float64, shape (n_weights,)
        ``n_weights`` is n_graphs, or twice as many for numbers.
    """

    kernel: Float32
    own: Float64
    targets: Float64
    lower: Float64
    upper: Float64


@kernel
def optimise(problem: Problem, weights: Float64, errors: Float64) -> tuple[float, float]:
    """Train an SVM, starting from ``weights`` within the bounds; weights and errors are changed in place.

    Parameters
    ----------
    weights, errors : arrays of float64, shape (n_weights,)
        The errors must be the targets at first. In the end they are ``t - K·b``: targets minus decisions
        without the intercept.

    Returns
    -------
    float, float
        The largest error of a weight that may rise, and the smallest of one that may fall.
    """
    n = len(problem.kernel)
    _subtract_decisions(problem.kernel, weights, errors)
    # Added to the errors, these exclude the weights that may not rise from a maximum, and those that may not
    # fall from a minimum, without a branch.
    bar_rise = np.where(weights < problem.upper, 0.0, -np.inf)
    bar_fall = np.where(weights > problem.lower, 0.0, np.inf)
    lanes = np.empty(_LANES), np.empty(_LANES)
    row = problem.kernel[0]
    # A step of 0 changes nothing; it only finds the first weight to rise.
    rising, highest, lowest = _step(row, row, 0.0, errors, bar_rise, bar_fall, lanes)
    for _ in range(MAX_STEPS):
        if not highest - lowest > _TOLERANCE:
            break
        row = problem.kernel[rising % n]
        falling = _partner(row, problem.own, rising, errors, bar_fall, lanes[0])
        curvature = problem.own[rising % n] + problem.own[falling % n] - 2 * row[falling % n]
        # The best step without bounds.
        step = (errors[rising] - errors[falling]) / max(curvature, _LEAST_CURVATURE)
        rise, fall = problem.upper[rising] - weights[rising], weights[falling] - problem.lower[falling]
        step = min(step, rise, fall)
        # A weight that reaches its bound gets exactly that value.
        weights[rising] = problem.upper[rising] if step == rise else weights[rising] + step
        weights[falling] = problem.lower[falling] if step == fall else weights[falling] - step
        for place in (rising, falling):
            bar_rise[place] = 0.0 if weights[place] < problem.upper[place] else -np.inf
            bar_fall[place] = 0.0 if weights[place] > problem.lower[place] else np.inf
        other = problem.kernel[falling % n]
        rising, highest, lowest = _step(row, other, step, errors, bar_rise, bar_fall, lanes)
    return highest, lowest


@kernel
def _subtract_decisions(similarities: Float32, weights: Float64, errors: Float64) -> None:
    """Subtract ``K·b`` from the errors; most weights are 0, and cost nothing."""
    n = len(similarities)
    for place in range(len(weights)):
        if weights[place] != 0:
            row = similarities[place % n]
            for begin in range(0, len(errors), n):
                part = errors[begin : begin + n]
                for column in range(n):
                    part[column] -= weights[place] * row[column]


@kernel
def _step(
    row: Float32,
    other: Float32,
    step: float,
    errors: Float64,
    bar_rise: Float64,
    bar_fall: Float64,
    lanes: tuple[Float64, Float64],
) -> tuple[int, float, float]:
    """Update all errors after a step, and choose the next weight to rise.

    Parameters
    ----------
    row, other : arrays of float32, shape (n_graphs,)
        Similarities with the graphs whose weights rose and fell, by ``step`` each.

    Returns
    -------
    int, float, float
        The weight that may rise and has the largest error, this error, and the smallest error of a weight
        that may fall.
    """
    most, least = lanes
    most[:] = -np.inf
    least[:] = np.inf
    n = len(row)
    for begin in range(0, len(errors), n):
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            here, there = row[low:high], other[low:high]
            entries = slice(begin + low, begin + high)
            part, rise, fall = errors[entries], bar_rise[entries], bar_fall[entries]
            for lane in range(high - low):
                error = part[lane] - step * (here[lane] - there[lane])
                part[lane] = error
                most[lane] = max(most[lane], error + rise[lane])
                least[lane] = min(least[lane], error + fall[lane])
    # Which weight it was is looked up afterwards, in the best lane only.
    best = most.argmax()
    highest = most[best]
    for begin in range(0, len(errors), n):
        for place in range(begin + best, begin + n, _LANES):
            if errors[place] + bar_rise[place] == highest:
                return place, highest, least.min()
    return 0, highest, least.min()  # no weight may rise


@kernel
def _partner(
    row: Float32, own: Float64, rising: int, errors: Float64, bar_fall: Float64, gains: Float64
) -> int:
    """Return the weight to fall for which the objective gains most if ``rising`` rises as much.

    The gain of the best step without bounds is ``gap² / curvature`` (up to a factor), where ``gap`` is the
    difference of the errors.
    """
    gains[:] = 0.0
    n = len(row)
    highest, own_rising = errors[rising], own[rising % n]
    for begin in range(0, len(errors), n):
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            here, owns = row[low:high], own[low:high]
            entries = slice(begin + low, begin + high)
            part, fall = errors[entries], bar_fall[entries]
            for lane in range(high - low):
                gap = max(highest - (part[lane] + fall[lane]), 0.0)
                curvature = max(own_rising + owns[lane] - 2 * here[lane], _LEAST_CURVATURE)
                gains[lane] = max(gains[lane], gap * gap / curvature)
    best = gains.argmax()
    gain, falling = -1.0, 0
    for begin in range(0, len(errors), n):
        for place in range(begin + best, begin + n, _LANES):
            gap = max(highest - (errors[place] + bar_fall[place]), 0.0)
            curvature = max(own_rising + own[place - begin] - 2 * row[place - begin], _LEAST_CURVATURE)
            if gap * gap / curvature > gain:
                gain, falling = gap * gap / curvature, place
    return falling
