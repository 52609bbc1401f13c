from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from twinwl.datasets.formats import line_formats
from twinwl.datasets.graph_files import iter_graphs, read_graphs
from twinwl.errors import GraphInputError


def test_blocks_hold_at_most_block_graphs(tmp_path):
    path = tmp_path / "a.g6"
    path.write_text("A_\n" * 10)
    assert [len(part.graphs) for part in iter_graphs(path, block=4)] == [4, 4, 2]
    with pytest.raises(GraphInputError, match="block is 0"):
        list(iter_graphs(path, block=0))


def test_only_one_block_is_read_ahead(monkeypatch):
    taken = []

    def endless(_):
        for number in range(10**9):
            taken.append(number)
            yield number + 1, "A_"

    monkeypatch.setattr(line_formats, "numbered_lines", endless)
    blocks = iter_graphs("a.g6", block=100)
    next(blocks)
    assert len(taken) == 100


def test_invalid_lines_are_left_out_only_when_asked(tmp_path):
    path = tmp_path / "a.smi"
    path.write_text("C\nnonsense(\nCC\nC1C\n")
    found = read_graphs(path, skip_invalid=True)
    assert found.names == ("C", "CC")
    assert found.skipped == (2, 4)
    with pytest.raises(GraphInputError, match="line 2"):
        read_graphs(path)


def test_a_file_without_one_valid_line_is_an_error(tmp_path):
    path = tmp_path / "a.smi"
    path.write_text("nonsense(\n")
    with pytest.raises(GraphInputError, match="no line of it"):
        read_graphs(path, skip_invalid=True)


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"Bw\nA_\n")))
    assert read_graphs("-").names == ("stdin#0", "stdin#1")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"CCO drink\n")))
    assert read_graphs("smiles:-").names == ("drink",)
