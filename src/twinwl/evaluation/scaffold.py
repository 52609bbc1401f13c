"""Splits by scaffold: molecules with the same ring systems and linkers stay together (Bemis and Murcko)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import GraphInputError, TwinWLError, import_extra
from twinwl.evaluation.folds import Fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Int64

__all__ = ["scaffold_groups", "scaffold_split"]


def scaffold_groups(smiles: Sequence[str]) -> Int64:
    """Return the scaffold of each molecule as a number, to be used as ``groups`` of folds.

    Parameters
    ----------
    smiles
        One string a molecule; stereochemistry is left out of account, and all molecules without a ring have
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


def scaffold_split(smiles: Sequence[str], validation: float = 0.1, test: float = 0.1) -> Fold:
    """Split molecules by scaffold: common scaffolds to learn from, rare ones to test on.

    The usual split of molecular benchmarks, and a hard one. Nothing in it is random: scaffolds are taken from
    the most common to the rarest, and fill training, then validation, then test.

    Parameters
    ----------
    smiles
        One string a molecule.
    validation, test
        Shares of the molecules, to within the size of a scaffold.

    Returns
    -------
    Fold

    >>> fold = scaffold_split(["c1ccccc1C"] * 8 + ["C1CCCC1", "C1CCCCC1"])
    >>> fold.validation.tolist(), fold.test.tolist()
    ([8], [9])
    """
    if not (0 <= validation < 1 and 0 < test < 1 and validation + test < 1):
        raise TwinWLError(
            f"validation is {validation} and test {test}; give shares that leave something to learn from"
        )
    groups = scaffold_groups(smiles)
    n_molecules = len(groups)
    sizes = np.bincount(groups)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])  # scaffolds of each part
    filled = [0, 0]
    room = [round((1 - validation - test) * n_molecules), round(validation * n_molecules)]
    for scaffold in np.argsort(-sizes, kind="stable").tolist():
        size = int(sizes[scaffold])
        part = next((part for part in (0, 1) if filled[part] + size <= room[part]), 2)
        parts[part].append(scaffold)
        if part < 2:  # noqa: PLR2004  (the test part takes what is left)
            filled[part] += size
    train, held, tested = (np.flatnonzero(np.isin(groups, part)) for part in parts)
    if not len(train) or not len(tested):
        raise TwinWLError(
            f"{len(sizes)} scaffolds of {n_molecules} molecules are too few to split by; use stratified folds"
        )
    return Fold(train, held, tested)
