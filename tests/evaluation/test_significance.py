import numpy as np
import pytest
from scipy import stats

from twinwl import TwinWLError
from twinwl.evaluation.result import compare_scores


def test_corrected_t_test_by_hand():
    first, second = np.array([0.8, 0.9, 0.85, 0.7]), np.array([0.7, 0.85, 0.8, 0.72])
    difference = first - second
    statistic = difference.mean() / np.sqrt((1 / 4 + 1 / 3) * difference.var(ddof=1))
    result = compare_scores(first, second)
    assert result.t_p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 3))
    assert result.difference == pytest.approx(0.045)
    assert result.effect_size == pytest.approx(difference.mean() / difference.std(ddof=1))


def test_the_correction_is_stricter_than_a_plain_t_test():
    random = np.random.default_rng(0)
    first = random.normal(0.8, 0.02, 10)
    second = first - random.normal(0.01, 0.01, 10)
    assert compare_scores(first, second).t_p_value > stats.ttest_rel(first, second).pvalue


def test_the_sentence_has_the_difference_of_the_scores_as_they_are_shown():
    compared = compare_scores([0.86034, 0.86034], [0.87106, 0.87106])  # 86.03 and 87.11
    assert "by 1.08 points" in str(compared)


def test_the_sentence_names_the_better_one_and_says_whether_it_is_chance():
    sure = compare_scores([0.9, 0.91, 0.92, 0.9], [0.7, 0.71, 0.7, 0.71], ("A", "B"))
    assert str(sure).startswith("A beats B by 20.25 points, more than chance explains")
    unsure = compare_scores([0.9, 0.5, 0.9, 0.5], [0.5, 0.9, 0.6, 0.9], ("A", "B"))
    assert "B is 2.50 points ahead of A, which may well be chance" in str(unsure)


def test_a_tiny_p_value_is_not_called_nothing():
    certain = str(compare_scores([0.75, 1.0], [0.5, 0.75]))
    assert "corrected t-test p < 0.001" in certain
    assert "0.000" not in certain


def test_a_constant_difference_has_no_spread_to_test():
    same = compare_scores([0.5, 0.6], [0.5, 0.6])
    assert (same.t_p_value, same.wilcoxon_p_value, same.effect_size) == (1.0, 1.0, 0.0)
    ahead = compare_scores([0.75, 1.0], [0.5, 0.75])
    assert (ahead.t_p_value, ahead.effect_size) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("first", "second"), [([1], [1]), ([1, 2], [1, 2, 3]), ([1, np.nan], [1, 2]), ([], [])]
)
def test_scores_that_do_not_pair_are_refused(first, second):
    with pytest.raises(TwinWLError):
        compare_scores(first, second)


def test_signed_ranks_are_exact_for_few_folds_with_ties_and_zeros():
    level = [0.5] * 10
    assert compare_scores([0.6, 0.7, *level[2:]], level).wilcoxon_p_value == 0.5  # 2 of 4 ways to give signs
    assert compare_scores([0.6, 0.6, 0.6, *level[3:]], level).wilcoxon_p_value == 0.25
