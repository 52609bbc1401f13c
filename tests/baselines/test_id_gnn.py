import numpy as np
import pytest
from hypothesis import given

from tests.strategies import batches

pytest.importorskip("torch", reason="needs PyTorch")
from twinwl.baselines.higher_order import closed_walks


@given(batches(edge_label=False, node_label=False))
def test_closed_walks_are_the_diagonals_of_powers(batch):
    counts = closed_walks(batch, 5)
    for graph, start in zip(batch, batch.graph_ptr, strict=False):
        adjacency = np.zeros((graph.n_nodes, graph.n_nodes))
        adjacency[graph.arcs()] = 1
        for steps in range(2, 6):
            diagonal = np.diagonal(np.linalg.matrix_power(adjacency, steps))
            np.testing.assert_array_equal(counts[start : start + graph.n_nodes, steps - 2], diagonal)
