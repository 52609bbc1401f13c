import numpy as np
import pytest
from sklearn.svm import SVC

import twinwl as tw
from tests.stwin.test_svc import noisy
from twinwl.models.calibration import Calibration, inner_folds, predicted_codes
from twinwl.models.metrics import score_column
from twinwl.models.svc import SupportVectors, TaskSelection, kernel_svm, select_svms
from twinwl.models.targets import TargetTable


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


def _kernels(random, n_rare):
    """Three kernels of 40 graphs, of which the later ones tell the rare class apart better."""
    for n_iter in range(3):
        x = random.normal(size=(40, 3))
        x[:n_rare] += n_iter / 2
        x /= np.linalg.norm(x, axis=1)[:, None]
        yield n_iter, x @ x.T


def _literal_choice(kernels, choice, Cs):
    """The rule as it is documented, on all decisions at once."""
    tried = [
        (n_iter, C, decisions)
        for n_iter, kernel in kernels
        for C, decisions in zip(
            Cs, choice.svm.held_out(kernel, choice.targets, Cs, choice.folds, None), strict=True
        )
    ]
    best = max(score_column(choice.targets, decisions, choice.scoring) for *_, decisions in tried)
    leaders = [one for one in tried if score_column(choice.targets, one[2], choice.scoring) == best]
    chosen = leaders[0]
    for one in leaders[1:]:
        same_class_for_all = len(set(predicted_codes(chosen[2]).tolist())) == 1
        if same_class_for_all and score_column(choice.targets, one[2], "roc_auc") > score_column(
            choice.targets, chosen[2], "roc_auc"
        ):
            chosen = one
    return chosen[:2]


def test_equal_scores_of_machines_that_know_one_class_only_are_decided_by_rank():
    Cs = [0.1, 1.0, 3.0]
    changed, kept = 0, 0
    for seed, n_rare in [(seed, n_rare) for seed in range(8) for n_rare in (4, 15)]:
        targets = TargetTable.read([1] * n_rare + [0] * (40 - n_rare), 40, None, None, None).column(0)
        parts = targets, kernel_svm(targets), inner_folds(targets, 5, 0), "accuracy"
        choice = TaskSelection(*parts, break_ties=True)
        kernels = list(_kernels(np.random.default_rng(seed), n_rare))
        (chosen,) = select_svms(kernels, [choice], Cs)
        (plain,) = select_svms(kernels, [TaskSelection(*parts)], Cs)
        assert (chosen.n_iter, chosen.C) == _literal_choice(kernels, choice, Cs)
        assert chosen.score == plain.score
        if len(np.unique(plain.held_out > 0)) > 1:
            assert (chosen.n_iter, chosen.C) == (plain.n_iter, plain.C)
            kept += 1
        else:
            changed += (chosen.n_iter, chosen.C) != (plain.n_iter, plain.C)
    assert changed > 2
    assert kept > 2


@pytest.mark.parametrize("n_rare", [10, 30])
def test_probabilities_never_fall_as_the_decision_rises(n_rare):
    codes = np.repeat([0, 1], [60 - n_rare, n_rare])
    decisions = np.linspace(-1, 1, 60)
    right = Calibration.fit_to(decisions, codes).probabilities(np.array([-1.0, 1.0]))[:, 1]
    assert right[0] < 0.4
    assert right[1] > 0.6
    wrong = Calibration.fit_to(-decisions, codes).probabilities(np.array([-1.0, 1.0]))[:, 1]
    assert wrong[0] == wrong[1]
    assert abs(wrong[0] - n_rare / 60) < 0.02


def test_progress_counts_every_svm_of_the_inner_folds(monkeypatch):
    counted = []

    class Bar:
        def __init__(self, _title, total, **_options):
            counted.append(total)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def advance(self, steps):
            counted.append(-steps)

    monkeypatch.setattr("twinwl.models.svc.ProgressBar", Bar)
    graphs, y = noisy(40)
    table = np.stack([y, 1.0 - y, y], axis=1)
    tw.STwinSVC(n_iter=(1, 2), C=(1, 3, 9), inner_folds=4).fit(graphs, table)
    assert counted[0] == 2 * 3 * 3 * 4  # rounds, tasks, C and folds
    assert sum(counted) == 0
