"""Edge lists into a GraphBatch; the other constructors end here or in `build`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import GraphInputError, LabelError
from twinwl.graphs.assembly import assemble
from twinwl.graphs.batch import UNLABELLED, GraphBatch
from twinwl.graphs.labels import encode_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from twinwl.graphs.labels import Label

__all__ = ["build", "from_edges"]


def from_edges(
    edge_lists: Iterable[Iterable[tuple[int, int]]],
    node_labels: Iterable[Sequence[object]] | None = None,
    num_nodes: Iterable[int] | None = None,
    edge_labels: Iterable[Sequence[object]] | None = None,
    node_features: Iterable[NDArray[np.generic]] | None = None,
    *,
    directed: bool = False,
) -> GraphBatch:
    """Build a batch from one list of ``(u, v)`` a graph; see `GraphBatch.from_edges`."""
    edges = [_edge_array(graph, edge_list) for graph, edge_list in enumerate(_listed(edge_lists, "edge_lists"))]
    labels = _aligned(node_labels, len(edges), "node_labels")
    features = _aligned(node_features, len(edges), "node_features")
    declared = _aligned(num_nodes, len(edges), "num_nodes")
    counts = [
        _node_count(
            graph,
            edges[graph],
            declared[graph] if declared else None,
            labels[graph] if labels else None,
            features[graph] if features else None,
        )
        for graph in range(len(edges))
    ]
    return build(counts, edges, labels, _aligned(edge_labels, len(edges), "edge_labels"), features, directed=directed)


def build(
    counts: Sequence[int],
    edges: Sequence[NDArray[np.int64]],
    node_labels: Sequence[Sequence[object]] | None = None,
    edge_labels: Sequence[Sequence[object]] | None = None,
    node_features: Sequence[NDArray[np.generic]] | None = None,
    *,
    directed: bool = False,
    warn: bool = True,
) -> GraphBatch:
    """Build a batch from per-graph parts; every edge is checked against its graph's node count.

    Parameters
    ----------
    counts
        Number of nodes of each graph.
    edges
        One array of shape (n_edges, 2) a graph, nodes numbered from 0 within the graph.
    node_labels, edge_labels, node_features
        One sequence a graph, aligned with its nodes or edges.
    """
    graph_ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=graph_ptr[1:])
    edge_counts = np.array([len(part) for part in edges], dtype=np.int64)
    flat = np.concatenate(edges) if edges else np.empty((0, 2), np.int64)
    graph_of_edge = np.repeat(np.arange(len(edges)), edge_counts)
    _check_edges(flat, graph_of_edge, np.asarray(counts, dtype=np.int64))
    flat = flat + graph_ptr[graph_of_edge][:, None]
    node_codes, node_vocabulary = _codes(node_labels, np.diff(graph_ptr), "node")
    edge_codes, edge_vocabulary = _codes(edge_labels, edge_counts, "edge")
    adjacency = assemble(graph_ptr, flat[:, 0], flat[:, 1], edge_codes, directed=directed, warn=warn)
    return GraphBatch(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        graph_ptr=graph_ptr,
        node_labels=np.zeros(int(graph_ptr[-1]), np.int32) if node_codes is None else node_codes,
        node_vocabulary=UNLABELLED if node_codes is None or not len(node_codes) else node_vocabulary,
        edge_labels=adjacency.edge_labels,
        edge_vocabulary=edge_vocabulary,
        node_features=None if node_features is None else _stacked(node_features, counts),
        directed=directed,
    )


def _listed(values: Iterable[object], name: str) -> list[object]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise GraphInputError(f"{name} must hold one entry a graph, not {values!r}; wrap a single one in a list")
    return list(values)


def _aligned(values: Iterable[object] | None, n_graphs: int, name: str) -> list | None:  # type: ignore[type-arg]
    if values is None:
        return None
    listed = _listed(values, name)
    if len(listed) != n_graphs:
        raise GraphInputError(f"{name} has {len(listed)} entries for {n_graphs} graphs; give one a graph")
    missing = [graph for graph, value in enumerate(listed) if value is None]
    if len(missing) == n_graphs:
        return None
    if missing:
        raise GraphInputError(
            f"no {name} here, while other graphs of the batch have them; give them to all graphs or to none", missing[0]
        )
    return listed


def _edge_array(graph: int, edge_list: object) -> NDArray[np.int64]:
    """Return one graph's edges as an integer array of shape (n_edges, 2)."""
    remedy = "edges are pairs (u, v) of node numbers 0..n-1"
    try:
        array = np.asarray(edge_list if isinstance(edge_list, np.ndarray) else list(edge_list))  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphInputError(f"cannot read its edge list ({error}); {remedy}", graph) from error
    if array.size == 0:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:  # noqa: PLR2004
        raise GraphInputError(f"its edge list has shape {array.shape}, not (n_edges, 2); {remedy}", graph)
    if array.dtype.kind not in "iu":
        wrong = next((edge for edge in array.tolist() if not all(type(end) is int for end in edge)), array[0].tolist())
        raise GraphInputError(f"edge {tuple(wrong)!r} is not a pair of integers; {remedy}", graph)
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise GraphInputError(f"node number {array.max()} is too large; {remedy}", graph)
    return array.astype(np.int64)


def _node_count(
    graph: int,
    edges: NDArray[np.int64],
    declared: object,
    labels: Sequence[object] | None,
    features: NDArray[np.generic] | None,
) -> int:
    """Take the number of nodes from what the caller said, else from the largest node number."""
    if declared is not None:
        if isinstance(declared, bool) or not isinstance(declared, int | np.integer) or declared < 0:
            raise GraphInputError(f"num_nodes is {declared!r}; it must be a whole number, 0 or more", graph)
        return int(declared)
    for sequence in (labels, features):
        if sequence is not None and hasattr(sequence, "__len__"):
            return len(sequence)
    return int(edges.max()) + 1 if len(edges) else 0


def _check_edges(flat: NDArray[np.int64], graph_of_edge: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    wrong = np.flatnonzero(((flat < 0) | (flat >= counts[graph_of_edge][:, None])).any(axis=1))
    if not len(wrong):
        return
    edge, graph = flat[wrong[0]], int(graph_of_edge[wrong[0]])
    node = int(edge[0]) if not 0 <= edge[0] < counts[graph] else int(edge[1])
    what = "a negative node number" if node < 0 else f"node {node}, which does not exist"
    raise GraphInputError(
        f"edge ({edge[0]}, {edge[1]}) names {what}: the graph has {counts[graph]} nodes, numbered from 0; "
        "correct the edge or raise num_nodes",
        graph,
    )


def _codes(
    values: Sequence[Sequence[object]] | None, lengths: NDArray[np.int64], what: str
) -> tuple[NDArray[np.int32] | None, tuple[Label, ...]]:
    """Encode per-graph label sequences with one vocabulary for the batch."""
    if values is None:
        return None, ()
    for graph, (part, length) in enumerate(zip(values, lengths, strict=True)):
        if isinstance(part, str | bytes) or not hasattr(part, "__len__"):
            raise GraphInputError(f"its {what} labels must be a sequence, not {part!r}", graph)
        if len(part) != length:
            raise GraphInputError(f"{len(part)} {what} labels for {length} {what}s; give one label a {what}", graph)
    whole: Sequence[object] | NDArray[np.generic]
    if values and all(isinstance(part, np.ndarray) for part in values):
        whole = np.concatenate(values)
    else:
        whole = list(itertools.chain.from_iterable(values))
    try:
        return encode_labels(whole)
    except LabelError as error:
        position = error.position or 0
        pointer = np.concatenate([[0], np.cumsum(lengths)])
        graph = int(np.searchsorted(pointer, position, side="right")) - 1
        raise GraphInputError(f"{what} {position - pointer[graph]}: {error}", graph) from error


def _stacked(parts: Sequence[NDArray[np.generic]], counts: Sequence[int]) -> NDArray[np.float64]:
    """Stack per-graph feature matrices, refusing what would not stack or holds no number."""
    stacked: list[NDArray[np.float64]] = []
    for graph, (part, count) in enumerate(zip(parts, counts, strict=True)):
        try:
            matrix = np.asarray(part, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise GraphInputError(f"its node features are not numbers ({error})", graph) from error
        if matrix.ndim != 2 or len(matrix) != count:  # noqa: PLR2004
            raise GraphInputError(f"its node features have shape {matrix.shape}; give one row for each of {count} nodes", graph)
        if stacked and matrix.shape[1] != stacked[0].shape[1]:
            raise GraphInputError(
                f"its nodes have {matrix.shape[1]} features, those of graph 0 have {stacked[0].shape[1]}", graph
            )
        if not np.isfinite(matrix).all():
            node = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
            raise GraphInputError(f"node {node} has a feature that is not finite; replace it", graph)
        stacked.append(matrix)
    return np.concatenate(stacked) if stacked else np.empty((0, 0))
