"""The base class of the estimators with an NTwin-GNN."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

import numpy as np

from twinwl.arguments import DEPTH, FLAG, MAX_ITEMS, MEMORY, WIDTH, checked, integer, is_a, number, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.base import old_names
from twinwl.estimators.multitask import Answered
from twinwl.graphs.coercion import as_batch, one_graph
from twinwl.learning.determinism import seeded
from twinwl.learning.estimator import NeuralGraphEstimator
from twinwl.learning.sparse import SparseExamples
from twinwl.ntwin.bounded_readouts import BoundedReadout
from twinwl.ntwin.choice import hops_that_fit
from twinwl.ntwin.distinct_subgraphs import DistinctExamples
from twinwl.ntwin.encoder import NTwinEncoder
from twinwl.ntwin.examples import LiteralExamples, QuotientExamples
from twinwl.ntwin.explanation import explain_graph
from twinwl.ntwin.fitted_inputs import SUBTREES, FittedInputs
from twinwl.ntwin.network import NTwinNetwork
from twinwl.ntwin.node_states import NodeSlicer
from twinwl.ntwin.readouts import READOUT, sees_edges
from twinwl.ntwin.settings import HOPS, ROOT_MARK, ROOTS, hops_of_layers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from twinwl.arrays import Int64
    from twinwl.estimators.base import Constraints
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
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
        "edge_labels": (FLAG,),
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
    edge_labels: bool
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
        batch = as_batch(X)
        self.inputs_.check_labels(batch, self.unknown)
        return super()._outputs(batch)

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
        model, graph = self._one_task(task), one_graph(X, "the graph to explain")
        histograms = self.inputs_.histograms
        examples: QuotientExamples | LiteralExamples
        if self._is_gin and not len(self.inputs_.centre):
            examples = self.inputs_.quotient_examples(graph, self.hops_, self.root_mark, self.max_memory)
        else:
            examples = self._literal_examples(graph)
        return explain_graph(model.module_, graph, examples, histograms, model._reading, n_columns=n_columns)  # noqa: SLF001  (of the same class)

    # ------------------------------------------------------------------ what the base class asks for

    def _fit_examples(self, batch: GraphBatch) -> NTwinExamples:
        self.inputs_, histograms = FittedInputs.fitted(
            batch, self.layers, subtree=self.subtree, edge_labels=self.edge_labels, min_df=self.min_df
        )
        self.hops_ = hops_of_layers(self.hops, self.layers)
        if self.roots is not None and not self._is_gin:
            raise TwinWLError(f"roots: got {self.roots} with another readout, expected None or readout='gin'")
        examples = self._examples(batch, histograms, self.roots)
        if isinstance(examples, QuotientExamples) and isinstance(examples.rooted, NodeSlicer):
            fitting = hops_that_fit(
                batch, self.hops_, self.hidden, self.batch_size, self.max_memory, self.roots
            )
            if fitting != self.hops_:
                self.hops_ = fitting
                examples = self._examples(batch, histograms, self.roots)
        return examples

    def _examples(
        self, batch: GraphBatch, histograms: csr_matrix | None = None, roots: float | None = None
    ) -> NTwinExamples:
        inputs, radii = self.inputs_, self.hops_
        if self._is_gin:
            return inputs.examples(batch, radii, self.root_mark, self.max_memory, histograms, roots)
        with seeded(0):  # leave torch's own generator alone
            readout = self._encoder().rooted
        if isinstance(readout, BoundedReadout) and not len(inputs.centre):
            # Steps that are not read need rounds of colours before those of the layers.
            radii = (radii[0],) * readout.steps_before + radii
            shape = (radii, self.root_mark, self.max_memory)
            return inputs.quotient_examples(batch, *shape, histograms, layers_of_whole=self.layers)
        literal = self._literal_examples(batch, histograms)
        whole = _WholeGraphs(literal) if inputs.subtree == "gin" else None
        return DistinctExamples(
            batch,
            inputs.labels,
            inputs.edge_labels,
            (inputs.centre, inputs.scale),
            radii,
            self.root_mark,
            edges=sees_edges(readout),
            whole=whole,
            histograms=literal.histograms,
        )

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
