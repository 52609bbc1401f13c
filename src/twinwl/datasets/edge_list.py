"""Edge lists as text: ``u v`` on each line, or ``u v value`` if edges have an attribute.

Names of nodes may be any text without separators; nodes are numbered in the order of their first occurrence.
A line with a single name is an isolated node. Fields are separated by spaces, tabs, commas or semicolons; in
a ``.csv`` file a field may be quoted, and a first line ``source,target`` (or ``from,to``, ``src,dst``) is a
header. Lines that begin with ``#`` are comments. The graph is undirected.

The third field is read as a label only if its column is named. Its name is that of the header; without a
header it is ``weight`` if all values are numbers, else ``label``. A value that looks like an integer is an
integer, any other a string; if all values are numbers and not all are integers, all are floats.

The warning about attributes of a file that are not read because they were not named.

Labels are read only if they are named, in the library and on the command line, so that a file always gives
the same graph.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from twinwl.datasets.text_files import decode, ending_of, read_bytes
from twinwl.errors import GraphInputError, shown, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import WEIGHT, count_weights, warn_weights

# What only tells nodes and edges apart; weights have a warning of their own.
_NO_LABELS = {"node": {"id"}, "edge": {"id", "key", "source", "target", WEIGHT}}
_MOST_LISTED = 6


def warn_unread(
    nodes: Iterable[Mapping[str, object]],
    edges: Iterable[Mapping[str, object]],
    node_label: str | None,
    edge_label: str | None,
) -> None:
    """Warn about attributes of nodes if no node label was named, and of edges if no edge label was named.

    Parameters
    ----------
    nodes, edges
        The attributes of each.
    node_label, edge_label
        The attributes that were named.
    """
    lists, parameters = [], []
    for what, entries, named in (("node", nodes, node_label), ("edge", edges, edge_label)):
        found = sorted({str(key) for entry in entries for key in entry} - _NO_LABELS[what])
        if not found or named is not None:
            continue
        listed = ", ".join(map(shown, found[:_MOST_LISTED])) + (", …" if len(found) > _MOST_LISTED else "")
        lists.append(f"{what} attribute{'s' * (len(found) > 1)} {listed}")
        example = "label" if "label" in found else found[0]
        parameters.append(f'{what}_label="{example if example.isprintable() else "…"}"')
    if lists:
        warn_caller(
            f"did not read {' and '.join(lists)}; to read one as labels pass {' or '.join(parameters)}"
        )


_SEPARATORS = re.compile(r"[\s,;]+")
HEADINGS = {("source", "target"), ("from", "to"), ("src", "dst")}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?")
_MAX_FIELDS = 3
_ARROW = re.compile(r"<?[-=~]+>|<[-=~]+|--+|[\u2190-\u21ff\u27f0-\u27ff]")
_DASHES = {"-", "\u2013", "\u2014"}  # may be names, but not between two others


def read_edge_list(path: Path, edge_label: str | None = None) -> GraphBatch:
    """Read the one graph of an edge list file."""
    text = decode(read_bytes(path), str(path))
    return parse_edge_list(text, str(path), edge_label, quoted=ending_of(path.name) in {".csv", ".tsv"})


def parse_edge_list(
    text: str, name: str = "edge list", edge_label: str | None = None, *, quoted: bool = False
) -> GraphBatch:
    r"""Build a graph from the lines of an edge list.

    >>> parse_edge_list("ann bob friend\nbob eve rival", edge_label="label")
    GraphBatch(1 graph, 3 nodes, 2 edges, 2 edge labels)

    Raises
    ------
    GraphInputError
        If a line has more than three fields, only some lines have three, or ``edge_label`` is not the name of
        the third column.
    """
    number_of_node: dict[str, int] = {}
    edges: list[tuple[int, int]] = []
    values: list[str] = []
    heading: list[str] | None = None
    for line, fields in _fields_of_lines(text, name, quoted=quoted):
        if quoted and heading is None:
            heading = fields if tuple(field.lower() for field in fields[:2]) in HEADINGS else []
            if heading:
                continue
        _refuse_arrows(fields, f"{name}, line {line}")
        if len(fields) > _MAX_FIELDS:
            raise GraphInputError(
                f"{name}, line {line}: got {len(fields)} fields, expected 'u v' or 'u v label'"
                + ("; write networkx graphs with data=False" if "{" in fields[2] else "")
            )
        ends = [number_of_node.setdefault(field, len(number_of_node)) for field in fields[:2]]
        if len(fields) == 1:
            continue
        edges.append((ends[0], ends[1]))
        values += fields[2:]
        if values and len(values) != len(edges):
            state = "has a label" if len(fields) == _MAX_FIELDS else "has no label"
            raise GraphInputError(
                f"{name}, line {line}: this edge {state}, unlike the previous ones; label all or none"
            )
    if not number_of_node:
        raise GraphInputError(f"{name}: there is no edge in it")
    labels = _edge_list_labels(values, (heading or [])[2:], edge_label, name)
    return GraphBatch.from_edges(
        [edges], num_nodes=[len(number_of_node)], edge_labels=None if labels is None else [labels]
    )


def _refuse_arrows(fields: list[str], where: str) -> None:
    """Refuse ``a -> b`` and ``a->b``, which would be nodes called ``->`` and ``a->b``."""
    arrow = next((field for field in fields if _ARROW.fullmatch(field)), None)
    if len(fields) == 1 and _ARROW.search(fields[0]):
        arrow = fields[0]
    if len(fields) == _MAX_FIELDS and fields[1] in _DASHES:
        arrow = fields[1]
    if arrow is not None:
        raise GraphInputError(
            f"{where}: got {shown(arrow)}, expected names of nodes; write an undirected edge as 'u v', and a "
            "directed graph as GraphML, GML, JSON or digraph6"
        )


def _edge_list_labels(
    values: list[str], heading: list[str], edge_label: str | None, name: str
) -> list[int | float | str] | None:
    """Return the third column if it is named; otherwise warn that it is not read."""
    numbers = all(map(_NUMBER.fullmatch, values))
    column = heading[0] if heading else WEIGHT if numbers else "label"
    if edge_label is not None and (not values or edge_label != column):
        held = f"it is called {column!r}" if values else "there is none"
        raise GraphInputError(f"{name}: there is no column {edge_label!r} beside the nodes; {held}")
    labels = [_label(value) for value in values]
    if numbers and not all(isinstance(label, int) for label in labels):
        labels = [float(value) for value in values]
    if edge_label is not None:
        return labels
    if column.lower() == WEIGHT:
        warn_weights(count_weights(labels), len(labels), column)
    elif values:
        warn_unread([], [{column: None}], None, None)
    return None


def _fields_of_lines(text: str, name: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(io.StringIO(text, newline=None), start=1):
        stripped = content.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if quoted:
            fields = _quoted_fields(stripped, f"{name}, line {line}")
        else:
            # networkx ends each line with {} where edges have no attributes.
            fields = [field for field in _SEPARATORS.split(stripped.removesuffix("{}")) if field]
        if fields:
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


def _label(field: str) -> int | float | str:
    return int(field) if _INTEGER.fullmatch(field) and field != "-0" else field
