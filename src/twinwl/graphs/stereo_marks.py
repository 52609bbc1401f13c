"""Stereo as marks on atoms and bonds: the CIP descriptors (R, S, r, s; E, Z) that RDKit assigns.

Whether an atom is ``@`` or ``@@`` depends on the order in which its neighbours are written, so a graph cannot
carry it; it can carry a CIP descriptor. Descriptors are those of the canonical SMILES, read again: so equal
canonical SMILES have equal marks. Where a descriptor is missing though the SMILES says something there, the
first atom is marked with the whole canonical SMILES: so different ones have different graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.errors import import_extra

if TYPE_CHECKING:
    from types import ModuleType

    from rdkit import Chem

_CODE = "_CIPCode"
_SIGNS = frozenset("@/\\")
# Ranking the branches of a highly symmetric molecule can take extremely long; this many steps take a few
# seconds.
_MOST_STEPS = 100_000


class StereoMarks(NamedTuple):
    """What to append to labels, by index of the atom or bond."""

    atoms: dict[int, str]
    bonds: dict[int, str]


def may_have_stereo(smiles: str) -> bool:
    """Say whether a SMILES can hold stereo at all, which most do not.

    >>> may_have_stereo("CCO"), may_have_stereo("C/C=C/C")
    (False, True)
    """
    return not _SIGNS.isdisjoint(smiles)


def stereo_marks(chem: ModuleType, molecule: Chem.Mol) -> StereoMarks:
    """Find the stereocentres and stereo bonds of a molecule, and what they are.

    >>> from rdkit import Chem
    >>> stereo_marks(Chem, Chem.MolFromSmiles("C[C@H](N)C(=O)O"))
    StereoMarks(atoms={1: '(S)'}, bonds={})
    """
    copy = chem.Mol(molecule)  # writing SMILES leaves properties behind
    smiles = chem.MolToSmiles(copy)
    if not may_have_stereo(smiles):
        return StereoMarks({}, {})
    place = list(copy.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])  # noqa: FBT003
    options = chem.SmilesParserParams()
    options.removeHs = False  # every atom that was written is to come back
    canonical = chem.MolFromSmiles(smiles, options)
    decided = _assign_descriptors(canonical)
    marks = StereoMarks({}, {})
    for atom in canonical.GetAtoms():
        if atom.HasProp(_CODE):
            marks.atoms[place[atom.GetIdx()]] = f"({atom.GetProp(_CODE)})"
        elif atom.GetChiralTag() != chem.ChiralType.CHI_UNSPECIFIED:
            decided = False
    for bond in canonical.GetBonds():
        if bond.HasProp(_CODE):
            ends = place[bond.GetBeginAtomIdx()], place[bond.GetEndAtomIdx()]
            marks.bonds[molecule.GetBondBetweenAtoms(*ends).GetIdx()] = f"({bond.GetProp(_CODE)})"
        elif bond.GetStereo() > chem.BondStereo.STEREOANY:
            decided = False
    if not decided:
        marks.atoms[place[0]] = marks.atoms.get(place[0], "") + f" in {smiles}"
    return marks


def _assign_descriptors(molecule: Chem.Mol) -> bool:
    """Let RDKit assign CIP descriptors; return whether it came to an end."""
    parts: list[Chem.Atom | Chem.Bond] = [*molecule.GetAtoms(), *molecule.GetBonds()]
    for part in parts:
        part.ClearProp(_CODE)  # of an older algorithm, which parsing runs
    labeler = import_extra("rdkit.Chem.rdCIPLabeler", "chem")
    try:
        labeler.AssignCIPLabels(molecule, maxRecursiveIterations=_MOST_STEPS)
    except RuntimeError:
        return False
    return True
