"""The neighbourhood of an atom as SMARTS and SMILES, for use in other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.errors import import_extra
from twinwl.report.drawing.molecule_drawing import read_molecule

if TYPE_CHECKING:
    from rdkit import Chem

_BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}


class Environment(NamedTuple):
    """An atom and its neighbourhood; the atom is the first one of the SMARTS."""

    smarts: str
    smiles: str


def environment_of(
    molecule: Chem.Mol | str, atom: int, radius: int, atoms: str = "skeleton", *, bonds: bool = False
) -> Environment:
    """Return the neighbourhood of an atom as a model sees it.

    At the level ``"skeleton"``, an atom that matches has the same elements around it, and inside no other
    neighbours: so it has the same colour after ``radius`` rounds. The reverse is not true, because colours
    can be the same where rings differ.

    Parameters
    ----------
    molecule
        The molecule, or its SMILES.
    atom
        Number of the atom.
    radius
        Number of steps.
    atoms
        What the model's atom labels contain: for levels other than ``"skeleton"``, hydrogens and charge are
        part of the SMARTS, then isotopes, and for ``"ecfp"`` whether the atom is in a ring. SMARTS have no
        radicals; stereo is left out.
    bonds
        Whether the model sees bond orders; otherwise any bond matches.

    >>> environment_of("CCO", 2, 1).smarts
    '[#8&D1]~[#6]'
    """
    chem = import_extra("rdkit.Chem", "chem")
    read = read_molecule(molecule)
    # SMARTS are written from the first atom on.
    first = chem.RenumberAtoms(read, [atom, *(n for n in range(read.GetNumAtoms()) if n != atom)])
    steps: dict[int, int] = {}
    within = []
    if radius:
        within = list(
            chem.FindAtomEnvironmentOfRadiusN(first, radius, 0, useHs=True, enforceSize=False, atomMap=steps)
        )
    steps[0] = 0
    query = chem.RWMol(first)
    for number, step in steps.items():
        query.ReplaceAtom(
            number, chem.AtomFromSmarts(_atom(first.GetAtomWithIdx(number), atoms, inside=step < radius))
        )
    for number in within:
        kind = first.GetBondWithIdx(number).GetBondType().name
        query.ReplaceBond(number, chem.BondFromSmarts(_BONDS.get(kind, "~") if bonds else "~"))
    return Environment(
        chem.MolFragmentToSmarts(query, list(steps), within, isomericSmarts=False),
        chem.MolFragmentToSmiles(first, list(steps), within, isomericSmiles=False),
    )


def _atom(atom: Chem.Atom, atoms: str, *, inside: bool) -> str:
    parts = [f"#{atom.GetAtomicNum()}"]
    if inside or atoms == "ecfp":
        parts.append(f"D{atom.GetDegree()}")
    if atoms != "skeleton":
        parts += [f"H{atom.GetTotalNumHs(includeNeighbors=True)}", f"{atom.GetFormalCharge():+d}"]
    if atoms in {"isotope", "stereo"} or (atoms == "ecfp" and atom.GetIsotope()):
        parts.append(f"{atom.GetIsotope()}*")
    if atoms == "ecfp":
        parts.append("R" if atom.IsInRing() else "R0")
    return f"[{'&'.join(parts)}]"
