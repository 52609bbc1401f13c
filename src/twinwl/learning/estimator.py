"""The base class of the neural estimators: hold-out, training, state. Subclasses define the network."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, cast

import numpy as np

from twinwl.arguments import FLAG, MAX_ITEMS, RANDOM_STATE, integer, is_a, items, number, one_of
from twinwl.errors import TwinWLError
from twinwl.estimators.base import Constraints, GraphEstimator, RandomState, seeds
from twinwl.estimators.hold_out import hold_out, hold_out_scaffolds, scaffolds_of
from twinwl.estimators.measurements import Measurements
from twinwl.estimators.multitask import Answered
from twinwl.estimators.targets import positive_class
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.learning.callbacks import CALLBACKS, Callbacks, call_back
from twinwl.learning.data_parallel import fit_network, is_data_parallel
from twinwl.learning.determinism import seeded
from twinwl.learning.devices import DEVICES, PRECISIONS, device_of
from twinwl.learning.network_state import (
    history_from_state,
    history_to_state,
    network_from_state,
    weights_to_state,
)
from twinwl.learning.task_outputs import TaskOutputs, TaskTable
from twinwl.learning.training import Examples, Held, predict_logits
from twinwl.learning.warm_start import check_same_shape, check_same_targets, network_of
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch
    from matplotlib.figure import Figure

    from twinwl.arrays import Float32, Float64, Int64
    from twinwl.estimators.targets import Targets
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.learning.history import History


class Decision(NamedTuple):
    """What a network's outputs about one graph mean.

    ``prediction`` is weighed against ``against``, None where it is a number; the decision is the outputs
    times ``weights``, summed, plus ``shift``.
    """

    prediction: object
    against: object
    weights: Float32
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
    refit : bool
        After the number of epochs is chosen, train a fresh network on all graphs, those held out (or of
        ``validation_data``) too, for that number.
    hold_outs : int
        Number of inner hold-outs, drawn apart; the number of epochs is the mean of what each chooses. More
        than one needs ``refit=True``.
    average_epochs : int
        The network has the mean of the weights of this many epochs, up to the one that is kept.
    warm_start : bool
        Let ``fit`` go on from the weights and the encoders of the fit before, on the same or on other graphs;
        Adam starts anew. Only parameters of training may change in between.
    callbacks : function, list of functions or None
        Called with the `History` so far after each epoch, those of a refit included; training stops after an
        epoch for which one returns True. An exception ends ``fit`` with an error that names the function.
        Model files do not keep them.
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
        Curves of the training that chose the number of epochs, on the first hold-out.
    held_out_ : array of int64, or None
        The training graphs that were held out to choose the epoch, as row numbers of ``X``; not saved.
    held_out_outputs_ : array of float32, shape (n_held, n_outputs), or None
        Outputs about them, or about ``validation_data``, of the network that had not learnt from them: with
        ``refit``, not the final one; not saved.
    n_epochs_ : int
        Number of epochs that the final network was trained for; not saved.
    """

    _constraints: ClassVar[Constraints] = {
        "dropout": (number(0, 1, below=True),),
        "max_epochs": (integer(1, 1_000_000),),
        "batch_size": (integer(1, MAX_ITEMS),),
        "learning_rate": (number(0, 10, above=True),),
        "weight_decay": (number(0, 100),),
        "patience": (integer(1, 1_000_000),),
        "validation_fraction": (number(0, 1, above=True, below=True), None),
        "refit": (FLAG,),
        "hold_outs": (integer(1, 100),),
        "average_epochs": (integer(1, 1_000),),
        "warm_start": (FLAG,),
        "callbacks": CALLBACKS,
        "device": (one_of(*DEVICES),),
        "precision": (one_of(*PRECISIONS),),
        "random_state": RANDOM_STATE,
        "verbose": (FLAG, integer(0), None),
    }

    _renamed: ClassVar[Mapping[str, str]] = {"progress": "verbose"}
    _not_saved: ClassVar[tuple[str, ...]] = ("callbacks",)

    max_epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    patience: int
    validation_fraction: float | None
    scoring: str | None
    refit: bool
    hold_outs: int
    average_epochs: int
    warm_start: bool
    callbacks: Callbacks
    device: str
    precision: str
    random_state: RandomState
    verbose: bool | int | None

    _fitted_attribute = "history_"

    module_: torch.nn.Module
    history_: History
    held_out_: Int64 | None
    held_out_outputs_: Float32 | None
    n_epochs_: int
    _fitted_with: dict[str, object]

    # ------------------------------------------------------------------ what is learnt

    def _decision_about(self, outputs: Float32) -> Decision:
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
            Graphs of one group stay on one side of the inner hold-out. If None, rare scaffolds of molecules
            are held out as a whole; ``range(n_graphs)`` holds out molecules at random.
        sample_weight : sequence of shape (n_graphs,), optional
            Weight of each graph, in the loss and in the scores on the hold-out.
        validation_data : (graphs, targets), optional
            Used to choose the epoch instead of an inner hold-out; then all of ``X`` is used for training, and
            with ``refit`` these graphs too once the epoch is chosen.
        monitor_data : (graphs, targets), optional
            Only scored: ``history_.monitor_accuracy``. A class that is not in ``y`` counts as an error.
        """
        batch = self._graphs_to_fit(X)
        self._check_hold_outs(validation_data)
        earlier = self._earlier_fit()
        targets = self._all_targets(y, len(batch), sample_weight, groups)
        start = None
        if earlier is not None:
            check_same_targets(earlier, self)
            start = network_of(earlier, self)
        batch = targets.counted(batch)
        device_of(self.device)  # refuse one that is not there before the work of encoding
        split_seed, module_seed, train_seed, *more = seeds(self.random_state, 2 + self.hold_outs)
        importance = targets.importance() if targets.weighed else None
        n_epochs = []
        for seed in [*more, split_seed]:  # what is kept is from the last
            kept, held = split_rows(self.validation_fraction, validation_data, targets, seed, batch)
            # Encoders are fitted on the kept part only, so that held-out graphs are encoded as new graphs
            # will be.
            examples = self._learnt_examples(batch if held is None else batch[kept], start)
            if held is None:
                validation = self._held(validation_data, "validation_data")
            else:
                # The weights of training also apply to the choice of the epoch.
                weights = None if importance is None else importance[held]
                validation = Held(self._examples(batch[held]), targets.answers[held], weights)
            monitor = self._held(monitor_data, "monitor_data")
            self._train(examples, targets, kept, validation, monitor, (module_seed, train_seed), start)
            self.held_out_ = None if held is None else targets.rows[held]
            n_epochs.append(self.n_epochs_)
        if self.refit and validation is not None:
            self.n_epochs_ = round(sum(n_epochs) / len(n_epochs))
            self._refit(batch, targets, validation_data, (module_seed, train_seed), start)
        return self

    def _train(
        self,
        examples: Examples,
        targets: Targets | Measurements | TaskTable,
        kept: Int64,
        validation: Held | None,
        monitor: Held | None,
        seeds: Sequence[int],
        start: torch.nn.Module | None = None,
    ) -> None:
        """Train a network on examples of the targets ``kept``, and choose its epoch.

        The two seeds are those of weights and of training; ``start`` is the network of an earlier fit.
        """
        importance = targets.importance()[kept] if targets.weighed else None
        rows = Held(examples, targets.answers[kept], importance)
        self.module_, self.history_ = self._trained(rows, self.max_epochs, seeds, start, validation, monitor)
        self.n_epochs_ = self.history_.best_epoch + 1
        self._fitted_with = self.get_params(deep=False)
        self.held_out_outputs_ = answers = None
        if validation is not None:
            self.held_out_outputs_ = predict_logits(self.module_, validation.examples)
            answers = validation.targets
        self._keep_all_scores(self.held_out_outputs_, answers)

    def _trained(
        self,
        rows: Held,
        max_epochs: int,
        seeds: Sequence[int],
        start: torch.nn.Module | None,
        validation: Held | None = None,
        monitor: Held | None = None,
    ) -> tuple[torch.nn.Module, History]:
        module_seed, train_seed = seeds
        if validation is not None:
            # Of several tasks, each has the classes 0 and 1.
            classes = getattr(self, "classes_", None) if self.tasks_ is None else None
            positive = 1 if classes is None else positive_class(classes)
            validation = validation._replace(scoring=self.scoring, positive=positive)
        if self.callbacks is not None and is_data_parallel():
            raise TwinWLError(
                "callbacks: got functions, but data_parallel trains in other processes; set None"
            )
        with seeded(module_seed):
            module = self._build_module(self._n_outputs if self.tasks_ is None else len(self.tasks_))
        if start is not None:
            module.load_state_dict(start.state_dict())
        with ProgressBar(
            type(self).__name__, max_epochs, show=None if self.verbose is None else bool(self.verbose)
        ) as bar:

            def after_epoch(history: History) -> bool:
                bar.advance()
                bar.note(*history.figures())
                return call_back(self.callbacks, history)

            history = fit_network(
                module,
                rows.examples,
                rows.targets,
                sample_weight=rows.weights,
                validation=validation,
                monitor=monitor,
                max_epochs=max_epochs,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                patience=self.patience,
                average_epochs=self.average_epochs,
                random_state=train_seed,
                device=self.device,
                precision=self.precision,
                progress=after_epoch,
            )
        return module, history

    def _refit(
        self,
        batch: GraphBatch,
        targets: Targets | Measurements | TaskTable,
        validation_data: tuple[GraphsLike, object] | None,
        seeds: Sequence[int],
        start: torch.nn.Module | None,
    ) -> None:
        """Train a network on all graphs for the number of epochs that was chosen."""
        answers, weights = targets.answers, targets.importance() if targets.weighed else None
        if validation_data is not None:
            graphs, y = validation_data
            held = self._new_graphs(graphs, "take as validation_data")
            batch = concatenate([batch, held])
            more = self._all_answers(y, len(held), "validation_data")
            if weights is not None:
                weights = np.concatenate([weights, _usual_weights(weights, answers, more)])
            answers = np.concatenate([answers, more])
        rows = Held(self._learnt_examples(batch, start), answers, weights)
        self.module_, history = self._trained(rows, self.n_epochs_, seeds, start)
        self.n_epochs_ = history.n_epochs  # fewer, if a callback stopped

    def _learnt_examples(self, batch: GraphBatch, start: torch.nn.Module | None) -> Examples:
        """Encode graphs to learn from: with the encoders of the earlier fit, if there is one."""
        return self._fit_examples(batch) if start is None else self._examples(batch)

    def _check_hold_outs(self, validation_data: object) -> None:
        if self.hold_outs == 1:
            return
        if not self.refit:
            raise TwinWLError(f"hold_outs: got {self.hold_outs} without refit, expected 1, or refit=True")
        if validation_data is not None or self.validation_fraction is None:
            given = "validation_fraction=None" if validation_data is None else "validation_data"
            raise TwinWLError(f"hold_outs: got {self.hold_outs} with {given}, expected 1, or leave that out")

    def _earlier_fit(self) -> Self | None:
        """Return the estimator as it was fitted before, if training is to go on from there."""
        if not self.warm_start or not hasattr(self, self._fitted_attribute):
            return None
        free = {*NeuralGraphEstimator._constraints, "class_weight"} - {"dropout"}
        check_same_shape(self._fitted_with, self.get_params(deep=False), free)
        return copy.copy(self)

    def _held(self, data: tuple[GraphsLike, object] | None, name: str) -> Held | None:
        if data is None:
            return None
        pair = items(name, data, "a pair (graphs, targets)")
        if len(pair) != 2:  # noqa: PLR2004
            raise TwinWLError(f"{name}: got {len(pair)} entries, expected a pair (graphs, targets)")
        graphs, y = pair
        batch = self._new_graphs(graphs, f"take as {name}")
        return Held(self._examples(batch), self._all_answers(y, len(batch), name))

    def _outputs(self, X: GraphsLike) -> Float32:
        """Return the outputs of the network, shape (n_graphs, n_outputs)."""
        self._check_fitted()
        if is_a(X, Answered):
            return cast("Float32", X.values)
        examples = self._examples(self._new_graphs(X, "predict"))
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
        self._fitted_with = self.get_params(deep=False)


def split_rows(
    fraction: float | None,
    validation_data: object,
    targets: Targets | Measurements | TaskTable,
    seed: int,
    graphs: GraphBatch | None = None,
) -> tuple[Int64, Int64 | None]:
    """Return which targets are learnt from and which are held out to choose the epoch, None for no such.

    If the graphs of the targets are molecules, whole scaffolds are held out, so that intervals and sets of
    classes hold for new scaffolds too.
    """
    if validation_data is not None or fraction is None:
        return np.arange(len(targets.rows)), None
    codes = np.zeros(len(targets.rows), np.int64) if isinstance(targets, Measurements) else targets.codes
    parts = None
    if targets.groups is None and graphs is not None and graphs.atoms is not None:
        parts = hold_out_scaffolds(codes, fraction, seed, scaffolds_of(graphs))
    return parts or hold_out(codes, fraction, seed, targets.groups)


def _usual_weights(weights: Float64, answers: Int64 | Float64, others: Int64 | Float64) -> Float64:
    """Return weights of other rows: the mean of those of the same class; of numbers and tasks, of all."""
    if answers.ndim > 1 or answers.dtype.kind == "f":
        return np.broadcast_to(weights.mean(axis=0), (len(others), *weights.shape[1:]))
    mean: Float64 = np.bincount(answers, weights) / np.bincount(answers)
    return mean[others]
