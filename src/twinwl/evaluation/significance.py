"""Significance of the difference between two methods: a paired comparison over the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from twinwl.arrays import Float64
from twinwl.errors import TwinWLError
from twinwl.evaluation.metrics import METRICS

_CONVENTIONAL = 0.05
_SMALLEST_SHOWN = 0.001
_ALL_SIGNS_TRIED = 13


@dataclass(frozen=True)
class PairedComparison:
    """Comparison of two methods over the same folds.

    Attributes
    ----------
    names : (str, str)
    difference : float
        Mean of first minus second.
    t_p_value : float
        Corrected resampled t-test: folds share training graphs, so their scores are not independent, and a
        plain t-test would overstate differences.
    wilcoxon_p_value : float
        Signed-rank test on the same pairs; it does not account for the overlap.
    effect_size : float
        Mean difference in units of its standard deviation over folds.
    n_folds : int
    means : (float, float)
        Mean score of each.
    metric : str
        The metric, which decides which sign is better.
    half_width : float
        Half of the 95 % interval around the difference that belongs to the corrected t-test.
    """

    names: tuple[str, str]
    difference: float
    t_p_value: float
    wilcoxon_p_value: float
    effect_size: float
    n_folds: int
    means: tuple[float, float]
    metric: str = "accuracy"
    half_width: float = 0.0

    @property
    def significant(self) -> bool:
        """Whether the p-value of the corrected t-test is below 5 %."""
        return self.t_p_value < _CONVENTIONAL

    def __str__(self) -> str:
        first, second = self.names
        metric = METRICS[self.metric]
        ahead = f"{metric.gap(*self.means)} {'points' if metric.percent else f'({metric.title})'}"
        t_test, wilcoxon = p_value_text(self.t_p_value), p_value_text(self.wilcoxon_p_value)
        figures = f"corrected t-test {t_test}, Wilcoxon {wilcoxon}, "
        figures += f"effect size {self.effect_size:+.2f}, {self.n_folds} folds"
        if self.difference == 0:
            return f"{first} and {second} score the same on average ({figures})."
        better, worse = (first, second) if metric.sign * self.difference > 0 else (second, first)
        if self.significant:
            return f"{better} beats {worse} by {ahead}, more than chance explains ({figures})."
        return f"{better} is {ahead} ahead of {worse}, which may well be chance ({figures})."


def compare_scores(
    first: Sequence[float] | Float64,
    second: Sequence[float] | Float64,
    names: tuple[str, str] = ("the first", "the second"),
    *,
    test_share: float | None = None,
    metric: str = "accuracy",
) -> PairedComparison:
    """Compare two methods by their scores on the same folds.

    Parameters
    ----------
    first, second
        One score per fold, in the same order.
    names
        Their names.
    test_share
        Size of a test part divided by the size of its training part; 1/9 for ten folds. By default, the
        number of scores is taken as the number of folds.
    metric
        Metric of the scores.

    >>> print(compare_scores([0.9, 0.8, 0.85], [0.9, 0.8, 0.85], ("a", "b")))  # doctest: +ELLIPSIS
    a and b score the same on average (corrected t-test p = 1.000, Wilcoxon p = 1.000, effect ... 3 folds).
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(x)
    if x.shape != y.shape or x.ndim != 1 or n < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"need two equally long lists of at least 2 fold scores, not {x.shape} and {y.shape}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise TwinWLError("a fold score is not a finite number; both methods need a score on every fold")
    difference, means = x - y, (float(x.mean()), float(y.mean()))
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if np.ptp(difference) == 0:  # the same difference everywhere: no spread to test against
        certain = 1.0 if mean == 0 else 0.0
        effect = float(np.copysign(np.inf, mean)) if mean else 0.0
        return PairedComparison(names, mean, certain, _wilcoxon(difference), effect, n, means, metric)
    share = 1 / (n - 1) if test_share is None else test_share
    error = spread * np.sqrt(1 / n + share)
    p_value = float(2 * stats.t.sf(abs(mean / error), df=n - 1))
    half_width = float(error * stats.t.ppf(0.975, df=n - 1))
    return PairedComparison(
        names, mean, p_value, _wilcoxon(difference), mean / spread, n, means, metric, half_width
    )


def p_value_text(p_value: float) -> str:
    """Format a p-value; very small ones as an upper bound.

    >>> p_value_text(0.0304), p_value_text(1e-9)
    ('p = 0.030', 'p < 0.001')
    """
    return f"p < {_SMALLEST_SHOWN}" if p_value < _SMALLEST_SHOWN else f"p = {p_value:.3f}"


def _wilcoxon(difference: np.ndarray) -> float:
    if not difference.any():
        return 1.0
    # All signs of a few folds can be tried, ties and zeros or not; what "auto" does varies between releases.
    few = len(difference) <= _ALL_SIGNS_TRIED
    method = stats.PermutationMethod(n_resamples=2**_ALL_SIGNS_TRIED) if few else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties make it approximate; that is fine for a second opinion
        return float(stats.wilcoxon(difference, method=method).pvalue)
