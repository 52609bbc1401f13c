"""What each readout sees, on the stored graphs that 1-WL confuses (see docs/benchmarks/power.md)."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import twinwl as tw
from twinwl.isomorphism.readouts import READOUTS
from twinwl.refinement.colours import refine

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "power.md"
# The readouts that the page has a column for.
SHOWN = re.findall(r"`([a-z0-9-]+)` \|", PAGE.read_text(encoding="utf-8").partition("| ---")[0])

# Pairs that 1-WL confuses, then how many of them each readout tells apart, weakest first.
TOLD_APART = {
    "connected_6": (3, [1, 3, 3, 3, 3, 3, 3, 3, 3, 3]),
    "connected_7": (17, [5, 17, 17, 17, 17, 17, 17, 17, 17, 17]),
    "connected_8": (312, [126, 306, 312, 312, 312, 312, 312, 312, 312, 312]),
    "any_6": (4, [2, 4, 4, 4, 4, 4, 4, 4, 4, 4]),
    "any_7": (22, [8, 22, 22, 22, 22, 22, 22, 22, 22, 22]),
    "any_8": (350, [148, 344, 350, 350, 350, 350, 350, 350, 350, 350]),
    "regular_4_10": (1711, [1311, 1697, 1707, 1708, 1711, 1711, 1711, 1711, 1711, 1711]),
}


def stored(name):
    return tw.GraphBatch.from_graph6((DATA / f"{name}.g6").read_text().split())


def confused_pairs(batch):
    """Return the pairs with equal multisets of stable 1-WL colours."""
    colours = np.split(refine(batch, None).colours[-1], batch.graph_ptr[1:-1])
    classes = [np.sort(part).tobytes() for part in colours]
    return [(u, v) for u, v in combinations(range(len(batch)), 2) if classes[u] == classes[v]]


@pytest.mark.parametrize("name", TOLD_APART)
def test_readouts_tell_as_many_pairs_apart_as_documented(name):
    batch = stored(name)
    pairs = confused_pairs(batch)
    n_pairs, expected = TOLD_APART[name]
    assert len(pairs) == n_pairs
    told_apart = []
    for readout in SHOWN:
        hashes = tw.graph_hashes(batch, "stable", readout)
        told_apart.append(sum(hashes[u] != hashes[v] for u, v in pairs))
    assert told_apart == expected


@pytest.mark.parametrize("name", ["connected_6", "connected_7"])
@pytest.mark.parametrize("readout", READOUTS)
def test_compare_and_hash_agree(name, readout):
    batch = stored(name)
    hashes = tw.graph_hashes(batch, "stable", readout)
    for u, v in confused_pairs(batch):
        result = tw.compare(batch[u], batch[v], readout=readout)
        assert result.distinguished == (hashes[u] != hashes[v])
        assert result.by in {"twin", None}


@pytest.mark.parametrize("name", TOLD_APART)
def test_the_page_shows_these_numbers(name):
    n_pairs, expected = TOLD_APART[name]
    row = " | ".join(f"{number:,}" for number in [n_pairs, *expected])
    assert f"| {row} |" in PAGE.read_text()


@pytest.mark.parametrize("name", ["connected_6", "any_7"])
def test_one_wl_alone_confuses_every_stored_graph(name):
    batch = stored(name)
    confused = {graph for pair in confused_pairs(batch) for graph in pair}
    assert confused == set(range(len(batch)))
    for u, v in confused_pairs(batch):
        assert not tw.compare(batch[u], batch[v], readout=lambda _: None).distinguished
