import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl.datasets.generators.worked_example import worked_example
from twinwl.files.cache import cache_folder
from twinwl.ntwin import quotient_cache
from twinwl.ntwin.quotient import build_quotient
from twinwl.ntwin.quotient_cache import cached_quotient


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path))


def same(here, there):
    assert here.labels == there.labels
    assert here.edge_labels == there.edge_labels
    assert here.n_pairs == there.n_pairs
    for a, b in zip(here.rounds, there.rounds, strict=True):
        assert a.sig_items.tolist() == b.sig_items.tolist()
        assert (a.stride, a.n_codes) == (b.stride, b.n_codes)
    for a, b in zip(here.pools, there.pools, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batch=st.one_of(batches(), batches(directed=True)),
    edges=st.booleans(),
    hops=st.sampled_from(["growing", 2]),
)
def test_what_comes_back_is_what_was_built(batch, edges, hops):
    expected = build_quotient(batch, 2, hops, edge_labels=edges, root_mark="root")
    for _ in range(2):
        same(cached_quotient(batch, 2, hops, edge_labels=edges, root_mark="root"), expected)


def test_the_second_time_nothing_is_built(monkeypatch):
    cached_quotient(worked_example(), 2)
    monkeypatch.setattr(quotient_cache, "build_quotient", None)
    assert cached_quotient(worked_example(), 2).n_colours == [2, 8, 8]


def test_settings_and_graphs_are_part_of_the_key():
    pair = worked_example()
    assert cached_quotient(pair, 2, 1).n_pairs != cached_quotient(pair, 2, 2).n_pairs
    assert len(cached_quotient(pair[:1], 2, 1)) == 1
    assert cached_quotient(pair, 2, 1, root_mark="root").n_marks == 2


@pytest.mark.parametrize("damage", ["sig_items_1", "colours_2", "pool_ptr_1", "sig_ptr_2", "missing"])
def test_an_entry_that_does_not_fit_is_built_anew(damage):
    expected = cached_quotient(worked_example(), 2)
    (entry,) = cache_folder().rglob("*.npz")
    with np.load(entry) as kept:
        arrays = dict(kept)
    if damage == "missing":
        del arrays["n_pairs"]
    else:
        arrays[damage] = arrays[damage] + 1000
    np.savez(entry, **arrays)
    same(cached_quotient(worked_example(), 2), expected)
