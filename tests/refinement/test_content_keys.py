"""Content keys name a rooted tree: the same everywhere and for ever, whatever stands beside it."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.refinement.colours import refine
from twinwl.refinement.content_keys import content_keys, node_keys

GOLDEN = Path(__file__).with_name("golden_content_keys.json")

any_batches = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1])
)


def keys_of_nodes(batch, n_iter, **options):
    """Return the content key of every node in every round, as (n_iter + 1, n_nodes) of 128-bit integers."""
    colouring = refine(batch, n_iter, **options)
    rows = []
    for colours, keys in zip(colouring.colours, content_keys(colouring.alphabet), strict=True):
        rows.append([int(high) << 64 | int(low) for high, low in keys[colours]])
    return rows


def golden_cases():
    path = [(0, 1), (1, 2)]
    return {
        "unlabelled path": keys_of_nodes(GraphBatch.from_edges([path]), 2),
        "initial degree": keys_of_nodes(GraphBatch.from_edges([path]), 1, initial="degree"),
        "labels of all kinds": keys_of_nodes(
            GraphBatch.from_edges(
                [[(0, 1), (2, 3), (4, 5), (6, 7)]],
                node_labels=[[None, True, 1, 1.0, "1", b"1", ("1", (1,)), "ünï"]],
            ),
            1,
        ),
        "edge labels": keys_of_nodes(
            GraphBatch.from_edges([path], edge_labels=[["single", 2]]), 2, edge_labels=True
        ),
        "directed": keys_of_nodes(GraphBatch.from_edges([path], directed=True), 2),
        "directed with edge labels": keys_of_nodes(
            GraphBatch.from_edges([path], edge_labels=[["a", "b"]], directed=True), 2, edge_labels=True
        ),
    }


def test_golden_values_never_change():
    """If this fails, every hash ever stored has changed: a breaking change."""
    cases = {name: [[f"{key:032x}" for key in row] for row in rows] for name, rows in golden_cases().items()}
    assert cases == json.loads(GOLDEN.read_text())


@given(batches(min_graphs=2), st.booleans())
def test_keys_do_not_depend_on_what_else_is_in_the_batch(batch, edge_labels):
    together = keys_of_nodes(batch, 2, edge_labels=edge_labels)
    for graph in range(len(batch)):
        low, high = batch.graph_ptr[graph], batch.graph_ptr[graph + 1]
        alone = keys_of_nodes(batch[graph], 2, edge_labels=edge_labels)
        assert alone == [row[low:high] for row in together]


@given(batches())
def test_keys_are_equal_exactly_where_colours_are(batch):
    colouring = refine(batch, 3)
    for keys in content_keys(colouring.alphabet):
        assert len(np.unique(keys, axis=0)) == len(keys)
        assert len(np.unique(keys[:, 0])) == len(np.unique(keys[:, 1])) == len(keys)


def test_labels_of_different_kinds_have_different_keys():
    labels = [1, True, 1.0, "1", b"1", None, (1,), ("1",)]
    batch = GraphBatch.from_edges([[]], node_labels=[labels])
    assert len(set(keys_of_nodes(batch, 0)[0])) == len(labels)


@given(any_batches)
def test_keys_of_nodes_are_the_content_keys_of_their_colours(batch):
    colouring = refine(batch, 3, edge_labels=True)
    by_colour = content_keys(colouring.alphabet)
    for h, keys in enumerate(islice(node_keys(batch), 4)):
        np.testing.assert_array_equal(keys, by_colour[h][colouring.colours[h]])


def test_a_batch_with_edge_labels_but_no_edges_hears_nothing():
    labelled = GraphBatch.from_edges([[]], num_nodes=[2], edge_labels=[[]])
    plain = GraphBatch.from_edges([[]], num_nodes=[2])
    for one, other in islice(zip(node_keys(labelled), node_keys(plain), strict=False), 3):
        np.testing.assert_array_equal(one, other)
