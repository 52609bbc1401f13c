"""Metrics of several tasks, and folds for them."""

from dataclasses import replace

import numpy as np
import pytest

import twinwl as tw
from tests.estimators.test_multitask import table
from twinwl.evaluation.splits import make_folds
from twinwl.models.metrics import Answers, TaskAnswers, measure, of_task
from twinwl.models.targets import task_of

NAN = np.nan


def test_a_task_without_both_classes_is_left_out_of_the_mean():
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    first = Answers(np.array([0, 1, 1]), np.array([0, 1, 0]), shares, np.array([0, 1]))
    second = Answers(np.array([0, 0]), np.array([0, 1]), shares[:2], np.array([0, 1]))
    empty = first.part(np.zeros(3, bool))
    found = TaskAnswers(("a", "b", "c"), (first, second, empty), np.ones((3, 3), bool)).measure(
        ["accuracy", "roc-auc"]
    )
    assert found["roc-auc"] == found["roc-auc@a"] == measure(first, ["roc-auc"])["roc-auc"]
    assert found["accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert of_task("roc-auc", "b") not in found
    assert of_task("accuracy", "c") not in found


def test_folds_spread_the_rarest_classes():
    Y = np.zeros((60, 2))
    Y[:6, 0], Y[6:12, 1], Y[50:, 1] = 1, 1, NAN
    for fold in make_folds(Y, n_folds=3):
        assert (Y[fold.test, 0] == 1).sum() == 2
        assert (Y[fold.test, 1] == 1).sum() == 2


def test_an_evaluation_is_that_of_each_task_alone_and_says_what_is_left_out():
    graphs, Y = table(40, 2)
    Y[:, 1] = NAN
    Y[:8, 1] = [0, 1] * 4
    data = tw.Dataset.from_graphs(graphs, Y, name="tiny")
    split = ["test" if row in {0, 2, 10, 11, 12, 13} else "train" for row in range(40)]
    result = tw.evaluate(tw.STwinSVC(1, 1, inner_folds=2), data, split=split)
    assert result.tasks == ("y0", "y1")
    assert "(undefined in 1 of 1 folds)" in next(line for line in str(result).splitlines() if " y1: " in line)
    (row,) = result.rows
    assert row["scores"]["roc-auc"] == row["scores"]["roc-auc@y0"]
    known = [row for row in range(40) if not np.isnan(Y[row, 0])]
    learnt = [row for row in known if split[row] == "train"]
    alone = tw.STwinSVC(1, 1, inner_folds=2).fit(graphs[np.array(learnt)], Y[learnt, 0])
    tested = np.array([row for row in known if split[row] == "test"])
    assert row["scores"]["accuracy@y0"] == (alone.predict(graphs[tested]) == Y[tested, 0]).mean()


def test_errors_in_folds_name_the_column():
    pytest.importorskip("torch", reason="needs PyTorch")
    graphs, Y = table(40, 2)
    Y[:, 1] = np.arange(40) % 3
    data = replace(tw.Dataset.from_graphs(graphs, Y, name="tiny"), tasks=("first", "second"))
    with pytest.raises(tw.TwinWLError, match="task 'second': got 3 classes"):
        tw.evaluate(tw.STwinClassifier(1, max_epochs=1), data, n_folds=2)


def test_networks_are_evaluated_without_curves_of_accuracy():
    pytest.importorskip("torch", reason="needs PyTorch")
    graphs, Y = table(40, 2)
    grid = {"hidden": [4, 8]}
    model = tw.STwinClassifier(1, max_epochs=2)
    result = tw.evaluate(model, (graphs, Y), n_folds=2, grid=grid)
    assert all(set(row["curves"]) == {"validation_loss"} for row in result.rows)
    assert all(0 <= row["validation_score"] <= 1 for row in result.rows)
    assert len(result.fold_scores) == 2


def test_tasks_of_two_kinds_are_refused():
    Y = np.column_stack([np.arange(30) % 2, np.linspace(0, 1, 30)])
    with pytest.raises(
        tw.TwinWLError, match=r"two kinds, classification .*'a' has 2 values.* and regression"
    ):
        task_of(Y, tasks=("a", "b"))
    assert task_of(Y, "regression", tasks=("a", "b")).name == "regression"


@pytest.mark.parametrize(
    ("Y", "named"),
    [
        (np.zeros((12, 1)), "1 columns"),
        (np.column_stack([np.arange(12), np.full(12, np.inf)]), "task 'y1' of row 0 is infinite"),
        (np.zeros((11, 2)), "11 entries for 12 graphs"),
    ],
)
def test_a_wrong_table_is_refused(Y, named):
    graphs, _ = table(12)
    with pytest.raises(tw.TwinWLError, match=named):
        tw.Dataset.from_graphs(graphs, Y)
