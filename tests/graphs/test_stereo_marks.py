"""Stereo against RDKit's canonical SMILES: equal graphs if and only if equal SMILES."""

import numpy as np
import pytest

from twinwl import GraphBatch, deduplicate

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")
stereoisomers = pytest.importorskip("rdkit.Chem.EnumerateStereoisomers")

# Rings and chains whose centres depend on each other, which a weaker descriptor would confuse.
TRICKY = [
    "OC1C(O)C(O)C(O)C(O)C1O",
    "CC1CC(C)CC(C)C1",
    "CC1CCC(C)CC1",
    "CC1CC2(C1)CC(C)C2",
    "OC(=O)C(O)C(O)C(O)C(=O)O",
    "CC=CC(O)C=CC",
    "CC=CC(C=CC)C=CC",
    "C1CC2CC1C1CC2CC1",
    "CC=C=CC",
    "CS(=O)CC(C)S(C)=O",
    "OC1C2OC2C(O)C2OC12",
    "CC(=NO)C(C)=NO",
    "CC(C1CC1C)C1CC1C",
    "[H]N=C(C)C=CC",
]


def spellings(smiles):
    random = np.random.default_rng(0)
    options = stereoisomers.StereoEnumerationOptions(unique=False, maxIsomers=64)
    for isomer in stereoisomers.EnumerateStereoisomers(Chem.MolFromSmiles(smiles), options):
        Chem.AssignStereochemistry(isomer, cleanIt=True, force=True)
        for _ in range(2):
            order = random.permutation(isomer.GetNumAtoms()).tolist()
            yield Chem.MolToSmiles(Chem.RenumberAtoms(isomer, order), canonical=False)


@pytest.mark.parametrize("smiles", TRICKY)
def test_groups_are_those_of_canonical_smiles(smiles):
    texts = list(spellings(smiles))
    canonical = [Chem.CanonSmiles(text) for text in texts]
    groups = deduplicate(GraphBatch.from_smiles(texts, atoms="stereo")).labels.tolist()
    assert len(set(canonical)) == len(set(groups)) == len(set(zip(canonical, groups, strict=True)))


def test_where_cip_does_not_decide_the_smiles_itself_does():
    trimethylcyclohexane = "C[C@H]1C[C@H](C)C[C@@H](C)C1"
    labels = GraphBatch.from_smiles([trimethylcyclohexane], atoms="stereo").labels_of_nodes()
    assert [label for label in labels if len(label) > 5] == [f"CH3 in {trimethylcyclohexane}"]


def test_molecules_keep_their_order_of_atoms():
    batch = GraphBatch.from_smiles(["OC(=O)[C@@H](N)C"], atoms="stereo")
    assert batch.labels_of_nodes() == ["OH", "C", "O", "CH(S)", "NH2", "CH3"]


def test_the_callers_molecule_is_left_as_it_is():
    molecule = Chem.MolFromSmiles("C[C@H](N)C(=O)O")
    before = set(molecule.GetPropNames(includePrivate=True, includeComputed=True))
    GraphBatch.from_rdkit([molecule], "stereo")
    assert set(molecule.GetPropNames(includePrivate=True, includeComputed=True)) == before
