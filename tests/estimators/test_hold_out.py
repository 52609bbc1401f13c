"""The inner hold-out: stratified, whole groups, every class on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.models.calibration import hold_out, hold_out_scaffolds, scaffolds_of


@given(st.lists(st.integers(2, 60), min_size=2, max_size=4), st.floats(0.05, 0.5), st.integers(0, 99))
def test_each_class_gives_its_share(sizes, fraction, seed):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    kept, held = hold_out(codes, fraction, seed)
    assert sorted([*kept, *held]) == list(range(len(codes)))
    for code, size in enumerate(sizes):
        n_held = np.count_nonzero(codes[held] == code)
        assert 1 <= n_held < size
        assert abs(n_held - fraction * size) <= 1


@given(st.integers(4, 40), st.floats(0.05, 0.5), st.integers(0, 99))
def test_groups_stay_whole(n_pairs, fraction, seed):
    groups, codes = np.repeat(np.arange(n_pairs), 2), np.tile([0, 1], n_pairs)
    kept, held = hold_out(codes, fraction, seed, groups)
    assert not set(groups[kept]) & set(groups[held])
    assert set(codes[held]) == {0, 1}
    assert abs(len(held) - fraction * len(codes)) <= 2


def test_groups_of_one_class_each_leave_every_class_on_both_sides():
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    kept, held = hold_out(codes, 0.1, 0, groups)
    assert set(codes[held]) == set(codes[kept]) == {0, 1}


def test_last_group_of_a_class_is_learnt_from():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    groups = np.array([0, 1, 2, 3, 4, 5, 6, 6])
    kept, held = hold_out(codes, 0.3, 0, groups)
    assert set(codes[kept]) == {0, 1}
    assert set(codes[held]) == {0}


def test_the_only_graph_of_a_class_is_learnt_from():
    kept, held = hold_out(np.array([0, 0, 0, 0, 1]), 0.5, 0)
    assert 4 in kept
    assert len(held) == 2


def test_seed_decides():
    codes = np.tile([0, 1], 50)
    first, again, other = (hold_out(codes, 0.1, seed)[1].tolist() for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("groups", [None, np.array([0, 1])])
def test_nothing_can_be_held_out_of_one_graph_a_class(groups):
    with pytest.raises(TwinWLError, match="too few"):
        hold_out(np.array([0, 1]), 0.1, 0, groups)


@pytest.mark.parametrize("atoms", ["skeleton", "constitution", "isotope", "stereo", "ecfp"])
def test_scaffolds_are_rings_and_linkers(atoms):
    pytest.importorskip("rdkit", reason="needs RDKit")
    smiles = [
        "Cc1ccccc1",
        "Oc1ccc(Cl)cc1",
        "[2H]c1ccccc1C[NH3+]",
        "c1ccncc1",
        "C1CCCCC1",
        "c1ccccc1CCc1ccccc1",
    ]
    found = scaffolds_of(GraphBatch.from_smiles([*smiles, "CCO", "CCO"], atoms=atoms))
    assert len({*found[:3]}) == 1
    assert len({*found[2:]}) == 6


def test_rare_scaffolds_are_held_out_as_a_whole():
    scaffolds = np.concatenate([np.zeros(40, np.int64), np.repeat(np.arange(1, 21), 2), 100 + np.arange(20)])
    codes = np.arange(100) % 2
    kept, held = hold_out_scaffolds(codes, 0.1, 0, scaffolds)
    assert sorted([*kept, *held]) == list(range(100))
    assert not {*scaffolds[kept]} & {*scaffolds[held]}
    assert 8 <= len(held) <= 14
    assert not {*scaffolds[held]} & {0, *range(100, 120)}


def test_a_scaffold_of_half_of_what_is_held_out_is_still_rare():
    scaffolds = np.repeat([0, 1, 2, 3, 4], [8, 2, 2, 2, 2])
    kept, held = hold_out_scaffolds(np.zeros(16, np.int64), 0.25, 0, scaffolds)
    assert set(range(8)) <= set(kept)
    assert len(held) == 4
    assert not set(scaffolds[kept]) & set(scaffolds[held])
