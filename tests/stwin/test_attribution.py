"""`tw.explain` credits every change of a decision to a column, whatever the model."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from tests.stwin.test_svc import noisy

GRAPHS, Y = noisy(24)
NUMBERS = GRAPHS.nodes_per_graph * 1.5
THREE = np.arange(24) % 3
VECTORIZER = tw.STwinVectorizer(2, min_df=2).fit(GRAPHS)
ROWS = VECTORIZER.transform(GRAPHS)
MODELS = {
    "linear": (LogisticRegression(), Y),
    "linear, three classes": (LogisticRegression(), THREE),
    "linear, numbers": (Ridge(), NUMBERS),
    "sparse weights": (SVC(kernel="linear"), Y),
    "tree": (DecisionTreeClassifier(max_depth=3, random_state=0), Y),
    "forest": (RandomForestClassifier(5, random_state=0), THREE),
    "forest, numbers": (ExtraTreesRegressor(5, random_state=0), NUMBERS),
    "boosting": (GradientBoostingClassifier(n_estimators=5, random_state=0), Y),
    "boosting, three classes": (GradientBoostingClassifier(n_estimators=3, random_state=0), THREE),
}


def decision_of(model, row):
    """Return the winner's output minus that of the next, or the number."""
    if not hasattr(model, "classes_"):
        return model.predict(row)[0]
    scores = model.decision_function(row) if hasattr(model, "decision_function") else model.predict_proba(row)
    scores = np.ravel(scores)
    return abs(scores[0]) if len(scores) == 1 else np.sort(scores)[-1] - np.sort(scores)[-2]


@pytest.mark.parametrize("name", MODELS)
def test_shares_of_nodes_and_the_intercept_sum_to_the_decision(name):
    model, y = MODELS[name]
    model.fit(ROWS, y)
    for place in (0, 5):
        found = tw.explain(model, VECTORIZER, GRAPHS[place], n_columns=1000)
        assert found.prediction == pytest.approx(model.predict(ROWS[place])[0])
        assert found.decision == pytest.approx(decision_of(model, ROWS[place]))
        assert found.node_shares.sum() + found.intercept == pytest.approx(found.decision)
        present = sum(column.share for column in found.columns if column.value)
        assert present == pytest.approx(found.node_shares.sum())


def test_a_linear_share_is_value_times_weight():
    model = Ridge().fit(ROWS, NUMBERS)
    codes, row = VECTORIZER.column_codes(), ROWS[3].toarray()[0]
    for column in tw.explain(model, VECTORIZER, GRAPHS[3]).columns:
        place = codes.index(column.name)
        assert column.share == pytest.approx(model.coef_[place] * row[place])


def walk(tree, row):
    """Yield the column and the change of the mean at each split of a regression tree, from the root down."""
    node, found = 0, tree.tree_
    while found.children_left[node] >= 0:
        column = found.feature[node]
        side = found.children_left if row[column] <= found.threshold[node] else found.children_right
        yield column, found.value[side[node]].item() - found.value[node].item()
        node = side[node]


def test_a_share_of_a_forest_is_the_sum_of_its_changes_along_the_paths():
    model = ExtraTreesRegressor(4, max_depth=4, random_state=0).fit(ROWS, NUMBERS)
    row, expected = ROWS[7].toarray()[0], dict.fromkeys(VECTORIZER.column_codes(), 0.0)
    for tree in model.estimators_:
        for column, change in walk(tree, row.astype(np.float32)):
            expected[VECTORIZER.column_codes()[column]] += change / 4
    found = tw.explain(model, VECTORIZER, GRAPHS[7], n_columns=1000)
    assert {column.name: pytest.approx(column.share) for column in found.columns} == {
        name: share for name, share in expected.items() if share
    }


def test_a_pattern_that_is_absent_is_listed_and_counts_as_intercept():
    ring, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    graphs = tw.from_edges([path, ring] * 5)
    vectorizer = tw.STwinVectorizer(1)
    model = DecisionTreeClassifier(random_state=1).fit(vectorizer.fit_transform(graphs)[:, [1]], [0, 1] * 5)
    vectorizer.columns_, vectorizer.n_features_out_ = np.array([1]), 1  # ends of paths only
    (column,) = tw.explain(model, vectorizer, [ring]).columns
    assert (column.value, column.nodes) == (0, ())
    assert column.share > 0
    assert tw.explain(model, vectorizer, [ring]).node_shares.tolist() == [0, 0, 0]


def test_a_pipeline_and_a_model_of_ours_take_the_graph_alone(tmp_path):
    steps = tw.STwinVectorizer(2), MaxAbsScaler(), LogisticRegression()
    model = make_pipeline(*steps).fit(GRAPHS, Y)
    found = tw.explain(model, GRAPHS[3])
    assert found.decision == pytest.approx(abs(model.decision_function(GRAPHS[3])[0]))
    ours = tw.STwinSVC(2, C=1.0).fit(GRAPHS, Y)
    assert str(tw.explain(ours, GRAPHS[3])) == str(ours.explain(GRAPHS[3]))
    found.save_page(tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")
    axes = found.plot()
    assert len(axes.patches) >= GRAPHS[3].n_nodes


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PoissonRegressor().fit(ROWS, NUMBERS), "not the sum of its columns' weights"),
        (SVC(kernel="linear").fit(ROWS, THREE), "not the sum of its columns' weights"),
        (AdaBoostClassifier(n_estimators=2).fit(ROWS, Y), "AdaBoostClassifier cannot be explained"),
        (LogisticRegression().fit(ROWS[:, :5], Y), "trained on 5 columns and the vectorizer has"),
        (make_pipeline(TruncatedSVD(2), LogisticRegression()).fit(ROWS, Y), "TruncatedSVD between"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_split_among_columns_is_refused(model, message):
    with pytest.raises(tw.TwinWLError, match=message):
        tw.explain(model, VECTORIZER, GRAPHS[0])


def test_a_foreign_model_without_its_vectorizer_is_refused():
    with pytest.raises(tw.TwinWLError, match=r"pass the vectorizer.*explain\(model, vectorizer, graph\)"):
        tw.explain(LogisticRegression().fit(ROWS, Y), GRAPHS[0])
    with pytest.raises(tw.TwinWLError, match="vectorizer: got a GraphBatch, expected a fitted"):
        tw.explain(LogisticRegression().fit(ROWS, Y), GRAPHS[0], VECTORIZER)
