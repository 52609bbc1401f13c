from __future__ import annotations

import zipfile

import numpy as np
import pytest

pytest.importorskip("rdkit")

from tests.batch_equality import assert_same_graphs
from tests.conftest import data_folder
from twinwl import GraphBatch, load_dataset
from twinwl.datasets.formats import smiles_csv
from twinwl.datasets.formats.smiles_csv import only_target, parse_smiles_csv, read_smiles_csv
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning

GOOD = "id,smiles,active\na,CCO,1\nb,c1ccccc1,0\nc,C#N,1\n"
BAD = "smiles,active\nCCO,1\nnonsense,0\nCC,\nC(C)(C)(C)(C)C,1\nCN,0\n"


def parsed(text, **options):
    return parse_smiles_csv(text.encode(), "m.csv", **options)


def test_molecules_classes_and_lines():
    table = parsed(GOOD, target="active")
    assert_same_graphs(table.graphs, GraphBatch.from_smiles(["CCO", "c1ccccc1", "C#N"]))
    assert table.y.tolist() == [1, 0, 1]
    assert table.y.dtype == np.int64
    assert table.smiles == ("CCO", "c1ccccc1", "C#N")
    assert table.lines.tolist() == [2, 3, 4]
    assert table.skipped == ()


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(separator):
    assert parsed(GOOD.replace(",", separator), target="active").y.tolist() == [1, 0, 1]


def test_quoted_cells_byte_order_mark_and_blank_lines():
    text = '\ufeffsmiles,note,y\r\nCC,"a, b\nand c",1\r\n\r\nCCC,"d",0\r\n'
    table = parsed(text, target="y")
    assert table.smiles == ("CC", "CCC")
    assert table.lines.tolist() == [3, 5]


@pytest.mark.parametrize("name", ["smiles", "SMILES", "mol", "canonical_smiles"])
def test_smiles_column_is_found_by_its_usual_names(name):
    assert parsed(f"x,{name}\n1,CC\n").smiles == ("CC",)


def test_named_smiles_column():
    assert parsed("smiles,other\nCC,CCC\n", smiles_column="other").smiles == ("CCC",)


def test_no_target_no_classes():
    assert parsed(GOOD).y is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "0.0"], [1, 0]),
        (["yes", "no"], ["yes", "no"]),
        (["1", "no"], ["1", "no"]),
    ],
)
def test_kinds_of_classes(values, expected):
    text = "smiles,y\n" + "".join(f"CC,{value}\n" for value in values)
    assert parsed(text, target="y").y.tolist() == expected


def test_measured_target_is_refused():
    with pytest.raises(TwinWLError, match=r"target 'y' holds 0\.5, a measured value"):
        parsed("smiles,y\nCC,1\nCC,0.5\n", target="y")


@pytest.mark.parametrize(
    ("text", "line"), [(BAD, 3), (BAD.replace("nonsense", "C"), 4), (BAD.replace("CC,\n", "CC,1\n"), 3)]
)
def test_first_bad_row_is_named(text, line):
    with pytest.raises(GraphInputError, match=rf"m.csv, line {line}: .*on_error=\"skip\""):
        parsed(text, target="active")


def test_bad_rows_are_skipped_and_counted():
    with pytest.warns(
        TwinWLWarning, match=r"left out 3 of 5 rows; the first is line 3: SMILES 'nonsense'"
    ) as caught:
        table = parsed(BAD, target="active", on_error="skip")
    assert len(caught) == 1
    assert table.smiles == ("CCO", "CN")
    assert table.y.tolist() == [1, 0]
    assert [line for line, _ in table.skipped] == [3, 4, 5]
    assert "its target 'active' is missing" in table.skipped[1][1]
    assert "valence" in table.skipped[2][1]


def test_many_molecules_are_read_in_pieces(monkeypatch):
    smiles = ["C" * n for n in range(1, 12)]
    text = "smiles\n" + "\n".join(smiles)
    monkeypatch.setattr(smiles_csv, "_MOLECULES_AT_A_TIME", 4)
    assert_same_graphs(parsed(text).graphs, GraphBatch.from_smiles(smiles))


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (GOOD, {"target": "activ"}, "target is 'activ', but did you mean 'active'?"),
        (GOOD, {"smiles_column": "smile"}, "smiles_column is 'smile', but did you mean 'smiles'?"),
        ("a,b\n1,2\n", {}, "no column is called 'smiles'; name one of ['a', 'b'] with smiles_column"),
        ("smiles,y,y\nC,1,2\n", {"target": "y"}, "2 columns are called 'y'"),
        ("smiles,y\nCC,1,2\n", {"target": "y"}, "m.csv, line 2: 3 cells where the header has 2"),
        ("smiles,y\n", {"target": "y"}, "there is no molecule in it"),
        (GOOD, {"on_error": "ignore"}, "on_error is 'ignore'"),
    ],
)
def test_bad_input_is_explained(text, options, problem):
    with pytest.raises(TwinWLError) as caught:
        parsed(text, **options)
    assert problem in str(caught.value)


def test_nothing_left_after_skipping():
    with (
        pytest.warns(TwinWLWarning, match="left out 1 of 1 rows"),
        pytest.raises(GraphInputError, match="there is no molecule in it"),
    ):
        parsed("smiles\nnonsense\n", on_error="skip")


def test_only_target_needs_exactly_one_other_column():
    assert only_target(b"y,smiles\n", "m.csv") == "y"
    with pytest.raises(GraphInputError, match=r"Name one of \['id', 'active'\] with target"):
        only_target(GOOD.encode(), "m.csv")


def test_missing_file(tmp_path):
    with pytest.raises(GraphInputError, match="cannot read"):
        read_smiles_csv(tmp_path / "none.csv")


def test_csv_is_a_data_set(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(GOOD)
    data = load_dataset(path, target="active")
    assert repr(data) == "Dataset('m', 3 graphs, 2 classes)"
    assert data.smiles == ("CCO", "c1ccccc1", "C#N")
    assert data.card.classes == ((0, 1), (1, 2))
    assert load_dataset(str(path), target="active").digest == data.digest
    path.write_text("smiles,y\nCC,a\nCO,b\n")
    assert load_dataset(path).y.tolist() == ["a", "b"]


def test_csv_read_again_comes_from_the_cache_with_its_warning(tmp_path, monkeypatch):
    path = tmp_path / "m.csv"
    path.write_text(BAD)
    with pytest.warns(TwinWLWarning, match="left out 3 of 5 rows"):
        first = load_dataset(path, target="active", on_error="skip")
    monkeypatch.setattr("twinwl.datasets.catalogue.moleculenet.parse_smiles_csv", None)
    with pytest.warns(TwinWLWarning, match="left out 3 of 5 rows"):
        again = load_dataset(path, target="active", on_error="skip")
    assert again.digest == first.digest
    with pytest.raises(TypeError):  # other options are another question
        load_dataset(path, target="active", on_error="fail")


def test_table_of_moleculenet_by_name():
    folder = data_folder()
    if folder is None or not (folder / "moleculenet_csv.zip").is_file():
        pytest.skip("moleculenet_csv.zip is not at hand")
    data = load_dataset("BACE", folder)
    assert (len(data), data.card.n_classes) == (1513, 2)
    with pytest.raises(GraphInputError, match=r"moleculenet_csv.zip: .*clintox.csv, line 9: SMILES"):
        load_dataset("ClinTox", folder)


def test_table_of_moleculenet_that_is_not_at_hand(tmp_path):
    with pytest.raises(TwinWLError, match=r"HIV is not at hand: put MoleculeNet's HIV.csv into"):
        load_dataset("HIV", tmp_path)
    with zipfile.ZipFile(tmp_path / "moleculenet_csv.zip", "w") as archive:
        archive.writestr("moleculenet/HIV.csv", "smiles,activity,HIV_active\nCC,CI,0\nCCO,CA,1\n")
    assert load_dataset("HIV", tmp_path).y.tolist() == [0, 1]
    assert load_dataset("HIV", tmp_path, target="activity").y.tolist() == ["CI", "CA"]
