import numpy as np
import pytest

from twinwl import GraphBatch, TwinWLError, compare
from twinwl.isomorphism.rooted import check_cost

LARGE = np.full(3000, 3000, np.int32)


def test_too_much_memory_is_refused_with_its_amount(monkeypatch):
    monkeypatch.setattr("twinwl.arguments._half_of_memory", lambda: 1 << 20)
    with pytest.raises(TwinWLError, match=r"with 200 nodes needs about 2\.4 MiB, more than the 1\.0 MiB"):
        check_cost(["rooted-fwl2"], np.array([5, 200], np.int32))


@pytest.mark.parametrize("name", ["size", "wl", "rooted-wl", "canonical"])
def test_other_readouts_take_any_size(monkeypatch, name):
    monkeypatch.setattr("twinwl.arguments._half_of_memory", lambda: 1 << 20)
    check_cost([name], LARGE)


def test_compare_refuses_before_it_starts(monkeypatch):
    monkeypatch.setattr("twinwl.arguments._half_of_memory", lambda: 1 << 17)
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 50)]])
    with pytest.raises(TwinWLError, match=r"'rooted-fwl2' of a rooted subgraph with 50 nodes needs about"):
        compare(star, star, readout="rooted-fwl2", n_iter=2)


def test_isomorphic_graphs_are_never_refused(monkeypatch):
    monkeypatch.setattr("twinwl.arguments._half_of_memory", lambda: 1 << 17)
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 50)]])
    assert not compare(star, star, readout="rooted-fwl2").distinguished
