import networkx as nx
import pytest
from hypothesis import given

from tests.stwin.test_features import batches
from twinwl import GraphBatch, STwinVectorizer, TwinWLError
from twinwl.models.explanation import tree_of_colour
from twinwl.refinement.colours import refine


def unfolded(graph, node, depth):
    """The paper's tree as nested tuples, straight from the graph: label and the sorted subtrees."""
    label = repr(graph.labels_of_nodes()[node])
    if depth == 0:
        return label, ()
    below = []
    for place in range(graph.indptr[node], graph.indptr[node + 1]):
        edge = None if graph.edge_labels is None else graph.edge_vocabulary[graph.edge_labels[place]]
        below.append(
            (repr(edge), "to" if graph.directed else "", unfolded(graph, graph.indices[place], depth - 1))
        )
    if graph.directed:
        sources, targets = graph.arcs()
        for place in range(len(targets)):
            if targets[place] == node:
                edge = None if graph.edge_labels is None else graph.edge_vocabulary[graph.edge_labels[place]]
                below.append((repr(edge), "from", unfolded(graph, sources[place], depth - 1)))
    return label, tuple(sorted(below))


def nested(tree):
    below = [
        (repr(branch.edge_label), branch.direction, nested(branch.tree))
        for branch in tree.branches
        for _ in range(branch.count)
    ]
    return repr(tree.label), tuple(sorted(below))


@given(batch=batches())
def test_a_colour_unfolds_to_what_its_nodes_see(batch):
    colours, alphabet = refine(batch, 2, edge_labels=True)
    graph = batch[0]
    for node in range(graph.n_nodes):
        for h in range(3):
            tree = tree_of_colour(alphabet, h, int(colours[h, node]))
            assert nested(tree) == unfolded(graph, node, h)
            assert tree.depth == h
            assert tree.n_nodes == len(tree.to_networkx())


def test_text_draws_branches_with_edge_labels_and_merges_equal_ones():
    acid = GraphBatch.from_edges(
        [[(0, 1), (0, 2), (0, 3)]], [["C", "O", "O", "H"]], edge_labels=[["=", "-", "-"]]
    )
    vectorizer = STwinVectorizer(1, edge_labels=True).fit(acid)
    assert str(vectorizer.explain_column(3)) == "C\n├─ [-] H\n├─ [-] O\n└─ [=] O"
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 4)]])
    assert str(STwinVectorizer(2).fit(star).explain_column(3)) == "•\n└─ 3 × •\n   └─ •"


def test_joint_columns_tell_the_size():
    vectorizer = STwinVectorizer(1, "joint").fit([[(0, 1), (1, 2)]])
    assert str(vectorizer.explain_column(2)).startswith("•   (rooted size 3, radius 1)")


def test_networkx_tree_leads_away_from_the_root():
    path = STwinVectorizer(2).fit([[(0, 1), (1, 2)]])
    tree = path.explain_column(3).to_networkx()
    assert nx.is_arborescence(tree)
    assert tree.in_degree(0) == 0
    assert {data["depth"] for _, data in tree.nodes(data=True)} == {0, 1, 2}


def test_huge_trees_stay_small_and_short():
    dense = GraphBatch.from_networkx([nx.complete_graph(30)])
    tree = STwinVectorizer(12).fit(dense).explain_column(12)
    assert tree.n_nodes > 29**12
    assert len(str(tree).splitlines()) <= 60
    with pytest.raises(TwinWLError, match="more than 10,000"):
        tree.to_networkx()
    long_path = GraphBatch.from_edges([[(i, i + 1) for i in range(2500)]])
    vectorizer = STwinVectorizer(None).fit(long_path)
    assert str(vectorizer.explain_column(vectorizer.n_features_out_ - 1)).endswith("nodes in all)")


@pytest.mark.parametrize("column", [-1, 3, 1.0, True, "h0:c0"])
def test_columns_that_are_not_there_are_refused(column):
    with pytest.raises(TwinWLError, match="expected an integer from 0 to 2"):
        STwinVectorizer(1).fit([[(0, 1), (1, 2)]]).explain_column(column)
