"""Molecules as structural formulas: coordinates of RDKit, bonds with their order, text at atoms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Float64
from twinwl.errors import import_extra

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

_KINDS = {
    "SINGLE": "single",
    "DOUBLE": "double",
    "TRIPLE": "triple",
    "AROMATIC": "aromatic",
    "DATIVE": "single",
}

_SIDES = {"right": (1, 0), "left": (-1, 0), "below": (0, 1), "above": (0, -1)}
_CORNERS = [(1, -1), (-1, -1), (1, 1), (-1, 1)]


class Molecule(NamedTuple):
    """A structural formula: atoms, letters and bonds."""

    positions: Float64
    """Shape (n_atoms, 2); a bond is about 1 long and y points down."""
    letters: list[str]
    """Element of each atom; empty for carbon, which is not written in formulas."""
    bonds: dict[tuple[int, int], str]
    """Kind of the bond between two atoms, the smaller number first."""
    centres: dict[tuple[int, int], Float64]
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
    centres: dict[tuple[int, int], Float64] = {}
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


class AtomText(NamedTuple):
    """Text at an atom; carbon has an empty element and no text."""

    element: str
    hydrogens: int
    charge: str
    side: str
    """Position of the hydrogens: ``right``, ``left``, ``below`` or ``above`` the element."""
    corner: tuple[int, int]
    """Position of the charge, as signs of x and y."""


def atom_texts(molecule: Chem.Mol | str, graph: GraphBatch, points: Float64) -> list[AtomText]:
    """Return the text of each atom of a drawn molecule.

    Parameters
    ----------
    molecule
        The molecule, or its SMILES.
    graph
        The molecule as a graph, nodes in the order of the atoms.
    points : array of float64, shape (n_atoms, 2)
        Positions of the atoms; y points down.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> ethanol = GraphBatch.from_smiles(["CCO"])
    >>> atom_texts("CCO", ethanol, np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))[2]
    AtomText(element='O', hydrogens=1, charge='', side='right', corner=(1, -1))
    """
    texts = []
    for node, atom in enumerate(read_molecule(molecule).GetAtoms()):
        element, charge = str(atom.GetSymbol()), int(atom.GetFormalCharge())
        neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        if element == "C" and not charge and len(neighbours) and not atom.GetNumRadicalElectrons():
            texts.append(AtomText("", 0, "", "right", (1, -1)))
            continue
        bonds = points[neighbours] - points[node]
        bonds /= np.maximum(np.linalg.norm(bonds, axis=1, keepdims=True), 1e-9)
        texts.append(
            AtomText(
                element,
                int(atom.GetTotalNumHs()),
                _shown_charge(charge),
                _roomiest_side(bonds),
                _roomiest_corner(bonds),
            )
        )
    return texts


def _roomiest_side(bonds: Float64) -> str:
    """Return the side that is farthest, as an angle, from every bond; right and left read best."""
    if not len(bonds):
        return "right"
    nearest_bond = {name: float((bonds @ np.array(way)).max()) for name, way in _SIDES.items()}
    preferred = min(("right", "left"), key=lambda name: round(nearest_bond[name], 3))
    if nearest_bond[preferred] < 0.5:  # noqa: PLR2004  (no bond within 60 degrees)
        return preferred
    return min(nearest_bond, key=lambda name: round(nearest_bond[name], 3))


def _roomiest_corner(bonds: Float64) -> tuple[int, int]:
    """Return the first corner without a bond close to it, or the one where the closest is farthest."""
    if not len(bonds):
        return _CORNERS[0]
    nearest_bond = {corner: float((bonds @ np.array(corner)).max()) for corner in _CORNERS}
    free = [corner for corner, cosine in nearest_bond.items() if cosine < 1.1]  # noqa: PLR2004  (39 degrees)
    return free[0] if free else min(nearest_bond, key=lambda corner: round(nearest_bond[corner], 3))


def _shown_charge(charge: int) -> str:
    if not charge:
        return ""
    return ("" if abs(charge) == 1 else str(abs(charge))) + ("+" if charge > 0 else "−")
