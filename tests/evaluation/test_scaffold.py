from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rdkit")

from twinwl.errors import GraphInputError, TwinWLError
from twinwl.evaluation.splits import make_folds, scaffold_groups, split_groups

BENZENES = ["c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "NC(=O)c1ccccc1", "Clc1ccccc1Cl"]
NAPHTHALENES = ["c1ccc2ccccc2c1", "Cc1ccc2ccccc2c1"]
CHAINS = ["CCO", "CC(C)C", "CCCCN"]


def test_side_chains_do_not_count_and_rings_do():
    groups = scaffold_groups(BENZENES + NAPHTHALENES + CHAINS)
    assert groups.tolist() == [0] * 5 + [1] * 2 + [2] * 3


def test_stereochemistry_does_not_count():
    assert len(set(scaffold_groups(["C[C@H]1CCCO1", "C[C@@H]1CCCO1"]).tolist())) == 1


def test_split_keeps_scaffolds_together_and_tests_on_rare_ones():
    smiles = BENZENES * 3 + NAPHTHALENES + CHAINS
    groups = scaffold_groups(smiles)
    fold = split_groups(scaffold_groups(smiles), validation=0.15, test=0.1)
    parts = [set(groups[part].tolist()) for part in (fold.train, fold.validation, fold.test)]
    assert parts == [{0}, {2}, {1}]
    assert len(fold.train) + len(fold.validation) + len(fold.test) == len(smiles)


def test_split_is_the_same_every_time():
    smiles = BENZENES + NAPHTHALENES + CHAINS
    first, again = (
        split_groups(scaffold_groups(smiles), test=0.3),
        split_groups(scaffold_groups(smiles), test=0.3),
    )
    assert np.array_equal(first.test, again.test)


def test_scaffolds_can_be_groups_of_folds():
    smiles = [f"C{'C' * n}C1CC{'C' * ring}C1" for ring in range(10) for n in range(4)]
    y = np.tile([0, 1], 20)
    groups = scaffold_groups(smiles)
    assert len(set(groups.tolist())) == 10
    for fold in make_folds(y, groups, n_folds=5):
        assert not set(groups[fold.test]) & set(groups[fold.training_part])


def test_bad_smiles_is_named():
    with pytest.raises(GraphInputError, match="graph 1: SMILES 'c1cc' does not parse"):
        scaffold_groups(["CC", "c1cc"])


def test_one_scaffold_cannot_be_split():
    with pytest.raises(TwinWLError, match="1 scaffolds of 5 molecules are too few"):
        split_groups(scaffold_groups(BENZENES))


def literal(groups):
    """Return the three parts as MoleculeNet and OGB define them, with lists and dictionaries."""
    members = {}
    for molecule, scaffold in enumerate(groups):
        members.setdefault(scaffold, []).append(molecule)
    train, validation, test = [], [], []
    for rows in sorted(members.values(), key=lambda rows: (len(rows), rows[0]), reverse=True):
        if len(train) + len(rows) <= 0.8 * len(groups):
            train += rows
        elif len(train) + len(validation) + len(rows) <= 0.9 * len(groups):
            validation += rows
        else:
            test += rows
    return [sorted(part) for part in (train, validation, test)]


@pytest.mark.parametrize("seed", range(20))
def test_the_split_is_that_of_moleculenet_and_ogb(seed):
    random = np.random.default_rng(seed)
    groups = np.unique(random.geometric(0.1, size=random.integers(30, 300)), return_inverse=True)[1]
    fold = split_groups(groups)
    assert [part.tolist() for part in (fold.train, fold.validation, fold.test)] == literal(groups.tolist())


def test_a_seed_shuffles_scaffolds_and_keeps_them_whole():
    random = np.random.default_rng(0)
    groups = np.unique(random.integers(0, 60, 300), return_inverse=True)[1]
    groups[:100] = 0  # too common to be tested on
    tests = set()
    for seed in range(5):
        fold = split_groups(groups, seed=seed)
        parts = [set(groups[part].tolist()) for part in (fold.train, fold.validation, fold.test)]
        assert sum(map(len, parts)) == len(set().union(*parts))
        assert 0 in parts[0]
        assert 20 <= len(fold.validation) <= 30
        assert 20 <= len(fold.test) <= 30
        assert np.array_equal(fold.test, split_groups(groups, seed=seed).test)
        tests.add(tuple(fold.test.tolist()))
    assert len(tests) == 5
