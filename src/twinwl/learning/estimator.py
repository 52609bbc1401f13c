"""The base class of the neural estimators: hold-out, training, state. Subclasses define the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

import numpy as np

from twinwl.arguments import FLAG, MAX_ITEMS, RANDOM_STATE, integer, is_a, items, number, one_of
from twinwl.errors import TwinWLError
from twinwl.estimators.base import GraphEstimator, graphs_of, seeds
from twinwl.estimators.hold_out import hold_out
from twinwl.estimators.measurements import Measurements
from twinwl.estimators.multitask import Answered
from twinwl.learning.data_parallel import fit_network
from twinwl.learning.determinism import seeded
from twinwl.learning.devices import DEVICES, PRECISIONS, device_of
from twinwl.learning.network_state import (
    history_from_state,
    history_to_state,
    network_from_state,
    weights_to_state,
)
from twinwl.learning.task_outputs import TaskOutputs
from twinwl.learning.training import Examples, Held, predict_logits
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import torch
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.estimators.targets import Targets
    from twinwl.estimators.task_table import TaskTable
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.learning.history import History

__all__ = ["NeuralGraphEstimator", "Reading", "split_rows"]


class Reading(NamedTuple):
    """What a network's outputs about one graph mean.

    ``prediction`` is weighed against ``against``, None where it is a number; the decision is the outputs
    times ``weights``, summed, plus ``shift``.
    """

    prediction: object
    against: object
    weights: NDArray[np.float32]
    shift: float


class NeuralGraphEstimator(TaskOutputs, GraphEstimator):
    """Base of the neural estimators; a subclass defines how graphs become examples, and the network.

    A subclass implements ``_fit_examples(batch)``, which fits encoders and alphabets on the training part;
    ``_examples(batch)``, which encodes other graphs with them; and ``_build_module(n_outputs)``, which is
    called with torch seeded. Its ``__init__`` sets the parameters below. What is learnt,
    `NeuralGraphClassifier` and `NeuralGraphRegressor` say; `TaskOutputs` how one network learns several
    tasks.

    Parameters
    ----------
    max_epochs, batch_size, learning_rate, weight_decay, patience
        As for `twinwl.learning.training.train`.
    validation_fraction : float or None
        Share of the training graphs held out to choose the epoch; None trains on all of them, for
        ``max_epochs``.
    scoring : str or None
        What the epoch is chosen by on the held-out graphs.
    device : {"auto", "cpu", "cuda", "mps"}
        Where the network is trained and asked; ``"auto"`` is the first available of cuda, mps and cpu. A
        model that was trained on a device that is missing here predicts on the processor.
    precision : {"float32", "mixed"}
        ``"mixed"`` multiplies in bfloat16 while training.
    random_state : int, RandomState, Generator or None
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    verbose : bool, int or None
        Show a progress bar; None shows it if standard error is a terminal.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network.
    history_ : History
        Curves of the training.
    held_out_ : array of int64, or None
        The training graphs that were held out to choose the epoch, as row numbers of ``X``; not saved.
    """

    _constraints: ClassVar[Constraints] = {
        "dropout": (number(0, 1, below=True),),
        "max_epochs": (integer(1, 1_000_000),),
        "batch_size": (integer(1, MAX_ITEMS),),
        "learning_rate": (number(0, 10, above=True),),
        "weight_decay": (number(0, 100),),
        "patience": (integer(1, 1_000_000),),
        "validation_fraction": (number(0, 1, above=True, below=True), None),
        "device": (one_of(*DEVICES),),
        "precision": (one_of(*PRECISIONS),),
        "random_state": RANDOM_STATE,
        "verbose": (FLAG, integer(0), None),
    }

    _renamed: ClassVar[Mapping[str, str]] = {"progress": "verbose"}

    max_epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    patience: int
    validation_fraction: float | None
    scoring: str | None
    device: str
    precision: str
    random_state: RandomState
    verbose: bool | int | None

    _fitted_attribute = "history_"

    module_: torch.nn.Module
    history_: History
    held_out_: Int64 | None

    # ------------------------------------------------------------------ what is learnt

    def _reading(self, outputs: NDArray[np.float32]) -> Reading:
        """Say what the outputs about one graph mean, for its explanation."""
        raise NotImplementedError

    # ------------------------------------------------------------------ what a subclass implements

    def _fit_examples(self, batch: GraphBatch) -> Examples:
        """Fit encoders on these graphs, and encode them."""
        raise NotImplementedError

    def _examples(self, batch: GraphBatch) -> Examples:
        """Encode graphs with the fitted encoders."""
        raise NotImplementedError

    def _build_module(self, n_outputs: int) -> torch.nn.Module:
        """Return a fresh network; torch is seeded."""
        raise NotImplementedError

    # ------------------------------------------------------------------ fit

    def fit(
        self,
        X: GraphsLike,
        y: object,
        groups: object = None,
        sample_weight: object = None,
        validation_data: tuple[GraphsLike, object] | None = None,
        monitor_data: tuple[GraphsLike, object] | None = None,
    ) -> Self:
        """Train on graphs and their targets.

        Parameters
        ----------
        X
            A GraphBatch, or anything `twinwl.as_batch` accepts.
        y : sequence of shape (n_graphs,), or table of shape (n_graphs, n_tasks)
            Classes, of any type that can be sorted; numbers for a regressor. For several tasks at once a
            table (see `MultiTask`), NaN where a target is unknown, with two classes per task.
        groups : sequence of shape (n_graphs,), optional
            Graphs of one group stay on one side of the inner hold-out.
        sample_weight : sequence of shape (n_graphs,), optional
            Weight of each graph, in the loss and in the scores on the hold-out.
        validation_data : (graphs, targets), optional
            Used to choose the epoch instead of an inner hold-out; then all of ``X`` is used for training.
        monitor_data : (graphs, targets), optional
            Only scored: ``history_.monitor_accuracy``. A class that is not in ``y`` counts as an error.
        """
        batch = self._graphs_to_fit(X)
        targets = self._all_targets(y, len(batch), sample_weight, groups)
        batch = targets.counted(batch)
        device_of(self.device)  # refuse one that is not there before the work of encoding
        split_seed, module_seed, train_seed = seeds(self.random_state, 3)
        kept, held = split_rows(self.validation_fraction, validation_data, targets, split_seed)
        importance = targets.importance() if targets.weighed else None
        # Encoders are fitted on the kept part only, so that held-out graphs are encoded as new graphs will
        # be.
        examples = self._fit_examples(batch if held is None else batch[kept])
        if held is None:
            validation = self._held(validation_data, "validation_data")
        else:
            # The weights of training also apply to the choice of the epoch.
            weights = None if importance is None else importance[held]
            validation = Held(self._examples(batch[held]), targets.answers[held], weights)
        monitor = self._held(monitor_data, "monitor_data")
        self._train(examples, targets, kept, validation, monitor, (module_seed, train_seed))
        self.held_out_ = None if held is None else targets.rows[held]
        return self

    def _train(
        self,
        examples: Examples,
        targets: Targets | Measurements | TaskTable,
        kept: Int64,
        validation: Held | None,
        monitor: Held | None,
        seeds: Sequence[int],
    ) -> None:
        """Train a fresh network on examples of the targets ``kept``; two seeds: of weights, of training."""
        module_seed, train_seed = seeds
        validation = None if validation is None else validation._replace(scoring=self.scoring)
        importance = targets.importance() if targets.weighed else None
        with seeded(module_seed):
            module = self._build_module(self._n_outputs if self.tasks_ is None else len(self.tasks_))
        with ProgressBar(
            type(self).__name__, self.max_epochs, show=None if self.verbose is None else bool(self.verbose)
        ) as bar:

            def after_epoch(history: History) -> None:
                bar.advance()
                bar.note(*history.figures())

            history = fit_network(
                module,
                examples,
                targets.answers[kept],
                sample_weight=None if importance is None else importance[kept],
                validation=validation,
                monitor=monitor,
                max_epochs=self.max_epochs,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                patience=self.patience,
                random_state=train_seed,
                device=self.device,
                precision=self.precision,
                progress=after_epoch,
            )
        self.module_, self.history_ = module, history
        if validation is None:
            self._keep_all_scores(None, None)
        else:
            self._keep_all_scores(predict_logits(module, validation.examples), validation.targets)

    def _held(self, data: tuple[GraphsLike, object] | None, name: str) -> Held | None:
        if data is None:
            return None
        pair = items(name, data, "a pair (graphs, targets)")
        if len(pair) != 2:  # noqa: PLR2004
            raise TwinWLError(f"{name}: got {len(pair)} entries, expected a pair (graphs, targets)")
        graphs, y = pair
        batch = graphs_of(graphs, f"take as {name}")
        return Held(self._examples(batch), self._all_answers(y, len(batch), name))

    def _outputs(self, X: GraphsLike) -> NDArray[np.float32]:
        """Return the outputs of the network, shape (n_graphs, n_outputs)."""
        self._check_fitted()
        if is_a(X, Answered):
            return cast("NDArray[np.float32]", X.values)
        examples = self._examples(graphs_of(X, "predict"))
        place = device_of(self.device, or_else="cpu")
        if place.type == "cpu":
            return predict_logits(self.module_, examples)
        self.module_.to(place)
        try:
            return predict_logits(self.module_, examples)
        finally:
            self.module_.cpu()  # where files and explanations expect it

    def plot_history(self) -> Figure:
        """Return the learning curves as a figure of matplotlib, to show or to save (``.savefig``)."""
        self._check_fitted()
        return self.history_.plot()

    # ------------------------------------------------------------------ model files

    def _network_to_state(self) -> dict[str, object]:
        """Return history, weights and what is kept of the targets for a model file."""
        self._check_fitted()
        return {
            "history": history_to_state(self.history_),
            "weights": weights_to_state(self.module_),
            **self._all_to_state(),
        }

    def _network_from_state(self, state: Mapping[str, object]) -> None:
        """Undo `_network_to_state`; the encoders, which decide the network's shape, must be set before."""
        n_outputs = self._all_from_state(state)
        self.history_ = history_from_state(state.get("history"))
        self.module_ = network_from_state(lambda: self._build_module(n_outputs), state.get("weights"))


def split_rows(
    fraction: float | None, validation_data: object, targets: Targets | Measurements | TaskTable, seed: int
) -> tuple[Int64, Int64 | None]:
    """Return which targets are learnt from and which are held out to choose the epoch, None for no such."""
    if validation_data is not None or fraction is None:
        return np.arange(len(targets.rows)), None
    codes = np.zeros(len(targets.rows), np.int64) if isinstance(targets, Measurements) else targets.codes
    return hold_out(codes, fraction, seed, targets.groups)
