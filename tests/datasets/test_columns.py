"""All columns of a table, beside the graphs: what every row said, whether or not a graph came of it."""

from __future__ import annotations

import pytest

from twinwl.datasets.source import ReadOptions, read_columns, read_source

TABLE = "id,smiles,year,id\na,CCO,1999,x\nb,C1CC,2001,y\nc,CCC,,z\nshort,CC\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "molecules.csv"
    path.write_text(TABLE)
    return path


def test_every_row_keeps_its_cells(table):
    found = read_columns(table, ReadOptions())
    assert found == {
        "id": ["a", "b", "c", None],
        "smiles": ["CCO", "C1CC", "CCC", None],
        "year": ["1999", "2001", "", None],
        "id.1": ["x", "y", "z", None],
    }


@pytest.mark.filterwarnings("ignore:.*left out")
def test_rows_of_the_data_set_are_places_in_the_columns(table):
    pytest.importorskip("rdkit", reason="needs RDKit")
    data, columns = read_source(table, ReadOptions(), "none"), read_columns(table, ReadOptions())
    assert [columns["id"][row] for row in data.rows] == ["a", "c"]
    assert [columns["smiles"][error.row] for error in data.errors] == ["C1CC", None]
    one = read_source(f"{table}#2", ReadOptions())
    assert read_columns(f"{table}#2", ReadOptions())["id"][one.rows[0]] == "c"


def test_properties_of_an_sd_file(tmp_path):
    block = "{}\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n{}$$$$\n"
    path = tmp_path / "m.sdf"
    first = "> <id>\na\n\n>  <note>  (7)\ntwo\nlines\n\n"
    path.write_text(block.format("one", first) + block.format("two", "") + block.format("", "> <id>\nc\n\n"))
    assert read_columns(path, ReadOptions()) == {
        "title": ["one", "two", ""],
        "id": ["a", None, "c"],
        "note": ["two\nlines", None, None],
    }


def test_a_known_table_has_its_columns(tmp_path):
    (tmp_path / "bace.csv").write_text("mol,Class,Model\nCC,1,Train\nCCO,0,Test\n")
    assert read_columns("BACE", ReadOptions(data_dir=tmp_path))["Model"] == ["Train", "Test"]


@pytest.mark.parametrize("source", ["smiles:CCO", "graph6:Bw", "TWINS", ["CCO"]])
def test_what_is_no_table_has_no_columns(source):
    assert read_columns(source, ReadOptions()) == {}
