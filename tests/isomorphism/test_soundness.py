"""No readout ever tells isomorphic graphs apart: the whole atlas of graphs of up to seven nodes."""

import networkx as nx
import numpy as np
import pytest

import twinwl as tw
from tests.isomorphism.relabelling import relabelled
from twinwl.isomorphism.readouts import READOUTS


@pytest.fixture(scope="module")
def atlas():
    return tw.GraphBatch.from_networkx(nx.graph_atlas_g())


@pytest.fixture(scope="module")
def copies(atlas):
    return relabelled(atlas, np.random.default_rng(0))


def test_no_readout_tells_an_atlas_graph_from_its_copy(atlas, copies):
    distinguished = [
        index
        for index, (graph, copy) in enumerate(zip(atlas, copies, strict=True))
        if tw.compare(graph, copy, readout=list(READOUTS)).distinguished
    ]
    assert len(atlas) == 1253
    assert distinguished == []


@pytest.mark.parametrize("name", READOUTS)
def test_an_atlas_graph_and_its_copy_have_equal_hashes(atlas, copies, name):
    assert tw.graph_hashes(atlas, "stable", name) == tw.graph_hashes(copies, "stable", name)


@pytest.mark.parametrize(("name", "n_alike"), [("size", 26 - 10), ("edges", 0), ("canonical", 0)])
def test_pairs_of_atlas_graphs_that_a_readout_leaves_alike(atlas, name, n_alike):
    _, counts = np.unique(tw.graph_hashes(atlas, "stable", name), return_counts=True)
    assert (counts * (counts - 1) // 2).sum() == n_alike
