"""The TU text format: a zip or a folder of ``DS_*.txt`` files, one row per node, arc or graph.

``DS_A.txt`` has the arcs (nodes numbered from 1 over the whole collection), ``DS_graph_indicator.txt``
the graph of each node, ``DS_graph_labels.txt`` the class of each graph; node labels, edge labels and
attributes are optional. The number of nodes comes from the indicator, since nodes may be isolated.

Text files of numbers, one row per line; errors name the line.

The memory of a table is bounded by the length of its text, since a number has at least one digit and one
separator; the number of columns in the first line is not trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from twinwl.arrays import Float64, Int64, pointer
from twinwl.compilation import kernel
from twinwl.datasets.text_files import ArchiveMembers
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.graphs.batch import UNLABELLED, GraphBatch
from twinwl.graphs.building import assemble
from twinwl.graphs.labels import Coded, encode_labels

_BAD, _BLANK, _RAGGED, _LONG = 1, 2, 3, 4
_MAX_DIGITS = 18  # more may not fit 64 bits
_NEWLINE, _COMMA, _MINUS, _ZERO, _NINE = 10, 44, 45, 48, 57
_SPACE = (32, 9, 13)  # blank, tab, carriage return
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20  # bytes of text that are split into cells at a time
_SHOWN = 60  # characters of a line in a message


def integer_table(data: bytes, name: str) -> Int64:
    r"""Parse rows of integers that commas or blanks separate.

    Parameters
    ----------
    data
        The file's content; all rows must be as long as the first, and none may be empty.
    name
        The file's name, for error messages.

    Returns
    -------
    array of int64, shape (n_rows, n_columns)

    >>> integer_table(b"2, 1\n1, 2\n", "A.txt").tolist()
    [[2, 1], [1, 2]]
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data or data.isspace():
        return np.empty((0, 1), np.int64)
    width = max(1, len(_line_at(data, 0).replace(b",", b" ").split()))
    most = min((data.count(b"\n") + 1) * width, (len(data) + 1) // 2)
    values = np.empty(most, np.int64)
    n_rows, problem, line, start = _parsed(np.frombuffer(data, np.uint8), values, width)
    if problem:
        raise _error(_line_at(data, int(start)), name, int(problem), int(line), _wanted("integer", width))
    return values[: n_rows * width].reshape(n_rows, width)


def float_table(data: bytes, name: str) -> Float64:
    r"""Parse rows of finite numbers that commas or blanks separate, all as long as the first.

    >>> float_table(b"0.5, 1\n2, 3e1\n", "attributes.txt").tolist()
    [[0.5, 1.0], [2.0, 30.0]]
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    width = blank = 0  # blank: the first empty line so far; fine at the end of the file only
    parts: list[Float64] = []
    for first_line, lines in _pieces(data):
        rows: list[list[bytes]] = []
        for line, text in enumerate(lines, start=first_line):
            row = text.replace(b",", b" ").split()
            if not row:
                blank = blank or line
                continue
            width = width or len(row)
            if blank:
                raise _error(b"", name, _BLANK, blank, _wanted("number", width))
            if len(row) != width:
                raise _error(text, name, _RAGGED, line, _wanted("number", width))
            rows.append(row)
        numbers = _floats(rows, width)
        if numbers is None:
            bad = next(place for place, row in enumerate(rows) if _floats([row], width) is None)
            raise _error(lines[bad], name, _BAD, first_line + bad, _wanted("finite number", width))
        parts.append(numbers)
    return np.concatenate(parts) if width else np.empty((0, 1), np.float64)


def _pieces(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield whole lines, about a megabyte of them at a time, with the number of the first."""
    start, line = 0, 1
    while start < len(data):
        stop = data.find(b"\n", start + _PIECE)
        stop = len(data) if stop < 0 else stop
        lines = data[start:stop].split(b"\n")
        yield line, lines
        start, line = stop + 1, line + len(lines)


def _floats(rows: list[list[bytes]], width: int) -> Float64 | None:
    """Return the cells as a table, or None if one of them is not a finite number."""
    if any(b"_" in cell for row in rows for cell in row):  # Python allows 1_000, no file means it
        return None
    try:
        table = np.fromiter(map(float, chain.from_iterable(rows)), np.float64, len(rows) * width)
    except ValueError:
        return None
    return table.reshape(len(rows), width) if np.isfinite(table).all() else None


def _line_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:] if end < 0 else data[start:end]


def _wanted(what: str, width: int) -> str:
    return f"{width} {what}s" if width > 1 else f"one {what}"


def _error(text: bytes, name: str, problem: int, line: int, wanted: str) -> TwinWLError:
    content = text[: 4 * _SHOWN].decode("utf-8", "replace").strip()[:_SHOWN]
    what = {
        _BAD: f"got {content!r}, expected {wanted}",
        _BLANK: "the line is empty, but more rows follow",
        _RAGGED: f"got {content!r}, expected {wanted} as in the lines before",
        _LONG: f"{content!r} holds a number of more than {_MAX_DIGITS} digits",
    }[problem]
    return TwinWLError(f"{name}, line {line}: {what}; correct that line, or get the file again")


@kernel
def _parsed(data, values, width):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901
    """Fill in the values; return the number of rows, and a problem (0 for none), its line, and its start."""
    row, column, line, start = 0, 0, 1, 0
    blank = 0  # first empty line so far; fine at the end of the file only
    after_comma = False
    place, end = 0, len(data)
    while place <= end:
        byte = data[place] if place < end else np.uint8(_NEWLINE)  # as if the last line ended like the others
        if byte == _NEWLINE:
            if column == 0 and not after_comma:
                blank = blank or line
            elif column != width or after_comma:
                return row, _RAGGED, line, start
            else:
                row += 1
            column, after_comma = 0, False
            line += 1
            place += 1
            start = place
        elif byte in _SPACE:
            place += 1
        elif byte == _COMMA:
            if after_comma or column == 0:
                return row, _BAD, line, start
            after_comma = True
            place += 1
        else:
            if blank:
                return row, _BLANK, blank, start
            value, length = _integer(data, place)
            if length <= 0:
                return row, _LONG if length < 0 else _BAD, line, start
            if column == width:
                return row, _RAGGED, line, start
            values[row * width + column] = value
            column += 1
            after_comma = False
            place += length
    return row, 0, 0, 0


@kernel
def _integer(data, start):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Read one integer and its length in characters: 0 if there is no integer, -1 if it is too long."""
    place, end = start, len(data)
    negative = data[place] == _MINUS
    if negative:
        place += 1
    first_digit = place
    value = np.int64(0)
    while place < end and _ZERO <= data[place] <= _NINE:
        if place - first_digit == _MAX_DIGITS:
            return value, -1
        value = 10 * value + np.int64(data[place]) - _ZERO
        place += 1
    if place == first_digit or (place < end and not _separates(data[place])):
        return value, 0
    return -value if negative else value, place - start


@kernel
def _separates(byte):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return byte in (_NEWLINE, _COMMA) or byte in _SPACE


class TUCollection(NamedTuple):
    """A data set in TU format.

    Attributes
    ----------
    name : str
        Prefix of its files.
    graphs : GraphBatch
        Undirected; multi-column labels are tuples of integers, node attributes are ``node_features``.
    y : array of int64, shape (n_graphs,)
        The class of each graph, as in the file.
    graph_attributes : array of float64, shape (n_graphs, n_attributes), or None
    n_merged : int
        Number of repeated arcs that were merged (some sets list every arc twice).
    n_loops : int
        Number of self-loops that were dropped.
    """

    name: str
    graphs: GraphBatch
    y: Int64
    graph_attributes: Float64 | None
    n_merged: int
    n_loops: int


def read_tu(path: str | os.PathLike[str]) -> TUCollection:
    r"""Read a TU data set from its zip, or from the unpacked folder.

    Nothing is unpacked to disk. Edge attributes, and files that are not part of the format, are ignored.

    Parameters
    ----------
    path
        The zip, or the folder with ``DS_A.txt`` in it or in a subfolder.

    Raises
    ------
    TwinWLError
        If the data are not valid; the message names the file, the line and the remedy.

    >>> import tempfile
    >>> files = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n-1\n"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part, text in files.items():
    ...         _ = (Path(folder) / f"TINY_{part}.txt").write_text(text)
    ...     tiny = read_tu(folder)
    >>> tiny.graphs, tiny.y.tolist()
    (GraphBatch(2 graphs, 3 nodes, 1 edge), [1, -1])
    """
    with ArchiveMembers(Path(path)) as members:
        return _Files(members).collection()


class _Files:
    """The files of one data set, by the part of the name after the data set's."""

    def __init__(self, members: ArchiveMembers) -> None:
        arcs = [
            name
            for name in members.names
            if name.endswith("_A.txt")
            and not name.startswith("__MACOSX")
            and PurePosixPath(name).name != "_A.txt"
        ]
        if len(arcs) != 1:
            held = ", ".join(arcs) or ", ".join(members.names[:5]) or "nothing"
            problem = "several data sets" if arcs else "no file DS_A.txt"
            raise TwinWLError(
                f"{members.path}: {problem} (its files: {held}); expected the zip or folder of a TU data set"
            )
        self.members = members
        self.stem = arcs[0].removesuffix("A.txt")
        self.name = PurePosixPath(arcs[0]).name.removesuffix("_A.txt")

    def has(self, part: str) -> bool:
        return self.path_of(part) in self.members.names

    def path_of(self, part: str) -> str:
        return f"{self.stem}{part}.txt"

    def named(self, part: str) -> str:
        """Name a file for an error message."""
        return f"{self.members.path}: {PurePosixPath(self.path_of(part)).name}"

    def integers(self, part: str, *, n_rows: int | None = None, n_columns: int | None = None) -> Int64:
        if not self.has(part):
            raise TwinWLError(
                f"{self.named(part)} is missing, which the format requires; get the data set again"
            )
        table = integer_table(self.content(part, n_rows), self.named(part))
        if n_columns is not None and len(table) and table.shape[1] != n_columns:
            raise TwinWLError(
                f"{self.named(part)}, line 1: got {table.shape[1]} numbers, expected {n_columns}"
            )
        return table

    def floats(self, part: str, n_rows: int) -> Float64 | None:
        if not self.has(part):
            return None
        return float_table(self.content(part, n_rows), self.named(part))

    def content(self, part: str, n_rows: int | None) -> bytes:
        """Read a file; if its number of lines is known, check it first."""
        data = self.members.read(self.path_of(part))
        if n_rows is not None:
            data = data.rstrip()
            n_lines = data.count(b"\n") + 1 if data else 0
            if n_lines != n_rows:
                raise TwinWLError(
                    f"{self.named(part)} has {n_lines} lines, expected {n_rows}; it is truncated, or from "
                    "another data set: get it again"
                )
        return data

    def labels(self, part: str, n_rows: int) -> Coded | None:
        if not self.has(part):
            return None
        table = self.integers(part, n_rows=n_rows)
        if table.shape[1] == 1 or not len(table):
            return encode_labels(table[:, 0])
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        ranks, vocabulary = encode_labels([tuple(row) for row in distinct.tolist()])
        return Coded(ranks[inverse.ravel()], vocabulary)

    def collection(self) -> TUCollection:
        """Read and check all files, and return the collection."""
        y = self.integers("graph_labels", n_columns=1)[:, 0]
        owners = self._owners(len(y))
        n_nodes = len(owners)
        sources, targets = self._arcs(owners)
        nodes = self.labels("node_labels", n_nodes)
        features = self.floats("node_attributes", n_nodes)
        edges = self.labels("edge_labels", len(sources))
        if (np.diff(owners) < 0).any():  # the nodes of a graph need not stand together in the file
            order = np.argsort(owners, kind="stable")
            place = np.empty(n_nodes, np.int64)
            place[order] = np.arange(n_nodes)
            sources, targets = place[sources], place[targets]
            nodes = nodes and Coded(nodes.codes[order], nodes.vocabulary)
            features = None if features is None else features[order]
        graph_ptr = pointer(np.bincount(owners, minlength=len(y)))
        try:
            adjacency = assemble(graph_ptr, sources, targets, edges and edges.codes, warn=False)
        except GraphInputError as error:
            raise GraphInputError(f"{self.named('A')}: {error}", error.graph) from error
        graphs = GraphBatch.unchecked(
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            graph_ptr=graph_ptr,
            node_labels=np.zeros(n_nodes, np.int32) if nodes is None else nodes.codes,
            node_vocabulary=nodes.vocabulary if nodes and n_nodes else UNLABELLED,
            edge_labels=adjacency.edge_labels,
            edge_vocabulary=edges.vocabulary if edges else (),
            node_features=features,
            directed=False,
        )
        return TUCollection(
            self.name,
            graphs,
            y,
            self.floats("graph_attributes", len(y)),
            adjacency.n_parallel,
            adjacency.n_loops,
        )

    def _owners(self, n_graphs: int) -> Int64:
        """Return the graph of each node, counted from 0."""
        owners = self.integers("graph_indicator", n_columns=1)[:, 0]
        wrong = np.flatnonzero((owners < 1) | (owners > n_graphs))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('graph_indicator')}, line {wrong[0] + 1}: no graph {owners[wrong[0]]}; "
                f"the lines of {self.name}_graph_labels.txt number them 1..{n_graphs}: correct either file"
            )
        return owners - 1

    def _arcs(self, owners: Int64) -> tuple[Int64, Int64]:
        """Return sources and targets of the arcs, counted from 0 over the whole collection."""
        arcs = self.integers("A", n_columns=2)
        if not len(arcs):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        n_nodes = len(owners)
        wrong = np.flatnonzero(((arcs < 1) | (arcs > n_nodes)).any(axis=1))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('A')}, line {wrong[0] + 1}: arc {tuple(arcs[wrong[0]].tolist())} names no "
                f"node; the lines of {self.name}_graph_indicator.txt number them 1..{n_nodes}: "
                "correct either file"
            )
        sources, targets = np.ascontiguousarray(arcs[:, 0]) - 1, np.ascontiguousarray(arcs[:, 1]) - 1
        across = np.flatnonzero(owners[sources] != owners[targets])
        if len(across):
            line = int(across[0])
            raise TwinWLError(
                f"{self.named('A')}, line {line + 1}: arc {tuple(arcs[line].tolist())} joins graphs "
                f"{owners[sources[line]] + 1} and {owners[targets[line]] + 1}; an arc must stay inside one"
            )
        return sources, targets
