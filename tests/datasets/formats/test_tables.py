from __future__ import annotations

import gzip
import zipfile

import numpy as np
import pytest

pytest.importorskip("rdkit")

from tests.batch_equality import assert_same_graphs
from tests.conftest import data_folder
from twinwl import GraphBatch, load_dataset
from twinwl.datasets import records
from twinwl.datasets.formats import smiles_column_of
from twinwl.datasets.records import csv_table
from twinwl.datasets.source import ReadOptions, iter_source, read_source
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning

GOOD = "id,smiles,active\na,CCO,1\nb,c1ccccc1,0\nc,C#N,1\n"
BAD = "smiles,active\nCCO,1\nnonsense,0\nCC,\nC(C)(C)(C)(C)C,1\nCN,0\n"


@pytest.fixture
def parsed(tmp_path):
    """Return a function that writes a table and loads it."""

    def load(text, name="m.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return load_dataset(path, **options)

    return load


def test_molecules_classes_and_rows(parsed):
    data = parsed(GOOD, target="active")
    assert_same_graphs(data.graphs, GraphBatch.from_smiles(["CCO", "c1ccccc1", "C#N"]))
    assert data.y.tolist() == [1, 0, 1]
    assert data.y.dtype == np.int64
    assert data.smiles == ("CCO", "c1ccccc1", "C#N")
    assert data.names == ("a", "b", "c")
    assert data.rows.tolist() == [0, 1, 2]
    assert (data.errors, data.target, data.name) == ((), "active", "m")


@pytest.mark.parametrize(("separator", "name"), [(";", "m.csv"), ("\t", "m.csv"), ("\t", "m.tsv")])
def test_other_separators(parsed, separator, name):
    assert parsed(GOOD.replace(",", separator), name, target="active").y.tolist() == [1, 0, 1]


def test_quoted_cells_byte_order_mark_and_blank_lines(parsed):
    text = '\ufeffsmiles,note,y\r\nCC,"a, b\nand c",1\r\n\r\nxx,"d",0\r\nCCC,,1\r\n'
    with pytest.warns(TwinWLWarning, match="left out 1 of 3 rows"):
        data = parsed(text, target="y")
    assert data.smiles == ("CC", "CCC")
    assert data.rows.tolist() == [0, 2]
    assert [(error.row, error.line) for error in data.errors] == [(1, 5)]


@pytest.mark.parametrize("column", ["smiles", "SMILES", "mol", "canonical_smiles", "Ligand SMILES"])
def test_smiles_column_is_found_by_its_name(parsed, column):
    assert parsed(f"x,{column}\n1,CC\n").smiles == ("CC",)


def test_two_columns_of_smiles_are_not_guessed_between():
    assert smiles_column_of(["smiles_a", "smiles_b"]) is None
    assert smiles_column_of(["raw_smiles", "smiles"]) == "smiles"


def test_named_smiles_column(parsed):
    assert parsed("smiles,other\nCC,CCC\n", smiles_column="other").smiles == ("CCC",)
    assert parsed("structure,y\nCC,1\n", smiles_column="structure").y.tolist() == [1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "0.0"], [1, 0]),
        (["yes", "no"], ["yes", "no"]),
        (["1", "no"], ["1", "no"]),
        (["1", "0.5"], [1.0, 0.5]),
        (["1_0", "1"], ["1_0", "1"]),
        (["10000000000000000000001", "10000000000000000000002"], None),
    ],
)
def test_kinds_of_targets(parsed, values, expected):
    data = parsed("smiles,y\n" + "".join(f"CC,{value}\n" for value in values))
    assert data.y.tolist() == (values if expected is None else expected)


def test_infinite_target_is_refused(parsed):
    with pytest.raises(TwinWLError, match="line 3: target 'y': got '1e999', expected finite numbers"):
        parsed("smiles,y\nCC,1\nCC,1e999\n")


@pytest.mark.parametrize(
    ("text", "line"), [(BAD, 3), (BAD.replace("nonsense", "C"), 4), (BAD.replace("CC,\n", "CC,1\n"), 3)]
)
def test_first_bad_row_is_named(parsed, text, line):
    with pytest.raises(GraphInputError, match=rf"m.csv, line {line}: .*on_error=\"skip\""):
        parsed(text, target="active", on_error="fail")


def test_bad_rows_are_skipped_counted_and_told_apart(parsed):
    with pytest.warns(
        TwinWLWarning,
        match=r"left out 3 of 5 rows \(2 cannot be read, 1 without a target\); the first is line 3: SMILES",
    ) as caught:
        data = parsed(BAD, target="active")
    assert len(caught) == 1
    assert data.smiles == ("CCO", "CN")
    assert data.y.tolist() == [1, 0]
    assert [(error.row, error.line, error.kind) for error in data.errors] == [
        (1, 3, "graph"),
        (2, 4, "target"),
        (3, 5, "graph"),
    ]
    assert "valence" in data.errors[2].reason


def test_rows_without_a_target_stay_where_no_target_is_asked_for(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("smiles,active\nCCO,1\nCC,\n")
    assert len(read_source(path, ReadOptions(), "given")) == 2


def test_many_molecules_are_read_in_pieces(parsed, tmp_path, monkeypatch):
    smiles = ["C" * n for n in range(1, 12)]
    monkeypatch.setattr(records, "BLOCK", 4)
    data = parsed("smiles\n" + "\n".join(smiles))
    assert_same_graphs(data.graphs, GraphBatch.from_smiles(smiles))
    parts = list(iter_source(tmp_path / "m.csv", ReadOptions(), block=4))
    assert [part.rows.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    assert [part.y for part in parts] == [None] * 3


def test_a_row_of_another_width_is_left_out(parsed):
    with pytest.warns(TwinWLWarning, match="the first is line 3: got 3 cells, expected 2 as in the header"):
        assert parsed("smiles,y\nCC,1\nCC,1,2\n").rows.tolist() == [0]


def test_a_molecule_that_is_too_long_keeps_its_row(parsed):
    with pytest.warns(
        TwinWLWarning, match="line 3: SMILES .* it has 100,000 characters, more than the 10,000"
    ):
        assert parsed(f"smiles,y\nCC,1\n{'C' * 100_000},0\nCO,0\n").rows.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (GOOD, {"target": "activ"}, "target: got 'activ'; did you mean 'active'?"),
        (GOOD, {"smiles_column": "smile"}, "smiles_column: got 'smile'; did you mean 'smiles'?"),
        ("a,b\n1,2\n", {"target": "b"}, "no column is called 'smiles'"),
        ("smiles,y,y\nC,1,2\n", {"target": "y"}, "2 columns are called 'y'"),
        ("smiles,y\n", {"target": "y"}, "there is no graph in it"),
        (GOOD, {"on_error": "ignore"}, "on_error: got 'ignore', expected 'skip' or 'fail'"),
        ("smiles,y\nxx,1\n", {}, "none of its 1 rows can be used; the first is line 2"),
        ('smiles,y\nCC,"' + "x" * 200_000 + '"\n', {}, "line 2: field larger than field limit"),
    ],
)
def test_bad_input_is_explained(parsed, text, options, problem):
    with pytest.raises(TwinWLError) as caught:
        parsed(text, **options)
    assert problem in str(caught.value)


# ------------------------------------------------------------------ columns


def chosen(header, smiles_column=None, target=None, targets="needed"):
    reading = ReadOptions(smiles_column=smiles_column, target=target)
    opened = csv_table("m.csv", [f"{header}\n"]).records(reading, targets)
    return ",".join(opened.targets) or None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("smiles,active", "active"),
        ("BBBP,SMILES", "BBBP"),
        ("mol,CID,Class,Model,pIC50", "Class"),
        ("id;Smiles;y", "y"),
        ('"smiles","a, b"', "a, b"),
    ],
)
def test_obvious_columns_are_found(header, expected):
    assert chosen(header) == expected


def test_named_columns_are_taken():
    assert chosen("a,b,c", "b", "c") == "c"


def test_a_target_that_is_not_obvious_is_asked_for():
    for header in ("smiles,activity,HIV_active", "smiles,label,class,x"):
        with pytest.raises(GraphInputError, match=r'name the column of targets with target="…"; there are: '):
            chosen(header)
    with pytest.raises(GraphInputError, match="there are: none"):
        chosen("smiles")


def test_targets_are_left_alone_unless_wanted():
    assert chosen("smiles,active", targets="given") is None
    assert chosen("smiles,a,b", targets="obvious") is None
    assert chosen("smiles,a", targets="obvious") == "a"


# ------------------------------------------------------------------ other tables


def test_packed_table(tmp_path):
    path = tmp_path / "m.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    data = load_dataset(path, target="active")
    assert (data.name, data.y.tolist()) == ("m", [1, 0, 1])


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "m.parquet"
    frame = pandas.DataFrame({"id": [1, 2, 3], "smiles": ["CC", "xx", "CO"], "y": [0.5, 1.5, None]})
    frame.to_parquet(path)
    with pytest.warns(TwinWLWarning, match=r"left out 2 of 3 rows \(1 cannot be read, 1 without a target\)"):
        data = load_dataset(path)
    assert (data.smiles, data.y.tolist()) == (("CC",), [0.5])
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(GraphInputError, match="not a readable Parquet file"):
        load_dataset(path)


def test_pandas_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"SMILES": ["CC", None, "xx", "CO", "CN"], "y": pandas.array([1, 0, 1, pandas.NA, 0], "Int64")}
    )
    with pytest.warns(
        TwinWLWarning, match=r"the frame: left out 3 of 5 rows .* the first is row 1: its cell"
    ):
        data = load_dataset(frame)
    assert (data.smiles, data.y.tolist(), data.rows.tolist()) == (("CC", "CN"), [1, 0], [0, 4])
    assert data.y.dtype == np.int64


def test_frames_that_cannot_be_meant():
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame([["CC", "CO"]], columns=["smiles", "smiles"])
    with pytest.raises(GraphInputError, match="2 columns are called 'smiles'"):
        load_dataset(twice)
    nested = pandas.DataFrame({"smiles": ["CC", "CO"], "y": [[1], [2]]})
    with pytest.raises(GraphInputError, match=r"target 'y': got \[1\], expected numbers or strings"):
        load_dataset(nested)


def test_polars_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"smiles": ["CC", "CO"], "y": ["a", "b"]})
    assert load_dataset(frame).y.tolist() == ["a", "b"]
    with pytest.raises(TwinWLError, match="collect"):
        load_dataset(frame.lazy())


def test_list_of_strings():
    data = load_dataset(["CC", "CO"], kind="smiles")
    assert (data.smiles, data.y) == (("CC", "CO"), None)
    assert load_dataset(["Bw"], kind="graph6").graphs.n_edges == 3
    with pytest.warns(TwinWLWarning, match="the list: left out 1 of 2 rows"):
        assert load_dataset(["CC", 7], kind="smiles").rows.tolist() == [0]
    with pytest.raises(TwinWLError, match='with kind="smiles" or kind="graph6"'):
        load_dataset(["CC", "CO"])


# ------------------------------------------------------------------ the cache, and tables by name


def test_table_read_again_comes_from_the_cache_with_its_warning(tmp_path, monkeypatch):
    path = tmp_path / "m.csv"
    path.write_text(BAD)
    with pytest.warns(TwinWLWarning, match="left out 3 of 5 rows"):
        first = load_dataset(path, target="active")
    monkeypatch.setattr("twinwl.datasets.records.read_smiles", None)
    with pytest.warns(TwinWLWarning, match="left out 3 of 5 rows"):
        again = load_dataset(path, target="active")
    assert again.digest == first.digest
    assert again.errors == first.errors
    with pytest.raises(TypeError):  # other options are another question
        load_dataset(path, target="active", on_error="fail")
    with pytest.raises(TypeError):
        load_dataset(path, target="active", atoms="stereo")


def test_table_of_moleculenet_by_name():
    folder = data_folder()
    if folder is None or not (folder / "moleculenet_csv.zip").is_file():
        pytest.skip("moleculenet_csv.zip was not found")
    data = load_dataset("BACE", folder)
    assert (len(data), data.card.n_classes) == (1513, 2)
    with pytest.warns(TwinWLWarning, match=r"ClinTox: left out 4 of 1,484 rows .* the first is line 9"):
        assert len(load_dataset("ClinTox", folder)) == 1480
    with pytest.raises(GraphInputError, match=r"moleculenet_csv.zip: .*clintox.csv, line 9: SMILES"):
        load_dataset("ClinTox", folder, on_error="fail")


def test_table_of_moleculenet_that_is_not_at_hand(tmp_path):
    with pytest.raises(TwinWLError, match=r"HIV was not found: put MoleculeNet's HIV.csv into"):
        load_dataset("HIV", tmp_path)
    with zipfile.ZipFile(tmp_path / "moleculenet_csv.zip", "w") as archive:
        archive.writestr("moleculenet/HIV.csv", "smiles,activity,HIV_active\nCC,CI,0\nCCO,CA,1\n")
    assert load_dataset("HIV", tmp_path).y.tolist() == [0, 1]
    assert load_dataset("HIV", tmp_path, target="activity").y.tolist() == ["CI", "CA"]
