from __future__ import annotations

import math
import time

import pytest
from reproduction.runs import Cell, Settings, count_missing, run_cell
from sklearn.dummy import DummyClassifier

import twinwl as tw
from twinwl.errors import TwinWLWarning, warn_caller
from twinwl.evaluation.evaluate import Unit
from twinwl.evaluation.methods import METHODS, Method
from twinwl.evaluation.result import ResultStore

SETTINGS = Settings(grid=None, n_folds=4)


@pytest.fixture
def guess(monkeypatch):
    monkeypatch.setitem(METHODS, "guess", Method("guess", "sklearn.dummy:DummyClassifier"))
    return "guess"


@pytest.fixture(scope="module")
def twins():
    return tw.load_dataset("TWINS", n_pairs=20)


def run(store, data, until=math.inf):
    cell = Cell("TWINS", "guess")
    return run_cell(cell, SETTINGS, until, data, store)


def missing(store):
    return count_missing(Cell("TWINS", "guess"), SETTINGS, ResultStore(store).rows())


@pytest.mark.usefixtures("guess")
def test_what_the_store_lacks_is_run_and_then_nothing_more(twins, tmp_path):
    store = tmp_path / "results.jsonl"
    assert missing(store) == 4
    assert run(store, twins).endswith("(accuracy, fair)")
    assert missing(store) == 0
    content = store.read_bytes()
    assert len(content.splitlines()) == 4
    run(store, twins)
    assert store.read_bytes() == content


@pytest.mark.usefixtures("guess")
def test_a_run_goes_on_where_it_was_stopped(twins, tmp_path):
    store = tmp_path / "results.jsonl"
    run(store, twins)
    lines = store.read_text().splitlines(keepends=True)
    store.write_text("".join(lines[:1]))
    assert missing(store) == 3
    run(store, twins)
    assert {row["fold"] for row in ResultStore(store).rows()} == {0, 1, 2, 3}


@pytest.mark.usefixtures("guess")
def test_after_the_deadline_nothing_is_begun(twins, tmp_path):
    store = tmp_path / "results.jsonl"
    assert run(store, twins, time.monotonic() - 1) == "time is up"
    assert missing(store) == 4


def test_a_budget_ends_an_evaluation_between_folds(guess, twins, tmp_path):
    store = tmp_path / "results.jsonl"
    assert tw.evaluate(guess, twins, n_folds=4, store=store, time_budget=0).rows == []
    assert len(tw.evaluate(guess, twins, n_folds=4, store=store, time_budget=600).rows) == 4


def test_a_training_inside_an_evaluation_shows_no_bar_of_its_own():
    pytest.importorskip("torch", reason="networks need PyTorch")
    unit = Unit({"config": {}, "seed": 0}, METHODS["stwin"], None)
    assert unit.build().verbose is False


class Warner(DummyClassifier):
    """Warns whenever it learns."""

    def fit(self, X, y):
        warn_caller("2 of 9 nodes are strange")
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_fits_warn_of_is_said_once_with_the_count(twins, n_jobs):
    with pytest.warns(TwinWLWarning, match="4 fits warned; the first: 2 of 9 nodes are strange") as caught:
        tw.evaluate(Warner(), twins, n_folds=4, n_jobs=n_jobs)
    assert len(caught) == 1
