"""JSON in the node-link format of networkx and d3: one object per graph, or an array of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.datasets.formats.unread_attributes import warn_unread
from twinwl.errors import GraphInputError, TwinWLError, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.weights import WEIGHT, count_weights, warn_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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
