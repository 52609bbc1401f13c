import numpy as np
import pytest
import torch

from tests.baselines.rows import random_network, row
from tests.networks import in_double
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.generators import twins
from twinwl.neural.inputs import NodeInputs


@pytest.mark.slow
def test_an_expensive_batch_is_split_and_gives_the_same():
    batch, _, _ = twins(4)
    for name in ("gin", "ppgn", "nested-gin", "123-gnn"):
        estimator = row(name)
        examples = estimator._fit_examples(batch)
        assert len(examples.take(np.arange(8))) == 1
        examples.budget = 1
        assert len(examples.take(np.arange(8))) == 8
        module = estimator._build_module(2).double().eval()
        with torch.no_grad():
            in_parts = module(in_double(examples.take(np.arange(8))))
            together = module(in_double((examples.part(np.arange(8)),)))
        torch.testing.assert_close(in_parts, together, rtol=1e-9, atol=1e-9)


def test_continuous_features_are_scaled_as_in_training():
    values = np.array([[1.0, 5.0], [3.0, 5.0]])
    train, fresh = with_features(values), with_features(values + 2)
    inputs = NodeInputs.fit_to(train)
    np.testing.assert_allclose(inputs.columns(train)[:, 1:], [[-1, 0], [1, 0]])
    np.testing.assert_allclose(inputs.columns(fresh)[:, 1:], [[1, 2], [3, 2]])
    with pytest.raises(TwinWLError, match="have 1 continuous features, but the network was trained with 2"):
        inputs.columns(with_features(values[:, :1]))


def test_directed_graphs_are_refused():
    arcs = GraphBatch.from_edges([[(0, 1)]], directed=True)
    with pytest.raises(TwinWLError, match="directed"):
        random_network("gin", arcs)


def with_features(values):
    edge = GraphBatch.from_edges([[(0, 1)]])
    return GraphBatch(edge.indptr, edge.indices, edge.graph_ptr, edge.node_labels, node_features=values)
