"""Adjacency matrices, sparse or dense, into a GraphBatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from twinwl.arguments import FLAG, checked, foreign_array, is_a, one_of
from twinwl.errors import GraphInputError
from twinwl.graphs.building import aligned, build, coded, listed
from twinwl.graphs.labels import encode_labels
from twinwl.graphs.weights import WEIGHT, count_weights, warn_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Int64, Values
    from twinwl.graphs.batch import GraphBatch

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
    if _is_sparse(adjacencies) or (is_a(adjacencies, np.ndarray) and adjacencies.ndim == 2):  # noqa: PLR2004
        raise GraphInputError("this is one matrix, not a list of them; wrap it in a list: [matrix]")
    parts = [_entries(matrix, graph) for graph, matrix in enumerate(listed(adjacencies, "adjacencies"))]
    node_counts = np.array([part.n_nodes for part in parts], dtype=np.int64)
    edge_counts = np.array([len(part.rows) for part in parts], dtype=np.int64)
    rows, columns = _flat([part.rows for part in parts]), _flat([part.columns for part in parts])
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
    return is_a(matrix, sp.sparray) or is_a(matrix, sp.spmatrix)


def _flat(parts: list[NDArray[np.integer[Any]]]) -> Int64:
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
