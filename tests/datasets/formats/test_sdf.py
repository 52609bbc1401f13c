from __future__ import annotations

import pytest

pytest.importorskip("rdkit", reason="needs RDKit")

from rdkit import Chem

from tests.batch_equality import assert_same_graphs
from twinwl import GraphBatch, load_dataset
from twinwl.datasets import records
from twinwl.datasets.source import ReadOptions, iter_source, read_one, read_source
from twinwl.errors import GraphInputError, TwinWLWarning

SMILES = ["CCO", "c1ccccc1", "C[N+](=O)[O-]"]


def record(smiles, title="", **properties):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    molecule.SetProp("_Name", title)
    block = Chem.MolToMolBlock(molecule)
    return block + "".join(f">  <{name}>\n{value}\n\n" for name, value in properties.items()) + "$$$$\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.sdf"
    records = [record(smiles, f"molecule {i}", active=i % 2, id=i) for i, smiles in enumerate(SMILES)]
    path.write_text("".join(records))
    return path


def test_molecules_are_those_of_their_smiles(file):
    data = load_dataset(file)
    expected = [Chem.MolToSmiles(Chem.MolFromSmiles(smiles)) for smiles in SMILES]
    assert_same_graphs(data.graphs, GraphBatch.from_smiles(expected))
    assert data.smiles == tuple(expected)
    assert data.names == ("molecule 0", "molecule 1", "molecule 2")
    assert data.y is None


def test_a_property_is_the_target(file):
    assert load_dataset(file, target="active").y.tolist() == [0, 1, 0]
    with pytest.raises(GraphInputError, match=r"name the column of targets .*there are: 'active', 'id'"):
        read_source(file, ReadOptions(), "needed")


def test_the_only_property_is_the_target(file):
    file.write_text("".join(record(smiles, active=i) for i, smiles in enumerate(SMILES)))
    data = load_dataset(file)
    assert (data.y.tolist(), data.target) == ([0, 1, 2], "active")
    assert read_source(file, ReadOptions(), "given").y is None


def test_records_that_cannot_be_read_keep_their_places(file):
    broken = record("CC").replace("V2000", "V9999")
    pentavalent = Chem.MolToMolBlock(Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)) + "$$$$\n"
    good = [record(smiles, title) for title, smiles in {"a": "C", "b": "CN", "c": "CO"}.items()]
    file.write_text(good[0] + broken + good[1] + pentavalent + "\n\n$$$$\n" + good[2])
    start = good[0].count("\n") + 1
    with pytest.warns(TwinWLWarning, match=rf"left out 3 of 6 rows \(3 .*\); the first is line {start}"):
        data = load_dataset(file)
    assert (data.names, data.rows.tolist()) == (("a", "b", "c"), [0, 2, 5])
    assert [error.row for error in data.errors] == [1, 3, 4]
    assert "valence" in data.errors[1].reason
    assert read_one(f"{file}#5", ReadOptions()).smiles == ("CO",)
    with pytest.raises(GraphInputError, match=rf"m\.sdf, line {start}: .*; correct it$"):
        read_one(f"{file}#1", ReadOptions())
    with pytest.raises(GraphInputError, match=rf"m\.sdf, line {start}: .*on_error"):
        load_dataset(file, on_error="fail")


def test_a_record_that_cannot_be_sanitised_is_skipped(file):
    atom = "    0.0000    0.0000    0.0000 {}   0  0\n"
    ring = "  1  2  4  0\n  1  3  1  0\n  2  3  4  0\n"  # a hydrogen in it; RDKit detects no problem
    bad = "bad\n\n\n  3  3  0  0  0  0  0  0  0  0999 V2000\n" + "".join(map(atom.format, "CCH")) + ring
    file.write_text(f"{bad}M  END\n$$$$\n" + record("CCO", "good"))
    with pytest.warns(TwinWLWarning, match="the first is line 1: .* or RDKit cannot sanitise it"):
        assert load_dataset(file, on_error="skip").names == ("good",)


def test_a_missing_property_and_an_unreadable_record_are_told_apart(file):
    file.write_text(record("C", active=1) + record("CC") + "rubbish\n$$$$\n" + record("CO", active="x"))
    with pytest.warns(TwinWLWarning, match=r"2 of 4 rows \(1 cannot be read, 1 without a target\)"):
        data = load_dataset(file, target="active")
    assert data.y.tolist() == ["1", "x"]
    assert [error.kind for error in data.errors] == ["target", "graph"]


def test_records_are_streamed(file):
    assert [part.rows.tolist() for part in iter_source(file, ReadOptions(), block=2)] == [[0, 1], [2]]


def test_one_molecule_without_an_end(tmp_path):
    path = tmp_path / "m.mol"
    path.write_text(record("CCO").removesuffix("$$$$\n"))
    assert load_dataset(path).smiles == ("CCO",)


def test_latin_1_in_a_property_does_no_harm(file):
    file.write_bytes(record("CCO", note="M\u00fcller").encode("latin-1"))
    assert load_dataset(file).smiles == ("CCO",)


def test_a_record_without_end_is_not_kept_in_memory(file, monkeypatch):
    monkeypatch.setattr(records, "_MAX_RECORD", 2000)
    file.write_text("x" * 100 + "\n" + "y\n" * 10_000 + "$$$$\n" + record("CO"))
    with pytest.warns(TwinWLWarning, match="the record has more than 2,000 characters"):
        assert load_dataset(file).rows.tolist() == [1]


def test_a_molecule_beyond_the_bounds_is_left_out(file, monkeypatch):
    monkeypatch.setattr(records, "_MAX_ATOMS", 5)
    with pytest.raises(GraphInputError, match="9 atoms and about 0 rings; the limits are 5 and 500"):
        load_dataset(file)


@pytest.mark.parametrize("content", ["", "\n\n", "$$$$\n"])
def test_nothing_in_it(file, content):
    file.write_text(content)
    with pytest.raises(GraphInputError, match=r"there is no graph in it|none of its 1 rows"):
        load_dataset(file)
