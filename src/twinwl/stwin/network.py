"""STwin features and a two-layer perceptron: the base of the estimators on them, and their explanation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import torch
from scipy import sparse

from twinwl.arguments import WIDTH, one_of
from twinwl.graphs.coercion import GraphsLike
from twinwl.learning.estimator import NeuralGraphEstimator
from twinwl.learning.perceptron import SparsePerceptron
from twinwl.learning.sparse import SparseExamples
from twinwl.learning.training import predict_logits
from twinwl.refinement.histograms import colour_histograms
from twinwl.refinement.identities import rooted_sizes
from twinwl.stwin.column_choice import COLUMN_PARAMETERS, keep_columns
from twinwl.stwin.explanation import explanation_of, node_shares
from twinwl.stwin.features import FEATURE_PARAMETERS, Encoding, FeatureSpace, stwin_features
from twinwl.stwin.network_input import EXCESS_SCALE, SCALINGS, NetworkInput
from twinwl.stwin.vectorizer import STwinVectorizer, warn_strange_graphs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Float64
    from twinwl.estimators.base import Constraints
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.isomorphism.readouts import ReadoutChoice


class STwinNetworkEstimator(NeuralGraphEstimator):
    """STwin features as the input of a perceptron with one hidden layer; its parameters, use and state.

    Attributes
    ----------
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the training graphs without those held out.
    input_ : NetworkInput or None
        How features are scaled.
    """

    _constraints: ClassVar[Constraints] = {
        **FEATURE_PARAMETERS,
        **COLUMN_PARAMETERS,
        "scaling": (one_of(*SCALINGS),),
        "hidden": (WIDTH,),
    }

    _learns_tasks = True

    n_iter: int | None
    features: str
    edge_labels: bool | None
    initial: str
    min_df: int | float
    max_features: int | None
    scaling: str
    hidden: int
    dropout: float
    ignore_features: bool
    readout: ReadoutChoice

    vectorizer_: STwinVectorizer
    input_: NetworkInput | None

    def explain(self, X: GraphsLike, n_columns: int = 10, task: str | int | None = None) -> Explanation:
        """Return each node's share of the decision about one graph, and the columns with the largest shares.

        The decision is the difference between the logits of the predicted class and of its strongest rival;
        of a regressor it is the number. A column's share is gradient × input. The network is piecewise
        linear, so the shares and what depends on no column (``intercept``) sum to the decision.

        Parameters
        ----------
        X
            One graph, or a batch or list of one graph.
        n_columns
            Number of columns to list.
        task
            The task to explain, by its name or place, if there are several.
        """
        return explain_decision(self._one_task(task), X, n_columns)

    def unseen_rate(self, X: GraphsLike) -> float:
        """Return the share of nodes, averaged over rounds, whose colour no training graph has."""
        self._check_fitted()
        return self.vectorizer_.unseen_rate(X)

    # ------------------------------------------------------------------ what the frame asks for

    def _fit_examples(self, batch: GraphBatch) -> SparseExamples:
        self.vectorizer_ = self._new_vectorizer()
        encoding = self.vectorizer_._learn(batch)  # noqa: SLF001  (the same layer)
        features, counts = self._views(batch, encoding)
        self.input_ = NetworkInput.fitted(features, counts) if self.scaling == "twin" else None
        return self._scaled(features, counts)

    def _new_vectorizer(self) -> STwinVectorizer:
        return STwinVectorizer(
            self.n_iter,
            self.features,
            self.edge_labels,
            self.initial,
            self.min_df,
            self.max_features,
            ignore_features=True,
            readout=self.readout,
        )

    def _examples(self, batch: GraphBatch) -> SparseExamples:
        encoding = stwin_features(batch, space=self.vectorizer_.space_)
        warn_strange_graphs(batch, encoding)
        return self._examples_of(batch, encoding)

    def _examples_of(self, batch: GraphBatch, encoding: Encoding) -> SparseExamples:
        return self._scaled(*self._views(batch, encoding))

    def _build_module(self, n_outputs: int) -> SparsePerceptron:
        width = self.vectorizer_.n_features_out_ if self.input_ is None else self.input_.width
        return SparsePerceptron(width, self.hidden, n_outputs, self.dropout)

    def _views(
        self, batch: GraphBatch, encoding: Encoding
    ) -> tuple[sparse.csr_matrix, sparse.csr_matrix | None]:
        """Return the features and, where those are sums of sizes, the counts: with the same entries."""
        columns = self.vectorizer_.columns_
        features = keep_columns(encoding.matrix, columns)
        if encoding.space.kind != "size":
            return features, None
        data, indices, indptr = colour_histograms(
            batch, encoding.column_of_node, encoding.space.columns_per_round, weigh_by_size=False
        )
        counts = sparse.csr_matrix((data, indices, indptr), shape=encoding.matrix.shape)
        return features, keep_columns(counts, columns)

    def _scaled(self, features: sparse.csr_matrix, counts: sparse.csr_matrix | None) -> SparseExamples:
        return SparseExamples(features if self.input_ is None else self.input_.apply(features, counts))

    # ------------------------------------------------------------------ model files

    def _to_state(self) -> dict[str, object]:
        network = self._network_to_state()
        scaling = {} if self.input_ is None else self.input_.to_state()
        return {**network, "vectorizer": self.vectorizer_._to_state(), "input": scaling}  # noqa: SLF001

    @classmethod
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> Self:
        self = cls._with_params(params)
        wanted = ("n_iter", "features", "edge_labels", "initial", "min_df", "max_features", "readout")
        self.vectorizer_ = STwinVectorizer._from_state(  # noqa: SLF001
            {name: params[name] for name in wanted if name in params},
            state["vectorizer"],  # type: ignore[arg-type]
        )
        self.input_ = None
        if self.scaling == "twin":
            sums = self.vectorizer_.space_.kind == "size"
            n_columns = self.vectorizer_.n_features_out_
            self.input_ = NetworkInput.from_state(state["input"], n_columns, sums=sums)  # type: ignore[arg-type]
        self._network_from_state(state)
        return self


def explain_decision(model: STwinNetworkEstimator, X: GraphsLike, n_columns: int) -> Explanation:
    """Explain a predicted class against the second most likely one, or a number."""
    graph = model._graph_to_explain(X)  # noqa: SLF001
    encoding = stwin_features(graph, space=model.vectorizer_.space_)
    examples = model._examples_of(graph, encoding)  # noqa: SLF001  (the other half of the model)
    outputs = predict_logits(model.module_, examples)[0]
    reading = model._decision_about(outputs)  # noqa: SLF001
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
