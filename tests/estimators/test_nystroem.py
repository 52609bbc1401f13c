"""Nyström machines: the literal feature map with scikit-learn's ridge, and all that a kernel machine has."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import twinwl as tw
from tests.stwin.test_svc import noisy
from tests.stwin.test_svr import measured
from twinwl import arguments
from twinwl.models.calibration import inner_folds
from twinwl.models.similarity import BASES
from twinwl.models.svc import LandmarkSVM
from twinwl.models.targets import TargetTable


def approximate(kind=tw.STwinSVC, n_iter=(1, 2), C=(0.5, 5), **options):
    return kind(n_iter, C, kernel_approximation="nystroem", **options)


def distinct(n):
    """Graphs of which no two are alike: paths and cycles, so that K(L, L) has an inverse."""
    paths = [[(node, node + 1) for node in range(size)] for size in range(3, 3 + n // 2)]
    cycles = [[*edges, (len(edges), 0)] for edges in paths]
    return tw.GraphBatch.from_edges(paths + cycles), np.repeat([0, 1], n // 2)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("n_components", [7, 100])
def test_it_is_a_ridge_on_the_features_of_the_landmarks(base, n_components):
    graphs, y = noisy(60)
    train, test = graphs[:40], graphs[40:]
    model = approximate(base=base, n_components=n_components).fit(train, y[:40])
    kernel = tw.TwinKernel(model.n_iter_, model.features, base)
    K, landmarks = kernel.fit_transform(train), model.support_vectors_.rows
    values, vectors = np.linalg.eigh(K[np.ix_(landmarks, landmarks)])
    root = vectors @ np.diag([value**-0.5 if value > 1e-9 else 0 for value in values]) @ vectors.T
    ridge = Ridge(1 / model.C_, solver="svd").fit(K[:, landmarks] @ root, 2 * y[:40] - 1)
    expected = ridge.predict(kernel.transform(test)[:, landmarks] @ root)
    np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-7)
    # A support vector machine on landmarks, their weights K(L, L)^(-1/2) w.
    assert model.n_support_ == min(40, n_components) == len(set(landmarks.tolist()))
    span = vectors[:, values > 1e-9]
    np.testing.assert_allclose(
        span.T @ model.support_vectors_.weights[0], span.T @ (root @ ridge.coef_), atol=1e-5
    )


def test_with_all_graphs_as_landmarks_it_is_the_exact_kernel():
    graphs, y = distinct(30)
    model = approximate(n_iter=2, C=3.0).fit(graphs, y)
    K = tw.TwinKernel(2, "joint", "minmax").fit_transform(graphs)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))  # an exact feature map: features @ features.T is K
    np.testing.assert_allclose(features @ features.T, K, atol=1e-12)
    expected = Ridge(1 / 3, solver="svd").fit(features, 2 * y - 1).predict(features)
    np.testing.assert_allclose(model.decision_function(graphs), expected, atol=1e-9)


def test_the_kernel_is_approximated_by_itself_for_large_training_sets(monkeypatch):
    graphs, y = noisy(40)
    monkeypatch.setattr("twinwl.models.svc.LARGEST_EXACT", 40)
    exact = tw.STwinSVC(1, 1.0, n_components=7).fit(graphs, y)
    assert exact.n_support_ != 7
    assert "landmarks" not in str(exact.report_)
    monkeypatch.setattr("twinwl.models.svc.LARGEST_EXACT", 39)
    with pytest.warns(tw.TwinWLWarning, match="40 training graphs: .* approximated with 7 landmarks"):
        large = tw.STwinSVC(1, 1.0, n_components=7).fit(graphs, y)
    assert large.n_support_ == 7
    assert "kernel approximated with 7 landmarks" in str(large.report_)
    assert tw.STwinSVC(1, 1.0, kernel_approximation=None).fit(graphs, y).n_support_ == exact.n_support_


def test_a_penalty_that_is_lost_in_rounding_leaves_a_solution():
    graphs, y = noisy(60)
    model = approximate(C=1e6).fit(graphs, y, sample_weight=np.full(60, 1e12))
    assert np.isfinite(model.decision_function(graphs)).all()
    assert model.score(graphs, y) > 0.9  # nothing but the training error counts


def test_weights_and_classes():
    graphs, y = noisy(60, n_classes=3)
    weights = np.random.default_rng(0).uniform(0.2, 3, 60)
    model = approximate(n_iter=1, C=2.0, n_components=60).fit(graphs, y, sample_weight=weights)
    K = tw.TwinKernel(1, "joint", "minmax").fit_transform(graphs)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    ridge = Ridge(0.5, solver="svd").fit(features, np.eye(3)[y], weights)
    of_classes = ridge.predict(features)
    np.testing.assert_array_equal(model.predict(graphs), of_classes.argmax(axis=1))
    margins = K @ model.support_vectors_.weights.T + model.support_vectors_.intercepts
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.stack([of_classes[:, i] - of_classes[:, j] for i, j in pairs], axis=1)
    np.testing.assert_allclose(margins, expected, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(graphs).sum(axis=1), 1)


def test_the_inner_choice_is_that_of_cross_validation():
    graphs, y = noisy()
    model = approximate(n_iter=(0, 2), C=(0.1, 10), n_components=15, random_state=3).fit(graphs, y)
    targets = TargetTable.read(y, len(y), None, None, None).column(0)
    for (n_iter, C), score in model.inner_scores_.items():
        K = tw.TwinKernel(n_iter, "joint", "minmax").fit_transform(graphs)
        landmarks = model.support_vectors_.rows
        values, vectors = np.linalg.eigh(K[np.ix_(landmarks, landmarks)])
        features = K[:, landmarks] @ (vectors[:, values > 1e-9] / np.sqrt(values[values > 1e-9]))
        decided = np.empty(len(y))
        for learnt, held in inner_folds(targets, 5, 3):
            ridge = Ridge(1 / C, solver="svd").fit(features[learnt], 2 * y[learnt] - 1)
            decided[held] = ridge.predict(features[held])
        assert score == pytest.approx(np.mean((decided > 0) == y))
        if (n_iter, C) == (model.n_iter_, model.C_):
            np.testing.assert_allclose(model.held_out_decisions_, decided, atol=1e-7)
    assert model.inner_score_ == max(model.inner_scores_.values())


def test_a_regressor_is_kernel_ridge_in_the_unit_of_its_targets():
    graphs, y = measured(50, scale=100, shift=7)
    model = approximate(tw.STwinSVR, C=2.0, n_iter=1, n_components=50).fit(graphs, y)
    K = tw.TwinKernel(1, base="minmax").fit_transform(graphs)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    np.testing.assert_allclose(
        model.predict(graphs), Ridge(0.5, solver="svd").fit(features, y).predict(features), rtol=1e-8
    )
    assert model.predict_interval(graphs).shape == (50, 2)


@pytest.mark.parametrize("kind", [tw.STwinSVC, tw.STwinSVR])
@pytest.mark.parametrize("base", BASES)
def test_explain_and_files_work_as_for_the_exact_kernel(kind, base, tmp_path):
    graphs, y = noisy(40)
    model = approximate(kind, base=base, n_components=12).fit(graphs, y)
    explained = model.explain(graphs[3])
    decision = explained.node_shares.sum() + explained.intercept
    assert decision == pytest.approx(explained.decision, abs=1e-6)
    expected = model.predict(graphs[[3]])[0] if kind is tw.STwinSVR else model.decision_function(graphs[[3]])
    assert abs(decision) == pytest.approx(abs(float(np.squeeze(expected))), abs=1e-6)
    tw.save(model, tmp_path / "model.twinwl")
    again = tw.load(tmp_path / "model.twinwl")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))


def test_the_seed_decides_the_landmarks_and_threads_change_nothing():
    graphs, y = noisy(40)
    first, again, other = (
        approximate(n_components=9, random_state=seed, n_jobs=jobs).fit(graphs, y)
        for seed, jobs in ((1, None), (1, 2), (2, None))
    )
    np.testing.assert_array_equal(first.decision_function(graphs), again.decision_function(graphs))
    assert first.support_vectors_.rows.tolist() != other.support_vectors_.rows.tolist()


def test_graphs_that_are_alike_or_empty_do_not_break_the_inverse():
    alike = tw.GraphBatch.from_edges([[(0, 1)]] * 6 + [[(0, 1), (1, 2)]] * 6)
    y = np.repeat([0, 1], 6)
    np.testing.assert_array_equal(approximate().fit(alike, y).predict(alike), y)
    empty = tw.GraphBatch.from_edges([[]] * 12, num_nodes=[0] * 12)
    assert np.isfinite(approximate().fit(empty, y).decision_function(empty)).all()


def test_landmarks_are_distinct_training_graphs():
    landmarks = LandmarkSVM.draw(1000, 10, 0).landmarks
    assert len(np.unique(landmarks)) == 10
    assert landmarks.min() >= 0
    assert landmarks.max() < 1000


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"kernel_approximation": "nystrom"}, "kernel_approximation.*nystroem"),
        ({"kernel_approximation": True}, "kernel_approximation"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": None}, "n_components"),
    ],
)
@pytest.mark.parametrize("kind", [tw.STwinSVC, tw.STwinSVR])
def test_wrong_values_are_named(kind, wrong, named):
    graphs, y = noisy(10)
    with pytest.raises(tw.TwinWLError, match=named):
        kind(**wrong).fit(graphs, y)


def test_memory_is_that_of_the_landmarks(monkeypatch):
    graphs, y = noisy(400)
    monkeypatch.setattr(arguments, "_half_of_memory", lambda: 3 << 20)
    with pytest.raises(tw.TwinWLError, match="kernel_approximation='nystroem', STwinClassifier or fewer"):
        tw.STwinSVC().fit(graphs, y)
    approximate(n_iter=1, C=1.0, n_components=50).fit(graphs, y)
    with pytest.raises(tw.TwinWLError, match=r"400 landmarks, needs about 6\.1 MiB.*smaller n_components"):
        approximate().fit(graphs, y)
