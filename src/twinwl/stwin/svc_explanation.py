"""Why an STwinSVC decides as it does: its decision value, split over columns without remainder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.estimators.explanation import Explanation, check_single
from twinwl.estimators.support_vectors import predicted_codes
from twinwl.stwin.explanation import explanation_of
from twinwl.stwin.extended import encode_in_full
from twinwl.stwin.kernel_products import RightHandSide
from twinwl.stwin.similarity import own_sums, sums_of_pairs

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.svc import STwinSVC

__all__ = ["explain_decision"]

_METHODS = {
    "linear": "exact: value times weight",
    "minmax": "exact: parts of the similarities, their divisors held",
    "intersection": "exact: parts of the similarities, their divisors held",
}


def explain_decision(model: STwinSVC, graph: GraphBatch, n_columns: int) -> Explanation:
    """Explain the predicted class against the other one, or against the strongest rival of several."""
    check_single(graph)
    decisions = model.decision_function(graph)
    wanted = int(predicted_codes(decisions)[0])
    two_classes = decisions.ndim == 1
    other = 1 - wanted if two_classes else int(np.argsort(-decisions[0], kind="stable")[1])
    weights, intercept = model.support_vectors_.between(wanted, other)
    known, full = encode_in_full(graph, model.space_)
    return explanation_of(
        graph,
        model.space_,
        _contributions(known, model.matrix_, weights / _divisors(model, known, full), model.base),
        prediction=model.classes_[wanted],
        against=model.classes_[other],
        intercept=intercept,
        method=_METHODS[model.base],
        n_columns=n_columns,
    )


def _divisors(model: STwinSVC, known: sparse.csr_matrix, full: sparse.csr_matrix) -> Float64:
    """Return what the sums over columns are divided by, for each support vector."""
    own, own_support = own_sums(full, model.base), own_sums(model.matrix_, model.base)
    if model.base == "minmax":
        sums = sums_of_pairs(known, RightHandSide(model.matrix_), model.base)
        divisors: Float64 = own + own_support - sums[0]
    elif model.normalize:
        divisors = np.sqrt(own * own_support)
    else:
        divisors = np.ones(len(own_support))
    return np.where(divisors > 0, divisors, np.inf)


def _contributions(
    known: sparse.csr_matrix, support: sparse.csr_matrix, weights: Float64, base: str
) -> Float64:
    """Return what each column adds: its part of every similarity, weighted and summed."""
    value = known.toarray()[0]
    if base == "linear":
        return np.asarray(support.T @ weights) * value
    shared = support.copy()
    shared.data = np.minimum(shared.data, value[shared.indices])
    return np.asarray(shared.T @ weights)
