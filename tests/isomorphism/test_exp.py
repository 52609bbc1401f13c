"""EXP: 600 pairs that 1-WL cannot tell apart; from the third round on the rooted size can."""

import numpy as np
import pytest

import twinwl as tw
from twinwl.datasets.graph_files import read_tu
from twinwl.refinement.colours import refine


@pytest.fixture(scope="module")
def exp(tu_zip):
    graphs = read_tu(tu_zip("EXP")).graphs
    assert len(graphs) == 1200
    return graphs


@pytest.mark.parametrize(("n_iter", "n_told_apart"), [(2, 0), (3, 600), ("stable", 600)])
def test_sizes_tell_all_pairs_apart_from_the_third_round_on(exp, n_iter, n_told_apart):
    hashes = tw.graph_hashes(exp, n_iter)
    assert sum(one != other for one, other in zip(hashes[::2], hashes[1::2], strict=True)) == n_told_apart


def test_compare_names_the_third_round_and_identities(exp):
    results = [tw.compare(exp[first], exp[first + 1]) for first in range(0, 1200, 2)]
    assert {(result.iteration, result.by) for result in results} == {(3, "twin")}


def test_one_wl_tells_none_apart(exp):
    colours = np.split(refine(exp, None, edge_labels=True).colours[-1], exp.graph_ptr[1:-1])
    for one, other in zip(colours[::2], colours[1::2], strict=True):
        assert np.array_equal(np.sort(one), np.sort(other))
