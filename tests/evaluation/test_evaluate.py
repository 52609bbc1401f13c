"""Evaluations: the traps that make figures lie, kills that lose nothing, processes that change nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from twinwl import TwinWLError
from twinwl.evaluation.evaluate import FoldRequest, Unit, run_fold
from twinwl.evaluation.methods import resolve
from twinwl.evaluation.result import Evaluation, ResultStore, key_of
from twinwl.evaluation.splits import Fold, make_folds
from twinwl.models.metrics import names_for


def tree(features="size", n_iter=3):
    return make_pipeline(tw.STwinVectorizer(n_iter, features=features), DecisionTreeClassifier())


def twins(n_pairs=40):
    return tw.load_dataset("TWINS", n_pairs=n_pairs)


def without_timing(rows):
    return [{k: v for k, v in row.items() if k not in {"seconds", "peak_memory"}} for row in rows]


# ---------------------------------------------------------------------- what figures mean


def test_one_wl_scores_exactly_half_when_pairs_stay_together():
    assert tw.evaluate(tree("count"), twins(), n_folds=4).mean == 0.5
    assert tw.evaluate(tree("joint"), twins(), n_folds=4).mean > 0.75  # a tree's ties are broken by version


def assay():
    data = twins(20)
    return replace(data, y=np.where(data.targets == 1, "active", "inactive"))


def rare_leaves():
    return make_pipeline(tw.STwinVectorizer(2), DecisionTreeClassifier(max_depth=2, random_state=0))


def test_lines_and_records_name_the_positive_class():
    result = tw.evaluate(rare_leaves(), assay(), n_folds=3)
    assert "(fair; positive class: active)" in str(result)
    positives = {record["metric"]: record["positive"] for record in result.to_records()}
    assert (positives["average-precision"], positives["roc-auc"]) == ("active", "")


def test_stored_figures_of_the_other_class_are_not_used(tmp_path):
    store, metrics = tmp_path / "store.jsonl", ["average-precision"]
    data = replace(assay(), groups=None)
    found = {
        name: tw.evaluate(rare_leaves(), data, n_folds=3, metrics=metrics, positive=name, store=store).mean
        for name in ("active", "inactive")
    }
    fresh = tw.evaluate(rare_leaves(), data, n_folds=3, metrics=metrics, positive="inactive").mean
    assert found["inactive"] == fresh != found["active"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positive": "Active"}, "positive: got 'Active' for the classes 'active', 'inactive'"),
        (
            {"positive": "inactive", "scoring": "pr-auc", "grid": {"stwinvectorizer__n_iter": [1, 2]}},
            "estimators choose by the average-precision of 'active'",
        ),
    ],
)
def test_a_positive_class_that_cannot_be_used_is_refused(options, message):
    with pytest.raises(TwinWLError, match=message):
        tw.evaluate(rare_leaves(), assay(), n_folds=3, **options)


def test_pairs_torn_apart_mislead_one_wl():
    """The twin of a test graph, with the opposite class, sits in training: far below chance."""
    data = twins(60)
    torn = replace(data, groups=None)
    assert tw.evaluate(tree("count"), torn, n_folds=10).mean < 0.2


@pytest.mark.slow
def test_the_trap_of_exp(tu_zip):
    data = tw.load_dataset(str(tu_zip("EXP")))
    assert data.groups is not None
    torn = tw.evaluate(tree("count"), replace(data, groups=None))
    assert torn.mean < 0.1
    assert tw.evaluate(tree("count"), data).mean == 0.5


@pytest.mark.skipif(find_spec("torch") is None, reason="learning curves need PyTorch")
def test_guesses_leave_fair_at_chance_but_not_best_fold_epoch():
    """Nothing is learnt, so whatever beats chance has peeked."""
    result = tw.evaluate(CoinFlips(), replace(twins(60), groups=None))
    fair, peeked = (result.summary(protocol).mean for protocol in ("fair", "best-fold-epoch"))
    assert abs(fair - 0.5) < 0.2  # ten folds of twelve flips: more than four standard deviations
    assert peeked > fair + 0.1
    assert result.summary("best-epoch").mean <= peeked


class CoinFlips(ClassifierMixin, BaseEstimator):
    """Flips coins in each epoch, and keeps the epoch that did best on the held-out part."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, validation_data=None, monitor_data=None):  # noqa: ARG002
        self.classes_ = np.unique(y)
        held, watched = (
            [self.share_right(*data, epoch) for epoch in range(30)]
            for data in (validation_data, monitor_data)
        )
        from twinwl.neural.training import History  # noqa: PLC0415  (needs torch)

        self.history_ = History([0.0] * 30, [0.0] * 30, held, watched, best_epoch=int(np.argmax(held)))
        return self

    def predict(self, X):
        return self.flips(X, self.history_.best_epoch)

    def flips(self, X, epoch):
        return self.classes_[np.random.default_rng([self.random_state, epoch]).integers(0, 2, len(X))]

    def share_right(self, X, y, epoch):
        return float(np.mean(self.flips(X, epoch) == y))


def test_the_hold_out_chooses_among_configurations():
    result = tw.evaluate(tree(), twins(), grid={"stwinvectorizer__n_iter": [0, 3]}, n_folds=3)
    assert {config["stwinvectorizer__n_iter"] for config in result.summary().configs} == {3}
    assert len(result.rows) == 6


@pytest.mark.skipif(find_spec("torch") is None, reason="learning curves need PyTorch")
def test_every_printed_figure_names_its_protocol():
    text = str(tw.evaluate(CoinFlips(), replace(twins(), groups=None), n_folds=3))
    for protocol in ("fair", "best-epoch, optimistic", "best-fold-epoch, optimistic"):
        assert f"({protocol})" in text


def test_a_method_without_epochs_has_fair_lines_only():
    text = str(tw.evaluate(tree(), twins(), n_folds=3))
    assert "(fair)" in text
    assert "best-" not in text


def test_too_small_a_training_part_is_not_told_to_change_a_network():
    with pytest.raises(TwinWLError, match="too few to hold 10% of them out; give more graphs: these are all"):
        tw.evaluate("stwin-svc", ([[(0, 1)], [(0, 1), (1, 2)]], [0.5, 1.5]), n_folds=2)


def test_duplicates_in_training_are_counted_and_left_out():
    data = twins(30)
    twice = np.repeat(np.arange(len(data)), 2)
    doubled = tw.Dataset.from_graphs(data.graphs[twice], data.y[twice])
    result = tw.evaluate(tree(), doubled, n_folds=5)
    assert result.n_leaked > 80
    assert f"{result.n_leaked} test graphs have an isomorphic copy in training" in str(result)
    assert any("accuracy-without-duplicates" in row["scores"] for row in result.rows)


def test_repeats_draw_new_folds():
    result = tw.evaluate(tree(), twins(), n_folds=3, repeats=2)
    assert [(row["seed"], row["fold"]) for row in result.rows] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]


# ---------------------------------------------------------------------- splits


def test_a_split_by_values_is_one_fold_and_repeats_train_anew():
    data = replace(twins(40), groups=None)
    parts = ["train"] * 60 + ["valid"] * 10 + ["test"] * 10
    result = tw.evaluate(tree(), data, split=parts, repeats=2)
    assert [(row["seed"], row["fold"], row["n_test"]) for row in result.rows] == [(0, 0, 10), (1, 0, 10)]
    assert "split; train 60, validation 10, test 10" in str(result)
    assert "(fair)" in str(result)
    assert "(fair, one fold)" in str(tw.evaluate(tree(), data, split=parts))


def test_splits_are_other_results_and_the_same_values_the_same(tmp_path):
    data = replace(twins(40), groups=None)
    for parts in (
        ["train"] * 60 + ["test"] * 20,
        ["test"] * 20 + ["train"] * 60,
        None,
        ["Train"] * 60 + ["TEST"] * 20,
    ):
        tw.evaluate(tree(), data, split=parts, n_folds=2, store=tmp_path / "r.jsonl")
    assert len(ResultStore(tmp_path / "r.jsonl").rows()) == 4


def test_groups_that_are_given_stay_together():
    graphs, y = twins(40).graphs, twins(40).y
    pairs = np.repeat(np.arange(40), 2)
    assert tw.evaluate(tree("count"), (graphs, y), groups=pairs, n_folds=4).mean == 0.5
    with pytest.raises(TwinWLError, match="graphs of one group are on both sides"):
        tw.evaluate(tree(), (graphs, y), groups=pairs, split=["train", "test"] * 40)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "yearr"}, "split: got 'yearr'.*the data have no columns"),
        ({"split": ["train"]}, "split: got 1 values for 80 graphs"),
        ({"groups": [1, 2]}, "groups: got 2 values for 80 graphs"),
        ({"groups": "lab"}, "groups: got 'lab'"),
        ({"split": "scaffold"}, "TWINS has no SMILES"),
        ({"split": "nothing.json"}, "nothing.json"),
        ({"split": 7}, "split: got 7, expected a name, a file, or one value per graph"),
        ({"splits": "gnn-comparison"}, "now called split"),
    ],
)
def test_a_split_that_is_none_is_one_clear_error(options, message):
    with pytest.raises(TwinWLError, match=message):
        tw.evaluate(tree(), twins(), **options)


# ---------------------------------------------------------------------- the store


def test_what_the_store_holds_is_not_run_again(tmp_path, monkeypatch):
    store = tmp_path / "results.jsonl"
    first = tw.evaluate(tree(), twins(), n_folds=3, store=store)

    def fail(*_args, **_options):
        raise AssertionError("ran again")

    monkeypatch.setattr("twinwl.evaluation.evaluate.run_fold", fail)
    assert tw.evaluate(tree(), twins(), n_folds=3, store=store).rows == first.rows


def test_other_methods_versions_and_data_are_other_results(tmp_path):
    store = tmp_path / "results.jsonl"
    for method, data in (
        (resolve(tree()), twins()),
        (replace(resolve(tree()), version=2), twins()),
        (resolve(tree("count")), twins()),
        (resolve(tree()), twins(41)),
    ):
        tw.evaluate(method, data, n_folds=3, store=store)
    assert len(ResultStore(store).rows()) == 12


def test_graphs_and_targets_are_a_data_set(tmp_path):
    store = tmp_path / "r.jsonl"
    data = twins(20)
    by_hand = tw.evaluate(tree(), (list(data.graphs), data.y.tolist(), data.groups), n_folds=3, store=store)
    assert by_hand.fold_scores == tw.evaluate(tree(), data, n_folds=3).fold_scores
    assert by_hand.dataset == "graphs"
    again = tw.Dataset.from_graphs(data.graphs, data.y, groups=data.groups)
    tw.evaluate(tree(), again, n_folds=3, store=store)
    assert len(ResultStore(store).rows()) == 3  # the same content is the same work
    tw.evaluate(tree(), (data.graphs, data.y), n_folds=3, store=store)
    assert len(ResultStore(store).rows()) == 6  # without groups it is not


def test_data_without_targets_are_refused():
    with pytest.raises(TwinWLError, match="graphs has no targets; give one per graph"):
        tw.evaluate(tree(), (twins(20).graphs, None))


@pytest.mark.slow
def test_processes_change_nothing(tmp_path):
    alone = tw.evaluate(tree(), twins(), n_folds=4)
    together = tw.evaluate(tree(), twins(), n_folds=4, n_jobs=2, store=tmp_path / "results.jsonl")
    assert without_timing(together.rows) == without_timing(alone.rows)


def test_an_interrupt_leaves_a_clean_store(tmp_path, monkeypatch):
    store = tmp_path / "results.jsonl"

    def stop_at_third(unit, *arguments, **options):
        if unit.key["fold"] == 2:
            raise KeyboardInterrupt
        return run_fold(unit, *arguments, **options)

    monkeypatch.setattr("twinwl.evaluation.evaluate.run_fold", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        tw.evaluate(tree(), twins(), n_folds=4, store=store)
    monkeypatch.undo()
    assert [row["fold"] for row in ResultStore(store).rows()] == [0, 1]
    resumed = tw.evaluate(tree(), twins(), n_folds=4, store=store)
    assert without_timing(resumed.rows) == without_timing(tw.evaluate(tree(), twins(), n_folds=4).rows)


KILLED = """
import sys, time
import twinwl as tw
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from twinwl.evaluation import evaluate as home
real = home.run_fold
def slow(*arguments, **options):
    time.sleep(0.2)
    return real(*arguments, **options)
home.run_fold = slow
pipeline = make_pipeline(tw.STwinVectorizer(3, features="size"), DecisionTreeClassifier())
tw.evaluate(pipeline, tw.load_dataset("TWINS", n_pairs=40), n_folds=8, store=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    store = tmp_path / "results.jsonl"
    victim = subprocess.Popen([sys.executable, "-c", KILLED, str(store)])
    until = time.monotonic() + 120
    while not (store.exists() and store.read_bytes().count(b"\n") >= 2):
        assert victim.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until
        os.sched_yield()
    victim.kill()
    victim.wait()
    done = len(ResultStore(store).rows())
    assert 2 <= done < 8
    resumed = tw.evaluate(tree(), twins(), n_folds=8, store=store)
    assert without_timing(resumed.rows) == without_timing(tw.evaluate(tree(), twins(), n_folds=8).rows)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "honest"}, "protocol: got 'honest'"),
        ({"metrics": ["acuracy"]}, "did you mean 'accuracy'"),
        ({"n_folds": 1}, "n_folds: got 1"),
        ({"grid": {"n_iter": 3}}, "expected a list"),
    ],
)
def test_bad_options_are_refused_before_any_work(options, message):
    with pytest.raises(TwinWLError, match=message):
        tw.evaluate(tree(), twins(), **options)


def test_an_optimistic_reading_of_a_method_without_epochs_is_refused():
    result = tw.evaluate(tree(), twins(), "best-epoch", n_folds=3)
    with pytest.raises(TwinWLError, match="has no epochs"):
        _ = result.mean


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seed": -1}, "seed: got -1"),
        ({"seed": 2**40}, "seed: got 1099511627776, expected an integer from 0 to 4294967295"),
        ({"seed": 2**32 - 2, "repeats": 3}, "expected an integer from 0 to 4294967293"),
        ({"seed": 1.5}, "seed: got 1.5"),
        ({"repeats": 0}, "repeats: got 0"),
        ({"n_jobs": 0}, "n_jobs: got 0"),
        ({"time_budget": float("nan")}, "time_budget: got nan"),
        ({"time_budget": -1}, "time_budget: got -1"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_before_any_work(wrong, message):
    with pytest.raises(tw.TwinWLError, match=message):
        tw.evaluate(tree(), "no such data set", **wrong)


@pytest.mark.parametrize("wrong", [None, 5, [1, 2]])
def test_what_is_no_data_set_is_refused(wrong):
    with pytest.raises(tw.TwinWLError, match="expected a Dataset, a name, a path or a tuple"):
        tw.evaluate(tree(), wrong)


def test_the_metric_that_was_asked_for_is_the_headline_and_accuracy_stands_beside_it():
    result = tw.evaluate(tree(), twins(), n_folds=3, metrics=["roc-auc"])
    assert result.metric == "roc-auc"
    assert result.metrics == ["roc-auc", "accuracy"]
    assert result.mean == pytest.approx(result.summary("fair", "roc-auc").mean)
    lines = [line.split() for line in str(result).splitlines()]
    assert [line[0] for line in lines if line[-1] == "(fair)"] == ["roc-auc", "accuracy"]


# ---------------------------------------------------------------------- metrics and tasks


def rare(n_graphs=40, n_rare=2):
    """Graphs of which few are of class 1; the first sit in the first fold when groups say so."""
    graphs = tw.load_dataset("TWINS", n_pairs=n_graphs // 2).graphs
    y = np.zeros(n_graphs, int)
    y[:n_rare] = 1
    return graphs, y


def measured(n_graphs=40):
    graphs = tw.load_dataset("TWINS", n_pairs=n_graphs // 2).graphs
    return graphs, graphs.nodes_per_graph + np.linspace(0, 0.5, n_graphs)


def line():
    return make_pipeline(tw.STwinVectorizer(1, features="count"), Ridge())


def test_all_that_a_method_can_give_is_measured_and_accuracy_comes_first():
    result = tw.evaluate(tree(), twins(), n_folds=3)
    assert result.metric == "accuracy"
    assert result.metrics == names_for("classification")
    assert result.summary("fair", "majority").mean == 0.5
    assert "majority           50.00 ± 0.00 (fair)" in str(result)
    pytest.importorskip("pandas")
    assert set(result.to_frame().metric) == set(result.metrics)


def test_a_method_without_probabilities_leaves_them_out_unless_they_are_asked_for():
    pipeline = make_pipeline(tw.STwinVectorizer(2), RidgeClassifier())
    assert tw.evaluate(pipeline, twins(), n_folds=2).metrics == [
        "accuracy", "majority", "balanced-accuracy", "f1-macro", "mcc",
    ]  # fmt: skip
    with pytest.raises(TwinWLError, match="brier: Pipeline has no predict_proba"):
        tw.evaluate(pipeline, twins(), n_folds=2, metrics=["brier"])


def test_results_of_an_older_version_are_read_and_not_run_again(tmp_path):
    """They hold accuracy alone, and neither task nor scoring."""
    store = tmp_path / "r.jsonl"
    tw.evaluate(tree(), twins(), n_folds=3, store=store, metrics=["accuracy"])
    old = []
    for text in store.read_text().splitlines():
        row = json.loads(text)
        del row["task"], row["scoring"]
        old.append(json.dumps(row))
    store.write_text("\n".join(old) + "\n")
    again = tw.evaluate(tree(), twins(), n_folds=3, store=store)
    assert again.metrics == ["accuracy"]
    assert store.read_text().splitlines() == old
    more = tw.evaluate(tree(), twins(), n_folds=3, store=store, metrics=["mcc"])
    assert more.metrics == ["mcc", "accuracy"]
    assert len(store.read_text().splitlines()) == 6


def test_a_fold_without_a_class_is_undefined_and_no_zero():
    graphs, y = rare()
    folds = [Fold(np.arange(0, 30), np.arange(0), np.arange(30, 40)),
             Fold(np.r_[1:20], np.arange(0), np.r_[0, 20:30])]  # fmt: skip
    asked = FoldRequest(
        "classification", names_for("classification"), "accuracy", choose=False, optional=True
    )
    data = tw.Dataset.from_graphs(graphs, y)
    rows = []
    for number, fold in enumerate(folds):
        key = key_of(data, "tree", 1, {}, "two", fold=number)
        rows.append(run_fold(Unit(key, resolve(tree()), fold), data, np.arange(len(y)), asked))
    assert "roc-auc" not in rows[0]["scores"]
    result = Evaluation("rare", "tree", "fair", "roc-auc", rows)
    assert np.isnan(result.fold_scores).tolist() == [True, False]
    assert result.mean == rows[1]["scores"]["roc-auc"]
    assert "undefined in 1 of 2 folds" in str(result)
    record = next(record for record in result.to_records() if record["metric"] == "roc-auc")
    assert record["n_folds"] == 1
    never = Evaluation("rare", "tree", "fair", "roc-auc", rows[:1])
    assert np.isnan(never.mean)
    assert "roc-auc            undefined (fair" in str(never)


def test_numbers_are_regression_and_said_to_be(tmp_path):
    result = tw.evaluate(line(), measured(), n_folds=4, store=tmp_path / "r.jsonl")
    assert result.task.name == "regression"
    assert result.metrics == ["rmse", "mae", "r2", "spearman"]
    assert result.summary("fair", "r2").mean > 0.9
    text = str(result)
    assert "regression: the target has 40 different values, not all of them whole numbers" in text
    assert "best-epoch" not in text
    assert {row["splits"] for row in result.rows} == {"4 folds, regression"}
    assert {record["metric"] for record in result.to_records()} == set(result.metrics)
    assert "<td>rmse</td>" in result._repr_html_()


def test_a_network_learns_numbers_and_its_grid_is_chosen_by_error():
    pytest.importorskip("torch", reason="networks need PyTorch")
    result = tw.evaluate("stwin", measured(), n_folds=2, grid={"n_iter": [0, 1], "max_epochs": [3]})
    assert result.metrics == ["rmse", "mae", "r2", "spearman"]
    assert {row["epochs"] for row in result.rows} == {3}
    assert all(row["validation_score"] > 0 for row in result.rows)
    best = [min(rows, key=lambda row: row["validation_score"]) for rows in (result.rows[:2], result.rows[2:])]
    assert list(result.summary().configs) == [row["config"] for row in best]


def test_the_hold_out_chooses_the_smaller_error():
    result = tw.evaluate(line(), measured(), n_folds=3, grid={"ridge__alpha": [1e6, 1e-3]})
    assert {config["ridge__alpha"] for config in result.summary().configs} == {1e-3}


def test_copies_of_measured_graphs_are_told_by_error_too():
    graphs, y = measured()
    twice = np.repeat(np.arange(40), 2)
    assert "isomorphic copy in training; rmse without them " in str(
        tw.evaluate(line(), (graphs[twice], y[twice]), n_folds=4)
    )


def test_the_method_decides_where_the_targets_could_be_both():
    graphs, y = rare(n_rare=20)
    assert tw.evaluate(line(), (graphs, y), n_folds=2).task.name == "regression"
    many = np.arange(40) // 2
    assert tw.evaluate(line(), (graphs, many), n_folds=2).task.reason.startswith("that is what ")
    assert tw.evaluate(tree(), (graphs, y), n_folds=2).task.name == "classification"


@pytest.mark.parametrize(
    ("method", "y", "options", "message"),
    [
        (lambda: "wl-kernel", "measured", {}, "wl-kernel is for classification, and this is regression"),
        (line, "names", {}, "is for regression, and this is classification .the target has 2 different"),
        (
            tree,
            "classes",
            {"task": "regression"},
            "is for classification, and this is regression .as asked for",
        ),
        (line, "names", {"task": "regression"}, "task: got 'regression', but the target holds 'a', which"),
        (
            tree,
            "measured",
            {"task": "classification"},
            "but the target holds 0.5, a measurement, not a class",
        ),
        (tree, "classes", {"task": "ranking"}, "task: got 'ranking'"),
        (tree, "classes", {"metrics": ["rmse"]}, "metrics: rmse is for regression, and this is classif"),
        (line, "measured", {"scoring": "roc-auc"}, "scoring: roc-auc is for classification, and this"),
        (
            tree,
            "classes",
            {"scoring": "mcc"},
            "scoring: got 'mcc', but .* nothing is chosen by it; give a grid",
        ),
        (tree, "classes", {"scoring": "acuracy"}, "scoring: got 'acuracy'.*did you mean 'accuracy'"),
    ],
)
def test_what_does_not_go_together_is_one_clear_error(method, y, options, message):
    targets = {
        "measured": np.arange(40) + 0.5,
        "names": np.array(["a", "b"] * 20),
        "classes": np.arange(40) % 2,
    }
    with pytest.raises(TwinWLError, match=message):
        tw.evaluate(method(), (rare()[0], targets[y]), n_folds=2, **options)


def test_the_inner_choice_goes_by_the_scoring_that_was_asked_for(tmp_path):
    """By accuracy the common class wins; by balanced accuracy both answers are alike, and the first wins."""
    graphs, y = rare(n_rare=10)
    constant = make_pipeline(tw.STwinVectorizer(1), DummyClassifier(strategy="constant", constant=0))
    options = {"grid": {"dummyclassifier__constant": [1, 0]}, "n_folds": 2, "store": tmp_path / "r.jsonl"}

    def chosen(scoring):
        configs = tw.evaluate(constant, (graphs, y), scoring=scoring, **options).summary().configs
        return {config["dummyclassifier__constant"] for config in configs}

    assert chosen(None) == chosen("accuracy") == {0}
    assert chosen("balanced-accuracy") == {1}
    assert chosen("brier") == {0}  # smaller is better
    rows = ResultStore(tmp_path / "r.jsonl").rows()
    assert {row["scoring"] for row in rows} == {"brier"}  # the newest


def test_a_scoring_that_the_hold_out_leaves_undefined_is_an_error():
    data = tw.Dataset.from_graphs(*rare(n_rare=3))
    fold = Fold(np.arange(0, 30), np.arange(30, 35), np.arange(35, 40))
    asked = FoldRequest("classification", ["accuracy"], "roc-auc", choose=True, optional=False)
    unit = Unit(key_of(data, "tree", 1, {}, "one"), resolve(tree()), fold)
    with pytest.raises(TwinWLError, match="scoring: roc-auc is undefined on the 5 graphs held out in fold 0"):
        run_fold(unit, data, np.arange(40), asked)


def test_a_method_with_a_scoring_of_its_own_is_handed_it():
    class Choosy(DummyClassifier):
        def __init__(self, scoring="accuracy"):
            super().__init__()
            self.scoring = scoring

    result = tw.evaluate(Choosy(), twins(), n_folds=2, scoring="roc-auc")
    assert {row["config"]["scoring"] for row in result.rows} == {"roc_auc"}  # as scikit-learn calls it
    with pytest.raises(TwinWLError, match="cannot choose by brier"):
        tw.evaluate(tw.STwinSVC(), twins(), n_folds=2, scoring="brier")
    with pytest.raises(TwinWLError, match="cannot choose by majority"):
        tw.evaluate(Choosy(), twins(), n_folds=2, scoring="majority")
    assert [row["config"] for row in tw.evaluate(Choosy(), twins(), n_folds=2).rows] == [{}, {}]


def test_a_store_that_cannot_be_written_is_refused_before_any_fit(tmp_path):
    class Untouched(DummyClassifier):
        def fit(self, X, y, sample_weight=None):  # noqa: ARG002
            raise AssertionError

    store = tmp_path / "gone" / "results.jsonl"
    store.parent.symlink_to(tmp_path / "nowhere")
    with pytest.raises(TwinWLError, match="cannot write to the store"):
        tw.evaluate(Untouched(), tw.load_dataset("TWINS", n_pairs=20), n_folds=2, store=store)


def test_copies_are_not_looked_for_where_the_store_has_every_fold(tmp_path, monkeypatch):
    first = tw.evaluate(tree(), twins(9), n_folds=3, store=tmp_path / "r.jsonl")
    monkeypatch.setattr("twinwl.evaluation.evaluate.copies_of", lambda _graphs: pytest.fail("looked for"))
    assert tw.evaluate(tree(), twins(9), n_folds=3, store=tmp_path / "r.jsonl").rows == first.rows


def test_a_refitted_network_is_judged_by_what_it_had_not_learnt():
    pytest.importorskip("torch", reason="needs PyTorch")
    data = tw.load_dataset("TWINS:n_pairs=8")
    quick = {"n_iter": [1, 2], "max_epochs": [2], "hidden": [4]}
    found = {}
    for refit in (False, True):
        method = resolve("stwin").with_settings({"refit": refit, "device": "cpu"})
        fold = next(iter(make_folds(data.targets, data.groups, n_folds=2, seed=0)))
        key = {"config": {name: values[0] for name, values in quick.items()}, "seed": 0, "fold": 0}
        asked = FoldRequest("classification", ["accuracy"], "brier", choose=True, optional=True)
        found[refit] = run_fold(Unit(key, method, fold), data, np.zeros(len(data.graphs), np.int64), asked)
    assert found[True]["validation_score"] == found[False]["validation_score"]
    assert found[True]["curves"] == found[False]["curves"]


def test_only_networks_are_refitted():
    with pytest.raises(TwinWLError, match="wl-svc has no parameter 'refit'"):
        resolve("wl-svc").with_settings({"refit": True})
