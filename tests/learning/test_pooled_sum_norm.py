"""Normalisation of rows that stand for several items each."""

import copy

import numpy as np
import pytest
import torch

from twinwl.neural.encoder import PooledSumNorm, normalise

COUNTS = np.array([3, 1, 7, 2])


@pytest.fixture
def norm():
    """Return a normalisation with weights of its own."""
    torch.manual_seed(0)
    made = PooledSumNorm(5).double()
    torch.nn.init.normal_(made.weight)
    torch.nn.init.normal_(made.bias)
    return made


def after_a_step(norm, function, added):
    """Return the items' results, gradients and statistics."""
    torch.manual_seed(1)
    rows = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    out = function(norm, rows, added)
    (out * torch.arange(1.0, 6.0)).square().sum().backward()
    grads = [each.grad for each in (rows, norm.weight, norm.bias)]
    return [out.detach(), *grads, norm.running_mean, norm.running_var]


def on_items(norm, rows, added):
    return norm(rows.repeat_interleave(torch.from_numpy(COUNTS), dim=0) + added).relu()


def on_rows(norm, rows, added):
    return norm.normalise_and_rectify(rows, COUNTS, added).repeat_interleave(torch.from_numpy(COUNTS), dim=0)


def with_torch(norm, rows, added):
    out = normalise(norm, rows + added, COUNTS).relu()
    return out.repeat_interleave(torch.from_numpy(COUNTS), dim=0)


@pytest.mark.parametrize("function", [on_rows, with_torch])
def test_each_row_counts_as_often_as_it_occurs(norm, function):
    added = torch.linspace(-1, 1, 5, dtype=torch.float64)
    got = after_a_step(copy.deepcopy(norm), function, added)
    for mine, theirs in zip(got, after_a_step(norm, on_items, added), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_a_single_item_is_scaled_as_at_prediction(norm):
    row, added = torch.ones(1, 5, dtype=torch.float64), torch.ones(5, dtype=torch.float64)
    trained = norm.normalise_and_rectify(row, np.array([1]), added)
    torch.testing.assert_close(trained, norm.eval()(row + added).relu())
    # Two items of the same state have a mean, and no spread.
    torch.testing.assert_close(
        norm.train().normalise_and_rectify(row, np.array([2]), added)[0], norm.bias.relu()
    )
