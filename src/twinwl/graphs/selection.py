"""Taking graphs out of a batch, and joining batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import encode_labels, recode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twinwl.graphs.labels import Label

__all__ = ["join", "select"]


def select(batch: GraphBatch, graphs: NDArray[np.int64]) -> GraphBatch:
    """Return the given graphs, in the given order, as a batch with the same vocabularies."""
    node_lengths = batch.graph_ptr[graphs + 1] - batch.graph_ptr[graphs]
    graph_ptr = _pointer(node_lengths)
    if len(graphs) and (np.diff(graphs) == 1).all():  # neighbours in memory: plain slices
        nodes = slice(int(batch.graph_ptr[graphs[0]]), int(batch.graph_ptr[graphs[-1] + 1]))
        arcs = slice(int(batch.indptr[nodes.start]), int(batch.indptr[nodes.stop]))
        indptr = batch.indptr[nodes.start : nodes.stop + 1] - arcs.start
        indices = batch.indices[arcs] - np.int32(nodes.start)
        return _part(batch, nodes, arcs, indptr, indices, graph_ptr)
    node_index = _ranges(batch.graph_ptr[graphs], node_lengths)
    degrees = batch.indptr[node_index + 1] - batch.indptr[node_index]
    arc_index = _ranges(batch.indptr[node_index], degrees)
    moved = np.repeat(graph_ptr[:-1] - batch.graph_ptr[graphs], node_lengths)
    indices = (batch.indices[arc_index] + np.repeat(moved, degrees)).astype(np.int32)
    return _part(batch, node_index, arc_index, _pointer(degrees), indices, graph_ptr)


def join(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Concatenate batches whose nodes and edges carry the same kinds of information."""
    if not batches:
        raise GraphInputError("there is no batch to join; pass at least one")
    if len(batches) == 1:
        return batches[0]
    first = batches[0]
    for position, batch in enumerate(batches[1:], start=1):
        _check_alike(first, batch, position)
    node_shift = _pointer(np.array([batch.n_nodes for batch in batches]))
    arc_shift = _pointer(np.array([len(batch.indices) for batch in batches]))
    node_labels, node_vocabulary = _joined_codes([(b.node_labels, b.node_vocabulary) for b in batches])
    edge_labels, edge_vocabulary = None, first.edge_vocabulary
    if first.edge_labels is not None:
        edge_labels, edge_vocabulary = _joined_codes(
            [(b.edge_labels, b.edge_vocabulary) for b in batches if b.edge_labels is not None]
        )
    features = [batch.node_features for batch in batches if batch.node_features is not None]
    return GraphBatch(
        indptr=_joined_pointers([b.indptr for b in batches], arc_shift),
        indices=np.concatenate(
            [b.indices + np.int32(shift) for b, shift in zip(batches, node_shift[:-1], strict=True)]
        ),
        graph_ptr=_joined_pointers([b.graph_ptr for b in batches], node_shift),
        node_labels=node_labels,
        node_vocabulary=node_vocabulary,
        edge_labels=edge_labels,
        edge_vocabulary=edge_vocabulary,
        node_features=np.concatenate(features) if features else None,
        directed=first.directed,
    )


def _part(
    batch: GraphBatch,
    nodes: slice | NDArray[np.int64],
    arcs: slice | NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    graph_ptr: NDArray[np.int64],
) -> GraphBatch:
    return GraphBatch.unchecked(
        indptr=indptr,
        indices=indices,
        graph_ptr=graph_ptr,
        node_labels=batch.node_labels[nodes],
        node_vocabulary=batch.node_vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[arcs],
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None if batch.node_features is None else batch.node_features[nodes],
        directed=batch.directed,
    )


def _pointer(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    pointer = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=pointer[1:])
    return pointer


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ``arange(start, start + length)`` for each pair, without a Python loop."""
    pointer = _pointer(lengths)
    return np.repeat(starts - pointer[:-1], lengths) + np.arange(pointer[-1], dtype=np.int64)


def _joined_pointers(pointers: list[NDArray[np.int64]], shifts: NDArray[np.int64]) -> NDArray[np.int64]:
    moved = [pointer[:-1] + shift for pointer, shift in zip(pointers, shifts[:-1], strict=True)]
    return np.concatenate([*moved, shifts[-1:]])


def _joined_codes(
    parts: list[tuple[NDArray[np.int32], tuple[Label, ...]]],
) -> tuple[NDArray[np.int32], tuple[Label, ...]]:
    if len({vocabulary for _, vocabulary in parts}) == 1 and len({repr(v) for _, v in parts}) == 1:
        return np.concatenate([codes for codes, _ in parts]), parts[0][1]
    _, vocabulary = encode_labels([label for _, labels in parts for label in labels])
    return np.concatenate([recode(codes, labels, vocabulary) for codes, labels in parts]), vocabulary


def _check_alike(first: GraphBatch, other: GraphBatch, position: int) -> None:
    differences = {
        "directed": (first.directed, other.directed),
        "node labels": (first.has_node_labels, other.has_node_labels),
        "edge labels": (first.edge_labels is not None, other.edge_labels is not None),
        "number of node features": (_width(first), _width(other)),
    }
    for what, (here, there) in differences.items():
        if here != there:
            raise GraphInputError(
                f"batch {position} differs from batch 0 in {what} ({there} against {here}); "
                "make them alike before joining"
            )


def _width(batch: GraphBatch) -> int:
    return 0 if batch.node_features is None else int(batch.node_features.shape[1])
