import pytest

from tests.batch_equality import assert_same_graphs, edge_dict
from twinwl import GraphBatch, TwinWLError, TwinWLWarning
from twinwl.errors import GraphInputError
from twinwl.graphs.molecules import read_smiles

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")

SMILES = ["CCO", "c1ccccc1C#N", "C", "[Na+].[Cl-]", "OC(=O)c1ccccc1OC(C)=O", "[H][H]", "*C"]


@pytest.mark.parametrize("smiles", SMILES)
def test_atoms_and_bonds_are_those_of_rdkit(smiles):
    molecule = Chem.MolFromSmiles(smiles)
    batch = GraphBatch.from_smiles([smiles], atoms="skeleton")
    assert batch.labels_of_nodes() == [atom.GetSymbol() for atom in molecule.GetAtoms()]
    expected = {}
    for bond in molecule.GetBonds():
        u, v = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        expected[u, v] = expected[v, u] = bond.GetBondType().name.lower()
    assert edge_dict(batch) == expected


def test_labels_are_words():
    batch = GraphBatch.from_smiles(["C=C", "C#C", "c1ccccc1", "CCl"], atoms="skeleton")
    assert set(batch.edge_vocabulary) == {"single", "double", "triple", "aromatic"}
    assert set(batch.node_vocabulary) == {"C", "Cl"}


def test_a_batch_equals_its_molecules_one_by_one():
    batch = GraphBatch.from_smiles(SMILES, atoms="skeleton")
    for graph, smiles in zip(batch, SMILES, strict=True):
        assert_same_graphs(graph, GraphBatch.from_smiles([smiles], atoms="skeleton"))


def test_hydrogens_are_atoms_only_where_explicit():
    assert GraphBatch.from_smiles(["C"], atoms="skeleton").n_nodes == 1
    assert GraphBatch.from_rdkit([Chem.AddHs(Chem.MolFromSmiles("C"))], atoms="skeleton").n_nodes == 5


def test_no_molecules_make_an_empty_batch():
    assert (
        len(GraphBatch.from_smiles([], atoms="skeleton"))
        == len(GraphBatch.from_rdkit([], atoms="skeleton"))
        == 0
    )


BAD = {
    "syntax": ("C(C", "'C\\(C' cannot be read: it is not valid SMILES"),
    "valence": ("C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5"),
    "ring": ("c1cc1", "kekulize"),
    "empty": ("", "it is empty"),
    "blank": ("  ", "it is empty"),
    "line break": ("C\nCO", "it has 'CO' after white space"),
    "name": ("CCO |$;;OH$| ethanol", "after white space; only a .smi file may have names there"),
    "missing value": (float("nan"), "nan cannot be read: it is of type float"),
    "None": (None, "of type NoneType"),
    "bytes": (b"CC", "of type bytes"),
    "zero byte": ("C\0C", "characters that are not valid text"),
    "surrogate": ("C\ud800", "characters that are not valid text"),
    "length": ("C" * 1_000_000, "it has 1,000,000 characters, more than the 10,000"),
    "rings": ("C1CC2C1" + "C3C2C2C3" * 300 + "CC2", "it closes 602 rings, more than the 500"),
}


@pytest.mark.parametrize(("smiles", "message"), BAD.values(), ids=BAD.keys())
def test_smiles_that_does_not_parse_is_refused_by_its_index(smiles, message, capfd):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_smiles(["CC", smiles], atoms="skeleton")
    assert caught.value.graph == 1
    assert 'on_error="skip"' in str(caught.value)
    assert capfd.readouterr().err == ""


def test_skipping_counts_once_and_keeps_track(capfd):
    strings = ["CC", "xx", "O", "", "N"]
    with pytest.warns(TwinWLWarning, match="left out 2 SMILES.*at index 1, is 'xx'") as caught:
        batch = GraphBatch.from_smiles(strings, on_error="skip", atoms="skeleton")
    assert len(caught) == 1
    assert_same_graphs(batch, GraphBatch.from_smiles(["CC", "O", "N"], atoms="skeleton"))
    graphs, failures = read_smiles(strings, on_error="skip", atoms="skeleton")
    assert [(failure.position, failure.smiles) for failure in failures] == [(1, "xx"), (3, "")]
    assert_same_graphs(graphs, batch)
    assert capfd.readouterr().err == ""


def test_unknown_way_of_handling_errors_is_refused():
    with pytest.raises(TwinWLError, match="did you mean 'skip'"):
        GraphBatch.from_smiles(["CC"], on_error="skipp", atoms="skeleton")


def test_lone_string_is_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match="wrap a single one in a list"):
        GraphBatch.from_smiles("CC", atoms="skeleton")


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "NoneType is not an RDKit molecule"), ("CC", "str is not an RDKit molecule")],
)
def test_what_is_no_molecule_is_refused_by_its_index(value, message):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_rdkit([Chem.MolFromSmiles("C"), value], atoms="skeleton")
    assert caught.value.graph == 1


def test_lone_molecule_is_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match="wrap it in a list"):
        GraphBatch.from_rdkit(Chem.MolFromSmiles("C"), atoms="skeleton")


@pytest.mark.parametrize("atoms", ["skeleton", "constitution"])
def test_metals_are_read_as_rdkit_reads_them(atoms):
    smiles = ["Cl[Pt](Cl)(N)N", "O=C1O[Fe]N1", "[Na+].[O-]C", "C[Si](C)C", "CC[Hg]Cl", "[se]1cccc1", "C[Zn]"]
    smiles += ["c1ccn(->[Co])cc1", "C[Mg]Br", "[CH3]", "[NH4+]", "c1cc[nH]c1"]
    ours = GraphBatch.from_smiles(smiles, atoms=atoms)
    assert_same_graphs(ours, GraphBatch.from_rdkit([Chem.MolFromSmiles(text) for text in smiles], atoms))


def test_elements_taken_from_the_text_are_those_of_the_atoms():
    odd = [
        "Sc1ccccc1",
        "Cn1cccc1",
        "[nH]1cccc1",
        "BrCCl",
        "c1cc[se]c1",
        "[Co]CO",
        "*C[*]",
        "B1OB1CI",
        "C%10CC%10N",
    ]
    odd += [
        "[H]O[H]",
        "[2H]OC",
        "[H][H]",
        "[#6]C[#7]",
        "[C:1][N:2]C",
        "[13CH3]O",
        "[Cl-].[Na+]",
        "[Si](C)S",
    ]
    odd += [
        "CC |$N;O$|",
        "CN |$_R1;$|",
        "O=N(=O)c1ccccc1",
        "N->[Pt]",
        "F[P-](F)F",
    ]
    molecules = [Chem.MolFromSmiles(text) for text in odd]
    batch = GraphBatch.from_smiles(
        odd, atoms="skeleton"
    )  # in one go, so that what one has taught is applied to the next
    for place, molecule in enumerate(molecules):
        assert batch[place].labels_of_nodes() == [atom.GetSymbol() for atom in molecule.GetAtoms()], odd[
            place
        ]
