import contextlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.datasets.graph_files import number_table
from twinwl.errors import TwinWLError


def integer_table(data, name):
    return number_table(data, name, np.int64)


def float_table(data, name):
    return number_table(data, name, np.float64)


numbers = st.integers(-(10**18) + 1, 10**18 - 1)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(tables, st.sampled_from([", ", ",", " ", "\t", " , "]), st.sampled_from(["\n", "\r\n", " \n"]))
def test_integers_are_read_in_every_common_layout(rows, comma, newline):
    text = newline.join(comma.join(map(str, row)) for row in rows)
    for ending in ("", newline, 3 * newline):
        table = integer_table((text + ending).encode(), "A.txt")
        assert table.dtype == np.int64
        assert table.tolist() == rows


def test_byte_order_mark_is_no_number():
    assert integer_table(b"\xef\xbb\xbf1\n2\n", "A.txt").tolist() == [[1], [2]]


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\n"])
def test_empty_file_is_an_empty_table(data):
    assert integer_table(data, "A.txt").shape == (0, 1)
    assert float_table(data, "A.txt").shape == (0, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1\n2\nx\n", "A.txt, line 3: got 'x', expected integers, as many as in the lines before; correct"),
        (b"1\n2.5\n", "line 2: got '2.5'"),
        (b"1\n1e3\n", "line 2"),
        (b"1\n-\n", "line 2"),
        (b"1\n1-2\n", "line 2"),
        (b"1\n--2\n", "line 2"),
        (b"nan\n", "line 1: got 'nan'"),
        (b"1\n\n2\n", "line 2: got ''"),
        (b"\n1\n", "line 1: got ''"),
        (b"1, 2\n3\n", "line 2: got '3', expected integers, as many as in the lines before"),
        (b"1\n2, 3\n", "line 2: got '2, 3'"),
        (b"1, 2\n3,\n", "line 2"),
        (b"1, 2\n3,,4\n", "line 2"),
        (b"1, 2\n,3, 4\n", "line 2"),
        (b"1\n12345678901234567890\n", "line 2: got '12345678901234567890'"),
        (b"1\n\x00\n", "line 2"),
        (b"1\n\xff\n", "line 2"),
    ],
)
def test_what_is_no_integer_is_refused_by_its_line(data, message):
    with pytest.raises(TwinWLError, match=message):
        integer_table(data, "A.txt")


@given(st.binary(max_size=30))
def test_any_bytes_are_read_or_refused_by_our_own_error(data):
    for read in (integer_table, float_table):
        try:
            table = read(data, "A.txt")
        except TwinWLError:
            continue
        assert table.ndim == 2


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1)
)
def test_floats_are_read_exactly(rows):
    text = "\n".join(", ".join(map(repr, row)) for row in rows)
    assert float_table(text.encode(), "x.txt").tolist() == rows


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1.5\nx\n", "x.txt, line 2: got 'x', expected finite numbers"),
        (b"1.5\nnan\n", "line 2: got 'nan', expected finite numbers"),
        (b"1.5\ninf\n", "line 2"),
        (b"1.5\n1_0\n", "line 2"),
        (b"1.5\r2\n3\rx\n", "line 4: got 'x', expected finite numbers"),
        (b"1.5\n\n2\n", "line 2: got ''"),
        (b"1.5, 2\n3\n", "line 2: got '3'"),
    ],
)
def test_what_is_no_number_is_refused_by_its_line(data, message):
    with pytest.raises(TwinWLError, match=message):
        float_table(data, "x.txt")


def test_carriage_returns_end_lines():
    assert float_table(b"1.5\r\n2.5\r\n\r\n", "x.txt").tolist() == [[1.5], [2.5]]
    assert integer_table(b"1\r2\n3\r4\n", "A.txt").tolist() == [[1], [2], [3], [4]]


def peak_of(read, data):
    tracemalloc.start()
    try:
        with contextlib.suppress(TwinWLError):
            read(data, "x.txt")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_by_the_length_of_the_text():
    wide = b"1 " * 100_000 + b"\n" * 100_000  # 10**10 cells, if the first line were believed
    assert peak_of(integer_table, wide) < 30 * len(wide)
    long_cell = b"1\n" * 200_000 + b"1." + b"0" * 2000 + b"\n"
    assert peak_of(float_table, long_cell) < 100 * len(long_cell)
    assert float_table(long_cell, "x.txt").shape == (200_001, 1)
