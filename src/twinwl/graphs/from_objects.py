"""Edge lists into a GraphBatch.

Adjacency matrices, sparse or dense, into a GraphBatch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from twinwl.arguments import FLAG, MAX_ITEMS, checked, foreign_array, integer, items, one_of
from twinwl.arrays import Int64, Values, pointer
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import (
    PLAUSIBLE_NODES,
    aligned,
    build,
    check_plausible,
    coded,
    listed,
    stacked_features,
)
from twinwl.graphs.labels import WEIGHT, count_weights, encode_labels, warn_weights

_PAIR = "pairs (u, v) of node numbers 0..n-1"


def from_edges(
    edge_lists: Iterable[Iterable[tuple[int, int]]],
    node_labels: Iterable[Sequence[object]] | None = None,
    num_nodes: Iterable[int] | None = None,
    edge_labels: Iterable[Sequence[object]] | None = None,
    node_features: Iterable[Values] | None = None,
    *,
    directed: bool = False,
) -> GraphBatch:
    """Build a batch from one list of ``(u, v)`` per graph; see `GraphBatch.from_edges`."""
    lists = listed(edge_lists, "edge_lists")
    n_graphs = len(lists)
    edge_counts, edges = flat_edges(lists)
    labels = aligned(node_labels, n_graphs, "node_labels")
    features = aligned(node_features, n_graphs, "node_features")
    node_counts = _node_counts(
        aligned(num_nodes, n_graphs, "num_nodes"), labels or features, edge_counts, edges
    )
    return build(
        node_counts,
        edge_counts,
        edges[:, 0],
        edges[:, 1],
        nodes=coded(labels, node_counts, "node"),
        edges=coded(aligned(edge_labels, n_graphs, "edge_labels"), edge_counts, "edge"),
        node_features=None if features is None else stacked_features(features, node_counts),
        directed=checked("directed", directed, FLAG),
    )


def flat_edges(lists: Sequence[object]) -> tuple[Int64, Int64]:
    """Return the number of edges of each graph, and all edges as one array of shape (n_edges, 2).

    >>> counts, edges = flat_edges([[(0, 1), (1, 2)], []])
    >>> counts.tolist(), edges.tolist()
    ([2, 0], [[0, 1], [1, 2]])
    """
    # Plain lists of plain pairs are flattened in C; everything else is read one by one.
    if all(type(part) is list for part in lists):
        pairs: list[Any] = list(itertools.chain.from_iterable(lists))  # type: ignore[arg-type]
        if set(map(type, pairs)) <= {tuple, list} and set(map(len, pairs)) <= {2}:
            numbers = list(itertools.chain.from_iterable(pairs))
            if set(map(type, numbers)) <= {int}:
                try:
                    edges = np.array(numbers, dtype=np.int64).reshape(-1, 2)
                except OverflowError:
                    pass
                else:
                    return np.fromiter(map(len, lists), np.int64, len(lists)), edges  # type: ignore[arg-type]
    arrays = [_edge_array(graph, part) for graph, part in enumerate(lists)]
    counts = np.fromiter(map(len, arrays), np.int64, len(arrays))
    return counts, np.concatenate(arrays) if arrays else np.empty((0, 2), np.int64)


def _edge_array(graph: int, edge_list: object) -> Int64:
    """Return one graph's edges as an integer array of shape (n_edges, 2)."""
    edges = edge_list if isinstance(edge_list, np.ndarray) else _without_bools(graph, edge_list)
    array = foreign_array("edge list", edges, None, graph)
    if array.ndim and not len(array):
        return np.empty((0, 2), np.int64)
    if array.ndim == 1 and array.dtype.kind in "iu":
        raise GraphInputError(
            f"edge list: got {shown(edge_list)}, expected {_PAIR}, in one list per graph; wrap the edges of "
            "a single graph in a list",
            graph,
        )
    if array.ndim != 2 or array.shape[1] != 2:  # noqa: PLR2004
        raise GraphInputError(f"edge list: got shape {array.shape}, expected (n_edges, 2): {_PAIR}", graph)
    if array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max):
        wrong = next(tuple(edge) for edge in array.tolist() if not all(map(_is_node, edge)))
        raise GraphInputError(f"edge list: got edge {shown(wrong)}, expected {_PAIR}", graph)
    return array.astype(np.int64)


def _without_bools(graph: int, edge_list: object) -> list[object]:
    """Return the edges as a list; NumPy would read True as node 1."""
    edges = items("edge list", edge_list, _PAIR, graph, ordered=False)
    for edge in edges:
        if (isinstance(edge, (tuple, list))) and any(isinstance(end, bool) for end in edge):
            raise GraphInputError(f"edge list: got edge {shown(edge)}, expected {_PAIR}", graph)
    return edges


def _length(part: object) -> int:
    """Return the number of entries; objects without a length are refused when they are read."""
    try:
        return len(part)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001
        return 0


def _is_node(end: object) -> bool:
    return type(end) is int and abs(end) <= MAX_ITEMS


def _node_counts(
    declared: Sequence[object] | None, per_node: Sequence[object] | None, edge_counts: Int64, edges: Int64
) -> Int64:
    """Return the number of nodes of each graph: as given, else from the largest node number."""
    if declared is not None:
        count = integer(0, MAX_ITEMS)
        given = [checked("num_nodes", value, count, graph=graph) for graph, value in enumerate(declared)]
        return np.array(given, dtype=np.int64)
    if per_node is not None:
        return np.array([_length(part) for part in per_node], dtype=np.int64)
    counts = np.zeros(len(edge_counts), dtype=np.int64)
    starts = pointer(edge_counts)[:-1]
    filled = edge_counts > 0
    if filled.any():
        largest = np.maximum.reduceat(edges.max(axis=1), starts[filled])
        counts[filled] = np.maximum(largest + 1, 0)
        for graph in np.flatnonzero(counts > PLAUSIBLE_NODES).tolist():
            check_plausible(int(counts[graph]), int(edge_counts[graph]), graph)
    return counts


_BINARISE = "binarise the matrix, (matrix != 0).astype(int), or threshold it"


class _Entries(NamedTuple):
    """The non-zero places of one matrix, and their values."""

    n_nodes: int
    rows: NDArray[np.integer[Any]]
    columns: NDArray[np.integer[Any]]
    values: NDArray[Any]


def from_scipy(
    adjacencies: Iterable[sp.sparray | sp.spmatrix | Values],
    node_labels: Iterable[Sequence[object]] | None = None,
    edge_label: str | None = None,
    *,
    directed: bool = False,
) -> GraphBatch:
    """Build a batch from adjacency matrices; see `GraphBatch.from_scipy`."""
    edge_label = checked("edge_label", edge_label, one_of(WEIGHT), None)
    directed = checked("directed", directed, FLAG)
    if _is_sparse(adjacencies) or (isinstance(adjacencies, np.ndarray) and adjacencies.ndim == 2):  # noqa: PLR2004
        raise GraphInputError("this is one matrix, not a list of them; wrap it in a list: [matrix]")
    parts = [_entries(matrix, graph) for graph, matrix in enumerate(listed(adjacencies, "adjacencies"))]
    node_counts = np.array([part.n_nodes for part in parts], dtype=np.int64)
    edge_counts = np.array([len(part.rows) for part in parts], dtype=np.int64)
    rows, columns = (
        _flat_values([part.rows for part in parts]),
        _flat_values([part.columns for part in parts]),
    )
    weights = np.concatenate([part.values for part in parts]) if parts else np.empty(0)
    if edge_label is None:
        edges = rows != columns if directed else rows < columns  # a symmetric matrix has each edge twice
        warn_weights(count_weights(weights[edges]), int(np.count_nonzero(edges)))
    return build(
        node_counts,
        edge_counts,
        rows,
        columns,
        nodes=coded(aligned(node_labels, len(parts), "node_labels"), node_counts, "node"),
        edges=None if edge_label is None else encode_labels((weights + 0).tolist()),  # True is 1
        directed=directed,
        one_way_remedy="an undirected graph has a symmetric matrix: add the transpose, or pass directed=True",
    )


def _is_sparse(matrix: object) -> bool:
    return isinstance(matrix, (sp.sparray, sp.spmatrix))


def _flat_values(parts: list[NDArray[np.integer[Any]]]) -> Int64:
    return np.concatenate(parts, dtype=np.int64) if parts else np.empty(0, np.int64)


def _entries(matrix: object, graph: int) -> _Entries:
    """Read the non-zero entries of one matrix, without changing it."""
    if _is_sparse(matrix):
        shape = matrix.shape  # type: ignore[attr-defined]
        _check_square(shape, graph)
        rows, columns, values = _triples(matrix)
    else:
        dense = foreign_array("adjacency", matrix, None, graph)
        shape = dense.shape
        _check_square(shape, graph)
        if dense.dtype.kind not in "biuf":
            raise GraphInputError(f"its entries are {dense.dtype}, not numbers; {_BINARISE}", graph)
        rows, columns = np.nonzero(dense)
        values = dense[rows, columns]
    if values.dtype.kind not in "biuf":
        raise GraphInputError(f"its entries are {values.dtype}, not numbers; {_BINARISE}", graph)
    filled = values != 0  # a sparse matrix may store zeros, which are not edges
    if not filled.all():
        rows, columns, values = rows[filled], columns[filled], values[filled]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = (int(rows[wrong[0]]), int(columns[wrong[0]]))
        raise GraphInputError(f"entry {place} is {values[wrong[0]]}, not a finite number; {_BINARISE}", graph)
    return _Entries(int(shape[0]), rows, columns, values)


def _check_square(shape: tuple[int, ...], graph: int) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:  # noqa: PLR2004
        raise GraphInputError(
            f"its matrix has shape {tuple(shape)}; an adjacency matrix is square. "
            "An edge list goes into from_edges",
            graph,
        )


def _triples(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:  # noqa: ANN401
    """Return rows, columns and values; CSR is read directly, which is much faster for small graphs."""
    if matrix.format == "csr":
        rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
        n_stored = int(matrix.indptr[-1])
        return rows, matrix.indices[:n_stored], matrix.data[:n_stored]
    coo = matrix.tocoo()
    return coo.row, coo.col, coo.data
