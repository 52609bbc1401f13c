import pytest

from tests.batch_equality import edge_dict
from twinwl import GraphBatch

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")


def _pair(bond_type):
    molecule = Chem.RWMol()
    for _ in range(2):
        molecule.AddAtom(Chem.Atom(6))
    molecule.AddBond(0, 1, bond_type)
    return molecule


@pytest.mark.parametrize("name", sorted(set(Chem.BondType.names) - {"ONEANDAHALF"}))
def test_every_bond_type_keeps_its_name(name, capfd):
    batch = GraphBatch.from_rdkit(
        [_pair(Chem.BondType.names[name]), Chem.MolFromSmiles("CC")], atoms="skeleton"
    )
    assert edge_dict(batch[0]) == {(0, 1): name.lower(), (1, 0): name.lower()}
    assert edge_dict(batch[1]) == {(0, 1): "single", (1, 0): "single"}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("atoms", ["constitution", ("constitution", "stereo")])
def test_rdkit_prints_nothing(atoms, capfd):
    assert len(GraphBatch.from_smiles(["[H][H]", "[H].CC"], atoms=atoms)) == 2
    assert capfd.readouterr().err == ""


def test_large_molecule_equals_a_chain():
    batch = GraphBatch.from_smiles(["C" * 450 + "O", "C"], atoms="skeleton")
    assert batch.nodes_per_graph.tolist() == [451, 1]
    assert sorted(edge for edge in edge_dict(batch) if edge[0] < edge[1]) == [(i, i + 1) for i in range(450)]


def test_several_chunks_equal_one_by_one():
    smiles = ["C" * (1 + index % 7) + "=O" for index in range(2500)]
    batch = GraphBatch.from_smiles(smiles, atoms="skeleton")
    assert batch.nodes_per_graph.tolist() == [2 + index % 7 for index in range(2500)]
    assert batch[2048].labels_of_nodes() == ["C"] * (1 + 2048 % 7) + ["O"]
    assert batch.n_edges == batch.n_nodes - len(batch)


def test_a_bond_changed_after_reading_is_read_anew():
    molecule = Chem.RWMol(Chem.MolFromSmiles("CC"))
    GraphBatch.from_rdkit([molecule], atoms="skeleton")
    molecule.GetBondWithIdx(0).SetBondType(Chem.BondType.DOUBLE)
    assert GraphBatch.from_rdkit([molecule], atoms="skeleton").edge_vocabulary == ("double",)


def test_the_callers_molecule_is_left_as_it_is():
    molecule = Chem.MolFromSmiles("c1ccccc1")
    before = set(molecule.GetPropNames(includePrivate=True, includeComputed=True))
    GraphBatch.from_rdkit([molecule], atoms="skeleton")
    assert set(molecule.GetPropNames(includePrivate=True, includeComputed=True)) == before
