"""No readout ever tells isomorphic graphs apart: the atlas of graphs of up to seven nodes, and hard families.

``TWINWL_EXHAUSTIVE=1`` makes 100,000 trials of these families instead of a few thousand.
"""

import os
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import twinwl as tw
from tests.isomorphism.known_graphs import rook, shrikhande
from tests.isomorphism.relabelling import relabelled
from twinwl.datasets.generators import cfi_pair
from twinwl.graphs.batch import concatenate
from twinwl.graphs.batch import renumbered as shuffled
from twinwl.isomorphism.readouts import READOUTS

N_COPIES = 5_000 if os.environ.get("TWINWL_EXHAUSTIVE") else 100


def from_networkx(graphs):
    return tw.GraphBatch.from_networkx([nx.convert_node_labels_to_integers(graph) for graph in graphs])


def labelled(graphs, *, directed=False):
    random = np.random.default_rng(2)
    edges = [list(graph.edges) for graph in graphs]
    return tw.GraphBatch.from_edges(
        edges,
        node_labels=[random.choice(["a", "b"], len(graph)).tolist() for graph in graphs],
        edge_labels=[random.integers(0, 2, len(pairs)).tolist() for pairs in edges],
        directed=directed,
    )


FAMILIES = {
    "random": lambda: from_networkx(nx.gnp_random_graph(9, 0.35, seed=seed) for seed in range(4)),
    "regular": lambda: from_networkx(nx.random_regular_graph(3, 10, seed=seed) for seed in range(4)),
    "strongly regular": lambda: from_networkx([rook(), shrikhande(), nx.paley_graph(13).to_undirected()]),
    "cfi": lambda: cfi_pair(nx.complete_graph(4)),
    "labelled": lambda: labelled([nx.gnp_random_graph(9, 0.3, seed=seed) for seed in range(4)]),
    "directed": lambda: labelled(
        [nx.gnp_random_graph(8, 0.25, seed=seed, directed=True) for seed in range(4)], directed=True
    ),
}


@pytest.fixture(scope="module")
def atlas():
    return tw.GraphBatch.from_networkx(nx.graph_atlas_g())


@pytest.fixture(scope="module")
def copies(atlas):
    return relabelled(atlas, np.random.default_rng(0))


@pytest.mark.slow
def test_no_readout_tells_an_atlas_graph_from_its_copy(atlas, copies):
    distinguished = [
        index
        for index, (graph, copy) in enumerate(zip(atlas[::4], copies[::4], strict=True))
        if tw.compare(graph, copy, readout=list(READOUTS)).distinguished
    ]
    assert distinguished == []


@pytest.mark.parametrize("n_graphs", [209, pytest.param(1253, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", READOUTS)
def test_an_atlas_graph_and_its_copy_have_equal_hashes(atlas, copies, name, n_graphs):
    """The first 209 have up to six nodes."""
    assert len(atlas) == 1253
    hashes, again = (tw.graph_hashes(graphs[:n_graphs], "stable", name) for graphs in (atlas, copies))
    assert hashes == again


@pytest.mark.parametrize(("name", "n_alike"), [("size", 26 - 10), ("edges", 0), ("canonical", 0)])
def test_pairs_of_atlas_graphs_that_a_readout_leaves_alike(atlas, name, n_alike):
    _, counts = np.unique(tw.graph_hashes(atlas, "stable", name), return_counts=True)
    assert (counts * (counts - 1) // 2).sum() == n_alike


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", READOUTS)
def test_shuffled_copies_have_the_hash_of_their_graph(name, family, monkeypatch):
    """Each copy is read out itself, even where it is found to be equal to another one."""
    monkeypatch.setitem(READOUTS, name, replace(READOUTS[name], is_cheap=True))
    graphs = FAMILIES[family]()
    n_copies = N_COPIES // (3 * len(graphs))
    copies = shuffled(concatenate([graphs] * n_copies), np.random.default_rng(3))
    assert tw.graph_hashes(copies, None, name) == tw.graph_hashes(graphs, None, name) * n_copies
