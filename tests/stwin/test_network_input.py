"""What the network is fed: counts of one length, and excesses that with the counts give the sums back."""

from __future__ import annotations

import numpy as np
import pytest
import torch  # noqa: F401  (an extra; without it this file is skipped)
from scipy import sparse

import twinwl as tw
from twinwl.models.features import FeatureSpace, stwin_features
from twinwl.neural.stwin import EXCESS_SCALE, STEPS, STEPS_LENGTH, NetworkInput


def sums_and_counts(batch, n_iter=3):
    encoding = stwin_features(batch, n_iter, "size")
    return encoding.matrix, stwin_features(batch, space=FeatureSpace("count", encoding.space.alphabet)).matrix


@pytest.fixture
def batch():
    random = np.random.default_rng(0)
    edges = []
    for _ in range(30):
        size = int(random.integers(5, 12))
        tree = {(int(random.integers(0, node)), node) for node in range(1, size)}
        edges.append(sorted(tree | ({(0, size - 1), (1, size - 2)} if random.random() < 0.5 else set())))
    return tw.GraphBatch.from_edges(edges)


def test_sums_can_be_computed_back(batch):
    sums, counts = sums_and_counts(batch)
    scaling = NetworkInput.fit_to(sums.shape[1], [(sums, counts)])
    fed = scaling.apply(sums, counts).toarray()
    reached = np.add.reduceat(fed[:, : scaling.n_steps] > 0, scaling.step_ptr[:-1], axis=1)
    lowest, highest = np.r_[0, STEPS][reached], STEPS[reached] - 1
    assert ((lowest <= counts.toarray()) & (counts.toarray() <= highest)).all()
    excess = np.zeros(sums.shape)
    excess[:, scaling.excess_columns] = fed[:, scaling.n_steps :] / EXCESS_SCALE
    np.testing.assert_allclose(scaling.usual_sizes * counts.toarray() + excess, sums.toarray(), atol=1e-9)
    assert 0 < len(scaling.excess_columns) < sums.shape[1]


def test_steps_are_exact_for_small_counts_and_ever_wider():
    assert STEPS[:10].tolist() == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
    assert STEPS[-1] == 2**31


def test_dot_product_of_steps_is_the_intersection_of_small_counts():
    counts = sparse.csr_matrix([[3.0, 1.0, 0.0], [2.0, 4.0, 1.0]])
    steps = (NetworkInput.fit_to(counts.shape[1], [(counts, None)]).apply(counts, None) > 0).astype(int)
    assert (steps @ steps.T).toarray().tolist() == [[4, 3], [3, 7]]


def test_steps_are_of_one_length(batch):
    sums, counts = sums_and_counts(batch)
    scaling = NetworkInput.fit_to(sums.shape[1], [(sums, counts)])
    fed = scaling.apply(sums, counts)[:, : scaling.n_steps]
    np.testing.assert_allclose(np.sqrt(fed.multiply(fed).sum(axis=1)), STEPS_LENGTH)


def test_larger_count_than_any_learnt_from_reaches_the_last_step():
    learnt, new = sparse.csr_matrix([[2.0]]), sparse.csr_matrix([[50.0]])
    scaling = NetworkInput.fit_to(learnt.shape[1], [(learnt, None)])
    assert np.array_equal(scaling.apply(new, None).toarray(), scaling.apply(learnt, None).toarray())


def test_excess_of_training_graphs_sums_to_zero(batch):
    sums, counts = sums_and_counts(batch)
    scaling = NetworkInput.fit_to(sums.shape[1], [(sums, counts)])
    fed = scaling.apply(sums, counts)[:, scaling.n_steps :]
    np.testing.assert_allclose(fed.sum(axis=0), 0.0, atol=1e-9)


def test_twins_differ_only_in_their_excess():
    hexagon = [(i, (i + 1) % 6) for i in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    sums, counts = sums_and_counts(tw.GraphBatch.from_edges([hexagon, triangles]), 2)
    scaling = NetworkInput.fit_to(sums.shape[1], [(sums, counts)])
    fed = scaling.apply(sums, counts).toarray()
    assert np.array_equal(fed[0, : scaling.n_steps], fed[1, : scaling.n_steps])
    np.testing.assert_allclose(fed[:, scaling.n_steps :], [[6 * EXCESS_SCALE], [-6 * EXCESS_SCALE]])


def test_counts_alone_have_no_second_column(batch):
    counts = stwin_features(batch, 3, "count").matrix
    scaling = NetworkInput.fit_to(counts.shape[1], [(counts, None)])
    assert scaling.width == scaling.n_steps == scaling.apply(counts, None).shape[1]


def test_empty_graph_stays_a_row_of_zeros():
    batch = tw.GraphBatch.from_edges([[], [(0, 1)]], num_nodes=[0, 2])
    sums, counts = sums_and_counts(batch, 1)
    fed = NetworkInput.fit_to(sums.shape[1], [(sums, counts)]).apply(sums, counts).toarray()
    assert not fed[0].any()
    assert np.isfinite(fed).all()
