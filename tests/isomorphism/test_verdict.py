import networkx as nx

import twinwl as tw
from tests.isomorphism.known_graphs import two_triangles
from twinwl import GraphBatch


def test_identities_are_named_when_they_tell():
    text = str(tw.compare(nx.cycle_graph(6), two_triangles()))
    assert text == (
        "Different: told apart in round 2 by identities (readout 'size'); the colours alone agree there.\n"
        "Colour 0 with size 5: in the first graph 6 nodes (0, 1, 2, 3, 4, 5), in the second none."
    )


def test_colours_are_named_when_they_suffice():
    text = str(tw.compare(nx.path_graph(4), nx.star_graph(3)))
    assert text.startswith(
        "Different: told apart in round 1 by colours alone, as 1-WL does.\nColour 0: in the"
    )


def test_a_label_is_shown_where_labels_differ():
    one, other = (
        GraphBatch.from_edges([[(0, 1)]], node_labels=[labels]) for labels in (["C", "O"], ["C", "N"])
    )
    assert "Label 'O': in the first graph 1 node (1), in the second none." in str(tw.compare(one, other))


def test_long_lists_of_nodes_are_cut():
    assert "100 nodes (0, 1, 2, 3, 4, 5, 6, 7, …)" in str(tw.compare(nx.path_graph(100), nx.path_graph(99)))


def test_agreement_is_no_proof_except_with_canonical_forms():
    path = nx.path_graph(4)
    assert str(tw.compare(path, path)).endswith("in any round (0 to 3): the graphs may be isomorphic.")
    assert str(tw.compare(path, path, readout="canonical")).endswith("the graphs are isomorphic.")


def test_directed_graphs_are_never_called_isomorphic():
    arc = nx.DiGraph([(0, 1)])
    assert "may be isomorphic" in str(tw.compare(arc, arc, readout="canonical"))
