"""Counts of pairs, against breadth-first search written with dictionaries."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.stwin.test_features import batches
from twinwl import GraphBatch, STwinVectorizer, TwinWLError, load, save
from twinwl.models.pairs import pair_features


def names_of(space):
    return space.names(np.arange(space.n_columns))


def naive_pairs(graph, max_distance):
    """Count (distance, label, label) of all pairs of one graph."""
    counts = Counter()
    for root in range(graph.n):
        distance, level = {root: 0}, [root]
        for steps in range(1, max_distance + 1):
            level = list({v for u in level for v in graph.neighbours[u]} - distance.keys())
            distance |= dict.fromkeys(level, steps)
        for node, steps in distance.items():
            labels = graph.labels[root], graph.labels[node]
            if graph.directed and steps:
                counts[(steps, *labels)] += 1
            elif root < node:
                counts[(steps, *sorted(labels, key=repr))] += 1
    return counts


def by_label(batch, encoding, row):
    """Return the counts of one graph by distance and labels."""
    found = {}
    for column, count in zip(encoding.matrix[row].indices, encoding.matrix[row].data):
        name, tree = encoding.space.explained(column)
        labels = tree.label, tree.branches[0].tree.label
        distance = int(name.split(":")[0][1:])
        found[(distance, *(labels if batch.directed else sorted(labels, key=repr)))] = count
    return found


@pytest.mark.parametrize("max_distance", [1, 2, 7])
@given(batch=batches())
def test_pairs_equal_a_plain_search(max_distance, batch):
    encoding = pair_features(batch, max_distance)
    for row, graph in enumerate(naive.from_batch(batch)):
        assert by_label(batch, encoding, row) == naive_pairs(graph, max_distance)


def test_pairs_of_directed_graphs_go_along_arcs():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], [["b", "a", "b"]], directed=True)
    encoding = pair_features(batch, 5)
    assert by_label(batch, encoding, 0) == {(1, "b", "a"): 1, (1, "a", "b"): 1, (2, "b", "b"): 1}


def test_pairs_that_training_lacks_are_left_out_and_known_ones_stay():
    train = GraphBatch.from_edges([[(0, 1), (1, 2)]], [["C", "C", "O"]])
    new = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]], [["C", "N", "C"], ["O", "C"]])
    space = pair_features(train, 3).space
    assert names_of(space) == ["d1:c0:c0", "d1:c0:c1", "d2:c0:c1"]
    assert pair_features(new, space=space).matrix.toarray().tolist() == [[0, 0, 0], [0, 1, 0]]
    known, grown = space.encoded_with_rest(new)
    assert (known.matrix != pair_features(new, space=space).matrix).nnz == 0
    assert grown.matrix.sum() == 4


def test_blocks_of_graphs_do_not_show(monkeypatch):
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)], [], [(0, 1), (1, 2), (2, 3)]], num_nodes=[3, 2, 1, 4]
    )
    whole = pair_features(batch, 3)
    monkeypatch.setattr("twinwl.models.pairs._GRAPHS_AT_ONCE", 1)
    alone = pair_features(batch, 3)
    assert (whole.matrix != alone.matrix).nnz == 0
    assert names_of(whole.space) == names_of(alone.space)


def test_a_vectorizer_counts_pairs_behind_its_columns(tmp_path):
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], [["C", "C", "O"]])
    vectorizer = STwinVectorizer(0, pairs=2)
    assert vectorizer.fit_transform(batch).toarray().tolist() == [[2, 1, 1, 1, 1]]
    assert vectorizer.get_feature_names_out().tolist() == ["0: C", "0: O", "d1: C,C", "d1: C,O", "d2: C,O"]
    assert vectorizer.column_codes() == [
        "h0:c0",
        "h0:c1",
        "d1:c0:c0",
        "d1:c0:c1",
        "d2:c0:c1",
    ]
    assert str(vectorizer.explain_column(4)) == "C\n└─ [2 steps away] O"
    save(vectorizer, tmp_path / "v.twinwl")
    assert load(tmp_path / "v.twinwl").transform(batch).toarray().tolist() == [[2, 1, 1, 1, 1]]


def test_pairs_of_a_damaged_file_are_refused():
    space = pair_features(GraphBatch.from_edges([[(0, 1)]]), 1).space
    state = space.stored()
    assert names_of(type(space).restored(state)) == names_of(space)
    with pytest.raises(TwinWLError, match="damaged"):
        type(space).restored(state | {"keys": space.keys + 1})


def test_distances_are_checked():
    with pytest.raises(TwinWLError, match="pairs: got 0"):
        STwinVectorizer(pairs=0).fit(GraphBatch.from_edges([[(0, 1)]]))


def test_nodes_of_a_pair_share_its_contribution():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    encoding = pair_features(batch, 2)
    assert encoding.node_shares(batch, np.array([4.0, 1.0])).tolist() == [1.5, 2.0, 1.5]
