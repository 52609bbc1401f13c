"""Numbers to predict: standardised by their weights, and refused where they are none."""

import numpy as np
import pytest

from twinwl.errors import TwinWLError
from twinwl.models.metrics import score_column
from twinwl.models.targets import TargetTable


def test_weights_are_repetitions():
    y, weights = np.array([1.0, 5.0, 2.0, 9.0]), np.array([2, 0, 1, 3])
    weighed = TargetTable.read(y, 4, weights, numbers=True).column(0)
    repeated = TargetTable.read(np.repeat(y, weights), 6, None, numbers=True).column(0)
    assert (weighed.head.mean, weighed.head.scale) == pytest.approx((repeated.head.mean, repeated.head.scale))
    decisions = np.array([0.1, 0.2, 0.3])
    assert score_column(weighed, decisions, "r2") == pytest.approx(
        score_column(repeated, np.repeat(decisions, [2, 1, 3]), "r2")
    )
    assert weighed.rows.tolist() == [0, 2, 3]


def test_equal_targets_have_no_spread_even_where_their_mean_is_rounded():
    equal = TargetTable.read([0.1] * 3, 3, None, numbers=True).column(0)
    assert equal.head.scale == 1.0
    np.testing.assert_allclose(equal.answers, 0, atol=1e-15)
    assert score_column(equal, np.zeros(3), "r2") > score_column(equal, np.ones(3), "r2")


def test_truth_values_are_numbers_and_rows_of_weight_0_need_none():
    assert TargetTable.read([True, 3, 0.5], 3, numbers=True).column(0).head.mean == 1.5
    assert TargetTable.read([1.0, None, 3.0], 3, [1, 0, 1], numbers=True).column(0).head.mean == 2.0
    with pytest.raises(TwinWLError, match="target 2: got 'x'"):
        TargetTable.read([1.0, None, "x"], 3, [1, 0, 1], numbers=True).column(0)
