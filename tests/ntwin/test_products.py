import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinwl.neural.gin import hear_and_pool
from twinwl.neural.rows import pool
from twinwl.neural.slicing import LayerSlice


@st.composite
def sparse_rows(draw):
    n_columns = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(st.integers(0, n_columns - 1), max_size=4), max_size=5))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([column for row in rows for column in row], np.int32)
    return indptr, indices, n_columns, draw(st.integers(0, 2**31))


def _layer(indptr, indices, n_columns, seed):
    """Return a layer with a random pooling matrix, of which a random number of rows is heard."""
    random = np.random.default_rng(seed)
    n_rows = len(indptr) - 1
    graphs = random.integers(0, 4, (3, n_rows))
    pool_ptr = np.concatenate([[0], np.cumsum((graphs > 0).sum(axis=1))]).astype(np.int64)
    pooled = np.nonzero(graphs)[1].astype(np.int32)
    counts = graphs[graphs > 0].astype(np.int32)
    layer = LayerSlice(
        indptr, indices, n_columns, int(random.integers(0, n_rows + 1)), pool_ptr, pooled, counts
    )
    return layer, torch.from_numpy(graphs.astype(float))


@settings(max_examples=60)
@given(sparse_rows())
def test_hearing_and_pooling_are_two_products_and_their_gradient_is_right(drawn):
    indptr, indices, n_columns, seed = drawn
    generator = torch.Generator().manual_seed(seed)
    below = torch.randn(n_columns, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(3, generator=generator, dtype=torch.float64, requires_grad=True)
    layer, pooling = _layer(indptr, indices, n_columns, seed)
    matrix = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_columns)).toarray()
    states = (torch.from_numpy(matrix) @ below + bias).relu()
    expected = states[: layer.n_heard], pooling @ states
    found = hear_and_pool(below, bias, layer)
    torch.testing.assert_close(found, expected)
    weights = [torch.randn(part.shape, generator=generator, dtype=torch.float64) for part in expected]
    wanted = torch.autograd.grad(
        sum((part * weight).sum() for part, weight in zip(expected, weights, strict=True)), [below, bias]
    )
    got = torch.autograd.grad(
        sum((part * weight).sum() for part, weight in zip(found, weights, strict=True)), [below, bias]
    )
    torch.testing.assert_close(got, wanted)


@settings(max_examples=40)
@given(sparse_rows())
def test_pooling_is_a_weighted_sum_and_its_gradient_is_right(drawn):
    indptr, indices, n_columns, seed = drawn
    generator = torch.Generator().manual_seed(seed)
    counts = np.random.default_rng(seed).integers(1, 9, len(indices)).astype(np.int32)
    rows = torch.randn(n_columns, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    matrix = csr_array((counts.astype(float), indices, indptr), shape=(len(indptr) - 1, n_columns)).toarray()
    expected = torch.from_numpy(matrix) @ rows
    torch.testing.assert_close(pool(rows, indptr, indices, counts), expected)
    weights = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), [rows])
    (found,) = torch.autograd.grad((pool(rows, indptr, indices, counts) * weights).sum(), [rows])
    torch.testing.assert_close(found, wanted)


def test_a_gradient_that_is_a_view_is_taken_as_it_is():
    below, bias = torch.randn(2, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    layer, _ = _layer(np.array([0, 1, 2]), np.array([0, 1], np.int32), 2, 0)
    rows, _ = hear_and_pool(below, bias, layer._replace(n_heard=2))
    rows.sum().backward()  # an expanded, not contiguous gradient
    torch.testing.assert_close(below.grad, (below > 0).float())
