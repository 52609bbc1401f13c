from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import GraphBatch, load_dataset
from twinwl.isomorphism.canonical import canonical
from twinwl.isomorphism.grouping import Groups
from twinwl.isomorphism.rooted import Neighbourhoods
from twinwl.refinement.identities import rooted_sizes

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2], max_graphs=4, max_nodes=7)
)


def groups_and_certificates(batch, n_iter):
    """Return the group and the canonical certificate of every rooted subgraph of every round."""
    groups, source, found = Groups(), Neighbourhoods(batch), []
    for h, sizes in enumerate(rooted_sizes(batch, n_iter)):
        for block in source.blocks(np.arange(batch.n_nodes), h, sizes):
            found += zip(groups.of_block(block).tolist(), canonical(block), strict=True)
    return found


@given(batch=any_batches)
def test_subgraphs_of_one_group_are_isomorphic(batch):
    pairs = set(groups_and_certificates(batch, 3))
    assert len(pairs) == len({group for group, _ in pairs})


def test_all_isomorphic_trees_and_rings_are_in_one_group():
    random = np.random.default_rng(0)
    trees = [[(node, int(random.integers(node))) for node in range(1, 12)] for _ in range(40)]
    rings = [[(node, (node + 1) % n) for node in range(n)] for n in (4, 5, 6)]
    pairs = set(groups_and_certificates(GraphBatch.from_edges(trees + rings), 3))
    assert len(pairs) == len({certificate for _, certificate in pairs})


@pytest.mark.parametrize("edge_labels", [True, False])
def test_molecules_have_few_groups_more_than_certificates(tu_zip, edge_labels):
    graphs = load_dataset(tu_zip("MUTAG")).graphs
    batch = graphs if edge_labels else graphs.without_edge_labels()
    pairs = set(groups_and_certificates(batch, 3))
    groups_of = Counter(certificate for _, certificate in pairs)
    assert len(pairs) < 1.02 * len(groups_of)


@pytest.mark.slow
def test_the_page_on_readouts_counts_the_subgraphs_of_nci1(tu_zip):
    graphs = load_dataset(tu_zip("NCI1")).graphs
    sizes = rooted_sizes(graphs, 2)[2]
    groups = Groups()
    blocks = list(Neighbourhoods(graphs).blocks(np.arange(graphs.n_nodes), 2, sizes))
    certificate_of_group = {}
    for block in blocks:
        numbers, first = np.unique(groups.of_block(block), return_index=True)
        certificate_of_group |= dict(zip(numbers.tolist(), canonical(block.at(first)), strict=True))
    ways = Counter(Counter(certificate_of_group.values()).values())
    page = (Path(__file__).parents[2] / "docs" / "readouts.md").read_text(encoding="utf-8")
    assert ways == {1: 5782, 2: 3}
    assert "are 5,785 different\ngraphs, of which three are written in two ways: 5,788 are read" in page


def test_copies_of_a_hub_with_neighbours_of_all_kinds_are_in_one_group():
    labels = [["hub", *range(40)], ["hub", *reversed(range(40))]]
    hubs = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 41)]] * 2, labels)
    (block,) = Neighbourhoods(hubs).blocks(np.array([0, 41]), 1, np.array([41, 41], np.int32))
    assert Groups().of_block(block).tolist() == [0, 0]
