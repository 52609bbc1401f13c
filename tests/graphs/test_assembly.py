from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.arguments import MAX_ITEMS, graph_of_node
from twinwl.errors import GraphInputError, TwinWLWarning, held_warnings
from twinwl.graphs.building import assemble

arcs = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
    )
)


def _assemble(n, pairs, codes=None, **options):
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    codes = None if codes is None else np.array(codes, np.int32)
    return assemble(np.array([0, n]), flat[:, 0], flat[:, 1], codes, **options)


def _neighbours(adjacency):
    return [part.tolist() for part in np.split(adjacency.indices, adjacency.indptr[1:-1])]


@given(arcs, st.booleans())
def test_equals_sets_of_neighbours(drawn, directed):
    n, pairs = drawn
    expected = [set() for _ in range(n)]
    for u, v in pairs:
        if u != v:
            expected[u].add(v)
            if not directed:
                expected[v].add(u)
    with held_warnings() as messages:
        adjacency = _assemble(n, pairs, directed=directed)
    assert _neighbours(adjacency) == [sorted(part) for part in expected]
    plain = [pair for pair in pairs if pair[0] != pair[1]]
    n_loops, n_parallel = len(pairs) - len(plain), len(plain) - len(set(plain))
    counted = f"dropped {n_loops} self-loops and merged {n_parallel} repeated edges"
    assert messages == ([counted] if n_loops or n_parallel else [])


@given(arcs)
def test_one_way_arc_is_found(drawn):
    n, pairs = drawn
    lonely = {(u, v) for u, v in pairs if u != v and (v, u) not in pairs}
    messages = {f"graph 0: {arc} is there but {arc[::-1]} is not; add it" for arc in lonely}
    with pytest.raises(GraphInputError) if lonely else nullcontext() as caught:
        _assemble(n, pairs, warn=False, one_way_remedy="add it")
    assert not lonely or str(caught.value) in messages


def test_many_neighbours_are_sorted_with_their_labels():
    rng = np.random.default_rng(0)
    leaves = rng.permutation(np.arange(1, 500))
    adjacency = _assemble(500, [(0, leaf) for leaf in leaves], codes=leaves)
    assert adjacency.indices[: adjacency.indptr[1]].tolist() == list(range(1, 500))
    assert adjacency.edge_labels[: adjacency.indptr[1]].tolist() == list(range(1, 500))


def test_naming_an_edge_from_both_ends_is_no_repetition():
    with held_warnings() as messages:
        _assemble(2, [(0, 1), (1, 0)])
    assert not messages


def test_one_warning_counts_loops_and_repetitions():
    with pytest.warns(TwinWLWarning) as caught:
        _assemble(3, [(0, 0), (0, 1), (0, 1), (1, 0), (1, 2), (1, 2), (1, 2)])
    assert [str(warning.message) for warning in caught] == [
        "dropped 1 self-loops and merged 3 repeated edges"
    ]


@pytest.mark.parametrize("pairs", [[(0, 1), (0, 1)], [(0, 1), (1, 0)]])
def test_one_edge_with_two_labels_is_refused(pairs):
    with pytest.raises(GraphInputError, match=r"graph 0: edge \(0, 1\) is given twice with different labels"):
        _assemble(2, pairs, codes=[3, 4])


def test_arcs_of_a_directed_graph_may_differ_in_label():
    adjacency = _assemble(2, [(0, 1), (1, 0)], codes=[3, 4], directed=True)
    assert adjacency.edge_labels.tolist() == [3, 4]


def test_too_many_nodes_are_refused_before_memory_is_taken():
    with pytest.raises(GraphInputError, match="split the batch"):
        assemble(np.array([0, MAX_ITEMS + 1]), np.empty(0, np.int64), np.empty(0, np.int64))


def test_graph_of_node_skips_empty_graphs():
    graph_ptr = np.array([0, 0, 2, 2, 3])
    assert [graph_of_node(graph_ptr, node) for node in range(3)] == [1, 1, 3]
