"""Continuous node features in methods that compare labels: refused, or turned into labels.

Colours, hashes and canonical forms depend only on labels, so features are ignored only if the user asks for
it.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.arguments import FLAG, checked, foreign_array, items
from twinwl.arrays import Float64, Int64, Values
from twinwl.errors import GraphInputError, LabelError, shown
from twinwl.graphs.assembly import graph_of_node
from twinwl.graphs.labels import Coded, encode_labels

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

Bins: TypeAlias = "Sequence[float] | Sequence[Sequence[float]] | Values | None"


def labels_only(batch: GraphBatch, *, ignore_features: bool, name: str = "") -> GraphBatch:
    """Return the batch without node features, or refuse graphs with features.

    Parameters
    ----------
    batch
        The graphs.
    ignore_features
        Whether features may be left out; otherwise a graph that has some is an error.
    name
        What to call a single graph in the error; its index where empty.

    Raises
    ------
    GraphInputError
        If a graph has features that may not be ignored.
    """
    ignore_features = checked("ignore_features", ignore_features, FLAG)
    features = batch.node_features
    if batch.has_node_features and features is not None and not ignore_features:
        graph = int(np.flatnonzero(batch.nodes_per_graph)[0])
        shape = (int(batch.nodes_per_graph[graph]), features.shape[1])
        message = (
            f"its nodes have continuous features (shape {shape}), and only labels are compared; make labels "
            "of them with GraphBatch.discretise(), or pass ignore_features=True"
        )
        raise GraphInputError(f"{name}: {message}") if name else GraphInputError(message, graph)
    return batch.without_features()


def labels_with_features(batch: GraphBatch, bins: Bins) -> Coded:
    """Return labels that tell nodes apart by label and features; see `GraphBatch.discretise`."""
    features = batch.node_features
    if features is None:
        return Coded(batch.node_labels, batch.node_vocabulary)
    values = features + 0.0 if bins is None else _binned(features, bins)  # -0.0 is 0.0
    # Labels by their codes: a code may stand beside numbers of any kind, as both are eight bytes.
    rows = np.column_stack([batch.node_labels.astype(values.dtype), values])
    as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    _, first, inverse = np.unique(as_bytes.ravel(), return_index=True, return_inverse=True)
    own = [batch.node_vocabulary[code] for code in batch.node_labels[first]]
    found = [(label, *row) for label, row in zip(own, values[first].tolist(), strict=True)]
    try:
        ranks, vocabulary = encode_labels(found)
    except LabelError as error:
        node = int(first[error.position or 0])
        raise LabelError(str(error), graph_of_node(batch.graph_ptr, node)) from error
    return Coded(ranks[inverse.ravel()], vocabulary)


def _binned(features: Float64, bins: Bins) -> Int64:
    """Return the bin of each value: how many of its column's edges are not above it."""
    if not np.isfinite(features).all():
        raise GraphInputError("some node features are not finite, so they fall into no bin; replace them")
    n_features = features.shape[1]
    edges = _edges(bins, n_features)
    columns = [np.searchsorted(edges[k], features[:, k], side="right") for k in range(n_features)]
    return np.column_stack(columns).astype(np.int64) if columns else np.empty(features.shape, np.int64)


def _edges(bins: Bins, n_features: int) -> list[Float64]:
    """Return the rising edges of each column, or say what is wrong with them."""
    wanted = "rising numbers for all features, or one such list for each feature"
    given = items("bins", bins, wanted)
    lists = [given] * n_features if all(issubclass(type(edge), numbers.Real) for edge in given) else given
    if len(lists) != n_features:
        raise GraphInputError(f"bins: got {len(lists)} lists for {n_features} features, expected {wanted}")
    edges = [foreign_array("bins", one, np.float64) for one in lists]
    for column, one in enumerate(edges):
        if one.ndim != 1 or not (one[1:] > one[:-1]).all() or np.isnan(one).any():
            raise GraphInputError(f"bins of feature {column}: got {shown(one.tolist())}, expected {wanted}")
    return edges
