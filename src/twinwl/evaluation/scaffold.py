"""Splits by scaffold: molecules with the same ring systems and linkers stay together (Bemis and Murcko)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import GraphInputError, TwinWLError, import_extra
from twinwl.evaluation.folds import Fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Int64

_ROUNDING = 1e-9  # 0.1 of 10 molecules is one


def scaffold_groups(smiles: Sequence[str]) -> Int64:
    """Return the scaffold of each molecule as a number, to be used as ``groups`` of folds.

    Parameters
    ----------
    smiles
        One string per molecule; stereochemistry is left out of account, and all molecules without a ring have
        one and the same, empty scaffold.

    Returns
    -------
    array of int64, shape (n_molecules,)
        Scaffolds are numbered by their first molecule.

    >>> scaffold_groups(["c1ccccc1C", "CCO", "Oc1ccccc1", "CC"]).tolist()
    [0, 1, 0, 1]
    """
    chem = import_extra("rdkit.Chem", "chem")
    murcko = import_extra("rdkit.Chem.Scaffolds.MurckoScaffold", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    number_of_scaffold: dict[str, int] = {}
    groups = np.empty(len(smiles), np.int64)
    with base.BlockLogs():  # the error raised here says all that RDKit would have logged
        for index, text in enumerate(smiles):
            molecule = chem.MolFromSmiles(text)
            if molecule is None:
                raise GraphInputError(f"SMILES {text!r} does not parse; correct it or leave it out", index)
            scaffold = str(murcko.MurckoScaffoldSmiles(mol=molecule, includeChirality=False))
            groups[index] = number_of_scaffold.setdefault(scaffold, len(number_of_scaffold))
    return groups


def scaffold_split(
    smiles: Sequence[str], validation: float = 0.1, test: float = 0.1, seed: int | None = None
) -> Fold:
    """Split molecules by scaffold: common scaffolds to learn from, rare ones to test on.

    The usual split of molecular benchmarks (MoleculeNet, OGB), and a hard one. Nothing in it is random:
    scaffolds are taken from the most common to the rarest (of equals the one whose first molecule comes
    last), and fill training, then validation, then test. With a seed they are taken in random order, and
    fill validation and test first, so that a scaffold too common for either is learnt from.

    Parameters
    ----------
    smiles
        One string per molecule.
    validation, test
        Shares of the molecules, to within the size of a scaffold.
    seed
        Decides the order of the scaffolds; None takes the most common first.

    Returns
    -------
    Fold

    >>> fold = scaffold_split(["c1ccccc1C"] * 8 + ["C1CCCC1", "C1CCCCC1"])
    >>> fold.validation.tolist(), fold.test.tolist()
    ([9], [8])
    """
    return split_groups(scaffold_groups(smiles), validation, test, seed)


def split_groups(groups: Int64, validation: float = 0.1, test: float = 0.1, seed: int | None = None) -> Fold:
    """Split molecules by the scaffolds that `scaffold_groups` found, as `scaffold_split` does."""
    if not (0 <= validation < 1 and 0 < test < 1 and validation + test < 1):
        raise TwinWLError(
            f"got validation={validation} and test={test}, expected shares with a sum below 1, test above 0"
        )
    n_molecules = len(groups)
    first, sizes = np.unique(groups, return_index=True, return_counts=True)[1:]
    parts = _common_first if seed is None else _shuffled
    order = (
        np.lexsort((first, sizes))[::-1]
        if seed is None
        else np.random.default_rng(seed).permutation(len(sizes))
    )
    part_of_scaffold = parts(order.tolist(), sizes.tolist(), validation * n_molecules, test * n_molecules)
    part = part_of_scaffold[groups]
    fold = Fold(*(np.flatnonzero(part == number) for number in range(3)))
    if not len(fold.train) or not len(fold.test):
        raise TwinWLError(
            f"{len(sizes)} scaffolds of {n_molecules} molecules are too few to split by; use stratified folds"
        )
    return fold


def _common_first(order: list[int], sizes: list[int], validation: float, test: float) -> Int64:
    """Fill training, then validation, then test; the bounds are those of MoleculeNet and OGB."""
    n_molecules = sum(sizes)
    part_of_scaffold = np.full(len(sizes), 2, np.int64)
    n_train = n_validation = 0
    for scaffold in order:
        size = sizes[scaffold]
        if n_train + size <= n_molecules - validation - test + _ROUNDING:
            part_of_scaffold[scaffold] = 0
            n_train += size
        elif n_train + n_validation + size <= n_molecules - test + _ROUNDING:
            part_of_scaffold[scaffold] = 1
            n_validation += size
    return part_of_scaffold


def _shuffled(order: list[int], sizes: list[int], validation: float, test: float) -> Int64:
    """Fill validation, then test; what fits into neither is learnt from."""
    part_of_scaffold = np.zeros(len(sizes), np.int64)
    room = [0, validation + _ROUNDING, test + _ROUNDING]
    for scaffold in order:
        part = next((part for part in (1, 2) if sizes[scaffold] <= room[part]), 0)
        part_of_scaffold[scaffold] = part
        room[part] -= sizes[scaffold]
    return part_of_scaffold
