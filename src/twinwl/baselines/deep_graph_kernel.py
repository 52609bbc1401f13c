"""The deep graph kernel: WL colours as words, whose embeddings tell which of them are similar."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from twinwl.arguments import ROUNDS, WIDTH, integer
from twinwl.baselines.kernel_svc import USUAL_PENALTIES, KernelSVC
from twinwl.errors import import_extra
from twinwl.estimators.base import keeps_parameters
from twinwl.stwin.features import stwin_features
from twinwl.stwin.similarity import similarities_from_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Float64
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.features import Encoding

__all__ = ["DeepGraphKernelSVC"]


class DeepGraphKernelSVC(KernelSVC):
    r"""Classify graphs with the deep WL kernel (Yanardag and Vishwanathan, 2015).

    The colours of a graph's nodes in one round of 1-WL form a sentence; a skip-gram model embeds the colours
    of all rounds. The kernel is :math:`k(G, G') = \phi(G)^T M \phi(G')`, where
    :math:`\phi` counts colours and :math:`M_{ij}` is the inner product of the embeddings of colours i and j;
    it is divided here by the geometric mean of the self-similarities. Colours that occur in no training graph
    have no embedding and are ignored.

    Parameters
    ----------
    n_iter : int, default=2
        Rounds of 1-WL.
    vector_size : int, default=32
        Length of an embedding.
    window : int, default=10
        Largest distance in a sentence between two colours that count as co-occurring.
    epochs : int, default=20
        Number of passes of the skip-gram model over all sentences.
    C : float or sequence of float, default=(0.1, 1, 3, 10, 100, 1000)
    inner_folds : int, default=5
    class_weight : None, "balanced" or mapping from class to weight, default=None
    random_state : int, RandomState, Generator or None, default=0
        Seed of the embeddings and of the inner folds.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = DeepGraphKernelSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.classes_.tolist(), model.predict_proba([[(0, 1), (1, 2), (2, 3), (3, 4)]]).shape
    (['cycle', 'path'], (1, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "n_iter": (ROUNDS,),
        "vector_size": (WIDTH,),
        "window": (integer(1, 10_000),),
        "epochs": (integer(1, 1_000_000),),
    }

    kernel_name = "deep graph kernel"

    n_iter: int
    vector_size: int
    window: int
    epochs: int

    @keeps_parameters
    def __init__(
        self,
        n_iter: int = 2,
        vector_size: int = 32,
        window: int = 10,
        epochs: int = 20,
        C: float | Sequence[float] = USUAL_PENALTIES,
        inner_folds: int = 5,
        class_weight: object = None,
        random_state: RandomState = 0,
    ) -> None: ...

    def _fit_kernel(self, batch: GraphBatch, seed: int) -> Float64:
        encoding = stwin_features(batch, self.n_iter, "count")
        self.space_ = encoding.space
        self.embedding_ = self._embedding(encoding, batch, seed)
        # φ M φᵀ = (φ E)(φ E)ᵀ, so a graph is a short vector.
        self.vectors_ = encoding.matrix @ self.embedding_
        return _cosines(self.vectors_, self.vectors_)

    def _kernel(self, batch: GraphBatch) -> Float64:
        known = stwin_features(batch, space=self.space_).matrix
        return _cosines(known @ self.embedding_, self.vectors_)

    def _embedding(self, encoding: Encoding, batch: GraphBatch, seed: int) -> Float64:
        """Return one row per colour, shape (n_columns, vector_size)."""
        word2vec = import_extra("gensim.models", "baselines").Word2Vec
        first_column = np.concatenate([[0], np.cumsum(encoding.space.columns_per_round)])[:-1]
        words = (encoding.column_of_node + first_column[:, None]).astype(str)
        bounds = batch.graph_ptr[1:-1]
        sentences = [part.tolist() for of_round in words for part in np.split(of_round, bounds)]
        # With several workers the result would depend on their timing; rare words are kept.
        model = word2vec(
            sentences,
            vector_size=self.vector_size,
            window=self.window,
            epochs=self.epochs,
            sg=1,
            min_count=1,
            workers=1,
            seed=seed,
        )
        columns = [str(column) for column in range(encoding.space.n_columns)]
        vectors: Float64 = model.wv[columns].astype(np.float64)
        return vectors


def _cosines(left: Float64, right: Float64) -> Float64:
    """Return inner products divided by the lengths; a zero vector is similar to nothing."""
    own_left, own_right = np.square(left).sum(axis=1), np.square(right).sum(axis=1)
    return similarities_from_sums(left @ right.T, own_left, own_right, "linear", normalize=True)
