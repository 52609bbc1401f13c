from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from twinwl import STwinVectorizer, load_dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.splits import make_folds


def together(fold):
    return np.concatenate([fold.train, fold.validation, fold.test])


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from("abc"), min_size=40, max_size=90).filter(
        lambda y: min(map(y.count, "abc")) >= 5
    ),
    st.integers(2, 5),
    st.integers(0, 1000),
)
def test_folds_are_a_partition(y, n_folds, seed):
    y = np.array(y)
    folds = make_folds(y, n_folds=n_folds, seed=seed)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(len(y)))
    for fold in folds:
        assert sorted(together(fold).tolist()) == list(range(len(y)))
        assert set(y[fold.train]) == set(y)
        for part in (fold.train, fold.validation, fold.test):
            assert (np.diff(part) > 0).all()


def test_classes_have_equal_shares_in_every_part():
    y = np.repeat([0, 1], [300, 100])
    for fold in make_folds(y, seed=3):
        assert np.bincount(y[fold.test]).tolist() == [30, 10]
        assert np.bincount(y[fold.validation]).tolist() == [27, 9]


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_groups_are_never_torn_apart(seed):
    y = np.tile([0, 1], 60)
    groups = np.repeat(np.arange(60) * 7, 2)
    for fold in make_folds(y, groups, n_folds=10, seed=seed):
        parts = [set(groups[part].tolist()) for part in (fold.train, fold.validation, fold.test)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 60
        assert np.bincount(y[fold.test]).tolist() == [6, 6]


def test_same_seed_same_folds_and_other_seed_others():
    y = np.tile([0, 1], 50)
    first, again, other = (make_folds(y, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(together(a), together(b)) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0].test, other[0].test)


def test_each_fold_holds_out_places_of_its_own():
    folds = make_folds(np.tile([0, 1], 50))
    held = {tuple(np.searchsorted(fold.training_part, fold.validation).tolist()) for fold in folds}
    assert len(held) == len(folds)


def test_folds_of_a_data_set_keep_its_groups():
    twins = load_dataset("TWINS", n_pairs=30)
    for fold in make_folds(twins.targets, twins.groups, n_folds=5):
        assert not set(twins.groups[fold.test]) & set(twins.groups[fold.training_part])


@pytest.mark.parametrize("n_folds", [1, 0, -3, 2.5, True])
def test_impossible_number_of_folds(n_folds):
    with pytest.raises(TwinWLError, match="n_folds: got"):
        make_folds(np.tile([0, 1], 20), n_folds=n_folds)


def test_class_too_small_for_the_folds_is_named():
    with pytest.raises(TwinWLError, match=r"class 'rare' has 3 graphs, too few.*use fewer folds"):
        make_folds(np.array(["common"] * 50 + ["rare"] * 3), n_folds=10)


def test_class_with_too_few_groups_is_named():
    with pytest.raises(TwinWLError, match="class 0 has 2 groups"):
        make_folds(np.tile([0, 1], 10), np.repeat([0, 1], 10), n_folds=5)


def test_one_class_only():
    with pytest.raises(TwinWLError, match="only one class"):
        make_folds(np.zeros(20, int))


def test_ungrouped_folds_of_exp_are_a_trap(tu_zip):
    """With its twin of the opposite class in training, a test graph is got wrong: 5 % instead of 50 %."""
    data = load_dataset("EXP", tu_zip("EXP").parent)
    features = STwinVectorizer(3, features="count").fit_transform(data.graphs)

    def accuracy(folds):
        right = []
        for fold in folds:
            nearest = KNeighborsClassifier(1, metric="manhattan", algorithm="brute")
            nearest.fit(features[fold.training_part], data.y[fold.training_part])
            right.append(nearest.predict(features[fold.test]) == data.y[fold.test])
        return np.concatenate(right).mean()

    assert accuracy(make_folds(data.y)) < 0.08
    assert accuracy(make_folds(data.targets, data.groups)) == 0.5
