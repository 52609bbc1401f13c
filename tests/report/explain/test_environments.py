from __future__ import annotations

import pytest

from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.colours import refine
from twinwl.report.explain import environment_of

SMILES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "CC(=O)[O-].[Na+]",
    "C#CC1CC1",
    "OC1CCCCC1",
    "C",
    "[2H]OC",
    "*CC",
    "C[N+](C)(C)C",
    "F[C@H](Cl)Br",
]


@pytest.fixture(scope="module")
def chem():
    return pytest.importorskip("rdkit.Chem", reason="needs RDKit")


def centres(chem, smiles, smarts):
    """Atoms that the first atom of a SMARTS matches."""
    query = chem.MolFromSmarts(smarts)
    matches = chem.MolFromSmiles(smiles).GetSubstructMatches(query, uniquify=False)
    return {match[0] for match in matches}


@pytest.mark.parametrize("atoms", ["skeleton", "constitution", "isotope", "stereo", "ecfp"])
@pytest.mark.parametrize("bonds", [False, True])
def test_the_smarts_matches_its_molecule_at_its_atom(chem, atoms, bonds):
    for smiles in SMILES:
        for atom in range(chem.MolFromSmiles(smiles).GetNumAtoms()):
            for radius in range(4):
                found = environment_of(smiles, atom, radius, atoms, bonds=bonds)
                assert atom in centres(chem, smiles, found.smarts), (smiles, atom, radius, found)


@pytest.mark.parametrize("bonds", [False, True])
def test_every_atom_that_matches_has_the_same_colour(chem, bonds):
    batch = GraphBatch.from_smiles(SMILES, atoms="skeleton")
    colours = refine(batch, 2, edge_labels=bonds).colours
    for graph, smiles in enumerate(SMILES):
        for atom in range(batch[graph].n_nodes):
            for radius in range(3):
                smarts = environment_of(smiles, atom, radius, bonds=bonds).smarts
                same = colours[radius, batch.graph_ptr[graph] + atom]
                for other, text in enumerate(SMILES):
                    for match in centres(chem, text, smarts):
                        assert colours[radius, batch.graph_ptr[other] + match] == same


def test_the_smiles_is_the_fragment(chem):
    found = environment_of("CC(=O)Oc1ccccc1", 1, 1)
    assert chem.CanonSmiles(found.smiles) == chem.CanonSmiles("CC(=O)O")


def test_rings_and_isotopes_are_part_of_the_smarts_where_labels_contain_them(chem):
    in_ring = environment_of("C1CCCCC1C", 0, 0, "ecfp").smarts
    assert centres(chem, "C1CCCCC1CCC", in_ring) == {0, 1, 2, 3, 4}
    heavy = environment_of("C[13CH3]", 1, 0, "isotope").smarts
    assert centres(chem, "C[13CH3]", heavy) == {1}
    light = environment_of("C[13CH3]", 0, 0, "isotope").smarts
    assert centres(chem, "C[13CH3]", light) == {0}
