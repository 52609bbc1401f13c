"""Graph kernels with a support vector machine, whose C is chosen inside the training part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from twinwl.arguments import CLASS_WEIGHT, FLAG, RANDOM_STATE, ROUNDS, WIDTH, check_fits, integer, pointer
from twinwl.arrays import Float64, Int64
from twinwl.errors import TwinWLError, import_extra
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.graphs.labels import recode
from twinwl.models.base import GraphClassifier, RandomState, graphs_of, one_seed, with_parameters
from twinwl.models.calibration import INNER_FOLDS, Calibration, inner_folds
from twinwl.models.features import stwin_features
from twinwl.models.similarity import similarities_from_sums
from twinwl.models.svc import PENALTIES, STwinSVC, TaskSelection, kernel_svm, select_svms

_MATRICES = 3  # at once: similarities, their normalised form, a fold's part
_LABELS = 1 << 21  # more than the labels of any graphs whose kernel fits into memory; its cube fits 64 bits
USUAL_PENALTIES = (0.1, 1, 3, 10, 100, 1000)


def labelled_graphs(batch: GraphBatch, kernel: str) -> GraphBatch:
    """Return the graphs, but refuse continuous features: a kernel on labels cannot see them.

    Parameters
    ----------
    batch
        The graphs.
    kernel
        Name of the kernel, for the message.
    """
    if batch.node_features is not None and batch.has_node_features:
        raise TwinWLError(
            f"the nodes have {batch.node_features.shape[1]} continuous features, which the {kernel} cannot "
            "use: it compares labels. Turn them into labels with batch.discretise(), drop them with "
            "batch.without_features(), or use a neural method"
        )
    return batch


class KernelSVC(GraphClassifier):
    """Base of the kernels that are inner products of vectors.

    A subclass implements ``_learn(batch, seed)``, which keeps what vectors depend on, and
    ``_vectors(batch)``, which returns the vectors of graphs and their inner products with themselves.

    Parameters
    ----------
    C : float or sequence of float
        Penalties to choose from by cross-validation inside the training graphs.
    inner_folds : int
        Folds of that choice; fewer where a class has fewer graphs (or groups).
    class_weight : None, "balanced" or mapping from class to weight
    random_state : int, RandomState, Generator or None
        Seed of the inner folds, and of the kernel if it has a random step.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    C_ : float
        Penalty chosen.
    inner_score_ : float
        Its accuracy on held-out graphs of the inner folds; optimistic, because it is that of the best C.
    """

    _constraints = {
        "C": (PENALTIES,),
        "normalize": (FLAG,),
        "inner_folds": (INNER_FOLDS,),
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
    }

    C: float | Sequence[float]
    inner_folds: int

    _fitted_attribute = "heads_"
    _learns_tasks = False

    kernel_name = "graph kernel"

    normalize: bool = True

    def _learn(self, batch: GraphBatch, seed: int) -> None:
        raise NotImplementedError

    def _vectors(self, batch: GraphBatch) -> tuple[Any, Float64]:
        raise NotImplementedError

    def _fit_kernel(self, batch: GraphBatch, seed: int) -> Float64:
        """Return the similarities of the training graphs."""
        self._learn(batch, seed)
        self.vectors_, self.own_ = self._vectors(batch)
        return self._similarities(self.vectors_, self.own_)

    def _kernel(self, batch: GraphBatch) -> Float64:
        """Return the similarities of other graphs (rows) to the training graphs."""
        return self._similarities(*self._vectors(batch))

    def _similarities(self, vectors: Any, own: Float64) -> Float64:  # noqa: ANN401  (dense or sparse)
        products = vectors @ self.vectors_.T
        sums = products.toarray() if sparse.issparse(products) else products
        return similarities_from_sums(sums, own, self.own_, "linear", normalize=self.normalize)

    def fit(self, X: GraphsLike, y: object, groups: object = None, sample_weight: object = None) -> KernelSVC:
        """Choose C, then learn from all graphs.

        Parameters
        ----------
        X
            The graphs, without continuous features.
        y
            Their classes, of any type that can be sorted.
        groups
            Graphs of one group stay on one side of every inner fold.
        sample_weight
            Weight of each graph.
        """
        batch = labelled_graphs(self._graphs_to_fit(X), self.kernel_name)
        table = self._read_targets(y, len(batch), sample_weight, groups)
        targets = table.column(0)
        n_graphs = len(targets.rows)
        check_fits(
            8 * _MATRICES * n_graphs**2,
            None,
            f"the {self.kernel_name} of {n_graphs:,} training graphs, {_MATRICES} matrices of all pairs,",
            "use fewer graphs, or STwinSVC with kernel_approximation='nystroem'",
        )
        seed = one_seed(self.random_state)
        folds = inner_folds(targets, self.inner_folds, seed)
        kernels = [(0, self._fit_kernel(table.graphs_that_count(batch), seed))]
        numbered = replace(targets, rows=np.arange(n_graphs))
        (chosen,) = select_svms(kernels, [TaskSelection(numbered, kernel_svm(targets), folds)], self.C)
        self.C_, self.inner_score_, self.support_vectors_ = chosen.C, chosen.score, chosen.vectors
        calibration = Calibration.fit_to(chosen.held_out, targets.codes, targets.weights)
        self.heads_ = [replace(targets.head, calibration=calibration)]
        return self

    def _decisions(self, X: GraphsLike) -> list[Float64]:
        similarities = self._kernel(labelled_graphs(self._new_graphs(X, "predict"), self.kernel_name))
        return [self.support_vectors_.decisions(similarities[:, self.support_vectors_.rows])]


class WLSubtreeSVC(STwinSVC):
    r"""Classify graphs with the WL subtree kernel (Shervashidze et al., 2011).

    A graph is described by its number of nodes of each colour in rounds 0 to h; the kernel is the inner
    product :math:`\sum_{i=0}^{h} \langle \phi_i(G), \phi_i(G') \rangle`, divided by the geometric mean of the
    self-similarities. The number of rounds and C are chosen inside the training graphs.

    Parameters
    ----------
    n_iter : int or sequence of int, default=(2, 3, 4, 5)
        Numbers of rounds to choose from.
    C : float or sequence of float, default=(0.1, 1, 3, 10, 100, 1000)
    normalize : bool, default=True
    inner_folds : int, default=5
    class_weight : None, "balanced" or mapping from class to weight, default=None
    random_state : int, RandomState, Generator or None, default=0

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = WLSubtreeSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "WL subtree kernel"
    _base = "linear"

    def __init__(
        self,
        n_iter: int | Sequence[int] = (2, 3, 4, 5),
        C: float | Sequence[float] = USUAL_PENALTIES,
        normalize: bool = True,
        inner_folds: int = 5,
        class_weight: str | Mapping[object, float] | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(
            n_iter,
            C,
            features="count",
            base=self._base,
            normalize=normalize,
            inner_folds=inner_folds,
            class_weight=class_weight,
            random_state=random_state,
        )

    _learns_tasks = False

    def _graphs_to_fit(self, X: GraphsLike) -> GraphBatch:
        return super()._graphs_to_fit(labelled_graphs(graphs_of(X, "fit"), self.kernel_name))

    def _new_graphs(self, X: GraphsLike, what: str) -> GraphBatch:
        return labelled_graphs(super()._new_graphs(X, what), self.kernel_name)


class WLOptimalAssignmentSVC(WLSubtreeSVC):
    r"""Classify graphs with the WL optimal assignment kernel (Kriege, Giscard and Wilson, 2016).

    The kernel is the weight of the best one-to-one assignment of the nodes of two graphs, where two nodes
    have as weight the number of rounds in which they have the same colour. As colours form a hierarchy, that
    is the histogram intersection :math:`\sum_c \min(\phi_c(G), \phi_c(G'))` over the colours of all rounds.

    Parameters
    ----------
    n_iter, C, normalize, inner_folds, class_weight, random_state
        As for `WLSubtreeSVC`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> graphs = GraphBatch.from_edges(paths + cycles)
    >>> model = WLOptimalAssignmentSVC().fit(graphs, ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "WL optimal assignment kernel"
    _base = "intersection"


@with_parameters
class ShortestPathSVC(KernelSVC):
    r"""Classify graphs with the shortest-path kernel (Borgwardt and Kriegel, 2005).

    A graph is the counts of its (label, label, distance) triples over ordered pairs of connected nodes, and
    the kernel :math:`k(G, G') = \sum_{p \in SP(G)} \sum_{p' \in SP(G')} k_{path}(p, p')` with equality as
    :math:`k_{path}` is their inner product, divided here by the geometric mean of the self-similarities.
    The similarity of a graph without edges to any other is 0.

    Parameters
    ----------
    C : float or sequence of float, default=(0.1, 1, 3, 10, 100, 1000)
        Penalties to choose from by cross-validation inside the training graphs.
    normalize : bool, default=True
    inner_folds : int, default=5
    class_weight : None, "balanced" or mapping from class to weight, default=None
    random_state : int, RandomState, Generator or None, default=0
        Seed of the inner folds.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = ShortestPathSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)]]).tolist()
    ['path']
    """

    kernel_name = "shortest-path kernel"

    C: float | Sequence[float] = USUAL_PENALTIES
    normalize: bool = True
    inner_folds: int = 5
    class_weight: object = None
    random_state: RandomState = 0

    def _learn(self, batch: GraphBatch, seed: int) -> None:  # noqa: ARG002  (nothing is random)
        self.labels_ = batch.node_vocabulary
        self.columns_ = np.unique(self._triples(batch)[1])

    def _vectors(self, batch: GraphBatch) -> tuple[sparse.csr_matrix, Float64]:
        graph, key, count = self._triples(batch)
        place = np.searchsorted(self.columns_, key)
        seen = np.append(self.columns_, -1)[place] == key
        entries = count[seen].astype(np.float64), (graph[seen], place[seen])
        vectors = sparse.csr_matrix(entries, shape=(len(batch), len(self.columns_)))
        # Triples that no training graph has count here alone.
        return vectors, np.bincount(graph, count**2, len(batch)).astype(np.float64)

    def _triples(self, batch: GraphBatch) -> Int64:
        """Count the triples of each graph: rows are the graph, the triple as one number, and the count."""
        codes = recode(batch.node_labels, batch.node_vocabulary, self.labels_).astype(np.int64)
        codes = np.where(codes < 0, len(self.labels_) + batch.node_labels, codes)
        arcs = (np.ones(len(batch.indices)), batch.indices, batch.indptr)
        adjacency = sparse.csr_matrix(arcs, shape=(batch.n_nodes, batch.n_nodes))
        triples = [np.empty((3, 0), np.int64)]
        for graph in np.flatnonzero(batch.nodes_per_graph).tolist():
            low, high = batch.graph_ptr[graph : graph + 2].tolist()
            distances = shortest_path(adjacency[low:high, low:high], unweighted=True)
            u, v = np.nonzero((distances > 0) & np.isfinite(distances))
            ends = codes[low + u] * _LABELS + codes[low + v]
            keys, counts = np.unique(distances[u, v].astype(np.int64) * _LABELS**2 + ends, return_counts=True)
            triples.append(np.stack([np.full(len(keys), graph), keys, counts]))
        return np.concatenate(triples, axis=1)


@with_parameters
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

    _constraints = {
        "n_iter": (ROUNDS,),
        "vector_size": (WIDTH,),
        "window": (integer(1, 10_000),),
        "epochs": (integer(1, 1_000_000),),
    }

    kernel_name = "deep graph kernel"

    n_iter: int = 2
    vector_size: int = 32
    window: int = 10
    epochs: int = 20
    C: float | Sequence[float] = USUAL_PENALTIES
    inner_folds: int = 5
    class_weight: object = None
    random_state: RandomState = 0

    def _vectors(self, batch: GraphBatch) -> tuple[Float64, Float64]:
        # φ M φᵀ = (φ E)(φ E)ᵀ, so a graph is a short vector.
        vectors = stwin_features(batch, space=self.space_).matrix @ self.embedding_
        return vectors, np.square(vectors).sum(axis=1)

    def _learn(self, batch: GraphBatch, seed: int) -> None:
        """Embed colours: one row each, shape (n_columns, vector_size)."""
        encoding = stwin_features(batch, self.n_iter, "count")
        self.space_ = encoding.space
        word2vec = import_extra("gensim.models", "baselines").Word2Vec
        first_column = pointer(encoding.space.columns_per_round)[:-1]
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
        self.embedding_ = model.wv[columns].astype(np.float64)
