"""igraph graphs into a GraphBatch."""

from __future__ import annotations

from collections.abc import Iterable

import igraph
import numpy as np

from twinwl.arguments import NAME, checked
from twinwl.errors import GraphInputError, nearest
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build, coded, of_one_kind
from twinwl.graphs.from_objects import flat_edges
from twinwl.graphs.labels import WEIGHT, count_weights, warn_weights


def from_igraph(
    graphs: Iterable[igraph.Graph], node_label: str | None = None, edge_label: str | None = None
) -> GraphBatch:
    """Build a batch from igraph graphs; see `GraphBatch.from_igraph`."""
    node_label = checked("node_label", node_label, NAME, None)
    edge_label = checked("edge_label", edge_label, NAME, None)
    collected = of_one_kind(graphs, igraph.Graph, "igraph")
    node_counts = np.array([graph.vcount() for graph in collected], dtype=np.int64)
    edge_counts, edges = flat_edges([graph.get_edgelist() for graph in collected])
    node_values = edge_values = None
    if node_label is not None:
        node_values = [_values(graph.vs, node_label, "node", place) for place, graph in enumerate(collected)]
    if edge_label is not None:
        edge_values = [_values(graph.es, edge_label, "edge", place) for place, graph in enumerate(collected)]
    if edge_label != WEIGHT:
        weighted = [graph.es[WEIGHT] for graph in collected if WEIGHT in graph.es.attributes()]
        warn_weights(sum(map(count_weights, weighted)), len(edges))
    return build(
        node_counts,
        edge_counts,
        edges[:, 0],
        edges[:, 1],
        nodes=coded(node_values, node_counts, "node"),
        edges=coded(edge_values, edge_counts, "edge"),
        directed=bool(collected) and collected[0].is_directed(),
    )


def _values(
    sequence: igraph.VertexSeq | igraph.EdgeSeq, attribute: str, what: str, graph: int
) -> list[object]:
    """Return one attribute of each node or edge; igraph returns None if it was never set."""
    if not len(sequence):
        return []
    known = sequence.attributes()
    if attribute not in known:
        raise GraphInputError(
            f"its {what}s have no attribute {attribute!r}; set it, or leave {what}_label out "
            f"({nearest(attribute, known)})",
            graph,
        )
    values: list[object] = sequence[attribute]
    for place, value in enumerate(values):
        if value is None:
            raise GraphInputError(
                f"{what} {place} has no {attribute!r} (igraph says None); give it to every {what}", graph
            )
    return values
