from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import GraphBatch, load_dataset
from twinwl.isomorphism.readouts import canonical
from twinwl.isomorphism.rooted import Groups, RootedSource
from twinwl.refinement.identities import rooted_sizes

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2], max_graphs=4, max_nodes=7)
)


def groups_and_certificates(batch, n_iter):
    """Return the group and the canonical certificate of every rooted subgraph of every round."""
    groups, source, found = Groups(), RootedSource(batch), []
    for h, sizes in enumerate(rooted_sizes(batch, n_iter)):
        for block in source.blocks(np.arange(batch.n_nodes), h, sizes):
            found += zip(groups.of_block(block).tolist(), canonical(block), strict=True)
    return found


@given(batch=any_batches)
def test_groups_are_those_of_canonical_forms(batch):
    pairs = set(groups_and_certificates(batch, 3))
    assert len(pairs) == len({group for group, _ in pairs}) == len({form for _, form in pairs})


@pytest.mark.slow
def test_the_page_on_readouts_counts_the_subgraphs_of_nci1(tu_zip):
    graphs = load_dataset(tu_zip("NCI1")).graphs
    sizes = rooted_sizes(graphs, 2)[2]
    groups = Groups()
    blocks = list(RootedSource(graphs).blocks(np.arange(graphs.n_nodes), 2, sizes))
    certificate_of_group = {}
    for block in blocks:
        numbers, first = np.unique(groups.of_block(block), return_index=True)
        certificate_of_group |= dict(zip(numbers.tolist(), canonical(block.at(first)), strict=True))
    page = (Path(__file__).parents[2] / "docs" / "background" / "readouts.md").read_text(encoding="utf-8")
    assert len(groups) == len(set(certificate_of_group.values())) == 5785
    assert "are 5,785 different graphs" in page.replace("\n", " ")


def test_copies_of_a_hub_with_neighbours_of_all_kinds_are_in_one_group():
    labels = [["hub", *range(40)], ["hub", *reversed(range(40))]]
    hubs = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 41)]] * 2, labels)
    (block,) = RootedSource(hubs).blocks(np.array([0, 41]), 1, np.array([41, 41], np.int32))
    assert Groups().of_block(block).tolist() == [0, 0]
