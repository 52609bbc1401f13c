"""Text files of numbers, one row a line, parsed at once and with the line of whatever is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["float_table", "integer_table"]

_BAD, _BLANK, _RAGGED, _LONG = 1, 2, 3, 4
_MAX_DIGITS = 18  # more may not fit 64 bits
_NEWLINE, _COMMA, _MINUS, _ZERO, _NINE = 10, 44, 45, 48, 57
_SPACE = (32, 9, 13)  # blank, tab, carriage return
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def integer_table(data: bytes, name: str) -> NDArray[np.int64]:
    r"""Parse rows of integers that commas or blanks separate.

    Parameters
    ----------
    data
        The file's content; all rows must be as long as the first, and none may be empty.
    name
        The file's name, for error messages.

    Returns
    -------
    array of int64, shape (n_rows, n_columns)

    >>> integer_table(b"2, 1\n1, 2\n", "A.txt").tolist()
    [[2, 1], [1, 2]]
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data or data.isspace():
        return np.empty((0, 1), np.int64)
    first = data[: data.find(b"\n") % (len(data) + 1)]
    width = max(1, len(first.replace(b",", b" ").split()))
    table, n_rows, problem, line = _parsed(np.frombuffer(data, np.uint8), data.count(b"\n") + 1, width)
    if problem:
        raise _error(data, name, int(problem), int(line), f"{width} integers")
    return table[:n_rows]


def float_table(data: bytes, name: str) -> NDArray[np.float64]:
    r"""Parse rows of finite numbers that commas or blanks separate, all as long as the first.

    >>> float_table(b"0.5, 1\n2, 3e1\n", "attributes.txt").tolist()
    [[0.5, 1.0], [2.0, 30.0]]
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    lines = data.replace(b",", b" ").rstrip().splitlines()
    if not lines:
        return np.empty((0, 1), np.float64)
    rows = [line.split() for line in lines]
    width = len(rows[0])
    for line, row in enumerate(rows, start=1):
        if len(row) != width:
            raise _error(data, name, _RAGGED if row else _BLANK, line, f"{width} numbers")
    try:
        table = np.array(rows, dtype=np.bytes_).astype(np.float64)
    except ValueError:
        line = next(line for line, row in enumerate(rows, start=1) if not all(map(_is_number, row)))
        raise _error(data, name, _BAD, line, f"{width} numbers") from None
    if not np.isfinite(table).all():
        line = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0]) + 1
        raise _error(data, name, _BAD, line, f"{width} finite numbers")
    return table


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _error(data: bytes, name: str, problem: int, line: int, wanted: str) -> TwinWLError:
    content = data.split(b"\n")[line - 1].decode("utf-8", "replace").strip()[:60]
    what = {
        _BAD: f"{content!r} where {wanted} should stand",
        _BLANK: "is empty, while rows follow",
        _RAGGED: f"{content!r} does not hold {wanted} as the lines before it",
        _LONG: f"{content!r} holds a number of more than {_MAX_DIGITS} digits",
    }[problem]
    return TwinWLError(f"{name}, line {line}: {what}; correct that line, or get the file anew")


@njit(cache=True, nogil=True)
def _parsed(data, n_lines, width):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901
    """Return the table, its number of rows, and a problem with its line (0 where there is none)."""
    table = np.empty((n_lines, width), np.int64)
    row, column, line = 0, 0, 1
    blank = 0  # first empty line so far; fine at the end of the file only
    after_comma = False
    place, end = 0, len(data)
    while place <= end:
        byte = data[place] if place < end else np.uint8(_NEWLINE)  # as if the last line ended like the others
        if byte == _NEWLINE:
            if column == 0 and not after_comma:
                blank = blank or line
            elif column != width or after_comma:
                return table, row, _RAGGED, line
            else:
                row += 1
            column, after_comma = 0, False
            line += 1
            place += 1
        elif byte in _SPACE:
            place += 1
        elif byte == _COMMA:
            if after_comma or column == 0:
                return table, row, _BAD, line
            after_comma = True
            place += 1
        else:
            if blank:
                return table, row, _BLANK, blank
            value, length = _integer(data, place)
            if length <= 0:
                return table, row, _LONG if length < 0 else _BAD, line
            if column == width:
                return table, row, _RAGGED, line
            table[row, column] = value
            column += 1
            after_comma = False
            place += length
    return table, row, 0, 0


@njit(cache=True, nogil=True)
def _integer(data, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Read one integer and its length in characters: 0 where there is none, -1 where it is too long."""
    place, end = start, len(data)
    negative = data[place] == _MINUS
    if negative:
        place += 1
    first_digit = place
    value = np.int64(0)
    while place < end and _ZERO <= data[place] <= _NINE:
        if place - first_digit == _MAX_DIGITS:
            return value, -1
        value = 10 * value + np.int64(data[place]) - _ZERO
        place += 1
    if place == first_digit or (place < end and not _separates(data[place])):
        return value, 0
    return -value if negative else value, place - start


@njit(cache=True, nogil=True)
def _separates(byte):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return byte in (_NEWLINE, _COMMA) or byte in _SPACE
