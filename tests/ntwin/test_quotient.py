import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.tu import read_tu
from twinwl.neural import quotient as blocks
from twinwl.neural.quotient import build_quotient, pair_colours
from twinwl.refinement.colours import refine
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

HOPS = st.sampled_from(["growing", 0, 1, 2, 3])
MARKS = st.sampled_from(["none", "distance"])


def partition(colours):
    return [tuple(np.flatnonzero(colours == colour)) for colour in dict.fromkeys(colours.tolist())]


@settings(max_examples=40)
@given(batch=batches(), hops=HOPS, layers=st.integers(1, 4), edges=st.booleans())
def test_colours_are_those_of_the_refined_union(batch, hops, layers, edges):
    quotient = build_quotient(batch, layers, hops, edge_labels=edges)
    for layer in range(1, layers + 1):
        cut, colours = pair_colours(batch, quotient, layer)
        union = rooted_subgraphs(batch, quotient.hops[layer - 1]).as_batch(batch)
        expected = refine(union, layer, edge_labels=edges).colours[layer]
        assert partition(colours) == partition(expected)
        assert len(cut.node) == quotient.n_pairs[layer - 1]


@settings(max_examples=30)
@given(batch=batches(), hops=HOPS, layers=st.integers(1, 3))
def test_pooling_counts_every_pair_once(batch, hops, layers):
    quotient = build_quotient(batch, layers, hops)
    for layer, pool in enumerate(quotient.pools, start=1):
        cut, colours = pair_colours(batch, quotient, layer)
        graph = np.searchsorted(batch.graph_ptr, cut.node, side="right") - 1
        for index in range(len(batch)):
            entries = slice(*pool.indptr[index : index + 2])
            counted = dict(zip(pool.colours[entries].tolist(), pool.counts[entries].tolist(), strict=True))
            values, counts = np.unique(colours[graph == index], return_counts=True)
            assert counted == dict(zip(values.tolist(), counts.tolist(), strict=True))


@settings(max_examples=30)
@given(batch=batches(min_graphs=2), hops=HOPS, layers=st.integers(1, 3))
def test_small_blocks_give_the_same_quotient(batch, hops, layers):
    expected = build_quotient(batch, layers, hops)
    normal = blocks._BLOCK_ENTRIES
    root_blocks = blocks.root_blocks
    assert normal > 100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("twinwl.neural.quotient.root_blocks", lambda b, h: root_blocks(b, h, 8))
        actual = build_quotient(batch, layers, hops)
    assert actual.n_colours == expected.n_colours
    for here, there in zip(actual.rounds, expected.rounds, strict=True):
        assert here.sig_items.tolist() == there.sig_items.tolist()
    for here, there in zip(actual.pools, expected.pools, strict=True):
        assert _rows(here) == _rows(there)


def _rows(pool):
    return [
        sorted(zip(pool.colours[low:high].tolist(), pool.counts[low:high].tolist(), strict=True))
        for low, high in zip(pool.indptr[:-1], pool.indptr[1:], strict=True)
    ]


def test_root_marks_make_the_quotient_finer():
    hexagon = GraphBatch.from_edges([[(i, (i + 1) % 6) for i in range(6)]])
    colours = [
        build_quotient(hexagon, 1, 3, root_mark=mark).n_colours[-1] for mark in ("none", "root", "distance")
    ]
    assert colours == [1, 3, 4]


def test_statistics_of_nci1_are_those_of_the_design(tu_zip):
    quotient = build_quotient(read_tu(tu_zip("NCI1")).graphs, 3, 3)
    statistics = quotient.statistics()
    assert statistics.n_pairs == (1188635,) * 3
    assert statistics.n_colours == (333, 6643, 70104)
    assert statistics.compression[2] == pytest.approx(1188635 / 70104)
    assert "1,188,635" in str(statistics)


def test_empty_graphs_and_single_nodes_have_rows():
    batch = GraphBatch.from_edges([[], [], [(0, 1)]], num_nodes=[0, 1, 2])
    quotient = build_quotient(batch, 5, "growing")
    assert [pool.indptr.tolist() for pool in quotient.pools] == [[0, 0, 1, 2]] * 5
    assert quotient.pools[4].counts.tolist() == [1, 4]


def test_no_graph_at_all_is_an_empty_quotient():
    quotient = build_quotient(GraphBatch.from_edges([]), 2)
    assert len(quotient) == 0
    assert quotient.n_pairs == (0, 0)


def test_a_blow_up_is_refused_with_its_size_and_a_remedy():
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 1000)]])
    told = r"1,000,000 \(root, node\) pairs at radius 2.*at radius 1 there are 2,998"
    with pytest.raises(TwinWLError, match=told):
        build_quotient(star, 2, 2, max_memory=1 << 20)
    assert build_quotient(star, 2, 1, max_memory=1 << 20).n_pairs == (2998, 2998)
