from __future__ import annotations

import numpy as np
import pytest

from twinwl.datasets.generators import FAMILIES, strongly_regular, strongly_regular_family
from twinwl.errors import TwinWLError
from twinwl.isomorphism.canonical import certificates
from twinwl.refinement.colours import refine

# How many graphs there are with these parameters: Paulus (1973), Chang (1959), Shrikhande (1959).
KNOWN = {"16-6-2-2": 2, "25-12-5-6": 15, "28-12-6-4": 4}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_graph_has_the_parameters_of_its_family(family):
    n_nodes, degree, joined, apart = map(int, family.split("-"))
    for adjacency in strongly_regular_family(family).to_scipy():
        matrix = adjacency.toarray().astype(int)
        assert len(matrix) == n_nodes
        common = matrix @ matrix
        others = (matrix == 0) & ~np.eye(n_nodes, dtype=bool)
        assert set(matrix.sum(axis=0)) == {degree}
        assert set(common[matrix == 1]) == {joined}
        assert set(common[others]) == {apart}


@pytest.mark.parametrize("family", FAMILIES)
def test_family_is_complete_and_without_repetition(family):
    graphs = strongly_regular_family(family)
    forms = certificates(graphs, range(len(graphs)))
    assert len(set(forms)) == len(forms) == KNOWN[family]


def test_classes_are_isomorphism_classes():
    graphs, y = strongly_regular(n_copies=3)
    forms = certificates(graphs, range(len(graphs)))
    assert len(set(zip(forms, y.tolist(), strict=True))) == len(set(forms)) == sum(KNOWN.values())


def test_1wl_sees_one_colour_a_family():
    graphs, _ = strongly_regular("25-12-5-6", n_copies=1)
    assert refine(graphs, 4).colours.max() == 0


def test_same_state_same_graphs_and_other_state_other_order():
    first, again, other = (strongly_regular("16-6-2-2", 2, state)[0] for state in (1, 1, 2))
    np.testing.assert_array_equal(first.indices, again.indices)
    assert not np.array_equal(first.indices, other.indices)


def test_unknown_family_names_the_nearest():
    with pytest.raises(TwinWLError, match="did you mean '16-6-2-2'"):
        strongly_regular("16-6-2")


def test_no_copies_is_an_error():
    with pytest.raises(TwinWLError, match="n_copies: got 0"):
        strongly_regular(n_copies=0)
