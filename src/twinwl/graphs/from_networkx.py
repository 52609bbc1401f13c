"""networkx graphs into a GraphBatch."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import networkx as nx
import numpy as np

from twinwl.arguments import NAME, checked, foreign_array
from twinwl.arrays import Float64, Int64
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build, coded, of_one_kind, stacked_features
from twinwl.graphs.labels import WEIGHT, count_weights, warn_weights

_MISSING = object()


class _Part(NamedTuple):
    """The parts of one graph: ends and labels of its edges, in order of occurrence."""

    sources: list[int]
    targets: list[int]
    labels: list[object]
    attributed: bool
    """Whether an edge may have attributes at all."""


def from_networkx(
    graphs: Iterable[nx.Graph],
    node_label: str | None = None,
    edge_label: str | None = None,
    node_features: str | None = None,
) -> GraphBatch:
    """Build a batch from networkx graphs; see `GraphBatch.from_networkx`."""
    node_label = checked("node_label", node_label, NAME, None)
    edge_label = checked("edge_label", edge_label, NAME, None)
    node_features = checked("node_features", node_features, NAME, None)
    collected = of_one_kind(graphs, nx.Graph, "networkx")
    node_counts = np.array([len(graph) for graph in collected], dtype=np.int64)
    parts = [_taken_apart(graph, edge_label, position) for position, graph in enumerate(collected)]
    edge_counts = np.array([len(part.targets) for part in parts], dtype=np.int64)
    if edge_label != WEIGHT:
        attributed = [graph for graph, part in zip(collected, parts, strict=True) if part.attributed]
        weights = (weight for graph in attributed for _, _, weight in graph.edges(data=WEIGHT))
        warn_weights(count_weights(weights), sum(graph.number_of_edges() for graph in attributed))
    features = None
    if node_features is not None:
        features = stacked_features(
            [_feature_rows(graph, node_features, place) for place, graph in enumerate(collected)], node_counts
        )
    return build(
        node_counts,
        edge_counts,
        _flat([part.sources for part in parts]),
        _flat([part.targets for part in parts]),
        nodes=None
        if node_label is None
        else coded(
            [_node_values(graph, node_label, place) for place, graph in enumerate(collected)],
            node_counts,
            "node",
        ),
        edges=None if edge_label is None else coded([part.labels for part in parts], edge_counts, "edge"),
        node_features=features,
        directed=bool(collected) and collected[0].is_directed(),
    )


def _flat(parts: list[list[int]]) -> Int64:
    return np.fromiter(itertools.chain.from_iterable(parts), np.int64)


def _taken_apart(graph: nx.Graph, edge_label: str | None, position: int) -> _Part:
    """Read whole adjacency dictionaries: an undirected edge occurs from both ends."""
    number_of: Mapping[Hashable, int] = {node: number for number, node in enumerate(graph)}
    if graph.is_multigraph():
        return _multigraph_apart(graph, number_of, edge_label, position)
    sources: list[int] = []
    targets: list[int] = []
    labels: list[object] = []
    attributed = False
    for node, neighbours in graph.adjacency():
        sources += [number_of[node]] * len(neighbours)
        targets += map(number_of.__getitem__, neighbours)
        attributed = attributed or any(neighbours.values())
        if edge_label is not None:
            try:
                labels += [attributes[edge_label] for attributes in neighbours.values()]
            except KeyError:
                other = next(other for other in neighbours if edge_label not in neighbours[other])
                raise _missing("edge", (node, other), edge_label, position) from None
    return _Part(sources, targets, labels, attributed)


def _multigraph_apart(
    graph: nx.Graph, number_of: Mapping[Hashable, int], edge_label: str | None, position: int
) -> _Part:
    """Read a multigraph edge by edge, so that parallel edges can be counted."""
    if edge_label is None:
        ends = list(graph.edges(keys=False))
        labels: list[object] = []
    else:
        triples = list(graph.edges(data=edge_label, default=_MISSING))
        ends = [(u, v) for u, v, _ in triples]
        labels = [label for _, _, label in triples]
        for pair, label in zip(ends, labels, strict=True):
            if label is _MISSING:
                raise _missing("edge", pair, edge_label, position)
    return _Part([number_of[u] for u, _ in ends], [number_of[v] for _, v in ends], labels, attributed=True)


def _node_values(graph: nx.Graph, attribute: str, position: int) -> list[object]:
    """Return one attribute of each node, in node order."""
    try:
        return [attributes[attribute] for _, attributes in graph.nodes(data=True)]
    except KeyError:
        node = next(node for node, attributes in graph.nodes(data=True) if attribute not in attributes)
        raise _missing("node", node, attribute, position) from None


def _feature_rows(graph: nx.Graph, attribute: str, position: int) -> Float64:
    """Return one graph's feature matrix; a number counts as a vector of length one."""
    values = _node_values(graph, attribute, position)
    rows = foreign_array(f"node attribute {attribute!r}", values, np.float64, position)
    return rows[:, None] if rows.ndim == 1 else rows


def _missing(what: str, which: object, attribute: str, position: int) -> GraphInputError:
    return GraphInputError(
        f"{what} {shown(which)} has no attribute {attribute!r}; give it to every {what} of every graph, or "
        f"leave {what}_label out",
        position,
    )
