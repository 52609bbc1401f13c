"""The own optimisation, with LIBSVM as judge."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC, SVR

from twinwl.models import calibration, svc
from twinwl.models.calibration import predicted_codes
from twinwl.models.svc import Problem, solve
from twinwl.models.targets import TargetTable

N = 120
TOLERANCE = 5e-3  # both stop where errors agree to 1e-3


def kernel_and_values(seed, width=1.0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(N, 3))
    x[N // 2 : N // 2 + 9] = x[:9]  # equal graphs, some of them of different classes
    distances = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    return np.exp(-width * distances), x[:, 0] + random.normal(size=N) / 2


def folds(seed=0, n_folds=3):
    fold_of = np.random.default_rng(seed).permutation(N) % n_folds
    return [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(n_folds)]


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("width", [0.01, 1.0, 100.0])
def test_the_dual_objective_is_that_of_libsvm(C, width):
    similarities, values = kernel_and_values(0, width)
    signs = np.where(values > 0, 1.0, -1.0)
    bounds = C * np.random.default_rng(1).choice([0.5, 1.0, 2.0], N)
    weights = np.zeros(N)
    single = similarities.astype(np.float32)
    problem = Problem(single, np.ones(N), signs, np.minimum(signs * bounds, 0), np.maximum(signs * bounds, 0))
    errors, intercept = solve(problem, weights)
    judge = SVC(kernel="precomputed", C=C).fit(similarities, signs, bounds / C)
    expected = np.zeros(N)
    expected[judge.support_] = judge.dual_coef_[0]

    def objective(found):
        return signs @ found - found @ similarities @ found / 2

    assert objective(weights) == pytest.approx(objective(expected), rel=1e-4)
    assert (np.abs(weights) <= bounds).all()
    assert abs(weights.sum()) < 1e-9 * C * N
    np.testing.assert_allclose(signs - errors, similarities @ weights, atol=1e-4 * max(C, 1))
    np.testing.assert_allclose(signs - errors, similarities @ expected, atol=TOLERANCE * max(C, 1))
    if (np.abs(weights) < bounds * (weights != 0)).sum() > 3:  # else the intercept may lie within an interval
        assert intercept == pytest.approx(judge.intercept_[0], abs=TOLERANCE * max(C, 1))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_held_out_decisions_are_those_of_libsvm(n_classes, class_weight):
    similarities, values = kernel_and_values(n_classes)
    y = np.digitize(values, np.quantile(values, np.linspace(0, 1, n_classes + 1)[1:-1] ** 1.5))
    weights = np.random.default_rng(0).choice([1.0, 3.0], N)
    targets = TargetTable.read(y, N, weights, class_weight, None).column(0)
    machine, Cs = svc.kernel_svm(targets), [0.1, 1.0, 10.0]
    found = machine.held_out(similarities, targets, Cs, folds(), None)
    for C, decisions in zip(Cs, found, strict=True):
        judged = np.empty_like(decisions)
        for learnt, held in folds():
            fitted = clone(machine.solver).set_params(C=C)
            fitted.fit(similarities[np.ix_(learnt, learnt)], y[learnt], weights[learnt])
            judged[held] = fitted.decision_function(similarities[np.ix_(held, learnt)])
        assert (predicted_codes(decisions) == predicted_codes(judged)).mean() > 0.98
        np.testing.assert_allclose(np.quantile(np.abs(decisions - judged), 0.9), 0, atol=TOLERANCE)


def test_held_out_numbers_are_those_of_libsvm():
    similarities, values = kernel_and_values(5)
    weights = np.random.default_rng(0).choice([1.0, 3.0], N)
    targets = TargetTable.read(values, N, weights, numbers=True).column(0)
    solver = svc.kernel_svm(targets, epsilon=0.1)
    found = solver.held_out(similarities, targets, [0.1, 1.0, 10.0], folds(), None)
    for C, numbers in zip([0.1, 1.0, 10.0], found, strict=True):
        for learnt, held in folds():
            judge = SVR(kernel="precomputed", C=C, epsilon=0.1)
            judge.fit(similarities[np.ix_(learnt, learnt)], targets.answers[learnt], weights[learnt])
            expected = judge.predict(similarities[np.ix_(held, learnt)])
            np.testing.assert_allclose(numbers[held], expected, atol=TOLERANCE)


def test_a_task_of_some_rows_is_as_if_there_were_no_others():
    similarities, values = kernel_and_values(6)
    kept = np.flatnonzero(np.arange(N) % 3 > 0)
    alone = TargetTable.read(values[kept] > 0, len(kept)).column(0)
    among_all = replace(alone, rows=kept)
    parts = calibration.inner_folds(alone, 4, 0)
    machine = svc.kernel_svm(alone)
    first = machine.held_out(similarities, among_all, [1.0, 3.0], parts, None)
    again = machine.held_out(similarities[np.ix_(kept, kept)], alone, [1.0, 3.0], parts, None)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("penalties", [[1e3, 1e4, 1e5], [0.01, 0.1, 1.0]])
def test_the_start_from_a_smaller_penalty_changes_no_decision(penalties):
    similarities, values = kernel_and_values(7, 10.0)
    targets = TargetTable.read(values > 0, N, None, None, None).column(0)
    machine = svc.kernel_svm(targets)
    all_at_once = machine.held_out(similarities, targets, penalties, folds(), None)
    one_by_one = [machine.held_out(similarities, targets, [C], folds(), None)[0] for C in penalties]
    np.testing.assert_allclose(all_at_once, one_by_one, atol=TOLERANCE)
