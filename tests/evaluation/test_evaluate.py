"""Evaluations: the traps that make figures lie, kills that lose nothing, processes that change nothing."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from twinwl import TwinWLError
from twinwl.evaluation.fold_run import run_fold
from twinwl.evaluation.methods import resolve
from twinwl.evaluation.store import ResultStore
from twinwl.learning.history import History


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


def test_pairs_torn_apart_mislead_one_wl():
    """The twin of a test graph, with the opposite class, sits in training: far below chance."""
    data = twins(60)
    torn = replace(data, groups=None)
    assert tw.evaluate(tree("count"), torn, n_folds=10).mean < 0.2


def test_the_trap_of_exp(tu_zip):
    data = tw.load_dataset(str(tu_zip("EXP")))
    assert data.groups is not None
    torn = tw.evaluate(tree("count"), replace(data, groups=None))
    assert torn.mean < 0.1
    assert tw.evaluate(tree("count"), data).mean == 0.5


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


def test_every_printed_figure_names_its_protocol():
    text = str(tw.evaluate(tree(), twins(), n_folds=3))
    assert "fair" in text
    assert "best-fold-epoch  –" in text


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
    assert "(roc-auc, fair)" in str(result)
    assert "(accuracy, fair)" in str(result)


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
