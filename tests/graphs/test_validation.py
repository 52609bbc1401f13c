import numpy as np
import pytest

from twinwl import GraphBatch
from twinwl.errors import GraphInputError, TwinWLError

SOUND = {
    "indptr": np.array([0, 1, 2, 3, 4]),
    "indices": np.array([1, 0, 3, 2], np.int32),
    "graph_ptr": np.array([0, 2, 4]),
    "node_labels": np.zeros(4, np.int32),
    "edge_labels": np.array([0, 0, 1, 1], np.int32),
    "edge_vocabulary": ("a", "b"),
    "node_features": np.zeros((4, 1)),
}


def test_sound_arrays_make_a_batch():
    assert GraphBatch(**SOUND).n_edges == 2


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("indptr", [0, 1, 2, 3, 4], "indptr: got .*, expected an array of int64 with 1 axis"),
        ("indices", np.array([1, 0, 3, 2]), "expected an array of int32"),
        ("node_labels", None, "node_labels: got None"),
        ("node_labels", np.zeros((4, 1), np.int32), "with 1 axis"),
        ("graph_ptr", np.array([0, 3, 2, 4]), "must rise from 0 to 4"),
        ("graph_ptr", np.array([0, 2, 5]), "must rise from 0 to 4"),
        ("graph_ptr", np.array([], np.int64), "must rise"),
        ("indptr", np.array([0, 1, 2, 3]), "must rise"),
        ("indptr", np.array([0, 1, 2, 4]), "is for 3 nodes"),
        ("node_labels", np.array([0, 0, 0, 1], np.int32), "must lie in 0..0"),
        ("node_labels", np.array([0, 0, 0, -1], np.int32), "must lie in 0..0"),
        ("edge_labels", np.array([0, 0, 1, 2], np.int32), "must lie in 0..1"),
        ("edge_labels", np.array([0, 0, 1], np.int32), "3 edge labels for 4 arcs"),
        ("edge_labels", np.array([0, 1, 1, 1], np.int32), "has no equal in the other direction"),
        ("node_features", np.zeros((3, 1)), "one row for each of 4 nodes"),
        ("node_features", np.zeros(4), "with 2 axes"),
        ("indices", np.array([2, 0, 3, 2], np.int32), "graph 0: an arc leads to node 2"),
        ("indices", np.array([1, 0, 3, -1], np.int32), "graph 1: an arc leads to node -1"),
        ("indices", np.array([0, 0, 3, 2], np.int32), "self-loop"),
        ("indices", np.ma.masked_array([1, 0, 3, 2], dtype=np.int32), "expected an array of int32"),
        ("node_vocabulary", None, "node_vocabulary: got None, expected a tuple of labels"),
        ("node_vocabulary", [None], "expected a tuple of labels"),
        ("edge_vocabulary", ("a", "a"), "expected a tuple of labels that differ"),
        ("edge_vocabulary", ("a", object()), "expected a tuple of labels"),
        ("edge_vocabulary", ("a", -0.0), "expected a tuple of labels"),
        ("directed", [], r"directed: got \[\], expected True or False"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(field, value, message):
    with pytest.raises(TwinWLError, match=message):
        GraphBatch(**{**SOUND, field: value})


def test_unsorted_neighbours_are_refused():
    with pytest.raises(GraphInputError, match="must rise"):
        GraphBatch(
            indptr=np.array([0, 2, 3, 4]),
            indices=np.array([2, 1, 0, 0], np.int32),
            graph_ptr=np.array([0, 3]),
            node_labels=np.zeros(3, np.int32),
        )


def test_one_way_arcs_need_directed():
    parts = {
        "indptr": np.array([0, 1, 1]),
        "indices": np.array([1], np.int32),
        "graph_ptr": np.array([0, 2]),
        "node_labels": np.zeros(2, np.int32),
    }
    with pytest.raises(GraphInputError, match="directed=True"):
        GraphBatch(**parts)
    assert GraphBatch(**parts, directed=True).n_edges == 1
