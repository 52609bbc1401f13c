"""A corpus gives what the same graphs give in memory, however it is cut and wherever it runs."""

import gzip
import json
import shutil
import subprocess

import numpy as np
import pytest

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from tests.corpus.graphs import atlas, expected_groups, groups_of, shards_of

pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")


@pytest.fixture(scope="module")
def texts():
    return atlas()


@pytest.fixture(scope="module")
def small(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    (folder / "graphs.g6").write_text("\n".join(texts) + "\n")
    return tw.Corpus.build(folder / "graphs.g6", folder / "corpus", rows_per_shard=300, workers=1)


def test_graphs_come_back_as_they_were(small, texts):
    assert len(small) == len(texts)
    assert len(small.shards) == 9
    assert_same_graphs(tw.concatenate(list(small)), tw.from_graph6(texts))


def test_groups_are_those_found_in_memory(small, texts, tmp_path):
    found = small.dedup(tmp_path / "out", workers=1)
    expected = expected_groups(tw.from_graph6(texts))
    assert (groups_of(tmp_path / "out") == expected).all()
    assert len(found) == found.manifest["groups"] == 1253
    first = np.unique(expected)
    assert_same_graphs(tw.concatenate(list(found)), tw.from_graph6([texts[row] for row in first]))
    copies = np.concatenate([pq.read_table(path).column("n_copies").to_numpy() for path in found.shards])
    assert (copies == np.bincount(np.searchsorted(first, expected))).all()


def test_result_does_not_depend_on_workers(small, tmp_path):
    source = small.folder.parent / "graphs.g6"
    again = tw.Corpus.build(source, tmp_path / "corpus", rows_per_shard=300, workers=2)
    assert shards_of(again.folder) == shards_of(small.folder)
    one, two = (small.dedup(tmp_path / f"out{workers}", workers=workers) for workers in (1, 2))
    assert shards_of(one.folder) == shards_of(two.folder)


def test_a_job_of_a_few_seconds_starts_no_process_unless_it_is_told_to(small, tmp_path, monkeypatch):
    class StartError(Exception):
        pass

    def refuse(_workers):
        raise StartError

    monkeypatch.setattr("twinwl.engines._Worker", refuse)
    monkeypatch.setattr("twinwl.engines._n_processors", lambda: 2)
    small.dedup(tmp_path / "here")
    with pytest.raises(StartError):
        small.dedup(tmp_path / "there", workers=2)
    monkeypatch.setattr("twinwl.corpus.jobs._ROWS_HERE", 0)
    with pytest.raises(StartError):
        small.dedup(tmp_path / "elsewhere")


def test_ranges_of_keys_do_not_change_the_result(small, tmp_path, monkeypatch):
    whole = small.dedup(tmp_path / "whole", workers=1)
    monkeypatch.setattr("twinwl.corpus.comparing.BYTES_PER_ENTRY", 1 << 23)  # some 85 entries fit
    ranges = []
    cut = small.dedup(tmp_path / "cut", workers=1, on_event=lambda event: ranges.append(event.get("stage")))
    assert ranges.count("group") > 20
    assert shards_of(whole.folder) == shards_of(cut.folder)


def test_many_copies_of_one_graph_are_one_entry_per_shard(tmp_path):
    (tmp_path / "copies.g6").write_text("Bw\n" * 50_000 + "BW\n" + "Bw\n" * 50_000)
    corpus = tw.Corpus.build(tmp_path / "copies.g6", tmp_path / "corpus", rows_per_shard=10_000, workers=1)
    entries = []

    def note(event):
        if event.get("stage") == "group":
            entries.append(event["rows"])

    found = corpus.dedup(tmp_path / "out", workers=1, on_event=note)
    assert len(found) == 2
    assert found.manifest["largest_group"] == 100_000
    assert entries == [12]  # eleven shards, one of which has both graphs


@pytest.mark.skipif(shutil.which("nauty-geng") is None, reason="needs nauty")
def test_all_graphs_of_eight_nodes_and_permuted_copies(tmp_path):
    lines = subprocess.run(["nauty-geng", "-q", "8"], capture_output=True, text=True, check=True)  # noqa: S607
    graphs = tw.from_graph6(lines.stdout.split())
    rng = np.random.default_rng(0)
    dense = np.zeros((len(graphs), 8, 8), bool)
    sources, targets = graphs.arcs()
    dense[sources // 8, sources % 8, targets % 8] = True
    orders = np.argsort(rng.random((len(graphs), 8)), axis=1)
    dense = np.take_along_axis(np.take_along_axis(dense, orders[:, :, None], 1), orders[:, None, :], 2)
    columns, rows = np.tril_indices(8, -1)
    bits = np.pad(dense[:, rows, columns], ((0, 0), (0, 2))).reshape(-1, 5, 6)
    copies = np.pad(bits @ (1 << np.arange(5, -1, -1)) + 63, ((0, 0), (1, 0)), constant_values=8 + 63)
    texts = np.array([*lines.stdout.split(), *(bytes(line).decode() for line in copies.tolist())])
    rng.shuffle(texts)
    (tmp_path / "graphs.g6").write_text("\n".join(texts) + "\n")
    corpus = tw.Corpus.build(tmp_path / "graphs.g6", tmp_path / "corpus", workers=1)
    assert len(corpus) == 24_692
    assert len(corpus.dedup(tmp_path / "out", workers=1)) == 12_346


def test_overlap_is_that_of_sets_of_groups(texts, tmp_path):
    halves = []
    for name, part in {"a": texts[:900], "b": texts[700:1500]}.items():
        (tmp_path / f"{name}.g6").write_text("\n".join(part))
        halves.append(
            tw.Corpus.build(tmp_path / f"{name}.g6", tmp_path / name, rows_per_shard=250, workers=1)
        )
    labels = tw.deduplicate(tw.from_graph6([*texts[:900], *texts[700:1500]])).labels
    here, there = labels[:900], labels[900:]
    found = halves[0].overlap(halves[1], tmp_path / "both", workers=1)
    assert found.shared == len(set(here) & set(there))
    assert (found.distinct, found.other_distinct) == (len(set(here)), len(set(there)))
    assert found.graphs_shared == np.isin(here, there).sum()
    assert found.other_graphs_shared == np.isin(there, here).sum()
    assert found == halves[0].overlap(tmp_path / "b", workers=1)
    rows = [
        row
        for path in sorted((tmp_path / "both").glob("shards/*"))
        for row in pq.read_table(path).to_pylist()
    ]
    assert [row["row"] for row in rows] == np.flatnonzero(np.isin(here, there)).tolist()
    assert all(row["other_row"] == there.tolist().index(here[row["row"]]) for row in rows)
    assert all(row["n_other"] == (there == here[row["row"]]).sum() for row in rows)


def test_hashes_are_those_of_the_graphs(small, texts):
    expected = tw.graph_hashes(tw.from_graph6(texts))
    assert [digest for _, digest in small.hashes()] == expected


def test_head_sample_and_table(small, texts):
    head = small.head(3)
    assert head.names == tuple(f"{small.folder.parent}/graphs.g6#{row}" for row in range(3))
    assert_same_graphs(head.graphs, tw.from_graph6(texts[:3]))
    some = small.sample(20, random_state=1)
    assert (np.diff(some.rows) > 0).all()
    assert_same_graphs(some.graphs, tw.from_graph6([texts[row] for row in some.rows]))
    assert some.names == small.sample(20, random_state=1).names != small.sample(20, random_state=2).names
    assert small.table([0, 2500]).column("id").to_pylist()[1].endswith("#2500")
    with pytest.raises(tw.TwinWLError, match="increasing numbers from 0 to 2,505"):
        small.table([2506])


def test_rows_that_are_no_graphs_are_set_aside(tmp_path):
    (tmp_path / "a.g6").write_bytes(b">>graph6<<Bw\n\n  BW  \nnonsense !\n&BP_\nB\xff\n:Bc\r\nBg")
    corpus = tw.Corpus.build(tmp_path / "a.g6", tmp_path / "corpus", workers=1)
    assert [graph.n_edges for graph in corpus.head(9).graphs] == [3, 2, 2, 2]
    assert [name.rpartition("#")[2] for name in corpus.head(9).names] == ["0", "1", "5", "6"]
    errors = pq.read_table(tmp_path / "corpus" / "errors" / "part-00000.parquet").to_pylist()
    assert [(row["row"], row["text"]) for row in errors] == [(2, "nonsense !"), (3, "&BP_"), (4, "B\\xff")]
    assert errors[1]["reason"] == "it is directed, the corpus is undirected"
    assert {row["file"] for row in errors} == {str(tmp_path / "a.g6")}
    assert corpus.info()["errors"] == 3


def test_where_lines_are_cut_does_not_matter(tmp_path, monkeypatch):
    lines = ["Bw", "", "BW", " ", "Bg", "x", "A_", "", "", "Bw"]
    (tmp_path / "a.g6").write_text("\n".join(lines))
    names = {}
    for block in (3, 1 << 20):
        monkeypatch.setattr("twinwl.corpus.pieces._BLOCK", block)
        for rows in (1, 2, 100):
            folder = tmp_path / f"corpus{block}-{rows}"
            names[block, rows] = (
                tw.Corpus.build(tmp_path / "a.g6", folder, rows_per_shard=rows, workers=1).head(9).names
            )
    assert len(set(names.values())) == 1


def test_pieces_of_large_graphs_have_few_rows_in_any_order(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    edges = [[end for u in range(n) for end in (u, u + 1)] for n in range(1, 41)]
    pq.write_table(pa.table({"ends": edges}), tmp_path / "paths.parquet", row_group_size=25)
    monkeypatch.setattr("twinwl.corpus.pieces._VALUES", 200)
    corpus = tw.Corpus.build(tmp_path / "paths.parquet", tmp_path / "corpus", workers=1)
    assert [entry["rows"] for entry in corpus.manifest["shards"]] == [7, 7, 7, 4] + [3] * 5
    for part in (3, 1, 2):  # decoded again, from the beginning of their row group
        whole = corpus.shards[part].read_bytes()
        corpus.shards[part].unlink()
        tw.Corpus.build(tmp_path / "paths.parquet", tmp_path / "corpus", workers=1)
        assert corpus.shards[part].read_bytes() == whole
    assert [graph.n_edges for batch in corpus for graph in batch] == list(range(1, 41))


def test_packed_files_and_patterns(texts, tmp_path):
    for name, part in {"b": texts[:40], "a": texts[40:90]}.items():
        with gzip.open(tmp_path / f"{name}.g6.gz", "wt") as stream:
            stream.write("\n".join(part))
    corpus = tw.Corpus.build(f"{tmp_path}/*.g6.gz", tmp_path / "corpus", rows_per_shard=30, workers=1)
    assert_same_graphs(tw.concatenate(list(corpus)), tw.from_graph6([*texts[40:90], *texts[:40]]))
    assert not (tmp_path / "corpus" / "work").exists()


def test_digraphs(tmp_path):
    (tmp_path / "a.d6").write_text("&BP_\n&BP_\n&B?O\nBw\n")
    corpus = tw.Corpus.build(tmp_path / "a.d6", tmp_path / "corpus", workers=1)
    (batch,) = corpus
    assert batch.directed
    assert corpus.manifest["errors"] == 1
    assert len(corpus.dedup(tmp_path / "out", workers=1)) == 2


def test_the_bar_tells_rate_rest_and_rows_set_aside(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "a.g6").write_text("Bw\nnonsense\nBW\n")
    tw.Corpus.build(tmp_path / "a.g6", tmp_path / "corpus", rows_per_shard=1, verbose=True)
    shown = capsys.readouterr().err
    assert "build" in shown
    assert "3/3" in shown
    assert "/s, 1 set aside" in shown


def test_events_tell_rate_and_rest(small, tmp_path):
    events = []
    small.dedup(tmp_path / "out", workers=1, on_event=events.append)
    last = [event for event in events if event.get("stage") == "dedup"][-1]
    assert last["done"] == last["total"] == len(small)
    assert last["rows_per_second"] > 0
    assert last["seconds_left"] == 0
    assert events[-1]["event"] == "done"
    assert json.dumps(events)
