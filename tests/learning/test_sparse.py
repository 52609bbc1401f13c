"""The sparse layer is the dense one, without the zeros."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from twinwl.neural.sparse import SparseExamples, SparseLinear
from twinwl.neural.training import seeded


def random_rows(seed, n_rows=7, n_columns=11, density=0.3):
    return sparse.random(n_rows, n_columns, density, format="csr", random_state=seed)


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=50)  # the first example compiles the kernels
def test_product_and_gradient_equal_the_dense_ones(seed):
    matrix = random_rows(seed)
    with seeded(seed):
        layer = SparseLinear(11, 3)
    rows = np.random.default_rng(seed).permutation(7)[:4]
    dense = torch.from_numpy(matrix[rows].toarray().astype(np.float32))
    weight = layer.weight.detach().clone().requires_grad_()

    out = layer(SparseExamples(matrix).take(rows))
    reference = dense @ weight + layer.bias.detach()
    torch.testing.assert_close(out, reference)

    out.square().sum().backward()
    reference.square().sum().backward()
    torch.testing.assert_close(layer.weight.grad.to_dense(), weight.grad)


def test_gradient_holds_only_touched_rows():
    matrix = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [5, 900])), shape=(2, 1000))
    layer = SparseLinear(1000, 4)
    layer(SparseExamples(matrix).take(np.array([0, 1]))).sum().backward()
    assert sorted(layer.weight.grad.coalesce().indices()[0].tolist()) == [5, 900]


def test_column_that_two_rows_share_is_added_up():
    matrix = sparse.csr_matrix([[1.0], [2.0]])
    layer = SparseLinear(1, 1)
    layer(SparseExamples(matrix).take(np.array([0, 1]))).sum().backward()
    assert layer.weight.grad.to_dense().item() == 3.0


def test_second_backward_starts_afresh():
    matrix = random_rows(0)
    layer = SparseLinear(11, 3)
    examples = SparseExamples(matrix)
    grads = []
    for _ in range(2):
        layer.weight.grad = None
        layer(examples.take(np.arange(7))).sum().backward()
        grads.append(layer.weight.grad.to_dense())
    torch.testing.assert_close(*grads, rtol=0, atol=0)


@pytest.mark.parametrize("rows", [[], [3]])
def test_empty_slices_and_empty_rows(rows):
    layer = SparseLinear(11, 3)
    out = layer(SparseExamples(sparse.csr_matrix((7, 11))).take(np.array(rows, np.int64)))
    torch.testing.assert_close(out, layer.bias.expand(len(rows), 3))
