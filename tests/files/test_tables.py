"""Tables in every format come back as they were, and no cell of a CSV file is a formula."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twinwl.errors import TwinWLError
from twinwl.files.storage import TABLE_ENDINGS, plain_cell, table_bytes

TABLE = {
    "index": [0, 2],
    "name": ["=cmd|' /C calc'!A0", "CCO"],
    "share": [-0.5, float("nan")],
    "-class": ["+", "-1.5"],
}
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def cells_of(content, ending):
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=DELIMITERS[ending]))


@pytest.mark.parametrize("ending", DELIMITERS)
def test_formulas_are_quoted_and_numbers_are_not(ending):
    assert cells_of(table_bytes(TABLE, ending), ending) == [
        ["index", "name", "share", "'-class"],
        ["0", "'=cmd|' /C calc'!A0", "-0.5", "+"],
        ["2", "CCO", "nan", "-1.5"],
    ]


@pytest.mark.parametrize("number", ["-0,5", "+1,25", "-,5", "-1.5e-3"])
def test_numbers_stay_numbers_with_a_decimal_comma_too(number):
    assert cells_of(table_bytes({"logS": [number]}, ".csv"), ".csv") == [["logS"], [number]]


@pytest.mark.parametrize("ending", DELIMITERS)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
@example(
    texts=["=1", "'=1", "''=1", "-1", "-0,5", "- 1", "@", "\t=1", "\r\n", '"', "'", "a\rb", "-1e5", "+.", ""]
)
def test_any_text_is_read_back_and_none_is_a_formula(ending, texts):
    rows = cells_of(table_bytes({"place": list(range(len(texts))), "text": texts}, ending), ending)[1:]
    assert [plain_cell(text) for _, text in rows] == texts
    for _, text in rows:
        if re.match(r"[=+\-@\t\r]", text) and len(text) > 1:
            float(text.replace(",", "."))


def test_json_is_a_list_of_objects_or_one_on_each_line():
    expected = [
        {"index": 0, "name": "=cmd|' /C calc'!A0", "share": -0.5, "-class": "+"},
        {"index": 2, "name": "CCO", "share": None, "-class": "-1.5"},
    ]
    assert json.loads(table_bytes(TABLE, ".json")) == expected
    assert [json.loads(line) for line in table_bytes(TABLE, ".jsonl").splitlines()] == expected
    assert json.loads(table_bytes({"name": []}, ".json")) == []


def test_parquet_has_columns_of_their_types():
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    mixed = {**TABLE, "mixed": [1, "one"], "lone": ["\ud800", None], "empty": [None, None]}
    found = parquet.read_table(io.BytesIO(table_bytes(mixed, ".parquet")))
    assert [str(field.type) for field in found.schema] == [
        "int64", "string", "double", "string", "string", "string", "string",
    ]  # fmt: skip
    assert found.column("name").to_pylist() == TABLE["name"], "a formula is none here"
    assert found.column("mixed").to_pylist() == ["1", "one"]
    assert found.column("lone").to_pylist() == ["?", None]


def test_other_endings_are_refused():
    with pytest.raises(TwinWLError, match=r"\.csv, \.tsv, \.json, \.jsonl, \.parquet"):
        table_bytes(TABLE, ".xlsx")
    assert len(TABLE_ENDINGS) == 5
