from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest

from twinwl.datasets.generators import worked_example
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.comparison import compare
from twinwl.report.compare import caption, rounds_of_pair, verdict_of


def told(first, second, **options):
    pair = GraphBatch.from_networkx([first, second], node_label=options.pop("label", None))
    return verdict_of(pair, compare(pair[0], pair[1], **options))


def test_twin_verdict_says_what_each_side_reaches_and_that_1_wl_fails():
    pair = worked_example()
    verdict = verdict_of(pair, compare(pair[0], pair[1]))
    assert verdict[0] == "Different: Twin-WL tells them apart in round 2"
    assert verdict[1].endswith("each reach 5 nodes in A, but 4 in B.")
    assert "1-WL alone never" in verdict[2]


def test_different_sizes_are_said_first():
    verdict = told(nx.path_graph(3), nx.path_graph(4))
    assert verdict[0] == "Different: they differ in size"
    assert verdict[1:] == ["A has 3 nodes and B has 4 nodes."]


def test_different_labels():
    graphs = [nx.path_graph(2), nx.path_graph(2)]
    nx.set_node_attributes(graphs[0], {0: "C", 1: "C"}, "l")
    nx.set_node_attributes(graphs[1], {0: "C", 1: "O"}, "l")
    verdict = told(*graphs, label="l")
    assert verdict[0] == "Different: their labels already differ"
    assert verdict[1] in {
        "The label 'C' occurs twice in A and once in B.",
        "The label 'O' occurs never in A and once in B.",
    }


def test_1_wl_suffices():
    verdict = told(nx.path_graph(4), nx.star_graph(3))
    assert verdict[0] == "Different: 1-WL tells them apart in round 1"


def test_agreement_is_no_proof_unless_canonical_ran_to_the_end():
    twice = [nx.cycle_graph(5)] * 2
    honest = told(*twice)
    assert honest[0] == "Not told apart"
    assert "does not prove" in honest[2]
    exact = told(*twice, readout="canonical")
    assert "isomorphic" in exact[0]
    short = told(*twice, readout="canonical", n_iter=1)
    assert short[0] == "Not told apart up to round 1"
    assert "does not prove" in short[2]


def test_directed_agreement_is_never_called_a_proof():
    arcs = nx.DiGraph([(0, 1), (1, 2)])
    pair = GraphBatch.from_networkx([arcs, arcs])
    comparison = compare(pair[0], pair[1], readout="canonical")
    assert not comparison.proves_isomorphism
    assert "does not prove" in verdict_of(pair, comparison)[2]


@pytest.mark.parametrize("readout", ["size", "canonical"])
def test_ignored_features_are_said_and_nothing_is_proved(readout):
    pair = GraphBatch.from_edges([[(0, 1)]] * 2, node_features=[[[0.0], [0.0]], [[0.0], [1.0]]])
    comparison = compare(pair[0], pair[1], readout, ignore_features=True)
    verdict = verdict_of(pair.without_features(), comparison)
    assert "The same" not in verdict[0]
    assert "features were not compared" in " ".join(verdict) or (
        verdict[0] == "Isomorphic when node features are ignored"
    )


@pytest.fixture
def rook_and_shrikhande():
    rook = nx.line_graph(nx.complete_bipartite_graph(4, 4))
    shrikhande = nx.Graph()
    for i in range(4):
        for j in range(4):
            for a, b in ((0, 1), (1, 0), (1, 1)):
                shrikhande.add_edge((i, j), ((i + a) % 4, (j + b) % 4))
    return GraphBatch.from_networkx([rook, shrikhande])


def test_a_stronger_readout_is_named_and_its_witnesses_are_marked(rook_and_shrikhande):
    pair = rook_and_shrikhande
    comparison = compare(pair[0], pair[1], readout="canonical")
    verdict = verdict_of(pair, comparison)
    assert "readout canonical" in verdict[0]
    assert "rooted sizes alone do not differ" in verdict[1]
    found = rounds_of_pair(pair, comparison.iteration)[comparison.iteration]
    assert found.difference == ""
    marked = replace(found, by_readout=True)
    assert marked.difference == "readout"
    assert caption(comparison.iteration, marked, comparison)[0] == "The readout canonical differs."


def test_captions_follow_the_rounds():
    pair = worked_example()
    comparison = compare(pair[0], pair[1])
    words = [caption(h, found, comparison)[0] for h, found in enumerate(rounds_of_pair(pair, 3))]
    assert words == ["No difference yet.", "No difference yet.", "Rooted sizes differ.", "No difference."]
