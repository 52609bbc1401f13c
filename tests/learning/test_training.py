"""The trainer: what it keeps, when it stops, and that the same call gives the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn import metrics

import twinwl as tw
from twinwl.errors import TwinWLError
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS, score_decisions
from twinwl.neural.training import LabelledSet, _score, predict_logits, seeded, train


class Points:
    def __init__(self, values):
        self.values = torch.as_tensor(np.asarray(values), dtype=torch.float32)

    def __len__(self):
        return len(self.values)

    def take(self, rows):
        return self.values[torch.as_tensor(rows)]


def blobs(seed, n=60):
    random = np.random.default_rng(seed)
    targets = np.arange(n) % 2
    return Points(random.normal(size=(n, 2)) + 1.5 * targets[:, None]), targets


def network(seed=0, n_out=2):
    with seeded(seed):
        return torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, n_out)
        )


def misleading(seed):
    """Points with the wrong answers: whatever is learnt makes it worse on them, so the first epochs win."""
    points, targets = blobs(seed)
    return points, 1 - targets


def accuracy(module, examples, targets):
    return (predict_logits(module, examples).argmax(axis=1) == targets).mean()


def test_learns_and_writes_a_curve_for_every_epoch():
    module = network()
    history = train(
        module,
        *blobs(0),
        validation=LabelledSet(*blobs(1)),
        monitor=LabelledSet(*blobs(2)),
        max_epochs=60,
        patience=60,
        learning_rate=0.01,
    )
    assert history.train_loss[-1] < 0.8 * history.train_loss[0]
    curves = (
        history.train_loss,
        history.validation_loss,
        history.validation_accuracy,
        history.monitor_accuracy,
    )
    assert [len(curve) for curve in curves] == [60] * 4


@pytest.mark.parametrize("held", [blobs(1), misleading(1)], ids=["telling", "misleading"])
def test_best_epoch_is_the_most_accurate_and_of_those_the_least_loss(held):
    module = network()
    history = train(
        module, *blobs(0), validation=LabelledSet(*held), max_epochs=40, patience=40, learning_rate=0.02
    )
    ranks = list(zip(history.validation_accuracy, [-loss for loss in history.validation_loss], strict=True))
    assert ranks[history.best_epoch] == max(ranks)
    assert accuracy(module, *held) == history.best_validation_accuracy


def test_weights_of_the_best_epoch_are_kept_not_those_of_the_last():
    module, held = network(), misleading(1)
    history = train(
        module, *blobs(0), validation=LabelledSet(*held), max_epochs=40, patience=40, learning_rate=0.02
    )
    assert history.validation_accuracy[-1] < accuracy(module, *held)


def test_stops_when_patience_is_spent():
    history = train(
        network(),
        *blobs(0),
        validation=LabelledSet(*misleading(1)),
        max_epochs=500,
        patience=3,
        learning_rate=0.05,
    )
    assert history.n_epochs == history.best_epoch + 4


def test_without_validation_all_epochs_run_and_the_last_is_kept():
    history = train(network(), *blobs(0), max_epochs=7)
    assert (history.n_epochs, history.best_epoch) == (7, 6)
    assert np.isnan(history.best_validation_accuracy)


def test_monitor_changes_nothing():
    watched, alone = network(), network()
    train(watched, *blobs(0), validation=LabelledSet(*blobs(1)), monitor=LabelledSet(*blobs(2)), max_epochs=5)
    train(alone, *blobs(0), validation=LabelledSet(*blobs(1)), max_epochs=5)
    assert np.array_equal(predict_logits(watched, blobs(3)[0]), predict_logits(alone, blobs(3)[0]))


def test_same_seed_gives_the_same_bytes_and_leaves_torch_alone():
    torch.manual_seed(123)
    expected = torch.rand(1)
    threads = torch.get_num_threads()
    outcomes = []
    for _ in range(2):
        torch.manual_seed(123)
        module = network()
        train(module, *blobs(0), max_epochs=3, random_state=5)
        outcomes.append(predict_logits(module, blobs(1)[0]))
        assert torch.rand(1) == expected
    assert np.array_equal(*outcomes)
    assert torch.get_num_threads() == threads


def test_other_seed_gives_other_weights():
    outcomes = []
    for seed in (0, 1):
        module = network()
        train(module, *blobs(0), max_epochs=2, random_state=seed)
        outcomes.append(predict_logits(module, blobs(1)[0]))
    assert not np.array_equal(*outcomes)


def test_rows_of_weight_zero_teach_nothing():
    points, targets = blobs(0)
    wrong = targets.copy()
    wrong[:20] = 1 - wrong[:20]
    weights = np.r_[np.zeros(20), np.ones(40)]
    outcomes = []
    for answers in (targets, wrong):
        module = network()
        train(module, points, answers, sample_weight=weights, max_epochs=3)
        outcomes.append(predict_logits(module, points))
    assert np.array_equal(*outcomes)


def test_classes_that_look_alike_get_probabilities_by_their_weights():
    points, targets = Points(np.zeros((60, 2))), np.arange(60) % 2
    for class_weight, share in (([4.0, 1.0], 0.2), ([1.0, 4.0], 0.8)):
        module = network()
        train(
            module,
            points,
            targets,
            sample_weight=np.array(class_weight)[targets],
            max_epochs=60,
            learning_rate=0.02,
        )
        first, second = predict_logits(module, points)[0]
        assert 1 / (1 + np.exp(first - second)) == pytest.approx(share, abs=0.1)


def test_weights_of_the_held_out_part_decide_the_accuracy():
    points, targets = blobs(1)
    only_first = np.zeros(len(targets))
    only_first[0] = 1.0
    history = train(network(), *blobs(0), validation=LabelledSet(points, targets, only_first), max_epochs=3)
    assert set(history.validation_accuracy) <= {0.0, 1.0}


def test_last_batch_of_one_joins_its_neighbour():
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    train(module, *blobs(0, n=33), max_epochs=1, batch_size=32)  # batch normalisation refuses a batch of one


def test_all_weights_zero_is_refused():
    with pytest.raises(TwinWLError, match="weight of zero"):
        train(network(), *blobs(0), sample_weight=np.zeros(60))


def test_loss_that_is_no_number_is_an_error():
    points, targets = blobs(0)
    points.values[3, 0] = float("inf")
    with pytest.raises(TwinWLError, match="learning_rate"):
        train(network(), points, targets, max_epochs=2)


def rare(seed, n=80):
    """Points of which one in ten is of the second class, which is hard to tell from the first."""
    random = np.random.default_rng(seed)
    targets = (np.arange(n) % 10 == 0).astype(np.int64)
    return Points(random.normal(size=(n, 2)) + 0.7 * targets[:, None]), targets


@pytest.mark.parametrize("scoring", SCORINGS)
def test_the_best_epoch_has_the_best_score_and_of_those_the_least_loss(scoring):
    module, (points, targets) = network(), rare(1)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(targets))
    history = train(
        module,
        *rare(0),
        validation=LabelledSet(points, targets, weights, scoring),
        max_epochs=15,
        patience=15,
        learning_rate=0.05,
    )
    ranks = list(zip(history.validation_score, [-loss for loss in history.validation_loss], strict=True))
    assert ranks[history.best_epoch] == max(ranks)
    logits = predict_logits(module, points).astype(np.float64)
    decisions = logits[:, 1] - logits[:, 0]
    found = decisions if scoring in {"roc_auc", "average_precision"} else decisions > 0
    scorer = metrics.get_scorer(scoring)
    expected = scorer._score_func(targets, found, sample_weight=weights, **scorer._kwargs)
    assert history.validation_score[history.best_epoch] == pytest.approx(expected)
    assert f"best {expected:.3f}" in history.current_numbers()


def test_accuracy_by_name_chooses_as_the_default_does():
    named, usual = network(), network()
    train(named, *blobs(0), validation=LabelledSet(*blobs(1), scoring="accuracy"), max_epochs=5)
    train(usual, *blobs(0), validation=LabelledSet(*blobs(1)), max_epochs=5)
    assert np.array_equal(predict_logits(named, blobs(3)[0]), predict_logits(usual, blobs(3)[0]))


@pytest.mark.parametrize("scoring", ["roc_auc", "matthews_corrcoef", *NUMBER_SCORINGS])
def test_the_score_of_several_tasks_is_the_mean_of_those_for_which_it_is_defined(scoring):
    random = np.random.default_rng(0)
    outputs, weights = random.normal(size=(20, 3)), random.uniform(0.5, 2, (20, 3))
    if scoring in NUMBER_SCORINGS:
        answers = random.normal(size=(20, 3))
        answers[:5, 0], answers[:, 2], known = np.nan, np.nan, slice(5, None)
    else:
        answers = random.integers(0, 2, (20, 3))
        answers[:5, 0], answers[:, 2], known = -1, 1, slice(5, None)
    rows = {0: known}
    expected = [
        score_decisions(*(each[rows.get(task, slice(None)), task] for each in (answers, outputs)), scoring,
                weights[rows.get(task, slice(None)), task])
        for task in (0, 1)
    ]  # fmt: skip
    assert _score(outputs, LabelledSet(None, answers, weights, scoring)) == pytest.approx(np.mean(expected))


def test_a_scoring_that_is_undefined_on_the_held_out_graphs_is_an_error():
    points, targets = blobs(1)
    held = LabelledSet(points, np.zeros_like(targets), scoring="roc_auc")
    with pytest.raises(TwinWLError, match="roc_auc is undefined on the 60 held-out graphs, which lack"):
        train(network(), *blobs(0), validation=held, max_epochs=2)


def test_what_was_removed_names_what_to_do_instead():
    with pytest.raises(tw.TwinWLError, match="data_parallel was removed; train in one process"):
        tw.data_parallel  # noqa: B018
    with pytest.raises(tw.TwinWLError, match="precision"):
        tw.STwinClassifier(1, precision="mixed").fit([[(0, 1)]] * 4, [0, 1] * 2)
