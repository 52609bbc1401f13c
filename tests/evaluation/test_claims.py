"""Processes that share a store share its work: no unit is run twice, and none is lost with its owner."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.evaluation.test_store import result
from twinwl.evaluation.claims import Claims, SharedWork
from twinwl.evaluation.store import ResultStore, row_key

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")

N_FOLDS = 8
WORKER = f"""
import sys, time
import twinwl as tw
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from twinwl.evaluation import evaluate as home
real = home.run_fold
def watched(unit, *arguments, **options):
    print("began", unit.key["fold"], flush=True)
    if sys.argv[2] == "hang":
        time.sleep(600)
    time.sleep(0.05)  # so that the work of both overlaps
    return real(unit, *arguments, **options)
home.run_fold = watched
pipeline = make_pipeline(tw.STwinVectorizer(1), DecisionTreeClassifier(random_state=0))
data = tw.load_dataset("TWINS", n_pairs=20)
print("ready", flush=True)
sys.stdin.readline()
result = tw.evaluate(pipeline, data, n_folds={N_FOLDS}, store=sys.argv[1])
print("folds", *sorted(row["fold"] for row in result.rows), flush=True)
"""
ALL_FOLDS = "folds " + " ".join(map(str, range(N_FOLDS)))


def worker(store, mode="run"):
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, store, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def start(process):
    process.stdin.write("\n")
    process.stdin.flush()


def lines_of(store):
    return store.read_text().splitlines() if store.exists() else []


def test_two_processes_run_each_fold_once(tmp_path):
    store = tmp_path / "results.jsonl"
    both = [worker(store), worker(store)]
    for process in both:
        start(process)
    said = [process.communicate(timeout=300)[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    begun = Counter(line for lines in said for line in lines if line.startswith("began"))
    assert begun == {f"began {fold}": 1 for fold in range(N_FOLDS)}
    assert [lines[-1] for lines in said] == [ALL_FOLDS, ALL_FOLDS], "each has the results of both"
    assert len(lines_of(store)) == N_FOLDS
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]


def test_what_a_killed_process_had_claimed_is_run_by_the_one_that_waits(tmp_path):
    store = tmp_path / "results.jsonl"
    victim, survivor = worker(store, "hang"), worker(store)
    start(victim)
    assert victim.stdout.readline() == "began 0\n"
    start(survivor)
    until = time.monotonic() + 300
    while len(lines_of(store)) < N_FOLDS - 1:
        assert survivor.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    assert survivor.poll() is None, "it waits for the fold that is claimed"
    victim.kill()
    victim.communicate()
    said = survivor.communicate(timeout=300)[0].splitlines()
    assert survivor.returncode == 0
    assert said[-2:] == ["began 0", ALL_FOLDS]
    assert len(lines_of(store)) == N_FOLDS


def test_a_claim_that_was_given_up_can_be_taken(tmp_path):
    store = tmp_path / "results.jsonl"
    with Claims(store) as mine, Claims(store) as theirs:
        assert mine.take("a")
        assert not mine.take("a")
        assert not theirs.take("a")
        mine.release("a")
        assert theirs.take("a")
        assert not mine.take("a")
    assert list(tmp_path.iterdir()) == []


def test_without_locks_everything_may_be_run(tmp_path):
    (tmp_path / "results.jsonl.claims").write_text("no folder can be here")
    with Claims(tmp_path / "results.jsonl") as mine, Claims(tmp_path / "results.jsonl") as theirs:
        assert mine.take("a")
        assert theirs.take("a")


def shared(store, claims, seconds=300.0, n_folds=3):
    keys = [row_key(result(fold)) for fold in range(n_folds)]
    return SharedWork(keys, store, claims, lambda _row: True, time.monotonic() + seconds)


def test_what_was_finished_between_looking_and_claiming_is_not_run(tmp_path):
    store = ResultStore(tmp_path / "results.jsonl")
    with Claims(store.path) as claims:
        work = shared(store, claims)
        store.append(result(1))  # by another process
        keys = []
        for stream in work.rounds():
            for key in stream:
                keys.append(key)
                work.finish(result(len(keys) * 2 - 2))
        assert keys == [row_key(result(0)), row_key(result(2))]
        assert [row["fold"] for row in work.rows] == [0, 1, 2]


def test_nobody_is_waited_for_when_the_time_is_up(tmp_path):
    store = ResultStore(tmp_path / "results.jsonl")
    with Claims(store.path) as theirs, Claims(store.path) as mine:
        assert theirs.take(row_key(result(0)))
        work = shared(store, mine, seconds=0.0)
        assert list(work.rounds()) == []
        assert len(work.missing) == 3
