"""Targets: which columns hold them, which cells are missing, and what numbers or classes the others are."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from twinwl.arrays import Float64, Values
from twinwl.errors import GraphInputError, nearest, setting, shown, warn_caller

if TYPE_CHECKING:
    from twinwl.datasets.dataset import RowError
    from twinwl.datasets.records import Record

Targets = Literal["needed", "obvious", "given", "none"]
"""Fail without a target, take one where no choice is to be made, only where its column is named, or never.

``"none"`` is about tables: other data sets have their targets all the same.
"""
ALL = "all"
"""As a target: every column of numbers."""

_OBVIOUS = ("label", "class", "target", "y")
# What pandas reads as missing, in any case, and what else tables of measurements have.
_MISSING = {
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
    "nan", "none", "null", "-", "?", "n.d.",
}  # fmt: skip
_EXACT = 2**53  # beyond, floats skip whole numbers
_SCALARS = (str, numbers.Number, np.generic, dt.date)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+(\.[0-9]*)?|(\.[0-9]{3})+,[0-9]+)")


def choose_targets(
    header: Sequence[str],
    source: str,
    target: str | tuple[str, ...] | None,
    targets: Targets,
    cells: Callable[[], Mapping[str, Sequence[object]]] = dict,
    used: Sequence[str] = (),
) -> str | tuple[str, ...] | None:
    """Return the column of targets, or several.

    Parameters
    ----------
    header
        The columns that may be targets.
    source
        Name of the source, for messages.
    target
        What the user named: ``"a,b"`` names two columns, unless one is called so; ``"all"`` every column of
        numbers.
    targets
        What to do without a name.
    cells
        Returns the cells of all columns; called for ``"all"``.
    used
        Columns that ``"all"`` leaves out.

    >>> choose_targets(["toxic", "approved"], "m.csv", "toxic, approved", "given")
    ('toxic', 'approved')
    >>> choose_targets(["id", "Class"], "m.csv", None, "needed")
    'Class'
    """
    if target == ALL and ALL not in header:
        return _one_or_several(usable_targets(cells(), source, used))
    if target is not None:
        return named_targets(target, header, source)
    obvious = header if len(header) == 1 else [name for name in header if name.lower() in _OBVIOUS]
    if targets not in {"given", "none"} and len(obvious) == 1:
        return named_column(header, obvious[0], "target", source)
    if targets == "needed":
        held = ", ".join(map(repr, header)) or "none"
        raise GraphInputError(
            f"{source}: name the column of targets with {setting(target=...)}; there are: {held}"
        )
    return None


def named_targets(target: str | tuple[str, ...], header: Sequence[str], name: str) -> str | tuple[str, ...]:
    """Return the column, or the columns, that a target names."""
    if isinstance(target, str):
        several = target not in header and "," in target
        target = tuple(filter(None, map(str.strip, target.split(",")))) if several else (target,)
    found = tuple(named_column(header, part, "target", name) for part in target)
    for part in found:
        if found.count(part) > 1:
            raise GraphInputError(
                f"{name}: target: {part!r} is named {found.count(part)} times; name it once"
            )
    if not found:
        raise GraphInputError(f"{name}: target: got no column; name one, or several")
    return _one_or_several(found)


def _one_or_several(names: tuple[str, ...]) -> str | tuple[str, ...]:
    return names[0] if len(names) == 1 else names


def named_column(header: Sequence[str], wanted: str, option: str, name: str) -> str:
    """Return a column that a header has once."""
    if wanted not in header:
        raise GraphInputError(f"{name}: {option}: got {wanted!r}; {nearest(wanted, header)}")
    if list(header).count(wanted) > 1:
        raise GraphInputError(
            f"{name}: {list(header).count(wanted)} columns are called {wanted!r}; rename one"
        )
    return wanted


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
    numbers = {_number(cell) for cell in known_cells(cells) if cell is not None}
    if None in numbers:
        return "text"
    if not all(map(math.isfinite, numbers)):  # type: ignore[arg-type]
        return "infinite numbers"
    return "" if len(numbers) > 1 else "one value" if numbers else "empty"


def known_cells(cells: Iterable[object]) -> list[object]:
    """Return the cells of a column of targets, None where one is missing.

    A dash is a class where all other cells are ``+``, and missing elsewhere.

    >>> known_cells(["a", "-", "N/A"]), known_cells(["+", "-", "N/A"])
    (['a', None, None], ['+', '-', None])
    """
    listed = list(cells)
    known = [None if is_missing(cell) else cell for cell in listed]
    if {str(cell).strip() for cell in known if cell is not None} == {"+"}:
        return [cell if str(cell).strip() in {"+", "-"} else None for cell in listed]
    return known


def is_missing(value: object) -> bool:
    """Return whether a cell by itself is empty or stands for a missing value; see `known_cells`.

    >>> is_missing("NA"), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    return value is None or str(value) in {"nan", "<NA>", "NaT"}  # (the last two are pandas')


class _Column(NamedTuple):
    """The known cells of a target, with what messages say of them."""

    cells: Sequence[object]
    target: str
    source: str
    rows: Sequence[Record]

    def error(self, place: int, problem: str) -> GraphInputError:
        where = place_of(self.rows[place]) if self.rows else ""
        return GraphInputError(f"{self.source}{where}: target {self.target!r}: got {problem}")

    def unclear(self, place: int) -> GraphInputError:
        return self.error(
            place,
            f"{shown(self.cells[place])}, whose comma may be decimal or separate thousands; write all "
            "numbers with a decimal point and without separators",
        )

    def check_numbers(self, found: Sequence[float]) -> None:
        """Refuse infinite ones; say that commas are read as decimal ones, where they are not thousands."""
        infinite = next((place for place, number in enumerate(found) if not math.isfinite(number)), None)
        if infinite is not None:
            raise self.error(
                infinite, "an infinite number, expected finite ones; correct it, or leave the cell empty"
            )
        texts = [cell.strip() if isinstance(cell, str) else "" for cell in self.cells]
        commas = [place for place, text in enumerate(texts) if "," in text]
        if not commas:
            return
        if any("." in text for text in texts) or all(_GROUPED.fullmatch(texts[place]) for place in commas):
            raise self.unclear(commas[0])
        first = texts[commas[0]]
        warn_caller(
            f"{self.source}: target {self.target!r}: {len(commas):,} numbers have a decimal comma: {first} "
            f"is read as {first.replace(',', '.')}"
        )

    def check_classes(self, found: Sequence[float | None]) -> None:
        """Refuse text among measurements; whole numbers and text may all be names of classes."""
        others = [place for place, number in enumerate(found) if number is None]
        texts = [place for place in others if not _GROUPED.fullmatch(str(self.cells[place]).strip())]
        if not texts:
            raise self.unclear(others[0])
        pairs = zip(self.cells, found, strict=True)
        measured = [cell for cell, number in pairs if number is not None and not number.is_integer()]
        if measured:
            raise self.error(
                texts[0],
                f"{shown(self.cells[texts[0]])}, and {measured[-1]} in another row; correct it, leave the "
                "cell empty, or choose another column",
            )


def as_targets(cells: Sequence[object], target: str, source: str, rows: Sequence[Record] = ()) -> Values:
    """Return integers if all cells are integers, floats if all are numbers, else strings.

    Numbers may have a decimal comma, which a warning says. ``rows`` are the rows of the cells, for messages.
    """
    column = _Column(cells, target, source, rows)
    wrong = next((cell for cell in cells if not isinstance(cell, _SCALARS)), None)
    if wrong is not None:
        raise GraphInputError(f"{source}: target {target!r}: got {shown(wrong)}, expected numbers or strings")
    found = [_number(cell) for cell in cells]
    texts = [str(cell).strip() for cell in cells]
    if None in found:
        column.check_classes(found)
        return np.array(texts)
    values: Float64 = np.array(found, np.float64)
    column.check_numbers(found)  # type: ignore[arg-type]
    if (values == np.floor(values)).all() and (np.abs(values) <= _EXACT).all():
        return values.astype(np.int64)
    # Integers too long to be distinguished as floats are names.
    return np.array(texts) if all(map(_INTEGER.fullmatch, texts)) else values


def task_table(
    rows_of_cells: Sequence[Sequence[object]], tasks: tuple[str, ...], source: str, rows: Sequence[Record]
) -> Float64:
    """Return the targets of several tasks, one column each, as numbers; NaN where one is None.

    >>> from twinwl.datasets.records import Record
    >>> rows = [Record(0, 2, "CC", "CC"), Record(1, 3, "CO", "CO")]
    >>> task_table([(1, None), ("0", 1)], ("toxic", "approved"), "m.csv", rows)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    table = np.full((len(rows_of_cells), len(tasks)), np.nan)
    for task, (name, cells) in enumerate(zip(tasks, zip(*rows_of_cells, strict=True), strict=True)):
        places = [place for place, cell in enumerate(cells) if cell is not None]
        if not places:
            raise GraphInputError(f"{source}: target {name!r} is missing in all rows; leave that column out")
        column = _Column([cells[place] for place in places], name, source, [rows[place] for place in places])
        found = [_number(cell) for cell in column.cells]
        if None in found:
            place = found.index(None)
            raise column.error(
                place,
                f"{shown(column.cells[place])}, expected numbers where there are several targets; leave that "
                "column out, or write its classes as 0 and 1",
            )
        column.check_numbers(found)  # type: ignore[arg-type]
        table[places, task] = found
    return table


def _number(value: object) -> float | None:
    if isinstance(value, str):
        if "_" in value:  # Python reads 1_000 as a number, a table does not mean it
            return None
        value = value.replace(",", ".") if _DECIMAL_COMMA.fullmatch(value.strip()) else value
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def place_of(row: RowError | Record) -> str:
    """Return where a row of a source is, to be put behind the name of the source in a message."""
    return f", row {row.row}" if row.line is None else f", line {row.line}"
