"""Prediction from sampled roots: pooled sums are means over several draws; a spread shows their error.

The base class of the estimators with an NTwin-GNN.

NTwinClassifier: the NTwin-GNN as a scikit-learn classifier of graphs.

NTwinRegressor: the NTwin-GNN as a scikit-learn regressor of graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray

from twinwl.arguments import (
    DEPTH,
    FLAG,
    MAX_ITEMS,
    MEMORY,
    RANDOM_STATE,
    WIDTH,
    checked,
    integer,
    number,
    one_of,
)
from twinwl.arrays import Float64, Int64
from twinwl.errors import TwinWLError, shown, warn_caller
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike
from twinwl.models.base import Constraints, RandomState, keeps_parameters, old_names, seeds
from twinwl.models.explanation import Explanation
from twinwl.neural.choice import (
    Step,
    bytes_per_entry,
    bytes_per_row,
    hops_that_fit,
    smaller,
    too_large_step,
    too_large_subgraph,
)
from twinwl.neural.devices import device_of, moved, own_device, seeded, single_threaded
from twinwl.neural.distinct_subgraphs import DistinctExamples
from twinwl.neural.encoder import NTwinEncoder
from twinwl.neural.estimator import NeuralGraphClassifier, NeuralGraphEstimator, NeuralGraphRegressor
from twinwl.neural.explanation import explain_graph
from twinwl.neural.inputs import SUBTREES, FittedInputs, LiteralExamples, QuotientExamples
from twinwl.neural.network import NTwinNetwork
from twinwl.neural.node_states import NodeSlicer
from twinwl.neural.quotient import HOPS, ROOT_MARK, ROOTS, Hops, RootMark, hops_of_layers
from twinwl.neural.readouts import READOUT, BoundedReadout, NetworkReadout, sees_edges, sees_pairs
from twinwl.neural.sparse import SparseExamples
from twinwl.neural.training import Callbacks, Examples, rows_at_once
from twinwl.neural.uncompressed import GraphData

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SampledPrediction(NamedTuple):
    """What is predicted from samples of the roots, and how far it may be off.

    Attributes
    ----------
    values : array of float64
        As `predict_proba` of a classifier, shape (n_graphs, n_classes), or `predict` of a regressor,
        (n_graphs,). More samples or more roots bring it closer to the exact prediction.
    spread : array of float64, of the same shape
        Standard error of each value because of the sampling, estimated with the jackknife; 0 if all roots
        were taken.
    """

    values: Float64
    spread: Float64


def sampled_outputs(network: NTwinNetwork, examples: QuotientExamples, n_samples: int) -> NDArray[np.float32]:
    """Return outputs from the mean of all samples' sums, then from the means without one of them.

    Each call of ``examples.take`` draws roots. A sample's sums are right on average, so their mean tends to
    the exact sums; a mean of outputs would not tend to the exact output, which is no linear function.

    Returns
    -------
    array of float32, shape (1 + n_samples, n_graphs, n_outputs)
    """
    network.eval()
    place, step = own_device(network), rows_at_once(examples)
    parts = []
    with torch.no_grad(), single_threaded():
        for rows in np.split(np.arange(len(examples)), range(step, len(examples), step)):
            sums = []
            for _ in range(n_samples):
                sample = moved(examples.take(rows), place)
                sums.append(network.encoder(sample.graphs).cpu().double())
            total = torch.stack(sums).sum(dim=0)
            means = [total / n_samples, *((total - one) / (n_samples - 1) for one in sums)]
            outputs = [network.from_sums(mean.float().to(place), sample.histograms).cpu() for mean in means]
            parts.append(torch.stack(outputs))
    return torch.cat(parts, dim=1).numpy()


def standard_error(left_out: list[Float64]) -> Float64:
    """Return the jackknife's standard error of a value, from what it is without each of the samples.

    >>> standard_error([np.array([1.0]), np.array([3.0])]).tolist()
    [1.0]
    """
    values = np.stack(left_out)
    n = len(values)
    error: Float64 = np.sqrt((n - 1) / n * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
    return error


if TYPE_CHECKING:
    NTwinExamples: TypeAlias = QuotientExamples | LiteralExamples | DistinctExamples


_MANY_GRAPHS = 1000
_ARRAYS_PER_LAYER = {"gin": 4, "gcn": 2, "gat": 2, "ppgn": 10}  # weights and biases


class NTwinNetworkEstimator(NeuralGraphEstimator):
    """Base of `NTwinClassifier` and `NTwinRegressor`: parameters, inputs, network, explanation, state.

    Attributes
    ----------
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory would not do.
    """

    _constraints: ClassVar[Constraints] = {
        "layers": (DEPTH,),
        "hops": HOPS,
        "hidden": (WIDTH,),
        "root_mark": (ROOT_MARK,),
        "readout": READOUT,
        "subtree": (one_of(*SUBTREES),),
        "edge_labels": (FLAG, None),
        "input_dropout": (number(0, 1, below=True), one_of("auto")),
        "normalize": (FLAG,),
        "min_df": (integer(1, MAX_ITEMS),),
        "unknown": (one_of("zero", "error"),),
        "roots": ROOTS,
        "max_memory": MEMORY,
    }

    _renamed: ClassVar[Mapping[str, str]] = {"normalise": "normalize"}

    _learns_tasks = True
    _named_parameters: ClassVar[tuple[str, ...]] = ("readout",)  # may be code of the user
    _readout_width: int | None = None

    layers: int
    hops: Hops
    hidden: int
    root_mark: RootMark
    readout: NetworkReadout
    subtree: str
    edge_labels: bool | None
    dropout: float
    input_dropout: float | str
    normalize: bool
    min_df: int
    unknown: str
    roots: float | None
    max_memory: int | None

    hops_: tuple[int, ...]
    inputs_: FittedInputs
    module_: NTwinNetwork

    def _outputs(self, X: GraphsLike) -> NDArray[np.float32]:
        self._check_fitted()
        batch = self._new_graphs(X, "predict")
        self.inputs_.check_labels(batch, self.unknown)
        return super()._outputs(batch)

    def predict_sampled(
        self, X: GraphsLike, roots: float, n_samples: int = 10, random_state: RandomState = 0
    ) -> SampledPrediction:
        """Predict from samples of the roots of each graph, with the spread: for very large graphs.

        Parameters
        ----------
        X
            A GraphBatch, or anything `twinwl.as_batch` accepts.
        roots
            Number, or share, of the roots of each graph in a sample.
        n_samples
            Number of samples, at least 2. The prediction is that of the mean of their pooled sums.
        random_state
            Seed of the samples.

        Returns
        -------
        SampledPrediction
            ``values``: probabilities of the classes, or numbers; ``spread``: their standard error because
            only some roots were taken.
        """
        self._check_fitted()
        roots = cast("float", checked("roots", roots, *ROOTS[:-1]))
        n_samples = checked("n_samples", n_samples, integer(2, MAX_ITEMS))
        if self.tasks_ is not None:
            raise TwinWLError("predict_sampled is for one task; ask for_task(name).predict_sampled(…)")
        batch = self._new_graphs(X, "predict")
        self.inputs_.check_labels(batch, self.unknown)
        examples = self._examples(batch, roots=roots)
        if not isinstance(examples, QuotientExamples):
            raise TwinWLError("predict_sampled needs a readout that is bounded by 1-WL; use predict")
        (seed,) = seeds(checked("random_state", random_state, *RANDOM_STATE), 1)
        self.module_.to(device_of(self.device, or_else="cpu"))
        try:
            with seeded(seed):
                outputs = sampled_outputs(self.module_, examples, n_samples)
        finally:
            self.module_.cpu()
        head = self.heads_[0]
        ask = head.predict if self._learns_numbers else head.probabilities
        values, *left_out = (ask(self._task_decisions(one)[0]) for one in outputs)
        return SampledPrediction(values, standard_error(left_out))

    @old_names(graph="X")
    def explain(self, X: GraphsLike, n_columns: int = 10, task: str | int | None = None) -> Explanation:
        """Return each node's share of the decision about one graph, and the colours that matter most.

        Parameters
        ----------
        X
            One graph, or a batch or list of one graph.
        n_columns
            Number of colours to list.
        task
            The task to explain, by its name or place, if there are several.
        """
        model, graph = self._one_task(task), self._graph_to_explain(X)
        histograms = self.inputs_.histograms
        examples: QuotientExamples | LiteralExamples
        readout = self._probe()
        if readout is None and not len(self.inputs_.centre):
            examples = self.inputs_.quotient_examples(graph, self.hops_, self.root_mark, self.max_memory)
        else:
            if readout is not None:
                self._check_largest(graph, readout)
            examples = self._literal_examples(graph)
        decide = model._decision_about  # noqa: SLF001  (of the same class)
        return explain_graph(model.module_, graph, examples, histograms, decide, n_columns=n_columns)

    # ------------------------------------------------------------------ what the base class asks for

    def _fit_examples(self, batch: GraphBatch) -> NTwinExamples:
        self.inputs_, histograms = FittedInputs.fitted(
            batch, self.layers, subtree=self.subtree, edge_labels=bool(self.edge_labels), min_df=self.min_df
        )
        self.hops_ = hops_of_layers(self.hops, self.layers)
        readout = self._probe()
        if readout is not None and not isinstance(readout, BoundedReadout):
            if self.roots is not None:
                raise TwinWLError(
                    f"roots: got {self.roots} with a readout that is not bounded by 1-WL, expected None"
                )
            return self._fit_distinct(batch, histograms, readout)
        examples = self._examples(batch, histograms, self.roots)
        if isinstance(examples, QuotientExamples) and isinstance(examples.rooted, NodeSlicer):
            per_row = bytes_per_row(self.hidden)
            if readout is not None:  # torch keeps messages too
                per_row = int(
                    bytes_per_entry(self.hidden, 1) * (1 + len(batch.indices) / max(1, batch.n_nodes))
                )
            step = Step(self.batch_size, per_row, self.max_memory, self.roots)
            use_edges = self.inputs_.edge_labels is not None
            fitting = hops_that_fit(
                batch.without_features(), self.hops_, self.root_mark, step, edge_labels=use_edges
            )
            if fitting != self.hops_:
                self.hops_ = fitting
                examples = self._examples(batch, histograms, self.roots)
        return examples

    def _fit_distinct(
        self, batch: GraphBatch, histograms: csr_matrix | None, readout: torch.nn.Module
    ) -> DistinctExamples:
        """Return distinct rooted subgraphs for training, with fewer hops where memory would not do."""
        wanted, first = self.hops_, ""
        while True:
            radii, radius = list(dict.fromkeys(self.hops_)), max(self.hops_)
            per_entry = [bytes_per_entry(self.hidden, self._depth(of, readout)) for of in radii]
            widest = per_entry[radii.index(radius)]
            problem = too_large_subgraph(batch, radius, widest, self.max_memory, pairs=sees_pairs(readout))
            if problem is None:
                examples = self._distinct_examples(batch, histograms, readout)
                problem = too_large_step(examples.distinct, per_entry, self.batch_size, self.max_memory)
            if problem is None:
                break
            first = first or problem
            if radius <= 1:
                raise TwinWLError(
                    f"readout: {problem}; use readout='gin', lower batch_size or hidden, leave large graphs "
                    "out, or raise max_memory"
                )
            self.hops_ = smaller(self.hops_)
        if first:
            warn_caller(
                f"hops: {first}, so hops are {self.hops_} instead of {wanted}; lower batch_size, or raise "
                "max_memory to keep them"
            )
        return examples

    def _learnt_examples(self, batch: GraphBatch, start: torch.nn.Module | None) -> Examples:
        return (
            super()._learnt_examples(batch, None)
            if start is None
            else self._examples(batch, roots=self.roots)
        )

    def _examples(
        self, batch: GraphBatch, histograms: csr_matrix | None = None, roots: float | None = None
    ) -> NTwinExamples:
        readout = self._probe()
        if readout is None or isinstance(readout, BoundedReadout):
            # Steps that are not read need rounds of colours before those of the layers.
            before = (self.hops_[0],) * (0 if readout is None else readout.steps_before)
            shape = (before + self.hops_, self.root_mark, self.max_memory)
            return self.inputs_.examples(batch, *shape, histograms, roots, self.layers)
        self._check_largest(batch, readout)
        return self._distinct_examples(batch, histograms, readout)

    def _distinct_examples(
        self, batch: GraphBatch, histograms: csr_matrix | None, readout: torch.nn.Module
    ) -> DistinctExamples:
        inputs = self.inputs_
        literal = self._literal_examples(batch, histograms)
        return DistinctExamples(
            batch,
            inputs.labels,
            inputs.edge_labels,
            (inputs.centre, inputs.scale),
            self.hops_,
            self.root_mark,
            edges=sees_edges(readout),
            pairs=sees_pairs(readout),
            whole=_WholeGraphs(literal) if inputs.subtree == "gin" else None,
            histograms=literal.histograms,
        )

    def _check_largest(self, batch: GraphBatch, readout: torch.nn.Module) -> None:
        """Refuse graphs whose rooted subgraphs are too large for a prediction."""
        n_bytes, radius = bytes_per_entry(self.hidden, 1), max(self.hops_)
        problem = too_large_subgraph(batch, radius, n_bytes, self.max_memory, pairs=sees_pairs(readout))
        if problem is not None:
            raise TwinWLError(f"{problem}; leave that graph out, or raise max_memory")

    def _depth(self, radius: int, readout: torch.nn.Module) -> int:
        """Return the number of steps inside rooted subgraphs of a radius; of an own network it is a guess."""
        if not hasattr(readout, "pooled_by_depth"):
            return self.layers
        return max(depth for depth, of in enumerate(self.hops_, start=1) if of == radius)

    def _probe(self) -> torch.nn.Module | None:
        """Return a readout like that of the network, to look at what it is; None for the GIN."""
        if self._is_gin:
            return None
        with seeded(0):  # leave torch's own generator alone
            return self._encoder().rooted

    def _literal_examples(self, batch: GraphBatch, histograms: csr_matrix | None = None) -> LiteralExamples:
        """Return the graphs as tensors, of which the network reads every rooted subgraph."""
        inputs = self.inputs_
        inputs.check(batch)
        if histograms is None and inputs.histograms is not None:
            histograms = inputs.histograms.rows(batch.without_features())
        rows = None if histograms is None else SparseExamples(histograms)
        return LiteralExamples(batch, inputs.labels, inputs.edge_labels, inputs.centre, inputs.scale, rows)

    @property
    def _is_gin(self) -> bool:
        return isinstance(self.readout, str) and self.readout == "gin"

    def _encoder(self, readout_width: int | None = None) -> NTwinEncoder:
        inputs = self.inputs_
        return NTwinEncoder(
            inputs.n_features,
            self.layers,
            self.hops_,
            self.hidden,
            self.root_mark,
            n_edge_labels=0 if inputs.edge_labels is None else max(1, len(inputs.edge_labels)),
            directed=inputs.directed,
            subtree="gin" if inputs.subtree == "gin" else "none",
            readout=self.readout,
            readout_width=readout_width,
        )

    def _build_module(self, n_outputs: int) -> NTwinNetwork:
        return NTwinNetwork(
            self._encoder(self._readout_width),
            n_outputs,
            n_histogram_columns=self.inputs_.n_histogram_columns,
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=self._input_dropout(),
            normalize=self.normalize,
        )

    def _input_dropout(self) -> float:
        if isinstance(self.input_dropout, str):
            return 0.5 if self.inputs_.n_graphs >= _MANY_GRAPHS else 0.0
        return float(self.input_dropout)

    def _to_state(self) -> dict[str, object]:
        hops = list(self.hops_)
        state = {"inputs": self.inputs_.to_state(), "hops": hops, **self._network_to_state()}
        if not self._is_gin:
            state["readout_width"] = self.module_.encoder.n_rooted_outputs
        return state

    @classmethod
    def _from_state(cls, params: dict[str, object], state: dict[str, object]) -> Self:
        self = cls._with_params(params)
        per_layer = _ARRAYS_PER_LAYER.get(self.readout, 0) if isinstance(self.readout, str) else 0
        _check_layers_present(self.layers, per_layer, state["weights"])
        self.inputs_ = FittedInputs.from_state(state["inputs"])  # type: ignore[arg-type]
        self.hops_ = fitted_hops(state.get("hops"), hops_of_layers(self.hops, self.layers))
        if not self._is_gin:  # nothing can be tried out on a network without memory
            self._readout_width = checked("readout_width", state.get("readout_width"), integer(1, MAX_ITEMS))
        self._network_from_state(state)
        self._readout_width = None
        return self


class _WholeGraphs:
    """Whole graphs as input of the subtree encoder."""

    def __init__(self, examples: LiteralExamples) -> None:
        self._examples = examples

    def take(self, rows: Int64) -> GraphData:
        return cast("GraphData", self._examples.take(rows).graphs)


def _check_layers_present(layers: int, per_layer: int, weights: object) -> None:
    """Refuse more layers than the file has arrays for, before a network of that depth is built."""
    arrays = [value for value in weights.values() if isinstance(value, np.ndarray)]  # type: ignore[attr-defined]
    if per_layer * layers > len(arrays):
        raise TwinWLError(
            f"the weights do not fit the network: {shown(layers)} layers in {len(arrays)} arrays"
        )


def fitted_hops(saved: object, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return the hops of a model file; files of version 0.1 have none, their hops are those asked for."""
    if saved is None:
        return wanted
    if not isinstance(saved, list) or len(saved) != len(wanted):
        raise TwinWLError("the model's hops do not fit its layers; the file is damaged")
    hops = hops_of_layers(tuple(saved), len(wanted))
    if any(radius > limit for radius, limit in zip(hops, wanted, strict=True)):
        raise TwinWLError("the model's hops are larger than those asked for; the file is damaged")
    return hops


@savable
class NTwinClassifier(NeuralGraphClassifier, NTwinNetworkEstimator):
    """Classify graphs with NTwin-GNN: colours of the whole graph, and a GIN inside every rooted subgraph.

    The network runs on the colour quotient if a sample of the graphs shows that it pays, else, and with
    continuous features, on states that are shared within each graph. Both give the same numbers as running it
    on every rooted subgraph. Another ``readout`` can replace the GIN; if it is not bounded by 1-WL, it runs
    on distinct rooted subgraphs, once on each.

    Parameters
    ----------
    layers : int, default=3
        Number of layers, each with its own depth of the GIN.
    hops : "growing" or int, default="growing"
        Radius of the rooted subgraphs: k in layer k, or the same in all layers.
    hidden : int, default=64
        Width of the GIN's states and of the classifier's hidden layer.
    root_mark : {"none", "root", "distance"}, default="none"
        Mark of each node: whether it is the root, or its distance to the root. ``"none"`` is the paper's.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    readout : str, torch.nn.Module, class or function, default="gin"
        The network inside the rooted subgraphs: ``"gin"``, ``"gcn"``, ``"gat"`` (all bounded by 1-WL, on the
        quotient), ``"ppgn"`` (3-WL), ``"deepsets"`` (without edges), or your own: a module, or a class or
        function that makes one, which maps rooted subgraphs (`twinwl.neural.distinct_subgraphs.SubgraphBatch`)
        to one row each. ``docs/ntwin.md`` has an example.
    subtree : {"auto", "wl", "gin"}, default="auto"
        The subtree encoder: histograms of colours, or a GIN on the whole graph. ``"auto"`` uses the GIN
        if there are continuous features.
    edge_labels : bool or None, default=None
        Whether both encoders use edge labels, if the graphs have any. None ignores them as False does, with a
        warning if they differ.
    dropout : float, default=0.5
        Share of the classifier's hidden units dropped in training.
    input_dropout : float or "auto", default="auto"
        Share of the classifier's inputs dropped in training. ``"auto"``: half of them if there are at least
        1,000 training graphs, else none: it helps on NCI1 and hurts on PTC_MR.
    normalize : bool, default=True
        Normalise the pooled sums over the graphs of a batch.
    min_df : int, default=2
        Ignore colours that occur in fewer training graphs than this in the histograms.
    unknown : {"zero", "error"}, default="zero"
        What to do at prediction with labels that occur in no training graph: zeros and a warning, or an
        error.
    roots : int, float or None, default=None
        Number, or share, of the roots of each graph that a training step sums over, drawn anew each time and
        scaled so that the sum is right on average; None takes all. Predictions take all of them, but for
        `predict_sampled`. Only for readouts that are bounded by 1-WL.
    max_memory : int or None
        Limit for the quotient, or for the states of a mini-batch, in bytes; None allows half of the machine's
        memory. Where it would not do, hops shrink, with a warning; a rooted subgraph of radius 1 that is too
        large for the readout is an error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, class_weight, verbose
        As for every neural classifier here: see `twinwl.neural.estimator.NeuralGraphClassifier`.
    device, precision
        Where to train, and how exactly: see `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.neural.estimator.NeuralGraphClassifier`.
    refit, hold_outs, average_epochs, warm_start, callbacks
        Training on all graphs once the epoch is chosen, several hold-outs, means of weights, going on from
        the fit before, functions to call: see `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
    history_ : History
        Curves of the training.
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory would not do, which a warning tells.

    Examples
    --------
    >>> from twinwl import GraphBatch, NTwinClassifier
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> graphs = GraphBatch.from_edges([path, triangle] * 10)
    >>> model = NTwinClassifier(layers=2, random_state=0, max_epochs=20, verbose=False)
    >>> model = model.fit(graphs, ["path", "triangle"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['path', 'triangle'], (2, 2))
    """  # noqa: E501

    @keeps_parameters
    def __init__(
        self,
        layers: int = 3,
        hops: Hops = "growing",
        hidden: int = 64,
        root_mark: RootMark = "none",
        random_state: RandomState = 0,
        *,
        readout: NetworkReadout = "gin",
        subtree: str = "auto",
        edge_labels: bool | None = None,
        dropout: float = 0.5,
        input_dropout: float | str = "auto",
        normalize: bool = True,
        min_df: int = 2,
        unknown: str = "zero",
        roots: float | None = None,
        max_memory: int | None = None,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        class_weight: object = None,
        verbose: bool | int | None = None,
        device: str = "auto",
        precision: str = "float32",
        scoring: str | None = None,
        refit: bool = False,
        hold_outs: int = 1,
        average_epochs: int = 1,
        warm_start: bool = False,
        callbacks: Callbacks = None,
    ) -> None: ...


@savable
class NTwinRegressor(NeuralGraphRegressor, NTwinNetworkEstimator):
    """Predict a number for each graph with NTwin-GNN: colours, and a GIN inside every rooted subgraph.

    The network runs on the colour quotient if a sample of the graphs shows that it pays, else, and with
    continuous features, on states that are shared within each graph. Both give the same numbers as running it
    on every rooted subgraph. Another ``readout`` can replace the GIN; if it is not bounded by 1-WL, it runs
    on distinct rooted subgraphs, once on each.

    Parameters
    ----------
    layers : int, default=3
        Number of layers, each with its own depth of the GIN.
    hops : "growing" or int, default="growing"
        Radius of the rooted subgraphs: k in layer k, or the same in all layers.
    hidden : int, default=64
        Width of the GIN's states and of the head's hidden layer.
    root_mark : {"none", "root", "distance"}, default="none"
        Mark of each node: whether it is the root, or its distance to the root. ``"none"`` is the paper's.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    readout : str, torch.nn.Module, class or function, default="gin"
        The network inside the rooted subgraphs: ``"gin"``, ``"gcn"``, ``"gat"`` (all bounded by 1-WL, on the
        quotient), ``"ppgn"`` (3-WL), ``"deepsets"`` (without edges), or your own: a module, or a class or
        function that makes one, which maps rooted subgraphs (`twinwl.neural.distinct_subgraphs.SubgraphBatch`)
        to one row each. ``docs/ntwin.md`` has an example.
    subtree : {"auto", "wl", "gin"}, default="auto"
        The subtree encoder: histograms of colours, or a GIN on the whole graph. ``"auto"`` uses the GIN
        if there are continuous features.
    edge_labels : bool or None, default=None
        Whether both encoders use edge labels, if the graphs have any. None ignores them as False does, with a
        warning if they differ.
    dropout : float, default=0.5
        Share of the head's hidden units dropped in training.
    input_dropout : float or "auto", default="auto"
        Share of the head's inputs dropped in training. ``"auto"``: half of them if there are at least 1,000
        training graphs, else none: it helps on NCI1 and hurts on PTC_MR.
    normalize : bool, default=True
        Normalise the pooled sums over the graphs of a batch.
    min_df : int, default=2
        Ignore colours that occur in fewer training graphs than this in the histograms.
    unknown : {"zero", "error"}, default="zero"
        What to do at prediction with labels that occur in no training graph: zeros and a warning, or an
        error.
    roots : int, float or None, default=None
        Number, or share, of the roots of each graph that a training step sums over, drawn anew each time and
        scaled so that the sum is right on average; None takes all. Predictions take all of them, but for
        `predict_sampled`. Only for readouts that are bounded by 1-WL.
    max_memory : int or None
        Limit for the quotient, or for the states of a mini-batch, in bytes; None allows half of the machine's
        memory. Where it would not do, hops shrink, with a warning; a rooted subgraph of radius 1 that is too
        large for the readout is an error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, verbose
        As for every neural estimator here: see `twinwl.neural.estimator.NeuralGraphEstimator`.
    device, precision
        Where to train, and how exactly: see `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.neural.estimator.NeuralGraphRegressor`.
    refit, hold_outs, average_epochs, warm_start, callbacks
        Training on all graphs once the epoch is chosen, several hold-outs, means of weights, going on from
        the fit before, functions to call: see `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    history_ : History
        Curves of the training.
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory would not do, which a warning tells.

    Examples
    --------
    >>> from twinwl import NTwinRegressor
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = NTwinRegressor(layers=2, max_epochs=20, verbose=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).shape
    (2,)
    """  # noqa: E501

    @keeps_parameters
    def __init__(
        self,
        layers: int = 3,
        hops: Hops = "growing",
        hidden: int = 64,
        root_mark: RootMark = "none",
        random_state: RandomState = 0,
        *,
        readout: NetworkReadout = "gin",
        subtree: str = "auto",
        edge_labels: bool | None = None,
        dropout: float = 0.5,
        input_dropout: float | str = "auto",
        normalize: bool = True,
        min_df: int = 2,
        unknown: str = "zero",
        roots: float | None = None,
        max_memory: int | None = None,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        verbose: bool | int | None = None,
        device: str = "auto",
        precision: str = "float32",
        scoring: str | None = None,
        refit: bool = False,
        hold_outs: int = 1,
        average_epochs: int = 1,
        warm_start: bool = False,
        callbacks: Callbacks = None,
    ) -> None: ...
