"""TwinKernel: similarities of graphs through their STwin features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from twinwl.arguments import FLAG, MAX_ITEMS, checked, integer, one_of
from twinwl.arrays import Float64
from twinwl.files.model_files import savable
from twinwl.graphs.coercion import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.base import Constraints, GraphEstimator, keeps_parameters
from twinwl.models.features import FEATURE_PARAMETERS, FeatureSpace, encode_in_full, stwin_features
from twinwl.models.similarity import BASES, Similarity, own_sums
from twinwl.models.state import matrix_from_state, matrix_to_state, space_from_state, space_to_state

if TYPE_CHECKING:
    from scipy import sparse


@savable
class TwinKernel(TransformerMixin, GraphEstimator):
    """Kernel matrices between graphs, from their STwin features.

    Parameters
    ----------
    n_iter : int or None, default=3
        Number of rounds of twin passing; None continues until the training graphs' colours are stable.
    features : {"count", "size", "joint"}, default="size"
        As for `STwinVectorizer`. ``"count"`` gives the Weisfeiler-Lehman kernels.
    base : {"linear", "minmax", "intersection"}, default="linear"
        ``"linear"``: the inner product. ``"intersection"``: the sum of minima, the optimal assignment.
        ``"minmax"``: the sum of minima over the sum of maxima, Tanimoto on counts.
    normalize : bool, default=True
        Divide by the geometric mean of both graphs' similarity with themselves, so that the diagonal is 1.
        ``"minmax"`` has that property anyway. The similarity of a graph without nodes is 0, also with itself.
    edge_labels : bool or None, default=None
        As for `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        As for `STwinVectorizer`.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        As for `STwinVectorizer`.

    Attributes
    ----------
    space_ : FeatureSpace
    matrix_ : csr_matrix, shape (n_training_graphs, n_columns)
        Features of the training graphs.

    Notes
    -----
    A new graph may have colours that occur in no training graph. They add nothing to its similarity with a
    training graph but count in its similarity with itself, as if all graphs had been encoded together.

    Examples
    --------
    >>> from twinwl import GraphBatch, TwinKernel
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> kernel = TwinKernel(n_iter=1, features="count", normalize=False)
    >>> kernel.fit_transform(GraphBatch.from_edges([path, triangle]))
    array([[14., 12.],
           [12., 18.]])
    """

    _constraints: ClassVar[Constraints] = {
        **FEATURE_PARAMETERS,
        "base": (one_of(*BASES),),
        "normalize": (FLAG,),
    }

    _fitted_attribute = "similarity_"

    space_: FeatureSpace
    matrix_: sparse.csr_matrix
    similarity_: Similarity

    @keeps_parameters
    def __init__(
        self,
        n_iter: int | None = 3,
        features: str = "size",
        base: str = "linear",
        normalize: bool = True,
        edge_labels: bool | None = None,
        initial: str = "label",
        ignore_features: bool = False,
        *,
        readout: ReadoutChoice = "size",
    ) -> None: ...

    def fit(self, X: GraphsLike, y: object = None) -> TwinKernel:  # noqa: ARG002
        """Encode the training graphs; ``y`` is ignored."""
        batch = self._graphs_to_fit(X)
        encoding = stwin_features(
            batch,
            self.n_iter,
            self.features,
            edge_labels=bool(self.edge_labels),
            initial=self.initial,
            readout=self.readout,
        )
        self.space_, self.matrix_ = encoding.space, encoding.matrix
        self.similarity_ = Similarity(self.matrix_, self.base, normalize=self.normalize)
        return self

    def fit_transform(self, X: GraphsLike, y: object = None) -> Float64:
        """Return the kernel matrix of the training graphs, shape (n_graphs, n_graphs)."""
        self.fit(X, y)
        return self.similarity_.of(self.matrix_, self.similarity_.own)

    def transform(self, X: GraphsLike) -> Float64:
        """Return similarities with the training graphs, shape (n_graphs, n_training_graphs)."""
        matrix, own = self._encode(X)
        return self.similarity_.of(matrix, own)

    def blocks(self, X: GraphsLike | None = None, block_size: int = 1024) -> Iterator[tuple[slice, Float64]]:
        """Yield the rows of ``transform(X)`` a block at a time, so that it never exists as a whole.

        Parameters
        ----------
        X
            The graphs; None means the training graphs.
        block_size
            Most rows of a block.

        Yields
        ------
        rows : slice
            Which graphs.
        similarities : array of float64, shape (n_rows, n_training_graphs)
        """
        block_size = checked("block_size", block_size, integer(1, MAX_ITEMS))
        matrix, own = self._encode(X)
        yield from self.similarity_.blocks(matrix, own, block_size)

    def diagonal(self, X: GraphsLike | None = None) -> Float64:
        """Return each graph's similarity with itself, without building a matrix.

        Parameters
        ----------
        X
            The graphs; None means the training graphs.

        Returns
        -------
        array of float64, shape (n_graphs,)
            What the diagonal of ``fit_transform(X)`` would be: ones where normalised.
        """
        _, own = self._encode(X)
        if self.base == "minmax" or self.normalize:
            return (own > 0).astype(np.float64)
        return own.copy()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name each column after its training graph: ``graph0``, ``graph1``, …."""
        self._check_fitted()
        return np.array([f"graph{i}" for i in range(self.matrix_.shape[0])], dtype=object)

    def _encode(self, X: GraphsLike | None) -> tuple[sparse.csr_matrix, Float64]:
        """Return the features in the space of the training graphs, and sums over all features."""
        self._check_fitted()
        if X is None:
            return self.matrix_, self.similarity_.own
        known, full = encode_in_full(self._new_graphs(X, "transform"), self.space_)
        return known.matrix, own_sums(full, self.base)

    def _to_state(self) -> dict[str, object]:
        self._check_fitted()
        return {**space_to_state(self.space_), **matrix_to_state(self.matrix_)}

    @classmethod
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> TwinKernel:
        self = cls._with_params(params)
        self.space_ = space_from_state(state)
        self.matrix_ = matrix_from_state(state, self.space_.n_columns)
        self.similarity_ = Similarity(self.matrix_, self.base, normalize=self.normalize)
        return self
