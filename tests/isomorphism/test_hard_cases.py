"""Pairs from the literature: which readouts tell them apart, and, said honestly, which do not."""

import os
from itertools import combinations, pairwise

import networkx as nx
import pytest

import twinwl as tw
from tests.conftest import data_folder
from tests.isomorphism.known_graphs import (
    bicyclopentyl,
    circular_skip_link,
    decalin,
    rook,
    shrikhande,
    two_triangles,
)
from twinwl.datasets.generators import load_suite
from twinwl.isomorphism.readouts import READOUTS

SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)


def readouts_that_distinguish(g, h):
    return [name for name in READOUTS if tw.compare(g, h, readout=name).distinguished]


@pytest.mark.parametrize(
    ("g", "h"),
    [(two_triangles(), nx.cycle_graph(6)), (decalin(), bicyclopentyl())],
    ids=["rings", "molecules"],
)
def test_every_readout_distinguishes_what_one_wl_does_not(g, h):
    assert not tw.compare(g, h, readout=lambda _: None).distinguished
    assert readouts_that_distinguish(g, h) == list(READOUTS)


def test_rook_and_shrikhande_need_more_than_one_marked_node():
    stronger = ["triangles", "marked-wl-1", "rooted-fwl2", "marked-wl-2", "marked-wl-3", "canonical"]
    assert readouts_that_distinguish(rook(), shrikhande()) == stronger


def test_sizes_cannot_tell_circular_skips_6_and_16_apart_and_edges_can():
    g, h = circular_skip_link(6), circular_skip_link(16)
    assert not tw.compare(g, h, readout="size").distinguished
    assert readouts_that_distinguish(g, h)[0] == "edges"


def test_sizes_tell_all_other_circular_skips_apart():
    graphs = {skip: circular_skip_link(skip) for skip in SKIPS}
    alike = [
        (one, other)
        for one, other in combinations(SKIPS, 2)
        if not tw.compare(graphs[one], graphs[other]).distinguished
    ]
    assert alike == [(6, 16)]


def test_power_grows_along_the_ladder_on_brec():
    # Every twentieth pair; TWINWL_EXHAUSTIVE=1 takes all 400.
    folder = data_folder()
    if folder is None or not (folder / "BREC.zip").is_file():
        pytest.skip("BREC.zip was not found; set TWINWL_DATA to the folder that holds it")
    brec = load_suite("brec", folder)
    chosen = range(400) if os.environ.get("TWINWL_EXHAUSTIVE") else range(3, 400, 20)
    told_apart = {
        name: {
            pair
            for pair in chosen
            if tw.compare(*(brec.graphs[graph] for graph in brec.pairs[pair]), readout=name).distinguished
        }
        for name in READOUTS
    }
    ladder = [name for name, readout in READOUTS.items() if readout.on_ladder]
    for weaker, stronger in [*pairwise(ladder), ("marked-wl-1", "rooted-fwl2")]:
        assert told_apart[weaker] <= told_apart[stronger]
    assert len(told_apart["marked-wl-3"]) == len(told_apart["canonical"]) == len(chosen)


def test_many_strongly_regular_graphs_side_by_side_take_no_longer_than_one():
    # igraph would look for the automorphisms of this graph for hours.
    mixed = nx.disjoint_union_all([rook(), shrikhande()] * 15)
    assert not tw.compare(mixed, mixed, readout="rooted-wl").distinguished
