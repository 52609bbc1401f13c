"""Molecules out of a GraphBatch, as SMILES: built atom by atom, and read again before they are returned."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import GraphInputError, import_extra, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

_MOST_TRIES = 512
_PLAIN = '; read molecules with atoms="skeleton" to write them again'
_NEON = 10
_HETERO = {"B", "N", "O", "P", "S", "Se", "Te"}


def to_smiles(batch: GraphBatch) -> list[str]:
    """Return one SMILES per graph; see `GraphBatch.to_smiles`."""
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    with base.BlockLogs():  # failed tries are not the user's concern
        return [_smiles_of(chem, graph, number) for number, graph in enumerate(batch)]


def _smiles_of(chem: ModuleType, graph: GraphBatch, number: int) -> str:
    if graph.directed or not graph.has_node_labels or (graph.edge_labels is None and graph.n_edges):
        raise GraphInputError(
            "not a molecule: it needs element symbols as node labels and bond types as edge labels, "
            "as GraphBatch.from_smiles gives them",
            number,
        )
    bare = _skeleton(chem, graph, number)
    for tried in _completions(chem, bare):
        try:
            smiles: str = chem.MolToSmiles(tried)
            again = chem.MolFromSmiles(smiles)
        except (ValueError, RuntimeError):
            continue
        if again is not None and _same_skeleton(chem, again, bare):
            return smiles
    raise GraphInputError("no molecule with these atoms and bonds has possible valences", number)


def _skeleton(chem: ModuleType, graph: GraphBatch, number: int) -> Chem.Mol:
    """Return the molecule with elements and bond types only."""
    table, types = (
        chem.GetPeriodicTable(),
        {str(name).lower(): kind for name, kind in chem.BondType.names.items()},
    )
    molecule = chem.RWMol()
    for label in graph.labels_of_nodes():
        try:
            atomic_number = 0 if label == "*" else table.GetAtomicNumber(label)
        except (RuntimeError, TypeError, ValueError) as error:
            raise GraphInputError(f"{shown(label)} is not an element symbol{_PLAIN}", number) from error
        if atomic_number < 0:
            raise GraphInputError(f"{shown(label)} is not an element symbol{_PLAIN}", number)
        molecule.AddAtom(chem.Atom(atomic_number))
    sources, targets = graph.arcs()
    codes = graph.edge_labels if graph.edge_labels is not None else np.empty(0, np.int32)
    for source, target, code in zip(sources.tolist(), targets.tolist(), codes.tolist(), strict=True):
        if source > target:
            continue
        kind = types.get(str(graph.edge_vocabulary[code]))
        if kind is None:
            raise GraphInputError(f"{shown(graph.edge_vocabulary[code])} is not a bond type", number)
        molecule.AddBond(source, target, kind)
        if kind == chem.BondType.AROMATIC:
            molecule.GetBondBetweenAtoms(source, target).SetIsAromatic(True)  # noqa: FBT003
            for end in (source, target):
                molecule.GetAtomWithIdx(end).SetIsAromatic(True)  # noqa: FBT003
    return molecule


def _completions(chem: ModuleType, bare: Chem.Mol) -> Iterator[Chem.Mol]:
    """Yield the molecule with charges and hydrogens that may make its valences right, plainest first.

    An aromatic nitrogen may bear a hydrogen (pyrrole) or a charge (pyridinium); an atom with more bonds than
    its valences allow bears a charge (ammonium is positive, hexafluorophosphate negative).
    """
    options = [(atom.GetIdx(), states) for atom in bare.GetAtoms() if len(states := _states(chem, atom)) > 1]
    for choice in islice(_cheapest_first([len(states) for _, states in options]), _MOST_TRIES):
        made = chem.RWMol(bare)
        for (place, states), chosen in zip(options, choice, strict=True):
            charge, hydrogens = states[chosen]
            made.GetAtomWithIdx(place).SetFormalCharge(charge)
            made.GetAtomWithIdx(place).SetNumExplicitHs(hydrogens)
        try:
            chem.SanitizeMol(made)
        except (ValueError, RuntimeError):
            continue
        yield made


def _states(chem: ModuleType, atom: Chem.Atom) -> list[tuple[int, int]]:
    """Return what an atom may be, as (charge, explicit hydrogens), the likeliest first."""
    if atom.GetIsAromatic():
        return [(0, 0), (0, 1), (1, 0), (-1, 0)] if atom.GetSymbol() in _HETERO else [(0, 0)]
    allowed = list(chem.GetPeriodicTable().GetValenceList(atom.GetAtomicNum()))
    bonds = int(sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()))
    if -1 in allowed or bonds in allowed or (allowed and bonds < min(allowed)):
        return [(0, 0)]
    far = [(2, 0), (3, 0), (-2, 0)] if atom.GetAtomicNum() > _NEON else []  # perchlorate: Cl+3
    return [(0, 0), (1, 0), (-1, 0), *far]


def _cheapest_first(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield one choice per place, those with the smallest sum first."""
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _choices(sizes, total)


def _choices(sizes: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0] - 1, total) + 1):
        for rest in _choices(sizes[1:], total - first):
            yield (first, *rest)


def _same_skeleton(chem: ModuleType, one: Chem.Mol, other: Chem.Mol) -> bool:
    """Tell whether two molecules agree in elements, bonds and bond types, whatever the order of atoms."""

    def skeleton(molecule: Chem.Mol) -> str:
        out = chem.RWMol(molecule)
        for atom in out.GetAtoms():
            plain = chem.Atom(atom.GetAtomicNum())
            plain.SetIsAromatic(atom.GetIsAromatic())
            plain.SetNoImplicit(True)  # noqa: FBT003
            out.ReplaceAtom(atom.GetIdx(), plain)
        for bond in out.GetBonds():
            bond.SetStereo(chem.BondStereo.STEREONONE)
            bond.SetBondDir(chem.BondDir.NONE)
        text: str = chem.MolToSmiles(out)
        return text

    return skeleton(one) == skeleton(other)
