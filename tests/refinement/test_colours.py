"""Colours equal the paper written literally: on all small graphs, random ones and the real sets."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.generators import worked_example
from twinwl.datasets.graph_files import read_tu
from twinwl.refinement.colours import INITIALS, RoundTable, colour_round, messages_of, refine

PAPER_SETS = [
    *("MUTAG", "PTC_MR", "NCI1"),
    *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("Mutagenicity", "NCI109")),
]


def partition(colours):
    """Number colours by first occurrence, so that equal partitions give equal arrays."""
    _, first, inverse = np.unique(colours, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def assert_equals_oracle(batch, n_iter, **options):
    expected = naive.colours(naive.from_batch(batch), n_iter, **options)
    colouring = refine(batch, n_iter, **options)
    assert len(colouring.colours) == len(expected)
    for h, (fast, slow) in enumerate(zip(colouring.colours, expected, strict=True)):
        flat = np.array([colour for graph in slow for colour in graph], dtype=np.int64)
        np.testing.assert_array_equal(partition(fast), flat, err_msg=f"round {h}")
        if h:
            np.testing.assert_array_equal(fast, flat, err_msg="later rounds number by first occurrence")
        assert colouring.alphabet.n_colours[h] == (flat.max(initial=-1) + 1)


def test_worked_example_gives_the_colours_of_the_paper():
    colours = refine(worked_example(), 2, initial="degree").colours
    assert [np.bincount(row[:6]).tolist() for row in colours] == [[4, 2], [4, 2], [4, 2]]
    for row in colours:  # 1-WL cannot tell the two graphs apart
        np.testing.assert_array_equal(np.bincount(row[:6]), np.bincount(row[6:]))


@pytest.mark.parametrize("initial", ["label", "degree", "ring"])
def test_equals_oracle_on_the_whole_atlas(initial):
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g())
    assert len(atlas) == 1253
    assert_equals_oracle(atlas, 5, initial=initial)
    assert_equals_oracle(atlas, None, initial=initial)


@pytest.mark.parametrize("name", PAPER_SETS)
def test_equals_oracle_on_real_sets(tu_zip, name):
    batch = read_tu(tu_zip(name)).graphs
    assert_equals_oracle(batch if len(batch) < 1000 else batch[::4], 5)
    if batch.edge_labels is not None and len(batch) < 1000:
        assert_equals_oracle(batch, 5, edge_labels=True)


@given(batches(), st.sampled_from([0, 1, 3, None]), st.booleans(), st.sampled_from(INITIALS))
def test_equals_oracle_on_random_graphs(batch, n_iter, edge_labels, initial):
    assert_equals_oracle(batch, n_iter, edge_labels=edge_labels, initial=initial)


@given(batches(directed=True), st.booleans(), st.sampled_from(INITIALS))
def test_directed_signatures_hold_both_sides(batch, edge_labels, initial):
    assert_equals_oracle(batch, 3, edge_labels=edge_labels, initial=initial)


@given(batches(min_graphs=2), st.booleans())
def test_frozen_alphabet_marks_unseen_signatures(batch, edge_labels):
    cut = len(batch) // 2
    train, test = batch[:cut], batch[cut:]
    alphabet = refine(train, 3, edge_labels=edge_labels).alphabet
    frozen = refine(test, 3, alphabet=alphabet)
    expected = naive.frozen_colours(
        naive.from_batch(train), naive.from_batch(test), 3, edge_labels=edge_labels
    )
    for h in range(4):
        flat = np.array([colour for graph in expected[h] for colour in graph], dtype=np.int64)
        np.testing.assert_array_equal(frozen.colours[h] < 0, flat < 0)
        if h:
            np.testing.assert_array_equal(frozen.colours[h], flat)
    assert frozen.alphabet is alphabet


@given(batches(min_graphs=2), st.booleans())
def test_extended_alphabet_colours_as_if_built_at_once(batch, edge_labels):
    cut = len(batch) // 2
    first = refine(batch[:cut], 3, edge_labels=edge_labels)
    before = [part.sig_items.copy() for part in first.alphabet.rounds]
    second = refine(batch[cut:], 3, alphabet=first.alphabet, extend=True)
    whole = refine(batch, 3, edge_labels=edge_labels)
    for h in range(4):
        joined = np.concatenate([first.colours[h], second.colours[h]])
        np.testing.assert_array_equal(partition(joined), partition(whole.colours[h]))
    for part, items in zip(first.alphabet.rounds, before, strict=True):
        np.testing.assert_array_equal(part.sig_items, items)
    again = refine(batch[:cut], 3, alphabet=second.alphabet)
    np.testing.assert_array_equal(again.colours, first.colours)


@given(batches(), st.randoms(use_true_random=False))
def test_permuting_nodes_and_graphs_changes_only_the_order(batch, random):
    graph_order = list(range(len(batch)))
    random.shuffle(graph_order)
    parts, node_order = [], []
    for graph in graph_order:
        low, high = batch.graph_ptr[graph], batch.graph_ptr[graph + 1]
        places = list(range(high - low))
        random.shuffle(places)
        parts.append(moved(batch[graph], np.array(places, dtype=np.int64)))
        node_order.extend(low + np.argsort(places))
    edges, node_labels, edge_labels = zip(*parts, strict=True)
    shuffled = GraphBatch.from_edges(edges, node_labels=node_labels, edge_labels=edge_labels)
    straight = refine(batch, 3, edge_labels=True).colours
    mixed = refine(shuffled, 3, edge_labels=True).colours
    for row, other in zip(straight, mixed, strict=True):
        np.testing.assert_array_equal(partition(row[node_order]), partition(other))


def moved(graph, places):
    """Return edges, node labels and edge labels of a graph with node v moved to place ``places[v]``."""
    sources, targets = graph.arcs()
    labels = np.empty(graph.n_nodes, dtype=object)
    for place, label in zip(places, graph.labels_of_nodes(), strict=True):
        labels[place] = label
    edges = np.stack([places[sources], places[targets]], axis=1)
    return edges, list(labels), [graph.edge_vocabulary[code] for code in graph.edge_labels]


@pytest.mark.parametrize("hash_mask", [0, 0b11, (1 << 34) - 1])
@pytest.mark.parametrize("n_codes", [1, 2**50])
def test_forced_collisions_do_not_merge_colours(hash_mask, n_codes):
    """With a hash of a few bits everything collides; comparing true signatures keeps colours apart.

    With many kinds of messages items are so wide that signatures of two of them are hashed already.
    """
    batch = GraphBatch.from_networkx(nx.graph_atlas_g()[:300])
    messages = messages_of(batch, None, 1)
    expected = refine(batch, 3).colours
    colours, stride = expected[0].copy(), 1
    for h in range(3):
        table = RoundTable(stride, n_codes, hash_mask=hash_mask)
        after = np.empty_like(colours)
        colour_round(messages, colours, table, after, insert=True)
        np.testing.assert_array_equal(after, expected[h + 1])
        frozen = RoundTable(stride, n_codes, table.to_round(), hash_mask=hash_mask)
        again = np.empty_like(colours)
        colour_round(messages, colours, frozen, again, insert=False)
        np.testing.assert_array_equal(again, after)
        colours, stride = after, table.n_colours


def test_signatures_too_wide_to_pack_are_still_told_apart():
    """Stars with hundreds of leaves of two labels differ in one leaf: far beyond 126 bits."""
    leaves = 300
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    labels = [["hub", *("a" if leaf < count else "b" for leaf in range(leaves))] for count in range(50)]
    batch = GraphBatch.from_edges([edges] * 50, node_labels=labels)
    hubs = refine(batch, 1).colours[1][batch.graph_ptr[:-1]]
    assert len(set(hubs.tolist())) == 50


@pytest.mark.parametrize("n_leaves", [1, 2, 31, 32, 33, 34, 100, 2000])
def test_hubs_hear_their_neighbours_in_order(n_leaves):
    rng = np.random.default_rng(n_leaves)
    labels = rng.integers(0, 50, n_leaves).tolist()
    hub = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, n_leaves + 1)]], node_labels=[[-1, *labels]])
    part = refine(hub, 1).alphabet.rounds[0]
    _, heard = part.signature(0)
    assert [colour for _, colour in heard] == np.sort(refine(hub, 0).colours[0, 1:]).tolist()


def test_many_edge_labels_need_wide_items():
    """The product of edge labels and colours passes 32 bits; items widen instead of wrapping."""
    table = RoundTable(2**20, 2**12)
    assert table.to_round().sig_items.dtype == np.int64


def test_threads_and_blocks_do_not_change_the_result(monkeypatch):
    batch = GraphBatch.from_networkx(nx.graph_atlas_g())
    monkeypatch.setenv("TWINWL_NUM_THREADS", "1")
    expected = refine(batch, 4)
    known = refine(batch[::7], 4).alphabet
    alone = [refine(batch, 4, alphabet=known, extend=extend) for extend in (False, True)]
    monkeypatch.setenv("TWINWL_NUM_THREADS", "3")
    monkeypatch.setattr("twinwl.refinement.colours._STEPS_WORTH_A_THREAD", 10)
    monkeypatch.setattr("twinwl.refinement.colours._NODES_PER_BLOCK", 97)
    several = refine(batch, 4)
    np.testing.assert_array_equal(several.colours, expected.colours)
    for one, other in zip(several.alphabet.rounds, expected.alphabet.rounds, strict=True):
        np.testing.assert_array_equal(one.sig_ptr, other.sig_ptr)
        np.testing.assert_array_equal(one.sig_items, other.sig_items)
    for extend, by_one in zip((False, True), alone, strict=True):
        together = refine(batch, 4, alphabet=known, extend=extend)
        np.testing.assert_array_equal(together.colours, by_one.colours)


@given(batches(), st.booleans())
def test_threads_agree_where_signatures_are_hashed(batch, edge_labels):
    """Tables of two threads are joined by true signatures, not by keys that collide."""
    messages = messages_of(
        batch, batch.edge_labels if edge_labels else None, max(1, len(batch.edge_vocabulary))
    )
    colours = np.zeros(batch.n_nodes, np.int32)
    alone = RoundTable(1, messages.n_codes)
    alone.make_room(batch.n_nodes, len(messages.indices))
    expected = np.empty_like(colours)
    alone.pass_labels(messages, colours, 0, batch.n_nodes, expected, insert=True)
    cut = batch.n_nodes // 2
    first = RoundTable(1, 2**50, hash_mask=1)  # items so wide that two of them are hashed
    second = first.empty_copy()
    after = np.empty_like(colours)
    for table, low, high in ((first, 0, cut), (second, cut, batch.n_nodes)):
        table.make_room(high - low, int(messages.indptr[high] - messages.indptr[low]))
        table.pass_labels(messages, colours, low, high, after, insert=True)
    after[cut:] = first.take_over(second)[after[cut:]]
    np.testing.assert_array_equal(after, expected)
    np.testing.assert_array_equal(first.to_round().sig_items, alone.to_round().sig_items)


def test_a_signature_can_be_read_back():
    star = GraphBatch.from_edges([[(0, 1), (0, 2)]], node_labels=[["C", "H", "H"]], edge_labels=[["s", "d"]])
    alphabet = refine(star, 1, edge_labels=True).alphabet
    carbon = alphabet.rounds[0].signature(0)
    assert alphabet.labels[carbon[0]] == "C"
    heard = sorted((alphabet.edge_labels[code], alphabet.labels[colour]) for code, colour in carbon[1])
    assert heard == [("d", "H"), ("s", "H")]


def test_a_batch_without_graphs_has_no_colours():
    empty = GraphBatch.from_edges([])
    assert refine(empty, 2).colours.shape == (3, 0)
    assert refine(empty, None).colours.shape == (1, 0)


@pytest.mark.parametrize("n_iter", [-1, 1.5, True, "3"])
def test_what_is_no_number_of_rounds_is_refused(n_iter):
    with pytest.raises(TwinWLError, match="n_iter: got"):
        refine(GraphBatch.from_edges([[(0, 1)]]), n_iter)


def test_an_unknown_start_is_refused_with_the_known_ones():
    with pytest.raises(TwinWLError, match="did you mean 'degree'"):
        refine(GraphBatch.from_edges([[(0, 1)]]), 1, initial="degrees")


def test_an_alphabet_of_another_kind_of_graph_is_refused():
    plain = GraphBatch.from_edges([[(0, 1)]])
    labelled = GraphBatch.from_edges([[(0, 1)]], edge_labels=[["s"]])
    with pytest.raises(TwinWLError, match="undirected"):
        refine(GraphBatch.from_edges([[(0, 1)]], directed=True), 1, alphabet=refine(plain, 1).alphabet)
    with pytest.raises(TwinWLError, match="edge labels"):
        refine(plain, 1, alphabet=refine(labelled, 1, edge_labels=True).alphabet)


def test_public_colours_and_sizes_take_anything_and_stand_node_by_node():
    edges = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]]
    assert tw.colours(edges, 1).tolist() == [[0, 0, 0, 0, 0, 0], [0, 1, 0, 1, 1, 1]]
    assert tw.rooted_sizes(edges, 1).tolist() == [[1] * 6, [2, 3, 2, 3, 3, 3]]
    bonds = tw.from_edges(edges[:1], edge_labels=[["-", "="]])
    assert tw.colours(bonds, 1)[1].tolist() == [0, 1, 0]
    assert tw.colours(bonds, 1, edge_labels=True)[1].tolist() == [0, 1, 2]


def test_rooted_sizes_that_do_not_fit_into_memory_are_refused():
    with pytest.raises(TwinWLError, match="lower n_iter"):
        tw.rooted_sizes([[(0, 1)]], 2**31 - 2)
