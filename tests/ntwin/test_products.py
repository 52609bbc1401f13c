import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinwl.ntwin.products import hear, pool


@st.composite
def sparse_rows(draw):
    n_columns = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(st.integers(0, n_columns - 1), max_size=4), max_size=5))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([column for row in rows for column in row], np.int32)
    return indptr, indices, n_columns, draw(st.integers(0, 2**31))


@settings(max_examples=40)
@given(sparse_rows())
def test_hearing_is_a_rectified_sum_and_its_gradient_is_right(drawn):
    indptr, indices, n_columns, seed = drawn
    generator = torch.Generator().manual_seed(seed)
    below = torch.randn(n_columns, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(3, generator=generator, dtype=torch.float64, requires_grad=True)
    matrix = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_columns)).toarray()
    expected = (torch.from_numpy(matrix) @ below + bias).relu()
    torch.testing.assert_close(hear(below, bias, indptr, indices), expected)
    weights = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    wanted = torch.autograd.grad((expected * weights).sum(), [below, bias])
    found = torch.autograd.grad((hear(below, bias, indptr, indices) * weights).sum(), [below, bias])
    torch.testing.assert_close(found, wanted)


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
    heard = hear(below, bias, np.array([0, 1, 2]), np.array([0, 1], np.int32))
    heard.sum().backward()  # an expanded, not contiguous gradient
    torch.testing.assert_close(below.grad, (below > 0).float())
