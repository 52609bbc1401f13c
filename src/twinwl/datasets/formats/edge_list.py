"""Edge lists as text: ``u v`` or ``u v label`` on each line.

Names of nodes may be any text without separators, and nodes are numbered in the order they are first
named. A line with a single name is a node, which is how an isolated one is written. Fields are separated
by spaces, tabs, commas or semicolons; in a ``.csv`` file a field may be quoted, and a first line that says
``source,target`` (or ``from,to``, ``src,dst``) is a heading. Whatever follows ``#`` at the start of a line
is a comment. Labels that look like integers are integers. The graph is undirected.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["parse_edge_list", "read_edge_list"]

_SEPARATORS = re.compile(r"[\s,;]+")
_HEADINGS = {("source", "target"), ("from", "to"), ("src", "dst")}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_MAX_FIELDS = 3


def read_edge_list(path: Path) -> GraphBatch:
    """Read the one graph of an edge list file."""
    text = decode(read_bytes(path), str(path))
    return parse_edge_list(text, str(path), quoted=path.suffix.lower() == ".csv")


def parse_edge_list(text: str, name: str = "edge list", *, quoted: bool = False) -> GraphBatch:
    r"""Build a graph from the lines of an edge list.

    >>> parse_edge_list("ann bob friend\nbob eve rival")
    GraphBatch(1 graph, 3 nodes, 2 edges, 2 edge labels)

    Raises
    ------
    GraphInputError
        If a line has more than three fields, or only some lines carry labels; it names the line.
    """
    number_of_node: dict[str, int] = {}
    edges: list[tuple[int, int]] = []
    labels: list[int | str] = []
    for line, fields in _fields_of_lines(text, name, quoted=quoted):
        if len(fields) > _MAX_FIELDS:
            raise GraphInputError(
                f"{name}, line {line}: {len(fields)} fields; a line is 'u v' or 'u v label'"
                + ("; write networkx graphs with data=False" if "{" in fields[2] else "")
            )
        ends = [number_of_node.setdefault(field, len(number_of_node)) for field in fields[:2]]
        if len(fields) == 1:
            continue
        edges.append((ends[0], ends[1]))
        if len(fields) == _MAX_FIELDS:
            labels.append(_label(fields[2]))
        if labels and len(labels) != len(edges):
            state = "has a label" if len(fields) == _MAX_FIELDS else "has no label"
            raise GraphInputError(
                f"{name}, line {line}: this edge {state}, unlike those before; label all or none"
            )
    if not number_of_node:
        raise GraphInputError(f"{name}: there is no edge in it")
    return GraphBatch.from_edges(
        [edges], num_nodes=[len(number_of_node)], edge_labels=[labels] if labels else None
    )


def _fields_of_lines(text: str, name: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    first = True
    for line, content in enumerate(io.StringIO(text, newline=None), start=1):
        stripped = content.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if quoted:
            fields = _quoted_fields(stripped, f"{name}, line {line}")
        else:
            # networkx ends each line with {} where edges have no attributes.
            fields = [field for field in _SEPARATORS.split(stripped.removesuffix("{}")) if field]
        heading = first and quoted and tuple(field.lower() for field in fields[:2]) in _HEADINGS
        first = False
        if fields and not heading:
            yield line, fields


def _quoted_fields(line: str, where: str) -> list[str]:
    delimiter = next((sign for sign in ",;\t" if sign in line), " ")
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error as error:
        raise GraphInputError(f"{where}: {error}; correct that line") from error
    fields = [cell.strip() for cell in cells]
    while fields and not fields[-1]:  # a trailing separator, or an empty label column
        fields.pop()
    if "" in fields:
        raise GraphInputError(f"{where}: a field is empty; give each node a name")
    return fields


def _label(field: str) -> int | str:
    return int(field) if _INTEGER.fullmatch(field) and field != "-0" else field
