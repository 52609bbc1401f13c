"""A job that was stopped goes on, and ends with the same bytes; what has changed or is broken is noticed."""

import os
import re
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import twinwl as tw
from tests.corpus.graphs import atlas, shards_of
from twinwl.corpus.shards import write_shard

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
BUILD = {"rows_per_shard": 200, "workers": 1}

# Kills itself with SIGKILL while the fourth task of a stage is under way.
KILLED = """
import os, signal, sys
import twinwl as tw
import twinwl.corpus.{module} as module

usual, calls = module.{function}, []

def dying(*given):
    calls.append(0)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(*given)

module.{function} = dying
{call}
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_text("\n".join(atlas(500)) + "\n")
    return path


def killed(module, function, call):
    script = KILLED.format(module=module, function=function, call=call)
    done = subprocess.run([sys.executable, "-c", script], check=False, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_killed_build_and_dedup_go_on_to_the_same_bytes(source, tmp_path):
    whole = tw.Corpus.build(source, tmp_path / "whole", **BUILD)
    killed("pieces", "shard_of", f"tw.Corpus.build({str(source)!r}, {str(tmp_path / 'cut')!r}, **{BUILD})")
    with pytest.raises(tw.TwinWLError, match="not finished"):
        tw.Corpus(tmp_path / "cut")
    events = []
    cut = tw.Corpus.build(source, tmp_path / "cut", on_event=events.append, **BUILD)
    assert (
        len([event for event in events if event["event"] == "task"]) == 2
    )  # of five shards, three were done
    assert shards_of(cut.folder) == shards_of(whole.folder)
    expected = shards_of(whole.dedup(tmp_path / "distinct", workers=1).folder)
    killed(
        "comparing",
        "groups_of",
        f"tw.Corpus({str(cut.folder)!r}).dedup({str(tmp_path / 'again')!r}, workers=1)",
    )
    assert shards_of(cut.dedup(tmp_path / "again", workers=1).folder) == expected
    assert not list(tmp_path.rglob("*.tmp")) + list(tmp_path.rglob("work"))


def test_journal_that_was_cut_off_is_read_up_to_there(source, tmp_path):
    whole = tw.Corpus.build(source, tmp_path / "whole", **BUILD)
    killed("pieces", "shard_of", f"tw.Corpus.build({str(source)!r}, {str(tmp_path / 'cut')!r}, **{BUILD})")
    journal = tmp_path / "cut" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    assert shards_of(tw.Corpus.build(source, tmp_path / "cut", **BUILD).folder) == shards_of(whole.folder)


def test_changed_input_and_settings_are_noticed(source, tmp_path):
    tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    with pytest.raises(tw.TwinWLError, match="rows_per_shard = 200, now it is 100"):
        tw.Corpus.build(source, tmp_path / "corpus", rows_per_shard=100, workers=1)
    lines = source.read_text().split()
    lines[450] = "Bw"
    source.write_text("\n".join(lines) + "\n")
    with pytest.raises(tw.TwinWLError, match=r"'part-00002\.parquet' has changed since it was made"):
        tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    assert (
        tw.Corpus.build(source, tmp_path / "corpus", fresh=True, **BUILD).table([450])["n_nodes"][0].as_py()
        == 3
    )


def test_result_of_another_corpus_is_not_taken_for_this_one(source, tmp_path):
    tw.Corpus.build(source, tmp_path / "a", **BUILD).dedup(tmp_path / "out", workers=1)
    source.write_text("Bw\nBg\n")
    other = tw.Corpus.build(source, tmp_path / "b", **BUILD)
    with pytest.raises(tw.TwinWLError, match="was begun with of = "):
        other.dedup(tmp_path / "out", workers=1)


@pytest.mark.parametrize("damage", ["missing", "cut off", "other bytes", "other columns", "other keys"])
def test_broken_shard_is_one_error_and_the_rest_is_kept(source, tmp_path, damage):
    corpus = tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    path = corpus.shards[1]
    good = path.read_bytes()
    table = pq.read_table(path)
    if damage == "missing":
        path.unlink()
    elif damage == "cut off":
        path.write_bytes(good[: len(good) // 2])
    elif damage == "other bytes":
        path.write_bytes(good[:200] + bytes(50) + good[250:])
    elif damage == "other columns":
        pq.write_table(table.append_column("more", pa.array(range(len(table)))), path)
    else:
        keys = table.column("key_low").to_numpy() + np.uint64(1)
        pq.write_table(table.set_column(6, "key_low", pa.array(keys)), path)
    with pytest.raises(tw.TwinWLError, match=re.escape(str(path))) as caught:
        corpus.dedup(tmp_path / "out", workers=1)
    assert "only what is missing is built; the rest is done and kept" in str(caught.value)
    events = []
    path.unlink(missing_ok=True)
    corpus = tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    assert path.read_bytes() == good
    corpus.dedup(tmp_path / "out", workers=1, on_event=events.append)
    assert len([event for event in events if event.get("stage") == "sort"]) == 1


def test_folders_that_are_no_corpus(source, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("text")
    with pytest.raises(tw.TwinWLError, match=r"not a corpus: it has no manifest\.json"):
        tw.Corpus(tmp_path / "mine")
    with pytest.raises(tw.TwinWLError, match=r"'thesis\.txt' and no corpus"):
        tw.Corpus.build(source, tmp_path / "mine", fresh=True, **BUILD)
    (tmp_path / "mine" / "manifest.json").write_text("[1]")
    with pytest.raises(tw.TwinWLError, match="not the manifest of a corpus"):
        tw.Corpus(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()
    with pytest.raises(tw.TwinWLError, match="expected at least 512MiB"):
        tw.Corpus.build(source, tmp_path / "new", memory="1MiB")


def test_corpora_with_different_settings_are_not_compared(source, tmp_path):
    (tmp_path / "a.d6").write_text("&BP_\n")
    one = tw.Corpus.build(source, tmp_path / "one", **BUILD)
    other = tw.Corpus.build(tmp_path / "a.d6", tmp_path / "other", **BUILD)
    with pytest.raises(tw.TwinWLError, match="cannot be compared: directed is False there and True"):
        one.overlap(other)


def test_full_disk_is_one_error_and_the_job_goes_on_later(source, tmp_path):
    whole = tw.Corpus.build(source, tmp_path / "whole", **BUILD)
    largest = max(path.stat().st_size for path in whole.shards)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, usual[1]))
        with pytest.raises(tw.TwinWLError, match=r"cannot write .*part-.*parquet"):
            tw.Corpus.build(source, tmp_path / "cut", **BUILD)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, ignored)
    assert shards_of(tw.Corpus.build(source, tmp_path / "cut", **BUILD).folder) == shards_of(whole.folder)


def test_second_job_in_the_folder_is_refused_and_changes_nothing(source, tmp_path):
    corpus = tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    expected = shards_of(corpus.dedup(tmp_path / "alone", workers=1).folder)
    refused = []

    def meanwhile(event):
        if event["event"] == "task":
            before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
            with pytest.raises(tw.TwinWLError) as caught:
                corpus.dedup(tmp_path / "out", workers=1, fresh=len(refused) % 2 > 0)
            refused.append(str(caught.value))
            assert {path: path.read_bytes() for path in before} == before

    found = corpus.dedup(tmp_path / "out", workers=1, on_event=meanwhile)
    wanted = f"{tmp_path / 'out'}: another job is writing to it; wait for its end, or give another folder"
    assert len(refused) > 2
    assert set(refused) == {wanted}
    assert shards_of(found.folder) == expected
    assert len(corpus.dedup(tmp_path / "out", workers=1)) == len(found)  # the lock has gone


def test_error_of_writing_holds_no_view_of_a_stream(tmp_path):
    """CPython 3.12.0 and 3.12.1 crash when they collect an error whose traceback holds one (gh-111049)."""
    with pytest.raises(tw.TwinWLError, match="cannot write") as caught:
        write_shard(tmp_path / "missing" / "part-00000.parquet", pa.table({"id": ["a"]}))
    held = [value for frame, _ in traceback.walk_tb(caught.tb) for value in frame.f_locals.values()]
    assert not [value for value in held if isinstance(value, memoryview)]


def test_starting_afresh_deletes_what_a_job_made_and_nothing_else(source, tmp_path):
    """Another program's manifest.json does not make its folder a corpus."""
    mine = tmp_path / "mine"
    (mine / "work").mkdir(parents=True)
    (mine / "manifest.json").write_text('{"name": "an app"}')
    (mine / "work" / "thesis.txt").write_text("text")
    with pytest.raises(tw.TwinWLError, match="not the manifest of a corpus"):
        tw.Corpus.build(source, mine, fresh=True, **BUILD)
    assert (mine / "work" / "thesis.txt").read_text() == "text"
    assert (mine / "manifest.json").exists()
    corpus = tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    for n_iter in (1, 2):  # a vocabulary goes too
        found = corpus.features(tmp_path / "out", tw.STwinVectorizer(n_iter=n_iter), fresh=True, workers=1)
        assert found.n_iter == n_iter


def test_no_worker_is_left_behind(source, tmp_path):
    corpus = tw.Corpus.build(source, tmp_path / "corpus", **BUILD)
    tw.save(tw.STwinSVC(n_iter=1, C=1.0).fit(corpus.head(20).graphs, [0, 1] * 10), tmp_path / "model")
    before = children()
    corpus.features(tmp_path / "out", tw.STwinVectorizer(n_iter=1), workers=2)
    corpus.predict(tmp_path / "model", tmp_path / "answers", workers=2)
    assert children() <= before


def children():
    """Return the numbers of child processes, without joblib's tracker of resources, which stays."""
    lists = list(Path("/proc/self/task").glob("*/children"))
    if not lists:
        pytest.skip("needs /proc, with lists of children")
    found = {pid for path in lists for pid in path.read_text().split()}
    return {pid for pid in found if b"resource_tracker" not in Path("/proc", pid, "cmdline").read_bytes()}
