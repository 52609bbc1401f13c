"""A GraphBatch goes through scikit-learn as it is."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import resample, shuffle
from sklearn.utils.validation import _num_samples

from tests.batch_equality import assert_same_graphs
from twinwl import GraphBatch


class EdgeCounter(TransformerMixin, BaseEstimator):
    """Counts nodes and edges of each graph."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y=None):  # noqa: ARG002
        self.seen_ = len(X)
        return self

    def transform(self, X):
        assert isinstance(X, GraphBatch)
        arcs = np.diff(X.indptr[X.graph_ptr])
        return self.scale * np.column_stack([X.nodes_per_graph, arcs])


class Majority(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        assert isinstance(X, GraphBatch)
        assert len(X) == len(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[np.argmax(counts)]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


@pytest.fixture
def graphs():
    return GraphBatch.from_edges([[(i, i + 1) for i in range(index)] for index in range(1, 41)])


@pytest.fixture
def y():
    return np.array([0] * 20 + [1] * 20)


def test_train_test_split_keeps_graphs_and_classes_together(graphs):
    sizes = graphs.nodes_per_graph
    train, test, sizes_train, sizes_test = train_test_split(graphs, sizes, random_state=0)
    assert isinstance(train, GraphBatch)
    assert isinstance(test, GraphBatch)
    assert train.nodes_per_graph.tolist() == sizes_train.tolist()
    assert test.nodes_per_graph.tolist() == sizes_test.tolist()


def test_cross_val_score_takes_a_batch(graphs, y):
    assert cross_val_score(Majority(), graphs, y, cv=5).tolist() == [0.5] * 5


def test_pipeline_learns_from_a_batch(graphs, y):
    pipeline = make_pipeline(EdgeCounter(), LogisticRegression(max_iter=1000))
    scores = cross_validate(pipeline, graphs, y, cv=StratifiedKFold(4), return_train_score=True)
    assert scores["train_score"].min() > 0.9
    assert cross_val_predict(pipeline, graphs, y, cv=4).shape == (40,)


def test_grid_search_refits_on_a_batch(graphs, y):
    pipeline = make_pipeline(EdgeCounter(), LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipeline, {"edgecounter__scale": [0.1, 1.0]}, cv=3).fit(graphs, y)
    assert search.best_estimator_[0].seen_ == 40
    assert search.predict(graphs[:3]).tolist() == [0, 0, 0]


def test_work_in_other_processes_gives_the_same(graphs, y):
    pipeline = make_pipeline(EdgeCounter(), LogisticRegression(max_iter=1000))
    alone = cross_val_score(pipeline, graphs, y, cv=3)
    np.testing.assert_array_equal(alone, cross_val_score(pipeline, graphs, y, cv=3, n_jobs=2))


def test_resampling_draws_graphs(graphs):
    assert _num_samples(graphs) == 40
    assert len(resample(graphs, n_samples=7, random_state=0)) == 7
    mixed = shuffle(graphs, random_state=0)
    assert_same_graphs(mixed[np.argsort(mixed.nodes_per_graph)], graphs)
