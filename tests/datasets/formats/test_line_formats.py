from __future__ import annotations

import gzip
import io
from types import SimpleNamespace

import pytest

from twinwl.datasets import records
from twinwl.datasets.source import ReadOptions, iter_source, load_dataset
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning


def test_blocks_hold_at_most_block_graphs(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("A_\n" * 10)
    parts = list(iter_source(path, ReadOptions(), block=4))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert parts[2].rows.tolist() == [8, 9]
    assert parts[2].names == (f"{path}#8", f"{path}#9")
    with pytest.raises(TwinWLError, match="block: got 0, expected an integer of at least 1"):
        list(iter_source(path, ReadOptions(), block=0))


def test_only_one_block_is_read_ahead(tmp_path, monkeypatch):
    taken = []

    def endless(_):
        for number in range(10**9):
            taken.append(number)
            yield number + 1, "A_"

    monkeypatch.setattr(records.formats, "numbered_lines", endless)
    (tmp_path / "a.g6").write_text("A_\n")
    blocks = iter_source(tmp_path / "a.g6", ReadOptions(), block=100)
    next(blocks)
    assert len(taken) == 100


def test_lines_that_cannot_be_read_are_counted_and_keep_their_places(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "a.smi"
    path.write_text("C\nnonsense(\nCC\nC1C\n")
    with pytest.warns(TwinWLWarning, match=r"left out 2 of 4 rows \(2 cannot be read\); the first is line 2"):
        found = load_dataset(path)
    assert found.names == ("C", "CC")
    assert found.rows.tolist() == [0, 2]
    assert [error.line for error in found.errors] == [2, 4]
    with pytest.raises(GraphInputError, match="line 2"):
        load_dataset(path, on_error="fail")
    with pytest.warns(TwinWLWarning, match="left out 2 of 4 rows"):
        parts = list(iter_source(path, ReadOptions(), block=1))
    assert [len(part) for part in parts] == [1, 0, 1, 0]


def test_a_file_without_one_valid_line_is_an_error(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("nonsense(\n")
    with pytest.raises(GraphInputError, match="none of its 1 rows can be used; the first is line 1"):
        load_dataset(path)


def test_standard_input(monkeypatch):
    pytest.importorskip("rdkit", reason="needs RDKit")
    for source, kind, text, names in [
        ("-", None, b"Bw\nA_\n", ("stdin#0", "stdin#1")),
        ("smiles:-", None, b"CCO drink\n", ("drink",)),
        ("-", "smiles", b"CCO drink\n", ("drink",)),
    ]:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        assert load_dataset(source, kind=kind).names == names
    with pytest.raises(GraphInputError, match="standard input is read as"):
        load_dataset("-", kind="gml")


def test_packed_lines(tmp_path):
    path = tmp_path / "a.g6.gz"
    path.write_bytes(gzip.compress(b">>graph6<<Bw\nA_\n"))
    assert load_dataset(path).graphs.nodes_per_graph.tolist() == [3, 2]
    path.write_bytes(gzip.compress(b"Bw\nA_\n")[:-6])
    with pytest.raises(GraphInputError, match="not a readable gzip file"):
        load_dataset(path)
