from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ntwin.rooted_data import encoder_for, row_input
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.graph_files import read_tu
from twinwl.neural import quotient as quotients
from twinwl.neural.quotient import build_quotient
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_subgraphs

HOPS = st.sampled_from(["growing", 0, 1, 2, 3])
MARKS = st.sampled_from(["none", "distance"])


@settings(max_examples=40)
@given(batch=batches(), hops=HOPS, layers=st.integers(1, 4), edges=st.booleans())
def test_colours_are_those_of_the_refined_union_and_every_pair_is_counted_once(batch, hops, layers, edges):
    quotient = build_quotient(batch, layers, hops, edge_labels=edges)
    for layer, (radius, pool) in enumerate(zip(quotient.hops, quotient.pools, strict=True), start=1):
        cut = rooted_subgraphs(batch, radius)
        colours = refine(cut.as_batch(batch), layer, edge_labels=edges).colours[layer]
        graph = np.searchsorted(batch.graph_ptr, cut.node, side="right") - 1
        counts = [Counter(colours[graph == index].tolist()) for index in range(len(batch))]
        # Other numbers, but the same counts.
        assert [sorted(row.values()) for row in _rows(pool)] == [sorted(row.values()) for row in counts]
        assert len(set(pool.rows.tolist())) == len(set(colours.tolist()))
        assert len(cut.node) == quotient.n_pairs[layer - 1] == pool.counts.sum()


@settings(max_examples=30)
@given(batch=batches(min_graphs=2), hops=HOPS, layers=st.integers(1, 3))
def test_small_blocks_give_the_same_network(batch, hops, layers):
    encoder = encoder_for(batch, layers, hops)
    expected = encoder(row_input(batch, layers, hops)).detach()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotients, "_BLOCK_ENTRIES", 8)
        torch.testing.assert_close(encoder(row_input(batch, layers, hops)).detach(), expected)
        actual = build_quotient(batch, layers, hops)
    assert actual.n_colours == build_quotient(batch, layers, hops).n_colours


def _rows(pool):
    found = []
    for low, high in pairwise(pool.ptr.tolist()):
        counted = Counter()
        for row, count in zip(pool.rows[low:high].tolist(), pool.counts[low:high].tolist(), strict=True):
            counted[row] += count  # a large graph has several blocks
        found.append(counted)
    return found


def test_root_marks_make_the_quotient_finer():
    hexagon = GraphBatch.from_edges([[(i, (i + 1) % 6) for i in range(6)]])
    colours = [
        build_quotient(hexagon, 1, 3, root_mark=mark).n_colours[-1] for mark in ("none", "root", "distance")
    ]
    assert colours == [1, 3, 4]


def test_statistics_of_nci1_are_those_of_the_design(tu_zip):
    quotient = build_quotient(read_tu(tu_zip("NCI1")).graphs, 3, 3)
    assert quotient.n_pairs == (1188635,) * 3
    assert quotient.n_colours[1:] == [333, 6643, 70104]
    assert quotient.compression[2] == pytest.approx(1188635 / 70104)
    assert "1,188,635" in str(quotient)


def test_empty_graphs_and_single_nodes_have_rows():
    batch = GraphBatch.from_edges([[], [], [(0, 1)]], num_nodes=[0, 1, 2])
    quotient = build_quotient(batch, 5, "growing")
    assert [pool.ptr.tolist() for pool in quotient.pools] == [[0, 0, 1, 2]] * 5
    assert quotient.pools[4].counts.tolist() == [1, 4]


def test_no_graph_at_all_is_an_empty_quotient():
    quotient = build_quotient(GraphBatch.from_edges([]), 2)
    assert len(quotient) == 0
    assert quotient.n_pairs == (0, 0)


def test_a_blow_up_is_refused_with_its_size_and_a_remedy():
    edges = [(0, leaf) for leaf in range(1, 300)]
    star = GraphBatch.from_edges([edges], node_labels=[list(range(300))])
    with pytest.raises(
        TwinWLError, match=r"90,000 \(root, node\) pairs.* need .* more than .*raise max_memory"
    ):
        build_quotient(star, 2, 2, max_memory=1 << 13)
    alike = GraphBatch.from_edges([edges])
    assert build_quotient(alike, 2, 2, max_memory=1 << 13).n_pairs == (90_000, 90_000)
