"""Input files cut into pieces of whole rows, which workers read by themselves.

Where a piece ends depends on the file alone, so that the same input always gives the same shards. Files are
read once for that, and each piece gets a digest, by which a changed input is noticed.

Graphs from the columns of a Parquet file: edges as lists of node numbers, with or without labels.

=========================== ===========================================================================
``ends`` or ``edges``       list of integers u0, v0, u1, v1, …, or list of pairs (u, v)
``edge_index``              two lists, of sources and of targets, as in PyTorch Geometric
``n_nodes``, ``num_nodes``  number of nodes; else that of node labels; else the largest number plus one
``node_labels``             list of labels (integers or strings), one per node
``edge_labels``             list of labels, one per edge as listed
=========================== ===========================================================================

Pieces of input read into shards: the rows that are graphs, and those that are none, with the reason.

`shard_of` is a pure function: the same piece and settings give the same two Arrow tables in every process.
"""

from __future__ import annotations

import csv
import functools
import glob
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items
from twinwl.arrays import Bool, Int64
from twinwl.corpus.shards import arrow, digest_of, graph_table, lists_in
from twinwl.datasets.formats import NAME as UNKNOWN
from twinwl.datasets.formats import ROW_KINDS, place_of
from twinwl.datasets.sdf import END, properties_in, property_names, record_rows
from twinwl.datasets.tables import csv_table
from twinwl.datasets.text_files import MAX_LINE, open_file
from twinwl.errors import GraphInputError, TwinWLError, first_line, import_extra, nearest, shown
from twinwl.files.atomic import written
from twinwl.files.cache import file_digest
from twinwl.graphs.assembly import MAX_NODES
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import PLAUSIBLE_NODES, build
from twinwl.graphs.from_graph6 import plain_graph6
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.molecules import read_smiles
from twinwl.graphs.selection import pointer, ranges

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


_EDGES = ("ends", "edges", "edge_index")
_COUNTS = ("n_nodes", "num_nodes")
_PAIR = 2


def edge_columns_of(types: Mapping[str, str], given: str | None, name: str) -> dict[str, str | None]:
    """Choose the columns of a Parquet file that hold its graphs.

    >>> edge_columns_of({"edges": "list<element: int64>", "num_nodes": "int64"}, None, "g.parquet")
    {'edges_column': 'edges', 'count_column': 'num_nodes', 'node_column': None, 'edge_column': None}
    """
    edges = given or next((column for column in _EDGES if column in types), None)
    if edges is None or edges not in types:
        wanted = "a column of edges (ends, edges or edge_index)" if given is None else f"the column {given!r}"
        raise GraphInputError(f"{name}: got no {wanted}; {nearest(given or 'edges', types)}")
    if "list<" not in types[edges] or "int" not in types[edges]:
        raise GraphInputError(f"{name}: column {edges!r}: got {types[edges]}, expected lists of integers")
    return {
        "edges_column": edges,
        "count_column": next((column for column in _COUNTS if column in types), None),
        "node_column": "node_labels" if "list<" in types.get("node_labels", "") else None,
        "edge_column": "edge_labels" if "list<" in types.get("edge_labels", "") else None,
    }


def read_edges(table: Any, settings: Mapping[str, Any]) -> tuple[GraphBatch, Int64, dict[int, str]]:  # noqa: ANN401
    """Return the graphs of a table, the places of their rows, and the problems of the others."""
    problems: dict[int, str] = {}

    def refuse(rows: Bool, reason: str) -> None:
        for place in np.flatnonzero(rows).tolist():
            problems.setdefault(place, reason)

    column = settings["edges_column"]
    edge_counts, ends, wrong = _pairs(table.column(column), column)
    refuse(wrong, f"its list of edges in {column!r} is missing, or not one of pairs of integers")
    node_counts, labels = _node_counts(table, settings, edge_counts, ends, refuse)
    if settings["edge_column"]:
        lengths, _ = lists_in(table.column(settings["edge_column"]))
        refuse(lengths != edge_counts, "it has not one edge label per edge")
    owner = np.repeat(np.arange(len(edge_counts)), edge_counts)
    outside = ((ends < 0) | (ends >= node_counts[owner, None])).any(axis=1)
    refuse(
        np.bincount(owner[outside], minlength=len(node_counts)) > 0,
        "an edge names a node that does not exist",
    )
    return *_built(table, settings, problems, (node_counts, edge_counts, ends, labels)), problems


def _built(
    table: Any,  # noqa: ANN401
    settings: Mapping[str, Any],
    problems: dict[int, str],
    parts: tuple[Int64, Int64, Int64, bool],
) -> tuple[GraphBatch, Int64]:
    """Build the graphs of the rows without a problem; what only the last step finds out becomes one."""
    node_counts, edge_counts, ends, labelled = parts
    kept = np.array([place for place in range(table.num_rows) if place not in problems], np.int64)
    chosen = ranges(pointer(edge_counts)[kept], edge_counts[kept])
    some = table if len(kept) == table.num_rows else table.take(arrow().array(kept))
    nodes = _coded(some.column(settings["node_column"])) if labelled else None
    edges = _coded(some.column(settings["edge_column"])) if settings["edge_column"] else None
    try:
        graphs = build(
            node_counts[kept],
            edge_counts[kept],
            ends[chosen, 0],
            ends[chosen, 1],
            nodes=nodes,
            edges=edges,
            directed=settings["directed"],
        )
    except GraphInputError as error:
        if error.graph is None:
            raise
        # Rare: an edge with two labels.
        problems[int(kept[error.graph])] = str(error.at(None))
        return _built(table, settings, problems, parts)
    return graphs, kept


def _pairs(column: Any, name: str) -> tuple[Int64, Int64, Bool]:  # noqa: ANN401
    """Return the number of edges of each row, all ends, shape (n_edges, 2), and which rows are wrong."""
    pa = arrow()
    lengths, values = lists_in(column)
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    if not (
        pa.types.is_list(values.type)
        or pa.types.is_large_list(values.type)
        or pa.types.is_fixed_size_list(values.type)
    ):
        numbers, bad = _integers(values)
        wrong = nulls | (lengths % _PAIR == 1) | _any(bad, lengths)
        return _without(
            lengths // _PAIR, wrong, ranges(pointer(lengths)[:-1], np.where(wrong, 0, lengths)), numbers
        )
    inner, flat = lists_in(values)
    numbers, bad = _integers(flat)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    totals = np.bincount(owner, inner, minlength=len(lengths)).astype(np.int64)
    wrong = nulls | _any(bad, totals)
    if name == "edge_index":
        two = lengths == _PAIR
        wrong |= ~two
        first = pointer(lengths)[:-1]
        halves = np.where(two, inner[np.minimum(first, max(len(inner) - 1, 0))] if len(inner) else 0, 0)
        wrong |= halves * _PAIR != totals
        counts = np.where(wrong, 0, halves)
        starts = pointer(totals)[:-1]
        sources = numbers[ranges(starts, counts)]
        targets = numbers[ranges(starts + counts, counts)]
        return counts, np.column_stack([sources, targets]), wrong
    wrong |= _any(inner != _PAIR, lengths)
    return _without(lengths, wrong, ranges(pointer(totals)[:-1], np.where(wrong, 0, totals)), numbers)


def _without(counts: Int64, wrong: Bool, places: Int64, numbers: Int64) -> tuple[Int64, Int64, Bool]:
    return np.where(wrong, 0, counts), numbers[places].reshape(-1, 2), wrong


def _integers(values: Any) -> tuple[Int64, Bool]:  # noqa: ANN401
    bad = values.is_null().to_numpy(zero_copy_only=False)
    return values.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), bad


def _any(flags: Bool, lengths: Int64) -> Bool:
    """Tell which lists have a flag that is set."""
    before = np.concatenate([[0], np.cumsum(flags)])
    ends = pointer(lengths)
    found: Bool = before[ends[1:]] > before[ends[:-1]]
    return found


def _node_counts(
    table: Any,  # noqa: ANN401
    settings: Mapping[str, Any],
    edge_counts: Int64,
    ends: Int64,
    refuse: Any,  # noqa: ANN401
) -> tuple[Int64, bool]:
    """Return the number of nodes of each graph, and whether nodes have labels."""
    labelled = bool(settings["node_column"])
    if labelled:
        column = table.column(settings["node_column"])
        lengths, _ = lists_in(column)
        refuse(column.is_null().to_numpy(zero_copy_only=False), "its node labels are missing")
    if settings["count_column"]:
        column = table.column(settings["count_column"])
        counts = column.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        refuse((counts < 0) | (counts > MAX_NODES), "its number of nodes is missing or out of range")
        if labelled:
            refuse(lengths != counts, "it has not one node label per node")
    elif labelled:
        counts = lengths
    else:
        counts = np.zeros(len(edge_counts), np.int64)
        filled = edge_counts > 0
        starts = pointer(edge_counts)[:-1][filled]
        if len(starts):
            counts[filled] = np.maximum(np.maximum.reduceat(ends.max(axis=1), starts) + 1, 0)
    refuse(
        (counts > PLAUSIBLE_NODES) & (counts > 64 * edge_counts),
        "it has far more nodes than edges; number its nodes 0..n-1",
    )
    return counts, labelled


def _coded(column: Any) -> Coded:  # noqa: ANN401
    """Encode all labels of a column of lists."""
    _, values = lists_in(column)
    found = values.dictionary_encode(null_encoding="encode")
    ranks, vocabulary = encode_labels(found.dictionary.to_pylist())
    indices = found.indices.to_numpy(zero_copy_only=False)
    return Coded(ranks[indices] if len(indices) else np.empty(0, np.int32), vocabulary)


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
            rows.problems[place] = str(error.at(None))
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
