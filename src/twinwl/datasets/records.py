"""Records: the one stream in which rows of files, frames and lists become graphs.

Whatever has one graph per row (lines of SMILES or graph6, tables, SD files, frames, lists) is opened as
`Records`: an iterator of `Record`, each with the text of its graph, its name, the cells of the columns that
were asked for, its row and line, and the reason if it cannot be read. A record that cannot be read keeps its
row, so that rows of a data set are rows of its source.

`read_records` makes one `Dataset` of all of them, `stream_records` one per block of rows, `convert` the
graphs of a list of them. All three take records from anywhere, such as a part of a file that another process
reads: `twinwl.datasets.tables` has functions from numbered lines to records (`smiles_records`,
`graph6_records`, `sdf_records`, and `table_records` of `csv_table`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from twinwl.arrays import Values
from twinwl.datasets.dataset import Dataset, RowError
from twinwl.datasets.targets import as_targets, known_cells, place_of, task_table
from twinwl.errors import GraphInputError, TwinWLError, setting, shown, warn_caller
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.molecules import AtomLevel, read_smiles
from twinwl.terminal import ProgressBar

BLOCK = 4096  # rows at a time: RDKit's molecules are large, the graphs made from them are not
_FEW = 10  # with fewer rows, any number of them may be unreadable


class Record(NamedTuple):
    """One row of a source, before it is converted to a graph."""

    row: int
    """Its place in the source, from 0."""
    line: int | None
    """Its line in the file, from 1; None if the source has no lines."""
    text: str
    """The graph: SMILES, or graph6."""
    name: str
    cells: tuple[object, ...] = ()
    """One per column that was asked for, usually the targets."""
    error: str = ""
    """Why it cannot be read, if that is already known."""
    lacks: str = ""
    """Why it has no target; known once all rows are read."""


@dataclass(frozen=True)
class Records:
    """A source of one graph per row, opened but not yet read."""

    source: str
    """Name of the source, for messages."""
    kind: Literal["smiles", "graph6"]
    """Format of the text of a record."""
    records: Iterable[Record]
    target: str | tuple[str, ...] | None = None
    """The column of the targets; a tuple if there are several tasks."""
    atoms: AtomLevel = "skeleton"
    """Content of the labels of molecules."""
    n_jobs: int | None = None
    """Processes that read molecules."""
    single: bool = False
    """Whether this is the one record that was asked for, which cannot be skipped."""


def read_records(records: Records, name: str, on_error: str = "skip") -> Dataset:
    """Read all records into one data set; unusable ones are skipped or, with ``"fail"``, an error.

    >>> read_records(Records("here", "graph6", [Record(0, None, "Bw", "triangle")]), "tiny").names
    ('triangle',)
    """
    if records.target is not None:
        records = replace(records, records=_with_known_cells(records))
    kept: list[Record] = []
    errors: list[RowError] = []
    batches = []
    with ProgressBar(f"reading {name}") as bar:
        for graphs, some, unusable in _blocks(records, on_error, BLOCK):
            batches += [graphs] if some else []
            kept += some
            errors += unusable
            bar.advance(len(some))
    if not kept:
        raise _none_usable(records.source, errors)
    try:
        graphs = concatenate(batches)
    except TwinWLError as error:
        raise GraphInputError(f"{records.source}: {error}") from error
    y: Values | None = None
    if isinstance(records.target, tuple):
        y = task_table([record.cells for record in kept], records.target, records.source, kept)
    elif records.target is not None:
        y = as_targets([record.cells[0] for record in kept], records.target, records.source, kept)
    return _dataset(records, name, graphs, kept, errors, y)


def stream_records(records: Records, on_error: str = "skip", size: int = BLOCK) -> Iterator[Dataset]:
    """Read records block by block, with one block in memory at a time; targets are not read.

    Blocks have the ``lines`` that write their graphs again. At the end one warning counts the rows that were
    skipped.
    """
    if size < 1:
        raise GraphInputError(f"block: got {size}, expected 1 or more")
    errors: list[RowError] = []
    n_kept = 0
    for graphs, kept, unusable in _blocks(records, on_error, size):
        errors += unusable
        n_kept += len(kept)
        named = records.kind == "smiles"
        lines = (f"{r.text} {r.name}" if named and r.name != r.text else r.text for r in kept)
        found = _dataset(replace(records, target=None), records.source, graphs, kept, unusable)
        yield replace(found, lines=tuple(lines))
    if not n_kept:
        raise _none_usable(records.source, errors)
    warn_left_out(errors, n_kept, records.source)


def convert(records: Records, chunk: list[Record]) -> tuple[GraphBatch, list[Record], list[RowError]]:
    """Return the graphs of some records, the records that they are of, and the errors of the others."""
    errors = [
        RowError(record.row, record.line, "graph" if record.error else "target", record.error or record.lacks)
        for record in chunk
        if record.error or record.lacks
    ]
    usable = [record for record in chunk if not (record.error or record.lacks)] if errors else chunk
    texts = [record.text for record in usable]
    failed: dict[int, str] = {}
    if records.kind == "smiles":
        graphs, _, failures = read_smiles(texts, "skip", atoms=records.atoms, n_jobs=records.n_jobs)
        failed = {place: f"SMILES {shown(text)} cannot be read: {why}" for place, text, why in failures}
    else:
        try:
            graphs = GraphBatch.from_graph6(texts)
        except GraphInputError:  # some cannot be read: find out which
            for place, text in enumerate(texts):
                try:
                    GraphBatch.from_graph6([text])
                except GraphInputError as error:
                    failed[place] = str(error).removeprefix("graph 0: ")
            graphs = GraphBatch.from_graph6([text for place, text in enumerate(texts) if place not in failed])
    errors += [RowError(usable[place].row, usable[place].line, "graph", why) for place, why in failed.items()]
    kept = [record for place, record in enumerate(usable) if place not in failed]
    return graphs, kept, sorted(errors)


def _blocks(
    records: Records, on_error: str, size: int
) -> Iterator[tuple[GraphBatch, list[Record], list[RowError]]]:
    stream = iter(records.records)
    first = True
    while chunk := list(itertools.islice(stream, size)):
        graphs, kept, errors = convert(records, chunk)
        if errors and on_error == "fail":
            where = "" if records.single and errors[0].line is None else place_of(errors[0])
            remedy = "" if records.single else f", or skip such rows with {setting(on_error='skip')}"
            raise GraphInputError(f"{records.source}{where}: {errors[0].reason}; correct it{remedy}")
        unreadable = [error for error in errors if error.kind == "graph"]
        if first and len(chunk) >= _FEW and 2 * len(unreadable) > len(chunk):
            title = "SMILES" if records.kind == "smiles" else "graph6"
            raise GraphInputError(
                f"{records.source}: {len(unreadable):,} of the first {len(chunk):,} rows cannot be read, so "
                f"this is probably not {title}; {_first(unreadable)}"
            )
        first = False
        yield graphs, kept, errors
    if first:
        raise GraphInputError(f"{records.source}: there is no graph in it; is it the right file?")


def _with_known_cells(records: Records) -> list[Record]:
    """Read all rows, because a cell may be missing or not by what is in its column; see `known_cells`."""
    listed = list(records.records)
    target = records.target
    width = len(target) if isinstance(target, tuple) else 1
    columns = zip(*(record.cells or (None,) * width for record in listed), strict=True)
    known = zip(*map(known_cells, columns), strict=True)
    found = []
    for record, cells in zip(listed, known, strict=True):
        lacks = ""
        if all(cell is None for cell in cells):
            lacks = "all its targets are missing"
            if not isinstance(target, tuple):
                given = record.cells[0] if record.cells else None
                written = "" if given is None else str(given).strip()
                lacks = f"its target {target!r} is missing" + (f" ({shown(written)})" if written else "")
        found.append(record._replace(cells=cells, lacks=lacks))
    return found


def _dataset(
    records: Records,
    name: str,
    graphs: GraphBatch,
    kept: list[Record],
    errors: list[RowError],
    y: Values | None = None,
) -> Dataset:
    several = isinstance(records.target, tuple)
    return Dataset(
        name,
        graphs,
        y,
        smiles=tuple(record.text for record in kept) if records.kind == "smiles" else None,
        names=tuple(record.name for record in kept),
        rows=np.array([record.row for record in kept], np.int64),
        errors=tuple(errors),
        target=None if several else records.target,  # type: ignore[arg-type]
        tasks=records.target if several else (),  # type: ignore[arg-type]
    )


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


def _none_usable(source: str, errors: list[RowError]) -> GraphInputError:
    remedy = "; name another column of targets" if errors[0].kind == "target" else ""
    return GraphInputError(
        f"{source}: none of its {len(errors):,} rows can be used; {_first(errors)}{remedy}"
    )


def _first(errors: list[RowError]) -> str:
    return f"the first is{place_of(errors[0]).replace(',', '')}: {errors[0].reason}"
