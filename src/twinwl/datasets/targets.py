"""Cells of the columns of targets: which are missing, and what numbers or classes the others are."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.arrays import Float64, Values
from twinwl.errors import GraphInputError, nearest, shown, warn_caller

if TYPE_CHECKING:
    from twinwl.datasets.dataset import RowError
    from twinwl.datasets.rows import Row

# What pandas reads as missing, in any case, and what else tables of measurements have.
_MISSING = {
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
    "nan", "none", "null", "-", "?", "n.d.",
}  # fmt: skip
ALL = "all"
"""As a target: every column of numbers."""
_EXACT = 2**53  # beyond, floats skip whole numbers
_SCALARS = (str, numbers.Number, np.generic, dt.date)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+(\.[0-9]*)?|(\.[0-9]{3})+,[0-9]+)")


def known_cells(cells: Iterable[object]) -> list[object]:
    """Return the cells of a column of targets, None where one is missing.

    A dash is a class where all other cells are ``+``, and missing elsewhere.

    >>> known_cells(["a", "-", "N/A"]), known_cells(["+", "-", "N/A"])
    (['a', None, None], ['+', '-', None])
    """
    listed = list(cells)
    known = [None if is_missing(cell) else cell for cell in listed]
    if {str(cell).strip() for cell in known if cell is not None} == {"+"}:
        return [
            cell if str(cell).strip() == "-" else there for cell, there in zip(listed, known, strict=True)
        ]
    return known


def is_missing(value: object) -> bool:
    """Return whether a cell by itself is empty or stands for a missing value; see `known_cells`.

    >>> is_missing("NA"), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    # pandas.NA and NaT are recognised by their text.
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in {"<NA>", "NaT"}


def as_targets(values: list[object], target: str, source: str, rows: Sequence[Row] = ()) -> Values:
    """Return integers if all values are integers, floats if all are numbers, else strings.

    Numbers may have a decimal comma, which a warning says. ``rows`` are the rows of the values, for messages.
    """
    wrong = next((value for value in values if not isinstance(value, _SCALARS)), None)
    if wrong is not None:
        raise GraphInputError(f"{source}: target {target!r}: got {shown(wrong)}, expected numbers or strings")
    try:
        found = [_number(value) for value in values]
    except ValueError:
        _refuse_mixture(values, target, source, rows)
        return np.array([str(value).strip() for value in values])
    _check_commas(values, target, source, rows)
    infinite = next((place for place, number in enumerate(found) if not math.isfinite(number)), None)
    if infinite is not None:
        where = place_of(rows[infinite]) if rows else ""
        raise GraphInputError(
            f"{source}{where}: target {target!r}: got an infinite number, expected finite ones; correct it, "
            "or leave the cell empty"
        )
    if all(number.is_integer() and abs(number) <= _EXACT for number in found):
        return np.array(found).astype(np.int64)
    texts = [str(value).strip() for value in values]
    if all(map(_INTEGER.fullmatch, texts)):  # too long to be distinguished as floats, so they are names
        return np.array(texts)
    return np.array(found)


def _refuse_mixture(values: list[object], target: str, source: str, rows: Sequence[Row]) -> None:
    """Refuse text among measurements; whole numbers and text may all be names of classes."""
    measured: object = None
    texts: list[int] = []
    grouped: list[int] = []
    for place, value in enumerate(values):
        try:
            measured = measured if _number(value).is_integer() else value
        except ValueError:
            (grouped if _GROUPED.fullmatch(str(value).strip()) else texts).append(place)
    if grouped and not texts:
        raise _unclear_commas(values, grouped[0], target, source, rows)
    if measured is not None:
        where = place_of(rows[texts[0]]) if rows else ""
        raise GraphInputError(
            f"{source}{where}: target {target!r}: got {shown(values[texts[0]])}, and {measured} in another "
            "row; correct it, leave the cell empty, or choose another column"
        )


def _check_commas(values: Sequence[object], target: str, source: str, rows: Sequence[Row]) -> None:
    """Say that commas are read as decimal ones; refuse them where they may separate thousands."""
    texts = [value.strip() if isinstance(value, str) else "" for value in values]
    commas = [place for place, text in enumerate(texts) if "," in text]
    if not commas:
        return
    if any("." in text for text in texts) or all(_GROUPED.fullmatch(texts[place]) for place in commas):
        raise _unclear_commas(values, commas[0], target, source, rows)
    first = texts[commas[0]]
    warn_caller(
        f"{source}: target {target!r}: {len(commas):,} numbers have a decimal comma: {first} is read as "
        f"{first.replace(',', '.')}"
    )


def _unclear_commas(
    values: Sequence[object], place: int, target: str, source: str, rows: Sequence[Row]
) -> GraphInputError:
    where = place_of(rows[place]) if rows else ""
    return GraphInputError(
        f"{source}{where}: target {target!r}: got {shown(values[place])}, whose comma may be decimal or "
        "separate thousands; write all numbers with a decimal point and without separators"
    )


def task_table(values: list[Any], tasks: tuple[str, ...], source: str, rows: Sequence[Row]) -> Float64:
    """Return the targets of several tasks, one column each, as numbers; NaN where one is None.

    >>> from twinwl.datasets.rows import Row
    >>> rows = [Row(0, 2, "CC", "CC"), Row(1, 3, "CO", "CO")]
    >>> task_table([(1, None), ("0", 1)], ("toxic", "approved"), "m.csv", rows)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    table = np.full((len(values), len(tasks)), np.nan)
    for place, cells in enumerate(values):
        for task, cell in enumerate(cells):
            if cell is None:
                continue
            try:
                table[place, task] = _number(cell)
            except ValueError as error:
                raise GraphInputError(
                    f"{source}{place_of(rows[place])}: target {tasks[task]!r}: got {shown(cell)}, expected "
                    "numbers where there are several targets; leave that column out, or write its classes as "
                    "0 and 1"
                ) from error
            if math.isinf(table[place, task]):
                raise GraphInputError(
                    f"{source}{place_of(rows[place])}: target {tasks[task]!r}: got an infinite number, "
                    "expected finite ones; correct it, or leave the cell empty"
                )
    for name, column in zip(tasks, zip(*values, strict=True), strict=True):
        _check_commas(column, name, source, rows)
    empty = np.flatnonzero(np.isnan(table).all(axis=0))
    if len(empty):
        raise GraphInputError(
            f"{source}: target {tasks[empty[0]]!r} is missing in all rows; leave that column out"
        )
    return table


def usable_targets(
    columns: Mapping[str, Sequence[object]], source: str, used: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns that can be targets: of finite numbers, at least two of which differ.

    Columns that are ``used`` for something else are none. A warning names the others.

    Raises
    ------
    GraphInputError
        If there are none; the message says why each column is none.
    """
    reasons = {
        name: "split or groups" if name in used else _unusable(cells) for name, cells in columns.items()
    }
    usable = tuple(name for name, reason in reasons.items() if not reason)
    others = ", ".join(f"{name!r} ({reason})" for name, reason in reasons.items() if reason)
    if not usable:
        raise GraphInputError(
            f"{source}: no column can be a target: {others or 'there is none beside the SMILES'}"
        )
    if others:
        warn_caller(f"{source}: target: all leaves out {others}")
    return usable


def _unusable(cells: Sequence[object]) -> str:
    """Say why a column cannot be a target; empty if it can."""
    known = [cell for cell in known_cells(cells) if cell is not None]
    try:
        numbers = {_number(cell) for cell in known}
    except ValueError:
        return "text"
    if not all(map(math.isfinite, numbers)):
        return "infinite numbers"
    return "" if len(numbers) > 1 else "one value" if numbers else "empty"


def _number(value: object) -> float:
    if isinstance(value, str) and "_" in value:  # Python reads 1_000 as a number, a table does not mean it
        raise ValueError(value)
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip()):
        value = value.replace(",", ".")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        raise ValueError(value) from error


def place_of(row: RowError | Row) -> str:
    """Return where a row of a source is, to be put behind the name of the source in a message."""
    return f", row {row.row}" if row.line is None else f", line {row.line}"


def named_targets(target: str | tuple[str, ...], header: Sequence[str], name: str) -> str | tuple[str, ...]:
    """Return the column, or the columns, that a target names: ``"a,b"`` names two, unless one is called so.

    >>> named_targets("toxic, approved", ["smiles", "toxic", "approved"], "m.csv")
    ('toxic', 'approved')
    """
    if isinstance(target, str):
        if target in header or "," not in target:
            return named_column(header, target, "target", name)
        target = tuple(part.strip() for part in target.split(",") if part.strip())
    found = tuple(named_column(header, part, "target", name) for part in target)
    for part in found:
        if found.count(part) > 1:
            raise GraphInputError(
                f"{name}: target: {part!r} is named {found.count(part)} times; name it once"
            )
    if not found:
        raise GraphInputError(f"{name}: target: got no column; name one, or several")
    return one_or_several(found)


def one_or_several(names: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the only name, or all of them."""
    return names[0] if len(names) == 1 else names


def named_column(header: Sequence[str], wanted: str, option: str, name: str) -> str:
    """Return a column that a header has once."""
    if wanted not in header:
        raise GraphInputError(f"{name}: {option}: got {wanted!r}; {nearest(wanted, header)}")
    if header.count(wanted) > 1:
        raise GraphInputError(f"{name}: {header.count(wanted)} columns are called {wanted!r}; rename one")
    return wanted
