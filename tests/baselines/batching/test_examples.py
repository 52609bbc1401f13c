import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.baselines.rows import random_network, row
from tests.networks import in_double
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.baselines.batching import GraphExamples, NodeInputs, RootedExamples
from twinwl.datasets.generators import twins
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs


@given(batch=batches(edge_label=False, max_graphs=5), data=st.data())
def test_a_part_is_the_slice_of_the_batch(batch, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=6)))
    columns = NodeInputs.fitted(batch).rows(batch)
    part = GraphExamples(batch, columns).part(rows)
    chosen = batch[rows]
    np.testing.assert_array_equal(part.edge_index.numpy(), np.stack(chosen.arcs()))
    np.testing.assert_array_equal(part.x.numpy(), NodeInputs.fitted(batch).rows(chosen))
    np.testing.assert_array_equal(
        np.bincount(part.graph_of_node, minlength=len(rows)), chosen.nodes_per_graph
    )


@given(batch=batches(edge_label=False), data=st.data())
def test_a_rooted_part_holds_the_rooted_subgraphs_of_its_graphs(batch, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=4)))
    columns = NodeInputs.fitted(batch).rows(batch)
    part = RootedExamples(batch, columns, hops=2).part(rows)
    cut = rooted_subgraphs(batch[rows], 2)
    np.testing.assert_array_equal(part.node_of_pair, cut.node)
    np.testing.assert_array_equal(part.distance, cut.distance)
    np.testing.assert_array_equal(
        part.root_of_pair, np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
    )
    np.testing.assert_array_equal(part.edge_index[1], cut.indices)


@pytest.mark.slow
def test_a_dear_batch_comes_in_parts_and_gives_the_same():
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
    inputs = NodeInputs.fitted(train)
    np.testing.assert_allclose(inputs.rows(train)[:, 1:], [[-1, 0], [1, 0]])
    np.testing.assert_allclose(inputs.rows(fresh)[:, 1:], [[1, 2], [3, 2]])
    with pytest.raises(TwinWLError, match="have 1 continuous features, but the network was trained with 2"):
        inputs.rows(with_features(values[:, :1]))


def test_directed_graphs_are_refused():
    arcs = GraphBatch.from_edges([[(0, 1)]], directed=True)
    with pytest.raises(TwinWLError, match="directed"):
        random_network("gin", arcs)


def with_features(values):
    edge = GraphBatch.from_edges([[(0, 1)]])
    return GraphBatch(edge.indptr, edge.indices, edge.graph_ptr, edge.node_labels, node_features=values)
