import numpy as np
import pytest
from sklearn import metrics as judge

from twinwl import TwinWLError
from twinwl.evaluation.metrics import check_metrics, scores_of


class Fixed:
    """An estimator that says what it was told to."""

    def __init__(self, probability, classes):
        self.probability, self.classes_ = np.asarray(probability), np.asarray(classes)

    def predict(self, graphs):
        return self.classes_[self.probability[: len(graphs)].argmax(axis=1)]

    def predict_proba(self, graphs):
        return self.probability[: len(graphs)]


def test_two_classes_are_scored_as_scikit_learn_does():
    y = np.array(["no", "no", "yes", "yes", "no"])
    yes = np.array([0.1, 0.6, 0.7, 0.4, 0.2])
    estimator = Fixed(np.stack([1 - yes, yes], axis=1), ["no", "yes"])
    scores, right = scores_of(
        estimator, range(5), y, ["accuracy", "balanced-accuracy", "roc-auc", "average-precision"]
    )
    assert right.tolist() == [True, False, True, False, True]
    assert scores["accuracy"] == 0.6
    assert scores["balanced-accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert scores["roc-auc"] == pytest.approx(judge.roc_auc_score(y == "yes", yes))
    assert scores["average-precision"] == pytest.approx(judge.average_precision_score(y == "yes", yes))


def test_three_classes_have_ranking_scores_too():
    random = np.random.default_rng(0)
    y = np.array([0, 1, 2, 0, 1, 2, 2])
    probability = random.dirichlet([1, 1, 1], 7)
    scores, _ = scores_of(Fixed(probability, [0, 1, 2]), range(7), y, ["roc-auc", "average-precision"])
    assert scores["roc-auc"] == pytest.approx(judge.roc_auc_score(y, probability, multi_class="ovr"))
    assert 0 < scores["average-precision"] < 1


def test_a_ranking_score_that_is_not_defined_is_left_out():
    estimator = Fixed([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    scores, _ = scores_of(estimator, range(2), np.array([1, 1]), ["accuracy", "roc-auc"])
    assert scores == {"accuracy": 0.5}


def test_unknown_metrics_and_missing_probabilities_are_refused():
    with pytest.raises(TwinWLError, match="did you mean 'roc-auc'"):
        check_metrics(["rocauc"])
    silent = Fixed([[0.5, 0.5]], [0, 1])
    silent_type = type("Silent", (), {"predict": silent.predict, "classes_": silent.classes_})
    with pytest.raises(TwinWLError, match="no predict_proba"):
        scores_of(silent_type(), range(1), np.array([0]), ["roc-auc"])
