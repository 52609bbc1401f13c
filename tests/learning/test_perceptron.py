"""The perceptron's gradient is autograd's."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from twinwl.neural.sparse import SparseExamples
from twinwl.neural.stwin import SparsePerceptron
from twinwl.neural.training import seeded


def test_gradient_at_the_input_equals_autograds():
    matrix = sparse.random(1, 20, 0.5, format="csr", random_state=0)
    with seeded(0):
        network = SparsePerceptron(20, 8, 3).eval()
    rows = SparseExamples(matrix).take(np.array([0]))
    weights = torch.tensor([1.0, -1.0, 0.5])
    dense = torch.from_numpy(matrix.toarray().astype(np.float32)).requires_grad_()
    hidden = torch.relu(dense @ network.first.weight + network.first.bias)
    (network.second(hidden) @ weights).sum().backward()
    torch.testing.assert_close(network.gradient(rows, weights), dense.grad[0, torch.as_tensor(rows.indices)])


def test_dropout_is_for_training_only():
    rows = SparseExamples(sparse.csr_matrix(np.ones((1, 4)))).take(np.array([0]))
    with seeded(0):
        network = SparsePerceptron(4, 50, 2, dropout=0.5)
    assert not torch.equal(network(rows), network(rows))
    network.eval()
    assert torch.equal(network(rows), network(rows))
