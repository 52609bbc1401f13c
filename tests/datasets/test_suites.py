"""Suites of pairs: what each holds, and what is refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from twinwl.datasets.generators import SUITES, PairSuite, load_suite
from twinwl.errors import TwinWLError
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.deduplication import wl_groups

MADE = [name for name in SUITES if name not in {"brec", "exp"}]
HEXAGON = [(i, (i + 1) % 6) for i in range(6)]
TRIANGLES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]


@pytest.mark.parametrize("name", MADE)
def test_pairs_are_equal_for_1wl_and_not_isomorphic(name):
    suite = load_suite(name)
    groups = wl_groups(suite.graphs)
    forms = np.unique(certificates(suite.graphs, range(len(suite.graphs))), return_inverse=True)[1]
    first, second = suite.pairs.T
    assert (groups[first] == groups[second]).all()
    assert (forms[first] != forms[second]).all()
    assert len(suite.categories) == len(suite.titles) == len(suite) == sum(suite.sizes.values())


def test_numbers_of_pairs_are_known():
    # Of all graphs with six and seven nodes, as docs/benchmarks/power.md lists them; 59 · 58 / 2; 10 · 9 / 2.
    assert load_suite("atlas").sizes == {"6 nodes": 4, "7 nodes": 22}
    assert len(load_suite("regular")) == 1711
    assert len(load_suite("csl")) == 45
    assert load_suite("strongly-regular").sizes == {"16-6-2-2": 1, "25-12-5-6": 105, "28-12-6-4": 6}


def test_file_and_list_of_pairs(tmp_path):
    path = tmp_path / "mine.g6"
    path.write_bytes(
        b"".join(nx.to_graph6_bytes(nx.Graph(edges), header=False) for edges in (HEXAGON, TRIANGLES))
    )
    for source in (path, str(path), [(HEXAGON, TRIANGLES)]):
        suite = load_suite(source)
        assert (len(suite), suite.titles) == (1, ("pair 0",))
    assert load_suite(suite) is suite


def test_data_set_in_groups_of_two_is_a_suite():
    suite = load_suite("TWINS:n_pairs=3")
    assert isinstance(suite, PairSuite)
    assert len(suite) == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("bre", "did you mean 'brec'"),
        ("no/such/file.g6", "no suite"),
        ("SRG-16-6-2-2:n_copies=2", "expected groups of two graphs"),
        ([], "pass at least one"),
        ([(HEXAGON,)], "pair 0: got 1 graphs"),
        ([(HEXAGON, TRIANGLES), 5], "pair 1"),
        ([(HEXAGON, HEXAGON)], "pair 0 are isomorphic"),
        (7, "expected a name, a path, or a list"),
    ],
    ids=["typo", "no file", "no groups", "empty", "one graph", "no pair", "isomorphic", "a number"],
)
def test_what_is_no_suite_is_refused(source, message):
    with pytest.raises(TwinWLError, match=message):
        load_suite(source)


def test_only_keeps_the_asked_categories():
    assert set(load_suite("cfi").only(["cubic", "dense"]).categories) == {"cubic", "dense"}
