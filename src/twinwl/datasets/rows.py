"""Rows of a source, one graph each, converted to graphs block by block; unreadable rows keep their number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from twinwl.arrays import Values
from twinwl.datasets.dataset import Dataset, RowError
from twinwl.datasets.targets import as_targets, known_cells, place_of, task_table
from twinwl.errors import GraphInputError, TwinWLError, shown, warn_caller
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.molecules import AtomLevel, read_smiles
from twinwl.terminal import ProgressBar

BLOCK = 4096  # rows at a time: RDKit's molecules are large, the graphs made from them are not
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
    """Whether its target, or all of several, is missing; known once all rows are read."""


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
        rows = rows if rows.target is None else rows._replace(rows=_with_known_targets(rows))
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


def _with_known_targets(rows: Rows) -> list[Row]:
    """Read all rows, because a cell may be missing or not by what is in its column; see `known_cells`."""
    listed = list(rows.rows)
    several = len(rows.target) if isinstance(rows.target, tuple) else 0
    cells = [
        row.target if isinstance(row.target, tuple) else (row.target,) * (several or 1) for row in listed
    ]
    known = list(zip(*map(known_cells, zip(*cells, strict=True)), strict=True))
    return [
        row._replace(lacks_target=True)
        if all(cell is None for cell in found)
        else row._replace(target=found if several else found[0])
        for row, found in zip(listed, known, strict=True)
    ]


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
                f"{rows.source}{place_of(block.errors[0])}: {block.errors[0].reason}; correct it, or skip "
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


def _usable(chunk: list[Row], target: object) -> tuple[list[Row], list[RowError]]:
    """Separate rows that are complete from those that are not."""
    errors = [
        RowError(
            row.row, row.line, *(("graph", row.problem) if row.problem else ("target", _lack(row, target)))
        )
        for row in chunk
        if row.problem or row.lacks_target
    ]
    return [row for row in chunk if not (row.problem or row.lacks_target)], errors


def _lack(row: Row, target: object) -> str:
    if isinstance(target, tuple):
        return "all its targets are missing"
    written = f" ({shown(row.target)})" if row.target is not None and str(row.target).strip() else ""
    return f"its target {target!r} is missing{written}"


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
            errors.append(RowError(row.row, row.line, "graph", str(error.at(None))))
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
    return f"the first is{place_of(error).replace(',', '')}: {error.reason}"
