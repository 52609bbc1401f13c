"""Rows of a source, one graph each, converted to graphs block by block; unreadable rows keep their number."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import numbers
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.datasets.dataset import Dataset, RowError
from twinwl.errors import GraphInputError, TwinWLError, shown, warn_caller
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.from_smiles import read_smiles
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from twinwl.arrays import Float64, Values
    from twinwl.graphs.atom_labels import AtomLevel


BLOCK = 4096  # rows at a time: RDKit's molecules are large, the graphs made from them are not
_MISSING = {"", "nan", "na", "n/a", "none", "null", "<na>"}
_EXACT = 2**53  # beyond, floats skip whole numbers
_SCALARS = (str, numbers.Number, np.generic, dt.date)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FEW = 10  # with fewer rows, any number of them may be unreadable


class Row(NamedTuple):
    """One row of a source, before it is converted to a graph."""

    row: int
    """Its place in the source, from 0."""
    line: int | None
    """Its line in the file, from 1; None if the source has no lines."""
    text: str
    """The graph: SMILES, or graph6."""
    name: str
    target: object = None
    problem: str = ""
    """The reason why it cannot be read, if that is already known."""
    lacks_target: bool = False


class Rows(NamedTuple):
    """A source of one graph per row, opened but not yet read."""

    source: str
    """Name of the source, for messages."""
    kind: str
    """Format of the text of a row, ``"smiles"`` or ``"graph6"``."""
    rows: Iterable[Row]
    target: str | tuple[str, ...] | None = None
    """The column of the targets; several if there are several tasks, and a row's target is a tuple then."""
    atoms: AtomLevel = "skeleton"
    """Content of the labels of molecules."""
    n_jobs: int | None = None
    """Processes that read molecules."""


class _Block(NamedTuple):
    """Graphs, their rows, and the rows that were skipped."""

    graphs: GraphBatch
    rows: list[Row]
    errors: list[RowError]


def read_rows(rows: Rows, name: str, on_error: str = "skip") -> Dataset:
    """Read all rows into one data set; unusable rows are skipped or, with ``"fail"``, an error.

    >>> read_rows(Rows("here", "graph6", [Row(0, None, "Bw", "triangle")]), "tiny").names
    ('triangle',)
    """
    with ProgressBar(f"reading {name}") as bar:
        blocks = []
        for block in _blocks(rows, on_error, BLOCK):
            blocks.append(block)
            bar.advance(len(block.rows))
    kept = [row for block in blocks for row in block.rows]
    errors = [error for block in blocks for error in block.errors]
    if not kept:
        raise _none_usable(rows.source, errors)
    try:
        graphs = concatenate([block.graphs for block in blocks if len(block.graphs)])
    except TwinWLError as error:
        raise GraphInputError(f"{rows.source}: {error}") from error
    target = rows.target
    values = [row.target for row in kept]
    if isinstance(target, tuple):
        y: Values | None = task_table(values, target, rows.source, kept)
    else:
        y = None if target is None else as_targets(values, target, rows.source, kept)
    return _dataset(_Block(graphs, kept, errors), rows, name, y)


def stream_rows(rows: Rows, on_error: str = "skip", size: int = BLOCK) -> Iterator[Dataset]:
    """Read rows block by block, with one block in memory at a time; targets are not read.

    At the end one warning counts the rows that were skipped.
    """
    if size < 1:
        raise GraphInputError(f"block: got {size}, expected 1 or more")
    errors: list[RowError] = []
    n_kept = 0
    for block in _blocks(rows, on_error, size):
        errors += block.errors
        n_kept += len(block.rows)
        yield _dataset(block, rows, rows.source, None)
    if not n_kept:
        raise _none_usable(rows.source, errors)
    warn_left_out(errors, n_kept, rows.source)


def _none_usable(source: str, errors: list[RowError]) -> GraphInputError:
    remedy = "; name another column of targets" if errors[0].kind == "target" else ""
    return GraphInputError(
        f"{source}: none of its {len(errors):,} rows can be used; {_first(errors)}{remedy}"
    )


def _dataset(block: _Block, rows: Rows, name: str, y: Values | None) -> Dataset:
    return Dataset(
        name,
        block.graphs,
        y,
        smiles=tuple(row.text for row in block.rows) if rows.kind == "smiles" else None,
        names=tuple(row.name for row in block.rows),
        rows=np.array([row.row for row in block.rows], np.int64),
        errors=tuple(block.errors),
        target=None if isinstance(rows.target, tuple) else rows.target,
        tasks=rows.target if isinstance(rows.target, tuple) and y is not None else (),
    )


def _blocks(rows: Rows, on_error: str, size: int) -> Iterator[_Block]:
    stream = iter(rows.rows)
    first = True
    while chunk := list(itertools.islice(stream, size)):
        usable, errors = _usable(chunk, rows.target)
        is_smiles = rows.kind == "smiles"
        block = _molecules(usable, errors, rows) if is_smiles else _graph6(usable, errors)
        if block.errors and on_error == "fail":
            raise GraphInputError(
                f"{rows.source}{_place(block.errors[0])}: {block.errors[0].reason}; correct it, or skip "
                'such rows with on_error="skip"'
            )
        if first:
            _check_likely(block, len(chunk), rows)
        first = False
        yield block
    if first:
        raise GraphInputError(f"{rows.source}: there is no graph in it; is it the right file?")


def warn_left_out(errors: Iterable[RowError], n_kept: int, source: str) -> None:
    """Warn once about the rows that were skipped, with their number."""
    found = list(errors)
    if not found:
        return
    n_targets = sum(error.kind == "target" for error in found)
    counts = {"cannot be read": len(found) - n_targets, "without a target": n_targets}
    listing = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    n_rows = len(found) + n_kept
    warn_caller(f"{source}: left out {len(found):,} of {n_rows:,} rows ({listing}); {_first(found)}")


def is_missing(value: object) -> bool:
    """Return whether a cell is empty.

    >>> is_missing("NA"), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    # pandas.NA and NaT are recognised by their text.
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in {"<NA>", "NaT"}


def _usable(chunk: list[Row], target: object) -> tuple[list[Row], list[RowError]]:
    """Separate rows that are complete from those that are not."""
    several = isinstance(target, tuple)
    missing = ("target", "all its targets are missing" if several else f"its target {target!r} is missing")
    errors = [
        RowError(row.row, row.line, *(("graph", row.problem) if row.problem else missing))
        for row in chunk
        if row.problem or row.lacks_target
    ]
    return [row for row in chunk if not (row.problem or row.lacks_target)], errors


def _molecules(usable: list[Row], errors: list[RowError], rows: Rows) -> _Block:
    texts = [row.text for row in usable]
    graphs, kept, failures = read_smiles(texts, "skip", atoms=rows.atoms, n_jobs=rows.n_jobs)
    errors += [
        RowError(*usable[place][:2], "graph", f"SMILES {shown(text)} cannot be read: {reason}")
        for place, text, reason in failures
    ]
    return _Block(graphs, [usable[place] for place in kept], sorted(errors))


def _graph6(usable: list[Row], errors: list[RowError]) -> _Block:
    try:
        return _Block(GraphBatch.from_graph6([row.text for row in usable]), usable, errors)
    except GraphInputError as error:
        if error.graph is None:
            raise
    kept = []
    for row in usable:  # some cannot be read: find out which
        try:
            GraphBatch.from_graph6([row.text])
        except GraphInputError as error:
            errors.append(RowError(row.row, row.line, "graph", str(error).removeprefix("graph 0: ")))
        else:
            kept.append(row)
    return _Block(GraphBatch.from_graph6([row.text for row in kept]), kept, sorted(errors))


def _check_likely(block: _Block, n_rows: int, rows: Rows) -> None:
    """Refuse a file with so many unreadable rows that it evidently has another format."""
    unreadable = [error for error in block.errors if error.kind == "graph"]
    if n_rows >= _FEW and 2 * len(unreadable) > n_rows:
        title = "SMILES" if rows.kind == "smiles" else "graph6"
        raise GraphInputError(
            f"{rows.source}: {len(unreadable):,} of the first {n_rows:,} rows cannot be read, so this is "
            f"probably not {title}; {_first(unreadable)}"
        )


def _first(errors: Iterable[RowError]) -> str:
    error = next(iter(errors))
    return f"the first is{_place(error).replace(',', '')}: {error.reason}"


def _place(error: RowError | Row) -> str:
    return f", row {error.row}" if error.line is None else f", line {error.line}"


def as_targets(values: list[object], target: str, source: str, rows: Sequence[Row] = ()) -> Values:
    """Return integers if all values are integers, floats if all are numbers, else strings.

    ``rows`` are the rows of the values, for messages.
    """
    wrong = next((value for value in values if not isinstance(value, _SCALARS)), None)
    if wrong is not None:
        raise GraphInputError(f"{source}: target {target!r}: got {shown(wrong)}, expected numbers or strings")
    try:
        found = [_number(value) for value in values]
    except ValueError:
        _refuse_mixture(values, target, source, rows)
        return np.array([str(value).strip() for value in values])
    infinite = next((place for place, number in enumerate(found) if not math.isfinite(number)), None)
    if infinite is not None:
        where = _place(rows[infinite]) if rows else ""
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
    texts, measured = [], None
    for place, value in enumerate(values):
        try:
            measured = measured if _number(value).is_integer() else value
        except ValueError:
            texts.append(place)
    if measured is not None:
        where = _place(rows[texts[0]]) if rows else ""
        raise GraphInputError(
            f"{source}{where}: target {target!r}: got {shown(values[texts[0]])}, and {measured} in another "
            "row; correct it, leave the cell empty, or choose another column"
        )


def task_table(values: list[Any], tasks: tuple[str, ...], source: str, rows: Sequence[Row]) -> Float64:
    """Return the targets of several tasks, one column each, as numbers; NaN where one is missing.

    >>> rows = [Row(0, 2, "CC", "CC"), Row(1, 3, "CO", "CO")]
    >>> task_table([(1, ""), ("0", 1)], ("toxic", "approved"), "m.csv", rows)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    table = np.full((len(values), len(tasks)), np.nan)
    for place, cells in enumerate(values):
        for task, cell in enumerate(cells):
            if is_missing(cell):
                continue
            try:
                table[place, task] = _number(cell)
            except ValueError as error:
                raise GraphInputError(
                    f"{source}{_place(rows[place])}: target {tasks[task]!r}: got {shown(cell)}, expected "
                    "numbers where there are several targets; leave that column out, or write its classes as "
                    "0 and 1"
                ) from error
            if math.isinf(table[place, task]):
                raise GraphInputError(
                    f"{source}{_place(rows[place])}: target {tasks[task]!r}: got an infinite number, "
                    "expected finite ones; correct it, or leave the cell empty"
                )
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
    known = [cell for cell in cells if not is_missing(cell)]
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
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        raise ValueError(value) from error
