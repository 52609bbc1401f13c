import numpy as np
import pytest
import torch  # noqa: F401  (an extra; without it this file is skipped)
from hypothesis import given, settings

from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.neural.inputs import SubtreeHistograms
from twinwl.refinement.colours import refine


@settings(max_examples=30)
@given(batches(min_graphs=2))
def test_rows_are_square_roots_of_counts_of_one_length(batch):
    subtree = SubtreeHistograms.fit_to(batch, 2, edge_labels=True, min_df=1)
    rows = subtree.rows(batch).toarray()
    colours, alphabet = refine(batch, 2, edge_labels=True)
    for graph in range(len(batch)):
        nodes = slice(*batch.graph_ptr[graph : graph + 2])
        counts = np.concatenate(
            [np.bincount(colours[h, nodes], minlength=alphabet.n_colours[h]) for h in (1, 2)]
        )
        length = np.sqrt(counts.sum())
        expected = 5 * np.sqrt(counts) / length if length else counts
        np.testing.assert_allclose(rows[graph], expected)


def test_colours_of_a_single_graph_are_dropped():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)], [(0, 1), (1, 2)]])
    subtree = SubtreeHistograms.fit_to(batch, 1, edge_labels=False)
    # Ends of an edge occur in all three graphs; the middle of the path in one.
    assert subtree.n_columns == 1
    assert subtree.rows(batch).toarray().tolist() == [[5.0], [5.0], [5.0]]


def test_unseen_colours_are_left_out():
    known = GraphBatch.from_edges([[(0, 1)], [(0, 1)]])
    subtree = SubtreeHistograms.fit_to(known, 2, edge_labels=False)
    star = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3)]])
    assert subtree.rows(star).shape == (1, 2)
    # Leaves look like the ends of an edge one step far; two steps far nothing is known.
    assert subtree.rows(star).toarray().tolist() == [[5.0, 0.0]]


def test_a_graph_of_nothing_known_is_a_row_of_zeros():
    known = GraphBatch.from_edges([[(0, 1)]] * 2, node_labels=[["C", "C"]] * 2)
    subtree = SubtreeHistograms.fit_to(known, 1, edge_labels=False)
    strange = GraphBatch.from_edges([[(0, 1)]], node_labels=[["N", "N"]])
    assert subtree.rows(strange).nnz == 0
    assert subtree.rows(GraphBatch.from_edges([[]], node_labels=[[]])).toarray().tolist() == [[0.0]]


def test_the_length_is_that_of_the_columns_that_are_left():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    rows = SubtreeHistograms.fit_to(batch, 2, edge_labels=False, min_df=2).rows(batch).toarray()
    assert np.linalg.norm(rows, axis=1) == pytest.approx([5.0, 5.0])
