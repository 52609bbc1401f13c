"""Which cells of a target column are missing, and which are numbers."""

from __future__ import annotations

import warnings

import pytest

import twinwl as tw
from twinwl.datasets.dataset import as_targets, known_cells, usable_targets

MISSING = ["#N/A", "N/A", "NA", "null", "None", "-", "?", "n.d.", "N.D.", "NaN", "", " ", None, float("nan")]
CLASSES = ["high", "low"] * 3


def table_of(cells):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"smiles": ["C" * (n + 1) for n in range(len(cells))], "y": cells})


def test_every_sign_of_a_missing_value_is_recognised():
    assert known_cells(["high", *MISSING]) == ["high"] + [None] * len(MISSING)


@pytest.mark.parametrize("missing", ["n.d.", "-", "#N/A", None])
def test_rows_with_a_missing_target_are_left_out_and_counted(missing):
    pytest.importorskip("rdkit")
    with pytest.warns(tw.TwinWLWarning, match=r"left out 1 of 7 rows \(1 without a target\)"):
        found = tw.load_dataset(table_of([*CLASSES, missing]))
    assert set(found.y.tolist()) == {"high", "low"}


def test_the_reason_quotes_what_is_in_the_cell():
    pytest.importorskip("rdkit")
    with pytest.warns(tw.TwinWLWarning, match=r"row 6: its target 'y' is missing \('n\.d\.'\)"):
        tw.load_dataset(table_of([*CLASSES, "n.d."]))


def test_a_dash_is_a_class_beside_plus_alone():
    pytest.importorskip("rdkit")
    with pytest.warns(tw.TwinWLWarning, match="1 without a target"):
        found = tw.load_dataset(table_of(["+", "-", "+", "-", "?"]))
    assert found.y.tolist() == ["+", "-", "+", "-"]


def test_missing_values_of_a_labels_table_are_no_class(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.g6").write_text("Bw\n")
    (tmp_path / "labels.csv").write_text("file,class\na,ring\nb,n.d.\n")
    with pytest.raises(tw.TwinWLError, match=r"has no class for 1 of 2 files, first 'b\.g6'"):
        tw.load_dataset(tmp_path)


def test_decimal_commas_are_read_as_points_and_said_once():
    with pytest.warns(
        tw.TwinWLWarning, match=r"2 numbers have a decimal comma: 1,5 is read as 1\.5"
    ) as caught:
        found = as_targets(["1,5", "-0,25", "3"], "logS", "m.csv")
    assert (found.tolist(), len(caught)) == ([1.5, -0.25, 3.0], 1)


def test_decimal_commas_of_a_cached_file_are_said_again(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles;y\nC;1,5\nCC;2,5\n")
    for _ in range(2):
        with pytest.warns(tw.TwinWLWarning, match="decimal comma"):
            assert tw.load_dataset(tmp_path / "m.csv").y.tolist() == [1.5, 2.5]


def test_decimal_commas_are_read_in_one_of_several_targets():
    pytest.importorskip("rdkit")
    frame = table_of(["1,5", "2,5"]).assign(z=[0, 1])
    with pytest.warns(tw.TwinWLWarning, match="target 'y': 2 numbers have a decimal comma"):
        found = tw.load_dataset(frame, target=["y", "z"])
    assert found.y.tolist() == [[1.5, 0], [2.5, 1]]


def test_a_column_of_decimal_commas_can_be_a_target():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_targets({"y": ["1,5", "n.d.", "2,5"]}, "m.csv") == ("y",)


@pytest.mark.parametrize(
    "cells", [["1,234.5", "2"], ["1,234", "5,678"], ["1.234,5", "2"], ["1,5", "1.5"], ["1,234,567", "12.5"]]
)
def test_commas_that_may_separate_thousands_are_refused(cells):
    with pytest.raises(tw.TwinWLError, match=r"m\.csv: target 'y': got '.*', whose comma may be decimal or"):
        as_targets(cells, "y", "m.csv")


def test_text_among_decimal_commas_is_refused():
    with pytest.raises(tw.TwinWLError, match=r"got 'high' beside 2\.5; correct it"):
        as_targets(["1,5", "2,5", "high"], "y", "m.csv")


def test_names_of_classes_may_have_commas():
    assert as_targets(["1,2-diol", "1,3-diol"], "y", "m.csv").tolist() == ["1,2-diol", "1,3-diol"]
