from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest

from twinwl import GraphBatch
from twinwl.datasets.dataset import Dataset, content_digest
from twinwl.errors import TwinWLError

GRAPHS = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["C", "C"]])
Y = np.array([0, 1])


def dataset(**changes):
    parts = {"name": "x", "graphs": GRAPHS, "y": Y.copy()}
    return Dataset(**(parts | changes))


def test_lengths_must_agree():
    with pytest.raises(TwinWLError, match="x: y has 3 entries for 2 graphs"):
        dataset(y=np.array([0, 1, 1]))
    with pytest.raises(TwinWLError, match="x: groups has 1 entries"):
        dataset(groups=np.array([0]))
    with pytest.raises(TwinWLError, match="x: smiles has 1 entries"):
        dataset(smiles=("CC",))


def test_nothing_can_be_changed():
    data = dataset(groups=np.array([0, 0]))
    for array in (data.y, data.groups):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        data.name = "y"


def test_it_goes_to_other_processes_and_back():
    data = dataset(groups=np.array([0, 0]))
    again = pickle.loads(pickle.dumps(data))  # noqa: S301  (our own bytes)
    assert repr(again) == repr(data) == "Dataset('x', 2 graphs, 2 classes)"
    assert content_digest(again.graphs, again.y, again.groups) == content_digest(GRAPHS, Y, data.groups)


def variants():
    one, other = [(0, 1), (1, 2)], [(0, 1)]
    labels = [["C", "C", "O"], ["C", "C"]]
    build = GraphBatch.from_edges
    yield GRAPHS, Y, None
    yield GRAPHS, Y[::-1], None
    yield GRAPHS, Y.astype(float), None
    yield GRAPHS, np.array(["0", "1"]), None
    yield GRAPHS, Y, np.array([0, 0])
    yield GRAPHS, Y, np.array([0, 1])
    yield GRAPHS[::-1], Y, None
    yield build([one, other]), Y, None
    yield build([one, other], node_labels=[["C", "O", "C"], ["C", "C"]]), Y, None
    yield build([one, other], node_labels=[["C", "C", "N"], ["C", "C"]]), Y, None
    yield build([one, other], labels, edge_labels=[[1, 1], [1]]), Y, None
    yield build([one, other], labels, directed=True), Y, None
    yield build([one, other], labels, node_features=[np.zeros((3, 1)), np.zeros((2, 1))]), Y, None
    yield build([[(0, 1), (1, 2), (0, 2)], other], labels), Y, None


def test_digest_sees_every_part():
    digests = [content_digest(*variant) for variant in variants()]
    assert len(set(digests)) == len(digests)


def test_digest_does_not_depend_on_widths():
    assert content_digest(GRAPHS, Y.astype(np.int8)) == content_digest(GRAPHS, Y)


# ------------------------------------------------------------------ by hand


def test_by_hand_from_graphs_of_any_kind():
    data = Dataset.from_graphs([nx.path_graph(3), nx.cycle_graph(3)], ["open", "closed"], name="tiny")
    assert repr(data) == "Dataset('tiny', 2 graphs, 2 classes)"
    assert data.card.classes == (("closed", 1), ("open", 1))
    assert data.digest == content_digest(data.graphs, data.y)
    assert data.groups is None


def test_the_callers_arrays_stay_their_own():
    y = Y.copy()
    data = Dataset.from_graphs(GRAPHS, y)
    y[0] = 1
    assert data.y.tolist() == [0, 1]


def test_groups_of_any_kind_become_codes():
    assert Dataset.from_graphs(GRAPHS, Y, groups=["b", "a"]).groups.tolist() == [1, 0]


def test_without_targets():
    data = Dataset.from_graphs(GRAPHS, name="bare")
    assert repr(data) == "Dataset('bare', 2 graphs, without targets)"
    assert repr(data[0]) == "Dataset('bare', 1 graph, without targets)"
    assert data.digest != Dataset.from_graphs(GRAPHS, Y).digest
    with pytest.raises(TwinWLError, match="bare has no targets"):
        _ = data.targets


@pytest.mark.parametrize(
    ("y", "kind"), [(np.array(["a", "b"], object), "U"), ([True, False], "b"), ([1, 2.5], "f"), ((0, 1), "i")]
)
def test_targets_of_one_kind_are_taken(y, kind):
    assert Dataset.from_graphs(GRAPHS, y).y.dtype.kind == kind


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1, "a"]}, "x: y has values of the types int, str"),
        ({"y": [None, 1]}, "x: y has values of the types NoneType, int"),
        ({"y": [float("nan"), 1.0]}, r"x: y must have one value per graph \(label nan"),
        ({"y": [[1], [2]]}, "x: y must have one value per graph"),
        ({"y": 3}, "y: got 3, expected one value per graph"),
        ({"y": [1]}, "x: y has 1 entries for 2 graphs"),
        ({"y": Y, "groups": [0]}, "x: groups has 1 entries"),
        ({"y": Y, "groups": [0, object()]}, "x: groups must have"),
        ({"y": Y, "name": 3}, "name: got 3"),
    ],
)
def test_bad_parts_are_refused(options, message):
    with pytest.raises(TwinWLError, match=message):
        Dataset.from_graphs(GRAPHS, **{"name": "x", **options})


def test_digest_does_not_depend_on_labels_that_do_not_occur():
    batch = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1)]], node_labels=[["N", "O"], ["C", "C"]], edge_labels=[["double"], ["single"]]
    )
    alone = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "C"]], edge_labels=[["single"]])
    assert content_digest(batch[1], Y[1:]) == content_digest(alone, Y[1:])
