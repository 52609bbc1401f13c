"""Several methods at once: one table, all pairs compared on the same folds, mistakes told before any work."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from twinwl import TwinWLError
from twinwl.evaluation.methods import resolve
from twinwl.evaluation.result import Evaluation, MethodComparison, ResultStore, compare_scores, holm

TWINS = "TWINS:n_pairs=12"


def tree(n_iter=2):
    return make_pipeline(tw.STwinVectorizer(n_iter), DecisionTreeClassifier(max_depth=2))


def several(**options):
    methods = [tree(), "sklearn.dummy:DummyClassifier", tw.STwinSVC(1, C=1)]
    return tw.evaluate(methods, TWINS, **{"n_folds": 3, **options})


def by_hand(scores, metric="accuracy", rope=0.01, **more):
    """Return methods with these scores on their folds."""
    common = {
        "config": {},
        "metrics": [metric],
        "curves": {},
        "n_leaked": 0,
        "validation_score": None,
        "seed": 0,
    }
    return MethodComparison(
        tuple(
            Evaluation("D", name, "fair", metric, [
                {**common, "fold": fold, "scores": {metric: score}, **more} for fold, score in enumerate(each)
            ])
            for name, each in scores.items()
        ),
        rope,
    )  # fmt: skip


# ---------------------------------------------------------------------- the same folds


def test_each_method_has_the_scores_that_it_has_alone():
    together = several()
    assert [each.method for each in together.evaluations] == [
        "STwinVectorizer + DecisionTreeClassifier",
        "DummyClassifier",
        "STwinSVC",
    ]
    alone = tw.evaluate(tree(), TWINS, n_folds=3)
    assert isinstance(alone, Evaluation)
    assert together.evaluations[0].fold_scores == alone.fold_scores


def test_a_list_of_one_method_is_a_comparison_without_pairs():
    result = tw.evaluate([tree()], TWINS, n_folds=2)
    assert isinstance(result, MethodComparison)
    assert result.pairs == []
    assert str(result) == str(result.evaluations[0])


def test_a_random_splitter_gives_all_methods_the_same_folds():
    data = tw.load_dataset(TWINS)
    result = tw.evaluate(
        [DummyClassifier(strategy="most_frequent"), DummyClassifier(strategy="constant", constant=0)],
        (data.graphs, data.y),
        split=ShuffleSplit(3, test_size=0.4),
        metrics=["majority"],
    )
    first, second = (each.fold_scores for each in result.evaluations)
    assert first == second
    assert len(set(first)) > 1 or len(first) == 3


def test_stored_results_keep_their_keys(tmp_path):
    store = tmp_path / "r.jsonl"
    tw.evaluate(tree(), TWINS, n_folds=3, store=store)
    tw.evaluate([tree(), DummyClassifier()], TWINS, n_folds=3, store=store)
    assert len(ResultStore(store).rows()) == 6
    assert ResultStore(store).rows()[0]["method"] == resolve(tree()).name
    assert resolve(tree()).name.startswith("sklearn.pipeline:Pipeline#")


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("method", "title"),
    [
        ("stwin-svc", "stwin-svc"),
        ("sklearn.dummy:DummyClassifier", "DummyClassifier"),
        (make_pipeline(tw.STwinVectorizer(), "passthrough", Ridge()), "STwinVectorizer + Ridge"),
        (GridSearchCV(tree(), {}), "GridSearchCV(STwinVectorizer + DecisionTreeClassifier)"),
        (resolve("stwin-svc").with_edge_labels(use=True), "stwin-svc+edge-labels"),
        (resolve(tw.STwinSVC()).with_edge_labels(use=True), "STwinSVC+edge-labels"),
    ],
)  # fmt: skip
def test_a_method_has_a_short_title(method, title):
    assert resolve(method).title == title


def test_equal_titles_are_followed_by_the_parameters_that_differ():
    result = tw.evaluate([tree(1), tree(2), DummyClassifier()], TWINS, n_folds=2)
    assert [each.method for each in result.evaluations] == [
        "STwinVectorizer + DecisionTreeClassifier (n_iter=1)",
        "STwinVectorizer + DecisionTreeClassifier (n_iter=2)",
        "DummyClassifier",
    ]


# ---------------------------------------------------------------------- the comparison


def test_the_probabilities_are_those_of_the_posterior():
    """Sum the posterior of the mean difference, Student's t, shifted and scaled, over a fine grid."""
    random = np.random.default_rng(0)
    first, second = random.normal(0.82, 0.02, 10), random.normal(0.81, 0.02, 10)
    n_test, n_train = 20, 180
    rho = n_test / (n_test + n_train)
    difference = first - second
    variance = (1 / 10 + rho / (1 - rho)) * difference.var(ddof=1)
    grid = np.linspace(-1, 1, 2_000_001)
    density = (1 + (grid - difference.mean()) ** 2 / variance / 9) ** (-(9 + 1) / 2)
    density /= density.sum()
    found = compare_scores(first, second, test_share=n_test / n_train, rope=0.015)
    assert found.worse == pytest.approx(density[grid < -0.015].sum(), abs=1e-4)
    assert found.equal == pytest.approx(density[abs(grid) <= 0.015].sum(), abs=1e-4)
    assert found.better == pytest.approx(density[grid > 0.015].sum(), abs=1e-4)
    turned = compare_scores(second, first, test_share=n_test / n_train, rope=0.015)
    assert (turned.better, turned.worse) == pytest.approx((found.worse, found.better))


def test_of_errors_the_smaller_one_is_better_and_the_region_is_relative():
    first, second = np.array([100.0, 102, 101]), np.array([100.2, 101.8, 101.1])
    found = compare_scores(first, second, metric="rmse")
    assert found.equal > 0.9
    assert found.rope_text == "1 %"
    scaled = compare_scores(first / 1000, second / 1000, metric="rmse")
    assert (found.better, found.equal) == pytest.approx((scaled.better, scaled.equal))
    assert compare_scores([1.0, 1.1, 1.0], [2.0, 2.2, 2.1], metric="rmse").better > 0.95


def test_a_constant_difference_leaves_no_doubt():
    assert compare_scores([0.75, 1.0], [0.5, 0.75]).better == 1
    assert compare_scores([0.75, 1.0], [0.745, 0.995]).equal == 1
    assert compare_scores([0.5, 0.75], [0.75, 1.0]).worse == 1


def test_holm_is_its_definition():
    for seed in range(20):
        p_values = np.random.default_rng(seed).uniform(0, 0.4, 6).round(2).tolist()
        literal = []
        for own in p_values:
            # The largest of the steps down to this one: p times the number of p-values that are not smaller.
            smaller = sorted(p_values)[: sorted(p_values).index(own) + 1]
            literal.append(min(1.0, max(p * (len(p_values) - rank) for rank, p in enumerate(smaller))))
        assert holm(p_values) == pytest.approx(literal)


def test_all_pairs_are_compared_after_holm():
    random = np.random.default_rng(1)
    scores = {
        name: (mean + random.normal(0, 0.01, 10)).tolist()
        for name, mean in zip("abcd", (0.7, 0.71, 0.72, 0.8))
    }
    result = by_hand(scores)
    assert [pair.names for pair in result.pairs] == list(combinations("abcd", 2))
    plain = [compare_scores(scores[a], scores[b]).t_p_value for a, b in combinations("abcd", 2)]
    assert [pair.holm_p_value for pair in result.pairs] == holm(plain)
    assert all(pair.significant == (pair.holm_p_value < 0.05) for pair in result.pairs)
    assert len(result.findings()) == 6


def test_the_correction_knows_the_share_of_the_folds_not_of_the_repeats():
    result = several(repeats=2)
    pair, evaluations = result.pairs[0], result.evaluations
    scores = [each.fold_scores for each in evaluations[:2]]
    assert pair.n_folds == 6
    assert evaluations[0].test_share == pytest.approx(0.5)
    assert pair.t_p_value == compare_scores(*scores, test_share=0.5).t_p_value


def test_practically_equal_methods_are_said_to_be():
    random = np.random.default_rng(2)
    scores = {
        "a": (0.9 + random.normal(0, 0.001, 10)).tolist(),
        "b": (0.9 + random.normal(0, 0.001, 10)).tolist(),
    }
    (sentence,) = by_hand(scores).findings()
    assert sentence.startswith("a and b are practically equal: within 1 point with probability 100%")
    (sentence,) = by_hand(scores, rope=0.00001).findings()
    assert "practically equal" not in sentence
    assert "within 0.001 points with probability" in sentence


def test_methods_are_compared_on_the_folds_that_both_have():
    found = by_hand({"a": [0.9, 0.8, 0.85], "b": [0.8, 0.85]})
    assert found.pairs[0].n_folds == 2
    first, second = (
        by_hand({"a": [0.9, 0.8]}, splits=name).evaluations[0] for name in ("10 folds", "5 folds")
    )
    with pytest.raises(TwinWLError, match="needs an Evaluation on the same folds"):
        first.compared_with(second)


def test_a_method_that_has_not_begun_has_an_empty_column():
    result = by_hand({"a": [0.9, 0.8], "b": []})
    assert {row[2] for row in result.table()[1:]} == {"–"}
    assert result.pairs == []
    assert str(result)
    assert [each["method"] for each in result.to_dict()["methods"]] == ["a"]


def test_one_fold_is_not_compared():
    assert by_hand({"a": [0.9], "b": [0.8]}).findings() == []


def test_a_protocol_that_does_not_apply_leaves_methods_out_of_the_comparison():
    result = several(protocol="best-epoch")
    assert result.pairs == []
    assert str(result)


class Epochs(ClassifierMixin, BaseEstimator):
    """Knows curves."""

    def fit(self, X, y, validation_data=None, monitor_data=None):  # noqa: ARG002
        pytest.importorskip("torch")
        from twinwl.neural.training import History  # noqa: PLC0415

        self.classes_ = np.unique(y)
        self.history_ = History([0.0], [0.0], [0.5], [0.75], best_epoch=0)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


# ---------------------------------------------------------------------- how it is shown


def test_methods_are_columns_and_every_row_names_what_it_is():
    pytest.importorskip("torch")
    result = tw.evaluate([Epochs(), DummyClassifier()], TWINS, n_folds=2)
    table = {row[0]: row[1:] for row in result.table()}
    assert table["method"] == ["Epochs", "DummyClassifier"]
    assert table["accuracy (%)"][0] == "50.00 ± 0.00"
    assert table["ROC-AUC"][0] == "–"
    assert table["accuracy (%), best-epoch (optimistic)"] == ["75.00 ± 0.00", "–"]
    assert table["inputs"] == ["not recorded", "not recorded"]


def test_only_protocols_that_apply_are_shown():
    assert "optimistic" not in str(several())
    assert "–" not in str(tw.evaluate([tree(1), tree(2)], TWINS, n_folds=2))


def test_text_fits_the_terminal(monkeypatch):
    result = by_hand({f"a method with a long name {number}": [0.5 + number / 20, 0.6] for number in range(5)})
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = str(result).splitlines()
        assert max(map(len, lines)) <= width
        assert max(map(len, lines)) > width - 30


def test_latex_has_the_figures_and_the_p_values():
    latex = by_hand({"a_b": [0.9, 0.8, 0.9], "c": [0.7, 0.71, 0.72]}).to_latex()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\bottomrule") == 2
    assert r"a\_b & not recorded & 86.67 $\pm$ 4.71 \\" in latex
    assert r"method & other & difference & p & p (Holm)" in latex
    assert r"a\_b & c & +15.67 & " in latex
    assert "practically equal (within 1 point)" in latex
    assert "–" not in latex


def test_plain_values_hold_each_method_with_its_comparisons():
    found = json.loads(several().to_json())
    assert [len(each["comparisons"]) for each in found["methods"]] == [2, 2, 2]
    pair = found["methods"][0]["comparisons"][0]
    assert pair["better"] + pair["equal"] + pair["worse"] == pytest.approx(1)
    assert found["rope"] == 0.01


def test_the_page_has_the_table_and_all_pairs(tmp_path):
    several().save_page(tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "All pairs" in page
    assert "STwinVectorizer + DecisionTreeClassifier" in page


def test_methods_with_different_inputs_are_remarked():
    rows = by_hand({"a": [0.5, 0.6], "b": [0.6, 0.5]}).evaluations
    for each, name in zip(rows, ("node_labels", "edge_labels")):
        for row in each.rows:
            row["inputs"] = [name]
    assert MethodComparison(rows).findings()[-1] == "Not all methods used the same inputs."


# ---------------------------------------------------------------------- bad input


def test_mistakes_are_told_before_any_work(monkeypatch):
    monkeypatch.setattr("twinwl.evaluation.evaluate.run_fold", lambda *_: pytest.fail("worked"))
    measured = make_pipeline(tw.STwinVectorizer(1), Ridge())
    for methods, options, message in (
        (["stwin-svc", "stwin-svc"], {}, "method: stwin-svc is named twice; name each method once"),
        ([tree(), tree()], {}, "method: STwinVectorizer . DecisionTreeClassifier is named twice"),
        (
            [DummyClassifier(random_state=seed) for seed in (1, 2)],
            {},
            "method: DummyClassifier is named twice",
        ),
        ([], {}, "method: got an empty list"),
        (["stwin-svc", "nothing"], {}, "method is 'nothing'"),
        ([tree(), measured], {}, "STwinVectorizer . Ridge is for regression, and this is classification"),
        (["stwin-svc", tree()], {"task": "regression"}, "is for classification, and this is regression"),
        (["stwin-svc", tree()], {"rope": -1}, "rope: got -1"),
        ([tree(), DummyClassifier()], {"grid": {"nothing": [1]}}, "has no parameter 'nothing'"),
    ):
        with pytest.raises(TwinWLError, match=message):
            tw.evaluate(methods, TWINS, n_folds=2, **options)
