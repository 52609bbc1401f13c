"""What molecules that count as the same still differ in: the levels of labels beyond the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.graphs.atom_labels import LADDER, AtomLevel
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.deduplication import Deduplication, deduplicate

if TYPE_CHECKING:
    from collections.abc import Sequence


def differing_groups(found: Deduplication, smiles: Sequence[str], atoms: AtomLevel) -> dict[AtomLevel, int]:
    """Count the groups whose molecules differ in what the chosen level leaves out, for each finer level.

    Parameters
    ----------
    found
        Groups of the molecules.
    smiles
        One per molecule, in the same order.
    atoms
        The level that the groups were found at.

    Returns
    -------
    dict
        For each finer level, the number of groups in which two molecules agree at the level before it and
        differ at this one.

    >>> smiles = ["CC(=O)O", "CC(=O)[O-]", "C[C@H](O)F", "C[C@@H](O)F"]
    >>> found = deduplicate(GraphBatch.from_smiles(smiles))
    >>> differing_groups(found, smiles, "skeleton")
    {'constitution': 1, 'isotope': 0, 'stereo': 1}
    """
    finer = LADDER[LADDER.index(atoms) + 1 :]
    shared = np.flatnonzero((np.bincount(found.labels) > 1)[found.labels])
    group_of = found.labels[shared].tolist()
    before: list[object] = [*group_of]
    counts = {}
    for level in finer:
        graphs = GraphBatch.from_smiles([smiles[graph] for graph in shared.tolist()], atoms=level)
        now = list(zip(before, deduplicate(graphs).labels.tolist(), strict=True))
        parts_before, parts_now = (
            np.bincount([group for group, _ in set(zip(group_of, parts, strict=True))], minlength=len(found))
            for parts in (before, now)
        )
        counts[level] = int((parts_now > parts_before).sum())
        before = [*now]
    return counts
