"""STwinClassifier: STwin features and a perceptron, inside scikit-learn."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.class_weight import compute_class_weight

import twinwl as tw
from tests.networks import CERTAIN, LEAST_LOSS_OF_1WL, mean_loss
from twinwl.models.targets import TargetTable

HEXAGON = [(i, (i + 1) % 6) for i in range(6)]
TRIANGLES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]


def cycles_and_paths(n=40, seed=0):
    """Cycles are of class 1, paths of class 0; sizes vary."""
    random = np.random.default_rng(seed)
    graphs, y = [], []
    for i in range(n):
        size = int(random.integers(4, 12))
        path = [(j, j + 1) for j in range(size - 1)]
        graphs.append([*path, (size - 1, 0)] if i % 2 else path)
        y.append(i % 2)
    return tw.GraphBatch.from_edges(graphs), np.array(y)


def small(**parameters):
    return tw.STwinClassifier(**{"n_iter": 2, "max_epochs": 15, "random_state": 0, **parameters})


def test_learns_to_tell_cycles_from_paths():
    graphs, y = cycles_and_paths(60)
    new, truth = cycles_and_paths(30, seed=1)
    model = small(max_epochs=40, **CERTAIN).fit(graphs, y)
    assert mean_loss(model, new, truth) < 0.2 < np.log(2)


@pytest.mark.parametrize("features", ["size", "joint"])
def test_tells_apart_what_1_wl_cannot(features):
    graphs = tw.GraphBatch.from_edges([HEXAGON, TRIANGLES] * 15)
    y = ["one", "two"] * 15
    model = small(features=features, max_epochs=40, **CERTAIN).fit(graphs, y)
    assert mean_loss(model, graphs, y) < 0.1 < LEAST_LOSS_OF_1WL
    counted = small(features="count").fit(graphs, y).predict_proba(graphs[:2])
    np.testing.assert_allclose(counted[0], counted[1], rtol=1e-6)


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1, 1], ["no", "yes"], [False, True], [1.0, 2.0], np.array(["a", "b"], dtype=object)],
    ids=str,
)
def test_classes_of_any_kind_come_back_as_they_went_in(labels):
    graphs, y = cycles_and_paths()
    given = [labels[code] for code in y]
    model = small().fit(graphs, given)
    assert model.classes_.tolist() == list(labels)
    assert set(model.predict(graphs).tolist()) <= set(labels)
    assert type(model.predict(graphs).tolist()[0]) is type(given[0])


def test_more_than_two_classes():
    stars = [[(0, j) for j in range(1, size)] for size in range(5, 15)]
    cycles = [[(j, (j + 1) % size) for j in range(size)] for size in range(5, 15)]
    paths = [[(j, j + 1) for j in range(size)] for size in range(5, 15)]
    graphs = tw.GraphBatch.from_edges(stars + cycles + paths)
    y = ["star"] * 10 + ["cycle"] * 10 + ["path"] * 10
    model = small(max_epochs=40, **CERTAIN).fit(graphs, y)
    probabilities = model.predict_proba(graphs)
    assert probabilities.shape == (30, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.predict(graphs).tolist() == model.classes_[probabilities.argmax(axis=1)].tolist()
    assert mean_loss(model, graphs, y) < 0.2 < np.log(3)


def test_same_random_state_gives_the_same_bytes():
    graphs, y = cycles_and_paths()
    first, second = (small(dropout=0.2).fit(graphs, y).predict_proba(graphs) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert (
        first.tobytes() != small(dropout=0.2, random_state=1).fit(graphs, y).predict_proba(graphs).tobytes()
    )


def test_alphabet_is_learnt_without_the_held_out_graphs():
    graphs, y = cycles_and_paths()
    model = small().fit(graphs, y)
    everything = tw.STwinVectorizer(n_iter=2).fit(graphs)
    kept = small(validation_fraction=None).fit(graphs, y)
    assert kept.vectorizer_.n_features_out_ == everything.n_features_out_
    assert model.vectorizer_.n_features_out_ <= everything.n_features_out_
    odd = tw.GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 2, [["a"] * 3] * 2 + [["b"] * 3] * 2
    )
    held_out_only = small(validation_fraction=0.5).fit(odd[[0, 1, 0, 1]], [0, 1, 0, 1])
    assert held_out_only.vectorizer_.space_.alphabet.labels == ("a",)


def test_history_has_an_entry_for_every_epoch():
    graphs, y = cycles_and_paths()
    history = small().fit(graphs, y, monitor_data=cycles_and_paths(10, seed=3)).history_
    lengths = {
        len(curve)
        for curve in (
            history.train_loss,
            history.validation_loss,
            history.validation_accuracy,
            history.monitor_accuracy,
        )
    }
    assert lengths == {history.n_epochs}
    assert 0 <= history.best_epoch < history.n_epochs


def test_monitor_curve_at_the_best_epoch_is_the_final_accuracy():
    graphs, y = cycles_and_paths()
    watched = cycles_and_paths(30, seed=3)
    model = small(max_epochs=6).fit(graphs, y, monitor_data=watched)
    assert model.history_.monitor_accuracy[model.history_.best_epoch] == model.score(*watched)


def test_validation_data_takes_the_place_of_the_hold_out():
    graphs, y = cycles_and_paths()
    validation = cycles_and_paths(20, seed=5)
    model = small().fit(graphs, y, validation_data=validation)
    assert model.history_.best_validation_accuracy == model.score(*validation)
    assert model.vectorizer_.n_features_out_ == tw.STwinVectorizer(n_iter=2).fit(graphs).n_features_out_


def test_groups_stay_on_one_side_of_the_hold_out():
    graphs = tw.GraphBatch.from_edges(
        [[(j, j + 1) for j in range(3)], [(j, (j + 1) % 4) for j in range(4)]] * 10,
        [[f"g{i // 2}"] * 4 for i in range(20)],
    )
    groups = np.repeat(np.arange(10), 2)
    with pytest.warns(tw.TwinWLWarning, match="labels that no training graph has"):
        model = small(validation_fraction=0.3).fit(graphs, [0, 1] * 10, groups=groups)
    # Each group has a label of its own: a group that is split would leave more labels in the alphabet.
    assert len(model.vectorizer_.space_.alphabet.labels) == 7


def test_balanced_class_weight_is_scikit_learns():
    codes = np.array([0] * 7 + [1] * 3)
    ours = TargetTable.read(codes, 10, None, "balanced", None).column(0).weight_of_class
    np.testing.assert_allclose(ours, compute_class_weight("balanced", classes=np.array([0, 1]), y=codes))


@pytest.mark.parametrize("weighting", ["class", "sample"])
def test_weights_push_towards_the_heavier_class(weighting):
    graphs = tw.GraphBatch.from_edges([HEXAGON] * 40)  # nothing to tell the classes apart by
    y = np.arange(40) % 2
    chances = []
    for heavy in (0, 1):
        if weighting == "class":
            model = small(class_weight={heavy: 9.0}, max_epochs=40, **CERTAIN).fit(graphs, y)
        else:
            model = small(max_epochs=40, **CERTAIN).fit(
                graphs, y, sample_weight=np.where(y == heavy, 9.0, 1.0)
            )
        chances.append(model.predict_proba(graphs[0])[0, 1])
    assert chances == pytest.approx([0.1, 0.9], abs=0.15)


def test_works_in_cross_validation_search_and_clone():
    graphs, y = cycles_and_paths()
    assert len(cross_val_score(small(max_epochs=3), graphs, y, cv=2)) == 2
    search = GridSearchCV(small(max_epochs=3), {"n_iter": [0, 2]}, cv=2).fit(graphs, y)
    assert search.best_params_["n_iter"] in {0, 2}
    model = small(hidden=7, class_weight="balanced")
    assert clone(model).get_params() == model.get_params()


def test_fitted_model_can_be_pickled():
    graphs, y = cycles_and_paths()
    model = small(max_epochs=2).fit(graphs, y)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.predict_proba(graphs), model.predict_proba(graphs))


@pytest.mark.parametrize("scaling", ["twin", "none"])
@pytest.mark.parametrize("features", ["count", "size", "joint"])
def test_every_scaling_of_every_feature_trains(scaling, features):
    graphs, y = cycles_and_paths()
    model = small(scaling=scaling, features=features, min_df=2).fit(graphs, y)
    assert np.isfinite(model.predict_proba(graphs)).all()


def test_unseen_labels_warn_once_and_still_get_an_answer():
    graphs, y = cycles_and_paths()
    strange = tw.GraphBatch.from_edges([HEXAGON], node_labels=[["?"] * 6])
    model = small().fit(graphs, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model.predict(strange).shape == (1,)
    assert [warning.category for warning in caught] == [tw.TwinWLWarning]
    assert model.unseen_rate(strange) == 1.0


# ---------------------------------------------------------------------- explanation


@pytest.mark.parametrize("features", ["count", "size", "joint"])
@pytest.mark.parametrize("min_df", [1, 5])
def test_shares_of_nodes_sum_to_the_decision(features, min_df):
    graphs, y = cycles_and_paths()
    model = small(features=features, n_iter=3, min_df=min_df).fit(graphs, y)
    for graph in (graphs[0], graphs[1]):
        decision = float(model.decision_function(graph)[0])
        explanation = model.explain(graph)
        assert explanation.prediction == model.predict(graph)[0]
        assert explanation.decision == pytest.approx(abs(decision), abs=1e-4)
        assert explanation.node_shares.sum() + explanation.intercept == pytest.approx(
            explanation.decision, abs=1e-4
        )


def test_explanation_points_at_the_nodes_that_matter():
    """Where the network hears of a carbon nothing at all, only the last node has a share."""
    graphs = tw.GraphBatch.from_edges(
        [[(j, j + 1) for j in range(5)]] * 40, [["C"] * 5 + ["N" if i % 2 else "O"] for i in range(40)]
    )
    model = small(n_iter=0, scaling="none", max_epochs=1).fit(graphs, np.arange(40) % 2)
    weight = model.module_.first.weight.detach()
    weight[model.vectorizer_.space_.alphabet.labels.index("C")] = 0
    explanation = model.explain(graphs[1])
    assert explanation.node_shares[:5].tolist() == [0] * 5
    assert explanation.node_shares[5] != 0


def test_several_graphs_are_not_explained_at_once():
    graphs, y = cycles_and_paths()
    with pytest.raises(tw.TwinWLError, match="40 graphs; pick one"):
        small(max_epochs=1).fit(graphs, y).explain(graphs)


# ---------------------------------------------------------------------- bad input


def test_predict_before_fit():
    graphs, _ = cycles_and_paths(4)
    for use in ("predict", "predict_proba", "decision_function", "explain"):
        with pytest.raises(tw.TwinWLError, match="not fitted"):
            getattr(tw.STwinClassifier(), use)(graphs)
    with pytest.raises(NotFittedError):
        tw.STwinClassifier().predict(graphs)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 6, "one class"),
        ([0, 1, 0, 1, 0], "6 graphs but 5 targets"),
        ([0, 1, float("nan"), 0, 1, 0], "target 2 is nan"),
        ([0, 1, None, 0, 1, 0], "target 2 is None"),
        ([0.5, 1, 0, 1, 0, 1], "measurements"),
        ([0, "a", 0, "a", 0, "a"], "no common order"),
        ([[[0], [1]]] * 6, "one value per graph"),
        (None, "the target y is None"),
        (3, "targets: got 3"),
    ],
)
def test_targets_that_are_no_classes(y, message):
    with pytest.raises(tw.TwinWLError, match=message):
        small().fit(cycles_and_paths(6)[0], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_iter": -1}, "n_iter"),
        ({"features": "sise"}, "did you mean 'size'"),
        ({"scaling": "max"}, "scaling"),
        ({"hidden": 0}, "hidden"),
        ({"dropout": 1.0}, "dropout"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"patience": True}, "patience"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"class_weight": "balance"}, "class_weight"),
        ({"class_weight": {7: 1.0}}, "got a weight for 7"),
        ({"class_weight": {0: -1.0}}, "class_weight"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(tw.TwinWLError, match=message):
        small(**parameters).fit(*cycles_and_paths(12))


@pytest.mark.parametrize(
    ("fit_parameters", "message"),
    [
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_weight": [-1.0] * 12}, "sample_weight"),
        ({"sample_weight": [0.0] * 12}, "weight of zero"),
        ({"sample_weight": ["heavy"] * 12}, "sample_weight"),
        ({"groups": [1, 2]}, "groups"),
        ({"validation_data": 7}, "validation_data"),
        ({"validation_data": (tw.GraphBatch.from_edges([HEXAGON]), [9])}, "is not in y"),
        ({"monitor_data": ([], [])}, "monitor_data"),
    ],
)
def test_companions_that_do_not_fit(fit_parameters, message):
    with pytest.raises(tw.TwinWLError, match=message):
        small().fit(*cycles_and_paths(12), **fit_parameters)


def test_no_graphs():
    with pytest.raises(tw.TwinWLError, match="no graph"):
        small().fit([], [])
    model = small(max_epochs=1).fit(*cycles_and_paths())
    with pytest.raises(tw.TwinWLError, match="no graph"):
        model.predict([])


def test_too_few_graphs_to_hold_any_out():
    graphs = tw.GraphBatch.from_edges([HEXAGON, TRIANGLES])
    with pytest.raises(tw.TwinWLError, match="too few"):
        small().fit(graphs, [0, 1])
    assert small(validation_fraction=None).fit(graphs, [0, 1]).predict(graphs).shape == (2,)


def test_fewer_graphs_than_a_batch():
    graphs, y = cycles_and_paths(4)
    assert small(batch_size=500).fit(graphs, y).predict(graphs).shape == (4,)


def test_graphs_without_nodes_are_graphs():
    graphs = tw.GraphBatch.from_edges([[], HEXAGON] * 10, num_nodes=[0, 6] * 10)
    y = ["empty", "ring"] * 10
    model = small(max_epochs=40, **CERTAIN).fit(graphs, y)
    assert mean_loss(model, graphs, y) < 0.1 < np.log(2)
