"""Taking graphs out of a batch, joining batches, and copies with the nodes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.arguments import foreign_array
from twinwl.arrays import Int32, Int64, Values
from twinwl.errors import GraphIndexError, GraphInputError, shown
from twinwl.graphs.assembly import MAX_NODES
from twinwl.graphs.labels import Coded, encode_labels, recode

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

Key: TypeAlias = "int | slice | Sequence[int] | Values | tuple[Key, EllipsisType]"


def graph_indices(key: Key, n_graphs: int) -> int | Int64:
    """Turn whatever may stand in square brackets into graph indices, none of them negative.

    >>> graph_indices(-1, 3), graph_indices([True, False, True], 3).tolist()
    (2, [0, 2])
    """
    if type(key) is tuple:  # scikit-learn writes X[key, ...]
        if len(key) != 2 or key[1] is not Ellipsis:  # noqa: PLR2004
            raise GraphIndexError(f"a batch has one axis, so it cannot be indexed with {shown(key)}")
        key = key[0]
    if isinstance(key, int) and not isinstance(key, bool):
        index = int.__index__(key)
        if not -n_graphs <= index < n_graphs:
            raise _out_of_range(index, n_graphs)
        return index + n_graphs if index < 0 else index
    if isinstance(key, slice):
        return np.arange(n_graphs, dtype=np.int64)[key]
    return _index_array(key, n_graphs)


def _index_array(key: object, n_graphs: int) -> int | Int64:
    try:
        array = foreign_array("index", key)
    except GraphInputError as error:
        raise GraphIndexError(f"a batch cannot be indexed with {shown(key)} ({error})") from error
    if array.ndim == 1 and not len(array):
        array = array.astype(np.int64)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return graph_indices(int(array), n_graphs)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise GraphIndexError(
            f"a batch is indexed with an integer, a slice, an index array or a mask, not {shown(key)}"
        )
    if array.dtype.kind == "b":
        if len(array) != n_graphs:
            raise GraphIndexError(
                f"a mask of length {len(array)} does not fit {n_graphs} graphs; give one entry per graph"
            )
        return np.flatnonzero(array)
    wrong = (array < -n_graphs) | (array >= n_graphs)
    if wrong.any():
        raise _out_of_range(int(array[wrong][0]), n_graphs)
    indices = array.astype(np.int64)
    return np.where(indices < 0, indices + n_graphs, indices)


def _out_of_range(index: int, n_graphs: int) -> GraphIndexError:
    return GraphIndexError(
        f"graph index {shown(index)} is out of range: the batch has {n_graphs} graphs, numbered from 0"
    )


def select_one(batch: GraphBatch, graph: int) -> GraphBatch:
    """Return one graph as a batch; made of slices, since loops call it once per graph."""
    start, stop = batch.graph_ptr[graph : graph + 2].tolist()
    return _run(batch, start, stop, np.array((0, stop - start), np.int64))


def select(batch: GraphBatch, graphs: Int64) -> GraphBatch:
    """Return the given graphs, in the given order, as a batch with the same vocabularies."""
    starts = batch.graph_ptr[graphs]
    node_lengths = batch.graph_ptr[graphs + 1] - starts
    graph_ptr = pointer(node_lengths)
    if graph_ptr[-1] > MAX_NODES:
        raise GraphIndexError(
            f"the selection has {graph_ptr[-1]} nodes, more than a batch can hold ({MAX_NODES}); take fewer"
        )
    if len(graphs) and (np.diff(graphs) == 1).all():  # neighbours in memory: plain slices
        return _run(batch, int(starts[0]), int(batch.graph_ptr[graphs[-1] + 1]), graph_ptr)
    nodes = ranges(starts, node_lengths)
    degrees = batch.indptr[nodes + 1] - batch.indptr[nodes]
    arcs = ranges(batch.indptr[nodes], degrees)
    arc_ptr = pointer(degrees)
    moved = np.repeat((graph_ptr[:-1] - starts).astype(np.int32), np.diff(arc_ptr[graph_ptr]))
    return _part(batch, nodes, arcs, arc_ptr, batch.indices[arcs] + moved, graph_ptr)


def _run(batch: GraphBatch, start: int, stop: int, graph_ptr: Int64) -> GraphBatch:
    """Cut out a run of nodes; arrays that need no renumbering are views."""
    indptr = batch.indptr[start : stop + 1]
    first, last = int(indptr[0]), int(indptr[-1])
    indices = batch.indices[first:last]
    if start:
        indptr = indptr - first
        indices = indices - np.int32(start)
    return _part(batch, slice(start, stop), slice(first, last), indptr, indices, graph_ptr)


def _part(
    batch: GraphBatch,
    nodes: slice | Int64,
    arcs: slice | Int64,
    indptr: Int64,
    indices: Int32,
    graph_ptr: Int64,
) -> GraphBatch:
    return type(batch).unchecked(
        indptr=indptr,
        indices=indices,
        graph_ptr=graph_ptr,
        node_labels=batch.node_labels[nodes],
        node_vocabulary=batch.node_vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[arcs],
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None if batch.node_features is None else batch.node_features[nodes],
        directed=batch.directed,
        atoms=batch.atoms,
    )


def with_own_labels(batch: GraphBatch) -> GraphBatch:
    """Return the same graphs, without the labels that none of them has if these are many.

    A small part of a batch has few of its labels, so work on every part that runs over all labels would be
    quadratic.
    """
    changed: dict[str, object] = {}
    for name in ("node", "edge"):
        codes, vocabulary = getattr(batch, f"{name}_labels"), getattr(batch, f"{name}_vocabulary")
        if codes is not None and len(vocabulary) > max(1, len(codes)):
            own, places = np.unique(codes, return_inverse=True)
            changed[f"{name}_labels"] = places.astype(np.int32)
            changed[f"{name}_vocabulary"] = tuple(vocabulary[code] for code in own.tolist())
    return batch._with(**changed) if changed else batch  # noqa: SLF001  (right by construction)


def join(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Concatenate batches whose nodes and edges carry the same kinds of information."""
    if not batches:
        raise GraphInputError("there is no batch to join; pass at least one")
    if len(batches) == 1:
        return batches[0]
    # A batch without nodes says nothing about node labels, one without arcs nothing about edge labels.
    model = next((batch for batch in batches if batch.n_nodes), batches[0])
    edge_model = next((batch for batch in batches if len(batch.indices)), model)
    atoms = next((batch.atoms for batch in batches if batch.atoms is not None and batch.n_nodes), model.atoms)
    for position, batch in enumerate(batches):
        _check_alike(model, edge_model, atoms, batch, position)
    node_shift = pointer(np.array([batch.n_nodes for batch in batches]))
    arc_shift = pointer(np.array([len(batch.indices) for batch in batches]))
    if node_shift[-1] > MAX_NODES:
        raise GraphInputError(f"{node_shift[-1]} nodes in one batch; the limit is {MAX_NODES}, so join fewer")
    node_labels, node_vocabulary = _joined_codes(
        [Coded(batch.node_labels, batch.node_vocabulary) for batch in batches if batch.n_nodes]
    )
    edge_labels, edge_vocabulary = _joined_codes(
        [Coded(b.edge_labels, b.edge_vocabulary) for b in batches if b.edge_labels is not None]
    )
    features = [batch.node_features for batch in batches if batch.node_features is not None and batch.n_nodes]
    return type(model).unchecked(
        indptr=_joined_pointers([batch.indptr for batch in batches], arc_shift),
        indices=np.concatenate(
            [batch.indices + np.int32(shift) for batch, shift in zip(batches, node_shift[:-1], strict=True)]
        ),
        graph_ptr=_joined_pointers([batch.graph_ptr for batch in batches], node_shift),
        node_labels=node_labels,
        node_vocabulary=node_vocabulary or model.node_vocabulary,
        edge_labels=None if edge_model.edge_labels is None else edge_labels,
        edge_vocabulary=edge_vocabulary,
        node_features=np.concatenate(features) if features else model.node_features,
        directed=model.directed,
        atoms=atoms,
    )


def pointer(lengths: Int64 | Sequence[int]) -> Int64:
    """Return where each of some consecutive runs starts, and where the last one ends.

    >>> pointer([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


def ranges(starts: Int64, lengths: Int64) -> Int64:
    """Concatenate ``arange(start, start + length)`` for each pair, without a Python loop."""
    ends = pointer(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1], dtype=np.int64)


def _joined_pointers(pointers: list[Int64], shifts: Int64) -> Int64:
    moved = [each[:-1] + shift for each, shift in zip(pointers, shifts[:-1], strict=True)]
    return np.concatenate([*moved, shifts[-1:]])


def _joined_codes(parts: list[Coded]) -> Coded:
    """Bring codes of several vocabularies under one."""
    if not parts:
        return Coded(np.empty(0, np.int32), ())
    # The parts of one batch share its vocabulary; repr tells 1, True and 1.0 apart where == does not.
    distinct = {id(part.vocabulary): part.vocabulary for part in parts}
    if len({repr(vocabulary) for vocabulary in distinct.values()}) == 1:
        return Coded(np.concatenate([part.codes for part in parts]), parts[0].vocabulary)
    _, vocabulary = encode_labels([label for labels in distinct.values() for label in labels])
    return Coded(np.concatenate([recode(*part, vocabulary) for part in parts]), vocabulary)


def _check_alike(
    model: GraphBatch, edge_model: GraphBatch, atoms: str | None, other: GraphBatch, position: int
) -> None:
    differences: dict[str, tuple[object, object]] = {"directed": (model.directed, other.directed)}
    if other.n_nodes:
        differences |= {
            "node labels": (model.has_node_labels, other.has_node_labels),
            "number of node features": (_width(model), _width(other)),
            "atoms": (atoms, other.atoms or atoms),  # graphs of which it is not known go with all
        }
    if len(other.indices):
        differences["edge labels"] = (edge_model.edge_labels is not None, other.edge_labels is not None)
    for what, (there, here) in differences.items():
        if here != there:
            raise GraphInputError(
                f"batch {position} differs from the batches before it in {what} ({here} against {there}); "
                "make them alike before joining"
            )


def _width(batch: GraphBatch) -> int:
    return 0 if batch.node_features is None else int(batch.node_features.shape[1])


def relabelled(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """Shuffle the nodes of each graph; labels, edge labels and features move along.

    Parameters
    ----------
    batch
        The graphs.
    rng
        Draws the order.

    >>> from twinwl import GraphBatch, graph_hashes
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "C", "O"]])
    >>> other = relabelled(batch, np.random.default_rng(0))
    >>> sorted(other.labels_of_nodes()), graph_hashes(other) == graph_hashes(batch)
    (['C', 'C', 'O'], True)
    """
    place = np.empty(batch.n_nodes, np.int64)  # of each node in the new order
    for first, last in zip(batch.graph_ptr[:-1].tolist(), batch.graph_ptr[1:].tolist(), strict=True):
        place[first:last] = first + rng.permutation(last - first)
    sources, targets = (place[ends] for ends in batch.arcs())
    order = np.lexsort((targets, sources))
    indptr = pointer(np.bincount(sources, minlength=batch.n_nodes))
    return _part(batch, np.argsort(place), order, indptr, targets[order].astype(np.int32), batch.graph_ptr)
