import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batch_equality import assert_same_graphs
from tests.strategies import batches, graphs
from twinwl import GraphBatch, TwinWLError
from twinwl.errors import GraphIndexError, GraphInputError
from twinwl.graphs.batch import concatenate


def _built(parts, *, directed=False):
    return GraphBatch.from_edges(
        [edges for _, edges, _, _ in parts],
        num_nodes=[n for n, _, _, _ in parts],
        node_labels=[labels for _, _, labels, _ in parts],
        edge_labels=[labels for _, _, _, labels in parts],
        directed=directed,
    )


@given(st.lists(graphs(), min_size=1, max_size=5), st.data())
def test_selecting_equals_building_the_selected(parts, data):
    chosen = data.draw(st.lists(st.integers(-len(parts), len(parts) - 1), max_size=7))
    batch = _built(parts)
    assert_same_graphs(batch[np.array(chosen, dtype=int)], _built([parts[index] for index in chosen]))


@given(st.lists(graphs(directed=True), min_size=1, max_size=5), st.data())
def test_slicing_equals_building_the_slice(parts, data):
    cut = data.draw(st.slices(len(parts)))
    assert_same_graphs(_built(parts, directed=True)[cut], _built(parts[cut], directed=True))


@given(st.lists(graphs(), min_size=1, max_size=5), st.data())
def test_mask_equals_building_the_masked(parts, data):
    mask = data.draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
    expected = _built([part for part, keep in zip(parts, mask, strict=True) if keep])
    assert_same_graphs(_built(parts)[np.array(mask)], expected)
    assert_same_graphs(_built(parts)[mask], expected)


@given(batches(max_graphs=5))
def test_one_graph_equals_a_selection_of_one(batch):
    for index, graph in enumerate(batch):
        assert_same_graphs(graph, batch[[index]])
        assert_same_graphs(graph, batch[np.int64(index)])
        assert_same_graphs(graph, batch[index, ...])
        assert_same_graphs(graph, batch[index - len(batch)])


@given(batches(max_graphs=5), st.data())
def test_joining_parts_gives_the_whole(batch, data):
    cut = data.draw(st.integers(0, len(batch)))
    assert_same_graphs(concatenate([batch[:cut], batch[cut:]]), batch)


@pytest.mark.parametrize("key", [2, -3, [0, 2], np.array([-3]), np.array([2**63], dtype=np.uint64)])
def test_index_out_of_range_is_refused_and_named(key):
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]])
    with pytest.raises(GraphIndexError, match=r"a batch of 2 graphs has no .* out of bounds") as caught:
        batch[key]
    assert isinstance(caught.value, TwinWLError)
    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize(
    "key",
    [1.0, "0", None, True, [0.5], [[0]], [[0], [0, 1]], (0, 0), (0, 1, ...), [True], np.ones(3, bool), {0}],
    ids=str,
)
def test_what_is_no_index_is_refused(key):
    with pytest.raises(GraphIndexError):
        GraphBatch.from_edges([[(0, 1)], [(0, 1)]])[key]


def test_graphs_may_be_taken_more_than_once():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    assert batch[[1, 1, 0]].nodes_per_graph.tolist() == [3, 3, 2]


def test_joining_brings_vocabularies_together_by_kind():
    one = GraphBatch.from_edges([[(0, 1)]], node_labels=[[1, "C"]], edge_labels=[["x"]])
    other = GraphBatch.from_edges([[(0, 1)]], node_labels=[[True, "C"]], edge_labels=[["y"]])
    joined = concatenate([one, other])
    assert [type(label) for label in joined.labels_of_nodes()] == [int, str, bool, str]
    assert joined.edge_vocabulary == ("x", "y")


def test_empty_graphs_join_anything():
    labelled = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "N"]], edge_labels=[["x"]])
    empty = GraphBatch.from_edges([[]])
    point = GraphBatch.from_edges([[]], node_labels=[["C"]])
    joined = concatenate([empty, point, labelled])
    assert joined.labels_of_nodes() == ["C", "C", "N"]
    assert joined.edge_vocabulary == ("x",)
    assert_same_graphs(joined[2], labelled)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (GraphBatch.from_edges([[(0, 1)]], directed=True), "directed"),
        (GraphBatch.from_edges([[(0, 1)]], node_labels=[[1, 2]]), "node labels"),
        (GraphBatch.from_edges([[(0, 1)]], edge_labels=[[1]]), "edge labels"),
        (GraphBatch.from_edges([[(0, 1)]], node_features=[np.ones((2, 3))]), "number of node features"),
    ],
)
def test_unlike_batches_do_not_join(other, difference):
    with pytest.raises(GraphInputError, match=f"batch 1 differs .* in {difference}"):
        concatenate([GraphBatch.from_edges([[(0, 1)]]), other])


def molecules(atoms):
    return replace(GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=[["C", "O"]] * 2), atoms=atoms)


def test_molecules_of_two_atom_levels_do_not_join():
    with pytest.raises(GraphInputError, match=r"batch 1 differs .* in atoms \(skeleton against constitution"):
        concatenate([molecules("constitution"), molecules("skeleton")])


@pytest.mark.parametrize(
    "part",
    [
        lambda batch: batch[1],
        lambda batch: batch[[1, 0]],
        lambda batch: batch.without_edge_labels(),
        lambda batch: concatenate([molecules(None), batch]),
        lambda batch: pickle.loads(pickle.dumps(batch)),  # noqa: S301
    ],
)
def test_parts_of_molecules_keep_their_atom_level(part):
    assert part(molecules("constitution")).atoms == "constitution"


def test_nothing_to_join_is_refused():
    with pytest.raises(GraphInputError, match="at least one"):
        concatenate([])
