"""Why a perceptron on STwin features predicts what it does: gradient × input, by columns and nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from twinwl.graphs.coercion import GraphsLike, one_graph
from twinwl.learning.training import predict_logits
from twinwl.refinement.identities import rooted_sizes
from twinwl.stwin.explanation import explanation_of, node_shares
from twinwl.stwin.features import Encoding, FeatureSpace, stwin_features
from twinwl.stwin.network_input import EXCESS_SCALE

if TYPE_CHECKING:
    from twinwl.arrays import Float64
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.network import STwinNetworkEstimator


def explain_decision(model: STwinNetworkEstimator, X: GraphsLike, n_columns: int) -> Explanation:
    """Explain a predicted class against the second most likely one, or a number."""
    graph = one_graph(X, "the graph to explain")
    encoding = stwin_features(graph, space=model.vectorizer_.space_)
    examples = model._examples_of(graph, encoding)  # noqa: SLF001  (the other half of the model)
    outputs = predict_logits(model.module_, examples)[0]
    reading = model._reading(outputs)  # noqa: SLF001
    row = examples.take(np.array([0]))
    gradient = model.module_.gradient(row, torch.from_numpy(reading.weights)).numpy()  # type: ignore[operator]
    # Entries of the network's input: contribution and gradient of each.
    added = np.zeros(examples.n_columns)
    added[row.indices] = gradient.astype(np.float64) * row.values
    steepness = np.zeros(examples.n_columns)
    steepness[row.indices] = gradient
    by_count, by_excess, slope = _on_columns(model, added, steepness)
    decision = float(outputs.astype(np.float64) @ reading.weights.astype(np.float64)) + reading.shift
    explanation = explanation_of(
        graph,
        encoding,
        by_count + by_excess,
        prediction=reading.prediction,
        against=reading.against,
        intercept=decision - float(added.sum()),
        method="gradient × input",
        n_columns=n_columns,
    )
    if model.input_ is None or model.input_.usual_sizes is None:
        return explanation
    return replace(explanation, node_shares=_shares(model, graph, encoding, by_count, slope))


def _on_columns(
    model: STwinNetworkEstimator, added: Float64, steepness: Float64
) -> tuple[Float64, Float64, Float64]:
    """Bring values of the network's columns back to the columns of the feature space.

    Returns what counts add, what excesses add, and the gradient of the excess in nodes.
    """
    space, columns, scaling = model.vectorizer_.space_, model.vectorizer_.columns_, model.input_
    kept = np.arange(space.n_columns) if columns is None else columns
    by_count, by_excess, slope = np.zeros((3, space.n_columns))
    if scaling is None:
        by_count[kept] = added
        return by_count, by_excess, slope
    before = np.concatenate([[0.0], np.cumsum(added[: scaling.n_steps])])
    by_count[kept] = np.diff(before[scaling.step_ptr])
    if scaling.excess_columns is not None:
        doubled = kept[scaling.excess_columns]
        by_excess[doubled] = added[scaling.n_steps :]
        slope[doubled] = EXCESS_SCALE * steepness[scaling.n_steps :]
    return by_count, by_excess, slope


def _shares(
    model: STwinNetworkEstimator, graph: GraphBatch, encoding: Encoding, by_count: Float64, slope: Float64
) -> Float64:
    """Split counts evenly among a colour's nodes, and excesses by each node's own excess."""
    space = model.vectorizer_.space_
    usual = np.zeros(space.n_columns)
    kept = np.arange(space.n_columns) if model.vectorizer_.columns_ is None else model.vectorizer_.columns_
    usual[kept] = model.input_.usual_sizes  # type: ignore[union-attr]
    counted = encoding._replace(space=FeatureSpace("count", space.alphabet))
    shares = node_shares(graph, counted, by_count)
    places = encoding.column_of_node
    sizes = rooted_sizes(graph, len(places) - 1)
    first = 0
    for place, size, width in zip(places, sizes, space.columns_per_round, strict=True):
        seen = np.flatnonzero(place >= 0)
        column = first + place[seen]
        shares[seen] += slope[column] * (size[seen] - usual[column])
        first += width
    return shares
