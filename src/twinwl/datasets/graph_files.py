"""Files of whole graphs: edge lists, GraphML, GML, JSON (node-link, as networkx and d3 write it), TU and EXP.

Labels are read only if they are named, in the library and on the command line, so that a file always gives
the same graph; a warning lists the attributes that are not read.

An edge list has ``u v`` on each line, or ``u v value`` if edges have an attribute. Names of nodes may be any
text without separators; nodes are numbered in the order of their first occurrence. A line with a single name
is an isolated node. Fields are separated by spaces, tabs, commas or semicolons; in a ``.csv`` file a field
may be quoted, and a first line ``source,target`` (or ``from,to``, ``src,dst``) is a header. Lines that begin
with ``#`` are comments. The graph is undirected. The third field is read as a label only if its column is
named. Its name is that of the header; without a header it is ``weight`` if all values are numbers, else
``label``. A value that looks like an integer is an integer, any other a string; if all values are numbers
and not all are integers, all are floats.
A TU data set is a zip or a folder of ``DS_*.txt`` files, one row per node, arc or graph. ``DS_A.txt`` has
the arcs (nodes numbered from 1 over the whole collection), ``DS_graph_indicator.txt`` the graph of each
node, ``DS_graph_labels.txt`` the class of each graph; node labels, edge labels and attributes are optional.
The number of nodes comes from the indicator, since nodes may be isolated.

EXP's ``GRAPHSAT.txt`` has the number of graphs; then for each a line ``n class`` and n lines ``label degree
neighbour…``, nodes numbered from 0 within the graph. (Its other form is a pickle, which could run anything:
it is never loaded.)
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

import networkx as nx
import numpy as np
from networkx.readwrite.graphml import GraphMLReader

from twinwl.arguments import Int64, pointer
from twinwl.datasets.formats import HEADINGS, ArchiveMembers, ending_of, read_bytes, read_text, split_fields
from twinwl.errors import GraphInputError, TwinWLError, first_line, setting, shown, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build
from twinwl.graphs.labels import WEIGHT, Coded, count_weights, encode_labels, warn_weights

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions


# What only tells nodes and edges apart; weights have a warning of their own.
_NO_LABELS = {"node": {"id"}, "edge": {"id", "key", "source", "target", WEIGHT}}
_MOST_LISTED = 6


def _batch(graphs: list[nx.Graph], path: Path, reading: ReadOptions) -> GraphBatch:
    nodes = [data for graph in graphs for _, data in graph.nodes(data=True)]
    edges = [data for graph in graphs for _, _, data in graph.edges(data=True)]
    for entries, attribute, what in (
        (nodes, reading.node_label, "node"),
        (edges, reading.edge_label, "edge"),
    ):
        missing = sum(attribute not in entry for entry in entries)
        if attribute is not None and missing:
            known = ", ".join(sorted({str(key) for entry in entries for key in entry})) or "none"
            raise GraphInputError(
                f"{path}: {missing} of {len(entries)} {what}s have no attribute {attribute!r}; "
                f"there are: {known}"
            )
    _warn_unread(nodes, edges, reading.node_label, reading.edge_label)
    try:
        return GraphBatch.from_networkx(graphs, node_label=reading.node_label, edge_label=reading.edge_label)
    except GraphInputError as error:
        raise GraphInputError(f"{path}: {error}") from error


def _warn_unread(
    nodes: Iterable[Mapping[str, object]],
    edges: Iterable[Mapping[str, object]],
    node_label: str | None,
    edge_label: str | None,
) -> None:
    """Warn about attributes of nodes if no node label was named, and of edges if no edge label was named."""
    lists, parameters = [], []
    for what, entries, named in (("node", nodes, node_label), ("edge", edges, edge_label)):
        found = sorted({str(key) for entry in entries for key in entry} - _NO_LABELS[what])
        if not found or named is not None:
            continue
        listed = ", ".join(map(shown, found[:_MOST_LISTED])) + (", …" if len(found) > _MOST_LISTED else "")
        lists.append(f"{what} attribute{'s' * (len(found) > 1)} {listed}")
        example = "label" if "label" in found else found[0]
        parameters.append(setting(**{f"{what}_label": example if example.isprintable() else ...}))
    if lists:
        warn_caller(
            f"did not read {' and '.join(lists)}; to read one as labels pass {' or '.join(parameters)}"
        )


# ---------------------------------------------------------------------- edge lists

_SEPARATORS = re.compile(r"[\s,;]+")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?")
_MAX_FIELDS = 3

_ARROW = re.compile(r"<?[-=~]+>|<[-=~]+|--+|[\u2190-\u21ff\u27f0-\u27ff]")
_DASHES = {"-", "\u2013", "\u2014"}  # may be names, but not between two others


def read_edge_list(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the one graph of an edge list file.

    Raises
    ------
    GraphInputError
        If a line has more than three fields, only some lines have three, or ``edge_label`` is not the name of
        the third column.
    """
    name, quoted = str(path), ending_of(path.name) in {".csv", ".tsv"}
    number_of_node: dict[str, int] = {}
    edges: list[tuple[int, int]] = []
    values: list[str] = []
    heading: list[str] = []
    for place, (line, fields) in enumerate(_fields_of_lines(read_text(path), name, quoted=quoted)):
        if quoted and place == 0 and tuple(field.lower() for field in fields[:2]) in HEADINGS:
            heading = fields
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
    labels = _edge_list_labels(values, heading[2:], reading.edge_label, name)
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
    whole = [_INTEGER.fullmatch(value) is not None and value != "-0" for value in values]
    labels: list[int | float | str] = [
        int(value) if is_whole else float(value) if numbers else value
        for value, is_whole in zip(values, whole)
    ]
    if numbers and not all(whole):
        labels = [float(value) for value in values]
    if edge_label is not None:
        return labels
    if column.lower() == WEIGHT:
        warn_weights(count_weights(labels), len(labels), column)
    elif values:
        _warn_unread([], [{column: None}], None, None)
    return None


def _fields_of_lines(text: str, name: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(io.StringIO(text, newline=None), start=1):
        stripped = content.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if quoted:
            fields = split_fields(stripped)
            if "" in fields:
                raise GraphInputError(f"{name}, line {line}: a field is empty; give each node a name")
        else:
            # networkx ends each line with {} where edges have no attributes.
            fields = [field for field in _SEPARATORS.split(stripped.removesuffix("{}")) if field]
        if fields:
            yield line, fields


# ---------------------------------------------------------------------- GraphML and GML

_ELEMENTS = {"graphml", "graph", "node", "edge", "hyperedge", "port", "data"}
_DIRECTIONS = {
    "graph": {"edgedefault": ("directed", "undirected")},
    "edge": {"directed": ("true", "false")},
}
_GML_DIRECTED = re.compile(r'\bdirected\s+("[^"]*"|[^\s\]]+)|"[^"]*"|#.*')  # or text that may contain it


def read_graphml(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graphs of a GraphML file.

    A file with a document type declaration is refused, because entities declared there can exhaust memory; so
    is what networkx would pass over or invent.
    """
    content = read_bytes(path)
    _check_xml(content, str(path))
    root = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'.encode()  # many files lack the namespace
    try:
        graphs = list(GraphMLReader()(string=content.replace(b"<graphml>", root, 1)))
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GraphML ({first_line(error)})") from error
    if not graphs:
        raise GraphInputError(f"{path}: not valid GraphML (there is no <graph> in a <graphml>)")
    return _batch(graphs, path, reading)


def read_gml(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graph of a GML file."""
    text = read_text(path)
    for found in _GML_DIRECTED.finditer(text):
        if found[1] not in {None, "0", "1"}:
            line = text.count("\n", 0, found.start()) + 1
            raise GraphInputError(f"{path}, line {line}: directed: got {shown(found[1])}, expected 0 or 1")
    try:
        graph = nx.parse_gml(text, label="id")
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GML ({first_line(error)}); is it cut off?") from error
    nodes = [data for _, data in graph.nodes(data=True)]
    if reading.node_label is None and len({str(data.get("label")) for data in nodes}) == len(nodes):
        for data in nodes:  # by the format's convention these are the names of the nodes
            data.pop("label", None)
    return _batch([graph], path, reading)


def _check_xml(content: bytes, name: str) -> None:
    """Refuse a document type in any encoding, and parts of GraphML that networkx would not read as meant."""
    parser = expat.ParserCreate(namespace_separator=" ")
    checks = _Checks(parser, name)
    parser.StartDoctypeDeclHandler = checks.document_type
    parser.EntityDeclHandler = checks.document_type
    parser.StartElementHandler = checks.start
    parser.EndElementHandler = checks.end
    try:
        parser.Parse(content, True)  # noqa: FBT003  (expat takes no keyword)
    except GraphInputError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last for an unknown encoding
        raise GraphInputError(f"{name}: not valid XML ({error}); is it cut off?") from error


class _Checks:
    """What a parser of GraphML calls; an error names the line."""

    def __init__(self, parser: expat.XMLParserType, name: str) -> None:
        self.parser = parser
        self.name = name
        self.open: list[tuple[str, dict[str, str]]] = []  # elements around the present place
        self.nodes: set[str | None] = {None}
        self.ends: list[tuple[int, str, str | None]] = []  # line, side and node of each end of an edge

    def document_type(self, *_: object) -> None:
        raise GraphInputError(
            f"{self.name}: declares a document type or entities, which can exhaust memory; "
            "remove the <!DOCTYPE …>"
        )

    def start(self, element: str, attributes: dict[str, str]) -> None:
        space, _, tag = element.rpartition(" ")
        around, around_attributes = self.open[-1] if self.open else ("", {})
        known = space in {"", GraphMLReader.NS_GRAPHML} and tag in _ELEMENTS
        if not known or around in {"data", "other"}:
            tag = "other"  # extensions, as those of yEd, may contain anything
        self.open.append((tag, attributes))
        is_group = around_attributes.get("yfiles.foldertype") == "group"  # networkx reads those of yEd
        self._refuse(tag in {"hyperedge", "port"}, f"<{tag}> is not supported; remove it")
        self._refuse(
            tag == "graph" and around != "graphml" and not is_group,
            f"a <graph> inside <{around} id={shown(around_attributes.get('id'))}> is not supported; write it "
            "as a separate graph",
        )
        self._refuse(
            tag in {"node", "edge"} and around != "graph",
            f"a <{tag}> inside <{around}> is not read; expected it inside <graph>",
        )
        for key, values in _DIRECTIONS.get(tag, {}).items():
            got = attributes.get(key)
            wanted = " or ".join(map(repr, values))
            self._refuse(got not in {None, *values}, f"{key}: got {shown(got)}, expected {wanted}")
        if tag == "node":
            node = attributes.get("id")
            again = "" if node is None else " a second time"
            problem = f"id: got {shown(node)}{again}; give each <node> an id of its own"
            self._refuse(node in self.nodes, problem)
            self.nodes.add(node)
        if tag == "edge":
            line = self.parser.CurrentLineNumber
            self.ends += [(line, side, attributes.get(side)) for side in ("source", "target")]

    def end(self, _: str) -> None:
        self.open.pop()
        if len(self.open) == 1:  # a whole graph is read: nodes may follow the edges of their graph
            for line, side, node in self.ends:
                problem = f"{side}: got {shown(node)}, expected the id of a <node> of the same graph"
                self._refuse(node is None or node not in self.nodes, problem, line)
            self.nodes, self.ends = {None}, []

    def _refuse(self, wrong: bool, message: str, line: int | None = None) -> None:
        if wrong:
            raise GraphInputError(f"{self.name}, line {line or self.parser.CurrentLineNumber}: {message}")


# ---------------------------------------------------------------------- JSON

_MAX_DEPTH = 100
_SHAPE = 'a graph is an object {"nodes": [{"id": …}, …], "links" or "edges": [{"source": …, "target": …}, …]}'


def read_node_link(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graphs of a JSON node-link file: one object per graph, or an array of them.

    The edges may be under ``"links"`` or ``"edges"``.
    """
    try:
        document = json.loads(read_text(path))
        listed = document if isinstance(document, list) else [document]
        graphs = [
            _node_link_graph(found, f"{path}#{index}" if len(listed) > 1 else str(path))
            for index, found in enumerate(listed)
        ]
    except json.JSONDecodeError as error:
        problem = f"not valid JSON ({error.msg}); is it cut off?"
        raise GraphInputError(f"{path}, line {error.lineno}: {problem}") from error
    except RecursionError as error:
        raise GraphInputError(f"{path}: nested too deeply; {_SHAPE}") from error
    except ValueError as error:
        if isinstance(error, TwinWLError):
            raise
        # Python refuses to read integers of more than 4,300 digits.
        raise GraphInputError(f"{path}: an integer in it is far too long; write it as text") from error
    if not graphs:
        raise GraphInputError(f"{path}: got an empty list, expected at least one graph")
    if len({graph.is_directed() for graph in graphs}) > 1:
        raise GraphInputError(f"{path}: directed and undirected graphs cannot be mixed; use separate files")
    return _batch(graphs, path, reading)


def _node_link_graph(found: Any, name: str) -> nx.MultiGraph:  # noqa: ANN401
    """Check one graph of a document, and number its nodes."""
    if not isinstance(found, dict):
        raise GraphInputError(f"{name}: {_SHAPE}, not {_KINDS.get(type(found), 'something else')}")
    if "links" in found and "edges" in found:
        raise GraphInputError(f'{name}: has both "links" and "edges"; leave one out')
    directed = found.get("directed", False)
    if not isinstance(directed, bool):
        raise GraphInputError(
            f'{name}: "directed": got {shown(directed)}, expected true or false, without quotes'
        )
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    number_of_id: dict[str, int] = {}
    for position, (where, node) in enumerate(_entries(found, "nodes", name)):
        identifier = _id_in(node, "id", f"{name}: {where}")
        if identifier in number_of_id:
            raise GraphInputError(f"{name}: two nodes have the id {identifier}; ids must differ")
        number_of_id[identifier] = position
        graph.add_node(position)
        graph.nodes[position].update(_frozen(node))
    for where, link in _entries(found, "links" if "links" in found else "edges", name):
        ends = [_id_in(link, side, f"{name}: {where}") for side in ("source", "target")]
        for identifier in ends:
            if identifier not in number_of_id:
                raise GraphInputError(
                    f"{name}: {where} names node {identifier}, which is not among the nodes"
                )
        graph.add_edges_from([(*(number_of_id[identifier] for identifier in ends), _frozen(link))])
    return graph


_KINDS = {
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    type(None): "null",
}


def _entries(found: dict[str, object], key: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list, with where each is."""
    listed = found.get(key)
    if not isinstance(listed, list):
        raise GraphInputError(f'{name}: no list under "{key}"; {_SHAPE}')
    for position, entry in enumerate(listed):
        if not isinstance(entry, dict):
            kind = _KINDS.get(type(entry), "something else")
            raise GraphInputError(f'{name}: "{key}"[{position}] is {kind}, not an object; {_SHAPE}')
        yield f'"{key}"[{position}]', entry


def _id_in(entry: dict[str, Any], key: str, where: str) -> str:
    """Return an id as text, so that 1 and true differ and arrays can be ids."""
    if key not in entry:
        raise GraphInputError(f'{where} has no "{key}"; {_SHAPE}')
    return json.dumps(_frozen(entry[key]), sort_keys=True)


def _frozen(value: Any, depth: int = 0) -> Any:  # noqa: ANN401
    """Turn JSON arrays into tuples, as networkx writes tuples as arrays."""
    if depth > _MAX_DEPTH:  # how deep Python itself would go depends on its version
        raise RecursionError
    if isinstance(value, dict):
        return {key: _frozen(part, depth + 1) for key, part in value.items()}
    return tuple(_frozen(part, depth + 1) for part in value) if isinstance(value, list) else value


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
