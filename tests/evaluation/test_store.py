"""Results survive kills, neighbours, broken lines and full disks."""

import errno
import json
import os
import subprocess
import sys

import pytest

from twinwl import TwinWLError
from twinwl.errors import TwinWLWarning
from twinwl.evaluation.result import FORMAT, ResultStore, row_key


def result(fold, /, **changes):
    row = {
        "dataset": "D",
        "digest": "d",
        "method": "m",
        "version": 1,
        "config": {"a": 1},
        "splits": "10 folds",
        "seed": 0,
        "fold": fold,
        "scores": {"accuracy": 0.5},
    }
    return {**row, **changes}


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "deep" / "results.jsonl")


def test_what_is_appended_is_read_back(store):
    for fold in range(3):
        store.append(result(fold))
    assert [row["fold"] for row in store.rows()] == [0, 1, 2]
    assert store.rows()[0] == {"format": FORMAT, **result(0)}


def test_a_store_that_is_not_there_is_empty(store):
    assert store.rows() == []
    assert not store.path.exists()


def test_the_newest_of_equal_keys_counts(store):
    store.append(result(0))
    store.append(result(0, scores={"accuracy": 0.9}))
    assert [row["scores"]["accuracy"] for row in store.rows()] == [0.9]


@pytest.mark.parametrize(
    "field", ["dataset", "digest", "method", "version", "config", "splits", "seed", "fold"]
)
def test_each_key_field_keeps_results_apart(field):
    assert row_key(result(0)) != row_key(result(0, **{field: "other"}))


def test_a_line_cut_by_a_kill_is_set_aside_and_nothing_else_is_lost(store):
    for fold in range(2):
        store.append(result(fold))
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-20])
    store.append(result(2))
    with pytest.warns(TwinWLWarning, match=r"broken lines 2 \(1 in all\)"):
        rows = store.rows()
    assert [row["fold"] for row in rows] == [0, 2]


@pytest.mark.parametrize(
    "line", [b"{}", b"[1]", b"nonsense", b'{"format": 1, "dataset": "D"}', b"\xff\xfe", b"[" * 5000]
)
def test_what_is_no_result_is_reported_with_its_line_number(store, line):
    store.append(result(0))
    with store.path.open("ab") as stream:
        stream.write(line + b"\n")
    store.append(result(1))
    with pytest.warns(TwinWLWarning, match="broken lines 2"):
        assert [row["fold"] for row in store.rows()] == [0, 1]


@pytest.mark.parametrize(
    "changes",
    [
        {"scores": None},
        {"scores": {"accuracy": "0.5"}},
        {"config": []},
        {"fold": "1"},
        {"dataset": 7},
    ],
)
def test_a_result_with_a_field_missing_or_of_the_wrong_kind_is_set_aside(store, changes):
    store.append(result(0))
    store.append(result(1, **changes))
    with pytest.warns(TwinWLWarning, match=r"broken lines 2 \(1 in all\)"):
        assert [row["fold"] for row in store.rows()] == [0]


def test_many_broken_lines_are_counted_not_listed(store):
    store.path.parent.mkdir()
    store.path.write_bytes(b"nonsense\n" * 500)
    with pytest.warns(TwinWLWarning, match=r"lines 1, 2, 3, .*, 10, … \(500 in all\)"):
        assert store.rows() == []


def test_a_store_that_is_a_folder_is_refused(tmp_path):
    with pytest.raises(TwinWLError, match=r"cannot read the store .*; name a file"):
        ResultStore(tmp_path).rows()


def test_a_newer_format_is_refused(store):
    store.append(result(0))
    with store.path.open("ab") as stream:
        stream.write(json.dumps({"format": FORMAT + 1}).encode() + b"\n")
    with pytest.raises(TwinWLError, match="line 2: written in format 2"):
        store.rows()


def test_a_full_disk_loses_nothing(store, monkeypatch):
    store.append(result(0))

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("twinwl.evaluation.result.os.fsync", full)
    with pytest.raises(TwinWLError, match="No space left"):
        store.append(result(1))
    monkeypatch.undo()
    assert store.rows()[0]["fold"] == 0
    store.append(result(1))
    assert len(store.rows()) == 2


def test_not_a_number_cannot_enter(store):
    with pytest.raises(ValueError, match="JSON"):
        store.append(result(0, scores={"accuracy": float("nan")}))
    assert store.rows() == []


HOLDER = """
import sys
from twinwl.evaluation.result import ResultStore
with ResultStore(sys.argv[1]).held():
    print("holding", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_store_in_use_is_refused_until_its_process_has_died(store):
    store.append(result(0))
    command = [sys.executable, "-c", HOLDER, str(store.path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "holding\n"
    with pytest.raises(TwinWLError, match=r"results.jsonl is in use: another process .* another store"):
        store.append(result(1))
    assert len(store.rows()) == 1, "it can be read"
    holder.kill()
    holder.communicate()
    store.append(result(1))
    assert len(store.rows()) == 2
