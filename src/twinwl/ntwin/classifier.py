"""NTwinClassifier: the NTwin-GNN as a scikit-learn classifier of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from twinwl.arguments import DEPTH, FLAG, MAX_ITEMS, MEMORY, WIDTH, integer, number, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.base import old_names
from twinwl.estimators.explanation import one_graph
from twinwl.files.model_files import savable
from twinwl.graphs.coercion import as_batch
from twinwl.learning.classifier import NeuralGraphClassifier
from twinwl.ntwin.encoder import NTwinEncoder
from twinwl.ntwin.explanation import explain_graph
from twinwl.ntwin.fitted_inputs import SUBTREES, FittedInputs
from twinwl.ntwin.input_state import inputs_from_state, inputs_to_state
from twinwl.ntwin.network import NTwinNetwork
from twinwl.ntwin.settings import HOPS, ROOT_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.ntwin.examples import LiteralExamples, QuotientExamples
    from twinwl.ntwin.settings import Hops, RootMark

__all__ = ["NTwinClassifier"]

_MANY_GRAPHS = 1000
_ARRAYS_PER_LAYER = 4  # two weights, two biases


@savable
class NTwinClassifier(NeuralGraphClassifier):
    """Classify graphs with NTwin-GNN: colours of the whole graph, and a GIN inside every rooted subgraph.

    Labelled graphs run on the colour quotient, which gives the same numbers as the network on every rooted
    subgraph at a fraction of the rows. Graphs with continuous features run literally.

    Parameters
    ----------
    layers : int, default=3
        Number of layers, each with its own depth of the GIN.
    hops : "growing" or int, default="growing"
        Radius of the rooted subgraphs: k in layer k, or the same in all layers.
    hidden : int, default=64
        Width of the GIN's states and of the classifier's hidden layer.
    root_mark : {"none", "root", "distance"}, default="none"
        Whether nodes know that they are the root, or how far they are from it. None is the paper's.
    random_state : int, RandomState, Generator or None, default=0
        Decides hold-out, first weights, order of batches and dropout; None trains differently every time.
    subtree : {"auto", "wl", "gin"}, default="auto"
        The subtree encoder: histograms of colours, or a GIN on the whole graph. ``"auto"`` takes the GIN
        where there are continuous features.
    edge_labels : bool, default=False
        Let edge labels take part in both encoders, where the graphs have them.
    dropout : float, default=0.5
        Share of the classifier's hidden units left out in training.
    input_dropout : float or "auto", default="auto"
        Share of the classifier's inputs left out in training. ``"auto"``: half of them where there are 1,000
        graphs or more to learn from, none where there are fewer: it helps on NCI1 and hurts on PTC_MR.
    normalize : bool, default=True
        Normalise the pooled sums over the graphs of a batch.
    min_df : int, default=2
        Leave out colours of fewer training graphs than this from the histograms.
    unknown : {"zero", "error"}, default="zero"
        What to do at prediction with labels that no training graph has: zeros and one warning, or an error.
    max_memory : int or None
        Bytes that the quotient may need; None allows half of the machine's memory.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, class_weight, verbose
        As for every neural classifier here: see `twinwl.learning.classifier.NeuralGraphClassifier`.

    Attributes
    ----------
    classes_ : array
    history_ : History
        Curves of the training.
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms, as the training graphs had them.

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

    inputs_: FittedInputs
    module_: NTwinNetwork

    def __init__(
        self,
        layers: int = 3,
        hops: Hops = "growing",
        hidden: int = 64,
        root_mark: RootMark = "none",
        random_state: RandomState = 0,
        *,
        subtree: str = "auto",
        edge_labels: bool = False,
        dropout: float = 0.5,
        input_dropout: float | str = "auto",
        normalize: bool = True,
        min_df: int = 2,
        unknown: str = "zero",
        max_memory: int | None = None,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        class_weight: object = None,
        verbose: bool | int | None = None,
    ) -> None:
        self.layers = layers
        self.hops = hops
        self.hidden = hidden
        self.root_mark = root_mark
        self.random_state = random_state
        self.subtree = subtree
        self.edge_labels = edge_labels
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.normalize = normalize
        self.min_df = min_df
        self.unknown = unknown
        self.max_memory = max_memory
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.verbose = verbose

    def decision_function(self, X: GraphsLike) -> NDArray[np.float32]:
        """Return the logits, shape (n_graphs, n_classes); of two classes their difference, (n_graphs,)."""
        self._check_fitted()
        batch = as_batch(X)
        self.inputs_.check_labels(batch, self.unknown)
        return super().decision_function(batch)

    @old_names(graph="X")
    def explain(self, X: GraphsLike, n_columns: int = 10) -> Explanation:
        """Return each node's share of the decision about one graph, and the colours that matter most.

        Parameters
        ----------
        X
            One graph: a batch of one, or a list with one graph.
        n_columns
            How many colours to list.

        Examples
        --------
        >>> from twinwl import GraphBatch, NTwinClassifier
        >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 10)
        >>> model = NTwinClassifier(layers=1, random_state=0, max_epochs=5, verbose=False)
        >>> model.fit(graphs, [0, 1] * 10).explain(graphs[0]).node_shares.shape
        (3,)
        """
        self._check_fitted()
        graph = one_graph(X)
        examples = self._examples(graph)
        return explain_graph(
            self.module_, graph, examples, self.inputs_.histograms, self.classes_, n_columns=n_columns
        )

    # ------------------------------------------------------------------ what the frame asks for

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

    def _build_module(self, n_classes: int) -> NTwinNetwork:
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
            n_classes,
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
        return {"inputs": inputs_to_state(self.inputs_), **self._network_to_state()}

    @classmethod
    def _from_state(cls, params: dict[str, object], state: dict[str, object]) -> NTwinClassifier:
        self = cls._with_params(params)
        _check_layers_present(self.layers, state["weights"])
        self.inputs_ = inputs_from_state(state["inputs"])  # type: ignore[arg-type]
        self._network_from_state(state)
        return self


def _check_layers_present(layers: int, weights: object) -> None:
    """Refuse more layers than a file has arrays for before a network of that depth is built."""
    arrays = [value for value in weights.values() if isinstance(value, np.ndarray)]  # type: ignore[attr-defined]
    if _ARRAYS_PER_LAYER * layers > len(arrays):
        raise TwinWLError(
            f"the weights do not fit the network they claim to be of: {shown(layers)} layers in "
            f"{len(arrays)} arrays"
        )
