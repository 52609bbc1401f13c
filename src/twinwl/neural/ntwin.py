"""NTwinClassifier and NTwinRegressor: the NTwin-GNN as scikit-learn estimators of graphs.

They choose how rooted subgraphs are computed, lower hops where memory is not enough, predict from sampled
roots, and explain: gradient times state, mapped from colours back to nodes.
"""

import copy
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, Self, cast

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from twinwl import arguments
from twinwl.arguments import (
    DEPTH,
    FLAG,
    MAX_ITEMS,
    MEMORY,
    WIDTH,
    checked,
    integer,
    number,
    old_names,
    one_of,
)
from twinwl.arrays import Fields, Float64
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.models.base import RandomState, with_parameters
from twinwl.models.explanation import ColumnShare, Explanation, explanation_of, plain
from twinwl.neural import estimator, quotient
from twinwl.neural.encoder import NTwinEncoder, NTwinNetwork, messages, readout_arguments, subgraph_batch
from twinwl.neural.estimator import NeuralGraphClassifier, NeuralGraphEstimator, NeuralGraphRegressor
from twinwl.neural.inputs import SUBTREES, FittedInputs, NTwinExamples, SubgraphExamples
from twinwl.neural.readouts import GIN, READOUT, BoundedReadout, NetworkReadout, kind_of
from twinwl.neural.sparse import SparseExamples
from twinwl.neural.training import Examples, seeded, single_threaded
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

_MANY_GRAPHS = 1000
# A state of a GIN and its gradient, its rectified units and their signs, and the numbers of its messages.
_BYTES_PER_UNIT, _BYTES_PER_ROW = 13, 128
# A network of torch's own operations keeps about this many tensors per step, and some more at a time.
_TENSORS_PER_STEP, _TENSORS_AT_ONCE = 7, 4


@with_parameters
class NTwinParameters(estimator.TrainingParameters):
    """The parameters of all estimators with a network of NTwin-GNN; see `NTwinClassifier`."""

    _constraints = {
        "layers": (DEPTH,),
        "hops": quotient.HOPS,
        "hidden": (WIDTH,),
        "root_mark": (quotient.ROOT_MARK,),
        "readout": READOUT,
        "subtree": (one_of(*SUBTREES),),
        "edge_labels": (FLAG, None),
        "input_dropout": (number(0, 1, below=True), one_of("auto")),
        "normalize": (FLAG,),
        "min_df": (integer(1, MAX_ITEMS),),
        "unknown": (one_of("zero", "error"),),
        "roots": quotient.ROOTS,
        "max_memory": MEMORY,
    }

    _named_parameters = ("readout",)  # may be code of the user

    layers: int = 3
    hops: quotient.Hops = "growing"
    hidden: int = 64
    root_mark: quotient.RootMark = "none"
    random_state: RandomState = 0
    _: KW_ONLY
    readout: NetworkReadout = "gin"
    subtree: str = "auto"
    edge_labels: bool | None = None
    input_dropout: float | str = "auto"
    normalize: bool = True
    min_df: int = 2
    unknown: str = "zero"
    roots: float | None = None
    max_memory: int | None = None


@with_parameters
class NTwinNetworkEstimator(NeuralGraphEstimator, NTwinParameters):
    """Base of `NTwinClassifier` and `NTwinRegressor`: parameters, inputs, network, explanation, state.

    Attributes
    ----------
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory is not enough.
    """

    _renamed = {"normalise": "normalize"}

    _learns_tasks = True
    _shared = ("inputs_", "hops_")

    def _new_graphs(self, X: GraphsLike, what: str) -> GraphBatch:
        batch = super()._new_graphs(X, what)
        if what == "predict":
            self.inputs_.check_labels(batch, self.unknown)
        return batch

    def predict_sampled(self, *_: object, **__: object) -> None:
        """Gone: `predict` takes all roots."""
        raise TwinWLError("predict_sampled was removed; use predict, which takes all roots of each graph")

    def node_vectors(self, X: GraphsLike) -> Float64:
        """Return what each node, as a root, adds to the representation of its graph.

        The representation is a sum over the nodes: that of a graph, before it is normalised, is the sum of
        the vectors of its nodes. Histograms of colours are not among the columns. The literal network is
        computed, which takes longer than a prediction.

        Parameters
        ----------
        X
            A GraphBatch, or anything `twinwl.as_batch` accepts.

        Returns
        -------
        array of float64, shape (n_nodes, n_columns)
            Nodes stand graph after graph: ``graph_ptr`` of the batch tells where each graph begins.
        """
        self._check_fitted()
        return self._node_vectors(X)

    def _node_vectors(self, X: GraphsLike) -> Float64:
        batch = self._new_graphs(X, "predict")
        self.inputs_.check(batch)
        data, encoder = self.inputs_.graph_data(batch), copy.deepcopy(self.module_.encoder).cpu().double()
        with torch.no_grad(), single_threaded():
            vectors: Float64 = encoder(data._replace(x=data.x.double()), by_root=True).numpy()
        return vectors

    @old_names(graph="X")
    def explain(self, X: GraphsLike, n_columns: int = 10, task: str | int | None = None) -> Explanation:
        """Return each node's share of the decision about one graph, and the colours that matter most.

        The representation is a sum: of the states of every node in every rooted subgraph, and of one-hot
        colours. So the gradient of the decision, times a state, is that state's share to first order; a
        node's share is summed over all rooted subgraphs that contain it, and over its own colours. Of a
        network without states of single nodes the gradient is multiplied by the input of each node instead.

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
        n_columns = checked("n_columns", n_columns, integer(0, MAX_ITEMS))
        self.inputs_.check(graph)
        if not self._is_bounded:
            self._check_largest(graph)
        network: Any = model.module_
        colours: Any = self.inputs_.histograms
        histogram: Any = None
        encoder, data = network.encoder, self.inputs_.graph_data(graph)
        x = data.x.to(network.first.weight.dtype).requires_grad_()
        data = data._replace(x=x)
        if colours is not None:
            histogram = SparseExamples(colours.rows(graph)).rows
        has_width = encoder.n_rooted_outputs == len(encoder.hops) * encoder.hidden
        by_state = isinstance(encoder.rooted, BoundedReadout) and has_width
        with torch.set_grad_enabled(not by_state):
            sums = encoder(data)
        if by_state:
            sums.requires_grad_()
        units = network.hidden_units(sums, histogram)
        outputs = network.second(units.relu())[0]
        reading = model._decision_about(outputs.detach().float().numpy())  # noqa: SLF001  (of the same class)
        decision = outputs @ torch.from_numpy(reading.weights).to(outputs.dtype) + reading.intercept
        of_input, of_units = torch.autograd.grad(  # a user's readout may ignore x
            decision, [sums if by_state else x, units], allow_unused=True, materialize_grads=True
        )
        if by_state:
            method = "gradient × state of each node in each rooted subgraph, gradient × count of each colour"
            shares = _state_shares(encoder, graph, data, of_input[0].reshape(-1, encoder.hidden))
        else:
            method = "gradient × input of each node, gradient × count of each colour"
            shares = (x.detach() * of_input).sum(dim=1).double().numpy()
        columns: tuple[ColumnShare, ...] = ()
        if network.wide is not None:
            of_columns = (network.wide.weight.detach() @ of_units[0]).double().numpy()
            encoding, column = colours.encoding(graph), colours.columns[histogram.indices]
            contributions = np.zeros(encoding.space.n_columns)
            contributions[column] = of_columns[histogram.indices] * histogram.values
            # An entry of the row is a scaled count; a share is split among the nodes that are counted.
            row = csr_matrix((histogram.values, column, [0, len(column)]), shape=encoding.matrix.shape)
            counted = explanation_of(
                graph, encoding._replace(matrix=row), contributions, reading, method, n_columns
            )
            shares, columns = shares + counted.node_shares, counted.columns
        return Explanation(
            graph=graph,
            prediction=plain(reading.prediction),
            against=plain(reading.against),
            decision=float(decision.detach()),
            intercept=float(decision.detach()) - float(shares.sum()),
            node_shares=shares,
            columns=columns,
            method=method,
        )

    # ------------------------------------------------------------------ what the base class needs

    def _fit_examples(self, batch: GraphBatch) -> NTwinExamples:
        self.inputs_ = FittedInputs.fit(
            batch, self.layers, subtree=self.subtree, edge_labels=bool(self.edge_labels), min_df=self.min_df
        )
        self.hops_ = wanted = quotient.hops_of_layers(self.hops, self.layers)
        if self.roots is not None and not self._is_bounded:
            raise TwinWLError(
                f"roots: got {self.roots} with a readout that is not bounded by 1-WL, expected None"
            )
        first = ""
        while True:
            rooted, problem = self._plan(batch)
            if rooted is not None and (problem is None or not max(self.hops_)):
                break
            first = first or str(problem)
            if not self._is_bounded and max(self.hops_) <= 1:
                raise TwinWLError(
                    f"readout: {problem}; use readout='gin', lower batch_size or hidden, leave large graphs "
                    "out, or raise max_memory"
                )
            self.hops_ = tuple(min(radius, max(self.hops_) - 1) for radius in self.hops_)
        if first:
            warn_caller(
                f"hops: {first}, so hops are {self.hops_} instead of {wanted}; lower batch_size, sample with "
                "roots, or raise max_memory to keep them"
            )
        return self._with_subtree(rooted, batch)

    def _learnt_examples(self, batch: GraphBatch, start: torch.nn.Module | None) -> Examples:
        if start is None:
            return super()._learnt_examples(batch, None)
        return self._examples(batch, roots=self.roots)

    def _examples(self, batch: GraphBatch, roots: float | None = None) -> NTwinExamples:
        self.inputs_.check(batch)
        if not self._is_bounded:
            self._check_largest(batch)
        return self._with_subtree(self._rooted(batch, roots), batch)

    def _with_subtree(self, rooted: Any, batch: GraphBatch) -> NTwinExamples:  # noqa: ANN401
        """Add what the subtree encoder needs to rooted subgraphs."""
        inputs = self.inputs_
        if inputs.histograms is not None:
            return NTwinExamples(rooted, histograms=SparseExamples(inputs.histograms.rows(batch)))
        whole = inputs.rows(batch, (None,) * self.layers, "none", max_memory=self.max_memory)
        return NTwinExamples(rooted, whole)

    def _plan(self, batch: GraphBatch) -> tuple[Any, str | None]:
        """Return the rooted subgraphs, and why a training step on the largest might not fit into memory."""
        allowed = arguments.allowed_memory(self.max_memory)
        if self._is_bounded:
            rooted = self._rooted(batch, self.roots)
            need = self._bytes_of_rows(rooted)
        else:
            problem = self._too_large(batch)
            if problem is not None:
                return None, problem
            rooted = self._rooted(batch)
            own = not hasattr(self._network_kind(), "pooled_by_depth")  # then the depth is a guess
            depths = {
                radius: self.layers if own else depth for depth, radius in enumerate(self.hops_, start=1)
            }
            of_graphs = sum(
                part.entries_of_graphs() * self._bytes_per_entry(depths[part.radius])
                for part in rooted.distinct
            )
            need = np.sort(of_graphs)[-self.batch_size :].sum()
        if need <= allowed:
            return rooted, None
        return rooted, (
            f"the rooted subgraphs of {min(self.batch_size, len(batch))} graphs with hops {self.hops_} may "
            f"need {arguments.readable(need)}, more than the {arguments.readable(allowed)} allowed"
        )

    def _rooted(self, batch: GraphBatch, roots: float | None = None) -> Any:  # noqa: ANN401
        """Return rooted subgraphs in the form that the network needs: rows if it is bounded by 1-WL."""
        kind = self._network_kind()
        if self._is_bounded:
            # Steps that are not read need rounds of colours before those of the layers.
            hops = self.hops_[:1] * kind.steps_before + self.hops_
            return self.inputs_.rows(batch, hops, self.root_mark, roots, self.max_memory)
        pairs = getattr(kind, "sees_pairs", False)
        return SubgraphExamples(batch, self.inputs_, self.hops_, self.root_mark, pairs=pairs)

    def _bytes_of_rows(self, rooted: quotient.RowExamples) -> Any:  # noqa: ANN401
        """Return the memory of a training step on the graphs with the most rows."""
        try:
            with seeded(0):  # roots may be drawn
                layers = rooted.take(rooted.heaviest(self.batch_size)).layers
        except quotient.TooManyColoursError:
            return math.inf
        if self._network_kind() is GIN:
            return sum(layer.n_rows for layer in layers) * (_BYTES_PER_UNIT * self.hidden + _BYTES_PER_ROW)
        # torch keeps messages too
        return sum(layer.n_rows + len(layer.senders) for layer in layers) * self._bytes_per_entry(1)

    def _bytes_per_entry(self, depth: int) -> int:
        """Return the memory of a node, message or pair of nodes in a step with torch's own operations."""
        return 4 * self.hidden * (_TENSORS_PER_STEP * depth + _TENSORS_AT_ONCE)

    def _too_large(self, batch: GraphBatch) -> str | None:
        """Say which rooted subgraph would not fit into memory even alone; no subgraph is cut for that."""
        radius, allowed = max(self.hops_), arguments.allowed_memory(self.max_memory)
        sizes = rooted_sizes(batch, radius)[radius]
        size = int(sizes.max(initial=0))
        entries = size * size if getattr(self._network_kind(), "sees_pairs", False) else size
        need = self._bytes_per_entry(1) * entries
        if need <= allowed:
            return None
        graph = arguments.graph_of_node(batch.graph_ptr, int(sizes.argmax()))
        return (
            f"the rooted subgraph of radius {radius} with {size:,} nodes in graph {graph} needs about "
            f"{arguments.readable(need)}, more than the {arguments.readable(allowed)} allowed"
        )

    def _check_largest(self, batch: GraphBatch) -> None:
        """Refuse graphs whose rooted subgraphs are too large for a prediction."""
        problem = self._too_large(batch)
        if problem is not None:
            raise TwinWLError(f"{problem}; leave that graph out, or raise max_memory")

    def _network_kind(self) -> Any:  # noqa: ANN401  (a class of modules, of which attributes are read)
        return kind_of(self.readout, readout_arguments(**self._sizes()))

    @property
    def _is_bounded(self) -> bool:
        """Whether the network is bounded by 1-WL, so that it runs on rows."""
        return issubclass(self._network_kind(), BoundedReadout)

    def _sizes(self) -> Fields:
        inputs = self.inputs_
        return {
            "n_features": inputs.n_features,
            "hidden": self.hidden,
            "hops": self.hops_,
            "root_mark": self.root_mark,
            "n_edge_labels": 0 if inputs.edge_labels is None else max(1, len(inputs.edge_labels)),
            "directed": inputs.directed,
        }

    def _build_module(self, n_outputs: int, readout_width: int | None = None) -> NTwinNetwork:
        encoder = NTwinEncoder(
            layers=self.layers,
            subtree="gin" if self.inputs_.subtree == "gin" else "none",
            readout=self.readout,
            readout_width=readout_width,
            **self._sizes(),
        )
        histograms, input_dropout = self.inputs_.histograms, self.input_dropout
        if input_dropout == "auto":
            input_dropout = 0.5 if self.inputs_.n_graphs >= _MANY_GRAPHS else 0.0
        return NTwinNetwork(
            encoder,
            n_outputs,
            n_histogram_columns=0 if histograms is None else histograms.n_columns,
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=float(input_dropout),
            normalize=self.normalize,
        )

    def _to_state(self) -> Fields:
        hops = list(self.hops_)
        state = {"inputs": self.inputs_.to_state(), "hops": hops, **self._network_to_state()}
        if self.readout != "gin":
            state["readout_width"] = self.module_.encoder.n_rooted_outputs
        return state

    @classmethod
    def _from_state(cls, params: Fields, state: Fields) -> Self:
        self = cls._with_params(params)
        self._inputs_from_state(state)
        shape = {}
        if self.readout != "gin":
            shape["readout_width"] = checked(
                "readout_width", state.get("readout_width"), integer(1, MAX_ITEMS)
            )
        self._network_from_state(state, **shape)
        return self

    def _inputs_from_state(self, state: Fields) -> None:
        self.inputs_ = FittedInputs.from_state(state["inputs"])
        wanted = quotient.hops_of_layers(self.hops, self.layers)
        # Files of version 0.1 have no hops: theirs are those asked for.
        hops = quotient.hops_of_layers(tuple(state.get("hops") or wanted), self.layers)
        if any(radius > limit for radius, limit in zip(hops, wanted)):
            raise TwinWLError("the model's hops are larger than those asked for; the file is damaged")
        self.hops_ = hops


def _state_shares(encoder: Any, graph: GraphBatch, data: Any, gradients: Tensor) -> Float64:  # noqa: ANN401
    """Return each node's share by its states, summed over layers and over the subgraphs that contain it."""
    layers, marks = len(encoder.hops), (encoder.root_mark, encoder.n_marks)
    shares, nodes = np.zeros(graph.n_nodes), np.arange(graph.n_nodes)

    def states(network: Any, x: Tensor, edges: Tensor, codes: Tensor | None) -> Iterator[Tensor]:  # noqa: ANN401
        # If each node is a subgraph of its own, what is pooled is its state.
        return cast(
            "Iterator[Tensor]", network.pooled_by_depth(x, edges, torch.arange(len(x)), codes, len(x), layers)
        )

    with torch.no_grad():
        if encoder.subtree is not None:  # its part of the representation comes first
            edges, codes = messages(data.edge_index, data.edge_attr, directed=encoder.directed)
            for rows, gradient in zip(states(encoder.subtree, data.x, edges, codes), gradients, strict=False):
                shares += (rows @ gradient).double().numpy()
        for radius in dict.fromkeys(encoder.hops):
            sizes = rooted_sizes(graph, radius)[radius].astype(np.int64)
            for low, high in quotient.root_blocks(graph, sizes, nodes):
                cut = rooted_subgraphs(graph, radius, nodes[low:high])
                x = data.x[torch.from_numpy(cut.node).long()]
                part = subgraph_batch(cut, x, data.edge_attr, marks, directed=encoder.directed)
                for layer, rows in enumerate(states(encoder.rooted, part.x, part.edge_index, part.codes)):
                    if encoder.hops[layer] == radius:
                        of_pairs = (rows @ gradients[layer - layers]).double().numpy()
                        shares += np.bincount(cut.node, of_pairs, minlength=graph.n_nodes)
    return shares


@savable
@with_parameters
class NTwinClassifier(NeuralGraphClassifier, NTwinNetworkEstimator):
    """Classify graphs with NTwin-GNN: colours of the whole graph, and a GIN inside every rooted subgraph.

    The network runs on the colour quotient, which gives the same numbers as running it on every rooted
    subgraph. Another ``readout`` can replace the GIN; if it is not bounded by 1-WL, it runs
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
        function that makes one, which maps rooted subgraphs (`twinwl.neural.readouts.SubgraphBatch`)
        to one row each. The guide "Add your own readout, network or method" has an example.
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
        scaled so that the sum is right on average; None takes all. Predictions take all of them. Only
        for readouts that are bounded by 1-WL.
    max_memory : int or None
        Limit for the quotient, or for the states of a mini-batch, in bytes; None allows half of the machine's
        memory. Where it would not do, hops shrink, with a warning; a rooted subgraph of radius 1 that is too
        large for the readout is an error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, class_weight, verbose
        See `twinwl.neural.estimator.NeuralGraphClassifier`.
    device
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        See `twinwl.neural.estimator.NeuralGraphClassifier`.
    refit, average_epochs, warm_start, callbacks
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
    history_ : History
        Curves of the training.
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory is not enough (then there is a warning).

    See Also
    --------
    STwinClassifier : A network on counts of colours.
    STwinSVC : The default for little data.

    Examples
    --------
    >>> from twinwl import GraphBatch, NTwinClassifier
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> graphs = GraphBatch.from_edges([path, triangle] * 10)
    >>> model = NTwinClassifier(layers=2, random_state=0, max_epochs=20, verbose=False)
    >>> model = model.fit(graphs, ["path", "triangle"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['path', 'triangle'], (2, 2))
    """


@savable
@with_parameters
class NTwinRegressor(NeuralGraphRegressor, NTwinNetworkEstimator):
    """Predict a number for each graph with NTwin-GNN: colours, and a GIN inside every rooted subgraph.

    The network runs on the colour quotient, which gives the same numbers as running it on every rooted
    subgraph. Another ``readout`` can replace the GIN; if it is not bounded by 1-WL, it runs
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
        function that makes one, which maps rooted subgraphs (`twinwl.neural.readouts.SubgraphBatch`)
        to one row each. The guide "Add your own readout, network or method" has an example.
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
        scaled so that the sum is right on average; None takes all. Predictions take all of them. Only
        for readouts that are bounded by 1-WL.
    max_memory : int or None
        Limit for the quotient, or for the states of a mini-batch, in bytes; None allows half of the machine's
        memory. Where it would not do, hops shrink, with a warning; a rooted subgraph of radius 1 that is too
        large for the readout is an error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, verbose
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    device
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        See `twinwl.neural.estimator.NeuralGraphRegressor`.
    refit, average_epochs, warm_start, callbacks
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

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
        Radius of each layer: ``hops``, or less where memory is not enough (then there is a warning).

    See Also
    --------
    STwinRegressor : A network on counts of colours.
    STwinSVR : The default for little data.

    Examples
    --------
    >>> from twinwl import NTwinRegressor
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = NTwinRegressor(layers=2, max_epochs=20, verbose=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).shape
    (2,)
    """
