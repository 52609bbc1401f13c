"""Results survive kills, neighbours, broken lines and full disks."""

import errno
import json
import os
import subprocess
import sys

import pytest

from twinwl import TwinWLError
from twinwl.errors import TwinWLWarning
from twinwl.evaluation.store import FORMAT, ResultStore, row_key


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
    assert store.side_file.read_bytes() == whole.split(b"\n")[1][:-19] + b"\n"
    with pytest.warns(TwinWLWarning):
        store.rows()
    assert store.side_file.read_bytes().count(b"\n") == 1, "a broken line is kept once"


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
        {"metrics": 5},
        {"curves": {}},  # a trained fold has the rest of its fields too
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


@pytest.mark.parametrize("failure", ["error", "short write"])
def test_a_full_disk_loses_nothing(store, monkeypatch, failure):
    store.append(result(0))
    before = store.path.read_bytes()
    real_write = os.write

    def full(descriptor, line):
        written = real_write(descriptor, line[:10])
        if failure == "error":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written

    monkeypatch.setattr("twinwl.evaluation.store.os.write", full)
    with pytest.raises(TwinWLError, match="No space left"):
        store.append(result(1))
    monkeypatch.undo()
    assert store.path.read_bytes() == before
    store.append(result(1))
    assert len(store.rows()) == 2


def test_not_a_number_cannot_enter(store):
    with pytest.raises(ValueError, match="JSON"):
        store.append(result(0, scores={"accuracy": float("nan")}))
    assert store.rows() == []


WRITER = """
import sys
from twinwl.evaluation.store import ResultStore
store = ResultStore(sys.argv[1])
for fold in range(int(sys.argv[2]), int(sys.argv[3])):
    store.append({"dataset": "D", "digest": "d", "method": "m", "version": 1, "config": {"long": "x" * 5000},
                  "splits": "s", "seed": 0, "fold": fold, "scores": {"accuracy": 0.5}})
"""


def test_two_processes_do_not_corrupt_one_store(store):
    store.path.parent.mkdir()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(store.path), str(start), str(start + 60)])
        for start in (0, 60, 120)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert sorted(row["fold"] for row in store.rows()) == list(range(180))
