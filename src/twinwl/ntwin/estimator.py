"""The base class of the estimators with an NTwin-GNN."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from twinwl.arguments import DEPTH, FLAG, MAX_ITEMS, MEMORY, WIDTH, integer, is_a, number, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.base import old_names
from twinwl.estimators.multitask import Answered
from twinwl.graphs.coercion import as_batch, one_graph
from twinwl.learning.estimator import NeuralGraphEstimator
from twinwl.ntwin.encoder import NTwinEncoder
from twinwl.ntwin.explanation import explain_graph
from twinwl.ntwin.fitted_inputs import SUBTREES, FittedInputs
from twinwl.ntwin.network import NTwinNetwork
from twinwl.ntwin.settings import HOPS, ROOT_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from twinwl.estimators.base import Constraints
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.ntwin.examples import LiteralExamples, QuotientExamples
    from twinwl.ntwin.settings import Hops, RootMark

__all__ = ["NTwinNetworkEstimator"]

_MANY_GRAPHS = 1000
_ARRAYS_PER_LAYER = 4  # two weights, two biases


class NTwinNetworkEstimator(NeuralGraphEstimator):
    """Base of `NTwinClassifier` and `NTwinRegressor`: parameters, inputs, network, explanation, state.

    Attributes
    ----------
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    """

    _constraints: ClassVar[Constraints] = {
        "layers": (DEPTH,),
        "hops": HOPS,
        "hidden": (WIDTH,),
        "root_mark": (ROOT_MARK,),
        "subtree": (one_of(*SUBTREES),),
        "edge_labels": (FLAG,),
        "input_dropout": (number(0, 1, below=True), one_of("auto")),
        "normalize": (FLAG,),
        "min_df": (integer(1, MAX_ITEMS),),
        "unknown": (one_of("zero", "error"),),
        "max_memory": MEMORY,
    }

    _renamed: ClassVar[Mapping[str, str]] = {"normalise": "normalize"}

    _learns_tasks = True

    layers: int
    hops: Hops
    hidden: int
    root_mark: RootMark
    subtree: str
    edge_labels: bool
    dropout: float
    input_dropout: float | str
    normalize: bool
    min_df: int
    unknown: str
    max_memory: int | None

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
        examples, histograms = self._examples(graph), self.inputs_.histograms
        return explain_graph(model.module_, graph, examples, histograms, model._reading, n_columns=n_columns)  # noqa: SLF001  (of the same class)

    # ------------------------------------------------------------------ what the base class asks for

    def _fit_examples(self, batch: GraphBatch) -> QuotientExamples | LiteralExamples:
        self.inputs_, histograms = FittedInputs.fitted(
            batch, self.layers, subtree=self.subtree, edge_labels=self.edge_labels, min_df=self.min_df
        )
        return self._examples(batch, histograms)

    def _examples(
        self, batch: GraphBatch, histograms: csr_matrix | None = None
    ) -> QuotientExamples | LiteralExamples:
        return self.inputs_.examples(
            batch, self.layers, self.hops, self.root_mark, self.max_memory, histograms
        )

    def _build_module(self, n_outputs: int) -> NTwinNetwork:
        inputs = self.inputs_
        encoder = NTwinEncoder(
            inputs.n_features,
            self.layers,
            self.hops,
            self.hidden,
            self.root_mark,
            n_edge_labels=0 if inputs.edge_labels is None else max(1, len(inputs.edge_labels)),
            directed=inputs.directed,
            subtree="gin" if inputs.subtree == "gin" else "none",
        )
        return NTwinNetwork(
            encoder,
            n_outputs,
            n_histogram_columns=inputs.n_histogram_columns,
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
        return {"inputs": self.inputs_.to_state(), **self._network_to_state()}

    @classmethod
    def _from_state(cls, params: dict[str, object], state: dict[str, object]) -> Self:
        self = cls._with_params(params)
        _check_layers_present(self.layers, state["weights"])
        self.inputs_ = FittedInputs.from_state(state["inputs"])  # type: ignore[arg-type]
        self._network_from_state(state)
        return self


def _check_layers_present(layers: int, weights: object) -> None:
    """Refuse more layers than the file has arrays for, before a network of that depth is built."""
    arrays = [value for value in weights.values() if isinstance(value, np.ndarray)]  # type: ignore[attr-defined]
    if _ARRAYS_PER_LAYER * layers > len(arrays):
        raise TwinWLError(
            f"the weights do not fit the network: {shown(layers)} layers in {len(arrays)} arrays"
        )
