"""Refit, several hold-outs, means of weights, warm start and callbacks of the networks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import twinwl as tw
from twinwl.errors import TwinWLError

torch = pytest.importorskip("torch", reason="needs PyTorch")

PATH, CYCLE = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]
STAR = [(0, 1), (0, 2), (0, 3)]
GRAPHS = tw.GraphBatch.from_edges([PATH, CYCLE, STAR, CYCLE] * 6)
CLASSES = np.array([0, 1] * 12)
NUMBERS = np.array([1.0, 4.0, 2.0, 4.0] * 6)
NETWORKS = [tw.STwinClassifier, tw.NTwinClassifier]
UNSCALED = {tw.STwinClassifier: {}, tw.NTwinClassifier: {"normalize": False}}  # norms follow the graphs


def small(kind, **params):
    size = {"layers": 1} if kind.__name__.startswith("NTwin") else {"n_iter": 1}
    return kind(
        **{"max_epochs": 4, "hidden": 4, "batch_size": 8, "verbose": False, "device": "cpu"} | size | params
    )


def weights(model):
    return {name: value.numpy().copy() for name, value in model.module_.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("kind", NETWORKS)
def test_refit_is_training_on_all_graphs_for_the_chosen_number_of_epochs(kind):
    chosen = small(kind).fit(GRAPHS, CLASSES)
    refitted = small(kind, refit=True).fit(GRAPHS, CLASSES)
    n_epochs = chosen.history_.best_epoch + 1
    assert refitted.history_ == chosen.history_
    assert refitted.n_epochs_ == chosen.n_epochs_ == n_epochs
    whole = small(kind, max_epochs=n_epochs, validation_fraction=None).fit(GRAPHS, CLASSES)
    assert same(weights(refitted), weights(whole))
    assert not same(weights(refitted), weights(chosen))


def test_refit_learns_labels_that_only_held_out_graphs_have():
    labels = [[i, 99, 99, 99] for i in range(24)]  # one each: those of the hold-out are new to the encoders
    graphs = tw.GraphBatch.from_edges([PATH] * 24, node_labels=labels)
    model = small(tw.STwinClassifier, refit=True).fit(graphs, CLASSES)
    assert model.unseen_rate(graphs) == 0
    assert small(tw.STwinClassifier).fit(graphs, CLASSES).unseen_rate(graphs) > 0


def test_refit_learns_from_validation_data_too():
    held, rest = np.arange(4), np.arange(4, 24)
    data = (GRAPHS[held], CLASSES[held])
    model = small(tw.STwinClassifier, refit=True, class_weight={0: 1, 1: 3})
    model.fit(GRAPHS[rest], CLASSES[rest], validation_data=data)
    order = np.concatenate([rest, held])
    whole = small(
        tw.STwinClassifier, max_epochs=model.n_epochs_, validation_fraction=None, class_weight={0: 1, 1: 3}
    )
    assert same(weights(model), weights(whole.fit(GRAPHS[order], CLASSES[order])))


def test_held_out_outputs_are_of_the_network_that_did_not_learn_from_them():
    chosen = small(tw.NTwinClassifier).fit(GRAPHS, CLASSES)
    refitted = small(tw.NTwinClassifier, refit=True).fit(GRAPHS, CLASSES)
    np.testing.assert_array_equal(refitted.held_out_outputs_, chosen.held_out_outputs_)
    logits = chosen.held_out_outputs_
    decisions = chosen.decision_function(GRAPHS[chosen.held_out_])
    np.testing.assert_allclose(logits[:, 1] - logits[:, 0], decisions, rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "data", "message"),
    [
        ({"average_epochs": 0}, None, "average_epochs: got 0"),
        ({"callbacks": "print"}, None, "callbacks: got 'print'"),
        ({"callbacks": [print, 1]}, None, "callbacks: got"),
    ],
)
def test_what_cannot_be_is_refused(params, data, message):
    with pytest.raises(TwinWLError, match=message):
        small(tw.STwinClassifier, **params).fit(GRAPHS, CLASSES, validation_data=data)


@pytest.mark.parametrize("kind", NETWORKS)
def test_weights_are_the_mean_of_the_last_epochs(kind):
    params = {"average_epochs": 1, "validation_fraction": None, **UNSCALED[kind]}
    fits = [small(kind, max_epochs=n, **params) for n in (2, 3, 4)]
    each = [weights(model.fit(GRAPHS, CLASSES)) for model in fits]
    mean = weights(fits[-1].set_params(average_epochs=3).fit(GRAPHS, CLASSES))
    for name, value in mean.items():
        np.testing.assert_allclose(value, np.mean([one[name] for one in each], axis=0), atol=1e-6)


@pytest.mark.parametrize("kind", NETWORKS)
def test_warm_start_goes_on_from_the_weights_before(kind, tmp_path):
    hardly = {"max_epochs": 1, "learning_rate": 1e-9, **UNSCALED[kind]}
    model = small(kind, warm_start=True, **hardly).fit(GRAPHS, CLASSES)
    before = model.decision_function(GRAPHS)
    tw.save(model, tmp_path / "model.twinwl")
    for again in (model, tw.load(tmp_path / "model.twinwl")):
        again.fit(GRAPHS[:12], CLASSES[:12])
        np.testing.assert_allclose(again.decision_function(GRAPHS), before, atol=1e-3)
    fresh = small(kind, random_state=1, **hardly).fit(GRAPHS, CLASSES)
    assert np.abs(fresh.decision_function(GRAPHS) - before).max() > 1e-2


def test_warm_start_of_a_regressor_keeps_its_predictions_on_another_scale():
    model = small(tw.STwinRegressor, warm_start=True, max_epochs=1, learning_rate=1e-9)
    before = model.fit(GRAPHS, NUMBERS).predict(GRAPHS)
    after = model.fit(GRAPHS, 100 * NUMBERS + 7).predict(GRAPHS)
    np.testing.assert_allclose(after, before, rtol=1e-4)


def test_warm_start_refuses_other_classes_and_shapes_and_stays_what_it_was():
    model = small(tw.STwinClassifier, warm_start=True).fit(GRAPHS, CLASSES)
    before = model.predict_proba(GRAPHS)
    with pytest.raises(TwinWLError, match="warm_start: y has other classes"):
        model.fit(GRAPHS, ["a", "b", "c", "d"] * 6)
    np.testing.assert_array_equal(model.predict_proba(GRAPHS), before)
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(TwinWLError, match="warm_start: hidden was 4 and is 8"):
        model.set_params(hidden=8).fit(GRAPHS, CLASSES)
    model.set_params(hidden=4, learning_rate=0.1).fit(GRAPHS, CLASSES)


def test_callbacks_see_each_epoch_and_can_stop():
    seen = []

    def look(history):
        seen.append(history.n_epochs)
        history.train_loss.clear()  # a copy
        return history.best_epoch == 1

    model = small(tw.STwinClassifier, callbacks=[look], validation_fraction=None, max_epochs=9)
    model.fit(GRAPHS, CLASSES)
    assert seen == [1, 2]
    assert model.history_.n_epochs == 2
    assert clone(model).callbacks == [look]


def test_an_exception_of_a_callback_ends_training():
    def fails(_history):
        raise KeyError("loss")

    with pytest.raises(KeyError):
        small(tw.STwinClassifier, callbacks=[print, fails]).fit(GRAPHS, CLASSES)


def test_parameters_are_saved_but_for_callbacks(tmp_path):
    model = small(tw.STwinClassifier, refit=True, average_epochs=2, callbacks=[print])
    model.fit(GRAPHS, CLASSES)
    with pytest.warns(UserWarning, match="callbacks is code"):
        tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert (loaded.refit, loaded.average_epochs, loaded.callbacks) == (True, 2, None)
    np.testing.assert_array_equal(loaded.predict_proba(GRAPHS), model.predict_proba(GRAPHS))
