"""STwinVectorizer: graphs in, sparse STwin features out, as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.base import TransformerMixin

from twinwl.arguments import checked, integer
from twinwl.estimators.base import GraphEstimator, graphs_of, warn_unseen_labels
from twinwl.files.model_files import savable
from twinwl.stwin.column_choice import COLUMN_PARAMETERS, choose_columns, keep_columns
from twinwl.stwin.features import FEATURE_PARAMETERS, FeatureSpace, stwin_features
from twinwl.stwin.state import columns_from_state, space_from_state, space_to_state

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.base import Constraints
    from twinwl.estimators.trees import RootedTree
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.isomorphism.readouts import ReadoutChoice
    from twinwl.stwin.features import Encoding

__all__ = ["STwinVectorizer", "warn_strange_graphs"]


@savable
class STwinVectorizer(TransformerMixin, GraphEstimator):
    """Turn graphs into sparse STwin features.

    Parameters
    ----------
    n_iter : int or None, default=3
        Number of rounds of twin passing; None continues until the training graphs' colours are stable.
    features : {"count", "size", "joint"}, default="size"
        ``"count"``: how many nodes have each colour (plain WL). ``"size"``: the sum of their rooted sizes,
        equation (3). ``"joint"``: how many nodes have each (colour, readout), equation (2). Only
        ``"joint"`` is never weaker than ``"count"``: sums of sizes can, rarely, cancel where counts differ.
    edge_labels : bool, default=False
        Let edge labels take part, where the graphs have them.
    initial : {"label", "degree"}, default="label"
        What round 0 looks at.
    min_df : int or float, default=1
        Drop columns that occur in fewer training graphs than this (a share of them, where a float).
    max_features : int or None, default=None
        Keep this many columns at most: those that occur in most training graphs, the earlier one of equals.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        For ``"joint"``: what is read out of each node's rooted subgraph, ``"size"``, ``"edges"``,
        ``"degrees"``, ``"wl"``, ``"rooted-wl"``, ``"marked-wl-1"`` to ``"marked-wl-9"``, ``"rooted-fwl2"`` or
        ``"canonical"``, as for `twinwl.compare`; or a function of a `RootedSubgraph` that returns a number, a
        string or a tuple of these. It sees the labels that colours are made of: edge labels only with
        ``edge_labels=True``, and node labels only with ``initial="label"``.

    Attributes
    ----------
    space_ : FeatureSpace
        Alphabet and columns before any were dropped.
    columns_ : array of int64, or None
        The columns of ``space_`` that are kept; None where all are.
    n_features_out_ : int

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinVectorizer
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> vectorizer = STwinVectorizer(n_iter=1)
    >>> vectorizer.fit_transform(GraphBatch.from_edges([path, triangle])).toarray()
    array([[3., 4., 3.],
           [3., 0., 9.]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['h0:c0', 'h1:c0', 'h1:c1']
    >>> print(vectorizer.explain_column(2))
    •
    └─ 2 × •
    >>> by_edges = STwinVectorizer(n_iter=1, features="joint", readout="edges")
    >>> by_edges.fit_transform(GraphBatch.from_edges([path, triangle])).toarray()
    array([[3., 2., 0., 1.],
           [3., 0., 3., 0.]])
    >>> print(by_edges.explain_column(2))
    •
    └─ 2 × •
    and edges=8d54d493d568d004, as in this rooted subgraph:
      0: • (root) – 1, 2
      1: • – 0, 2
      2: • – 0, 1
    """

    _constraints: ClassVar[Constraints] = {**FEATURE_PARAMETERS, **COLUMN_PARAMETERS}

    _fitted_attribute = "space_"

    space_: FeatureSpace
    columns_: Int64 | None
    n_features_out_: int

    def __init__(
        self,
        n_iter: int | None = 3,
        features: str = "size",
        edge_labels: bool = False,
        initial: str = "label",
        min_df: int | float = 1,
        max_features: int | None = None,
        ignore_features: bool = False,
        *,
        readout: ReadoutChoice = "size",
    ) -> None:
        self.n_iter = n_iter
        self.features = features
        self.edge_labels = edge_labels
        self.initial = initial
        self.min_df = min_df
        self.max_features = max_features
        self.ignore_features = ignore_features
        self.readout = readout

    def fit(self, X: GraphsLike, y: object = None) -> STwinVectorizer:  # noqa: ARG002
        """Learn alphabet and columns; ``y`` is ignored."""
        self._learn(X)
        return self

    def fit_transform(self, X: GraphsLike, y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Do ``fit(X).transform(X)`` without doing the work twice; the same to the bit."""
        return keep_columns(self._learn(X).matrix, self.columns_)

    def transform(self, X: GraphsLike) -> sparse.csr_matrix:
        """Encode graphs with the alphabet of the training graphs.

        Nodes with a colour that no training graph has are left out; `unseen_rate` tells how many.

        Returns
        -------
        csr_matrix of float64, shape (n_graphs, n_features_out_)
        """
        self._check_fitted()
        batch = graphs_of(X, "transform")
        encoding = stwin_features(batch, space=self.space_)
        warn_strange_graphs(batch, encoding)
        return keep_columns(encoding.matrix, self.columns_)

    def unseen_rate(self, X: GraphsLike) -> float:
        """Return the mean of `unseen_rates`: 1.0 where not even a label was seen in training."""
        return float(self.unseen_rates(X).mean())

    def unseen_rates(self, X: GraphsLike) -> Float64:
        """Return, by round, the share of nodes whose colour no training graph has; `transform` omits them.

        For ``"joint"`` it is colour and readout.

        Returns
        -------
        array of float64, shape (n_iter + 1,)
        """
        self._check_fitted()
        batch = graphs_of(X, "look at")
        return stwin_features(batch, space=self.space_).unseen_per_round / max(1, batch.n_nodes)

    @property
    def unseen_rate_(self) -> float:
        """Gone: ``transform`` keeps nothing."""
        raise AttributeError("transform keeps nothing of the last call; call unseen_rate(X)")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name each column by round and colour, ``h2:c17``; for ``"joint"`` by size too, ``h2:c17:s5``.

        With a readout, the value stands in the place of the size, by the beginning of its content key, which
        is the same on every machine: ``h2:c17:rooted-wl=09a5b3f3c6d0e8a1``.
        """
        self._check_fitted()
        names = np.array(self.space_.names(), dtype=object)
        return names if self.columns_ is None else names[self.columns_]

    def explain_column(self, column: int) -> RootedTree:
        """Return the rooted tree that a column counts: what its nodes see within their round's steps.

        With a readout, also a rooted subgraph that the column counted in training, ``.example``.
        """
        self._check_fitted()
        return self.space_.explained(self._column_of_space(column))[1]

    def _column_of_space(self, column: int) -> int:
        column = checked("column", column, integer(0, self.n_features_out_ - 1))
        return int(column if self.columns_ is None else self.columns_[column])

    def _learn(self, X: GraphsLike) -> Encoding:
        batch = self._graphs_to_fit(X)
        encoding = stwin_features(
            batch,
            self.n_iter,
            self.features,
            edge_labels=self.edge_labels,
            initial=self.initial,
            readout=self.readout,
        )
        self.columns_ = choose_columns(encoding.matrix, self.min_df, self.max_features)
        self.space_ = encoding.space
        self.n_features_out_ = encoding.space.n_columns if self.columns_ is None else len(self.columns_)
        return encoding

    def _to_state(self) -> dict[str, object]:
        self._check_fitted()
        kept = {} if self.columns_ is None else {"columns": self.columns_}
        return {**space_to_state(self.space_), **kept}

    @classmethod
    def _from_state(cls, params: dict[str, object], state: dict[str, object]) -> STwinVectorizer:
        self = cls._with_params(params)
        self.space_ = space_from_state(state)
        self.columns_ = columns_from_state(state, self.space_.n_columns)
        self.n_features_out_ = self.space_.n_columns if self.columns_ is None else len(self.columns_)
        return self


def warn_strange_graphs(batch: GraphBatch, encoding: Encoding) -> None:
    """Warn once where graphs carry only labels that training never saw."""
    unseen_before = np.concatenate([[0], np.cumsum(encoding.column_of_node[0] < 0)])
    unseen_per_graph = np.diff(unseen_before[batch.graph_ptr])
    warn_unseen_labels((unseen_per_graph == batch.nodes_per_graph) & (unseen_per_graph > 0))
