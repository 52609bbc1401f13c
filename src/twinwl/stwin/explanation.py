"""Explanations of decisions on STwin features: columns weighed, and spread over the nodes they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import MAX_ITEMS, checked, integer
from twinwl.estimators.explanation import ColumnShare, Explanation, check_single
from twinwl.estimators.trees import tree_of_colour
from twinwl.refinement.identities import rooted_sizes
from twinwl.stwin.features import stwin_features

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.features import Encoding, FeatureSpace

__all__ = ["explanation_of", "node_shares"]


def explanation_of(
    graph: GraphBatch,
    space: FeatureSpace,
    contributions: Float64,
    *,
    columns: Int64 | None = None,
    prediction: object,
    against: object,
    intercept: float,
    method: str,
    n_columns: int = 10,
) -> Explanation:
    """Put an explanation together from what each column adds to the decision.

    Parameters
    ----------
    graph
        A batch of one.
    space
        What the columns stand for.
    contributions : array of float64, shape (n_columns,)
        What each column adds to the decision.
    columns : array of int64, optional
        The columns of the space that the contributions are for; None means all of them.
    prediction, against, intercept, method
        As for `Explanation`.
    n_columns
        How many columns to list.
    """
    check_single(graph)
    n_columns = checked("n_columns", n_columns, integer(0, MAX_ITEMS))
    if columns is not None:
        everywhere = np.zeros(space.n_columns)
        everywhere[columns] = contributions
        contributions = everywhere
    encoding = stwin_features(graph, space=space)
    row = encoding.matrix[0]
    by_weight = np.argsort(-np.abs(contributions[row.indices]), kind="stable")
    by_weight = by_weight[contributions[row.indices[by_weight]] != 0][:n_columns]
    return Explanation(
        graph=graph,
        prediction=_plain(prediction),
        against=_plain(against),
        decision=float(contributions[row.indices].sum() + intercept),
        intercept=float(intercept),
        node_shares=_spread(graph, encoding, contributions),
        columns=tuple(
            _column_share(space, int(row.indices[entry]), contributions, float(row.data[entry]))
            for entry in by_weight
        ),
        method=method,
    )


def node_shares(graph: GraphBatch, space: FeatureSpace, contributions: Float64) -> Float64:
    """Split what each column adds to a decision among the nodes that it counts.

    A node gets the part of a column that it makes up: one of so many nodes, or its rooted size of their sum.
    Nothing is lost: the shares sum to the contributions of the columns that the graph has.

    Parameters
    ----------
    graph
        A batch of one.
    space
        What the columns stand for.
    contributions : array of float64, shape (space.n_columns,)

    Returns
    -------
    array of float64, shape (n_nodes,)

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> space = stwin_features(path, 1, "size").space
    >>> node_shares(path, space, np.array([3.0, 2.0, 10.0]))
    array([ 2., 11.,  2.])
    """
    check_single(graph)
    return _spread(graph, stwin_features(graph, space=space), contributions)


def _spread(graph: GraphBatch, encoding: Encoding, contributions: Float64) -> Float64:
    space, places = encoding.space, encoding.column_of_node
    if space.kind == "size":
        parts = rooted_sizes(graph, len(places) - 1).astype(np.float64)
    else:
        parts = np.ones(places.shape)
    shares = np.zeros(graph.n_nodes)
    first = 0
    for place, part, width in zip(places, parts, space.columns_per_round, strict=True):
        seen = np.flatnonzero(place >= 0)
        whole = np.bincount(place[seen], part[seen], minlength=width)
        shares[seen] += contributions[first + place[seen]] * part[seen] / whole[place[seen]]
        first += width
    return shares


def _column_share(space: FeatureSpace, column: int, contributions: Float64, value: float) -> ColumnShare:
    h, colour, size = space.locate(column)
    name = f"h{h}:c{colour}" + ("" if size is None else f":s{size}")
    tree = tree_of_colour(space.alphabet, h, colour, size)
    return ColumnShare(name, float(contributions[column]), value, tree)


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label
