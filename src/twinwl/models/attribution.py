"""`explain`: one call for every model whose decision is a sum over patterns.

twinwl's own models explain themselves. Linear models, trees and forests of scikit-learn on the columns of an
`STwinVectorizer` are explained here: each column gets a share of the decision, and the shares add up to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from twinwl.arrays import Float64
from twinwl.errors import TwinWLError
from twinwl.models.explanation import Decision, Explanation, best_two, explanation_of
from twinwl.models.features import keep_columns
from twinwl.models.vectorizer import STwinVectorizer

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
_FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor)
_BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)


def explain(model: Any, vectorizer: Any, graph: Any = None, n_columns: int = 10) -> Explanation:  # noqa: ANN401
    """Explain the prediction for one graph by the patterns that lead to it.

    ``explain(model, graph)`` is for models of twinwl and for pipelines, ``explain(model, vectorizer, graph)``
    for a model of scikit-learn on the columns of a vectorizer: one with ``coef_``, whose columns' shares are
    value times weight, or a tree, forest or gradient boosting. There a column's share is the sum of the
    changes of the mean where the paths of the graph are split by it (Saabas' rule). Patterns that the graph
    does not have may have shares too; these count as part of the intercept.

    Parameters
    ----------
    model
        A fitted model, or a pipeline that ends in one.
    vectorizer : STwinVectorizer
        The fitted vectorizer whose columns the model was trained on; of two arguments, the graph.
    graph
        One graph, or a batch or list of one graph; a list of one SMILES if a pipeline starts with
        `SmilesToGraphs`.
    n_columns
        Number of columns to list, those with the largest shares.

    Returns
    -------
    Explanation
        Print it, or call its ``plot`` or ``save_page``.

    See Also
    --------
    STwinVectorizer : The columns that are explained.

    Examples
    --------
    >>> import twinwl as tw
    >>> from sklearn.linear_model import LogisticRegression
    >>> graphs = tw.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 5)
    >>> vectorizer = tw.STwinVectorizer(n_iter=1)
    >>> model = LogisticRegression().fit(vectorizer.fit_transform(graphs), ["path", "ring"] * 5)
    >>> found = tw.explain(model, vectorizer, graphs[1])
    >>> found.prediction, found.columns[0].name
    ('ring', 'h1:c1')
    """
    steps = (
        [step for _, step in model.steps if hasattr(step, "fit")] if isinstance(model, Pipeline) else [model]
    )
    if graph is None:
        graph, vectorizer = vectorizer, None
        while len(steps) > 1 and vectorizer is None:
            step = steps.pop(0)
            if isinstance(step, STwinVectorizer):
                vectorizer = step
            else:
                graph = step.transform(graph)
    *between, model = steps
    if vectorizer is None:
        if not hasattr(model, "explain"):
            raise TwinWLError(
                f"a {type(model).__name__} does not explain itself; pass the vectorizer whose columns it was "
                "trained on: explain(model, vectorizer, graph)"
            )
        return replace(model.explain(graph, n_columns), model=model)
    if not isinstance(vectorizer, STwinVectorizer):
        raise TwinWLError(
            f"got a {type(vectorizer).__name__}, expected a fitted STwinVectorizer", parameter="vectorizer"
        )
    return _explained(model, vectorizer, between, graph, n_columns)


def _explained(
    model: Any,  # noqa: ANN401
    vectorizer: STwinVectorizer,
    between: list[Any],
    graph: Any,  # noqa: ANN401
    n_columns: int,
) -> Explanation:
    vectorizer._check_fitted()  # noqa: SLF001
    batch = vectorizer._graph_to_explain(graph)  # noqa: SLF001
    encoding = vectorizer.spaces_.encoded(batch)
    own = encoding.matrix
    row: Any = keep_columns(own, vectorizer.columns_)
    for step in between:
        if not isinstance(step, OneToOneFeatureMixin):
            raise TwinWLError(
                f"the pipeline has a {type(step).__name__} between vectorizer and model, which mixes or "
                "drops columns; leave it out, or choose columns with min_df or max_features of the vectorizer"
            )
        row = step.transform(row)
    n_expected = getattr(model, "n_features_in_", row.shape[1])
    if n_expected != row.shape[1]:
        raise TwinWLError(
            f"the model was trained on {n_expected} columns and the vectorizer has {row.shape[1]}; pass the "
            "vectorizer that the model was trained with"
        )
    outputs, shares, method = _shares(model, row)
    base = outputs - shares.sum(axis=0)
    prediction, against, sign = _sides(model, outputs)
    contributions = np.zeros(own.shape[1])
    contributions[slice(None) if vectorizer.columns_ is None else vectorizer.columns_] = shares @ sign
    # The row of the graph gets a zero in each column that it lacks and that has a share: so these are listed.
    absent = np.setdiff1d(np.flatnonzero(contributions), own.indices)
    values, indices = np.append(own.data, np.zeros(len(absent))), np.append(own.indices, absent)
    listed = sparse.csr_matrix((values, indices, [0, len(indices)]), shape=own.shape)
    decision = Decision(prediction, against, None, float(base @ sign))
    explanation = explanation_of(batch, encoding, contributions, decision, method, n_columns, listed)
    intercept = explanation.intercept + float(contributions[absent].sum())
    return replace(explanation, intercept=intercept, model=vectorizer)


def _sides(model: Any, outputs: Float64) -> tuple[object, object, Float64]:  # noqa: ANN401
    """Return the prediction, the class it is compared with, and the weight of each output in the decision."""
    if not is_classifier(model):
        if len(outputs) > 1:
            raise TwinWLError(f"the model predicts {len(outputs)} numbers; explain a model of one")
        return outputs[0], None, np.ones(1)
    wanted, other, weights = best_two(outputs)
    return model.classes_[wanted], model.classes_[other], weights


def _shares(model: Any, row: Any) -> tuple[Float64, Float64, str]:  # noqa: ANN401
    """Return outputs of a model, shape (n_outputs,), the share of each column in each, and how, as text."""
    trees = _weighted_trees(model)
    if trees:
        paths = "path of the tree" if len(trees) == 1 else f"paths of {len(trees)} trees"
        return *_path_shares(model, row, trees), f"changes along the {paths}"
    if not hasattr(model, "coef_"):
        raise TwinWLError(
            f"a {type(model).__name__} cannot be explained column by column; use a linear model (with "
            "coef_), a tree, a forest or gradient boosting of scikit-learn, or a model of twinwl"
        )
    outputs, dense = _outputs(model, row), row.toarray() if sparse.issparse(row) else np.asarray(row)
    weights = np.atleast_2d(model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_)
    shares = weights.T * dense.T
    sums = shares.sum(axis=0) + np.ravel(model.intercept_)
    if sums.shape != outputs.shape or not np.allclose(sums, outputs, rtol=1e-6, atol=1e-6):
        raise TwinWLError(
            f"the decision of this {type(model).__name__} is not the sum of its columns' weights, so they do "
            "not explain it"
        )
    return outputs, shares, "exact: value times weight"


def _weighted_trees(model: Any) -> list[tuple[Any, int, float]]:  # noqa: ANN401
    """Return the trees of a model, the output that each changes, and its weight; none for other models."""
    if isinstance(model, _TREES):
        return [(model, 0, 1.0)]
    if isinstance(model, _FORESTS):
        return [(tree, 0, 1 / len(model.estimators_)) for tree in model.estimators_]
    if isinstance(model, _BOOSTING):
        rate = model.learning_rate
        return [(tree, output, rate) for stage in model.estimators_ for output, tree in enumerate(stage)]
    return []


def _outputs(model: Any, row: Any) -> Float64:  # noqa: ANN401
    names = ("decision_function", "predict_proba") if is_classifier(model) else ("predict",)
    ask = next(getattr(model, name) for name in names if hasattr(model, name))
    return np.ravel(ask(row)).astype(np.float64)


def _path_shares(model: Any, row: Any, trees: list[tuple[Any, int, float]]) -> tuple[Float64, Float64]:  # noqa: ANN401
    """Credit each change of the mean along a path, times the tree's weight, to the column that splits."""
    if getattr(model, "n_outputs_", 1) > 1:
        raise TwinWLError(f"the model has {model.n_outputs_} outputs; explain a model of one")
    outputs = _outputs(model, row)
    shares = np.zeros((row.shape[1], len(outputs)))
    for tree, output, weight in trees:
        nodes = tree.tree_
        path = np.sort(tree.decision_path(row).indices)  # children have larger numbers than their parents
        means = nodes.value[path, 0]
        if is_classifier(tree):
            means = means / means.sum(axis=1, keepdims=True)
        place = slice(output, output + means.shape[1])
        np.add.at(shares[:, place], nodes.feature[path[:-1]], weight * np.diff(means, axis=0))
    return outputs, shares
