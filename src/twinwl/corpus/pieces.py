"""Input files cut into pieces of whole rows, which workers read by themselves.

Where a piece ends depends on the file alone, so that the same input always gives the same shards. Files are
read once for that, and each piece gets a digest, by which a changed input is noticed.
"""

from __future__ import annotations

import csv
import glob
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items
from twinwl.corpus.shards import arrow, digest_of
from twinwl.datasets.formats.sdf import END, property_names
from twinwl.datasets.formats.text_files import MAX_LINE, open_file
from twinwl.datasets.kinds import NAME as UNKNOWN
from twinwl.datasets.kinds import ROW_KINDS, place_of
from twinwl.errors import GraphInputError, TwinWLError, first_line, import_extra, shown
from twinwl.files.atomic import written
from twinwl.files.cache import file_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

# A piece has at most so many rows, about so many bytes, and of a Parquet file so many values in its lists,
# that a process which makes a shard of it stays within the least memory of a job, 512 MiB. They do not depend
# on the memory given, because shards must not.
ROWS = {"graph6": 1 << 16, "smiles": 1 << 14, "table": 1 << 14, "sdf": 1 << 12, "edges": 1 << 16}
_BYTES = {"graph6": 1 << 19, "smiles": 1 << 22, "table": 1 << 24, "sdf": 1 << 25, "edges": 1 << 24}
_VALUES = 1 << 21
_BLOCK = 1 << 24
_SPACE = np.frombuffer(b" \t\r\n\v\f", np.uint8)


class Source(NamedTuple):
    """A file with graphs.

    Attributes
    ----------
    name : str
        As the user wrote it.
    path : str
        Where it is read: the file itself, or what it was unpacked to.
    kind : str
        ``"graph6"``, ``"smiles"``, ``"table"`` (CSV), ``"sdf"``, ``"parquet"``.
    """

    name: str
    path: str
    kind: str


class Piece(NamedTuple):
    """Some consecutive rows of a source.

    Attributes
    ----------
    start, stop : int
        The range of bytes; of a Parquet file the range of rows.
    row, n_rows : int
        Number of the first row in the file, from 0, and of rows.
    line : int
        The first line, from 1; 0 where there are no lines.
    digest : str
        Of its content.
    """

    source: Source
    start: int
    stop: int
    row: int
    n_rows: int
    line: int
    digest: str


def find_sources(inputs: object, kind: str | None, *, has_columns: bool) -> list[Source]:
    """Return the files that some paths or patterns name, in order; those of a pattern are sorted.

    Raises
    ------
    TwinWLError
        If one does not exist, is named twice, or is of a kind that has no rows.
    """
    given = [inputs] if isinstance(inputs, str | Path) else items("inputs", inputs, "a list of paths")
    names: list[str] = []
    for each in given:
        path = str(checked("inputs", each, PATH))
        try:
            found = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        except (OSError, ValueError, RecursionError) as error:  # too long, or with a zero byte
            raise GraphInputError(f"cannot read {shown(path)}: {error}") from error
        if not found:
            raise GraphInputError(f"cannot read {shown(path)}: no such file")
        names += found
    if not names:
        raise TwinWLError("inputs: got no file, expected at least one")
    sources = []
    for name, times in Counter(names).items():
        if times > 1:
            raise GraphInputError(f"{shown(name)} is named {times} times; name it once")
        place = place_of(Path(name), kind, has_columns=has_columns)
        if place.kind == UNKNOWN or place.kind not in ROW_KINDS:
            raise GraphInputError(
                f"{shown(name)}: a corpus is built from graph6, SMILES, .csv, .sdf or .parquet files, "
                f"not from {place.kind!r}"
            )
        is_parquet = Path(name).suffix.lower() == ".parquet"
        sources.append(Source(name, name, "parquet" if is_parquet else place.kind))
    return sources


def unpacked(source: Source, path: Path) -> Source:
    """Unpack a file that ends in ``.gz`` to a path, so that workers can start in the middle of it."""
    with open_file(Path(source.name)) as packed, written(path) as stream:
        while block := packed.read(_BLOCK):
            stream.write(block)
    return source._replace(path=str(path))


def is_packed(source: Source) -> bool:
    """Return whether a source has to be unpacked first."""
    return source.name.lower().endswith(".gz")


def pieces_of(source: Source, rows: int | None = None) -> Iterator[Piece]:
    """Cut a source into pieces.

    Parameters
    ----------
    source
        A file that is not packed.
    rows
        Rows of a piece; None takes what suits the kind.
    """
    if source.kind == "parquet":
        yield from _pieces_of_parquet(source, rows)
        return
    most = rows or ROWS[source.kind], _BYTES[source.kind]
    with open_file(Path(source.path)) as stream:
        cuts = {"table": _cuts_of_table, "sdf": _cuts_of_records}.get(source.kind, _cuts_of_lines)
        start = row = 0
        line = 1
        for stop, next_row, next_line in cuts(stream, *most):
            if source.kind == "table" and start == 0:  # the header
                start, line = stop, next_line
                continue
            if next_row > row:
                with open_file(Path(source.path)) as again:
                    again.seek(start)
                    digest = digest_of(f"{source.kind} {row} ", again.read(stop - start))
                yield Piece(source, start, stop, row, next_row - row, line, digest)
            start, row, line = stop, next_row, next_line


def _cuts_of_lines(stream: IO[bytes], rows: int, n_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Yield byte, row and line after each piece of a file of one row per line; blank lines are no rows."""
    offset, row, line = 0, 0, 1
    rest = b""
    last_cut, last_row = 0, 0
    while block := stream.read(_BLOCK):
        content = rest + block
        ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1
        if not len(ends):
            rest = content
            if len(rest) > MAX_LINE:
                raise GraphInputError(f"line {line}: longer than {MAX_LINE >> 20} MiB; is this a text file?")
            continue
        rows_after = row + np.cumsum(~_blank(content, ends))
        stops = offset + ends
        place = -1
        while True:
            by_rows = int(np.searchsorted(rows_after, last_row + rows))
            by_bytes = int(np.searchsorted(stops, last_cut + n_bytes))
            place = min(by_rows, max(by_bytes, place + 1))
            if place >= len(ends):
                break
            last_cut, last_row = int(stops[place]), int(rows_after[place])
            yield last_cut, last_row, line + place + 1
        line += len(ends)
        row = int(rows_after[-1])
        offset += int(ends[-1])
        rest = content[ends[-1] :]
    more = bool(rest.strip())
    if row + more > last_row:
        yield offset + len(rest), row + more, line + 1


def _blank(content: bytes, ends: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which lines hold nothing but white space."""
    starts = np.concatenate([[0], ends[:-1]])
    found: np.ndarray[Any, np.dtype[np.bool_]] = np.isin(np.frombuffer(content, np.uint8)[starts], _SPACE)
    for place in np.flatnonzero(found).tolist():
        found[place] = not content[starts[place] : ends[place]].strip()
    return found


def _cuts_of_records(stream: IO[bytes], rows: int, n_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Yield the same for SD files."""
    offset = row = last_row = last_cut = 0
    line = 1
    pending = False
    for text in stream:
        offset += len(text)
        line += 1
        pending |= bool(text.strip())
        if text.startswith(END.encode()):
            row += 1
            pending = False
            if row - last_row == rows or offset - last_cut >= n_bytes:
                yield offset, row, line
                last_row, last_cut = row, offset
    row += pending
    if row > last_row:
        yield offset, row, line


def _cuts_of_table(stream: IO[bytes], rows: int, n_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Yield the same for CSV files, first of all for the header; cells in quotes may hold line breaks."""
    offset = 0

    def lines() -> Iterator[str]:
        nonlocal offset
        for text in stream:
            offset += len(text)
            yield text.decode("utf-8", "replace")

    texts = lines()
    header = next(texts, "")
    yield offset, 0, 2
    reader = csv.reader(texts, delimiter=delimiter_of(header))
    row = last_row = last_cut = 0
    try:
        for cells in reader:
            row += any(cell.strip() for cell in cells)
            if row - last_row == rows or offset - last_cut >= n_bytes:
                yield offset, row, reader.line_num + 2
                last_row, last_cut = row, offset
    except csv.Error as error:
        raise GraphInputError(f"line {reader.line_num + 1}: {error}; correct that line") from error
    if row > last_row:
        yield offset, row, reader.line_num + 2


def delimiter_of(header: str) -> str:
    """Return the separator of a table: the one that is most common in the header, as `csv_table` has it."""
    return max(",;\t", key=header.count)


def header_of(source: Source) -> list[str]:
    """Return the names of the columns of a source that may be kept."""
    if source.kind == "table":
        with open_file(Path(source.path)) as stream:
            text = stream.readline(MAX_LINE).decode("utf-8-sig", "replace")
        return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter_of(text)), [])]
    if source.kind == "sdf":
        return property_names(Path(source.path))
    return []


def parquet_file(source: Source) -> Any:  # noqa: ANN401
    """Open a Parquet file."""
    with open_file(Path(source.path)):  # refuses what is not a file or not readable
        pass
    try:
        return import_extra("pyarrow.parquet", "parquet").ParquetFile(source.path)
    except arrow().ArrowException as error:
        raise GraphInputError(
            f"{source.name}: not a readable Parquet file ({first_line(error)}); get it again"
        ) from error


def _pieces_of_parquet(source: Source, rows: int | None) -> Iterator[Piece]:
    """Cut row groups, which are what can be read by itself."""
    digest = file_digest(source.path)
    with parquet_file(source) as file:
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        start = 0
        for group in groups:
            n_values = sum(group.column(place).num_values for place in range(group.num_columns))
            share = max(group.total_byte_size / _BYTES["edges"], n_values / _VALUES, 1e-9)
            most = max(1, min(rows or ROWS["edges"], int(group.num_rows / share)))
            stop = start + group.num_rows
            for low in range(start, stop, most):
                high = min(low + most, stop)
                yield Piece(source, low, high, low, high - low, 0, digest_of(digest, f" {low} {high}"))
            start = stop
