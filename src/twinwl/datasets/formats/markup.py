"""GraphML and GML, read by networkx after a check for dangerous content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.datasets.formats.unread_attributes import warn_unread
from twinwl.errors import GraphInputError, first_line, shown
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from pathlib import Path

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
