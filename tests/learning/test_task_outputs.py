"""Networks that learn several tasks at once: the masked loss, and what their frame promises."""

import numpy as np
import pytest

from tests.networks import CERTAIN

torch = pytest.importorskip("torch", reason="needs PyTorch")

import twinwl as tw  # noqa: E402
from tests.estimators.test_multitask import table  # noqa: E402
from twinwl.models.targets import TargetTable  # noqa: E402
from twinwl.neural.training import LabelledSet, _evaluate, _loss, train  # noqa: E402

NAN = np.nan
CLASSIFIERS = [
    (tw.STwinClassifier, {"n_iter": 2, "hidden": 16}),
    (tw.NTwinClassifier, {"layers": 1, "hidden": 8}),
]
REGRESSORS = [
    (tw.STwinRegressor, {"n_iter": 2, "hidden": 16}),
    (tw.NTwinRegressor, {"layers": 1, "hidden": 8}),
]
ALL = pytest.mark.parametrize(("kind", "small"), CLASSIFIERS + REGRESSORS)
BOTH = pytest.mark.parametrize(("kind", "small"), CLASSIFIERS)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
def test_the_gradient_is_that_of_the_known_entries_alone(numbers, weighed):
    random = np.random.default_rng(0)
    x = torch.tensor(random.normal(size=(9, 4)))
    known = random.random((9, 3)) < 0.6
    known[2] = False
    answers = (
        np.where(known, random.normal(size=(9, 3)), NAN)
        if numbers
        else np.where(known, random.integers(0, 2, (9, 3)), -1)
    )
    weights = torch.tensor(random.uniform(0.5, 2, (9, 3))) if weighed else None
    network = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).double()
    masked = torch.autograd.grad(
        _loss(network(x), torch.tensor(answers), weights), list(network.parameters())
    )
    total = torch.zeros((), dtype=torch.float64)
    for row, task in np.argwhere(known).tolist():  # literally: one entry at a time
        output, answer = network(x[[row]])[0, task], float(answers[row, task])
        p = torch.sigmoid(output)
        loss = (output - answer) ** 2 if numbers else -(answer * p.log() + (1 - answer) * (1 - p).log())
        total = total + loss * (1 if weights is None else weights[row, task])
    literal = torch.autograd.grad(total / int(known.sum()), list(network.parameters()))
    for ours, theirs in zip(masked, literal, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10, atol=1e-14)


def test_a_batch_without_known_targets_changes_nothing():
    outputs = torch.ones((2, 3), requires_grad=True)
    loss = _loss(outputs, torch.full((2, 3), -1), None)
    loss.backward()
    assert loss.item() == 0
    assert not outputs.grad.any()


class Points:
    def __init__(self, x):
        self.x = torch.as_tensor(x, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def take(self, rows):
        return self.x[torch.as_tensor(rows)]


def test_the_loss_of_held_out_graphs_is_that_of_their_known_targets():
    line = torch.nn.Linear(1, 2)
    x = np.array([[-1.0], [0.5], [2.0]])
    answers, weights = np.array([[0, 1], [-1, 1], [1, -1]]), np.array([[1.0, 2], [9, 1], [3, 9]])
    logits = line(torch.tensor(x, dtype=torch.float32)).detach().numpy().astype(float)
    p = 1 / (1 + np.exp(-logits))
    losses = -np.where(answers == 1, np.log(p), np.log(1 - p))
    known = answers >= 0
    score, accuracy, loss = _evaluate(line, LabelledSet(Points(x), answers, weights))
    assert (score, accuracy) == (None, None)
    assert loss == pytest.approx((losses * weights)[known].sum() / weights[known].sum())
    history = train(
        line,
        Points(x),
        answers,
        sample_weight=weights,
        validation=LabelledSet(Points(x), answers),
        max_epochs=3,
    )
    assert np.isfinite(history.train_loss + history.validation_loss).all()
    assert history.validation_accuracy == []


@ALL
def test_one_network_predicts_all_tasks_and_nothing_leaks(kind, small):
    graphs, Y = table(40, 2)
    Y[3] = NAN
    model = kind(**small, max_epochs=3, verbose=False).fit(graphs, Y)
    assert 3 not in model.held_out_
    assert model.module_.second.out_features == 2
    predicted = model.predict(graphs)
    assert predicted.shape == (40, 2)
    assert np.isfinite(predicted).all()
    assert np.isfinite(model.history_.train_loss + model.history_.validation_loss).all()
    for task in range(2):
        own = model.for_task(task)
        np.testing.assert_allclose(own.predict(graphs), predicted[:, task], rtol=1e-4, atol=1e-5)
        found = model.explain(graphs[[1]], task=task)
        assert found.node_shares.sum() + found.intercept == pytest.approx(found.decision, abs=1e-4)
        np.testing.assert_array_equal(found.node_shares, own.explain(graphs[[1]]).node_shares)


@ALL
def test_files_hold_all_tasks_and_one_task_alone_can_be_kept(kind, small, tmp_path):
    graphs, Y = table(40, 2)
    model = kind(**small, max_epochs=2, verbose=False).fit(graphs, Y)
    tw.save(model, tmp_path / "model.twinwl")
    again = tw.load(tmp_path / "model.twinwl")
    assert again.tasks_ == ("y0", "y1")
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    ask = "predict_interval" if kind in {kind for kind, _ in REGRESSORS} else "predict_set"
    for ours, theirs in zip(getattr(again, ask)(graphs, 0.5), getattr(model, ask)(graphs, 0.5), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    tw.save(model.for_task(1), tmp_path / "one.twinwl")
    one = tw.load(tmp_path / "one.twinwl")
    np.testing.assert_array_equal(one.predict(graphs), model.for_task(1).predict(graphs))


@BOTH
def test_what_can_be_learnt_is_learnt_in_every_task(kind, small):
    paths = [[(node, node + 1) for node in range(size)] for size in range(2, 12)]
    cycles = [[*edges, (len(edges), 0)] for edges in paths]
    graphs = tw.from_edges(paths + cycles)
    Y = np.stack([np.repeat([0, 1], 10), np.repeat([1, 0], 10)], axis=1).astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = NAN
    model = kind(**small, **CERTAIN, max_epochs=60).fit(graphs, Y)
    assert model.score(graphs, Y) > 0.9
    assert model.decision_function(graphs).shape == (20, 2)
    assert [shares.shape for shares in model.predict_proba(graphs)] == [(20, 2), (20, 2)]


def test_weights_of_classes_are_those_of_their_task():
    graphs, Y = table(40, 2)
    balanced = tw.STwinClassifier(1, class_weight="balanced", max_epochs=2, verbose=False).fit(graphs, Y)
    assert np.isfinite(balanced.history_.train_loss).all()


def test_validation_and_monitor_data_may_lack_a_task():
    graphs, Y = table(40, 2)
    held = Y[:10].copy()
    held[:, 1] = NAN
    model = tw.STwinClassifier(1, max_epochs=2, verbose=False)
    model.fit(graphs[10:], Y[10:], validation_data=(graphs[:10], held), monitor_data=(graphs[:10], held))
    assert model.history_.monitor_accuracy == []
    assert model.predict_set(graphs[:3])[
        1
    ].all()  # nothing is known about its errors, so nothing is ruled out
    for wrong, named in (
        (held[:, 0], "2 columns, one per task"),
        (np.full((10, 2), NAN), "all targets are missing"),
    ):
        with pytest.raises(tw.TwinWLError, match=f"validation_data: .*{named}"):
            model.fit(graphs[10:], Y[10:], validation_data=(graphs[:10], wrong))


def test_more_than_two_classes_are_for_machines():
    graphs, Y = table(40, 3)
    with pytest.raises(tw.TwinWLError, match=r"task 'y2': got 3 classes, expected 2.*STwinSVC"):
        tw.STwinClassifier(1, max_epochs=1, verbose=False).fit(graphs, Y)


def test_a_table_holds_codes_and_weights_of_known_targets_only():
    Y = np.array([[0, 1], [1, NAN], [NAN, NAN], [1, 0], [0, 0]])
    found = TargetTable.read(Y, 5, [1.0, 2, 3, 0, 5])
    assert found.rows.tolist() == [0, 1, 4]
    assert found.answers.tolist() == [[0, 1], [1, -1], [0, 0]]
    assert found.importance().tolist() == [[1, 1], [2, 0], [5, 5]]
