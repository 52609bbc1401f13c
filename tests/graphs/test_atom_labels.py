import itertools
import warnings
from pathlib import Path

import pytest

from tests.batch_equality import assert_same_graphs, edge_dict
from tests.conftest import data_folder
from twinwl import GraphBatch, TwinWLError, TwinWLWarning, deduplicate, graph_hashes, load_dataset
from twinwl.errors import GraphInputError
from twinwl.graphs.atom_labels import ATOM_LABELLINGS, LADDER
from twinwl.graphs.molecules import read_smiles

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")
descriptors = pytest.importorskip("rdkit.Chem.rdMolDescriptors")

MESSY = [
    "[Na+].[Cl-]",
    "[Na]Cl",
    "CC(=O)O[Na]",
    "[Fe]",
    "[K+].[Br-].O",
    "N->[Pt](Cl)Cl",
    "*C",
    "[*]",
    "C",
    "[CH3]",
    "[13CH4]",
    "[2H]C([2H])[2H]",
    "[H][H]",
    "[H+]",
    "[O-][N+](=O)c1ccccc1",
    "CN(=O)=O",
    "c1cc[nH]c1",
    "C1=CC=CN1",
    "F/C=C/F",
    "C[C@H](N)C(=O)O",
    "[H]/N=C/C",
    "[Pt@SP1](F)(Cl)(Br)I",
]


def labels(smiles, atoms):
    return GraphBatch.from_smiles([smiles], atoms=atoms).labels_of_nodes()


@pytest.mark.parametrize(
    ("smiles", "atoms", "expected"),
    [
        ("CC(=O)[O-]", "skeleton", ["C", "C", "O", "O"]),
        ("CC(=O)[O-]", "constitution", ["CH3", "C", "O", "O-"]),
        ("[13CH3][NH3+]", "constitution", ["CH3", "NH3+"]),
        ("[13CH3][NH3+]", "isotope", ["13CH3", "NH3+"]),
        ("[CH3]", "constitution", ["CH3•"]),
        ("[O]", "constitution", ["O••"]),
        ("[Ca+2]", "constitution", ["Ca+2"]),
        ("*C", "constitution", ["*", "CH3"]),
        ("C[C@H](N)C(=O)O", "isotope", ["CH3", "CH", "NH2", "C", "O", "OH"]),
        ("C[C@H](N)C(=O)O", "stereo", ["CH3", "CH(S)", "NH2", "C", "O", "OH"]),
        ("C1CC1[NH3+]", "ecfp", ["CH2 X4 ring", "CH2 X4 ring", "CH X4 ring", "NH3+ X4"]),
        ("[14CH4]", "ecfp", ["CH4 X4 mass+1"]),
        ("[12CH4]", "ecfp", ["CH4 X4"]),
        ("CC(=O)O", "fcfp", ["other", "acidic", "acceptor", "donor"]),
        ("Clc1ccncc1", "fcfp", ["halogen", *["aromatic"] * 3, "acceptor aromatic", *["aromatic"] * 2]),
    ],
)
def test_labels_are_written_as_in_brackets_of_smiles(smiles, atoms, expected):
    assert labels(smiles, atoms) == expected


def test_double_bonds_carry_their_stereo():
    for smiles, mark in (("F/C=C/F", "double(E)"), ("F/C=C\\F", "double(Z)"), ("FC=CF", "double")):
        assert edge_dict(GraphBatch.from_smiles([smiles], atoms="stereo"))[1, 2] == mark
        assert edge_dict(GraphBatch.from_smiles([smiles], atoms="isotope"))[1, 2] == "double"


def test_a_dative_bond_says_where_it_starts():
    one, other = (
        GraphBatch.from_smiles([smiles], atoms="constitution") for smiles in ("[Na]->[K]", "[Na]<-[K]")
    )
    assert edge_dict(one)[0, 1] == "dative from Na"
    assert edge_dict(other)[0, 1] == "dative from K"
    assert edge_dict(GraphBatch.from_smiles(["[Na]->[K]"], atoms="skeleton"))[0, 1] == "dative"


PAIRS = {
    "constitution": ("CC(=O)O", "CC(=O)[O-]"),
    "isotope": ("CC", "C[13CH3]"),
    "stereo": ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
}


@pytest.mark.parametrize("tells", PAIRS)
def test_each_level_tells_apart_what_it_adds_and_all_before(tells):
    counts = [len(deduplicate(GraphBatch.from_smiles(PAIRS[tells], atoms=atoms))) for atoms in LADDER]
    place = LADDER.index(tells)
    assert counts == [1] * place + [2] * (len(LADDER) - place)


def test_a_level_never_merges_what_the_one_before_tells_apart():
    groups = [deduplicate(GraphBatch.from_smiles(MESSY, atoms=atoms)).labels.tolist() for atoms in LADDER]
    for coarse, fine in itertools.pairwise(groups):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


@pytest.mark.filterwarnings("ignore:these molecules were read with")
@pytest.mark.parametrize("atoms", ATOM_LABELLINGS)
def test_messy_molecules_have_the_same_atoms_and_bonds_at_every_level(atoms):
    batch = GraphBatch.from_smiles(MESSY, atoms=atoms)
    plain = GraphBatch.from_smiles(MESSY, atoms="skeleton")
    assert batch.nodes_per_graph.tolist() == plain.nodes_per_graph.tolist()
    assert batch.indices.tolist() == plain.indices.tolist()
    molecules = [Chem.MolFromSmiles(smiles) for smiles in MESSY]
    assert_same_graphs(batch, GraphBatch.from_rdkit(molecules, atoms))
    again = GraphBatch.from_smiles(map(Chem.MolToSmiles, molecules), atoms=atoms)
    assert graph_hashes(again) == graph_hashes(batch)


@pytest.mark.parametrize("atoms", ATOM_LABELLINGS)
def test_molecules_without_atoms_are_empty_graphs(atoms):
    batch = GraphBatch.from_rdkit([Chem.Mol(), Chem.MolFromSmiles("C"), Chem.Mol()], atoms)
    assert batch.nodes_per_graph.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("atoms", "invariants"), [("ecfp", "GetConnectivityInvariants"), ("fcfp", "GetFeatureInvariants")]
)
def test_atoms_are_parted_as_in_morgan_fingerprints(atoms, invariants):
    molecules = [Chem.MolFromSmiles(smiles) for smiles in MESSY]
    ours = GraphBatch.from_rdkit(molecules, atoms).labels_of_nodes()
    theirs = [value for molecule in molecules for value in getattr(descriptors, invariants)(molecule)]
    assert len(set(ours)) == len(set(theirs)) == len(set(zip(ours, theirs, strict=True)))


def test_molecules_that_were_never_sanitised_are_refused_by_their_index(capfd):
    molecules = [Chem.MolFromSmiles("C"), Chem.MolFromSmiles("CC", sanitize=False)]
    with pytest.raises(GraphInputError, match=r"atoms='constitution'.*Chem\.SanitizeMol") as caught:
        GraphBatch.from_rdkit(molecules, "constitution")
    assert caught.value.graph == 1
    assert capfd.readouterr().err == ""


def test_an_unknown_level_is_refused_with_the_choices():
    message = "atoms: got 'steroe', expected 'skeleton', 'constitution', .*did you mean 'stereo'"
    with pytest.raises(TwinWLError, match=message):
        GraphBatch.from_smiles(["C"], atoms="steroe")
    with pytest.raises(TwinWLError, match=message):
        GraphBatch.from_rdkit([], "steroe")


@pytest.mark.slow
def test_processes_change_nothing():
    strings = [*(f"{'C' * (1 + i % 9)}[15NH3+]" for i in range(1500)), "C(", *MESSY, "", *["N"] * 700]
    with pytest.warns(TwinWLWarning, match="left out 2 SMILES.*at index 1500"):
        one = GraphBatch.from_smiles(strings, on_error="skip", atoms="stereo")
    many = read_smiles(strings, "skip", atoms="stereo", n_jobs=2)
    assert_same_graphs(many.graphs, one)
    assert [failure.position for failure in many.failures] == [1500, 1501 + len(MESSY)]
    with pytest.raises(GraphInputError, match=r"graph 1500: SMILES 'C\('"):
        GraphBatch.from_smiles(strings, n_jobs=2, atoms="skeleton")


@pytest.mark.parametrize(("name", "flat", "stereo"), [("BACE", 1483, 1513), ("ClinTox", 1434, 1461)])
def test_groups_of_real_molecules_are_those_of_canonical_smiles(name, flat, stereo):
    folder = data_folder()
    if folder is None or not (folder / "moleculenet_csv.zip").is_file():
        pytest.skip("moleculenet_csv.zip was not found")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinWLWarning)  # four molecules cannot be read
        fine, coarse = (load_dataset(name, folder, atoms=atoms) for atoms in ("stereo", "constitution"))
    assert (len(deduplicate(coarse.graphs)), len(deduplicate(fine.graphs))) == (flat, stereo)
    canonical = [Chem.CanonSmiles(smiles) for smiles in fine.smiles]
    groups = deduplicate(fine.graphs).labels.tolist()
    assert len(set(canonical)) == len(set(zip(canonical, groups, strict=True))) == stereo


def test_labels_beyond_the_skeleton_are_not_written_as_smiles():
    with pytest.raises(
        GraphInputError, match='is not an element symbol; read molecules with atoms="skeleton"'
    ):
        GraphBatch.from_smiles(["CC"], atoms="constitution").to_smiles()


@pytest.mark.parametrize("atoms", ATOM_LABELLINGS)
def test_every_labelling_is_described_where_users_look(atoms):
    page = Path(__file__).parents[2] / "docs/background/same_graph.md"
    assert f"| `{atoms}` |" in page.read_text(encoding="utf-8")
    described = " ".join(GraphBatch.from_smiles.__doc__.split())
    if atoms in LADDER:
        assert f'``"{atoms}"`` {ATOM_LABELLINGS[atoms].summary}' in described
