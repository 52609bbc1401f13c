"""Input files cut into pieces of whole rows, which workers read by themselves.

Where a piece ends depends on the file alone, so that the same input always gives the same shards. Files are
read once for that, and each piece gets a digest, by which a changed input is noticed. `shard_of` reads a
piece; it is a pure function.

Parquet files hold SMILES, or graphs in these columns:

=========================== ===========================================================================
``ends`` or ``edges``       list of integers u0, v0, u1, v1, …, or list of pairs (u, v)
``edge_index``              two lists, of sources and of targets, as in PyTorch Geometric
``n_nodes``, ``num_nodes``  number of nodes; else that of node labels; else the largest number plus one
``node_labels``             list of labels (integers or strings), one per node
``edge_labels``             list of labels, one per edge as listed
=========================== ===========================================================================
"""

import csv
import functools
import glob
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items, pointer, ranges
from twinwl.arrays import Bool, Fields, Int64
from twinwl.corpus.shards import arrow, digest_of, graph_table, lists_in, types_of
from twinwl.datasets import records
from twinwl.datasets.formats import (
    MAX_LINE,
    ROW_KINDS,
    SEPARATORS,
    ReadOptions,
    one_error,
    open_file,
    place_of,
)
from twinwl.errors import GraphInputError, TwinWLError, nearest, shown
from twinwl.files.storage import file_digest, open_to_write
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.building import build, largest_ends
from twinwl.graphs.labels import Coded, encode_labels

# A piece has at most so many rows, about so many bytes, and of a Parquet file so many values in its lists,
# that a process which makes a shard of it stays within the least memory of a job, 512 MiB. They do not depend
# on the memory given, because shards must not.
ROWS = {"graph6": 1 << 16, "smiles": 1 << 14, "table": 1 << 14, "sdf": 1 << 12, "edges": 1 << 16}
_BYTES = {"graph6": 1 << 19, "smiles": 1 << 22, "table": 1 << 24, "sdf": 1 << 25, "edges": 1 << 24}
_VALUES = 1 << 21
_BLOCK = 1 << 24
_FORMS: dict[str, Literal["smiles", "graph6"]] = {"molecules": "smiles", "graph6": "graph6"}
_SMILES, _NAME = "smiles", ""  # columns that files of SMILES and SD files are given


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
        The first line, from 1; of a Parquet file the row group.
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
    patterns = [inputs] if isinstance(inputs, str | Path) else items("inputs", inputs, "a list of paths")
    names: list[str] = []
    for each in patterns:
        path = str(checked("inputs", each, PATH))
        paths = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        if not paths:
            raise GraphInputError(f"cannot read {shown(path)}: no such file")
        names += paths
    if not names:
        raise TwinWLError("inputs: got no file, expected at least one")
    sources = []
    for name in names:
        if names.count(name) > 1:
            raise GraphInputError(f"{shown(name)} is named {names.count(name)} times; name it once")
        found_kind = place_of(Path(name), kind, has_columns=has_columns).kind
        if found_kind not in ROW_KINDS:
            raise GraphInputError(
                f"{shown(name)}: a corpus is built from graph6, SMILES, .csv, .sdf or .parquet files, "
                f"not from {found_kind!r}"
            )
        is_parquet = Path(name).suffix.lower() == ".parquet"
        sources.append(Source(name, name, "parquet" if is_parquet else found_kind))
    return sources


def unpack(source: Source, path: Path) -> Source:
    """Unpack a file that ends in ``.gz`` to a path, so that workers can start in the middle of it."""
    with open_file(Path(source.name)) as packed, open_to_write(path) as stream:
        while block := packed.read(_BLOCK):
            stream.write(block)
    return source._replace(path=str(path))


def pieces_of(source: Source, rows: int | None = None) -> Iterator[Piece]:
    """Cut a source, which is not packed, into pieces of ``rows``; None takes what suits the kind."""
    if source.kind == "parquet":
        yield from _pieces_of_parquet(source, rows)
        return
    most_rows, most_bytes = rows or ROWS[source.kind], _BYTES[source.kind]
    with open_file(Path(source.path)) as stream, open_file(Path(source.path)) as again:

        def piece(n_rows: int) -> Piece:
            again.seek(start)
            digest = digest_of(f"{source.kind} {row} ", again.read(stop - start))
            return Piece(source, start, stop, row, n_rows, line, digest)

        start, row, line, n_rows = 0, 0, 1, 0
        if source.kind == "table":
            row_ends = _rows_of_table(source.name, stream)
        else:
            row_ends = _rows_of_lines(
                source.name, stream, records.END.encode() if source.kind == "sdf" else b""
            )
        for stop, next_line, is_row in row_ends:
            if is_row is None:  # the header, which belongs to no piece
                start, line = stop, next_line
                continue
            n_rows += is_row
            if n_rows == most_rows or stop - start >= most_bytes:
                if n_rows:
                    yield piece(n_rows)
                start, row, line, n_rows = stop, row + n_rows, next_line, 0
        if n_rows:
            yield piece(n_rows)


def _rows_of_lines(name: str, stream: IO[bytes], end: bytes) -> Iterator[tuple[int, int, bool | None]]:
    """Yield for each row the byte and the number of the line after it, and whether it counts.

    A row ends with a line that starts with ``end``; as every line starts with ``b""``, it is then a line,
    which does not count if it is blank.
    """
    stop, line, is_open = 0, 1, False
    while text := stream.readline(MAX_LINE + 1):
        if len(text) > MAX_LINE:
            raise GraphInputError(
                f"{name}, line {line}: longer than {MAX_LINE >> 20} MiB; is this a text file?"
            )
        stop += len(text)
        line += 1
        is_open |= not text.isspace()
        if text.startswith(end):
            yield stop, line, is_open
            is_open = False
    if is_open:
        yield stop, line, True


def _rows_of_table(name: str, stream: IO[bytes]) -> Iterator[tuple[int, int, bool | None]]:
    """Yield the same for each row of a CSV file, whose quoted cells may hold line breaks."""
    stop = 0

    def lines() -> Iterator[str]:
        nonlocal stop
        for text in stream:
            stop += len(text)
            yield text.decode("utf-8", "replace")

    texts = lines()
    header = next(texts, "")
    yield stop, 2, None
    reader = csv.reader(texts, delimiter=max(SEPARATORS, key=header.count))
    try:
        for cells in reader:
            yield stop, reader.line_num + 2, any(cell.strip() for cell in cells)
    except csv.Error as error:
        raise GraphInputError(f"{name}, line {reader.line_num + 1}: {error}; correct that line") from error


def types_in(source: Source) -> list[tuple[str, str]]:
    """Return the name and the type of each column of a file that may be kept."""
    names: list[str] = []
    if source.kind == "parquet":
        with records.parquet_file(Path(source.path), source.name) as file:
            schema = file.schema_arrow
        if b"twinwl" in (schema.metadata or {}):
            raise GraphInputError(
                f"{source.name} is a shard of a corpus; open that with tw.Corpus, or copy its inputs"
            )
        return list(types_of(schema).items())
    if source.kind == "table":
        with open_file(Path(source.path)) as stream:
            text = stream.readline(MAX_LINE).decode("utf-8", "replace")
        names = records.csv_table(source.name, [text]).header
    elif source.kind == "sdf":
        names = [
            _SMILES,
            *(name for name in records.sdf_columns(source.path) if name not in {"title", _SMILES}),
        ]
    return [(name, "string") for name in names]


def _pieces_of_parquet(source: Source, rows: int | None) -> Iterator[Piece]:
    """Cut row groups, which are what can be read by itself."""
    digest = file_digest(source.path)
    with records.parquet_file(Path(source.path), source.name) as file:
        start = 0
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            n_values = sum(group.column(place).num_values for place in range(group.num_columns))
            share = max(group.total_byte_size / _BYTES["edges"], n_values / _VALUES, 1e-9)
            most = max(1, min(rows or ROWS["edges"], int(group.num_rows / share)))
            for low in range(0, group.num_rows, most):
                high = min(low + most, group.num_rows)
                name = digest_of(digest, f" {start + low} {start + high}")
                yield Piece(source, low, high, start + low, high - low, number, name)
            start += group.num_rows


def edge_columns_of(types: Mapping[str, str], wanted: str | None, name: str) -> dict[str, str | None]:
    """Choose the columns of a Parquet file that hold its graphs.

    >>> edge_columns_of({"edges": "list<element: int64>", "num_nodes": "int64"}, None, "g.parquet")
    {'edges_column': 'edges', 'count_column': 'num_nodes', 'node_column': None, 'edge_column': None}
    """
    edges = wanted or next((column for column in ("ends", "edges", "edge_index") if column in types), None)
    if edges is None or edges not in types:
        column = "column of edges (ends, edges or edge_index)" if wanted is None else f"column {wanted!r}"
        raise GraphInputError(f"{name}: got no {column}; {nearest(wanted or 'edges', types)}")
    if "list<" not in types[edges] or "int" not in types[edges]:
        raise GraphInputError(f"{name}: column {edges!r}: got {types[edges]}, expected lists of integers")
    return {
        "edges_column": edges,
        "count_column": next((column for column in ("n_nodes", "num_nodes") if column in types), None),
        "node_column": "node_labels" if "list<" in types.get("node_labels", "") else None,
        "edge_column": "edge_labels" if "list<" in types.get("edge_labels", "") else None,
    }


def shard_of(piece: Piece, settings: Fields) -> tuple[Any, Any]:
    """Read a piece.

    Parameters
    ----------
    piece
        Some rows of a file.
    settings
        As `twinwl.corpus.corpus.settings_for` makes them.

    Returns
    -------
    shard, errors : Arrow tables
        The graphs, and the rows that are none: ``file``, ``row``, ``reason``, ``text``.

    Raises
    ------
    GraphInputError
        If the file has changed so much that it has other columns.
    """
    pa = arrow()
    if settings["kind"] == "edges":
        table = _parquet_rows(piece)
        graphs, rows_read, problems = _read_all_but_bad(table, settings)
        texts: dict[int, str | None] = dict.fromkeys(problems)
    else:
        listed, table = _records_of(piece, settings)
        reading = ReadOptions(atoms=settings["atoms"])
        form = records.Records(piece.source.name, _FORMS[settings["kind"]], listed, reading)
        graphs, usable, errors = form.convert(listed)
        rows_read = [record.row for record in usable]
        problems = {error.row: error.reason for error in errors}
        texts = {row: listed[row].text or None for row in problems}
    if not settings.get("edge_labels", True):
        graphs = graphs.without_edge_labels()
    rows = table.take(pa.array(rows_read, pa.int64())).combine_chunks()
    ids = [f"{piece.source.name}#{piece.row + row}" for row in rows_read]
    id_column = settings["id_column"] or _NAME
    if id_column in rows.column_names:
        names = rows.column(id_column).cast(pa.string()).to_pylist()
        ids = [own if own and not own.isspace() else usual for own, usual in zip(names, ids)]
    columns = {_SMILES: _SMILES} if piece.source.kind == "smiles" else settings["columns"]
    others = {new: rows.column(old) for old, new in columns.items()}
    noted = [
        {"file": piece.source.name, "row": piece.row + row, "reason": reason, "text": texts[row]}
        for row, reason in problems.items()
    ]
    types = {"file": pa.string(), "row": pa.int64(), "reason": pa.string(), "text": pa.string()}
    return graph_table(graphs, pa.array(ids, pa.string()), others), pa.Table.from_pylist(
        noted, pa.schema(types)
    )


def _records_of(piece: Piece, settings: Fields) -> tuple[list[records.Record], Any]:
    """Return the records of a piece, and an Arrow table with a row for each and the columns to keep."""
    name, _, kind = piece.source
    smiles = settings["smiles_column"]
    if kind == "parquet":
        table = _parquet_rows(piece)
        cells = table.column(smiles).to_pylist()
        column = records.Table(name, [smiles], lambda _: ((None, [cell]) for cell in cells))
        return list(records.table_records(column, smiles)), table
    with open_file(Path(piece.source.path)) as stream:
        header = stream.readline() if kind == "table" else b""
        stream.seek(piece.start)
        content = header + stream.read(piece.stop - piece.start)
    # A byte that is not UTF-8 becomes the text "\\xff": a graph cannot be written so, but other cells can.
    # StringIO ends lines at line feeds only, unlike splitlines().
    lines = io.StringIO(content.decode("utf-8", "backslashreplace").removeprefix("\ufeff"))
    numbered = enumerate(lines, piece.line)
    filled = ((line, text.strip()) for line, text in numbered if not text.isspace())
    wanted = tuple(filter(None, [*settings["columns"], settings["id_column"]]))
    if kind == "table":
        listed = list(records.table_records(records.csv_table(name, lines), smiles, wanted))
    elif kind == "sdf":
        listed = list(records.sdf_records(numbered, "", wanted))
    elif kind == "smiles":
        listed = list(records.smiles_records(filled))
    else:
        listed = list(records.graph6_records(filled, ""))
        directed = settings["directed"]
        kinds = ("un", "") if directed else ("", "un")
        wrong = f"it is {kinds[0]}directed, the corpus is {kinds[1]}directed"
        for place, record in enumerate(listed):
            if record.text.removeprefix(">>digraph6<<").startswith("&") != directed:
                listed[place] = record._replace(error=wrong)
    columns = {
        column: [record.cells[place] if record.cells else None for record in listed]
        for place, column in enumerate(wanted)
    }
    if kind in {"smiles", "sdf"}:
        columns[_SMILES] = [record.text for record in listed]
        columns[_NAME] = [None if record.name == record.text else record.name for record in listed]
    pa = arrow()
    return listed, pa.table({column: pa.array(cells, pa.string()) for column, cells in columns.items()})


def _read_all_but_bad(
    table: Any,  # noqa: ANN401
    settings: Fields,
) -> tuple[GraphBatch, list[int], dict[int, str]]:
    """Return the graphs of the rows of a table that have one, these rows, and why the others have none.

    All rows are read at once, which is fast; where that fails, halves of them, down to the single rows that
    cannot be read.
    """
    batches: list[GraphBatch] = []
    rows: list[int] = []
    problems: dict[int, str] = {}

    def read(low: int, high: int) -> None:
        try:
            batches.append(_graphs_of_edges(table.slice(low, high - low), settings))
            rows.extend(range(low, high))
        except GraphInputError as error:
            if high - low == 1:
                problems[low] = str(error.at(None))
            else:
                middle = (low + high) // 2
                read(low, middle)
                read(middle, high)

    read(0, table.num_rows)
    return concatenate(batches or [GraphBatch.from_edges([])]), rows, problems


def _graphs_of_edges(table: Any, settings: Fields) -> GraphBatch:  # noqa: ANN401
    """Return the graphs of a table, or raise the problem of one of its rows."""
    column = settings["edges_column"]
    edge_counts, ends = _pairs(table.column(column), column)
    nodes, labels_of_nodes = _encode_column(table, settings["node_column"], "its node labels are missing")
    edges, labels_of_edges = _encode_column(
        table, settings["edge_column"], "it has not one edge label per edge"
    )
    if settings["count_column"]:
        counts = table.column(settings["count_column"]).fill_null(-1).to_numpy().astype(np.int64)
        _refuse(counts < 0, "its number of nodes is missing or negative")
        _refuse(nodes is not None and labels_of_nodes != counts, "it has not one node label per node")
    else:
        counts = largest_ends(edge_counts, ends) if nodes is None else labels_of_nodes
    _refuse(edges is not None and labels_of_edges != edge_counts, "it has not one edge label per edge")
    return build(
        counts,
        edge_counts,
        *ends.T,
        nodes=nodes,
        edges=edges,
        directed=settings["directed"],
    )


def _refuse(wrong: Bool | bool, reason: str) -> None:
    if np.any(wrong):
        raise GraphInputError(reason)


def _pairs(column: Any, name: str) -> tuple[Int64, Int64]:  # noqa: ANN401
    """Return the number of edges of each row and all ends, shape (n_edges, 2)."""
    reason = f"its list of edges in {name!r} is missing, or not one of pairs of integers"
    lengths, flat = lists_in(column)
    _refuse(column.null_count + flat.null_count > 0, reason)
    inner = None
    if arrow().types.is_nested(flat.type):
        inner, flat = lists_in(flat)
        _refuse(flat.null_count > 0, reason)
    numbers = flat.to_numpy(zero_copy_only=False).astype(np.int64)
    if inner is None:  # u0, v0, u1, v1, …
        _refuse(lengths % 2 == 1, reason)
        return lengths // 2, numbers.reshape(-1, 2)
    if name == "edge_index":  # two lists of the same length
        _refuse(lengths != 2, reason)  # noqa: PLR2004
        _refuse(inner[::2] != inner[1::2], reason)
        counts = inner[::2]
        starts = pointer(2 * counts)[:-1]
        halves = [numbers[ranges(starts + shift, counts)] for shift in (0, counts)]
        return counts, np.column_stack(halves)
    _refuse(inner != 2, reason)  # noqa: PLR2004
    return lengths, numbers.reshape(-1, 2)


def _encode_column(table: Any, name: str | None, reason: str) -> tuple[Coded | None, Int64]:  # noqa: ANN401
    """Encode all labels of a column of lists; return them and the number in each row."""
    if name is None:
        return None, np.empty(0, np.int64)
    _refuse(table.column(name).null_count > 0, reason)
    lengths, values = lists_in(table.column(name))
    encoded = values.dictionary_encode(null_encoding="encode")
    ranks, vocabulary = encode_labels(encoded.dictionary.to_pylist())
    indices = encoded.indices.to_numpy(zero_copy_only=False)
    return Coded(ranks[indices] if len(indices) else np.empty(0, np.int32), vocabulary), lengths


def _parquet_rows(piece: Piece) -> Any:  # noqa: ANN401
    """Read the rows of a piece from the row group that holds them."""
    changed = Path(piece.source.path).stat().st_mtime_ns
    group = _row_group(piece.source, piece.line, changed)
    if group.num_rows < piece.stop:
        raise GraphInputError(f"{piece.source.name}: it has fewer rows than before; build the corpus again")
    return group.slice(piece.start, piece.stop - piece.start).combine_chunks()


@functools.lru_cache(maxsize=1)  # pieces of one group mostly follow each other
def _row_group(source: Source, number: int, changed: int) -> Any:  # noqa: ANN401, ARG001  (another file)
    with (
        one_error(f"{source.name}, row group {number}: cannot be read"),
        records.parquet_file(Path(source.path), source.name) as file,
    ):
        return file.read_row_group(number)
