from __future__ import annotations

import time

import pytest
from reproduction.runs import Cell, Settings, run_tasks, tasks_of
from sklearn.dummy import DummyClassifier

import twinwl as tw
from twinwl.errors import TwinWLError, TwinWLWarning, warn_caller
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


def run(cells, store, load, **options):
    tasks = tasks_of(cells, SETTINGS, ResultStore(store).rows())
    return list(run_tasks(tasks, SETTINGS, lambda _cell: store, load, **options))


def test_what_the_store_lacks_is_run_and_then_nothing_more(guess, twins, tmp_path):
    store, cell = tmp_path / "results.jsonl", Cell("TWINS", guess)
    assert [outcome.state for outcome in run([cell], store, lambda _name: twins)] == ["done"]
    content = store.read_bytes()
    assert len(content.splitlines()) == 4

    def no_need(_name):
        raise AssertionError("nothing is missing, so no data are needed")

    assert [outcome.state for outcome in run([cell], store, no_need)] == ["done"]
    assert store.read_bytes() == content


def test_a_run_goes_on_where_it_was_stopped(guess, twins, tmp_path):
    store, cell = tmp_path / "results.jsonl", Cell("TWINS", guess)
    run([cell], store, lambda _name: twins)
    lines = store.read_text().splitlines(keepends=True)
    store.write_text("".join(lines[:1]))
    assert tasks_of([cell], SETTINGS, ResultStore(store).rows())[0].n_missing == 3
    run([cell], store, lambda _name: twins)
    assert {row["fold"] for row in ResultStore(store).rows()} == {0, 1, 2, 3}


def test_the_smallest_data_come_first_where_nothing_is_known_of_durations():
    cells = [Cell("NCI1", "ntwin"), Cell("NCI1", "wl"), Cell("MUTAG", "wl"), Cell("MUTAG", "stwin-svc")]
    order = [task.cell for task in tasks_of(cells, Settings(), [])]
    # One configuration of the SVM, two of each network.
    assert order == [
        Cell("MUTAG", "stwin-svc"),
        Cell("MUTAG", "wl"),
        Cell("NCI1", "ntwin"),
        Cell("NCI1", "wl"),
    ]


def test_measured_times_outweigh_the_guess(guess):
    row = {
        "dataset": "A", "digest": "", "method": guess, "version": 1, "config": {}, "splits": "4 folds",
        "seed": 0, "fold": 0, "seconds": 1e6,
    }  # fmt: skip
    tasks = tasks_of([Cell("A", guess), Cell("B", guess)], SETTINGS, [row])
    assert [task.cell.dataset for task in tasks] == ["B", "A"]
    assert tasks[1].seconds == 3e6


def test_after_the_deadline_nothing_is_begun(guess, twins, tmp_path):
    store = tmp_path / "results.jsonl"
    outcomes = run([Cell("TWINS", guess)], store, lambda _name: twins, until=time.monotonic() - 1)
    assert [outcome.state for outcome in outcomes] == ["time is up"]
    assert not store.exists()


def test_a_budget_ends_an_evaluation_between_folds(guess, twins, tmp_path):
    store = tmp_path / "results.jsonl"
    assert tw.evaluate(guess, twins, n_folds=4, store=store, time_budget=0).rows == []
    assert len(tw.evaluate(guess, twins, n_folds=4, store=store, time_budget=600).rows) == 4


def test_missing_data_stops_only_its_own_cells(guess, twins, tmp_path):
    def load(name):
        if name == "NOWHERE":
            raise TwinWLError("put NOWHERE.zip\n into the folder")
        return twins

    cells = [Cell("NOWHERE", guess), Cell("NOWHERE", "wl-svc"), Cell("TWINS", guess)]
    outcomes = {outcome.cell: outcome for outcome in run(cells, tmp_path / "r.jsonl", load)}
    assert outcomes[Cell("TWINS", guess)].state == "done"
    assert outcomes[Cell("NOWHERE", guess)] == (cells[0], "no data", "put NOWHERE.zip into the folder")


def test_a_method_that_fails_is_reported_and_the_others_go_on(guess, twins, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "broken", Method("broken", "sklearn.svm:SVC"))
    outcomes = run([Cell("TWINS", "broken"), Cell("TWINS", guess)], tmp_path / "r.jsonl", lambda _name: twins)
    states = {outcome.cell.method: outcome for outcome in outcomes}
    assert states["broken"].state == "failed"
    assert states["broken"].message
    assert states[guess].state == "done"


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
