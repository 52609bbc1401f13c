"""Text files of numbers, one row per line; errors name the line.

The memory of a table is bounded by the length of its text, since a number has at least one digit and one
separator; the number of columns in the first line is not trusted.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.arrays import Float64, Int64

_BAD, _BLANK, _RAGGED, _LONG = 1, 2, 3, 4
_MAX_DIGITS = 18  # more may not fit 64 bits
_NEWLINE, _COMMA, _MINUS, _ZERO, _NINE = 10, 44, 45, 48, 57
_SPACE = (32, 9, 13)  # blank, tab, carriage return
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20  # bytes of text that are split into cells at a time
_SHOWN = 60  # characters of a line in a message


def integer_table(data: bytes, name: str) -> Int64:
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
    width = max(1, len(_line_at(data, 0).replace(b",", b" ").split()))
    most = min((data.count(b"\n") + 1) * width, (len(data) + 1) // 2)
    values = np.empty(most, np.int64)
    n_rows, problem, line, start = _parsed(np.frombuffer(data, np.uint8), values, width)
    if problem:
        raise _error(_line_at(data, int(start)), name, int(problem), int(line), _wanted("integer", width))
    return values[: n_rows * width].reshape(n_rows, width)


def float_table(data: bytes, name: str) -> Float64:
    r"""Parse rows of finite numbers that commas or blanks separate, all as long as the first.

    >>> float_table(b"0.5, 1\n2, 3e1\n", "attributes.txt").tolist()
    [[0.5, 1.0], [2.0, 30.0]]
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    width = blank = 0  # blank: the first empty line so far; fine at the end of the file only
    parts: list[Float64] = []
    for first_line, lines in _pieces(data):
        rows: list[list[bytes]] = []
        for line, text in enumerate(lines, start=first_line):
            row = text.replace(b",", b" ").split()
            if not row:
                blank = blank or line
                continue
            width = width or len(row)
            if blank:
                raise _error(b"", name, _BLANK, blank, _wanted("number", width))
            if len(row) != width:
                raise _error(text, name, _RAGGED, line, _wanted("number", width))
            rows.append(row)
        numbers = _floats(rows, width)
        if numbers is None:
            bad = next(place for place, row in enumerate(rows) if _floats([row], width) is None)
            raise _error(lines[bad], name, _BAD, first_line + bad, _wanted("finite number", width))
        parts.append(numbers)
    return np.concatenate(parts) if width else np.empty((0, 1), np.float64)


def _pieces(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield whole lines, about a megabyte of them at a time, with the number of the first."""
    start, line = 0, 1
    while start < len(data):
        stop = data.find(b"\n", start + _PIECE)
        stop = len(data) if stop < 0 else stop
        lines = data[start:stop].split(b"\n")
        yield line, lines
        start, line = stop + 1, line + len(lines)


def _floats(rows: list[list[bytes]], width: int) -> Float64 | None:
    """Return the cells as a table, or None if one of them is not a finite number."""
    if any(b"_" in cell for row in rows for cell in row):  # Python allows 1_000, no file means it
        return None
    try:
        table = np.fromiter(map(float, chain.from_iterable(rows)), np.float64, len(rows) * width)
    except ValueError:
        return None
    return table.reshape(len(rows), width) if np.isfinite(table).all() else None


def _line_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:] if end < 0 else data[start:end]


def _wanted(what: str, width: int) -> str:
    return f"{width} {what}s" if width > 1 else f"one {what}"


def _error(text: bytes, name: str, problem: int, line: int, wanted: str) -> TwinWLError:
    content = text[: 4 * _SHOWN].decode("utf-8", "replace").strip()[:_SHOWN]
    what = {
        _BAD: f"got {content!r}, expected {wanted}",
        _BLANK: "the line is empty, but more rows follow",
        _RAGGED: f"got {content!r}, expected {wanted} as in the lines before",
        _LONG: f"{content!r} holds a number of more than {_MAX_DIGITS} digits",
    }[problem]
    return TwinWLError(f"{name}, line {line}: {what}; correct that line, or get the file again")


@kernel
def _parsed(data, values, width):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901
    """Fill in the values; return the number of rows, and a problem (0 for none), its line, and its start."""
    row, column, line, start = 0, 0, 1, 0
    blank = 0  # first empty line so far; fine at the end of the file only
    after_comma = False
    place, end = 0, len(data)
    while place <= end:
        byte = data[place] if place < end else np.uint8(_NEWLINE)  # as if the last line ended like the others
        if byte == _NEWLINE:
            if column == 0 and not after_comma:
                blank = blank or line
            elif column != width or after_comma:
                return row, _RAGGED, line, start
            else:
                row += 1
            column, after_comma = 0, False
            line += 1
            place += 1
            start = place
        elif byte in _SPACE:
            place += 1
        elif byte == _COMMA:
            if after_comma or column == 0:
                return row, _BAD, line, start
            after_comma = True
            place += 1
        else:
            if blank:
                return row, _BLANK, blank, start
            value, length = _integer(data, place)
            if length <= 0:
                return row, _LONG if length < 0 else _BAD, line, start
            if column == width:
                return row, _RAGGED, line, start
            values[row * width + column] = value
            column += 1
            after_comma = False
            place += length
    return row, 0, 0, 0


@kernel
def _integer(data, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Read one integer and its length in characters: 0 if there is no integer, -1 if it is too long."""
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


@kernel
def _separates(byte):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return byte in (_NEWLINE, _COMMA) or byte in _SPACE
