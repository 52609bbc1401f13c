"""A corpus may come from a stranger: whatever its files hold, each call answers or refuses with our error."""

from __future__ import annotations

import copy
import json
import random
import shutil
import warnings

import numpy as np
import pytest

import twinwl as tw

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

MUTANTS = 150
QUICK = {"info", "table", "list"}  # of the calls, those that read all there is
HOSTILE = [None, -1, 2**70, float("nan"), "\ud800", "x" * 2000, [[1]], {"array": "x"}]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return a folder with a corpus of two shards, with labels and another column, and a model."""
    folder = tmp_path_factory.mktemp("sound")
    ends = [[0, 1, 1, 2], [0, 1], [0, 1, 1, 2, 0, 2], [0, 1]]
    labels = [["C", "O", "C"], ["C", "C"], ["C", "C", "N"], ["C", "N"]]
    table = {"id": list("abcd"), "ends": ends, "node_labels": labels, "y": [0, 1, 0, 1]}
    pq.write_table(pa.table(table), folder / "a.parquet")
    corpus = tw.Corpus.build(folder / "a.parquet", folder / "corpus", rows_per_shard=2, workers=1)
    assert corpus.info()["node_labels"] == ["'C'", "'N'", "'O'"]
    model = tw.STwinSVC(n_iter=1, C=1.0).fit(corpus.head(4).graphs, [0, 1, 0, 1])
    tw.save(model, folder / "model.twinwl")
    return folder


def calls(folder, corpus, out):
    """Return every public call on a corpus, by name."""
    quick = {"workers": 1, "verbose": False}
    opened = tw.Corpus(corpus)
    return {
        "list": lambda: [len(opened), repr(opened), list(opened)],
        "head": opened.head,
        "sample": lambda: opened.sample(2),
        "table": lambda: opened.table([0, 2]),
        "no table": lambda: opened.table(np.empty(0, np.int64)),
        "hashes": lambda: list(opened.hashes()),
        "info": opened.info,
        "dedup": lambda: opened.dedup(out / "dedup", **quick),
        "overlap": lambda: opened.overlap(folder / "corpus", out / "overlap", **quick),
        "other": lambda: tw.Corpus(folder / "corpus").overlap(opened, **quick),
        "features": lambda: opened.features(out / "features", **quick),
        "predict": lambda: opened.predict(folder / "model.twinwl", out / "predict", **quick),
        "build": lambda: tw.Corpus.build(folder / "a.parquet", corpus, rows_per_shard=2, **quick),
    }


def refusals(folder, corpus, out, *, only=None):
    """Call everything; return what was refused. Any error that is not ours is passed on."""
    found = []
    shutil.rmtree(out, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TwinWLWarning)
        try:
            for name, call in calls(folder, corpus, out).items():
                if only is None or name in only:
                    try:
                        call()
                    except tw.TwinWLError as error:
                        found.append(str(error))
        except tw.TwinWLError as error:
            found.append(str(error))
    assert all("\n" not in message and len(message) < 1000 for message in found)
    return found


@pytest.fixture
def corpus(sound, tmp_path):
    shutil.copytree(sound / "corpus", tmp_path / "corpus")
    return tmp_path / "corpus"


def test_sound_corpus_is_refused_by_no_call(sound, corpus, tmp_path):
    assert refusals(sound, corpus, tmp_path / "out") == []


def places(value, path=()):
    """Yield the path of every value in a JSON document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def replaced(document, path, value):
    if not path:
        return value
    document = copy.deepcopy(document)
    inside = document
    for key in path[:-1]:
        inside = inside[key]
    if value is DELETED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return document


DELETED = object()


def test_every_value_of_a_manifest_is_checked(sound, corpus, tmp_path):
    path = corpus / "manifest.json"
    good = json.loads(path.read_bytes())
    for place in places(good):
        for value in (*HOSTILE, *([DELETED] if place else [])):
            path.write_text(json.dumps(replaced(good, place, value)))
            refusals(sound, corpus, tmp_path / "out", only={"info", "table"})


@pytest.mark.parametrize("job", ["build", "dedup", "overlap", "features", "predict"])
def test_every_value_of_a_journal_is_checked(sound, tmp_path, job):
    """A journal of valid JSON that no job writes: the job resumes, or one error names the file."""
    corpus, torn, out = sound / "corpus", tmp_path / "torn", tmp_path / "out"

    def run(folder, **running):
        opened, running = tw.Corpus(corpus), {"workers": 1, "verbose": False, **running}
        match job:
            case "build":
                tw.Corpus.build(sound / "a.parquet", folder, rows_per_shard=2, **running)
            case "overlap":
                opened.overlap(corpus, folder, **running)
            case "predict":
                opened.predict(sound / "model.twinwl", folder, **running)
            case _:
                getattr(opened, job)(folder, **running)

    def stop(event):
        if event.get("stage") == job:  # the last stage, after one of its two shards
            raise tw.TwinWLError("stop")

    with pytest.raises(tw.TwinWLError, match="stop"):
        run(torn, on_event=stop)
    lines = [json.loads(line) for line in (torn / "journal.jsonl").read_text().splitlines()]
    for place in places(lines):
        for value in (None, -1, [[1]], DELETED) if place and place[1:2] != ("settings",) else ():
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(torn, out)
            changed = replaced(lines, place, value)
            (out / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
            try:
                run(out)
            except tw.TwinWLError as error:
                assert str(out) in str(error)  # noqa: PT017
                assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "name", ["../../x.parquet", "/etc/passwd", "a/b", "..", "", "a\\b", "C:x", "a\0", "x" * 300]
)
def test_shard_outside_the_folder_is_refused(corpus, name):
    path = corpus / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["shards"][0]["name"] = name
    path.write_text(json.dumps(manifest))
    with pytest.raises(
        tw.TwinWLError, match=r"shards\[0\]: name: got .*, expected the name of a file, without"
    ):
        tw.Corpus(corpus)


def test_digest_that_cannot_be_encoded_is_refused(corpus):
    path = corpus / "manifest.json"
    path.write_text(json.dumps(replaced(json.loads(path.read_bytes()), ("shards", 0, "digest"), "\ud800")))
    with pytest.raises(tw.TwinWLError, match="expected 32 hexadecimal digits"):
        tw.Corpus(corpus)


def column(table, name, values, kind=None):
    return table.set_column(table.column_names.index(name), name, pa.array(values, kind or table[name].type))


METADATA = {"format": 1, "directed": False, "node_labels": ["C", "O"], "edge_labels": None}
SHARDS = {
    "null id": lambda table: column(table, "id", ["a", None]),
    "id no text": lambda table: column(table, "id", pa.array([b"\xff", b"b"]).view(pa.string())),
    "null size": lambda table: column(table, "n_nodes", [3, None]),
    "negative size": lambda table: column(table, "n_nodes", [3, -2]),
    "huge size": lambda table: column(table, "n_nodes", [3, 2**31 - 1]),
    "null key": lambda table: column(table, "key_low", [1, None]),
    "null ends": lambda table: column(table, "ends", [None, [0, 1]]),
    "null end": lambda table: column(table, "ends", [[0, None], [0, 1]]),
    "odd ends": lambda table: column(table, "ends", [[0, 1, 1], [0]]),
    "no such node": lambda table: column(table, "ends", [[0, 9], [0, 1]]),
    "no such label": lambda table: column(table, "node_labels", [[0, 9, 0], [0, 0]]),
    "null label": lambda table: column(table, "node_labels", [[0, None, 0], [0, 0]]),
    "few labels": lambda table: column(table, "node_labels", [[0], None]),
    "few rows": lambda table: table.slice(0, 1),
    "no rows": lambda table: table.slice(0, 0),
    "many rows": lambda table: pa.concat_tables([table, table]),
    "twice": lambda table: table.append_column("id", table["id"]),
    "other type": lambda table: column(table, "n_nodes", ["a", "b"], pa.string()),
    "no column": lambda table: table.drop_columns(["ends"]),
    **{
        f"metadata {said[:30]}": lambda table, said=said: table.replace_schema_metadata({b"twinwl": said})
        for said in (b"", b"[]", b"{}", b"\xff", b"[" * 10**5, b'{"format": 1}')
    },
    **{
        f"metadata {change}": lambda table, change=change: table.replace_schema_metadata(
            {b"twinwl": json.dumps(METADATA | change)}
        )
        for change in (
            {"directed": 1}, {"node_labels": "CN"}, {"node_labels": [[1], [2]]},
            {"node_labels": ["C", "C"]}, {"node_labels": [{"array": "x"}, "C"]}, {"edge_labels": {}},
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("change", SHARDS)
def test_shard_of_valid_parquet_with_other_content(sound, corpus, tmp_path, change):
    path = corpus / "shards" / "part-00000.parquet"
    pq.write_table(SHARDS[change](pq.read_table(path)), path)
    assert refusals(sound, corpus, tmp_path / "out", only=QUICK)


def test_types_that_the_manifest_has_too_are_refused(sound, corpus, tmp_path):
    manifest = json.loads((corpus / "manifest.json").read_bytes())
    for path in (corpus / "shards").iterdir():
        pq.write_table(column(pq.read_table(path), "n_nodes", [1.5, 2.5], pa.float64()), path)
    manifest["columns"]["n_nodes"] = "double"
    (corpus / "manifest.json").write_text(json.dumps(manifest))
    assert "columns: got" in refusals(sound, corpus, tmp_path / "out")[0]


def test_damaged_shards_are_read_or_refused(sound, corpus, tmp_path):
    path = corpus / "shards" / "part-00001.parquet"
    good = path.read_bytes()
    chance = random.Random("twinwl shards")  # noqa: S311  (the same mutants every time)
    for _ in range(MUTANTS):
        data = bytearray(good)
        for _ in range(chance.choice((1, 2, 8))):
            place = chance.randrange(len(data) + 1)
            match chance.randrange(3):
                case 0 if place < len(data):
                    data[place] = chance.randrange(256)
                case 1:
                    del data[place : place + chance.randrange(9)]
                case _:
                    data[place:place] = data[place : place + 9]
        path.write_bytes(data)
        refusals(sound, corpus, tmp_path / "out", only={"list"})
