"""STwinClassifier: STwin features and a two-layer perceptron, as one scikit-learn classifier of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scipy import sparse

from twinwl.arguments import WIDTH, one_of
from twinwl.files.model_files import savable
from twinwl.learning.classifier import NeuralGraphClassifier
from twinwl.learning.perceptron import SparsePerceptron
from twinwl.learning.sparse import SparseExamples
from twinwl.refinement.histograms import colour_histograms
from twinwl.stwin.classifier_explanation import explain_decision
from twinwl.stwin.column_choice import COLUMN_PARAMETERS, keep_columns
from twinwl.stwin.features import FEATURE_PARAMETERS, Encoding, stwin_features
from twinwl.stwin.network_input import SCALINGS, NetworkInput
from twinwl.stwin.vectorizer import STwinVectorizer, warn_strange_graphs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["STwinClassifier"]


@savable
class STwinClassifier(NeuralGraphClassifier):
    """Classify graphs with STwin-GNN: STwin features, then a perceptron with one hidden layer.

    Parameters
    ----------
    n_iter, features, edge_labels, initial, min_df, max_features
        The features, as for `STwinVectorizer`.
    scaling : {"twin", "none"}, default="twin"
        What the network is fed. ``"twin"``: counts as steps, at least 1, 2, 3, 4, 6, 8, …, each graph's
        brought to one length; and for ``features="size"``, whose sums of equation (3) are taken apart for
        it, also by how much rooted sizes exceed what is usual for their colour (see
        `twinwl.stwin.network_input`). ``"none"``: the features as they are.
    hidden : int, default=64
        Number of hidden units.
    dropout : float, default=0.5
        Share of hidden units left out in training.
    max_epochs, batch_size, learning_rate, weight_decay, patience
        Training by Adam on the cross-entropy; it stops after ``patience`` epochs without a better one.
    validation_fraction : float or None, default=0.1
        Share of the training graphs held out to choose the epoch; None learns from all of them, for
        ``max_epochs``.
    class_weight : None, "balanced" or dict
        Weight of each class in the loss.
    random_state : int, RandomState, Generator or None, default=0
        Decides hold-out, first weights, order of batches and dropout; None trains differently every time.
    verbose : bool, int or None
        Show a bar with live accuracy; None shows it where there is a terminal.
    ignore_features : bool, default=False
        Do not warn where graphs have continuous node features, which are not used.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the graphs that were learnt from (not on those held out).
    input_ : NetworkInput or None
        How features are scaled.
    module_ : torch.nn.Module
        The trained network.
    history_ : History
        Curves of the training.

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinClassifier
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> graphs = GraphBatch.from_edges([path, triangle] * 10)
    >>> model = STwinClassifier(n_iter=1, random_state=0).fit(graphs, ["open", "closed"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['closed', 'open'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        **FEATURE_PARAMETERS,
        **COLUMN_PARAMETERS,
        "scaling": (one_of(*SCALINGS),),
        "hidden": (WIDTH,),
    }

    vectorizer_: STwinVectorizer
    input_: NetworkInput | None

    def __init__(
        self,
        n_iter: int | None = 3,
        features: str = "size",
        *,
        edge_labels: bool = False,
        initial: str = "label",
        min_df: int | float = 1,
        max_features: int | None = None,
        scaling: str = "twin",
        hidden: int = 64,
        dropout: float = 0.5,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        class_weight: object = None,
        random_state: RandomState = 0,
        verbose: bool | int | None = None,
        ignore_features: bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.features = features
        self.edge_labels = edge_labels
        self.initial = initial
        self.min_df = min_df
        self.max_features = max_features
        self.scaling = scaling
        self.hidden = hidden
        self.dropout = dropout
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.ignore_features = ignore_features

    def explain(self, X: GraphsLike, n_columns: int = 10) -> Explanation:
        """Tell each node's share of the decision about one graph, and the columns that matter most.

        The decision is the difference between the logits of the predicted class and of its strongest rival.
        A column's share is gradient × input. The network is piecewise linear, so the shares and what depends
        on no column (``intercept``) sum to the decision.

        Parameters
        ----------
        X
            One graph: a batch of one, or a list with one graph.
        n_columns
            How many columns to list.
        """
        self._check_fitted()
        return explain_decision(self, X, n_columns)

    def unseen_rate(self, X: GraphsLike) -> float:
        """Return the share of nodes, averaged over rounds, whose colour no training graph has."""
        self._check_fitted()
        return self.vectorizer_.unseen_rate(X)

    # ------------------------------------------------------------------ what the frame asks for

    def _fit_examples(self, batch: GraphBatch) -> SparseExamples:
        self.vectorizer_ = STwinVectorizer(
            self.n_iter,
            self.features,
            self.edge_labels,
            self.initial,
            self.min_df,
            self.max_features,
            ignore_features=True,
        )
        encoding = self.vectorizer_._learn(batch)  # noqa: SLF001  (the same layer)
        features, counts = self._views(batch, encoding)
        self.input_ = NetworkInput.fitted(features, counts) if self.scaling == "twin" else None
        return self._scaled(features, counts)

    def _examples(self, batch: GraphBatch) -> SparseExamples:
        encoding = stwin_features(batch, space=self.vectorizer_.space_)
        warn_strange_graphs(batch, encoding)
        return self._examples_of(batch, encoding)

    def _examples_of(self, batch: GraphBatch, encoding: Encoding) -> SparseExamples:
        return self._scaled(*self._views(batch, encoding))

    def _build_module(self, n_classes: int) -> SparsePerceptron:
        width = self.vectorizer_.n_features_out_ if self.input_ is None else self.input_.width
        return SparsePerceptron(width, self.hidden, n_classes, self.dropout)

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
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> STwinClassifier:
        self = cls._with_params(params)
        wanted = ("n_iter", "features", "edge_labels", "initial", "min_df", "max_features")
        self.vectorizer_ = STwinVectorizer._from_state(  # noqa: SLF001
            {name: params[name] for name in wanted},
            state["vectorizer"],  # type: ignore[arg-type]
        )
        self.input_ = None
        if self.scaling == "twin":
            sums = self.vectorizer_.space_.kind == "size"
            n_columns = self.vectorizer_.n_features_out_
            self.input_ = NetworkInput.from_state(state["input"], n_columns, sums=sums)  # type: ignore[arg-type]
        self._network_from_state(state)
        return self
