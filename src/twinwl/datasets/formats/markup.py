"""GraphML and GML, read by networkx after a check for dangerous content."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from xml.parsers import expat

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.datasets.formats.unread_attributes import warn_unread
from twinwl.errors import GraphInputError, first_line
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from pathlib import Path


def read_graphml(path: Path, node_label: str | None = None, edge_label: str | None = None) -> GraphBatch:
    """Read the graphs of a GraphML file.

    Labels come from the given attributes. A file with a document type declaration is refused, because
    entities declared there can exhaust memory.
    """
    content = read_bytes(path)
    _check_xml(content, str(path))
    try:
        graphs = list(GraphMLReader()(path=io.BytesIO(content)))
        if not graphs:  # networkx mends a missing namespace only here
            graphs = [nx.read_graphml(io.BytesIO(content))]
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GraphML ({first_line(error)})") from error
    return _batch(graphs, path, node_label, edge_label)


def read_gml(path: Path, node_label: str | None = None, edge_label: str | None = None) -> GraphBatch:
    """Read the graph of a GML file; labels come from the given attributes."""
    text = decode(read_bytes(path), str(path))
    try:
        graph = nx.parse_gml(text, label="id")
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GML ({first_line(error)}); is it cut off?") from error
    nodes = [data for _, data in graph.nodes(data=True)]
    if node_label is None and len({str(data.get("label")) for data in nodes}) == len(nodes):
        for data in nodes:  # by the format's convention these are the names of the nodes
            data.pop("label", None)
    return _batch([graph], path, node_label, edge_label)


class _ForbiddenError(Exception):
    """The file has a document type or entities."""


def _check_xml(content: bytes, name: str) -> None:
    """Refuse a document type in any encoding, by parsing the file with a parser that stops there."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise _ForbiddenError

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)  # noqa: FBT003  (expat takes no keyword)
    except _ForbiddenError as error:
        raise GraphInputError(
            f"{name}: declares a document type or entities, which can exhaust memory; remove the <!DOCTYPE …>"
        ) from error
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last for an unknown encoding
        raise GraphInputError(f"{name}: not valid XML ({error}); is it cut off?") from error


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
