"""RDKit molecules taken apart in bulk.

A Python call for each bond would cost half as much as parsing the SMILES. RDKit hands out the matrix of
bond orders as a whole; only molecules with a bond that has no plain order are read bond by bond.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import import_extra
from twinwl.graphs.building import build, pointer
from twinwl.graphs.labels import Coded, encode_labels

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from numpy.typing import NDArray
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

__all__ = ["batch_from_molecules"]

_NAME_OF_ORDER = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
_LARGE = 400  # atoms from which a dense matrix costs more than a call for each bond
_CHUNK = 1024


class _Bonds(NamedTuple):
    """Bonds of several molecules: molecule, ends and type name of each."""

    owners: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    orders: NDArray[np.float64]


def batch_from_molecules(molecules: Iterable[Chem.Mol]) -> GraphBatch:
    """Build a batch from molecules, holding on to no more than a chunk of them at a time."""
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    atom_counts: list[int] = []
    numbers: list[int] = []
    parts: list[_Bonds] = []
    order_of_name: dict[str, float] = {name: order for order, name in _NAME_OF_ORDER.items()}
    stream = iter(molecules)
    while chunk := list(itertools.islice(stream, _CHUNK)):
        for molecule in chunk:
            numbers += [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
        with base.BlockLogs():  # asking for the order of an exotic bond prints a stack trace
            parts.append(_bonds(chem, chunk, len(atom_counts), order_of_name))
        atom_counts += [molecule.GetNumAtoms() for molecule in chunk]
    return _batch(chem, atom_counts, np.array(numbers, np.int64), parts, order_of_name)


def _batch(
    chem: ModuleType,
    atom_counts: list[int],
    numbers: NDArray[np.int64],
    parts: list[_Bonds],
    order_of_name: dict[str, float],
) -> GraphBatch:
    owners, sources, targets, orders = (
        np.concatenate(columns) for columns in zip(_none(), *parts, strict=True)
    )
    name_of_order = {order: name for name, order in order_of_name.items()}
    symbol = chem.GetPeriodicTable().GetElementSymbol
    return build(
        np.array(atom_counts, dtype=np.int64),
        np.bincount(owners, minlength=len(atom_counts)).astype(np.int64),
        sources,
        targets,
        nodes=_renamed(numbers, [symbol(int(number)) for number in np.unique(numbers)]),
        edges=_renamed(orders, [name_of_order[float(order)] for order in np.unique(orders)]),
    )


def _none() -> _Bonds:
    empty = np.empty(0, np.int64)
    return _Bonds(empty, empty, empty, np.empty(0, np.float64))


def _renamed(values: NDArray[np.generic], names: list[str]) -> Coded:
    """Encode values of which the distinct ones, in rising order, have these names."""
    _, inverse = np.unique(values, return_inverse=True)
    ranks, vocabulary = encode_labels(names)
    return Coded(ranks[inverse], vocabulary)


def _bonds(chem: ModuleType, chunk: list[Chem.Mol], first: int, order_of_name: dict[str, float]) -> _Bonds:
    """Read the bonds of a chunk of molecules, of which the first has the given index."""
    matrices = [_orders(chem, molecule) for molecule in chunk]
    sizes = np.array([len(matrix) for matrix in matrices], dtype=np.int64)
    starts = pointer(sizes**2)
    flat = np.concatenate([matrix.ravel() for matrix in matrices])
    places = np.flatnonzero(flat)
    owners = np.repeat(np.arange(len(chunk)), np.diff(np.searchsorted(places, starts)))
    sources, targets = np.divmod(places - starts[owners], sizes[owners])
    orders = flat[places]
    # A bond whose order is zero is missing, a dative one stands in one direction only, others have odd
    # orders: then that molecule is read bond by bond.
    plain = np.isin(orders, list(_NAME_OF_ORDER))
    found = np.bincount(owners[plain], minlength=len(chunk))
    total = np.bincount(owners, minlength=len(chunk))
    n_bonds = np.array([molecule.GetNumBonds() for molecule in chunk])
    read = (found == 2 * n_bonds) & (total == 2 * n_bonds)
    kept = (sources < targets) & read[owners]
    parts = [_Bonds(first + owners[kept], sources[kept], targets[kept], orders[kept])]
    parts += [
        _bond_by_bond(chunk[owner], first + owner, order_of_name) for owner in np.flatnonzero(~read).tolist()
    ]
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


def _bond_by_bond(molecule: Chem.Mol, owner: int, order_of_name: dict[str, float]) -> _Bonds:
    bonds = list(molecule.GetBonds())
    names = [bond.GetBondType().name.lower() for bond in bonds]
    for name in names:  # types without a plain order get numbers of their own, below zero
        order_of_name.setdefault(name, -float(len(order_of_name)))
    return _Bonds(
        np.full(len(bonds), owner, dtype=np.int64),
        np.array([bond.GetBeginAtomIdx() for bond in bonds], dtype=np.int64),
        np.array([bond.GetEndAtomIdx() for bond in bonds], dtype=np.int64),
        np.array([order_of_name[name] for name in names], dtype=np.float64),
    )
