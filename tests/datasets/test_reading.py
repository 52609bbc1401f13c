from __future__ import annotations

import networkx as nx
import pytest

from tests.cli.molecules import CLASSES, SMILES, write_csv
from twinwl.datasets.source import ReadOptions, read_one, read_source
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning


@pytest.fixture
def folder(tmp_path):
    """A folder of GraphML with two classes."""
    for kind, graph in {"chain": nx.path_graph(4), "ring": nx.cycle_graph(4)}.items():
        (tmp_path / "graphs" / kind).mkdir(parents=True)
        nx.write_graphml(graph, tmp_path / "graphs" / kind / "a.graphml")
    return tmp_path / "graphs"


def test_a_csv_gives_molecules_with_classes(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    data = read_source(str(write_csv(tmp_path / "m.csv")), ReadOptions(), "needed")
    assert data.smiles == data.names == tuple(SMILES)
    assert data.y.tolist() == CLASSES
    assert data.target == "alcohol"
    assert data.rows.tolist() == list(range(len(SMILES)))


def test_rows_that_are_skipped_count_as_places(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "m.csv"
    path.write_text("smiles\nCC\n\nC1CC\nCO\n")
    with pytest.warns(TwinWLWarning, match="left out 1 of 3 rows"):
        data = read_source(str(path), ReadOptions(on_error="skip"), "given")
    assert data.rows.tolist() == [0, 2]
    assert [(error.row, error.line, error.kind) for error in data.errors] == [(1, 4, "graph")]


def test_a_bad_smiles_names_its_line_and_the_way_out(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = write_csv(tmp_path / "m.csv", ["CC(C,1"])
    with pytest.raises(
        GraphInputError, match=rf'line {len(SMILES) + 2}: .*not valid SMILES.*on_error="skip"'
    ):
        read_source(str(path), ReadOptions(on_error="fail"), "needed")


def test_bad_lines_of_a_smiles_file_count_as_places(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "m.smi"
    path.write_text("CC\n\nC1CC\nCO water\n")
    with pytest.warns(TwinWLWarning, match=r"left out 1 of 3 rows \(1 cannot be read\); the first is line 3"):
        data = read_source(str(path), ReadOptions(on_error="skip"), "given")
    assert data.rows.tolist() == [0, 2]
    assert data.names == ("CC", "water")


def test_a_known_name_brings_groups():
    data = read_source("TWINS:n_pairs=4", ReadOptions(), "needed")
    assert data.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert data.names[3] == "TWINS#3"


def test_a_tu_zip_brings_its_classes(tu_zip):
    data = read_source(str(tu_zip("MUTAG")), ReadOptions(), "needed")
    assert (len(data.graphs), set(data.y.tolist())) == (188, {-1, 1})


def test_a_folder_of_graphml_is_a_data_set(folder):
    data = read_source(str(folder), ReadOptions(), "needed")
    assert data.y.tolist() == ["chain", "ring"]
    assert data.names == ("chain/a.graphml", "ring/a.graphml")


def test_graphs_without_classes_cannot_be_learnt_from():
    with pytest.raises(GraphInputError, match="its graphs have no targets"):
        read_source("graph6:Bw", ReadOptions(), "needed")


def test_a_typo_in_a_name_is_corrected():
    with pytest.raises(TwinWLError, match="did you mean 'MUTAG'"):
        read_source("MUTAGG", ReadOptions(), "needed")


def test_columns_of_what_is_no_csv_are_refused(folder):
    with pytest.raises(TwinWLError, match="does not have the option 'target'"):
        read_source(str(folder), ReadOptions(target="y"), "needed")


@pytest.mark.parametrize(("spec", "nodes"), [("graph6:Bw", 3), ("{folder}#1", 4), ("{smi}#1", 2)])
def test_one_graph_of_some_data(folder, tmp_path, spec, nodes):
    pytest.importorskip("rdkit", reason="needs RDKit")
    (tmp_path / "m.smi").write_text("CCC\nCC\n")
    one = read_one(spec.format(folder=folder, smi=tmp_path / "m.smi"), ReadOptions())
    assert one.graphs.nodes_per_graph.tolist() == [nodes]


def test_one_graph_of_a_known_set():
    whole = read_source("TWINS:n_pairs=2", ReadOptions(), "given").graphs
    assert read_one("TWINS:n_pairs=2#3", ReadOptions()).graphs.n_nodes == whole[3].n_nodes


def test_one_molecule_of_a_csv_is_counted_from_0(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = write_csv(tmp_path / "m.csv")
    one = read_one(f"{path}#3", ReadOptions())
    assert one.smiles == one.names == (SMILES[3],)


def test_a_triple_bond_is_no_number():
    pytest.importorskip("rdkit", reason="needs RDKit")
    assert read_one("smiles:CC#N", ReadOptions()).graphs.n_nodes == 3


def test_one_of_several_must_be_picked(folder):
    with pytest.raises(GraphInputError, match=r"got 2 graphs, expected one; choose from .*#0' to .*#1'"):
        read_one(str(folder), ReadOptions())


def test_a_number_out_of_range_is_refused(folder):
    with pytest.raises(GraphInputError, match="graph 7 is out of range: there are 2 graphs, numbered 0 to 1"):
        read_one(f"{folder}#7", ReadOptions())


def test_one_graph_is_data_too(folder):
    assert len(read_source(f"{folder}#1", ReadOptions(), "given").graphs) == 1
