"""Pieces of input read into shards: the rows that are graphs, and those that are none, with the reason.

`shard_of` is a pure function: the same piece and settings give the same two Arrow tables in every process.
"""

from __future__ import annotations

import functools
import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.corpus.edge_columns import read_edges
from twinwl.corpus.pieces import Piece, Source, parquet_file
from twinwl.corpus.shards import arrow, graph_table
from twinwl.datasets.formats.sdf import properties_in, record_rows
from twinwl.datasets.formats.tables import csv_table
from twinwl.datasets.formats.text_files import open_file
from twinwl.errors import GraphInputError, first_line, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.from_graph6 import plain_graph6
from twinwl.graphs.from_smiles import read_smiles
from twinwl.graphs.selection import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from twinwl.arrays import Int64

_NO_ASCII = 128
_BATCH = 1 << 13
_HEADERS = (b">>graph6<<", b">>sparse6<<", b">>digraph6<<")


class Rows(NamedTuple):
    """Rows of a piece, before they are graphs.

    Attributes
    ----------
    texts : Arrow array
        SMILES, graph6, or what to show of a bad row.
    ids : list or Arrow array, or None
        Where one is missing, or None, the graph is called by file and row.
    others : dict of Arrow arrays or lists
        Columns to keep.
    problems : dict
        By place, why a row cannot be read, where that is already known.
    """

    texts: Any
    ids: Any
    others: dict[str, Any]
    problems: dict[int, str]


def shard_of(piece: Piece, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """Read a piece.

    Parameters
    ----------
    piece
        Some rows of a file.
    settings
        As `twinwl.corpus.building.settings_for` makes them.

    Returns
    -------
    shard, errors : Arrow tables
        The graphs, and the rows that are none: ``file``, ``row``, ``reason``, ``text``.

    Raises
    ------
    GraphInputError
        If the file has changed so much that it is no longer text, or has other columns.
    """
    pa = arrow()
    if settings["kind"] == "edges":
        table = _parquet_rows(piece)
        graphs, kept, problems = read_edges(table, settings)
        others = {new: table.column(old) for old, new in settings["columns"].items()}
        ids = table.column(settings["id_column"]) if settings["id_column"] else None
        rows = Rows(pa.nulls(table.num_rows, pa.string()), ids, others, problems)
    else:
        rows = _rows_of(piece, settings)
        read = _read_graph6 if settings["kind"] == "graph6" else _read_molecules
        graphs, kept = read(rows, settings)
    chosen = None if len(kept) == len(rows.texts) else pa.array(kept)
    columns = {name: _taken(_as_array(cells), chosen) for name, cells in rows.others.items()}
    ids = _ids(rows.ids, piece, kept, chosen)
    bad = sorted(rows.problems)
    texts = rows.texts.take(pa.array(bad, pa.int64())) if bad else pa.array([], pa.string())
    errors = pa.table(
        {
            "file": pa.array([piece.source.name] * len(bad), pa.string()),
            "row": pa.array([piece.row + place for place in bad], pa.int64()),
            "reason": pa.array([rows.problems[place] for place in bad], pa.string()),
            "text": texts,
        }
    )
    if not settings.get("edge_labels", True):
        graphs = graphs.without_edge_labels()
    return graph_table(graphs, ids, columns), errors


def _as_array(cells: Any) -> Any:  # noqa: ANN401
    pa = arrow()
    if isinstance(cells, list):
        return pa.array(cells, pa.string())
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def _taken(array: Any, chosen: Any) -> Any:  # noqa: ANN401
    return array if chosen is None else array.take(chosen)


def _ids(given: Any, piece: Piece, kept: Int64, chosen: Any) -> Any:  # noqa: ANN401
    pa = arrow()
    numbers = pa.array(piece.row + kept).cast(pa.string())
    names = pa.compute.binary_join_element_wise(pa.scalar(f"{piece.source.name}#"), numbers, "")
    if given is None:
        return names
    found = _taken(_as_array(given), chosen).cast(pa.string())
    blank = pa.compute.equal(pa.compute.utf8_trim_whitespace(found.fill_null("")), "")
    return pa.compute.if_else(blank, names, found)


def _rows_of(piece: Piece, settings: Mapping[str, Any]) -> Rows:
    if piece.source.kind == "parquet":
        table = _parquet_rows(piece)
        return _table_rows(
            {name: table.column(name).to_pylist() for name in {settings["smiles_column"]}},
            {name: table.column(name) for name in table.column_names},
            {},
            settings,
        )
    with open_file(Path(piece.source.path)) as stream:
        header = stream.readline() if piece.source.kind == "table" else b""
        stream.seek(piece.start)
        content = stream.read(piece.stop - piece.start)
    if piece.source.kind == "graph6":
        return Rows(_lines(content, first=piece.row == 0), None, {}, {})
    texts = content.decode("utf-8", "surrogateescape")
    if piece.start == 0:
        texts = texts.removeprefix("\ufeff")
    if piece.source.kind == "smiles":
        return _named_smiles(texts.split("\n"))
    if piece.source.kind == "sdf":
        return _records(piece, texts, settings)
    # Not splitlines(), which also ends lines at form feeds and other characters of cells.
    lines = itertools.chain([header.decode("utf-8-sig", "replace")], io.StringIO(texts))
    table = csv_table(piece.source.name, lines)
    cells: dict[str, list[Any]] = {name: [] for name in table.header}
    problems: dict[int, str] = {}
    for place, (_, found) in enumerate(table.read(list(range(len(table.header))))):
        if isinstance(found, str):
            problems[place] = found
            found = [None] * len(cells)  # noqa: PLW2901
        for column, cell in zip(cells.values(), found, strict=True):
            column.append(cell)
    return _table_rows(cells, cells, problems, settings)


def _table_rows(
    smiles: Mapping[str, list[Any]],
    cells: Mapping[str, Any],
    problems: dict[int, str],
    settings: Mapping[str, Any],
) -> Rows:
    name = settings["smiles_column"]
    ids = cells[settings["id_column"]] if settings["id_column"] else None
    texts = _plain_texts(smiles[name], problems)
    for place, text in enumerate(texts):
        if not text and place not in problems:
            problems[place] = f"its cell of {name!r} is empty"
    others = {
        new: _plain_texts(cells[old], problems) if isinstance(cells[old], list) else cells[old]
        for old, new in settings["columns"].items()
    }
    ids = _plain_texts(ids, problems) if isinstance(ids, list) else ids
    return Rows(arrow().array(texts, arrow().string()), ids, others, problems)


def _plain_texts(cells: list[Any], problems: dict[int, str]) -> list[str | None]:
    """Return cells as text; those that were not UTF-8 are a problem of their row."""
    found: list[str | None] = []
    for place, cell in enumerate(cells):
        text = cell if cell is None or isinstance(cell, str) else str(cell)
        if text is not None and not text.isascii():
            plain = text.encode("utf-8", "replace").decode()
            if plain != text:
                problems.setdefault(place, "it is not UTF-8 text")
                text = plain
        found.append(text)
    return found


def _named_smiles(lines: list[str]) -> Rows:
    """Read SMILES, one per line, each with a name after it or without."""
    fields = [line.split(maxsplit=1) for line in lines if line and not line.isspace()]
    problems: dict[int, str] = {}
    texts = _plain_texts([field[0] for field in fields], problems)
    names = _plain_texts([field[1].strip() if len(field) > 1 else None for field in fields], problems)
    return Rows(arrow().array(texts, arrow().string()), names, {"smiles": texts}, problems)


def _records(piece: Piece, text: str, settings: Mapping[str, Any]) -> Rows:
    numbered = enumerate(io.StringIO(text), piece.line)
    texts: list[Any] = []
    titles: list[Any] = []
    problems: dict[int, str] = {}
    cells: dict[str, list[Any]] = {new: [] for new in settings["columns"].values()}
    for place, (row, record) in enumerate(record_rows(numbered, piece.source.name)):
        if row.problem:
            problems[place] = row.problem
        texts.append(row.text)
        titles.append(record.partition("\n")[0].strip())
        found = {**properties_in(record), "smiles": row.text}
        for old, new in settings["columns"].items():
            cells[new].append(found.get(old))
    plain = {name: _plain_texts(column, problems) for name, column in cells.items()}
    shown_texts = _plain_texts(texts, problems)
    return Rows(arrow().array(shown_texts, arrow().string()), _plain_texts(titles, problems), plain, problems)


def _parquet_rows(piece: Piece) -> Any:  # noqa: ANN401
    """Read the rows of a piece from the row group that holds them."""
    pa = arrow()
    with parquet_file(piece.source) as file:
        start = 0
        for number in range(file.metadata.num_row_groups):
            stop = start + file.metadata.row_group(number).num_rows
            if start <= piece.start < stop:
                break
            start = stop
        else:
            raise GraphInputError(
                f"{piece.source.name}: it has fewer rows than before; build the corpus again"
            )
    try:
        rows = _rows_in_group(piece.source, number, Path(piece.source.path).stat().st_mtime_ns)
        parts = list(rows.read(piece.start - start, piece.stop - start))
        return pa.Table.from_batches(parts, rows.schema).combine_chunks()
    except (pa.ArrowException, OSError) as error:
        _rows_in_group.cache_clear()
        where = f"{piece.source.name}, row {piece.row}"
        raise GraphInputError(f"{where}: cannot be read ({first_line(error)}); get it again") from error


class _RowsInGroup:
    """The rows of a row group, which is decoded from its beginning: each piece goes on after the last."""

    def __init__(self, source: Source, group: int) -> None:
        self._source, self._group = source, group
        self._rewind()

    def _rewind(self) -> None:
        self._file = parquet_file(self._source)
        self.schema = self._file.schema_arrow
        self._batches = self._file.iter_batches(row_groups=[self._group], batch_size=_BATCH)
        self._place = 0
        self._rest: Any = None

    def read(self, low: int, high: int) -> Iterator[Any]:
        """Yield batches with the rows ``low..high`` of the group."""
        if low < self._place:
            self._rewind()
        while self._place < high:
            batch = self._rest if self._rest is not None else next(self._batches)
            self._rest = None
            begin, end = max(low - self._place, 0), min(high - self._place, batch.num_rows)
            if begin < end:
                yield batch.slice(begin, end - begin)
            if end < batch.num_rows:
                self._rest = batch.slice(end)
            self._place += end


@functools.lru_cache(maxsize=1)
def _rows_in_group(source: Source, group: int, changed: int) -> _RowsInGroup:  # noqa: ARG001  (another file)
    return _RowsInGroup(source, group)


def _lines(content: bytes, *, first: bool) -> Any:  # noqa: ANN401
    """Return the lines that are not blank, stripped, as an Arrow array; no text is copied one by one."""
    pa = arrow()
    if first:
        for header in _HEADERS:
            content = content.removeprefix(b"\xef\xbb\xbf").removeprefix(header)
    if not content.endswith(b"\n"):
        content += b"\n"
    buffer = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(buffer == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    # All that is no graph6 is rare: white space at the ends of a line, and blank lines.
    if (
        (starts == ends).any()
        or (buffer[starts] <= ord(" ")).any()
        or (buffer[ends - 1] <= ord(" ")).any()
        or buffer.max() >= _NO_ASCII
    ):
        lines = [line.strip().decode("utf-8", "backslashreplace") for line in content.split(b"\n")]
        return pa.array([line for line in lines if line], pa.string())
    offsets = pointer(ends - starts).astype(np.int32)
    data = buffer[buffer != ord("\n")]
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(data))


def _read_graph6(rows: Rows, settings: Mapping[str, Any]) -> tuple[GraphBatch, Int64]:
    everything = np.arange(len(rows.texts))
    if not settings["directed"] and len(everything):
        _, offsets, data = rows.texts.buffers()
        ptr = np.frombuffer(offsets, np.int32)[: len(everything) + 1].astype(np.int64)
        graphs = plain_graph6(np.frombuffer(data or b"", np.uint8)[: ptr[-1]], ptr)
        if graphs is not None:
            return graphs, everything
    kept: list[int] = []
    texts = rows.texts.to_pylist()
    for place, text in enumerate(texts):
        try:
            graph = GraphBatch.from_graph6([text])
        except GraphInputError as error:
            rows.problems[place] = str(error).removeprefix("graph 0: ")
            continue
        if graph.directed != settings["directed"]:
            here, there = ("", "un") if graph.directed else ("un", "")
            rows.problems[place] = f"it is {here}directed, the corpus is {there}directed"
        else:
            kept.append(place)
    if not kept:
        return GraphBatch.from_edges([], directed=settings["directed"]), np.empty(0, np.int64)
    return GraphBatch.from_graph6([texts[place] for place in kept]), np.array(kept)


def _read_molecules(rows: Rows, settings: Mapping[str, Any]) -> tuple[GraphBatch, Int64]:
    texts = rows.texts.to_pylist()
    usable = [place for place in range(len(texts)) if place not in rows.problems]
    graphs, kept, failures = read_smiles([texts[place] for place in usable], "skip", atoms=settings["atoms"])
    for place, text, reason in failures:
        rows.problems[usable[place]] = f"SMILES {shown(text)} cannot be read: {reason}"
    return graphs, np.array([usable[place] for place in kept], np.int64)
