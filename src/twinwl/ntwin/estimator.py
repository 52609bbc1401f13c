"""The base class of the estimators with an NTwin-GNN."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

import numpy as np

from twinwl.arguments import (
    DEPTH,
    FLAG,
    MAX_ITEMS,
    MEMORY,
    RANDOM_STATE,
    WIDTH,
    checked,
    integer,
    is_a,
    number,
    one_of,
)
from twinwl.errors import TwinWLError, shown, warn_caller
from twinwl.estimators.base import old_names, seeds
from twinwl.estimators.multitask import Answered
from twinwl.learning.determinism import seeded
from twinwl.learning.devices import device_of
from twinwl.learning.estimator import NeuralGraphEstimator
from twinwl.learning.sparse import SparseExamples
from twinwl.ntwin.bounded_readouts import BoundedReadout
from twinwl.ntwin.choice import (
    Step,
    bytes_per_entry,
    bytes_per_row,
    hops_that_fit,
    smaller,
    too_large_step,
    too_large_subgraph,
)
from twinwl.ntwin.distinct_subgraphs import DistinctExamples
from twinwl.ntwin.encoder import NTwinEncoder
from twinwl.ntwin.examples import LiteralExamples, QuotientExamples
from twinwl.ntwin.explanation import explain_graph
from twinwl.ntwin.fitted_inputs import SUBTREES, FittedInputs
from twinwl.ntwin.network import NTwinNetwork
from twinwl.ntwin.node_states import NodeSlicer
from twinwl.ntwin.readouts import READOUT, sees_edges, sees_pairs
from twinwl.ntwin.sampled_prediction import SampledPrediction, sampled_outputs, standard_error
from twinwl.ntwin.settings import HOPS, ROOT_MARK, ROOTS, hops_of_layers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import torch
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from twinwl.arrays import Int64
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.learning.training import Examples
    from twinwl.ntwin.readouts import NetworkReadout
    from twinwl.ntwin.settings import Hops, RootMark
    from twinwl.ntwin.uncompressed import GraphData

    NTwinExamples: TypeAlias = QuotientExamples | LiteralExamples | DistinctExamples

__all__ = ["NTwinNetworkEstimator", "fitted_hops"]

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
        if is_a(X, Answered):
            return super()._outputs(X)
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
        ask = self.predict_proba if hasattr(self, "predict_proba") else self.predict
        values, *left_out = (ask(Answered(one)) for one in outputs)
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
        return is_a(self.readout, str) and self.readout == "gin"

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
        per_layer = _ARRAYS_PER_LAYER.get(self.readout, 0) if is_a(self.readout, str) else 0
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
