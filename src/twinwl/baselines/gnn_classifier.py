"""The base class of the graph neural networks: a subclass adds little more than its network."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ClassVar, TypedDict

from twinwl.arguments import DEPTH, WIDTH
from twinwl.baselines.batching.examples import GraphExamples
from twinwl.baselines.batching.node_inputs import NodeInputs
from twinwl.baselines.parts import PartwiseNetwork
from twinwl.estimators.base import keeps_parameters
from twinwl.learning.classifier import NeuralGraphClassifier

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.baselines.parts import PartedExamples
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.graphs.batch import GraphBatch
    from twinwl.learning.callbacks import Callbacks

__all__ = ["CommonOptions", "GNNClassifier", "TrainingOptions"]


class TrainingOptions(TypedDict, total=False):
    """Training parameters of every network, by keyword, as in `GNNClassifier`."""

    dropout: float
    random_state: RandomState
    max_epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    patience: int
    validation_fraction: float | None
    class_weight: object
    verbose: bool | int | None
    device: str
    precision: str
    scoring: str | None
    refit: bool
    hold_outs: int
    average_epochs: int
    warm_start: bool
    callbacks: Callbacks


class CommonOptions(TrainingOptions, total=False):
    """Training parameters, and the network's depth and width."""

    layers: int
    hidden: int


class GNNClassifier(NeuralGraphClassifier):
    """Base of the neural baselines; a subclass implements ``_network`` and, if needed, ``_parted_examples``.

    The input of a node is its one-hot label, all zeros if it occurs in no training graph, and its continuous
    features, standardised. Edge labels are ignored. Training is that of all neural methods of this package:
    Adam, early stopping on a held-out part, the weights of the best epoch.

    Parameters
    ----------
    layers : int, default=3
        Number of message passing layers.
    hidden : int, default=64
        Width of the states and of the classifier's hidden layer.
    dropout : float, default=0.5
        Share of the classifier's hidden units dropped in training.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, class_weight, verbose
        As for every neural classifier: see `twinwl.learning.classifier.NeuralGraphClassifier`.
    device, precision
        Where to train, and how exactly: see `twinwl.learning.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.learning.classifier.NeuralGraphClassifier`.
    refit, hold_outs, average_epochs, warm_start, callbacks
        Training on all graphs once the epoch is chosen, several hold-outs, means of weights, going on from
        the fit before, functions to call: see `twinwl.learning.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
    history_ : History
        Curves of the training.
    inputs_ : NodeInputs
        Labels and scales of the training graphs.
    """

    _constraints: ClassVar[Constraints] = {
        "layers": (DEPTH,),
        "hidden": (WIDTH,),
    }

    layers: int
    hidden: int
    dropout: float
    inputs_: NodeInputs

    @keeps_parameters
    def __init__(
        self,
        *,
        layers: int = 3,
        hidden: int = 64,
        dropout: float = 0.5,
        random_state: RandomState = 0,
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

    def __init_subclass__(cls) -> None:
        """Add the inherited parameters to the signature of ``__init__``, which scikit-learn reads."""
        super().__init_subclass__()
        if "__init__" in vars(cls):
            own = inspect.signature(cls.__init__).parameters
            named = [parameter for parameter in own.values() if parameter.kind is not parameter.VAR_KEYWORD]
            inherited = inspect.signature(GNNClassifier.__init__).parameters
            rest = [parameter for name, parameter in inherited.items() if name not in own]
            cls.__init__.__signature__ = inspect.Signature([*named, *rest])  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ what a subclass implements

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        """Return a fresh network for one part of examples; torch is seeded."""
        raise NotImplementedError

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        """Return the graphs as input of the network."""
        return GraphExamples(batch, columns)

    def _extra_features(self, batch: GraphBatch) -> Float64 | None:  # noqa: ARG002
        """Return continuous features of the nodes that the method computes, or None."""
        return None

    def _look_at(self, batch: GraphBatch) -> None:
        """Compute from the training graphs what else the shape of the network depends on."""

    # ------------------------------------------------------------------ what the base class asks for

    def _fit_examples(self, batch: GraphBatch) -> PartedExamples[object]:
        extra = self._extra_features(batch)
        self.inputs_ = NodeInputs.fitted(batch, extra)
        self._look_at(batch)
        return self._parted_examples(batch, self.inputs_.rows(batch, extra))

    def _examples(self, batch: GraphBatch) -> PartedExamples[object]:
        return self._parted_examples(batch, self.inputs_.rows(batch, self._extra_features(batch)))

    def _build_module(self, n_classes: int) -> torch.nn.Module:
        return PartwiseNetwork(self._network(self.inputs_.n_columns, n_classes))
