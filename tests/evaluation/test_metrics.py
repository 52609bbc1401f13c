import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as judge
from typer.testing import CliRunner

from twinwl import TwinWLError
from twinwl.models.metrics import METRICS, Answers, answers_of, check_metrics, figures, measure, names_for

CLASSES = names_for("classification")
NUMBERS = names_for("regression")


class Fixed:
    """An estimator that says what it was told to."""

    def __init__(self, probability, classes):
        self.probability, self.classes_ = np.asarray(probability), np.asarray(classes)

    def predict(self, graphs):
        return self.classes_[self.probability[: len(graphs)].argmax(axis=1)]

    def predict_proba(self, graphs):
        return self.probability[: len(graphs)]


def scores_of(estimator, y, names=tuple(CLASSES)):
    y = np.asarray(y)
    return answers_of(estimator, range(len(y)), y, names).measure(names)


def test_two_classes_are_scored_as_scikit_learn_does():
    y = np.array(["no", "no", "yes", "yes", "no"])
    yes = np.array([0.1, 0.6, 0.7, 0.4, 0.2])
    predicted = np.where(yes > 0.5, "yes", "no")
    found = scores_of(Fixed(np.stack([1 - yes, yes], axis=1), ["no", "yes"]), y)
    assert found == pytest.approx(
        {
            "accuracy": 0.6,
            "majority": 0.6,
            "roc-auc": judge.roc_auc_score(y == "yes", yes),
            "average-precision": judge.average_precision_score(y == "yes", yes),
            "balanced-accuracy": (2 / 3 + 1 / 2) / 2,
            "f1-macro": judge.f1_score(y, predicted, average="macro"),
            "mcc": judge.matthews_corrcoef(y, predicted),
            "brier": judge.brier_score_loss(y == "yes", yes),
        }
    )


def test_three_classes_are_ranked_one_against_the_rest():
    y = np.array([0, 1, 2, 0, 1, 2, 2])
    probability = np.random.default_rng(0).dirichlet([1, 1, 1], 7)
    found = scores_of(Fixed(probability, [0, 1, 2]), y)
    of_class = [judge.average_precision_score(y == code, probability[:, code]) for code in range(3)]
    assert found["roc-auc"] == pytest.approx(judge.roc_auc_score(y, probability, multi_class="ovr"))
    assert found["average-precision"] == pytest.approx(np.mean(of_class))
    assert found["brier"] == pytest.approx(np.square(probability - np.eye(3)[y]).sum() / 7 / 2)
    assert found["majority"] == pytest.approx(3 / 7)


def test_numbers_are_scored_as_scikit_learn_and_scipy_do():
    y, predicted = np.array([1.0, 2.5, 3.0, 7.0]), np.array([1.5, 2.0, 3.5, 5.0])
    assert measure(Answers(y, predicted), NUMBERS) == pytest.approx(
        {
            "rmse": judge.mean_squared_error(y, predicted) ** 0.5,
            "mae": judge.mean_absolute_error(y, predicted),
            "r2": judge.r2_score(y, predicted),
            "spearman": stats.spearmanr(y, predicted)[0],
        }
    )


def test_what_one_class_leaves_undefined_is_left_out_and_not_zero():
    found = scores_of(Fixed([[0.9, 0.1], [0.2, 0.8]], [0, 1]), [1, 1])
    assert found == pytest.approx({"accuracy": 0.5, "majority": 1.0, "brier": (0.9**2 + 0.2**2) / 2})
    assert figures(found, ["accuracy", "roc-auc"]) == "accuracy 50.0 %, ROC-AUC undefined"


def test_a_class_that_training_never_saw_is_a_mistake_and_no_crash():
    found = scores_of(Fixed([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], ["a", "b"]), ["a", "b", "c"])
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["roc-auc"] == pytest.approx((1 + 1 + 0.5) / 3)  # all graphs are ranked alike for "c"


@pytest.mark.parametrize(
    ("y", "predicted", "left"),
    [
        ([2.0, 2.0], [1.0, 3.0], {"rmse", "mae"}),  # equal targets have no ranks and nothing to explain
        ([1.0], [1.0], {"rmse", "mae"}),
        ([1.0, 2.0], [5.0, 5.0], {"rmse", "mae", "r2"}),
    ],
)
def test_numbers_without_differences_leave_ranks_undefined(y, predicted, left):
    assert set(measure(Answers(np.array(y), np.array(predicted)), NUMBERS)) == left


def test_the_metrics_of_losses_are_better_when_smaller():
    assert {name for name, metric in METRICS.items() if metric.sign < 0} == {"brier", "rmse", "mae"}


def test_unknown_metrics_and_missing_probabilities_are_refused():
    with pytest.raises(TwinWLError, match="did you mean 'roc-auc'"):
        check_metrics(["rocauc"])
    with pytest.raises(TwinWLError, match="rmse is for regression, and this is classification"):
        check_metrics(["rmse"])
    silent = Fixed([[0.5, 0.5]], [0, 1])
    silent_type = type("Silent", (), {"predict": silent.predict, "classes_": silent.classes_})
    with pytest.raises(TwinWLError, match="no predict_proba"):
        scores_of(silent_type(), [0], ["roc-auc"])


def test_scorers_are_those_of_scikit_learn():
    for metric in METRICS.values():
        if metric.scorer:
            assert judge.get_scorer(metric.scorer)._sign == metric.sign


def test_average_precision_is_that_of_the_positive_class():
    y = np.array(["active", "inactive", "active", "inactive", "inactive"])
    active = np.array([0.9, 0.8, 0.3, 0.2, 0.1])
    probability = np.stack([active, 1 - active], axis=1)
    found, other = (
        measure(Answers(y, y, probability, np.array(["active", "inactive"]), name), ["average-precision"])
        for name in (None, "inactive")
    )
    assert found["average-precision"] == judge.average_precision_score(y == "active", active)
    assert other["average-precision"] == judge.average_precision_score(y == "inactive", 1 - active)


def shown_help(command):
    from twinwl.cli.app import app  # noqa: PLC0415

    return re.split(r"[\s,;.]+", CliRunner().invoke(app, [command, "--help"]).output)


def test_the_help_of_train_names_what_estimators_can_choose_by():
    choosable = {
        name for task in ("classification", "regression") for name in names_for(task, choosable=True)
    }
    assert choosable <= set(shown_help("train"))
    assert choosable.isdisjoint({"majority", "brier", "spearman"})


@pytest.mark.parametrize("name", METRICS)
def test_help_and_page_name_every_metric(name):
    page = (Path(__file__).parents[2] / "docs" / "howto" / "evaluate.md").read_text(encoding="utf-8")
    assert name in shown_help("evaluate")
    assert f"`{name}`" in page.partition("## Metrics")[2]
