"""RDKit molecules taken apart in bulk.

A Python call for each bond would cost half as much as parsing the SMILES. RDKit hands out the matrix of
bond orders as a whole; only molecules with a bond that has no plain order are read bond by bond.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import GraphInputError, import_extra
from twinwl.graphs.atom_labels import atom_label, atom_reader
from twinwl.graphs.building import build, pointer
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.stereo_marks import stereo_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from numpy.typing import NDArray
    from rdkit import Chem

    from twinwl.graphs.atom_labels import AtomKey, AtomLevel
    from twinwl.graphs.batch import GraphBatch

__all__ = ["batch_from_molecules"]

_NAME_OF_ORDER = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
_LARGE = 400  # atoms from which a dense matrix costs more than a call for each bond
_CHUNK = 64  # molecules at a time: what was just read is still in the processor's cache


class _Held(NamedTuple):
    """A molecule whose bonds are still to be read, its place in the batch, and marks by index of the bond."""

    molecule: Chem.Mol
    graph: int
    marks: dict[int, str]


class _Bonds(NamedTuple):
    """Bonds of several molecules: molecule, ends and type name of each."""

    owners: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    orders: NDArray[np.float64]


def batch_from_molecules(
    molecules: Iterable[Chem.Mol],
    atoms: AtomLevel = "skeleton",
    flat: Iterable[bool] | None = None,
) -> GraphBatch:
    """Build a batch from molecules, each of which is read as soon as it comes and soon let go.

    Parameters
    ----------
    molecules
        One graph each.
    atoms
        What labels say; see `twinwl.graphs.atom_labels`.
    flat
        Whether a molecule is known to hold no stereo, asked for after the molecule; None where that is not
        known.
    """
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    read = atom_reader(chem, atoms)
    name_of_bond = _bond_names(chem, atoms)
    number_of_key: dict[AtomKey, int] = {}
    numbers: list[int] = []
    atom_counts: list[int] = []
    order_of_name: dict[str, float] = {name: order for order, name in _NAME_OF_ORDER.items()}
    parts = [_none()]
    held: list[_Held] = []
    with base.BlockLogs():  # asking for the order of an exotic bond prints a stack trace
        for molecule, is_flat in zip(molecules, flat or itertools.repeat(object=False), strict=False):
            own, marks = _atoms(chem, molecule, atoms, read, len(atom_counts), is_flat=is_flat)
            numbers += [number_of_key.setdefault(key, len(number_of_key)) for key in own]
            held.append(_Held(molecule, len(atom_counts), marks))
            atom_counts.append(len(own))
            if len(held) == _CHUNK:
                parts.append(_bonds(chem, held, order_of_name, name_of_bond))
                held.clear()
        parts.append(_bonds(chem, held, order_of_name, name_of_bond))
    owners, sources, targets, orders = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    name_of_order = {order: name for name, order in order_of_name.items()}
    distinct, inverse = np.unique(orders, return_inverse=True)
    return build(
        np.array(atom_counts, dtype=np.int64),
        np.bincount(owners, minlength=len(atom_counts)).astype(np.int64),
        sources,
        targets,
        nodes=_renamed(np.array(numbers, np.int64), [atom_label(atoms, key) for key in number_of_key]),
        edges=_renamed(inverse, [name_of_order[float(order)] for order in distinct]),
    )


def _none() -> _Bonds:
    empty = np.empty(0, np.int64)
    return _Bonds(empty, empty, empty, np.empty(0, np.float64))


def _atoms(
    chem: ModuleType,
    molecule: Chem.Mol,
    atoms: AtomLevel,
    read: Callable[[Chem.Mol], list[AtomKey]],
    graph: int,
    *,
    is_flat: bool,
) -> tuple[list[AtomKey], dict[int, str]]:
    """Read the atoms of a molecule, and which of its bonds are marked."""
    try:
        keys = read(molecule)
        if atoms != "stereo" or is_flat:
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


def _bonds(
    chem: ModuleType,
    held: list[_Held],
    order_of_name: dict[str, float],
    name_of_bond: Callable[[Chem.Bond], str],
) -> _Bonds:
    """Read the bonds of some molecules at once."""
    if not held:
        return _none()
    matrices = [_orders(chem, molecule) for molecule, _, _ in held]
    sizes = np.array([len(matrix) for matrix in matrices], dtype=np.int64)
    starts = pointer(sizes**2)
    flat = np.concatenate([matrix.ravel() for matrix in matrices])
    places = np.flatnonzero(flat)
    owners = np.repeat(np.arange(len(held)), np.diff(np.searchsorted(places, starts)))
    sources, targets = np.divmod(places - starts[owners], sizes[owners])
    orders = flat[places]
    # A bond whose order is zero is missing, a dative one stands in one direction only, others have odd
    # orders: then that molecule is read bond by bond; and so is one with marks on its bonds.
    plain = np.isin(orders, list(_NAME_OF_ORDER))
    found = np.bincount(owners[plain], minlength=len(held))
    total = np.bincount(owners, minlength=len(held))
    n_bonds = np.array([-1 if marks else molecule.GetNumBonds() for molecule, _, marks in held])
    read = (found == 2 * n_bonds) & (total == 2 * n_bonds)
    kept = (sources < targets) & read[owners]
    graphs = np.array([graph for _, graph, _ in held])
    parts = [_Bonds(graphs[owners[kept]], sources[kept], targets[kept], orders[kept])]
    parts += [
        _bond_by_bond(held[owner], order_of_name, name_of_bond) for owner in np.flatnonzero(~read).tolist()
    ]
    if len(parts) == 1:
        return parts[0]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    by_owner = np.argsort(columns[0], kind="stable")
    return _Bonds(*(column[by_owner] for column in columns))


def _orders(chem: ModuleType, molecule: Chem.Mol) -> NDArray[np.float64]:
    """Return the matrix of bond orders, or an empty one where it would be large or RDKit has none."""
    if molecule.GetNumAtoms() > _LARGE:
        return np.empty((0, 0))
    try:
        matrix: NDArray[np.float64] = chem.GetAdjacencyMatrix(molecule, useBO=True, force=True)
    except RuntimeError:
        return np.empty((0, 0))
    molecule.ClearProp("AdjacencyMatrixBO")  # RDKit keeps a copy with the molecule otherwise
    return matrix


def _bond_by_bond(
    held: _Held, order_of_name: dict[str, float], name_of_bond: Callable[[Chem.Bond], str]
) -> _Bonds:
    bonds = list(held.molecule.GetBonds())
    names = [name_of_bond(bond) + held.marks.get(bond.GetIdx(), "") for bond in bonds]
    for name in names:  # types without a plain order get numbers of their own, below zero
        order_of_name.setdefault(name, -float(len(order_of_name)))
    return _Bonds(
        np.full(len(bonds), held.graph, dtype=np.int64),
        np.array([bond.GetBeginAtomIdx() for bond in bonds], dtype=np.int64),
        np.array([bond.GetEndAtomIdx() for bond in bonds], dtype=np.int64),
        np.array([order_of_name[name] for name in names], dtype=np.float64),
    )
