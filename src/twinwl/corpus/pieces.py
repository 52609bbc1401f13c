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

from __future__ import annotations

import csv
import functools
import glob
import io
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS, PATH, Bool, Int64, checked, items, pointer, ranges
from twinwl.corpus.shards import arrow, digest_of, graph_table, lists_in
from twinwl.datasets.formats import MAX_LINE, ROW_KINDS, open_file, place_of
from twinwl.datasets.records import END, csv_table, sdf_columns, sdf_records
from twinwl.errors import GraphInputError, TwinWLError, first_line, import_extra, nearest, shown
from twinwl.files.storage import file_digest, written
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.building import PLAUSIBLE_NODES, build
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.molecules import read_smiles

# A piece has at most so many rows, about so many bytes, and of a Parquet file so many values in its lists,
# that a process which makes a shard of it stays within the least memory of a job, 512 MiB. They do not depend
# on the memory given, because shards must not.
ROWS = {"graph6": 1 << 16, "smiles": 1 << 14, "table": 1 << 14, "sdf": 1 << 12, "edges": 1 << 16}
_BYTES = {"graph6": 1 << 19, "smiles": 1 << 22, "table": 1 << 24, "sdf": 1 << 25, "edges": 1 << 24}
_VALUES = 1 << 21
_BLOCK = 1 << 24
_SEPARATORS = ",;\t"


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
    given = [inputs] if isinstance(inputs, str | Path) else items("inputs", inputs, "a list of paths")
    names: list[str] = []
    for each in given:
        path = str(checked("inputs", each, PATH))
        found = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        if not found:
            raise GraphInputError(f"cannot read {shown(path)}: no such file")
        names += found
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
    with open_file(Path(source.name)) as packed, written(path) as stream:
        while block := packed.read(_BLOCK):
            stream.write(block)
    return source._replace(path=str(path))


def pieces_of(source: Source, rows: int | None = None) -> Iterator[Piece]:
    """Cut a source, which is not packed, into pieces of ``rows``; None takes what suits the kind."""
    if source.kind == "parquet":
        yield from _pieces_of_parquet(source, rows)
        return
    most_rows, most_bytes = rows or ROWS[source.kind], _BYTES[source.kind]
    find_rows = {"table": _rows_of_table, "sdf": _rows_of_records}.get(source.kind, _rows_of_lines)
    with open_file(Path(source.path)) as stream, open_file(Path(source.path)) as again:

        def piece(n_rows: int) -> Piece:
            again.seek(start)
            digest = digest_of(f"{source.kind} {row} ", again.read(stop - start))
            return Piece(source, start, stop, row, n_rows, line, digest)

        start, row, line, n_rows = 0, 0, 1, 0
        for stop, next_line, is_row in find_rows(stream):
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


def _rows_of_lines(stream: IO[bytes]) -> Iterator[tuple[int, int, bool | None]]:
    """Yield for each line the byte and the number of the line after it, and whether it is a row."""
    stop = 0
    for line in itertools.count(1):
        text = stream.readline(MAX_LINE + 1)
        if not text:
            return
        if len(text) > MAX_LINE:
            raise GraphInputError(f"line {line}: longer than {MAX_LINE >> 20} MiB; is this a text file?")
        stop += len(text)
        yield stop, line + 1, not text.isspace()


def _rows_of_records(stream: IO[bytes]) -> Iterator[tuple[int, int, bool | None]]:
    """Yield the same for each record of an SD file."""
    stop, pending = 0, False
    line = 1
    for line, text in enumerate(stream, start=2):
        stop += len(text)
        pending |= not text.isspace()
        if text.startswith(END.encode()):
            yield stop, line, True
            pending = False
    if pending:
        yield stop, line, True


def _rows_of_table(stream: IO[bytes]) -> Iterator[tuple[int, int, bool | None]]:
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
    reader = csv.reader(texts, delimiter=max(_SEPARATORS, key=header.count))
    try:
        for cells in reader:
            yield stop, reader.line_num + 2, any(cell.strip() for cell in cells)
    except csv.Error as error:
        raise GraphInputError(f"line {reader.line_num + 1}: {error}; correct that line") from error


def header_of(source: Source) -> list[str]:
    """Return the names of the columns of a text file that may be kept."""
    if source.kind == "table":
        with open_file(Path(source.path)) as stream:
            text = stream.readline(MAX_LINE).decode("utf-8", "replace")
        return csv_table(source.name, [text]).header
    return [name for name in sdf_columns(source.path) if name != "title"] if source.kind == "sdf" else []


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


def edge_columns_of(types: Mapping[str, str], given: str | None, name: str) -> dict[str, str | None]:
    """Choose the columns of a Parquet file that hold its graphs.

    >>> edge_columns_of({"edges": "list<element: int64>", "num_nodes": "int64"}, None, "g.parquet")
    {'edges_column': 'edges', 'count_column': 'num_nodes', 'node_column': None, 'edge_column': None}
    """
    edges = given or next((column for column in ("ends", "edges", "edge_index") if column in types), None)
    if edges is None or edges not in types:
        wanted = "a column of edges (ends, edges or edge_index)" if given is None else f"the column {given!r}"
        raise GraphInputError(f"{name}: got no {wanted}; {nearest(given or 'edges', types)}")
    if "list<" not in types[edges] or "int" not in types[edges]:
        raise GraphInputError(f"{name}: column {edges!r}: got {types[edges]}, expected lists of integers")
    return {
        "edges_column": edges,
        "count_column": next((column for column in ("n_nodes", "num_nodes") if column in types), None),
        "node_column": "node_labels" if "list<" in types.get("node_labels", "") else None,
        "edge_column": "edge_labels" if "list<" in types.get("edge_labels", "") else None,
    }


class Rows(NamedTuple):
    """Rows of a piece, before they are graphs.

    Attributes
    ----------
    texts : list of str
        SMILES, graph6, or what to show of a bad row.
    ids : list or Arrow array, or None
        Where one is missing, or None, the graph is named by file and row.
    others : dict of lists or Arrow arrays
        Columns to keep.
    problems : dict
        By place, why a row cannot be read, where that is already known.
    """

    texts: list[str | None]
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
        As `twinwl.corpus.corpus.settings_for` makes them.

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
    if piece.source.kind == "parquet":
        table = _parquet_rows(piece)
        columns = {name: table.column(name) for name in table.column_names}
        rows = _rows_of_cells(columns, settings, table.num_rows, {})
    else:
        rows = _text_rows(piece, settings)
    if settings["kind"] == "molecules":
        graphs, kept = _read_molecules(rows, settings)
    else:

        def read(low: int, high: int) -> GraphBatch:
            if settings["kind"] == "edges":
                return _graphs_of_edges(table.slice(low, high - low), settings)
            return _graphs_of_graph6(rows.texts[low:high], directed=settings["directed"])

        graphs, kept = _read_all_but_bad(len(rows.texts), read, rows.problems, directed=settings["directed"])
    if not settings.get("edge_labels", True):
        graphs = graphs.without_edge_labels()

    def taken(cells: Any) -> Any:  # noqa: ANN401
        array = pa.chunked_array([cells], pa.string()) if isinstance(cells, list) else cells
        return array.take(pa.array(kept)).combine_chunks()

    numbers = pa.array(piece.row + kept).cast(pa.string())
    ids = pa.compute.binary_join_element_wise(pa.scalar(f"{piece.source.name}#"), numbers, "")
    if rows.ids is not None:
        given = taken(rows.ids).cast(pa.string())
        blank = pa.compute.equal(pa.compute.utf8_trim_whitespace(given.fill_null("")), "")
        ids = pa.compute.if_else(blank, ids, given)
    bad = sorted(rows.problems)
    errors = {
        "file": pa.array([piece.source.name] * len(bad), pa.string()),
        "row": pa.array([piece.row + place for place in bad], pa.int64()),
        "reason": pa.array([rows.problems[place] for place in bad], pa.string()),
        "text": pa.array([rows.texts[place] for place in bad], pa.string()),
    }
    return graph_table(graphs, ids, {name: taken(cells) for name, cells in rows.others.items()}), pa.table(
        errors
    )


def _read_all_but_bad(
    n_rows: int, read: Callable[[int, int], GraphBatch], problems: dict[int, str], *, directed: bool
) -> tuple[GraphBatch, Int64]:
    """Read rows; where that fails, halves of them, down to the single rows that cannot be read.

    So rows are read all at once, which is fast, and a reader need not say which row is bad.
    """
    batches = [GraphBatch.from_edges([], directed=directed)]
    kept: list[int] = []

    def read_range(low: int, high: int) -> None:
        try:
            batches.append(read(low, high))
            kept.extend(range(low, high))
        except GraphInputError as error:
            if high - low == 1:
                problems[low] = str(error).removeprefix("graph 0: ")
            else:
                middle = (low + high) // 2
                read_range(low, middle)
                read_range(middle, high)

    read_range(0, n_rows)
    return concatenate(batches[1:] or batches), np.array(kept, np.int64)


def _graphs_of_graph6(texts: list[str | None], *, directed: bool) -> GraphBatch:
    graphs = GraphBatch.from_graph6(texts)  # type: ignore[arg-type]
    if graphs.directed != directed:
        here, there = ("", "un") if graphs.directed else ("un", "")
        raise GraphInputError(f"it is {here}directed, the corpus is {there}directed")
    return graphs


def _read_molecules(rows: Rows, settings: Mapping[str, Any]) -> tuple[GraphBatch, Int64]:
    usable = [place for place in range(len(rows.texts)) if place not in rows.problems]
    graphs, kept, failures = read_smiles(
        [rows.texts[place] or "" for place in usable], "skip", atoms=settings["atoms"]
    )
    for place, text, reason in failures:
        rows.problems[usable[place]] = f"SMILES {shown(text)} cannot be read: {reason}"
    return graphs, np.array([usable[place] for place in kept], np.int64)


def _graphs_of_edges(table: Any, settings: Mapping[str, Any]) -> GraphBatch:  # noqa: ANN401
    """Return the graphs of a table, or raise the problem of one of its rows."""
    column = settings["edges_column"]
    edge_counts, ends = _pairs(table.column(column), column)
    nodes, labels_of_nodes = _coded(table, settings["node_column"], "its node labels are missing")
    edges, labels_of_edges = _coded(table, settings["edge_column"], "it has not one edge label per edge")
    if settings["count_column"]:
        counts = table.column(settings["count_column"]).fill_null(-1).to_numpy().astype(np.int64)
        _refuse((counts < 0) | (counts > MAX_ITEMS), "its number of nodes is missing or out of range")
        _refuse(nodes is not None and labels_of_nodes != counts, "it has not one node label per node")
    elif nodes is not None:
        counts = labels_of_nodes
    else:
        counts = np.zeros(len(edge_counts), np.int64)
        filled = edge_counts > 0
        if filled.any():
            starts = pointer(edge_counts)[:-1][filled]
            counts[filled] = np.maximum(np.maximum.reduceat(ends.max(axis=1), starts) + 1, 0)
    _refuse(
        (counts > PLAUSIBLE_NODES) & (counts > 64 * edge_counts),
        "it has far more nodes than edges; number its nodes 0..n-1",
    )
    _refuse(edges is not None and labels_of_edges != edge_counts, "it has not one edge label per edge")
    of_edge = np.repeat(counts, edge_counts)[:, None]
    _refuse((ends < 0) | (ends >= of_edge), "an edge names a node that does not exist")
    return build(
        counts,
        edge_counts,
        ends[:, 0],
        ends[:, 1],
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


def _coded(table: Any, name: str | None, reason: str) -> tuple[Coded | None, Int64]:  # noqa: ANN401
    """Encode all labels of a column of lists; return them and the number in each row."""
    if name is None:
        return None, np.empty(0, np.int64)
    _refuse(table.column(name).null_count > 0, reason)
    lengths, values = lists_in(table.column(name))
    found = values.dictionary_encode(null_encoding="encode")
    ranks, vocabulary = encode_labels(found.dictionary.to_pylist())
    indices = found.indices.to_numpy(zero_copy_only=False)
    return Coded(ranks[indices] if len(indices) else np.empty(0, np.int32), vocabulary), lengths


def _text_rows(piece: Piece, settings: Mapping[str, Any]) -> Rows:
    """Read the rows of a piece of a text file."""
    with open_file(Path(piece.source.path)) as stream:
        header = stream.readline() if piece.source.kind == "table" else b""
        stream.seek(piece.start)
        content = stream.read(piece.stop - piece.start)
    is_graph6 = piece.source.kind == "graph6"
    text = content.decode("utf-8", "backslashreplace" if is_graph6 else "surrogateescape")
    if piece.start == 0:
        text = text.removeprefix("\ufeff")
    # Not splitlines(), which also ends lines at form feeds and other characters of cells.
    lines = [line.strip() for line in text.split("\n") if line and not line.isspace()]
    problems: dict[int, str] = {}
    if is_graph6:
        return Rows(list(lines), None, {}, problems)
    cells: dict[str, list[Any]]
    if piece.source.kind == "smiles":
        fields = [(*line.split(maxsplit=1), None)[:2] for line in lines]
        cells = {"smiles": [field[0] for field in fields], "name": [field[1] for field in fields]}
        settings = {
            **settings,
            "smiles_column": "smiles",
            "id_column": "name",
            "columns": {"smiles": "smiles"},
        }
    elif piece.source.kind == "sdf":
        wanted = tuple(settings["columns"])
        records = list(sdf_records(enumerate(io.StringIO(text), piece.line), "", wanted))
        problems |= {record.row: record.error for record in records if record.error}
        cells = {name: [record.cells[place] for record in records] for place, name in enumerate(wanted)}
        cells["smiles"] = [record.text for record in records]
        cells[""] = [record.name for record in records]
        settings = {**settings, "smiles_column": "smiles", "id_column": ""}
    else:
        table = csv_table(
            piece.source.name, itertools.chain([header.decode("utf-8", "replace")], io.StringIO(text))
        )
        listed = []
        for place, (_, row) in enumerate(table.read(list(range(len(table.header))))):
            if isinstance(row, str):
                problems[place] = row
            listed.append([None] * len(table.header) if isinstance(row, str) else row)
        cells = dict(zip(table.header, map(list, zip(*listed))))
    plain = {
        name: [_utf8(cell, place, problems) for place, cell in enumerate(column)]
        for name, column in cells.items()
    }
    return _rows_of_cells(plain, settings, len(next(iter(plain.values()))), problems)


def _utf8(cell: Any, place: int, problems: dict[int, str]) -> str | None:  # noqa: ANN401
    """Return a cell as text; one that was not UTF-8 is a problem of its row."""
    text = cell if cell is None or isinstance(cell, str) else str(cell)
    if text is not None and not text.isascii() and text.encode("utf-8", "replace").decode() != text:
        problems.setdefault(place, "it is not UTF-8 text")
        return text.encode("utf-8", "replace").decode()
    return text


def _rows_of_cells(
    cells: Mapping[str, Any], settings: Mapping[str, Any], n_rows: int, problems: dict[int, str]
) -> Rows:
    """Return rows from the columns of a table."""
    name = settings["smiles_column"]
    texts: list[str | None] = [None] * n_rows
    if name is not None:
        given = cells[name] if isinstance(cells[name], list) else cells[name].to_pylist()
        texts = [_utf8(cell, place, problems) for place, cell in enumerate(given)]
        for place, text in enumerate(texts):
            if not text:
                problems.setdefault(place, f"its cell of {name!r} is empty")
    ids = None if settings["id_column"] is None else cells[settings["id_column"]]
    others = {new: cells[old] for old, new in settings["columns"].items()}
    return Rows(texts, ids, others, problems)


def _parquet_rows(piece: Piece) -> Any:  # noqa: ANN401
    """Read the rows of a piece from the row group that holds them."""
    changed = Path(piece.source.path).stat().st_mtime_ns
    group = _row_group(piece.source, piece.line, changed)
    if group.num_rows < piece.stop:
        raise GraphInputError(f"{piece.source.name}: it has fewer rows than before; build the corpus again")
    return group.slice(piece.start, piece.stop - piece.start).combine_chunks()


@functools.lru_cache(maxsize=1)  # pieces of one group mostly follow each other
def _row_group(source: Source, number: int, changed: int) -> Any:  # noqa: ANN401, ARG001  (another file)
    try:
        with parquet_file(source) as file:
            return file.read_row_group(number)
    except (arrow().ArrowException, OSError) as error:
        raise GraphInputError(
            f"{source.name}, row group {number}: cannot be read ({first_line(error)}); get it again"
        ) from error
