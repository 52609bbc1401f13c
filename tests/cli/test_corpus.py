from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app

pytest.importorskip("pyarrow", reason="needs pyarrow")

runner = CliRunner()


def run(*arguments):
    result = runner.invoke(app, ["corpus", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "a.g6").write_text("Bw\nBW\nBg\nBw\nnonsense line\n")
    result = run("build", tmp_path / "a.g6", "-o", tmp_path / "corpus", "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "4 graphs in 1 shard" in result.output
    assert "1 row set aside" in result.output
    return tmp_path / "corpus"


def test_dedup_counts_and_its_corpus_has_the_distinct_graphs(corpus, tmp_path):
    result = run("dedup", corpus, "-o", tmp_path / "distinct", "--jobs", 1)
    assert "4 graphs, 2 distinct, 2 duplicates" in result.output
    rows = [
        json.loads(line)
        for line in run("info", tmp_path / "distinct", "--rows", 9, "--json").stdout.splitlines()
    ]
    assert [row["id"].rsplit("#")[-1] for row in rows] == ["0", "1"]
    # the path of three nodes, as in the README
    assert rows[1]["hash"] == "twl2:3772b50e39eec530dc7d7307a0ce9aec"
    overlap = run("overlap", corpus, tmp_path / "distinct", "--jobs", 1)
    assert "2 distinct graphs in common" in overlap.output


def test_info_describes_it_and_shows_rows(corpus):
    info = json.loads(run("info", corpus, "--json").stdout)
    assert (info["graphs"], info["errors"], info["nodes"], info["edges"]) == (4, 1, 12, 10)
    assert "twl2:" in run("info", corpus, "--rows", 2).stdout
    some = ("info", corpus, "--rows", 2, "--seed", 3)
    assert run(*some).stdout == run(*some).stdout


def test_a_date_that_python_does_not_know_is_one_error(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days = pa.array([2**30], pa.date32())
    pq.write_table(pa.table({"ends": [[0, 1]], "day": days}), tmp_path / "a.parquet")
    assert run("build", tmp_path / "a.parquet", "-o", tmp_path / "corpus", "--jobs", 1).exit_code == 0
    assert "a value of these rows cannot be shown" in run("info", tmp_path / "corpus", "--rows", 1).output


def test_a_finished_job_says_so_again_and_events_are_lines_of_json(corpus, tmp_path):
    before = (corpus / "shards" / "part-00000.parquet").read_bytes()
    result = run("build", tmp_path / "a.g6", "-o", corpus, "--jobs", 1, "--json")
    assert json.loads(result.stdout.splitlines()[-1])["rows"] == 4
    assert (corpus / "shards" / "part-00000.parquet").read_bytes() == before


def test_features_have_one_vocabulary(corpus, tmp_path):
    result = run("features", corpus, "-o", tmp_path / "features", "--jobs", 1)
    assert "4 graphs × 9 columns" in result.output
    assert (tmp_path / "features" / "vocabulary.twinwl").exists()


def test_a_changed_input_and_what_is_no_corpus_are_refused(corpus, tmp_path):
    (tmp_path / "a.g6").write_text("Bw\n")
    result = run("build", tmp_path / "a.g6", "-o", corpus, "--jobs", 1)
    assert result.exit_code == 2
    assert "--fresh" in result.output
    for command in (["info"], ["dedup", "-o", tmp_path / "out"]):
        result = run(command[0], tmp_path, *command[1:])
        assert result.exit_code == 2
        assert "not a corpus" in result.output


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells switch off for what runs behind them
from twinwl.cli.app import main
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a small pipe and signals")
def test_an_interrupted_job_can_go_on(tmp_path):
    import fcntl  # noqa: PLC0415

    (tmp_path / "a.g6").write_text("Bw\nBW\nBg\n" * 20)
    words = ["build", tmp_path / "a.g6", "-o", tmp_path / "cut", "--rows-per-shard", 1, "--json"]
    job = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, "corpus", *map(str, words), "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    fcntl.fcntl(job.stdout, fcntl.F_SETPIPE_SZ, 4096)  # holds a few events only: it cannot be over too soon
    first = json.loads(job.stdout.readline())
    assert {"event": "task", "stage": "build", "total": 60, "set_aside": 0}.items() <= first.items()
    os.killpg(job.pid, signal.SIGINT)  # as Ctrl-C does
    _, errors = job.communicate(timeout=300)
    assert (job.returncode, errors.decode().splitlines()[-1]) == (130, "twinwl: interrupted")
    assert "not finished" in run("info", tmp_path / "cut").output
    again = run(*words, "--jobs", 1).stdout.splitlines()
    assert 1 < len(again) < 61
    assert json.loads(again[-1])["rows"] == 60
    assert run(*words[:3], tmp_path / "whole", *words[4:], "--jobs", 1).exit_code == 0
    for path in (tmp_path / "whole" / "shards").iterdir():
        assert (tmp_path / "cut" / "shards" / path.name).read_bytes() == path.read_bytes()
