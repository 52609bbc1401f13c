import numpy as np
import pytest
from sklearn.svm import SVC

from twinwl.estimators.svm import SupportVectors
from twinwl.estimators.targets import predicted_codes


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decisions_are_those_of_scikit_learn(n_classes):
    random = np.random.default_rng(n_classes)
    x = random.normal(size=(60, 4))
    y = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, 60 - n_classes)])
    machine = SVC(kernel="precomputed", decision_function_shape="ovr", break_ties=True).fit(x @ x.T, y)
    new = random.normal(size=(40, 4)) @ x.T
    vectors = SupportVectors.of(machine)
    decisions = vectors.decisions(new[:, vectors.rows])
    np.testing.assert_allclose(decisions, machine.decision_function(new), atol=1e-10)
    assert np.array_equal(predicted_codes(decisions), machine.predict(new))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_decision_between_two_classes_changes_sign_with_their_order(n_classes):
    random = np.random.default_rng(0)
    x = random.normal(size=(50, 3))
    y = np.arange(50) % n_classes
    vectors = SupportVectors.of(SVC(kernel="precomputed").fit(x @ x.T, y))
    weights, intercept = vectors.between(0, n_classes - 1)
    opposite, other = vectors.between(n_classes - 1, 0)
    assert np.array_equal(weights, -opposite)
    assert intercept == -other
    pair = SVC(kernel="precomputed").fit(
        (x @ x.T)[np.ix_(np.isin(y, [0, n_classes - 1]), np.isin(y, [0, n_classes - 1]))],
        y[np.isin(y, [0, n_classes - 1])],
    )
    inside = (x @ x.T)[:, vectors.rows] @ opposite + other
    members = np.isin(y, [0, n_classes - 1])
    expected = pair.decision_function((x @ x.T)[:, members])
    np.testing.assert_allclose(inside, expected, atol=1e-2)
