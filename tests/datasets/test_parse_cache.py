from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batch_equality import assert_same_graphs
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.datasets.dataset import Dataset, RowError
from twinwl.datasets.records import parsed
from twinwl.errors import TwinWLWarning
from twinwl.files.model_files import from_json, restore, to_json

TINY = Dataset("tiny", GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]]), np.array([1, -1]))


class Parser:
    """Counts how often it is asked."""

    def __init__(self, content=TINY):
        self.content = content
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.content


def kept(content):
    """Return a data set as a file holds it."""
    arrays = {}
    text = json.dumps(to_json(content, arrays, "data"))
    return restore(Dataset, from_json(json.loads(text), arrays))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.zip"
    path.write_bytes(b"content")
    return path


def entry(own_cache):
    return next(own_cache.rglob("*.npz"))


LABELS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(),
    st.tuples(st.integers(), st.booleans(), st.binary()),
)  # fmt: skip


@given(st.lists(st.lists(LABELS, min_size=2, max_size=2), min_size=1, max_size=4))
def test_labels_of_every_kind_come_back(labels):
    batch = GraphBatch.from_edges([[(0, 1)]] * len(labels), node_labels=labels)
    again = kept(Dataset("x", batch, np.arange(len(labels)))).graphs
    assert repr(again.node_vocabulary) == repr(batch.node_vocabulary)
    assert_same_graphs(again, batch)


def test_everything_comes_back():
    batch = GraphBatch.from_edges(
        [[(0, 1), (2, 1)], [], [(0, 1)]],
        num_nodes=[3, 0, 2],
        edge_labels=[["a", "b"], [], ["a"]],
        node_features=[np.eye(3), np.empty((0, 3)), np.ones((2, 3))],
        directed=True,
    )
    content = Dataset(
        "x",
        batch,
        np.array(["yes", "no", "no"]),
        smiles=("C", "CC", "CCC"),
        names=("a", "b", "\udcff"),
        rows=np.array([0, 1, 300]),
        errors=(RowError(2, 7, "graph", "cut off"), RowError(3, None, "target", "missing")),
        target="active",
    )
    again = kept(content)
    assert_same_graphs(again.graphs, batch)
    np.testing.assert_array_equal(again.graphs.node_features, batch.node_features)
    assert again.graphs.directed
    assert again.y.tolist() == ["yes", "no", "no"]
    assert again.rows.tolist() == [0, 1, 300]
    for part in ("name", "smiles", "names", "errors", "target"):
        assert getattr(again, part) == getattr(content, part)


def test_second_time_nothing_is_parsed(file):
    parser = Parser()
    first, second = parsed(file, "tu", parser), parsed(file, "tu", parser)
    assert parser.calls == 1
    assert_same_graphs(first.graphs, second.graphs)
    assert second.y.tolist() == [1, -1]


def test_content_and_format_decide_not_the_name(file, tmp_path):
    parser = Parser()
    parsed(file, "tu", parser)
    copy = tmp_path / "copy.zip"
    copy.write_bytes(file.read_bytes())
    parsed(copy, "tu", parser)
    assert parser.calls == 1
    parsed(file, "other format", parser)
    assert parser.calls == 2
    file.write_bytes(b"other content")
    parsed(file, "tu", parser)
    assert parser.calls == 3


def test_nothing_is_written_beside_the_file(file):
    before = set(file.parent.iterdir())
    parsed(file, "tu", Parser())
    assert set(file.parent.iterdir()) - before <= {file.parent / "cache"}


GRAPHS = "data/0/graphs/"


def damage_bytes(path):
    path.write_bytes(path.read_bytes()[:-50])


def drop_an_array(path):
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in kept.files if name != GRAPHS + "indptr"}
    np.savez(path, **arrays)


def shorten_classes(path):
    change(path, {"y": np.array([1])})


def point_outside(path):
    change(path, {GRAPHS + "indices": np.array([200, 0, 2, 1, 1, 0], dtype=np.int32)})


def lose_nodes(path):
    change(path, {GRAPHS + "graph_ptr": np.array([0, 200, 400])})


def break_the_text(path):
    change(path, {"json": np.frombuffer(b"{not json", np.uint8)})


def change(path, changes):
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in kept.files}
    np.savez(path, **(arrays | changes))


@pytest.mark.parametrize(
    "harm", [damage_bytes, drop_an_array, shorten_classes, point_outside, lose_nodes, break_the_text]
)
def test_damaged_entry_is_parsed_again_in_silence_and_healed(file, own_cache, harm):
    parser = Parser()
    parsed(file, "tu", parser)
    harm(entry(own_cache))
    assert_same_graphs(parsed(file, "tu", parser).graphs, TINY.graphs)
    assert parser.calls == 2
    parsed(file, "tu", parser)
    assert parser.calls == 2


def test_full_disk_warns_and_the_data_is_there(file, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(TwinWLWarning, match="No space left on device"):
        assert_same_graphs(parsed(file, "tu", Parser()).graphs, TINY.graphs)


@given(batches(), st.booleans())
def test_random_batches_come_back(batch, reverse):
    batch = batch[::-1] if reverse else batch
    assert_same_graphs(kept(Dataset("x", batch, np.arange(len(batch)))).graphs, batch)


def test_several_targets_with_missing_ones_come_back(file):
    table = np.array([[1.0, np.nan], [0.0, 2.0]])
    several = Dataset("tiny", TINY.graphs, table, tasks=("a", "b"))
    for _ in range(2):
        found = parsed(file, "tu", Parser(several))
        assert found.tasks == ("a", "b")
        np.testing.assert_array_equal(found.y, table)


def test_the_atom_level_of_molecules_is_cached():
    content = replace(TINY, graphs=replace(TINY.graphs, atoms="ecfp"))
    assert kept(content).graphs.atoms == "ecfp"
