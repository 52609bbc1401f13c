"""The oracle itself, checked by hand: everything else is checked against it."""

from __future__ import annotations

import networkx as nx
import pytest

from tests import naive
from twinwl.datasets.generators import worked_example
from twinwl.graphs.batch import GraphBatch

LADDER = naive.from_edges(6, [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5)])
TWO_TRIANGLES = naive.from_edges(6, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])
PATH = naive.from_edges(4, [(0, 1), (1, 2), (2, 3)])


def vector(features):
    """The values of a feature dictionary, ordered by round and colour."""
    return tuple(features[key] for key in sorted(features))


def size(rooted):
    return rooted.graph.n


def nothing(_rooted):
    return None


@pytest.mark.parametrize("initial", ["label", "degree"])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("count", [(4, 2, 4, 2, 4, 2), (4, 2, 4, 2, 4, 2)]),
        ("size", [(4, 2, 12, 8, 20, 12), (4, 2, 12, 8, 16, 12)]),
    ],
)
def test_worked_example_gives_the_vectors_of_the_paper(initial, kind, expected):
    graphs = naive.from_batch(worked_example())
    assert [vector(part) for part in naive.features(graphs, 2, kind, initial=initial)] == expected


def test_worked_example_gives_the_identity_sets_of_the_paper():
    assert naive.identity_sets(LADDER, 2)[0] == {0, 1, 2, 3, 4}
    assert naive.identity_sets(TWO_TRIANGLES, 2)[0] == {0, 1, 2, 3}
    assert naive.rooted_sizes(TWO_TRIANGLES, 2)[2] == [4, 4, 6, 6, 4, 4]


def test_joint_features_count_nodes_by_colour_and_size():
    star = naive.from_edges(4, [(0, 1), (0, 2), (2, 3)])
    # Colours of round 1: the ends of the path 1-0-2-3 share one, its middle the other.
    assert naive.features([star], 1, "joint") == [{(0, 0, 1): 4, (1, 0, 3): 2, (1, 1, 2): 2}]


def test_colours_are_numbered_by_first_occurrence_in_all_graphs_together():
    assert naive.colours([PATH, LADDER], 1)[1] == [[0, 1, 1, 0], [1, 1, 2, 2, 1, 1]]


def test_colours_until_stable_end_with_the_first_stable_round():
    assert len(naive.colours([PATH], None)) == 2
    assert len(naive.colours([naive.from_edges(3, [(0, 1), (1, 2), (2, 0)])], None)) == 1
    # A hexagon and K3,3 are each stable at once on their own; together they need a round.
    hexagon = naive.from_edges(6, [(node, (node + 1) % 6) for node in range(6)])
    bipartite = naive.from_edges(6, [(u, v) for u in range(3) for v in range(3, 6)])
    assert naive.colours([hexagon, bipartite], None) == [[[0] * 6, [0] * 6], [[0] * 6, [1] * 6]]


def test_labels_of_different_kinds_are_different():
    graph = naive.from_edges(5, [], labels=[1, True, 1.0, "1", b"1"])
    assert naive.colours([graph], 0) == [[[0, 1, 2, 3, 4]]]


def test_edge_labels_do_not_run_together():
    first = naive.from_edges(3, [(0, 1), (0, 2)], edge_labels=["1", "111"])
    second = naive.from_edges(3, [(0, 1), (0, 2)], edge_labels=["11", "11"])
    plain = naive.colours([first, second], 1)[1]
    labelled = naive.colours([first, second], 1, edge_labels=True)[1]
    assert plain[0] == plain[1]
    assert labelled == [[0, 1, 2], [3, 4, 4]]


def test_directed_signature_tells_out_from_in():
    arc = naive.from_edges(2, [(0, 1)], directed=True)
    assert naive.colours([arc], 1)[1] == [[0, 1]]
    # 0 -> 1 -> 2 beside 0 <- 1, 1 <- 2 reversed: the middle looks the same, the ends swap.
    chain = naive.from_edges(3, [(0, 1), (1, 2)], directed=True)
    reverse = naive.from_edges(3, [(1, 0), (2, 1)], directed=True)
    assert naive.colours([chain, reverse], 1)[1] == [[0, 1, 2], [2, 1, 0]]


def test_directed_identity_sets_follow_the_arcs():
    chain = naive.from_edges(3, [(0, 1), (1, 2)], directed=True)
    assert naive.identity_sets(chain, 2) == [{0, 1, 2}, {1, 2}, {2}]
    assert naive.diameter(chain) == 2


def test_unseen_signature_is_minus_one_and_spreads():
    train = naive.from_edges(3, [(0, 1), (1, 2)])
    # Its centre has three neighbours, which no node of the path has.
    test = naive.from_edges(5, [(0, 1), (0, 2), (0, 3), (3, 4)])
    assert naive.frozen_colours([train], [test], 2) == [
        [[0, 0, 0, 0, 0]],
        [[-1, 0, 0, 1, 0]],
        [[-1, -1, -1, -1, 0]],
    ]


def test_frozen_colours_of_the_training_graphs_are_their_colours():
    graphs = [PATH, LADDER, TWO_TRIANGLES]
    assert naive.frozen_colours(graphs, graphs, 3) == naive.colours(graphs, 3)


def test_unseen_label_is_minus_one():
    train = naive.from_edges(2, [(0, 1)], labels=["C", "C"])
    test = naive.from_edges(2, [(0, 1)], labels=["C", "N"])
    assert naive.frozen_colours([train], [test], 1) == [[[0, -1]], [[-1, -1]]]


def test_rooted_subgraph_is_induced():
    # The depth-1 identity tree of a triangle never walks the far edge; the induced subgraph has it.
    triangle = naive.from_edges(3, [(0, 1), (1, 2), (2, 0)], labels="abc", edge_labels=[1, 2, 3])
    rooted = naive.rooted_subgraph(triangle, 1, 1)
    assert rooted.members == [0, 1, 2]
    assert rooted.root == 1
    assert sum(map(len, rooted.graph.neighbours.values())) == 6
    leaf = naive.rooted_subgraph(PATH, 3, 1)
    assert (leaf.members, leaf.root, leaf.graph.neighbours) == ([2, 3], 1, {0: [1], 1: [0]})


def test_twin_test_on_the_worked_example():
    assert naive.twin_test(LADDER, TWO_TRIANGLES, size) == 2
    assert naive.twin_test(LADDER, TWO_TRIANGLES, size, max_h=1) is None
    assert naive.twin_test(LADDER, TWO_TRIANGLES, nothing) is None
    assert naive.twin_test(LADDER, LADDER, size) is None


def test_twin_test_goes_on_until_no_identity_set_grows():
    # One ring of 14 and two of 7: colours are stable at once, sizes differ only from round 4 on.
    ring = naive.from_edges(14, [(node, (node + 1) % 14) for node in range(14)])
    rings = naive.from_edges(
        14, [(start + node, start + (node + 1) % 7) for start in (0, 7) for node in range(7)]
    )
    assert naive.twin_test(ring, rings, nothing) is None
    assert naive.twin_test(ring, rings, size) == 4


def test_twin_test_sees_the_number_of_nodes_at_once():
    assert naive.twin_test(PATH, LADDER, nothing) == 0


def test_diameter_is_the_largest_finite_distance():
    assert naive.diameter(PATH) == 3
    assert naive.diameter(naive.from_edges(5, [(0, 1), (1, 2)])) == 2
    assert naive.diameter(naive.from_edges(0, [])) == 0


def test_conversion_from_a_batch_keeps_everything():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [], [(1, 0)]],
        node_labels=[["C", "C", "O"], ["N"], ["O", "N"]],
        edge_labels=[[1, 2], [], [2]],
    )
    assert naive.from_batch(batch) == [
        naive.from_edges(3, [(0, 1), (1, 2)], ["C", "C", "O"], [1, 2]),
        naive.from_edges(1, [], ["N"], []),
        naive.from_edges(2, [(0, 1)], ["O", "N"], [2]),
    ]
    arcs = GraphBatch.from_edges([[(1, 0)]], directed=True)
    assert naive.from_batch(arcs) == [naive.from_edges(2, [(1, 0)], directed=True)]


@pytest.mark.filterwarnings(
    "ignore:The hashes produced"
)  # networkx announces a change that does not matter here
def test_colours_agree_with_networkx_on_small_graphs():
    # A second opinion: networkx' subtree hashes partition the nodes of a graph as the oracle does.
    for graph in nx.graph_atlas_g()[1:200:7]:
        edges = list(graph.edges)
        mine = naive.colours([naive.from_edges(len(graph), edges)], 2)[2][0]
        theirs = nx.weisfeiler_lehman_subgraph_hashes(graph, iterations=2)
        hashes = [theirs[node][1] for node in graph.nodes]
        assert len(set(mine)) == len(set(hashes)) == len(set(zip(mine, hashes, strict=True)))
