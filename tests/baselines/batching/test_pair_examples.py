import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError, from_networkx

pytest.importorskip("torch", reason="needs PyTorch")
from tests.baselines.rows import row
from twinwl.baselines.higher_order import diagonal_rows, pair_examples, paths_of


def one_hot(batch):
    return np.eye(max(1, len(batch.node_vocabulary)), dtype=np.float32)[batch.node_labels]


def assert_same_partition(first, second):
    assert len(first) == len(second)
    assert len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second))


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_colours_are_those_of_folklore_2wl(directed, data):
    batch = data.draw(batches(edge_label=False, max_nodes=6, directed=directed))
    levels = pair_examples(batch, one_hot(batch), rounds=3).levels
    for number, by_graph in enumerate(naive.pair_colours(naive.from_batch(batch), 3)):
        wanted = [colour for of_graph in by_graph for colour in of_graph.values()]
        assert_same_partition(levels.colours(number).tolist(), wanted)


def test_2wl_tells_apart_what_1wl_does_not_and_not_what_3wl_does_not():
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    rook = nx.line_graph(nx.complete_bipartite_graph(4, 4))
    moves = [(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)]
    shrikhande = nx.Graph(
        ((a, b), ((a + c) % 4, (b + d) % 4)) for a in range(4) for b in range(4) for c, d in moves
    )
    batch = from_networkx([hexagon, triangles, rook, shrikhande])
    examples = pair_examples(batch, np.ones((batch.n_nodes, 1), np.float32), rounds=3)
    ptr, colours = examples.levels.level_of_all(3).graph_ptr, examples.levels.colours(3)
    first, second, third, fourth = (np.sort(colours[ptr[n] : ptr[n + 1]]).tolist() for n in range(4))
    assert not set(first) & set(second)
    assert third == fourth


@given(batch=batches(edge_label=False, max_nodes=6), data=st.data())
def test_a_part_holds_the_pairs_of_its_graphs(batch, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=5)))
    columns = 1 + np.arange(batch.n_nodes, dtype=np.float32)[:, None] % 3
    x, levels = pair_examples(batch, columns, rounds=2).part(rows)
    inputs = [
        [float(v in graph.neighbours[u]), float(columns[batch.graph_ptr[row] + u, 0]) if u == v else 0.0]
        for row, graph in zip(rows, naive.from_batch(batch[rows]), strict=True)
        for u in range(graph.n)
        for v in range(graph.n)
    ]
    assert x[levels.level(0).row_of_item].tolist() == inputs


@given(batch=batches(edge_label=False, max_nodes=6), data=st.data())
def test_paths_of_a_row_go_through_each_node(batch, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=5)))
    levels = pair_examples(batch, one_hot(batch), rounds=2).part(rows).levels
    sizes = batch.nodes_per_graph[rows].tolist()
    pairs = [(place, u, v) for place, n in enumerate(sizes) for u in range(n) for v in range(n)]
    for number in (1, 2):
        row_of_pair = levels.level(number).row_of_item.tolist()
        below = dict(zip(pairs, levels.level(number - 1).row_of_item.tolist(), strict=True))
        found, left, right, n_nodes = paths_of(levels, number)
        on_diagonal = diagonal_rows(levels, number)
        for index in range(len(left)):
            place, u, v = pairs[row_of_pair.index(index)]
            n = sizes[place]
            assert n_nodes[index] == n
            assert on_diagonal[index] == (u == v)
            assert found[left[index] + np.arange(n)].tolist() == [below[place, u, w] for w in range(n)]
            assert found[right[index] + n * np.arange(n)].tolist() == [below[place, w, v] for w in range(n)]


def test_nodes_without_columns_are_not_taken_for_pairs_without_an_arc():
    batch = GraphBatch.from_edges([[]], num_nodes=[2])
    x, levels = pair_examples(batch, np.zeros((2, 1), np.float32), rounds=1).part(np.array([0]))
    assert x.tolist() == [[0, 0], [0, 0]]
    assert diagonal_rows(levels, 1).tolist() == [True, False]


def test_pairs_of_all_graphs_count():
    batch = GraphBatch.from_edges([[(0, 1)]] * 1000)
    model = row("ppgn", hidden=1, batch_size=1, max_memory=1 << 20)
    model._fit_examples(batch)
    with pytest.raises(TwinWLError, match=r"PPGN on 1,000 graphs with 4,000 pairs of nodes needs about"):
        model.set_params(max_memory=1 << 18)._fit_examples(batch)
