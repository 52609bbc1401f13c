"""Histograms equal literal counting; blocks and threads leave no trace."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.refinement import histograms, identities
from twinwl.refinement.colours import refine
from twinwl.refinement.histograms import colour_histograms


def rows(batch, n_iter, *, weigh_by_size):
    """Return one {(h, colour): sum} per graph, and check the CSR arrays on the way."""
    colouring = refine(batch, n_iter)
    n_colours = colouring.alphabet.n_colours
    data, indices, indptr = colour_histograms(
        batch, colouring.colours, n_colours, weigh_by_size=weigh_by_size
    )
    assert len(data) == len(indices) == indptr[-1]
    name_of = [(h, colour) for h, count in enumerate(n_colours) for colour in range(count)]
    out = []
    for start, stop in pairwise(indptr):
        assert (np.diff(indices[start:stop]) > 0).all(), "columns are sorted and distinct"
        out.append({name_of[i]: x for i, x in zip(indices[start:stop], data[start:stop], strict=True)})
    return out


def oracle(batch, n_iter, *, weigh_by_size):
    vectors = naive.features(naive.from_batch(batch), n_iter, "size" if weigh_by_size else "count")
    return [{key: float(value) for key, value in vector.items()} for vector in vectors]


@given(batches(node_label=False), st.booleans())
def test_equals_oracle_on_random_graphs(batch, weigh_by_size):
    assert rows(batch, 2, weigh_by_size=weigh_by_size) == oracle(batch, 2, weigh_by_size=weigh_by_size)


@pytest.mark.parametrize("weigh_by_size", [True, False])
def test_blocks_and_threads_leave_no_trace(monkeypatch, weigh_by_size):
    batch = GraphBatch.from_networkx([*nx.graph_atlas_g()[:400], nx.cycle_graph(300), nx.star_graph(200)])
    expected = rows(batch, 3, weigh_by_size=weigh_by_size)
    assert expected == oracle(batch, 3, weigh_by_size=weigh_by_size)
    monkeypatch.setattr("twinwl.refinement.colours._STEPS_WORTH_A_THREAD", 10)
    monkeypatch.setattr(histograms, "_NODES_PER_BLOCK", 20)
    assert rows(batch, 3, weigh_by_size=weigh_by_size) == expected
    monkeypatch.setattr(histograms, "LARGE", 100)
    for n_threads in ("3", "1"):
        monkeypatch.setenv("TWINWL_NUM_THREADS", n_threads)
        assert rows(batch, 3, weigh_by_size=weigh_by_size) == expected


def test_a_graph_with_many_colours_is_sorted_too():
    batch = GraphBatch.from_networkx([nx.gnm_random_graph(400, 900, seed=1)])
    assert refine(batch, 3).alphabet.n_colours[-1] > 256, "one digit is not enough"
    assert rows(batch, 3, weigh_by_size=True) == oracle(batch, 3, weigh_by_size=True)


def test_unseen_colours_are_left_out_of_a_sorted_row():
    batch = GraphBatch.from_networkx([nx.cycle_graph(300)])
    colours = np.arange(300, dtype=np.int32)[None] % 3 - 1
    data, indices, _ = colour_histograms(batch, colours, [2], weigh_by_size=False)
    assert (data.tolist(), indices.tolist()) == ([100, 100], [0, 1])


def test_unseen_nodes_are_left_out():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]])
    colours = np.array([[0, -1, -1, -1]], np.int32)
    data, indices, indptr = colour_histograms(batch, colours, [1], weigh_by_size=False)
    assert (data.tolist(), indices.tolist(), indptr.tolist()) == ([1.0], [0], [0, 1, 1])


@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_graphs_around_a_large_one_keep_their_rows(monkeypatch, n_threads):
    graphs = [nx.path_graph(5), nx.cycle_graph(80), nx.star_graph(4), nx.gnm_random_graph(90, 200, seed=0)]
    batch = GraphBatch.from_networkx([*graphs, nx.path_graph(70), nx.path_graph(3)])
    expected = rows(batch, 3, weigh_by_size=True)
    for module in (histograms, identities):
        monkeypatch.setattr(module, "LARGE", 75)
    monkeypatch.setenv("TWINWL_NUM_THREADS", n_threads)
    assert rows(batch, 3, weigh_by_size=True) == expected
