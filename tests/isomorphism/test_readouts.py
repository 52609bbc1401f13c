from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.isomorphism import naive_readouts
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.isomorphism.readouts import READOUTS, ReadoutError, RoundReader, class_numbers, resolve
from twinwl.refinement.identities import rooted_sizes

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2], max_graphs=3, max_nodes=5)
)
PATH = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])


def values_by_round(batch, choice, n_iter):
    reader = RoundReader(batch, resolve(choice))
    return [reader.read(sizes) for sizes in rooted_sizes(batch, n_iter)]


@pytest.mark.parametrize("name", READOUTS)
@settings(max_examples=40)
@given(batch=any_batches)
def test_values_are_equal_exactly_when_those_of_the_oracle_are(name, batch):
    for h, (values,) in enumerate(values_by_round(batch, name, 2)):
        expected = [
            naive_readouts.BY_NAME[name](naive.rooted_subgraph(graph, node, h))
            for graph in naive.from_batch(batch)
            for node in range(graph.n)
        ]
        pairs = set(zip(class_numbers(values).tolist(), expected, strict=True))
        assert len(pairs) == len({fast for fast, _ in pairs}) == len({slow for _, slow in pairs})


@given(batch=any_batches)
def test_each_value_decides_those_of_the_weaker_readouts(batch):
    rounds = {name: values_by_round(batch, name, 2) for name in READOUTS}
    names = [name for name, readout in READOUTS.items() if readout.on_ladder]
    for weaker, stronger in [*pairwise(names), ("marked-wl-1", "rooted-fwl2"), ("rooted-fwl2", "canonical")]:
        for (coarse,), (fine,) in zip(rounds[weaker], rounds[stronger], strict=True):
            pairs = set(zip(class_numbers(fine).tolist(), class_numbers(coarse).tolist(), strict=True))
            assert len(pairs) == len({number for number, _ in pairs})


def test_subgraphs_are_read_out_in_blocks_without_a_trace(monkeypatch):
    cycle = GraphBatch.from_edges([[(node, (node + 1) % 50) for node in range(50)]])
    names = ["edges", "wl", len]
    at_once = values_by_round(cycle, names, 4)
    monkeypatch.setattr("twinwl.isomorphism.rooted._BLOCK_ENTRIES", 100)
    for one, other in zip(at_once, values_by_round(cycle, names, 4), strict=True):
        for values, in_blocks in zip(one, other, strict=True):
            assert np.array_equal(values, in_blocks)


@pytest.mark.parametrize("name", ["wl", "rooted-wl", "rooted-fwl2", "marked-wl-2"])
def test_pieces_and_threads_leave_no_trace(monkeypatch, name):
    random = np.random.default_rng(0)
    edges = [(int(a), int(b)) for a, b in random.integers(0, 40, (70, 2)) if a != b]
    batch = GraphBatch.from_edges([[(node, node + 1) for node in range(30)], sorted(set(edges))])
    at_once = values_by_round(batch, name, 3)
    monkeypatch.setenv("TWINWL_NUM_THREADS", "2")
    monkeypatch.setattr("twinwl.refinement.colours.STEPS_PER_PIECE", 5000)
    for (values,), (in_pieces,) in zip(at_once, values_by_round(batch, name, 3), strict=True):
        assert np.array_equal(values, in_pieces)


def test_only_subgraphs_that_grew_are_read_out_again():
    calls = []
    values_by_round(PATH[0], lambda rooted: calls.append(rooted.root), 5)
    assert sorted(calls) == [0, 0, 1, 1]


def test_a_hexagon_and_k33_differ_though_both_are_stable_at_once():
    hexagon = [(node, (node + 1) % 6) for node in range(6)]
    bipartite = [(u, v) for u in range(3) for v in range(3, 6)]
    batch = GraphBatch.from_edges([hexagon, bipartite])
    values = values_by_round(batch, "wl", 3)[3][0]
    assert len(np.unique(values[:6], axis=0)) == len(np.unique(values[6:], axis=0)) == 1
    assert not np.array_equal(values[0], values[6])


def test_an_unknown_name_is_refused_with_the_nearest_known():
    with pytest.raises(TwinWLError, match=r"got 'rooted_wl', .*did you mean 'rooted-wl'\?"):
        resolve("rooted_wl")


@pytest.mark.parametrize("choice", [[], None, 3, ["size", 4]])
def test_what_is_no_readout_is_refused(choice):
    with pytest.raises(TwinWLError, match="readout: got"):
        resolve(choice)


def test_a_function_that_raises_is_told_with_graph_and_root():
    def fails_in_the_middle_of_a_path(rooted):
        return 1 // (len(rooted) - 3)

    with pytest.raises(
        ReadoutError, match=r"graph 1, root 1: .*fails_in.* raised ZeroDivisionError"
    ) as caught:
        values_by_round(PATH, fails_in_the_middle_of_a_path, 1)
    assert (caught.value.graph, caught.value.root) == (1, 1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("value", "why"), [([1], "not hashable"), ({}, "not hashable"), (np.nan, "equal itself")]
)
def test_a_value_that_cannot_be_counted_is_told_with_graph_and_root(value, why):
    with pytest.raises(ReadoutError, match=f"graph 0, root 0: .*{why}"):
        values_by_round(PATH, lambda _: value, 0)


def test_a_function_that_depends_on_the_numbers_of_nodes_is_refused():
    with pytest.raises(ReadoutError, match=r"graph 0, root 1: .* returned 1, and 0 for its copy at graph 0"):
        values_by_round(PATH, lambda rooted: rooted.root, 1)


def test_a_function_is_called_at_most_twice_for_equal_rooted_subgraphs(monkeypatch):
    cycles = GraphBatch.from_edges([[(node, (node + 1) % n) for node in range(n)] for n in (50, 60)])
    calls = []
    values_by_round(cycles, lambda rooted: calls.append(rooted.root), 3)
    assert len(calls) == 2 * 4
    monkeypatch.setattr("twinwl.isomorphism.rooted._BLOCK_ENTRIES", 100)
    calls.clear()
    at_each = values_by_round(cycles, len, 3)
    assert [set(values) for (values,) in at_each] == [{1}, {3}, {5}, {7}]
