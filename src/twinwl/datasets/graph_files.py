"""Files of whole graphs: edge lists, GraphML, GML, and JSON in the node-link format of networkx and d3.

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
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from twinwl.datasets.formats import HEADINGS, split_fields
from twinwl.datasets.text_files import ending_of, read_bytes, read_text
from twinwl.errors import GraphInputError, TwinWLError, first_line, setting, shown, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import WEIGHT, count_weights, warn_weights

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
        for value, is_whole in zip(values, whole, strict=True)
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
