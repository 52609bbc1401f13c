"""STwin-GNN: STwin features, rescaled, and a perceptron with one hidden layer, for classes and for numbers.

Sums of rooted sizes are hard to learn from directly. A column's sum is, up to a few per cent, the number
of nodes times the colour's usual rooted size, so the little that goes beyond 1-WL drowns in the count. Each
sum is therefore split into the two: how many nodes have the colour, and by how much their rooted sizes
exceed what is usual for it,

    sum of sizes = usual size · count + excess.

A count becomes steps: one column for "at least 1 node", one for "at least 2", then 3, 4, 6, 8, 12, 16 and so
on, so that the network need not find out by itself that one more matters less the more there are (a dot
product of steps is the intersection kernel). Each graph's steps are brought to one length; the excess, mostly
zero, is only multiplied. Where the features are counts (``"count"`` and ``"joint"``) there are steps alone.

`fit_in_parts` trains on graphs that are never in memory together. They come in parts, which are read one at a
time, three times: columns are counted, the statistics of features are collected, features are scaled. Scaled
features are kept in files that are mapped into memory. An epoch shuffles the rows of as many parts at a time
as the memory allows, the parts chosen at random; where all features fit, it shuffles all rows, and the result
is that of ``fit`` to the bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from torch import Tensor, nn

from twinwl.arguments import WIDTH, one_of, pointer, ranges
from twinwl.arrays import Fields, Float64, Int64
from twinwl.errors import TwinWLError
from twinwl.files.model_files import restore, savable
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.base import RandomState, seeds, with_parameters
from twinwl.models.explanation import Explanation, explanation_of
from twinwl.models.features import Encoding, FeatureSpace, keep_columns, stwin_features
from twinwl.models.vectorizer import ColumnCounts, STwinVectorizer, freeze, warn_strange_graphs
from twinwl.neural import estimator
from twinwl.neural.estimator import NeuralGraphClassifier, NeuralGraphEstimator, NeuralGraphRegressor
from twinwl.neural.sparse import SparseExamples, SparseLinear, SparseRows
from twinwl.neural.training import LabelledSet, predict_logits
from twinwl.refinement.histograms import colour_histograms


class SparsePerceptron(nn.Module):
    """Input, one hidden layer of rectified units, classes.

    Parameters
    ----------
    n_columns, hidden, n_classes
        Width of the input, of the hidden layer and of the output.
    dropout
        Share of hidden units dropped in training.

    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from twinwl.neural.sparse import SparseExamples
    >>> rows = SparseExamples(csr_matrix([[0.0, 2.0], [1.0, 0.0]])).take(np.arange(2))
    >>> SparsePerceptron(2, 8, 3)(rows).shape
    torch.Size([2, 3])
    """

    def __init__(self, n_columns: int, hidden: int, n_classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.first = SparseLinear(n_columns, hidden)
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Linear(hidden, n_classes)

    def forward(self, rows: SparseRows) -> Tensor:
        """Return the logits, shape (len(rows), n_classes)."""
        logits: Tensor = self.second(self.dropout(torch.relu(self.first(rows))))
        return logits

    def gradient(self, rows: SparseRows, weights: Tensor) -> Tensor:
        """Return the gradient of ``logits @ weights`` at one row's entries, shape (n_entries,).

        Parameters
        ----------
        rows
            A single row.
        weights : shape (n_classes,)
            The linear combination of logits.
        """
        with torch.no_grad():
            active = (self.first(rows)[0] > 0).to(torch.float32)
            hidden = active * (weights @ self.second.weight)
            return self.first.weight[torch.as_tensor(rows.indices)] @ hidden


# Features of some graphs and, where those are sums of sizes, the counts, with the same entries; else None.
Views: TypeAlias = tuple[csr_matrix, csr_matrix | None]

# 1, 2, 3, 4, 6, 8, 12, 16, …: all that a graph with 2³¹ nodes can need.
STEPS: Int64 = np.unique(np.concatenate([2 ** np.arange(32), 3 * 2 ** np.arange(30)]))
STEPS_LENGTH = 5.0
EXCESS_SCALE = 0.3
# Sums of whole numbers minus a rounded multiple: what is smaller than this share of the sum is zero.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class NetworkInput:
    """The rescaling of features, fitted on the training graphs.

    Attributes
    ----------
    step_ptr : array of int64, shape (n_columns + 1,)
        Column c has the network's columns ``step_ptr[c]`` to ``step_ptr[c + 1]``: as many steps as the
        largest count among the training graphs reaches.
    usual_sizes : array of float64, shape (n_columns,), or None
        Mean rooted size of the nodes of each colour; None where the features are counts.
    excess_columns : array of int64, or None
        The columns whose sizes vary among the training graphs; each has one more column behind all steps.

    >>> counts = csr_matrix([[2.0, 1.0], [2.0, 0.0]])
    >>> sums = csr_matrix([[7.0, 2.0], [5.0, 0.0]])
    >>> scaling = NetworkInput.fit_to(2, [(sums, counts)])
    >>> scaling.usual_sizes, scaling.step_ptr, scaling.excess_columns
    (array([3., 2.]), array([0, 2, 3]), array([0]))
    >>> scaling.apply(sums, counts).toarray().round(2)
    array([[ 2.89,  2.89,  2.89,  0.3 ],
           [ 3.54,  3.54,  0.  , -0.3 ]])
    """

    step_ptr: Int64
    usual_sizes: Float64 | None = None
    excess_columns: Int64 | None = None

    @classmethod
    def fit_to(cls, n_columns: int, parts: Iterable[Views]) -> NetworkInput:
        """Learn steps and usual sizes from the training graphs, which may come in any number of parts.

        All that is collected is sums of whole numbers, or extremes, so parts and their order do not matter.
        """
        largest, nodes, total, highest = np.zeros((4, n_columns))
        lowest = np.full(n_columns, np.inf)
        for features, counts in parts:
            counted = features if counts is None else counts
            np.maximum.at(largest, counted.indices, counted.data)
            if counts is not None:
                nodes += np.bincount(counts.indices, counts.data, n_columns)
                total += np.bincount(features.indices, features.data, n_columns)
                mean = features.data / counts.data
                np.minimum.at(lowest, features.indices, mean)
                np.maximum.at(highest, features.indices, mean)
        step_ptr = pointer(_steps_reached(largest))
        if counts is None:
            return cls(step_ptr)
        usual = total / np.maximum(nodes, 1)
        # In a graph whose mean size is furthest from the usual one, the excess is the largest.
        varying = np.zeros(n_columns, np.bool_)
        for extreme in (lowest, highest):
            seen = np.isfinite(extreme)
            varying[seen] |= np.abs(extreme[seen] - usual[seen]) > _NOTHING * extreme[seen]
        return cls(step_ptr, usual, np.flatnonzero(varying))

    @property
    def n_steps(self) -> int:
        """Number of the network's columns that are steps; excesses stand behind them."""
        return int(self.step_ptr[-1])

    @property
    def width(self) -> int:
        """Number of input columns of the network."""
        return self.n_steps + (0 if self.excess_columns is None else len(self.excess_columns))

    def apply(self, features: csr_matrix, counts: csr_matrix | None) -> csr_matrix:
        """Return the input of the network, shape (n_graphs, width)."""
        steps = self._steps(features if counts is None else counts)
        if counts is None or self.usual_sizes is None or self.excess_columns is None:
            return steps
        # Each entry's sum of sizes minus what is usual; both matrices have the same entries.
        sums = features.data - self.usual_sizes[features.indices] * counts.data
        sums[np.abs(sums) < _NOTHING * features.data] = 0.0
        excess = csr_matrix(
            (EXCESS_SCALE * sums, features.indices, features.indptr),
            shape=features.shape,
        )[:, self.excess_columns]
        excess.eliminate_zeros()
        return hstack([steps, excess], format="csr")

    def _steps(self, counts: csr_matrix) -> csr_matrix:
        """Return the steps that each count reaches, every graph's brought to one length."""
        column = counts.indices
        reached = np.minimum(_steps_reached(counts.data), np.diff(self.step_ptr)[column])
        indptr = pointer(reached)[counts.indptr]
        per_graph = np.diff(indptr)
        values = np.repeat(STEPS_LENGTH / np.sqrt(np.maximum(per_graph, 1)), per_graph)
        indices = ranges(self.step_ptr[column], reached)
        return csr_matrix((values, indices, indptr), shape=(counts.shape[0], self.n_steps))

    def fits(self, n_columns: int, *, sums: bool) -> bool:
        """Return whether a scaling of a model file fits this many columns of sums, or of counts."""
        steps, usual, columns = np.diff(self.step_ptr), self.usual_sizes, self.excess_columns
        if len(steps) != n_columns or self.step_ptr[0] or not ((steps >= 0) & (steps <= len(STEPS))).all():
            return False
        if usual is None or columns is None:
            return not sums
        rises = np.diff(columns, prepend=-1, append=n_columns) > 0
        return sums and usual.shape == (n_columns,) and bool(rises.all())


def _steps_reached(counts: Float64) -> Int64:
    return np.searchsorted(STEPS, counts, side="right")


_OF_VECTORIZER = ("n_iter", "features", "edge_labels", "initial", "min_df", "max_features", "readout")


@with_parameters
class STwinNetworkEstimator(NeuralGraphEstimator):
    """STwin features as the input of a perceptron with one hidden layer; its parameters, use and state.

    Attributes
    ----------
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the training graphs without those held out.
    input_ : NetworkInput or None
        How features are scaled.
    """

    _constraints = {
        **STwinVectorizer._constraints,
        "scaling": (one_of("twin", "none"),),
        "hidden": (WIDTH,),
    }

    _learns_tasks = True
    _shared = ("vectorizer_", "input_")

    n_iter: int | None = 3
    features: str = "size"
    _: KW_ONLY
    edge_labels: bool | None = None
    initial: str = "label"
    min_df: int | float = 1
    max_features: int | None = None
    scaling: str = "twin"
    hidden: int = 64
    random_state: RandomState = 0
    ignore_features: bool = False
    readout: ReadoutChoice = "size"
    average_epochs: int = 5

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
        model = self._one_task(task)
        graph, space, scaling = model._graph_to_explain(X), model.vectorizer_.space_, model.input_
        encoding = stwin_features(graph, space=space)
        features, counts = model._views(graph, encoding)
        examples = model._scale(features, counts)
        row, outputs = examples.rows, predict_logits(model.module_, examples)[0]
        decision = model._decision_about(outputs)
        # The gradient of each column of the network's input, and what the column adds to the decision.
        gradient, added = np.zeros((2, examples.n_columns))
        gradient[row.indices] = model.module_.gradient(row, torch.from_numpy(decision.weights)).numpy()
        added[row.indices] = gradient[row.indices] * row.values
        value = float(outputs.astype(np.float64) @ decision.weights.astype(np.float64)) + decision.intercept
        # The same of each feature: by its count and, of sums of sizes, by the sum.
        by_count, by_sum = np.zeros((2, features.shape[1]))
        if scaling is None:
            by_count += added
        else:
            by_count += np.diff(np.concatenate([[0.0], np.cumsum(added)])[scaling.step_ptr])
        if scaling is not None and scaling.usual_sizes is not None and counts is not None:
            # An excess is a sum minus a multiple of a count, and so is what it adds.
            by_sum[scaling.excess_columns] = EXCESS_SCALE * gradient[scaling.n_steps :]
            by_count -= by_sum * scaling.usual_sizes * counts.toarray()[0]
            by_sum *= features.toarray()[0]
        columns = slice(None) if model.vectorizer_.columns_ is None else model.vectorizer_.columns_
        of_counts, of_sums = parts = np.zeros((2, space.n_columns))
        parts[:, columns] = by_count, by_sum
        decision = decision._replace(intercept=value - float(added.sum()))
        explanation = explanation_of(
            graph, encoding, of_counts + of_sums, decision, "gradient × input", n_columns
        )
        if scaling is None or counts is None:
            return explanation
        # A count is split evenly among the nodes of a colour, a sum by their rooted sizes.
        counted = encoding._replace(space=FeatureSpace("count", space.alphabet))
        shares = counted.node_shares(graph, of_counts) + encoding.node_shares(graph, of_sums)
        return replace(explanation, node_shares=shares)

    def unseen_rate(self, X: GraphsLike) -> float:
        """Return the share of nodes, averaged over rounds, whose colour no training graph has."""
        self._check_fitted()
        return self.vectorizer_.unseen_rate(X)

    # ------------------------------------------------------------------ what the base class needs

    def _fit_examples(self, batch: GraphBatch) -> SparseExamples:
        self.vectorizer_ = self._new_vectorizer()
        views = self._views(batch, self.vectorizer_._learn(batch).colours[0])
        self._fit_input([views])
        return self._scale(*views)

    def _fit_input(self, parts: Iterable[Views]) -> None:
        n_columns = self.vectorizer_.n_features_out_
        self.input_ = NetworkInput.fit_to(n_columns, parts) if self.scaling == "twin" else None

    def _new_vectorizer(self) -> STwinVectorizer:
        parameters = self.get_params(deep=False)
        return STwinVectorizer(**{name: parameters[name] for name in _OF_VECTORIZER}, ignore_features=True)

    def _examples(self, batch: GraphBatch) -> SparseExamples:
        encoding = stwin_features(batch, space=self.vectorizer_.space_)
        warn_strange_graphs(batch, [encoding])
        return self._scale(*self._views(batch, encoding))

    def _build_module(self, n_outputs: int) -> SparsePerceptron:
        width = self.vectorizer_.n_features_out_ if self.input_ is None else self.input_.width
        return SparsePerceptron(width, self.hidden, n_outputs, self.dropout)

    def _views(self, batch: GraphBatch, encoding: Encoding) -> Views:
        columns = self.vectorizer_.columns_
        features = keep_columns(encoding.matrix, columns)
        if encoding.space.kind != "size":
            return features, None
        data, indices, indptr = colour_histograms(
            batch, encoding.column_of_node, encoding.space.columns_per_round, weigh_by_size=False
        )
        counts = csr_matrix((data, indices, indptr), shape=encoding.matrix.shape)
        return features, keep_columns(counts, columns)

    def _scale(self, features: csr_matrix, counts: csr_matrix | None) -> SparseExamples:
        return SparseExamples(features if self.input_ is None else self.input_.apply(features, counts))

    # ------------------------------------------------------------------ model files

    def _to_state(self) -> Fields:
        vectorizer = self.vectorizer_._to_state()
        return {**self._network_to_state(), "vectorizer": vectorizer, "input": self.input_ or {}}

    @classmethod
    def _from_state(cls, params: Fields, state: Fields) -> Self:
        self = cls._with_params(params)
        wanted = {name: params[name] for name in _OF_VECTORIZER if name in params}
        self.vectorizer_ = STwinVectorizer._from_state(wanted, state["vectorizer"])
        self.input_ = restore(NetworkInput, state["input"]) if self.scaling == "twin" else None
        sums, n_columns = self.vectorizer_.space_.kind == "size", self.vectorizer_.n_features_out_
        if self.input_ is not None and not self.input_.fits(n_columns, sums=sums):
            raise TwinWLError("the scaling in the model does not fit its features; the file is damaged")
        self._network_from_state(state)
        return self


@savable
@with_parameters
class STwinClassifier(NeuralGraphClassifier, STwinNetworkEstimator):
    """Classify graphs with STwin-GNN: STwin features, then a perceptron with one hidden layer.

    Parameters
    ----------
    n_iter, features, edge_labels, initial, min_df, max_features
        See `STwinVectorizer`.
    scaling : {"twin", "none"}, default="twin"
        What the network is fed. ``"twin"``: counts as steps, at least 1, 2, 3, 4, 6, 8, …, each graph's
        brought to one length; and for ``features="size"``, whose sums of equation (3) are taken apart for
        it, also by how much rooted sizes exceed what is usual for their colour (see
        `twinwl.neural.stwin`). ``"none"``: the features as they are.
    hidden : int, default=64
        Number of hidden units.
    dropout : float, default=0.5
        Share of hidden units dropped in training.
    max_epochs, batch_size, learning_rate, weight_decay, patience
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    validation_fraction : float or None, default=0.1
        Share of the training graphs held out to choose the epoch; None trains on all of them, for
        ``max_epochs``.
    class_weight : None, "balanced" or dict
        Weight of each class in the loss.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    verbose : bool, int or None
        Show a progress bar with the accuracy; None shows it if standard error is a terminal.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        See `STwinVectorizer`.
    device
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        See `twinwl.neural.estimator.NeuralGraphClassifier`.
    refit
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    average_epochs : int, default=5
        The network has the mean of the weights of this many epochs, up to the one that is kept.
    warm_start, callbacks
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the training graphs without those held out.
    input_ : NetworkInput or None
        How features are scaled.
    module_ : nn.Module
        The trained network.
    history_ : History
        Curves of the training.

    See Also
    --------
    STwinSVC : A support vector machine on the same features.
    NTwinClassifier : A network on rooted subgraphs.

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinClassifier
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> graphs = GraphBatch.from_edges([path, triangle] * 10)
    >>> model = STwinClassifier(n_iter=1, random_state=0).fit(graphs, ["open", "closed"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['closed', 'open'], (2, 2))
    """


@savable
@with_parameters
class STwinRegressor(NeuralGraphRegressor, STwinNetworkEstimator):
    """Predict a number for each graph: STwin features, then a perceptron with one hidden layer.

    Parameters
    ----------
    n_iter, features, edge_labels, initial, min_df, max_features
        See `STwinVectorizer`.
    scaling : {"twin", "none"}, default="twin"
        What the network is fed. ``"twin"``: counts as steps, at least 1, 2, 3, 4, 6, 8, …, each graph's
        brought to one length; and for ``features="size"``, whose sums of equation (3) are taken apart for
        it, also by how much rooted sizes exceed what is usual for their colour (see
        `twinwl.neural.stwin`). ``"none"``: the features as they are.
    hidden : int, default=64
        Number of hidden units.
    dropout : float, default=0.5
        Share of hidden units dropped in training.
    max_epochs, batch_size, learning_rate, weight_decay, patience
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    validation_fraction : float or None, default=0.1
        Share of the training graphs held out to choose the epoch; None trains on all of them, for
        ``max_epochs``.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    verbose : bool, int or None
        Show a progress bar with the losses; None shows it if standard error is a terminal.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        See `STwinVectorizer`.
    device
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        See `twinwl.neural.estimator.NeuralGraphRegressor`.
    refit
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    average_epochs : int, default=5
        The network has the mean of the weights of this many epochs, up to the one that is kept.
    warm_start, callbacks
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the training graphs without those held out.
    input_ : NetworkInput or None
        How features are scaled.
    module_ : nn.Module
        The trained network.
    history_ : History
        Curves of the training.

    See Also
    --------
    STwinSVR : A support vector machine on the same features.
    NTwinRegressor : A network on rooted subgraphs.

    Examples
    --------
    >>> from twinwl import STwinRegressor
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = STwinRegressor(n_iter=1, random_state=0, verbose=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).shape
    (2,)
    """


# ---------------------------------------------------------------------- graphs in parts

MEMORY = 1 << 28
"""Bytes of features in memory at a time, by default."""
GraphParts: TypeAlias = Any
_BYTES_OF_ENTRY = 12  # an index and a value
_COUNTS_AT_ONCE = 1 << 22


# What ``fit`` of the estimator consists of, is called here in the same order.
# ruff: noqa: SLF001


def fit_in_parts(
    model: STwinNetworkEstimator,
    parts: GraphParts,
    y: object,
    groups: object = None,
    *,
    scaffolds: Callable[[], Int64] | None = None,
    memory: int = MEMORY,
    folder: Path | None = None,
) -> None:
    """Fit an `STwinClassifier` or `STwinRegressor`; the targets and 40 bytes per column are in memory.

    Parameters
    ----------
    model
        The estimator to fit.
    parts
        The graphs: ``parts.sizes`` are their numbers in each part; ``parts.read(part, rows)`` returns some of
        a part, by their rising numbers within it, as often as it is called.
    y
        Targets of all graphs, as for ``fit``.
    groups
        As for ``fit``, but molecules may have both: groups are held out where there are too few scaffolds.
    scaffolds
        Returns the scaffold of each molecule, as `twinwl.models.calibration.scaffolds_of` does.
    memory
        Bytes of features to keep in memory.
    folder
        Where to write temporary files; None takes the usual folder for these.
    """
    model._check_parameters()
    if model.n_iter is None:
        raise TwinWLError("n_iter: got None, expected a number: no part shows when all are stable")
    if model.refit or model.warm_start:
        name = "refit" if model.refit else "warm_start"
        raise TwinWLError(f"{name}: got True, expected False where graphs are not all in memory")
    targets = model._read_targets(y, sum(parts.sizes), None, groups)
    model._begin(targets)
    split_seed, *other_seeds = seeds(model.random_state, 3)
    kept, held = estimator.split_rows(model.validation_fraction, None, targets, split_seed, scaffolds)
    learnt = targets.rows[kept]
    model.vectorizer_ = _count_columns(parts, learnt, model._new_vectorizer())

    with tempfile.TemporaryDirectory(prefix="twinwl-fit-", dir=folder) as scratch:
        model._fit_input(_views(model, parts, learnt))

        def stored(name: str, rows: Int64) -> LabelledSet:
            views = _views(model, parts, targets.rows[rows])
            examples = StoredExamples(Path(scratch, name), memory, (model._scale(*view) for view in views))
            return model._label(examples, targets, rows)

        validation = None if held is None else stored("held", held)
        model._train(stored("learnt", kept), validation, None, other_seeds)
    model.held_out_ = None if held is None else targets.rows[held]


def _read(parts: GraphParts, rows: Int64) -> Iterator[tuple[Int64, GraphBatch]]:
    """Yield some of all graphs, one part at a time, with their numbers among all graphs."""
    ends = np.cumsum(parts.sizes)
    for part, here in enumerate(np.split(rows, np.searchsorted(rows, ends[:-1]))):
        if len(here):
            yield here, parts.read(part, here - (ends[part] - parts.sizes[part]))


def _views(model: STwinNetworkEstimator, parts: GraphParts, rows: Int64) -> Iterator[Views]:
    """Yield features and counts of some graphs, part by part."""
    for _, batch in _read(parts, rows):
        yield model._views(batch, stwin_features(batch, space=model.vectorizer_.space_))


def _count_columns(parts: GraphParts, graphs: Int64, vectorizer: STwinVectorizer) -> STwinVectorizer:
    """Fit a vectorizer by counting the columns of each part."""
    merged: list[ColumnCounts] = []
    for rows, batch in _read(parts, graphs):
        merged.append(ColumnCounts.of(batch, vectorizer.settings, rows))
        if sum(len(counts.h) for counts in merged[1:]) > max(_COUNTS_AT_ONCE, len(merged[0].h)):
            merged = [ColumnCounts.merge(merged)]
    choice, counts = vectorizer.column_choice, ColumnCounts.merge(merged)
    choice.columns(counts.n_graphs, len(graphs))  # refuses a choice of none
    counts = counts.frequent(choice, len(graphs))
    examples = concatenate([batch for _, batch in _read(parts, np.unique(counts.first))])
    return freeze(vectorizer, counts, examples)


class StoredExamples(SparseExamples):
    """Examples of a network in files that are mapped into memory.

    Parameters
    ----------
    folder
        Where to write them; it is created.
    memory
        Bytes that a random order reads at a time, though always one part.
    parts
        The examples, read once.
    """

    def __init__(self, folder: Path, memory: int, parts: Iterable[SparseExamples]) -> None:
        folder.mkdir()
        self._memory = memory
        lengths, first = [np.empty(0, np.int64)], [0]
        with (folder / "indices").open("wb") as indices, (folder / "values").open("wb") as values:
            for part in parts:
                lengths.append(np.diff(part.rows.indptr))
                first.append(first[-1] + len(part))
                indices.write(part.rows.indices.tobytes())
                values.write(part.rows.values.tobytes())
        indptr, self._first = pointer(np.concatenate(lengths)), np.array(first)
        self._bytes = np.diff(indptr[self._first]) * _BYTES_OF_ENTRY
        self.rows = SparseRows(
            indptr, _map_file(folder / "indices", np.int64), _map_file(folder / "values", np.float32)
        )

    def shuffled(self, random: np.random.Generator) -> Int64:
        """Return all rows in a random order that reads each part once."""
        if self._bytes.sum() <= self._memory:
            return random.permutation(len(self))
        windows: list[list[Int64]] = []
        room = 0
        for part in random.permutation(len(self._bytes)).tolist():
            room -= self._bytes[part]
            if room < 0:
                windows.append([])
                room = self._memory - self._bytes[part]
            windows[-1].append(np.arange(self._first[part], self._first[part + 1]))
        return np.concatenate([random.permutation(np.concatenate(window)) for window in windows])


def _map_file(path: Path, kind: type[np.number]) -> Any:  # noqa: ANN401
    """Map an array of a file into memory; an empty file cannot be mapped."""
    return np.asarray(np.memmap(path, kind, "r")) if path.stat().st_size else np.empty(0, kind)
