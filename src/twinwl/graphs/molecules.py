"""RDKit molecules taken apart in bulk.

A Python call for each bond would cost half as much as parsing the SMILES. RDKit hands out the matrix of
bond orders as a whole; only molecules with a bond that has no plain order are read bond by bond.
"""

from __future__ import annotations

import functools
import itertools
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import GraphInputError, import_extra
from twinwl.graphs.atom_labels import atom_label, atom_reader
from twinwl.graphs.building import build
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.selection import pointer
from twinwl.graphs.stereo_marks import may_have_stereo, stereo_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    from numpy.typing import NDArray
    from rdkit import Chem

    from twinwl.graphs.atom_labels import AtomKey, AtomLevel
    from twinwl.graphs.batch import GraphBatch

__all__ = ["batch_from_molecules"]

_NAME_OF_ORDER = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
_LARGE = 400  # atoms from which a dense matrix costs more than a call for each bond
_BLOCK = 32  # molecules held at once: so few that all stays in the processor's cache
_NO_ORDERS: NDArray[np.float64] = np.empty(0)


class _Bonds(NamedTuple):
    """Bonds of molecules, some from both ends: ``n * u + v`` for atoms u and v of a molecule of n atoms."""

    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    orders: NDArray[np.float64]


def batch_from_molecules(
    molecules: Iterable[Chem.Mol],
    atoms: AtomLevel = "skeleton",
    smiles: Iterable[str] | None = None,
) -> GraphBatch:
    """Build a batch from molecules, of which a few at a time are held.

    Parameters
    ----------
    molecules
        One graph each.
    atoms
        What labels say; see `twinwl.graphs.atom_labels`.
    smiles
        What each molecule was read from, asked for after the molecule; None where that is not known.
    """
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    read = atom_reader(chem, atoms)
    name_of_bond = _bond_names(chem, atoms)
    number_of_key: dict[AtomKey, int] = {}
    numbers: list[int] = []
    atom_counts: list[int] = []
    order_of_name: dict[str, float] = {name: order for order, name in _NAME_OF_ORDER.items()}
    parts: list[_Bonds] = []
    block: list[tuple[Chem.Mol, NDArray[np.float64] | None, dict[int, str]]] = []

    def flush() -> None:
        parts.append(_bonds_of_block(block, order_of_name, name_of_bond))
        block.clear()

    with base.BlockLogs():  # asking for the order of an exotic bond prints a stack trace
        for molecule, text in zip(molecules, smiles or itertools.repeat(""), strict=False):
            own, marks = _atoms(chem, molecule, text, atoms, read, len(atom_counts))
            numbers += [number_of_key.setdefault(key, len(number_of_key)) for key in own]
            atom_counts.append(len(own))
            block.append((molecule, None if marks else _bond_orders(chem, molecule), marks))
            if len(block) == _BLOCK:
                flush()
        flush()
    node_counts = np.array(atom_counts, np.int64)
    bonds = _Bonds(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    owners = np.repeat(np.arange(len(node_counts)), bonds.counts)
    sources, targets = np.divmod(bonds.places, node_counts[owners])
    once = sources < targets
    names, known = zip(*sorted(order_of_name.items(), key=itemgetter(1)), strict=True)
    kinds = np.searchsorted(known, bonds.orders[once])
    used = np.bincount(kinds, minlength=len(known)) > 0
    return build(
        node_counts,
        np.bincount(owners[once], minlength=len(node_counts)),
        sources[once],
        targets[once],
        nodes=_renamed(np.array(numbers, np.int64), [atom_label(atoms, key) for key in number_of_key]),
        edges=_renamed((np.cumsum(used) - 1)[kinds], list(itertools.compress(names, used))),
        atoms=atoms,
    )


def _atoms(
    chem: ModuleType,
    molecule: Chem.Mol,
    smiles: str,
    atoms: AtomLevel,
    read: Callable[[Chem.Mol, str], list[AtomKey]],
    graph: int,
) -> tuple[list[AtomKey], dict[int, str]]:
    """Read the atoms of a molecule, and which of its bonds are marked."""
    try:
        keys = read(molecule, smiles)
        if atoms != "stereo" or (smiles and not may_have_stereo(smiles)):
            return keys, {}
        marks = stereo_marks(chem, molecule)
    except (RuntimeError, ValueError) as error:  # hydrogens or rings were never worked out
        raise GraphInputError(
            f"RDKit cannot say all that atoms={atoms!r} asks for; sanitise the molecule first "
            "(Chem.SanitizeMol)",
            graph,
        ) from error
    for place, mark in marks.atoms.items():
        keys[place] += (mark,)
    return keys, marks.bonds


def _renamed(numbers: NDArray[np.int64], names: list[str]) -> Coded:
    """Encode numbers that have these names."""
    ranks, vocabulary = encode_labels(names)
    return Coded(ranks[numbers], vocabulary)


def _bond_names(chem: ModuleType, atoms: AtomLevel) -> Callable[[Chem.Bond], str]:
    """Return what names a bond by its type; beyond the skeleton a dative one also says where it starts."""
    directed = {kind for name, kind in chem.BondType.names.items() if name.startswith("DATIVE")}

    def name_of_bond(bond: Chem.Bond) -> str:
        kind = bond.GetBondType()
        name = str(kind.name).lower()
        if atoms == "skeleton" or kind not in directed:
            return name
        return f"{name} from {bond.GetBeginAtom().GetSymbol()}"

    return name_of_bond


def _bond_orders(chem: ModuleType, molecule: Chem.Mol) -> NDArray[np.float64] | None:
    """Return the matrix of bond orders as a row; None where there is none, or it is too large."""
    if molecule.GetNumAtoms() > _LARGE:
        return None
    try:
        matrix: NDArray[np.float64] = chem.GetAdjacencyMatrix(molecule, True, 0, True)  # noqa: FBT003
    except RuntimeError:
        return None
    molecule.ClearProp("AdjacencyMatrixBO")  # RDKit keeps a copy with the molecule otherwise
    return matrix.ravel()


def _bonds_of_block(
    block: list[tuple[Chem.Mol, NDArray[np.float64] | None, dict[int, str]]],
    order_of_name: dict[str, float],
    name_of_bond: Callable[[Chem.Bond], str],
) -> _Bonds:
    """Read the bonds of some molecules at once; those that a matrix does not tell all about, bond by bond."""
    rows = [_NO_ORDERS if orders is None else orders for _, orders, _ in block]
    flat = np.concatenate([_NO_ORDERS, *rows])
    starts = pointer(np.array([len(row) for row in rows], np.int64))
    (cells,) = flat.nonzero()
    orders = flat[cells]
    bounds = np.searchsorted(cells, starts)
    counts = np.diff(bounds)
    # A bond whose order is zero is missing, a dative one stands in one direction only, some orders are odd.
    odd = functools.reduce(np.logical_and, [orders != order for order in _NAME_OF_ORDER])
    wrong = set((np.searchsorted(bounds, np.flatnonzero(odd), side="right") - 1).tolist())
    by_bond = [
        place
        for place, ((molecule, row, _), count) in enumerate(zip(block, counts.tolist(), strict=True))
        if row is None or count != 2 * molecule.GetNumBonds() or place in wrong
    ]
    places = cells - np.repeat(starts[:-1], counts)
    if not by_bond:
        return _Bonds(counts, places, orders)
    parts = [(places[low:high], orders[low:high]) for low, high in itertools.pairwise(bounds.tolist())]
    for place in by_bond:
        molecule, _, marks = block[place]
        parts[place] = _bond_by_bond(molecule, marks, order_of_name, name_of_bond)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _Bonds(np.array([len(own) for own, _ in parts], np.int64), columns[0], columns[1])


def _bond_by_bond(
    molecule: Chem.Mol,
    marks: Mapping[int, str],
    order_of_name: dict[str, float],
    name_of_bond: Callable[[Chem.Bond], str],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n_atoms = molecule.GetNumAtoms()
    places, orders = [], []
    for bond in molecule.GetBonds():
        name = name_of_bond(bond) + marks.get(bond.GetIdx(), "")
        # Types without a plain order get numbers of their own, below zero.
        orders.append(order_of_name.setdefault(name, -float(len(order_of_name))))
        low, high = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        places.append(n_atoms * low + high)
    return np.array(places, np.int64), np.array(orders, np.float64)
