"""The optimiser is Adam, to rounding, though it leaves rows alone until they are looked at."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import torch
from scipy import sparse

from twinwl.neural.sparse import SparseAwareAdam, SparseExamples, SparseLinear
from twinwl.neural.training import seeded

COLUMNS, UNITS = 30, 5


@functools.cache
def batches(n_steps, seed=0):
    """Each batch touches few of the columns; the last column is touched once, at the start."""
    random = np.random.default_rng(seed)
    made = []
    for step in range(n_steps):
        matrix = sparse.random(4, COLUMNS, 0.08, format="lil", random_state=random)
        matrix[:, -1] = 1.0 if step == 0 else 0.0
        made.append(matrix.tocsr())
        made[-1].eliminate_zeros()
    return made


def layer_at_start():
    with seeded(0):
        return SparseLinear(COLUMNS, UNITS)


def ours(n_steps, weight_decay, flush_every=None):
    layer = layer_at_start()
    with SparseAwareAdam(layer, 0.01, weight_decay) as optimiser:
        for step, matrix in enumerate(batches(n_steps)):
            optimiser.zero_grad()
            layer(SparseExamples(matrix).take(np.arange(4))).sin().sum().backward()
            optimiser.step()
            if flush_every and step % flush_every == 0:
                optimiser.flush()
    return layer


def torchs(n_steps, weight_decay):
    layer = layer_at_start()
    optimiser = torch.optim.AdamW(layer.parameters(), 0.01, weight_decay=weight_decay)
    for matrix in batches(n_steps):
        optimiser.zero_grad()
        dense = torch.from_numpy(matrix.toarray().astype(np.float32))
        (dense @ layer.weight + layer.bias).sin().sum().backward()
        optimiser.step()
    return layer


@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
@pytest.mark.parametrize(
    ("n_steps", "flush_every"),
    [*itertools.product([1, 2, 40], [None, 1, 7]), pytest.param(400, None, marks=pytest.mark.slow)],
)
def test_equals_adam_on_the_whole_layer(n_steps, weight_decay, flush_every):
    got, expected = ours(n_steps, weight_decay, flush_every), torchs(n_steps, weight_decay)
    torch.testing.assert_close(got.weight, expected.weight, rtol=1e-3, atol=2e-5)
    torch.testing.assert_close(got.bias, expected.bias, rtol=1e-3, atol=2e-5)


def test_row_goes_on_moving_after_its_last_gradient():
    first, later = ours(1, 0.0).weight[-1], ours(30, 0.0).weight[-1]
    assert (later - first).abs().min() > 0.01


def test_column_that_never_occurs_stays_where_it_is():
    layer = layer_at_start()
    before = layer.weight[3].clone()
    matrix = sparse.csr_matrix(([1.0], ([0], [5])), shape=(1, COLUMNS))
    with SparseAwareAdam(layer, 0.01) as optimiser:
        for _ in range(5):
            optimiser.zero_grad()
            layer(SparseExamples(matrix).take(np.array([0]))).sum().backward()
            optimiser.step()
    assert torch.equal(layer.weight[3], before)


def test_layer_used_twice_in_one_step_adds_its_gradients():
    matrix = sparse.csr_matrix(np.random.default_rng(0).uniform(0.5, 2.0, size=(4, COLUMNS)))
    examples = SparseExamples(matrix)
    outcomes = []
    for parts in ([[0, 1, 2, 3]], [[0, 1], [2, 3]]):
        layer = layer_at_start()
        with SparseAwareAdam(layer, 0.01) as optimiser:
            sum(layer(examples.take(np.array(rows))).sin().sum() for rows in parts).backward()
            optimiser.step()
        outcomes.append(layer.weight)
    torch.testing.assert_close(*outcomes)


def test_layer_is_left_alone_afterwards():
    layer = ours(3, 0.0)
    assert not layer._forward_pre_hooks
