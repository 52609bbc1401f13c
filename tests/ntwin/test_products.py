import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinwl.neural.rows import Pool, RowLayer, aggregate_and_pool, pool


@st.composite
def sparse_rows(draw):
    n_columns = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(st.integers(0, n_columns - 1), max_size=4), max_size=5))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([column for row in rows for column in row], np.int32)
    return indptr, indices, n_columns, draw(st.integers(0, 2**31))


def _layer(indptr, indices, n_columns, seed, n_codes=0):
    """Return a layer with a random pooling matrix, of which a random number of rows is passed on."""
    random = np.random.default_rng(seed)
    n_rows = len(indptr) - 1
    graphs = random.integers(0, 4, (3, n_rows))
    pool_ptr = np.concatenate([[0], np.cumsum((graphs > 0).sum(axis=1))]).astype(np.int64)
    pooled = np.nonzero(graphs)[1].astype(np.int32)
    counts = graphs[graphs > 0].astype(np.int32)
    own = random.integers(0, n_columns, n_rows).astype(np.int32)
    codes = random.integers(-1, n_codes, len(indices)) if n_codes else np.empty(0, np.int64)
    n_passed = int(random.integers(0, n_rows + 1))
    layer = RowLayer(own, indptr, indices, codes, Pool(pool_ptr, pooled, counts), n_passed)
    return layer, torch.from_numpy(graphs.astype(float))


@settings(max_examples=60)
@given(sparse_rows(), st.integers(0, 2))
def test_aggregating_and_pooling_are_two_products_and_their_gradient_is_right(drawn, n_codes):
    indptr, indices, n_columns, seed = drawn
    generator = torch.Generator().manual_seed(seed)
    below = torch.randn(n_columns, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(3, generator=generator, dtype=torch.float64, requires_grad=True)
    of_code = torch.randn(n_codes, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    layer, pooling = _layer(indptr, indices, n_columns, seed, n_codes)
    matrix = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_columns)).toarray()
    receiver = np.repeat(np.arange(layer.n_rows), np.diff(indptr))
    kinds = np.zeros((layer.n_rows, n_codes))
    np.add.at(kinds, (receiver[layer.codes >= 0], layer.codes[layer.codes >= 0]), 1) if n_codes else None
    matrix[np.arange(layer.n_rows), layer.own] += 1
    sums = torch.from_numpy(matrix) @ below + torch.from_numpy(kinds) @ of_code
    states = (sums + bias).relu()
    expected = states[: layer.n_passed], pooling @ states
    found = aggregate_and_pool(below, bias, layer, of_code if n_codes else None)
    torch.testing.assert_close(found, expected)
    weights = [torch.randn(part.shape, generator=generator, dtype=torch.float64) for part in expected]
    wanted = torch.autograd.grad(
        sum((part * weight).sum() for part, weight in zip(expected, weights, strict=True)),
        [below, bias, *([of_code] if n_codes else [])],
    )
    got = torch.autograd.grad(
        sum((part * weight).sum() for part, weight in zip(found, weights, strict=True)),
        [below, bias, *([of_code] if n_codes else [])],
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
    layer = layer._replace(n_passed=2, own=np.array([0, 1], np.int32))
    rows, _ = aggregate_and_pool(below, bias, layer)
    rows.sum().backward()  # an expanded, not contiguous gradient
    torch.testing.assert_close(below.grad, 2 * (below > 0).float())
