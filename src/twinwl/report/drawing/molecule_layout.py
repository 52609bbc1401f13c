"""Structural formulas, ready to be drawn: RDKit's coordinates, element letters, bonds with their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import import_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rdkit import Chem

_KINDS = {
    "SINGLE": "single",
    "DOUBLE": "double",
    "TRIPLE": "triple",
    "AROMATIC": "aromatic",
    "DATIVE": "single",
}


class Molecule(NamedTuple):
    """A structural formula: atoms, letters and bonds."""

    positions: NDArray[np.float64]
    """Shape (n_atoms, 2); a bond is about 1 long and y points down."""
    letters: list[str]
    """Element of each atom; empty for carbon, which is not written in formulas."""
    bonds: dict[tuple[int, int], str]
    """Kind of the bond between two atoms, the smaller number first."""
    centres: dict[tuple[int, int], NDArray[np.float64]]
    """For bonds in a ring, its centre: the second stroke of a bond lies inside the ring."""


def lay_out_molecule(molecule: Chem.Mol | str) -> Molecule:
    """Return the structural formula of a molecule or a SMILES, atoms in their order.

    >>> lay_out_molecule("C=O").letters
    ['', 'O']
    """
    depictor = import_extra("rdkit.Chem.rdDepictor", "chem")
    molecule = read_molecule(molecule)
    depictor.Compute2DCoords(molecule)
    depictor.StraightenDepiction(molecule)
    conformer = molecule.GetConformer()
    positions = np.array([list(conformer.GetAtomPosition(i))[:2] for i in range(molecule.GetNumAtoms())])
    positions = positions.reshape(-1, 2) * [1, -1] / 1.5  # in RDKit a bond is 1.5 long and y points up
    positions = positions - positions.min(axis=0) if len(positions) else positions
    bonds: dict[tuple[int, int], str] = {}
    for bond in molecule.GetBonds():
        u, v = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        bonds[u, v] = _KINDS.get(bond.GetBondType().name, "single")
    centres: dict[tuple[int, int], NDArray[np.float64]] = {}
    # Small rings last: a bond shared by two rings gets its second stroke in the smaller one.
    for ring in sorted((list(ring) for ring in molecule.GetRingInfo().AtomRings()), key=len, reverse=True):
        for u, v in zip(ring, ring[1:] + ring[:1], strict=True):
            centres[min(u, v), max(u, v)] = positions[ring].mean(axis=0)
    letters = [_letter(atom) for atom in molecule.GetAtoms()]
    if len(letters) == 1 and not letters[0]:  # a single carbon needs a letter to be visible
        letters = ["C"]
    return Molecule(positions, letters, bonds, centres)


def read_molecule(molecule: Chem.Mol | str) -> Chem.Mol:
    """Return a copy of a molecule that may be drawn on; a SMILES is parsed."""
    chem = import_extra("rdkit.Chem", "chem")
    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # what it warns of was told when the data was read
        return chem.MolFromSmiles(molecule) if isinstance(molecule, str) else chem.Mol(molecule)


def _letter(atom: object) -> str:
    symbol = str(atom.GetSymbol())  # type: ignore[attr-defined]
    return "" if symbol == "C" else symbol
