"""Numbers to predict: standardised by their weights, and refused where they are none."""

import numpy as np
import pytest

from twinwl.errors import TwinWLError
from twinwl.models.targets import Measurements, numbers_of


def test_weights_are_repetitions():
    y, weights = np.array([1.0, 5.0, 2.0, 9.0]), np.array([2, 0, 1, 3])
    weighed = Measurements.of(y, 4, weights, None)
    repeated = Measurements.of(np.repeat(y, weights), 6, None, None)
    assert (weighed.mean, weighed.scale) == pytest.approx((repeated.mean, repeated.scale))
    decisions = np.array([0.1, 0.2, 0.3])
    assert weighed.score(decisions) == pytest.approx(repeated.score(np.repeat(decisions, [2, 1, 3])))
    assert weighed.rows.tolist() == [0, 2, 3]


def test_equal_targets_have_no_spread_even_where_their_mean_is_rounded():
    equal = Measurements.of([0.1] * 3, 3, None, None)
    assert equal.scale == 1.0
    np.testing.assert_allclose(equal.answers, 0, atol=1e-15)
    assert equal.score(np.zeros(3)) > equal.score(np.ones(3))


def test_truth_values_are_numbers_and_rows_of_weight_0_need_none():
    assert numbers_of([True, 2, 0.5], 3).tolist() == [1.0, 2.0, 0.5]
    assert Measurements.of([1.0, None, 3.0], 3, [1, 0, 1], None).mean == 2.0
    with pytest.raises(TwinWLError, match="target 2: got 'x'"):
        Measurements.of([1.0, None, "x"], 3, [1, 0, 1], None)
