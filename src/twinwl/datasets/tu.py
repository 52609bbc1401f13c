"""Text files of numbers: the TU format, and EXP in its authors' form.

A TU data set is a zip or a folder of ``DS_*.txt`` files, one row per node, arc or graph. ``DS_A.txt`` has
the arcs (nodes numbered from 1 over the whole collection), ``DS_graph_indicator.txt`` the graph of each
node, ``DS_graph_labels.txt`` the class of each graph; node labels, edge labels and attributes are optional.
The number of nodes comes from the indicator, since nodes may be isolated.

EXP's ``GRAPHSAT.txt`` has the number of graphs; then for each a line ``n class`` and n lines ``label degree
neighbour…``, nodes numbered from 0 within the graph. (Its other form is a pickle, which could run anything:
it is never loaded.)
"""

from __future__ import annotations

import itertools
import os
import re
import warnings
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from twinwl.arrays import Int64, pointer
from twinwl.datasets.text_files import ArchiveMembers, read_bytes
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build
from twinwl.graphs.labels import Coded, encode_labels

# What is not a number; no more digits than are certain to fit 64 bits.
_BAD = {
    np.int64: re.compile(rb"(?<!\S)(?!-?[0-9]{1,18}(?!\S))\S+"),
    np.float64: re.compile(rb"(?<!\S)(?![-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?(?!\S))\S+"),
}
_EMPTY_CELL = re.compile(rb",[ \t\r]*(,|$)|^[ \t\r]*,", re.MULTILINE)
_LONGEST = 18  # digits of an integer
_SHOWN = 60  # characters of a line in a message


def number_table(data: bytes, name: str, dtype: Any) -> Any:  # noqa: ANN401  (an array of that type)
    r"""Parse rows of finite numbers that commas or blanks separate, all as long as the first, and none empty.

    Parameters
    ----------
    data
        The file's content.
    name
        The file's name, for error messages.
    dtype
        ``np.int64`` or ``np.float64``.

    >>> number_table(b"2, 1\n1, 2\n", "A.txt", np.int64).tolist()
    [[2, 1], [1, 2]]
    """
    values, ends = _numbers(data, name, dtype)
    counts = np.diff(ends, prepend=0)
    n_rows = int(np.flatnonzero(counts)[-1]) + 1 if len(values) else 0  # empty lines may follow the last row
    if not n_rows:
        return np.empty((0, 1), dtype)
    width = int(counts[0])
    wrong = np.flatnonzero(counts[:n_rows] != max(width, 1))
    if len(wrong):
        line = int(wrong[0])
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        start = int(newlines[line - 1]) + 1 if line else 0
        if not counts[line]:
            raise TwinWLError(f"{name}, line {line + 1}: the line is empty, but more rows follow; {_REMEDY}")
        raise _wrong(data, name, start, f"a row of {width} as in the lines before")
    return values.reshape(n_rows, width)


_IN_NUMBERS = np.isin(np.arange(256), list(b"0123456789+-.eE \t\r\n\v\f"))


def _numbers(data: bytes, name: str, dtype: Any) -> tuple[Any, Int64]:  # noqa: ANN401
    """Return all numbers of a text, and how many there are up to the end of each line."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b",", b" ")
    characters = np.frombuffer(text + b"\n", np.uint8)
    is_ink = characters > ord(" ")
    starts = np.flatnonzero(is_ink & ~np.concatenate([[False], is_ink[:-1]]))
    ends = np.searchsorted(starts, np.flatnonzero(characters == ord("\n")))
    kind = "integers of up to 18 digits" if dtype is np.int64 else "finite numbers"
    other = ~_IN_NUMBERS[characters]  # which some versions of NumPy skip or read
    if other.any():
        raise _wrong(data, name, int(np.argmax(other)), kind)
    if not len(starts):
        return np.empty(0, dtype), ends
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it stops at what is not a number, and warns
        try:
            values = np.fromstring(text, dtype, sep=" ")
        except ValueError:
            values = np.empty(0, dtype)
    sound = len(values) == len(starts) and not _EMPTY_CELL.search(data)
    if dtype is np.int64:  # it also reads what is too long, and a sign alone
        is_sign = characters == ord("-")
        is_digit = (characters >= ord("0")) & (characters <= ord("9"))
        stops = np.flatnonzero(is_ink & ~np.concatenate([is_ink[1:], [False]]))
        lengths = stops - starts + 1 - is_sign[starts]
        sound = (
            sound and bool((is_digit | is_sign == is_ink).all()) and is_sign.sum() == is_sign[starts].sum()
        )
        sound = sound and lengths.min() >= 1 and lengths.max() <= _LONGEST
    if not sound or not np.isfinite(values).all():
        found = _EMPTY_CELL.search(data) or _BAD[dtype].search(text)
        infinite = np.flatnonzero(~np.isfinite(values)) if found is None else [0]
        start = int(starts[infinite[0]]) if found is None else found.start()
        raise _wrong(data, name, start, kind)
    return values, ends


_REMEDY = "correct that line, or get the file again"


def _wrong(data: bytes, name: str, start: int, wanted: str) -> GraphInputError:
    """Return the error about the line at some byte."""
    line = data[data.rfind(b"\n", 0, start) + 1 :][: 4 * _SHOWN].split(b"\n")[0]
    shown = line.decode("utf-8", "replace").strip()[:_SHOWN]
    number = data.count(b"\n", 0, start) + 1
    return GraphInputError(f"{name}, line {number}: got {shown!r}, expected {wanted}; {_REMEDY}")


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
    """

    name: str
    graphs: GraphBatch
    y: Int64


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

    def named(self, part: str) -> str:
        """Name a file for an error message."""
        return f"{self.members.path}: {PurePosixPath(self.stem).name}{part}.txt"

    def table(self, part: str, dtype: Any, *, n_rows: int | None = None, n_columns: int | None = None) -> Any:  # noqa: ANN401
        """Return the numbers of a file, or None if it is optional (its rows are known) and not there."""
        if f"{self.stem}{part}.txt" not in self.members.names:
            if n_rows is not None:
                return None
            raise TwinWLError(
                f"{self.named(part)} is missing, which the format requires; get the data set again"
            )
        data = self.members.read(f"{self.stem}{part}.txt")
        if n_rows is not None:
            data = data.rstrip()
            n_lines = data.count(b"\n") + 1 if data else 0
            if n_lines != n_rows:
                raise TwinWLError(
                    f"{self.named(part)} has {n_lines} lines, expected {n_rows}; it is truncated, or from "
                    "another data set: get it again"
                )
        table = number_table(data, self.named(part), dtype)
        if n_columns is not None and len(table) and table.shape[1] != n_columns:
            raise TwinWLError(
                f"{self.named(part)}, line 1: got {table.shape[1]} numbers, expected {n_columns}"
            )
        return table

    def labels(self, part: str, n_rows: int) -> Coded | None:
        table = self.table(part, np.int64, n_rows=n_rows)
        if table is None:
            return None
        if table.shape[1] == 1 or not len(table):
            return encode_labels(table[:, 0])
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        ranks, vocabulary = encode_labels([tuple(row) for row in distinct.tolist()])
        return Coded(ranks[inverse.ravel()], vocabulary)

    def collection(self) -> TUCollection:
        """Read and check all files, and return the collection."""
        y = self.table("graph_labels", np.int64, n_columns=1)[:, 0]
        owners = self._owners(len(y))
        arcs = self._arcs(owners)
        nodes = self.labels("node_labels", len(owners))
        features = self.table("node_attributes", np.float64, n_rows=len(owners))
        edges = self.labels("edge_labels", len(arcs))
        # Neither the nodes nor the arcs of a graph need stand together in the file.
        by_owner = np.argsort(owners, kind="stable")
        place = np.empty(len(owners), np.int64)
        place[by_owner] = np.arange(len(owners))
        node_counts = np.bincount(owners, minlength=len(y))
        owner_of_arc = owners[arcs[:, 0]]
        order = np.argsort(owner_of_arc, kind="stable")
        ends = place[arcs[order]] - pointer(node_counts)[owner_of_arc[order], None]
        try:
            graphs = build(
                node_counts,
                np.bincount(owner_of_arc, minlength=len(y)),
                np.ascontiguousarray(ends[:, 0]),
                np.ascontiguousarray(ends[:, 1]),
                nodes=nodes and Coded(nodes.codes[by_owner], nodes.vocabulary),
                edges=edges and Coded(edges.codes[order], edges.vocabulary),
                node_features=None if features is None else features[by_owner],
                warn=False,
            )
        except GraphInputError as error:
            raise GraphInputError(f"{self.named('A')}: {error}", error.graph) from error
        return TUCollection(self.name, graphs, y)

    def _owners(self, n_graphs: int) -> Int64:
        """Return the graph of each node, counted from 0."""
        owners: Int64 = self.table("graph_indicator", np.int64, n_columns=1)[:, 0]
        wrong = np.flatnonzero((owners < 1) | (owners > n_graphs))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('graph_indicator')}, line {wrong[0] + 1}: no graph {owners[wrong[0]]}; "
                f"the lines of {self.name}_graph_labels.txt number them 1..{n_graphs}: correct either file"
            )
        return owners - 1

    def _arcs(self, owners: Int64) -> Int64:
        """Return sources and targets of the arcs, counted from 0 over the whole collection."""
        table: Int64 = self.table("A", np.int64, n_columns=2)
        arcs = table - 1 if len(table) else np.empty((0, 2), np.int64)
        wrong = np.flatnonzero(((arcs < 0) | (arcs >= len(owners))).any(axis=1))
        if len(wrong):
            line = int(wrong[0])
            raise TwinWLError(
                f"{self.named('A')}, line {line + 1}: arc {tuple(table[line].tolist())} names no node; the "
                f"lines of {self.name}_graph_indicator.txt number them 1..{len(owners)}: correct either file"
            )
        across = np.flatnonzero(owners[arcs[:, 0]] != owners[arcs[:, 1]])
        if len(across):
            line = int(across[0])
            first, second = (owners[arcs[line]] + 1).tolist()
            raise TwinWLError(
                f"{self.named('A')}, line {line + 1}: arc {tuple(table[line].tolist())} joins graphs {first} "
                f"and {second}; an arc must stay inside one"
            )
        return arcs


# ---------------------------------------------------------------------- EXP in its authors' text form


def read_exp_text(path: str | Path) -> tuple[GraphBatch, Int64]:
    r"""Read graphs and classes from ``GRAPHSAT.txt``.

    Raises
    ------
    GraphInputError
        If the file is not valid; the message names the line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "GRAPHSAT.txt").write_text("1\n2 1\n0 1 1\n1 1 0\n")
    ...     read_exp_text(Path(folder, "GRAPHSAT.txt"))
    (GraphBatch(1 graph, 2 nodes, 1 edge, 2 node labels), array([1]))
    """
    path = Path(path)
    rows, heads = _exp_rows(path)
    node_counts, y = np.array([rows[head] for head in heads], np.int64).reshape(-1, 2).T.copy()
    others = {0, *heads}
    nodes = [(line, row) for line, row in enumerate(rows) if line not in others]
    for line, row in nodes:
        if len(row) < 2:  # noqa: PLR2004
            raise _exp_error(path, line, "a node needs its label and its degree")
        if row[1] != len(row) - 2:
            raise _exp_error(path, line, f"degree {row[1]}, but {len(row) - 2} neighbours follow")
    first = pointer(node_counts)
    owner = np.repeat(np.arange(len(heads)), node_counts)
    degrees = np.array([row[1] for _, row in nodes], np.int64)
    try:
        graphs = build(
            node_counts,
            np.bincount(owner, degrees, len(heads)).astype(np.int64),
            np.repeat(np.arange(len(nodes)) - first[owner], degrees),
            np.array([neighbour for _, row in nodes for neighbour in row[2:]], np.int64),
            nodes=encode_labels([row[0] for _, row in nodes]),
            one_way_remedy="a neighbour must name its neighbour back; get the file again",
        )
    except GraphInputError as error:
        raise GraphInputError(f"{path}: {error}") from error
    return graphs, y


def looks_like_exp(path: Path) -> bool:
    """Return whether a text file has this format: the number of graphs, then a head and lines for each.

    >>> looks_like_exp(Path("some/GRAPHSAT.txt"))
    True
    """
    try:
        return path.name.startswith("GRAPHSAT") or bool(_exp_rows(path))
    except GraphInputError:
        return False


def _exp_rows(path: Path) -> tuple[list[list[int]], list[int]]:
    """Return the numbers of each line that is not empty, and the lines that start a graph."""
    values, ends = _numbers(read_bytes(path), str(path), np.int64)
    listed, cuts = values.tolist(), [0, *np.unique(ends[ends > 0]).tolist()]
    rows = [listed[start:stop] for start, stop in itertools.pairwise(cuts)]
    if not rows or len(rows[0]) != 1 or rows[0][0] < 0:
        raise _exp_error(path, 0, "the first line must be the number of graphs")
    n_graphs, heads, line = rows[0][0], [], 1
    if n_graphs > len(rows):
        raise _exp_error(path, 0, f"{n_graphs} graphs do not fit in {len(rows)} lines")
    for graph in range(n_graphs):
        if line >= len(rows):
            raise _exp_error(path, len(rows) - 1, f"the file ends after {graph} of {n_graphs} graphs")
        if len(rows[line]) != 2 or rows[line][0] < 0:  # noqa: PLR2004
            raise _exp_error(path, line, f"graph {graph} must start with its number of nodes and its class")
        heads.append(line)
        line += 1 + rows[line][0]
    if line != len(rows):
        what = f"line {len(rows)} is the last, but graph {n_graphs - 1} ends in line {line}"
        raise _exp_error(path, min(line, len(rows)) - 1, what)
    return rows, heads


def _exp_error(path: Path, line: int, problem: str) -> GraphInputError:
    return GraphInputError(f"{path}, line {line + 1}: {problem}; get the file again")
