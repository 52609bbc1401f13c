"""The column of ids: which one it is, that it names the graphs, and what is refused."""

from __future__ import annotations

import pandas as pd
import pytest

import twinwl as tw
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_source
from twinwl.errors import GraphInputError

pytest.importorskip("rdkit", reason="needs RDKit")


def table(**columns):
    return pd.DataFrame({"smiles": ["C", "CC", "CCC"], **columns})


def test_a_named_column_names_the_molecules():
    data = tw.load_dataset(table(code=["x", "y", "z"], name=["1", "2", "3"]), id="code")
    assert (data.id, data.ids, data.names) == ("code", ("x", "y", "z"), ("x", "y", "z"))


@pytest.mark.parametrize("column", ["id", "ID", "Name", "CID", "mol_id", "Compound ID", "CMPD_CHEMBLID"])
def test_a_column_with_a_usual_name_is_found(column):
    assert tw.load_dataset(table(**{column: [7, 8, 9]})).ids == ("7", "8", "9")


def test_the_most_usual_name_wins():
    assert tw.load_dataset(table(compound=["a", "b", "c"], ID=[1, 2, 3])).id == "ID"


@pytest.mark.parametrize("cells", [["a", "b", "a"], ["a", "", "c"], ["a", None, "c"]])
def test_a_column_whose_cells_are_no_ids_is_not_guessed(cells):
    data = tw.load_dataset(table(id=cells, name=["k", "l", "m"]))
    assert data.id == "name"
    assert tw.load_dataset(table(id=cells)).ids is None


def test_without_ids_molecules_are_named_by_their_smiles():
    data = tw.load_dataset(table(year=[1, 2, 3]))
    assert (data.ids, data.names) == (None, ("C", "CC", "CCC"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("a,b,a", "line 4: id: got 'a', which 'key' has before, line 2"),
        ("a,,c", "line 3: id: the cell of 'key' is empty"),
        ("a,NA,c", "line 3: id: the cell of 'key' is empty"),
    ],
)
def test_a_named_column_must_have_ids(tmp_path, cells, message):
    path = tmp_path / "m.csv"
    rows = zip(["C", "CC", "CCC"], cells.split(","), strict=True)
    path.write_text("smiles,key\n" + "".join(f"{smiles},{cell}\n" for smiles, cell in rows))
    with pytest.raises(GraphInputError, match=message):
        tw.load_dataset(path, id="key")


def test_a_missing_column_is_named_with_the_nearest_one():
    with pytest.raises(GraphInputError, match="id: got 'mol_ids'; did you mean 'mol_id'"):
        tw.load_dataset(table(mol_id=[1, 2, 3]), id="mol_ids")


def test_a_source_without_columns_has_no_ids(tmp_path):
    path = tmp_path / "m.smi"
    path.write_text("C methane\n")
    with pytest.raises(tw.TwinWLError, match="does not have the option 'id'"):
        tw.load_dataset(path, id="name")
    assert read_source(path, ReadOptions(id="name", shared=True)).names == ("methane",)


def test_ids_are_no_targets():
    assert tw.load_dataset(table(id=[1, 2, 3], logS=[0.5, 1.5, 2.5])).target == "logS"
    assert tw.load_dataset(table(id=[1, 2, 3])).y is None
    with pytest.warns(tw.TwinWLWarning, match=r"leaves out 'id' \(ids\), 'note'"):
        found = tw.load_dataset(table(id=[1, 2, 3], a=[0, 1, 0], b=[1, 1, 0], note=["x"] * 3), target="all")
    assert found.tasks == ("a", "b")


def test_an_id_is_one_line_of_text():
    assert tw.load_dataset(table(id=["a\nb", " c  d", "e"])).ids == ("a b", "c d", "e")


def test_one_molecule_of_a_file_keeps_its_id(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("id,smiles\na,C\nb,nonsense\nc,CCC\n")
    assert tw.load_dataset(f"{path}#2").ids == ("c",)


def test_the_cache_knows_which_column_has_the_ids(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("id,key,smiles\na,x,C\n")
    assert [tw.load_dataset(path, id=name).ids for name in (None, "key", None)] == [("a",), ("x",), ("a",)]


def test_a_property_of_an_sd_file_names_its_molecules(tmp_path):
    from rdkit import Chem  # noqa: PLC0415

    path = tmp_path / "m.sdf"
    with Chem.SDWriter(str(path)) as writer:
        for smiles, code in (("C", "M1"), ("CC", "M2")):
            molecule = Chem.MolFromSmiles(smiles)
            molecule.SetProp("_Name", "title")
            molecule.SetProp("code", code)
            writer.write(molecule)
    assert tw.load_dataset(path).names == ("title", "title")
    assert tw.load_dataset(path, id="code").ids == ("M1", "M2")
    with pytest.raises(GraphInputError, match="row 1: id: got 'title'"):
        tw.load_dataset(path, id="title")
