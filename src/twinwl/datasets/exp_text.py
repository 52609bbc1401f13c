"""EXP and CEXP in their authors' text form, ``GRAPHSAT.txt``.

The number of graphs; then for each a line ``n class`` and n lines ``label degree neighbour…``, nodes numbered
from 0 within the graph. (Their other form is a pickle, which could run anything: it is never loaded.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from twinwl.arrays import Int64
from twinwl.datasets.text_files import decode, read_bytes
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build
from twinwl.graphs.labels import encode_labels

_REMEDY = "get the file again"
_HEAD = 2  # numbers before the neighbours: label and degree


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
    numbers, line_ptr = _lines(read_bytes(path), str(path))
    node_counts, y, head_lines = _heads(numbers, line_ptr, path)
    is_node = np.ones(len(line_ptr) - 1, dtype=bool)
    is_node[0] = is_node[head_lines] = False
    rows = np.flatnonzero(is_node)
    starts, lengths = line_ptr[:-1][rows], np.diff(line_ptr)[rows]
    short = np.flatnonzero(lengths < _HEAD)
    if len(short):
        raise _exp_error(path, int(rows[short[0]]), "a node needs its label and its degree")
    degrees = numbers[starts + 1]
    wrong = np.flatnonzero(degrees != lengths - _HEAD)
    if len(wrong):
        row = wrong[0]
        raise _exp_error(
            path, int(rows[row]), f"degree {degrees[row]}, but {lengths[row] - _HEAD} neighbours follow"
        )
    # The numbers that remain without the heads are the neighbours, in order.
    is_neighbour = np.ones(len(numbers), dtype=bool)
    is_neighbour[starts] = is_neighbour[starts + 1] = False
    is_neighbour[line_ptr[0] : line_ptr[1]] = False
    for column in (0, 1):
        is_neighbour[line_ptr[head_lines] + column] = False
    node_ptr = np.concatenate([[0], np.cumsum(node_counts)])
    owners = np.repeat(np.arange(len(node_counts)), node_counts)
    sources = np.repeat(np.arange(len(rows)) - node_ptr[owners], degrees)
    edge_counts = np.bincount(owners, weights=degrees, minlength=len(node_counts)).astype(np.int64)
    try:
        graphs = build(
            node_counts,
            edge_counts,
            sources,
            numbers[is_neighbour],
            nodes=encode_labels(numbers[starts]),
            one_way_remedy=f"a neighbour must name its neighbour back; {_REMEDY}",
        )
    except GraphInputError as error:
        raise GraphInputError(f"{path}: {error}") from error
    return graphs, y


def looks_like_exp(path: Path) -> bool:
    """Return whether a text file has this format: the number of graphs, then a head and lines for each.

    >>> looks_like_exp(Path("some/GRAPHSAT.txt"))
    True
    """
    if path.name.startswith("GRAPHSAT"):
        return True
    try:
        _heads(*_lines(read_bytes(path), str(path)), path)
    except GraphInputError:
        return False
    return True


def _lines(content: bytes, name: str) -> tuple[Int64, Int64]:
    """Return all numbers of the file, and the position of the first of each line; empty lines are skipped."""
    text = decode(content, name).encode("ascii", "replace")
    bytes_ = np.frombuffer(text + b"\n", np.uint8)
    is_ink = bytes_ > ord(" ")
    is_first = is_ink.copy()
    is_first[1:] &= ~is_ink[:-1]
    tokens_before = np.concatenate([[0], np.cumsum(is_first)])
    line_ptr = np.unique(np.concatenate([[0], tokens_before[np.flatnonzero(bytes_ == ord("\n"))]]))
    allowed = ~is_ink | ((bytes_ >= ord("0")) & (bytes_ <= ord("9"))) | (bytes_ == ord("-"))
    if not allowed.all():
        place = int(np.flatnonzero(~allowed)[0])
        line = text[:place].count(b"\n")
        raise _exp_error(Path(name), line, f"{chr(text[place])!r} is not a number")
    return _integers(text, name), line_ptr.astype(np.int64)


def _integers(text: bytes, name: str) -> Int64:
    try:
        return np.array(text.split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise GraphInputError(f"{name}: expected integers only ({error}); {_REMEDY}") from error


def _heads(numbers: Int64, line_ptr: Int64, path: Path) -> tuple[Int64, Int64, Int64]:
    """Return nodes and class of each graph, and the number of its first line."""
    lengths = np.diff(line_ptr)
    if not len(lengths) or lengths[0] != 1 or numbers[0] < 0:
        raise _exp_error(path, 0, "the first line must be the number of graphs")
    n_graphs = int(numbers[0])
    n_lines = len(lengths)
    if n_graphs > n_lines:
        raise _exp_error(path, 0, f"{n_graphs} graphs do not fit in {n_lines} lines")
    heads = np.empty(n_graphs, np.int64)
    line = 1
    for graph in range(n_graphs):
        if line >= n_lines:
            raise _exp_error(path, n_lines - 1, f"the file ends after {graph} of {n_graphs} graphs")
        if lengths[line] != _HEAD or numbers[line_ptr[line]] < 0:
            raise _exp_error(path, line, f"graph {graph} must start with its number of nodes and its class")
        heads[graph] = line
        line += 1 + int(numbers[line_ptr[line]])
    if line != n_lines:
        what = f"line {n_lines} is the last, but graph {n_graphs - 1} ends in line {line}"
        raise _exp_error(path, min(line, n_lines) - 1, what)
    starts = line_ptr[heads]
    return numbers[starts], numbers[starts + 1], heads


def _exp_error(path: Path, line: int, problem: str) -> GraphInputError:
    return GraphInputError(f"{path}, line {line + 1}: {problem}; {_REMEDY}")
