import numpy as np
import pytest

from twinwl import GraphBatch, TwinWLError, compare
from twinwl.isomorphism.rooted import check_cost

LARGE = np.full(3000, 3000, np.int32)


def test_too_many_steps_are_refused_with_what_they_would_take():
    with pytest.raises(
        TwinWLError,
        match=r"'rooted-fwl2' of 3,000 rooted subgraphs with up to 3,000 nodes takes 8e\+13 steps",
    ) as caught:
        check_cost(["size", "rooted-fwl2"], LARGE)
    assert "75 hours" in str(caught.value)
    assert "rooted-wl" in str(caught.value)


def test_too_much_memory_is_refused_with_its_amount(monkeypatch):
    monkeypatch.setattr("twinwl.arguments._half_of_memory", lambda: 1 << 20)
    with pytest.raises(TwinWLError, match=r"up to 200 nodes needs about 2\.4 MiB, more than the 1\.0 MiB"):
        check_cost(["rooted-fwl2"], np.array([5, 200], np.int32))


@pytest.mark.parametrize("name", ["size", "wl", "rooted-wl", "canonical"])
def test_other_readouts_take_any_size(name):
    check_cost([name], LARGE)


def test_compare_refuses_before_it_starts(monkeypatch):
    monkeypatch.setattr("twinwl.isomorphism.rooted.MOST_STEPS", 1e5)
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 50)]])
    with pytest.raises(TwinWLError, match=r"of 100 rooted subgraphs with up to 50 nodes takes 3e\+05 steps"):
        compare(star, star, readout="rooted-fwl2")


def test_many_sequences_of_marks_are_refused_where_nodes_are_alike(monkeypatch):
    for module in ("rooted", "inner_colours"):
        monkeypatch.setattr(f"twinwl.isomorphism.{module}.MOST_STEPS", 1e6)
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 50)]])
    path = GraphBatch.from_edges([[(node, node + 1) for node in range(49)]])
    assert not compare(path, path, readout="marked-wl-3").distinguished
    with pytest.raises(TwinWLError, match=r"'marked-wl-3' of \d+ rooted subgraphs with up to 49 like nodes"):
        compare(star, star, readout="marked-wl-3")
