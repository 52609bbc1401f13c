import decimal
import fractions

import numpy as np
import pytest

import twinwl as tw
from twinwl import TwinWLError
from twinwl.arguments import (
    JOBS,
    PATH,
    RANDOM_STATE,
    ROUNDS,
    checked,
    integer,
    items,
    number,
    one_of,
    one_or_more,
)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_every_kind_become_plain_ones(value):
    assert type(checked("n", value, integer(0))) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, np.array(3), -1, 11, 10**400, 3 + 0j])
def test_what_is_no_integer_in_the_range_is_refused(value):
    with pytest.raises(TwinWLError, match="expected an integer from 0 to 10"):
        checked("n", value, integer(0, 10))


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_real_numbers_of_every_kind_become_floats(value):
    assert checked("x", value, number(0, 1)) == 0.5


@pytest.mark.parametrize(
    "value",
    [
        0,
        1,
        float("nan"),
        float("inf"),
        True,
        "0.5",
        fractions.Fraction(1, 2),
        decimal.Decimal("0.5"),
        10**400,
        None,
    ],
)
def test_ends_of_an_open_range_and_what_is_no_number_are_refused(value):
    with pytest.raises(TwinWLError, match="expected a number above 0 to below 1"):
        checked("x", value, number(0, 1, above=True, below=True))


def test_an_integer_too_long_to_print_is_refused():
    for constraint in (integer(0, 10), number(0)):
        with pytest.raises(TwinWLError, match="x: got <an integer of 16610 bits>"):
            checked("x", 10**5000, constraint)


def test_infinity_is_not_in_a_range_without_an_upper_end():
    with pytest.raises(TwinWLError, match="expected a number of at least 0"):
        checked("x", float("inf"), number(0))


@pytest.mark.parametrize("values", [[3, 1, 3], (1, 3), {1, 3}, range(1, 4, 2), np.array([1, 3])])
def test_collections_become_sorted_lists(values):
    assert checked("n_iter", values, one_or_more(ROUNDS)) == [1, 3]


@pytest.mark.parametrize("values", [[], "12", b"12", {1: 2}, iter([1]), [1, None], [[1]], None])
def test_what_is_no_collection_of_numbers_is_refused(values):
    with pytest.raises(TwinWLError, match="or a list of such numbers"):
        checked("n_iter", values, one_or_more(ROUNDS))


def test_alternatives_are_listed_and_a_typo_is_answered():
    with pytest.raises(TwinWLError) as caught:
        checked("hops", "growin", ROUNDS, one_of("growing"), None)
    assert str(caught.value) == (
        "hops: got 'growin', expected an integer from 0 to 10000, 'growing' or None; did you mean 'growing'?"
    )


@pytest.mark.parametrize("value", ["", b"x", "a\0b", 3, None])
def test_what_is_no_path_is_refused(value):
    with pytest.raises(TwinWLError, match="expected a path"):
        checked("path", value, PATH)


@pytest.mark.parametrize("value", [0, 10**6, True, 1.0])
def test_what_is_no_number_of_jobs_is_refused(value):
    with pytest.raises(TwinWLError, match="n_jobs: got"):
        checked("n_jobs", value, JOBS, None)
    assert checked("n_jobs", -1, JOBS) == -1


@pytest.mark.parametrize("value", ["x", -1, 2**32, 1.0, True])
def test_what_is_no_random_state_is_refused(value):
    with pytest.raises(TwinWLError, match="random_state: got"):
        checked("random_state", value, *RANDOM_STATE)


@pytest.mark.parametrize("values", ["CC", b"CC", {}, {1}, 3, None])
def test_what_holds_no_items_is_refused(values):
    with pytest.raises(TwinWLError, match="expected one entry per graph"):
        items("graphs", values, "one entry per graph")


def test_progress_is_called_verbose_and_the_old_name_still_works():
    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'"):
        data = tw.load_dataset("TWINS", n_pairs=4, progress=False)
    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'"):
        tw.evaluate(tw.STwinSVC(1, 1), data, n_folds=2, progress=False)
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    from twinwl.corpus.jobs import Running  # noqa: PLC0415  (needs pyarrow)

    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'"):
        assert Running(progress=False).verbose is False
