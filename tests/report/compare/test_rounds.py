from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from twinwl.datasets.generators import worked_example
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes
from twinwl.report.compare import first_wl_difference, rounds_of_pair, rounds_to_show, slots_of_colours


def pairs():
    graph = st.builds(
        lambda n, p, seed: nx.gnp_random_graph(n, p, seed=seed),
        st.integers(1, 9),
        st.floats(0.1, 0.8),
        st.integers(0, 10**6),
    )
    return st.tuples(graph, graph).map(lambda two: GraphBatch.from_networkx(list(two)))


def test_worked_example_gives_the_vectors_of_the_paper():
    rounds = rounds_of_pair(worked_example(), 2)
    assert [row.sums for found in rounds for row in found.rows] == [
        (4, 4),
        (2, 2),
        (12, 12),
        (8, 8),
        (20, 16),
        (12, 12),
    ]
    assert [row.counts for found in rounds for row in found.rows] == [(4, 4), (2, 2)] * 3
    assert [found.difference for found in rounds] == ["", "", "twin"]


@settings(max_examples=40, deadline=None)
@given(pair=pairs())
def test_rows_are_the_histograms_of_colours_and_sizes(pair):
    colours, sizes = refine(pair, 3).colours, rooted_sizes(pair, 3)
    cut = int(pair.graph_ptr[1])
    for h, found in enumerate(rounds_of_pair(pair, 3)):
        for side, part in enumerate((slice(0, cut), slice(cut, None))):
            expected = Counter(zip(colours[h, part].tolist(), sizes[h, part].tolist(), strict=True))
            listed = {(row.colour, size): count for row in found.rows for size, count in row.sizes[side]}
            assert listed == dict(expected)
            for row in found.rows:
                chosen = colours[h, part] == row.colour
                assert row.counts[side] == chosen.sum()
                assert row.sums[side] == sizes[h, part][chosen].sum()


@settings(max_examples=40, deadline=None)
@given(pair=pairs())
def test_marked_nodes_are_those_whose_pair_is_not_equally_frequent(pair):
    cut = int(pair.graph_ptr[1])
    for found in rounds_of_pair(pair, 2):
        keys = list(zip(found.colours.tolist(), found.sizes.tolist(), strict=True))
        for node, key in enumerate(keys):
            assert found.marked[node] == (keys[:cut].count(key) != keys[cut:].count(key))


@settings(max_examples=40, deadline=None)
@given(pair=pairs())
def test_slots_are_the_same_partition_and_the_largest_part_keeps_its_paint(pair):
    colours = refine(pair, 3).colours
    slots = slots_of_colours(colours)
    for h, (row, slot_row) in enumerate(zip(colours, slots, strict=True)):
        together = set(zip(row.tolist(), slot_row.tolist(), strict=True))
        assert len(together) == len(set(row.tolist())) == len(set(slot_row.tolist()))
        assert slot_row.max(initial=0) == len(together) - 1
        if h == 0:
            continue
        for slot in set(slots[h - 1].tolist()):
            inside = slots[h - 1] == slot
            kept = (slots[h] == slot) & inside
            sizes = np.unique(slots[h][inside], return_counts=True)[1]
            assert kept.sum() == sizes.max()


def test_first_wl_difference():
    path_and_star = GraphBatch.from_networkx([nx.path_graph(4), nx.star_graph(3)])
    assert first_wl_difference(path_and_star) == 1
    assert first_wl_difference(worked_example()) is None
    assert first_wl_difference(GraphBatch.from_networkx([nx.path_graph(2), nx.path_graph(3)])) == 0


def test_rounds_to_show_end_where_nothing_changes():
    same = GraphBatch.from_networkx([nx.path_graph(5)] * 2)
    assert rounds_to_show(same, None) == 4  # the ends of the path reach all of it in four steps
    assert rounds_to_show(same, None, n_iter=2) == 2
    long = GraphBatch.from_networkx([nx.path_graph(100)] * 2)
    assert rounds_to_show(long, None) == 12
    assert rounds_to_show(long, iteration=20) >= 20


def test_edge_labels_take_part():
    pair = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]] * 2, edge_labels=[["single", "double"], ["single", "single"]]
    )
    assert rounds_of_pair(pair, 1)[1].difference == "labels"
