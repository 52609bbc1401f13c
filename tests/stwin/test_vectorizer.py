import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from tests.stwin.test_features import batches
from twinwl import GraphBatch, STwinVectorizer, TwinWLError, TwinWLWarning
from twinwl.datasets.generators import worked_example
from twinwl.models.features import KINDS

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]


def same_bytes(a, b):
    return a.shape == b.shape and all(
        getattr(a, part).dtype == getattr(b, part).dtype
        and getattr(a, part).tobytes() == getattr(b, part).tobytes()
        for part in ("data", "indices", "indptr")
    )


def molecules(n=40):
    """Paths and cycles, the class by which; enough for cross-validation."""
    sizes = [3 + i % 5 for i in range(n)]
    edges = [
        [(j, j + 1) for j in range(size - 1)] + ([(size - 1, 0)] if i % 2 else [])
        for i, size in enumerate(sizes)
    ]
    return GraphBatch.from_edges(edges), np.arange(n) % 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "limits",
    [{}, {"min_df": 2}, {"min_df": 0.5}, {"max_features": 3}, {"max_df": 0.6}, {"max_df": 1}],
    ids=str,
)
@settings(max_examples=15, deadline=None)
@given(batch=batches())
def test_fit_transform_equals_fit_then_transform_to_the_bit(kind, limits, batch):
    vectorizer = STwinVectorizer(2, kind, edge_labels=True, **limits)
    everything = STwinVectorizer(2, kind, edge_labels=True).fit_transform(batch).toarray()
    kept = often_enough(everything > 0, **limits)
    if everything.size and not len(kept):
        for learn in (vectorizer.fit, vectorizer.fit_transform):
            with pytest.raises(TwinWLError, match=r"(min|max)_df"):
                learn(batch)
        return
    once = vectorizer.fit_transform(batch)
    assert once.toarray().tolist() == everything[:, kept].tolist()
    assert same_bytes(once, clone(vectorizer).fit(batch).transform(batch))
    assert once.format == "csr"
    assert once.has_canonical_format
    assert once.shape[1] == len(vectorizer.get_feature_names_out()) == vectorizer.n_features_out_
    assert len(set(vectorizer.get_feature_names_out())) == once.shape[1]


def often_enough(occurs, min_df=1, max_features=None, max_df=1.0):
    """Return the columns that the limits leave, counted column by column."""
    fewest, most = (limit if isinstance(limit, int) else limit * len(occurs) for limit in (min_df, max_df))
    counts = occurs.sum(axis=0)
    frequent = [column for column in range(occurs.shape[1]) if fewest <= counts[column] <= most]
    return sorted(sorted(frequent, key=lambda column: -occurs[:, column].sum())[:max_features])


def test_min_df_and_max_features_keep_the_frequent_columns():
    batch = GraphBatch.from_edges([PATH, PATH, TRIANGLE])
    everything = STwinVectorizer(1).fit(batch)
    assert everything.column_codes() == ["h0:c0", "h1:c0", "h1:c1"]
    assert STwinVectorizer(1, min_df=3).fit(batch).column_codes() == ["h0:c0", "h1:c1"]
    assert STwinVectorizer(1, min_df=0.67).fit(batch).n_features_out_ == 2
    assert STwinVectorizer(1, max_df=2).fit(batch).column_codes() == ["h1:c0"]
    most_frequent = STwinVectorizer(1, max_features=1).fit(batch)
    assert most_frequent.column_codes() == ["h0:c0"]
    assert most_frequent.get_feature_names_out().tolist() == ["0: •"]
    assert most_frequent.transform(batch).toarray().tolist() == [[3], [3], [3]]


def test_unseen_signature_is_left_out_and_counted():
    train = GraphBatch.from_edges([PATH], node_labels=[["C", "C", "C"]])
    test = GraphBatch.from_edges([PATH], node_labels=[["C", "C", "O"]])
    vectorizer = STwinVectorizer(1).fit(train)
    assert vectorizer.unseen_rate(train) == 0
    # Round 0 knows both carbons; in round 1 only the carbon at the end has neighbours it saw before.
    assert vectorizer.transform(test).toarray().tolist() == [[2, 2, 0]]
    assert vectorizer.unseen_rates(test).tolist() == [1 / 3, 2 / 3]
    assert vectorizer.unseen_rate(test) == 0.5


def test_labels_never_seen_give_zeros_and_one_warning_with_the_count():
    vectorizer = STwinVectorizer(2).fit(GraphBatch.from_edges([PATH], node_labels=[["C", "C", "C"]]))
    strange = GraphBatch.from_edges([PATH, TRIANGLE], node_labels=[["X"] * 3, ["Y"] * 3])
    with pytest.warns(TwinWLWarning, match="2 of 2 graphs") as caught:
        assert vectorizer.transform(strange).nnz == 0
    assert len(caught) == 1
    assert vectorizer.unseen_rate(strange) == 1.0


def test_graph_without_nodes_is_a_row_of_zeros_without_a_warning():
    vectorizer = STwinVectorizer(1).fit(GraphBatch.from_edges([PATH, []]))
    assert vectorizer.transform(GraphBatch.from_edges([[], []])).toarray().tolist() == [[0, 0, 0]] * 2


def test_clone_and_pickle_keep_everything():
    batch = worked_example()
    vectorizer = STwinVectorizer(2, "joint", initial="degree", min_df=2).fit(batch)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert not hasattr(clone(vectorizer), "space_")
    assert same_bytes(pickle.loads(pickle.dumps(vectorizer)).transform(batch), vectorizer.transform(batch))  # noqa: S301


def test_works_in_pipelines_and_searches():
    batch, y = molecules()
    pipeline = make_pipeline(STwinVectorizer(), DecisionTreeClassifier(random_state=0))
    assert cross_val_score(pipeline, batch, y, cv=4).mean() == 1.0
    search = GridSearchCV(pipeline, {"stwinvectorizer__n_iter": [0, 1, 2]}, cv=3).fit(batch, y)
    assert search.best_params_["stwinvectorizer__n_iter"] >= 1
    assert search.best_score_ == 1.0


def test_other_kinds_of_graphs_are_taken_too():
    assert STwinVectorizer(1).fit_transform([PATH, TRIANGLE]).toarray().tolist() == [[3, 4, 3], [3, 0, 9]]


def test_pandas_output_of_sparse_features_is_refused_as_scikit_learn_does():
    pytest.importorskip("pandas")
    vectorizer = STwinVectorizer(1).set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse matrix"):
        vectorizer.fit_transform(worked_example())


def test_default_output_setting_changes_nothing():
    plain = STwinVectorizer(1).fit_transform(worked_example())
    assert same_bytes(
        plain, STwinVectorizer(1).set_output(transform="default").fit_transform(worked_example())
    )


def test_use_before_fit_is_an_error_of_both_families():
    for use in (
        lambda: STwinVectorizer().transform(worked_example()),
        lambda: STwinVectorizer().get_feature_names_out(),
        lambda: STwinVectorizer().explain_column(0),
    ):
        with pytest.raises(TwinWLError, match="call fit first") as caught:
            use()
        assert isinstance(caught.value, NotFittedError)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_iter": -1}, "n_iter: got -1"),
        ({"n_iter": 1.5}, "n_iter: got 1.5"),
        ({"n_iter": True}, "n_iter: got True"),
        ({"features": "sise"}, "did you mean 'size'"),
        ({"initial": "labels"}, "did you mean 'label'"),
        ({"min_df": 0}, "min_df: got 0"),
        ({"min_df": 1.5}, "min_df: got 1.5"),
        ({"min_df": "2"}, "min_df: got '2'"),
        ({"min_df": 3}, "no column occurs in 3 of 2 graphs"),
        ({"max_features": 0}, "max_features: got 0"),
        ({"max_df": 0}, "max_df: got 0"),
        ({"max_df": 1}, "max_df: got 1, but no column occurs in 1 to 1 of 2 graphs"),
    ],
)
def test_bad_parameters_are_refused_at_fit(params, message):
    with pytest.raises(TwinWLError, match=message):
        STwinVectorizer(**params).fit(worked_example())


def test_no_graphs_are_refused():
    with pytest.raises(TwinWLError, match="no graph to fit"):
        STwinVectorizer().fit([])
    with pytest.raises(TwinWLError, match="no graph to transform"):
        STwinVectorizer().fit(worked_example()).transform([])


def test_directed_graphs_do_not_fit_an_undirected_alphabet():
    arcs = GraphBatch.from_edges([PATH], directed=True)
    with pytest.raises(TwinWLError, match="undirected"):
        STwinVectorizer().fit(GraphBatch.from_edges([PATH])).transform(arcs)


def test_the_rate_of_the_last_call_is_gone_and_says_what_to_call():
    vectorizer = STwinVectorizer().fit(worked_example())
    with pytest.raises(AttributeError, match=r"call unseen_rate\(X\)"):
        _ = vectorizer.unseen_rate_
    assert not hasattr(vectorizer, "unseen_rate_")


def test_scikit_learn_knows_that_graphs_are_no_arrays():
    assert not get_tags(STwinVectorizer()).input_tags.two_d_array
