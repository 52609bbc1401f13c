import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from twinwl.models import similarity
from twinwl.models.similarity import Similarity


def sums(left, right, base, *more, **options):
    return Similarity(right, base, normalize=False).sums(left, *more, **options)


@pytest.mark.parametrize("frequent", [0.0, 0.3, 2.0])
@given(data=st.data())
def test_lists_and_dense_vectors_give_the_same_sums(frequent, data):
    n_columns = data.draw(st.integers(0, 6))
    values = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0])
    left = data.draw(hnp.arrays(float, (data.draw(st.integers(1, 5)), n_columns), elements=values))
    right = data.draw(hnp.arrays(float, (data.draw(st.integers(1, 20)), n_columns), elements=values))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "_FREQUENT", frequent)
        both = sparse.csr_matrix(left), sparse.csr_matrix(right)
        minima, products = sums(*both, "minmax"), sums(*both, "linear")
    assert np.array_equal(minima, np.minimum(left[:, None], right[None]).sum(axis=2))
    assert np.array_equal(products, left @ right.T)


def test_sums_are_added_where_asked():
    x = sparse.csr_matrix([[1.0, 2.0]])
    out = np.array([[10.0]])
    assert sums(x, x, "minmax", out) is out
    assert out.tolist() == [[13.0]]


def test_threads_do_not_change_a_byte(monkeypatch):
    x = sparse.random(500, 300, 0.1, format="csr", random_state=np.random.default_rng(0))
    x.data = np.ceil(x.data * 9)
    monkeypatch.setenv("TWINWL_NUM_THREADS", "1")
    alone = sums(x, x, "minmax")
    monkeypatch.setenv("TWINWL_NUM_THREADS", "3")
    assert np.array_equal(sums(x, x, "minmax"), alone)


@pytest.mark.parametrize("value", [4095.0, 4097.0, 2.0**25 + 1])
def test_sums_are_exact_on_both_sides_of_what_single_precision_holds(value):
    x = sparse.csr_matrix([[value, 1.0], [value, 0.0]])
    assert sums(x, x, "linear").tolist() == [[value**2 + 1, value**2], [value**2, value**2]]
    assert sums(x, x, "minmax").tolist() == [[value + 1, value], [value, value]]
