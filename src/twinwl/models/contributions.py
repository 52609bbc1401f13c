"""Explanations of decisions on STwin features: shares of columns, distributed over the nodes they count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS, checked, integer
from twinwl.arrays import Float64
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike
from twinwl.models.explanation import ColumnShare, Explanation
from twinwl.models.features import Encoding, encode_in_full
from twinwl.models.similarity import Similarity, own_sums
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.models.svc import TwinMachine


def explanation_of(
    graph: GraphBatch,
    encoding: Encoding,
    contributions: Float64,
    *,
    prediction: object,
    against: object,
    intercept: float,
    method: str,
    n_columns: int = 10,
) -> Explanation:
    """Build an explanation from the contribution of each column to the decision.

    Parameters
    ----------
    graph
        A batch of one.
    encoding
        Its features.
    contributions : array of float64, shape (n_columns,)
        Contribution of each column to the decision.
    prediction, against, intercept, method
        As for `Explanation`.
    n_columns
        Number of columns to list.
    """
    n_columns = checked("n_columns", n_columns, integer(0, MAX_ITEMS))
    row = encoding.matrix[0]
    by_weight = np.argsort(-np.abs(contributions[row.indices]), kind="stable")
    by_weight = by_weight[contributions[row.indices[by_weight]] != 0][:n_columns]
    return Explanation(
        graph=graph,
        prediction=_plain(prediction),
        against=_plain(against),
        decision=float(contributions[row.indices].sum() + intercept),
        intercept=float(intercept),
        node_shares=node_shares(graph, encoding, contributions),
        columns=tuple(
            _column_share(encoding, int(row.indices[entry]), contributions, float(row.data[entry]))
            for entry in by_weight
        ),
        method=method,
    )


def node_shares(graph: GraphBatch, encoding: Encoding, contributions: Float64) -> Float64:
    """Distribute the contribution of each column among the nodes that it counts.

    A node gets its part of a column: one over the number of nodes, or its rooted size over their sum. So the
    shares sum to the contributions of the graph's columns.

    Parameters
    ----------
    graph
        A batch of one.
    encoding
        Its features.
    contributions : array of float64, shape (n_columns,)

    Returns
    -------
    array of float64, shape (n_nodes,)

    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> from twinwl.models.features import stwin_features
    >>> node_shares(path, stwin_features(path, 1, "size"), np.array([3.0, 2.0, 10.0]))
    array([ 2., 11.,  2.])
    """
    places = encoding.column_of_node
    if encoding.space.kind == "size":
        parts = rooted_sizes(graph, len(places) - 1).astype(np.float64)
    else:
        parts = np.ones(places.shape)
    shares = np.zeros(graph.n_nodes)
    first = 0
    for place, part, width in zip(places, parts, encoding.space.columns_per_round, strict=True):
        seen = np.flatnonzero(place >= 0)
        whole = np.bincount(place[seen], part[seen], minlength=width)
        shares[seen] += contributions[first + place[seen]] * part[seen] / whole[place[seen]]
        first += width
    return shares


def _column_share(encoding: Encoding, column: int, contributions: Float64, value: float) -> ColumnShare:
    name, tree = encoding.space.explained(column)
    place = column - sum(encoding.space.columns_per_round[: tree.depth])
    nodes = np.flatnonzero(encoding.column_of_node[tree.depth] == place)
    return ColumnShare(name, float(contributions[column]), value, tree, tuple(nodes.tolist()))


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label


_METHODS = {
    "linear": "exact: value times weight",
    "minmax": "exact: parts of the similarities, their divisors held fixed",
    "intersection": "exact: parts of the similarities, their divisors held fixed",
}


class Sides(NamedTuple):
    """The decision of a support vector machine about one graph.

    ``prediction`` is weighed against ``against``, None where it is a number; the decision is the sum of the
    similarities with the support vectors, times ``weights``, and the intercept.
    """

    prediction: object
    against: object
    weights: Float64
    intercept: float


def explain_machine(model: TwinMachine, X: GraphsLike, n_columns: int) -> Explanation:
    """Explain a prediction: a class against the second most likely one, or a number."""
    graph, similarity = model._graph_to_explain(X), model.similarity_  # noqa: SLF001
    encoding, full = encode_in_full(graph, model.space_)
    own, sums = own_sums(full, model.base), similarity.sums(encoding.matrix)
    divisors = _divisors(similarity, own, sums)
    decisions = model.support_vectors_.decisions(similarity.from_sums(sums, own))
    sides = model._sides(decisions)  # noqa: SLF001  (the other half of the model)
    return explanation_of(
        graph,
        encoding,
        _contributions(encoding.matrix, similarity.matrix, sides.weights / divisors, model.base),
        prediction=sides.prediction,
        against=sides.against,
        intercept=sides.intercept,
        method=_METHODS[model.base],
        n_columns=n_columns,
    )


def _divisors(similarity: Similarity, own: Float64, sums: Float64) -> Float64:
    """Return the divisor of the sums over columns, for each support vector."""
    if similarity.base == "minmax":
        divisors: Float64 = own + similarity.own - sums[0]
    elif similarity.normalize:
        divisors = np.sqrt(own * similarity.own)
    else:
        divisors = np.ones(len(similarity.own))
    return np.where(divisors > 0, divisors, np.inf)


def _contributions(
    known: sparse.csr_matrix, support: sparse.csr_matrix, weights: Float64, base: str
) -> Float64:
    """Return the contribution of each column: its part of every similarity, weighted and summed."""
    value = known.toarray()[0]
    if base == "linear":
        return np.asarray(support.T @ weights) * value
    shared = support.copy()
    shared.data = np.minimum(shared.data, value[shared.indices])
    return np.asarray(shared.T @ weights)
