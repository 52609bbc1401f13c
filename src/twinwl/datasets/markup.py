"""GraphML and GML, read by networkx after a check for dangerous content.

JSON in the node-link format of networkx and d3: one object per graph, or an array of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers import expat

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from twinwl.datasets.edge_list import warn_unread
from twinwl.datasets.text_files import decode, read_bytes
from twinwl.errors import GraphInputError, TwinWLError, first_line, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import WEIGHT, count_weights, warn_weights

_ELEMENTS = {"graphml", "graph", "node", "edge", "hyperedge", "port", "data"}
_DIRECTIONS = {
    "graph": {"edgedefault": ("directed", "undirected")},
    "edge": {"directed": ("true", "false")},
}
_GML_DIRECTED = re.compile(r'\bdirected\s+("[^"]*"|[^\s\]]+)|"[^"]*"|#.*')  # or text that may contain it


def read_graphml(path: Path, node_label: str | None = None, edge_label: str | None = None) -> GraphBatch:
    """Read the graphs of a GraphML file.

    Labels come from the given attributes. A file with a document type declaration is refused, because
    entities declared there can exhaust memory; so is what networkx would pass over or invent.
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
    return _batch(graphs, path, node_label, edge_label)


def read_gml(path: Path, node_label: str | None = None, edge_label: str | None = None) -> GraphBatch:
    """Read the graph of a GML file; labels come from the given attributes."""
    text = decode(read_bytes(path), str(path))
    for found in _GML_DIRECTED.finditer(text):
        if found[1] not in {None, "0", "1"}:
            line = text.count("\n", 0, found.start()) + 1
            raise GraphInputError(f"{path}, line {line}: directed: got {shown(found[1])}, expected 0 or 1")
    try:
        graph = nx.parse_gml(text, label="id")
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GML ({first_line(error)}); is it cut off?") from error
    nodes = [data for _, data in graph.nodes(data=True)]
    if node_label is None and len({str(data.get("label")) for data in nodes}) == len(nodes):
        for data in nodes:  # by the format's convention these are the names of the nodes
            data.pop("label", None)
    return _batch([graph], path, node_label, edge_label)


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
        self.nodes: set[str] = set()
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
        line = self.parser.CurrentLineNumber
        if tag in {"hyperedge", "port"}:
            raise self._error(line, f"<{tag}> is not supported; remove it")
        is_group = around_attributes.get("yfiles.foldertype") == "group"  # networkx reads those of yEd
        if tag == "graph" and around != "graphml" and not is_group:
            within = f"<{around} id={shown(around_attributes.get('id'))}>"
            raise self._error(
                line, f"a <graph> inside {within} is not supported; write it as a separate graph"
            )
        if tag in {"node", "edge"} and around != "graph":
            raise self._error(line, f"a <{tag}> inside <{around}> is not read; expected it inside <graph>")
        for key, values in _DIRECTIONS.get(tag, {}).items():
            if attributes.get(key) not in {None, *values}:
                got = shown(attributes[key])
                raise self._error(line, f"{key}: got {got}, expected {' or '.join(map(repr, values))}")
        if tag == "node":
            node = attributes.get("id")
            if node is None or node in self.nodes:
                again = "" if node is None else " a second time"
                raise self._error(line, f"id: got {shown(node)}{again}; give each <node> an id of its own")
            self.nodes.add(node)
        if tag == "edge":
            self.ends += [(line, side, attributes.get(side)) for side in ("source", "target")]

    def end(self, _: str) -> None:
        self.open.pop()
        if len(self.open) == 1:  # a whole graph is read: nodes may follow the edges of their graph
            for line, side, node in self.ends:
                if node not in self.nodes:
                    raise self._error(
                        line, f"{side}: got {shown(node)}, expected the id of a <node> of the same graph"
                    )
            self.nodes, self.ends = set(), []

    def _error(self, line: int, message: str) -> GraphInputError:
        return GraphInputError(f"{self.name}, line {line}: {message}")


def _batch(graphs: list[nx.Graph], path: Path, node_label: str | None, edge_label: str | None) -> GraphBatch:
    nodes = [data for graph in graphs for _, data in graph.nodes(data=True)]
    edges = [data for graph in graphs for _, _, data in graph.edges(data=True)]
    _check_attribute(nodes, node_label, "node", path)
    _check_attribute(edges, edge_label, "edge", path)
    warn_unread(nodes, edges, node_label, edge_label)
    try:
        return GraphBatch.from_networkx(graphs, node_label=node_label, edge_label=edge_label)
    except GraphInputError as error:
        raise GraphInputError(f"{path}: {error}") from error


def _check_attribute(entries: list[dict[str, object]], attribute: str | None, what: str, path: Path) -> None:
    if attribute is None or all(attribute in entry for entry in entries):
        return
    missing = sum(attribute not in entry for entry in entries)
    known = ", ".join(sorted({str(key) for entry in entries for key in entry})) or "none"
    raise GraphInputError(
        f"{path}: {missing} of {len(entries)} {what}s have no attribute {attribute!r}; there are: {known}"
    )


_MAX_DEPTH = 100
_SHAPE = 'a graph is an object {"nodes": [{"id": …}, …], "links" or "edges": [{"source": …, "target": …}, …]}'


def read_node_link(path: Path, node_label: str | None = None, edge_label: str | None = None) -> GraphBatch:
    """Read the graphs of a JSON node-link file."""
    text = decode(read_bytes(path), str(path))
    return parse_node_link(text, str(path), node_label, edge_label)


def parse_node_link(
    text: str, name: str = "JSON", node_label: str | None = None, edge_label: str | None = None
) -> GraphBatch:
    """Build graphs from node-link JSON.

    The edges may be under ``"links"`` or ``"edges"``. Labels come from the given attributes.

    >>> parse_node_link('{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}')
    GraphBatch(1 graph, 2 nodes, 1 edge)

    Raises
    ------
    GraphInputError
        If the text is not JSON, does not have this format, or lacks one of the attributes.
    """
    try:
        return _built(json.loads(text), name, node_label, edge_label)
    except json.JSONDecodeError as error:
        raise GraphInputError(
            f"{name}, line {error.lineno}: not valid JSON ({error.msg}); is it cut off?"
        ) from error
    except RecursionError as error:
        raise GraphInputError(f"{name}: nested too deeply; {_SHAPE}") from error
    except ValueError as error:
        if isinstance(error, TwinWLError):
            raise
        # Python refuses to read integers of more than 4,300 digits.
        raise GraphInputError(f"{name}: an integer in it is far too long; write it as text") from error


def _built(document: object, name: str, node_label: str | None, edge_label: str | None) -> GraphBatch:
    objects = document if isinstance(document, list) else [document]
    if not objects:
        raise GraphInputError(f"{name}: got an empty list, expected at least one graph")
    parts = [
        _Part(found, f"{name}#{index}" if len(objects) > 1 else name) for index, found in enumerate(objects)
    ]
    directions = {part.directed for part in parts}
    if len(directions) > 1:
        raise GraphInputError(f"{name}: directed and undirected graphs cannot be mixed; use separate files")
    node_labels = _labels([(part.nodes, part.name) for part in parts], node_label, "node")
    edge_labels = _labels([(part.links, part.name) for part in parts], edge_label, "edge")
    nodes = [node for part in parts for node in part.nodes]
    links = [link for part in parts for link in part.links]
    warn_unread(nodes, links, node_label, edge_label)
    if edge_label != WEIGHT:
        warn_weights(count_weights(link.get(WEIGHT) for link in links), len(links))
    try:
        return GraphBatch.from_edges(
            [part.edges for part in parts],
            num_nodes=[len(part.nodes) for part in parts],
            node_labels=node_labels,
            edge_labels=edge_labels,
            directed=directions.pop(),
        )
    except GraphInputError as error:
        raise GraphInputError(f"{name}: {error}") from error


class _Part:
    """One graph of the document, checked and with its nodes numbered."""

    def __init__(self, found: object, name: str) -> None:
        self.name = name
        if not isinstance(found, dict):
            raise GraphInputError(f"{name}: {_SHAPE}, not {_kind(found)}")
        self.nodes = self._objects(found, "nodes")
        if "links" in found and "edges" in found:
            raise GraphInputError(f'{name}: has both "links" and "edges"; leave one out')
        key = "links" if "links" in found else "edges"
        self.links = self._objects(found, key)
        self.directed = found.get("directed", False)
        if not isinstance(self.directed, bool):
            raise GraphInputError(
                f'{name}: "directed": got {shown(self.directed)}, expected true or false, without quotes'
            )
        number_of_id: dict[str, int] = {}
        for position, node in enumerate(self.nodes):
            identifier = _key(self._field(node, "id", f'"nodes"[{position}]'))
            if number_of_id.setdefault(identifier, position) != position:
                raise GraphInputError(f"{name}: two nodes have the id {identifier}; ids must differ")
        self.edges = [
            self._ends(link, position, key, number_of_id) for position, link in enumerate(self.links)
        ]

    def _objects(self, found: dict[str, object], key: str) -> list[dict[str, object]]:
        value = found.get(key)
        if not isinstance(value, list):
            raise GraphInputError(f'{self.name}: no list under "{key}"; {_SHAPE}')
        for position, entry in enumerate(value):
            if not isinstance(entry, dict):
                raise GraphInputError(
                    f'{self.name}: "{key}"[{position}] is {_kind(entry)}, not an object; {_SHAPE}'
                )
        return value

    def _field(self, entry: dict[str, object], key: str, where: str) -> object:
        if key not in entry:
            raise GraphInputError(f'{self.name}: {where} has no "{key}"; {_SHAPE}')
        return entry[key]

    def _ends(
        self, link: dict[str, object], position: int, key: str, number_of_id: dict[str, int]
    ) -> tuple[int, int]:
        ends = []
        for side in ("source", "target"):
            where = f'"{key}"[{position}]'
            identifier = _key(self._field(link, side, where))
            if identifier not in number_of_id:
                raise GraphInputError(
                    f"{self.name}: {where} names node {identifier}, which is not among the nodes"
                )
            ends.append(number_of_id[identifier])
        return ends[0], ends[1]


def _labels(
    parts: Sequence[tuple[Sequence[Mapping[str, object]], str]], attribute: str | None, what: str
) -> list[list[object]] | None:
    """Return one list of labels per graph, or None if no attribute was given."""
    if attribute is None:
        return None
    for entries, name in parts:
        for position, entry in enumerate(entries):
            if attribute not in entry:
                known = sorted(entry) or "none"
                raise GraphInputError(
                    f"{name}: {what} {position} has no attribute {attribute!r}; it has {known}"
                )
    return [[_frozen(entry[attribute]) for entry in entries] for entries, _ in parts]


def _key(identifier: object) -> str:
    """Return an id as text, so that 1 and true differ and arrays can be ids."""
    return json.dumps(_frozen(identifier), sort_keys=True)


def _frozen(value: object, depth: int = 0) -> object:
    """Turn JSON arrays into tuples, as networkx writes tuples as arrays."""
    if depth > _MAX_DEPTH:  # how deep Python itself would go depends on its version
        raise RecursionError
    if isinstance(value, dict):
        return {key: _frozen(part, depth + 1) for key, part in value.items()}
    return tuple(_frozen(part, depth + 1) for part in value) if isinstance(value, list) else value


def _kind(value: object) -> str:
    names = {
        str: "text",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "a list",
        type(None): "null",
    }
    return names.get(type(value), "something else")
