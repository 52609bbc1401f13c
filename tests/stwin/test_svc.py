import os
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight

from tests.stwin.test_vectorizer import molecules
from twinwl import GraphBatch, STwinSVC, STwinSVR, TwinKernel, TwinWLError, TwinWLWarning, arguments
from twinwl.datasets.graph_files import read_tu
from twinwl.models import calibration, similarity
from twinwl.models.metrics import SCORINGS
from twinwl.models.similarity import BASES, Similarity
from twinwl.models.targets import TargetTable

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def noisy(n=60, seed=0, n_classes=2):
    """Random graphs whose class is their density, roughly."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    edges = []
    for code in y:
        nodes = int(random.integers(5, 9))
        edges.append(np.argwhere(np.triu(random.random((nodes, nodes)) < 0.25 + 0.2 * code, 1)))
    return GraphBatch.from_edges(edges, num_nodes=[9] * n), y


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_kernel_and_the_machine_that_it_chose(base, n_classes):
    batch, y = noisy(60, n_classes=n_classes)
    train, test = batch[:40], batch[40:]
    model = STwinSVC(n_iter=(1, 2), C=(0.5, 5), base=base).fit(train, y[:40])
    kernel = TwinKernel(model.n_iter_, model.features, base)
    machine = SVC(C=model.C_, kernel="precomputed").fit(kernel.fit_transform(train), y[:40])
    expected = machine.decision_function(kernel.transform(test))
    np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-9)
    assert model.n_support_ == machine.n_support_.sum()


def test_the_inner_choice_is_that_of_cross_validation():
    batch, y = noisy()
    model = STwinSVC(n_iter=(0, 1, 3), C=(0.1, 1, 1000), random_state=3).fit(batch, y)
    folds = calibration.inner_folds(TargetTable.read(y, len(y), None, None, None).column(0), 5, 3)
    for (n_iter, C), score in model.inner_scores_.items():
        similarities = TwinKernel(n_iter, model.features, "minmax").fit_transform(batch)
        right = 0
        for learnt, held in folds:
            machine = SVC(C=C, kernel="precomputed")
            machine.fit(similarities[np.ix_(learnt, learnt)], y[learnt])
            right += (machine.predict(similarities[np.ix_(held, learnt)]) == y[held]).sum()
        assert score == right / len(y)
    assert model.inner_score_ == max(model.inner_scores_.values())
    assert len(model.inner_scores_) == 9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", SCORINGS)
def test_the_inner_choice_goes_by_its_scoring(scoring, n_classes):
    batch, y = noisy(90, n_classes=n_classes)
    kept = np.r_[np.flatnonzero(y > 0)[:15], np.flatnonzero(y == 0)]  # the first class is the common one
    model = STwinSVC(n_iter=(1, 2), C=(0.1, 1), scoring=scoring).fit(batch[kept], y[kept])
    decisions, y = model.held_out_decisions_, y[kept]
    if scoring in {"roc_auc", "average_precision"}:
        columns = decisions[:, None] if n_classes == 2 else decisions
        codes = [1] if n_classes == 2 else range(3)
        function = getattr(metrics, f"{scoring}_score")
        of_class = [function(y == code, column) for code, column in zip(codes, columns.T, strict=True)]
        expected = np.mean(of_class)
    else:
        predicted = (decisions > 0).astype(int) if n_classes == 2 else decisions.argmax(axis=1)
        expected = metrics.get_scorer(scoring)._score_func(
            y, predicted, **metrics.get_scorer(scoring)._kwargs
        )
    assert model.inner_score_ == pytest.approx(expected)
    assert model.inner_score_ == max(model.inner_scores_.values())


def test_groups_stay_on_one_side_of_every_inner_fold():
    y = np.arange(40) % 2
    groups = np.arange(40) // 4
    folds = calibration.inner_folds(TargetTable.read(y, len(y), None, None, groups).column(0), 5, 0)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(40))
    assert all(not set(groups[learnt]) & set(groups[held]) for learnt, held in folds)


def test_groups_change_what_is_chosen():
    """Pairs of equal graphs: only with groups does the inner choice see that nothing is learnt."""
    batch, _ = noisy(20)
    twice, y = batch[np.repeat(np.arange(20), 2)], np.repeat(np.random.default_rng(1).integers(0, 2, 20), 2)
    alone = STwinSVC(C=1000).fit(twice, y).inner_score_
    together = STwinSVC(C=1000).fit(twice, y, groups=np.repeat(np.arange(20), 2)).inner_score_
    assert alone > 0.8
    assert together < 0.7


def test_classes_may_be_any_kind_of_label():
    batch = GraphBatch.from_edges([PATH, TRIANGLE, SQUARE] * 6)
    for names in (["path", "triangle", "square"], [7, -1, 3], [True, False, False], [0.0, 1.0, 2.0]):
        model = STwinSVC(n_iter=1).fit(batch, names * 6)
        assert model.predict(batch[:3]).tolist() == names


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_sum_to_one_and_know_more_than_chance(n_classes):
    batch, y = noisy(150, n_classes=n_classes)
    model = STwinSVC(n_iter=2, C=(1, 10)).fit(batch[:90], y[:90])
    probabilities = model.predict_proba(batch[90:])
    assert probabilities.shape == (60, n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert log_loss(y[90:], probabilities) < 0.97 * np.log(n_classes)


def test_probabilities_of_classes_that_separate_are_sure_but_not_certain():
    batch, y = molecules(40)
    probabilities = STwinSVC(1, 1).fit(batch, y).predict_proba(batch)
    assert np.array_equal(probabilities.argmax(axis=1), y)
    assert 0.9 < probabilities.max() < 1


def test_class_weights_and_sample_weights_move_the_border():
    batch, y = noisy(60)
    plain = STwinSVC(2, 0.1).fit(batch, y).predict(batch)
    heavy = STwinSVC(2, 0.1, class_weight={1: 20.0}).fit(batch, y).predict(batch)
    weighted = STwinSVC(2, 0.1).fit(batch, y, sample_weight=np.where(y == 1, 20.0, 1.0)).predict(batch)
    assert heavy.sum() > plain.sum()
    assert weighted.sum() > plain.sum()


def test_balanced_class_weights_are_those_of_scikit_learn():
    batch, y = noisy(60)
    rows = np.flatnonzero((y == 0) | (np.arange(60) % 6 == 1))  # thirty graphs of class 0, ten of class 1
    batch, y = batch[rows], y[rows]
    by_hand = dict(enumerate(compute_class_weight("balanced", classes=np.array([0, 1]), y=y)))
    plain, balanced, explicit = (
        STwinSVC(2, 1, class_weight=weight).fit(batch, y).decision_function(batch)
        for weight in (None, "balanced", by_hand)
    )
    np.testing.assert_array_equal(balanced, explicit)
    assert balanced.mean() > plain.mean() + 0.1  # the rare class gains ground


@pytest.mark.parametrize("model", [STwinSVC(1, 1.0), STwinSVR(1, 1.0)], ids=["classes", "numbers"])
def test_predictions_hold_few_similarities_at_once(model, monkeypatch):
    graphs, y = noisy(40)
    at_once = model.fit(graphs, y).predict(graphs)
    sizes = []
    whole = Similarity.sums

    def noted(self, left, out=None):
        sizes.append(left.shape[0])
        return whole(self, left, out)

    monkeypatch.setattr(Similarity, "sums", noted)
    many = graphs[np.arange(200) % 40]
    monkeypatch.setattr(similarity, "_BLOCK_ENTRIES", 64 * len(model.support_vectors_.rows))
    np.testing.assert_allclose(model.predict(many), np.resize(at_once, 200), rtol=1e-12)
    assert sizes == [64, 64, 64, 8]


def test_same_seed_same_bytes_and_threads_change_nothing():
    batch, y = noisy(40)
    first, again = (STwinSVC(random_state=1, n_jobs=jobs).fit(batch, y) for jobs in (None, 2))
    assert first.inner_scores_ == again.inner_scores_
    assert first.decision_function(batch).tobytes() == again.decision_function(batch).tobytes()


def test_clone_pickle_and_cross_validation():
    batch, y = molecules(40)
    model = STwinSVC(n_iter=(1, 2), C=1).fit(batch, y)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.predict_proba(batch), model.predict_proba(batch))
    groups = np.arange(40) // 4
    assert cross_val_score(STwinSVC(1, 1), batch, y, cv=GroupKFold(4), groups=groups).mean() == 1.0


def test_mutag_is_learnt(tu_zip):
    collection = read_tu(tu_zip("MUTAG"))
    train = np.arange(188) % 4 > 0
    model = STwinSVC(n_iter=(2, 3), C=(1, 10)).fit(collection.graphs[train], collection.y[train])
    predicted = model.predict(collection.graphs[~train])
    assert balanced_accuracy_score(collection.y[~train], predicted) > 0.65  # a guess has 0.5


def test_labels_never_seen_get_a_class_and_one_warning():
    model = STwinSVC(1, 1).fit(*molecules(10))
    with pytest.warns(TwinWLWarning, match="1 of 1 graphs") as caught:
        assert len(model.predict(GraphBatch.from_edges([PATH], [["X"] * 3]))) == 1
    assert len(caught) == 1


def test_few_graphs_of_a_class_make_fewer_folds():
    batch, y = molecules(9)
    assert STwinSVC(1, 1, inner_folds=10).fit(batch, y).predict(batch).tolist() == y.tolist()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_iter": -1}, "n_iter: got -1, expected an integer from 0 to 10000"),
        ({"n_iter": ()}, r"n_iter: got \(\)"),
        ({"n_iter": None}, "n_iter: got None"),
        ({"n_iter": (1, 2.5)}, r"n_iter: got \(1, 2.5\)"),
        ({"C": 0}, "C: got 0"),
        ({"C": [1, float("nan")]}, r"C: got \[1, nan\]"),
        ({"C": "big"}, "C: got 'big'"),
        ({"base": "rbf"}, "base: got 'rbf'"),
        ({"features": "sise"}, "did you mean 'size'"),
        ({"inner_folds": 1}, "inner_folds: got 1"),
        ({"class_weight": {"no": 2}}, "which is not in y"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    batch, y = molecules(10)
    with pytest.raises(TwinWLError, match=message):
        STwinSVC(**params).fit(batch, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 10, "one class"),
        ([0, 1], "10 graphs but 2"),
        ([0.0, np.nan] * 5, "target 1 is nan"),
        ([0] + [1] * 9, "class 0 has only 1 graph"),
    ],
)
def test_bad_targets_are_refused(y, message):
    with pytest.raises(TwinWLError, match=message):
        STwinSVC().fit(molecules(10)[0], y)


def test_a_class_in_a_single_group_is_refused():
    batch, y = molecules(10)
    with pytest.raises(TwinWLError, match="class 0 has only 1 group"):
        STwinSVC().fit(batch, y, groups=np.where(y == 0, 0, np.arange(10)))


def test_use_before_fit_and_without_graphs():
    batch, y = molecules(10)
    unfitted = STwinSVC()
    for use in (unfitted.predict, unfitted.predict_proba, unfitted.decision_function, unfitted.explain):
        with pytest.raises(TwinWLError, match="call fit first") as caught:
            use(batch)
        assert isinstance(caught.value, NotFittedError)
    with pytest.raises(TwinWLError, match="no graph to fit"):
        unfitted.fit([], [])
    with pytest.raises(TwinWLError, match="no graph to predict"):
        STwinSVC(1, 1).fit(batch, y).predict([])


@pytest.mark.parametrize("kind", [STwinSVC, STwinSVR])
def test_whoever_asks_sees_how_many_rounds_are_tried(kind, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    batch, y = noisy(20)
    kind(n_iter=(0, 1, 3), verbose=True).fit(batch, y)
    shown = capsys.readouterr().err
    assert "choosing rounds and C" in shown
    assert "45/45" in shown or "75/75" in shown  # rounds times penalties times folds
    kind(n_iter=(0, 1, 3)).fit(batch, y)
    assert not capsys.readouterr().err  # not a terminal


# ---------------------------------------------------------------------- the walk in ARCHITECTURE.md


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="kernels are modules of Python then")
def test_fit_passes_at_most_fifteen_modules():
    batch, y = noisy(20)
    model = STwinSVC(n_iter=2).fit(batch, y)  # compiles
    passed = set()
    sys.setprofile(lambda frame, *_: passed.add(frame.f_globals.get("__name__", "")))
    try:
        model.fit(batch, y)
    finally:
        sys.setprofile(None)
    foundations = {
        "twinwl.arguments",
        "twinwl.compilation",
        "twinwl.errors",
        "twinwl.graphs.batch",
        "twinwl.terminal",
    }
    walk = {name for name in passed if name.startswith("twinwl.")} - foundations
    assert len(walk) <= 15


@pytest.mark.parametrize(("kind", "remedy"), [(STwinSVC, "STwinClassifier"), (STwinSVR, "STwinRegressor")])
def test_a_kernel_that_does_not_fit_is_refused_before_any_work(kind, remedy, monkeypatch):
    batch, y = noisy(400)
    monkeypatch.setattr(arguments, "_half_of_memory", lambda: 3 << 20)
    monkeypatch.setattr("twinwl.models.features.stwin_features", None)  # work would fail in another way
    with pytest.raises(
        TwinWLError, match=rf"400 training graphs.* about 3\.7 MiB, more than the 3\.0 MiB .*{remedy}"
    ):
        kind().fit(batch, y)


def rings_with_tails(atoms):
    """Return rings with tails that pass for molecules, and for each graph the number of its ring's nodes."""
    rings = np.repeat(np.arange(3, 23), 8)
    edges = [
        [(i, (i + 1) % ring) for i in range(ring)]
        + [(ring + i - 1 if i else 0, ring + i) for i in range(tail)]
        for ring, tail in zip(rings.tolist(), np.tile(np.arange(8), 20).tolist(), strict=True)
    ]
    return replace(GraphBatch.from_edges(edges), atoms=atoms), rings


def test_sets_of_molecules_are_calibrated_on_new_scaffolds():
    """Classes that depend on the ring alone look certain as long as each ring was learnt from."""
    scores = []
    for atoms in ("skeleton", None):
        graphs, rings = rings_with_tails(atoms)
        y = np.random.default_rng(0).permutation(23)[rings] % 2
        scores.append(STwinSVC(n_iter=8, C=10.0).fit(graphs, y).conformal_.scores.mean())
    assert scores[0] > scores[1] + 0.1
