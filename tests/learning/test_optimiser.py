"""Row-wise Adam: equal to Adam where every batch touches every row, and idle where none does."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from twinwl.learning.determinism import seeded
from twinwl.learning.optimiser import SparseAwareAdam
from twinwl.learning.sparse import SparseExamples, SparseLinear


def run(matrix, n_steps, weight_decay=0.0):
    with seeded(0):
        layer = SparseLinear(matrix.shape[1], 3)
    optimiser = SparseAwareAdam(layer, 0.01, weight_decay)
    rows = SparseExamples(matrix).take(np.arange(matrix.shape[0]))
    for _ in range(n_steps):
        optimiser.zero_grad()
        layer(rows).sin().sum().backward()
        optimiser.step()
    return layer


def reference(matrix, n_steps, weight_decay=0.0):
    with seeded(0):
        layer = SparseLinear(matrix.shape[1], 3)
    optimiser = torch.optim.AdamW(layer.parameters(), 0.01, weight_decay=weight_decay)
    dense = torch.from_numpy(matrix.toarray().astype(np.float32))
    for _ in range(n_steps):
        optimiser.zero_grad()
        (dense @ layer.weight + layer.bias).sin().sum().backward()
        optimiser.step()
    return layer


def full_matrix():
    return sparse.csr_matrix(np.random.default_rng(0).uniform(0.5, 2.0, size=(4, 6)))


def test_equals_adam_where_every_row_is_touched():
    ours, theirs = run(full_matrix(), 20, 0.1), reference(full_matrix(), 20, 0.1)
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_row_without_a_gradient_stays_where_it_is():
    matrix = full_matrix().tolil()
    matrix[:, 2] = 0
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    with seeded(0):
        first = SparseLinear(6, 3).weight[2]
    assert torch.equal(run(matrix, 5, weight_decay=0.1).weight[2], first)
    assert not torch.equal(run(full_matrix(), 5).weight[2], first)


def test_layer_used_twice_in_one_step_adds_its_gradients():
    matrix = full_matrix()
    outcomes = []
    for together in (True, False):
        with seeded(0):
            layer = SparseLinear(6, 3)
        optimiser = SparseAwareAdam(layer, 0.01)
        examples = SparseExamples(matrix)
        if together:
            out = layer(examples.take(np.arange(4))).sin().sum()
        else:
            halves = [layer(examples.take(np.array(rows))).sin().sum() for rows in ([0, 1], [2, 3])]
            out = halves[0] + halves[1]
        out.backward()
        optimiser.step()
        outcomes.append(layer.weight)
    torch.testing.assert_close(*outcomes)
