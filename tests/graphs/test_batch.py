import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given

from tests.batch_equality import assert_same_graphs
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import concatenate

ARRAYS = ("indptr", "indices", "graph_ptr", "node_labels", "edge_labels", "node_features")


@pytest.fixture
def batch():
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [], [(0, 1)]],
        node_labels=[["C", "C", "O"], [], ["N", "N"]],
        edge_labels=[[1, 2], [], [1]],
        node_features=[np.ones((3, 2)), np.ones((0, 2)), np.zeros((2, 2))],
    )


def test_looks_like_an_array_of_graphs(batch):
    assert (len(batch), batch.shape, batch.ndim) == (3, (3,), 1)
    assert [len(graph) for graph in batch] == [1, 1, 1]
    assert batch.nodes_per_graph.tolist() == [3, 0, 2]


def test_repr_counts_what_is_inside(batch):
    assert (
        repr(batch) == "GraphBatch(3 graphs, 5 nodes, 3 edges, 3 node labels, 2 edge labels, 2 node features)"
    )
    directed = GraphBatch.from_edges([[(0, 1)]], directed=True)
    assert repr(directed) == "GraphBatch(1 graph, 2 nodes, 1 arc)"


def test_counts_edges_once(batch):
    assert (batch.n_nodes, batch.n_edges, len(batch.indices)) == (5, 3, 6)


def test_numpy_makes_an_array_of_graphs_of_it(batch):
    array = np.asarray(batch)
    assert array.shape == (3,)
    assert array.dtype == object
    assert_same_graphs(array[2], batch[2])


@pytest.mark.parametrize("options", [{"dtype": float}, {"copy": False}])
def test_numpy_is_told_that_a_batch_holds_no_numbers(batch, options):
    with pytest.raises(GraphInputError, match="not an array of numbers"):
        batch.__array__(**options)  # which NumPy 2 calls so, and NumPy 1 without `copy`


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(batch, name):
    for part in (batch, batch[0], batch[[2, 0]], batch[1:], concatenate([batch, batch])):
        with pytest.raises(ValueError, match="read-only"):
            getattr(part, name)[...] = 0


def test_attributes_are_frozen(batch):
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.directed = True
    with pytest.raises((AttributeError, TypeError)):
        batch.other = 1


def test_later_changes_of_the_callers_arrays_do_not_reach_a_batch():
    labels = np.array([0, 0], np.int32)
    pieces = {
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 0], np.int32),
        "graph_ptr": np.array([0, 2]),
    }
    batch = GraphBatch(**pieces, node_labels=labels)
    labels[0] = 7
    assert batch.node_labels.tolist() == [0, 0]
    features = np.ones((2, 1))
    built = GraphBatch.from_edges([[(0, 1)]], node_features=[features])
    features[0] = 7
    assert built.node_features.tolist() == [[1.0], [1.0]]


@given(batches(min_graphs=0))
def test_pickle_gives_the_same_frozen_batch(batch):
    again = pickle.loads(pickle.dumps(batch))  # noqa: S301
    assert_same_graphs(batch, again)
    assert repr(again.node_vocabulary) == repr(batch.node_vocabulary)
    assert not any(getattr(again, name).flags.writeable for name in ARRAYS[:5])


def test_copies_are_the_batch_itself(batch):
    assert copy.copy(batch) is batch
    assert copy.deepcopy(batch) is batch


def test_concatenating_the_graphs_gives_the_batch(batch):
    assert_same_graphs(concatenate(list(batch)), batch)


def test_labels_of_nodes_in_node_order(batch):
    assert batch.labels_of_nodes() == ["C", "C", "O", "N", "N"]
    assert batch.has_node_labels
    assert not GraphBatch.from_edges([[(0, 1)]]).has_node_labels


def test_arcs_name_both_ends(batch):
    sources, targets = batch.arcs()
    assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [
        (0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3),
    ]  # fmt: skip


@given(batch=batches(node_label=True, edge_label=True))
def test_equal_batches_are_those_whose_arrays_labels_and_features_are_the_same(batch):
    whole = np.arange(len(batch))
    assert batch == batch[whole]
    assert batch == concatenate([batch, batch])[whole]  # as a part of a batch, with its vocabulary
    assert len(batch) == 0 or batch != batch[whole[1:]]


@pytest.mark.parametrize(
    "other",
    [
        {"node_labels": [["C", "C", "C"]]},
        {"edge_labels": [[1, 1]]},
        {"edge_labels": [[1, True]]},
        {"edge_labels": None},
        {"node_features": [[[0.0], [0.0], [1.0]]]},
        {"node_features": None},
        {"edge_lists": [[(0, 2), (2, 1)]]},
        {"directed": True},
    ],
)
def test_any_difference_makes_batches_unequal(other):
    parts = {
        "edge_lists": [[(0, 1), (1, 2)]],
        "node_labels": [["C", "C", "O"]],
        "edge_labels": [[1, 2]],
        "node_features": [[[0.0], [0.0], [0.0]]],
    }
    one = GraphBatch.from_edges(**parts)
    assert one != GraphBatch.from_edges(**parts | other)
    assert one != "a batch"


def test_labels_are_compared_by_value_not_by_code():
    one = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], [["C", "O"], ["B", "B"]])
    assert one[0] == GraphBatch.from_edges([[(0, 1)]], [["C", "O"]])


def test_a_batch_has_no_hash(batch):
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)
