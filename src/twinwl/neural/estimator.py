"""The base class of the neural estimators: hold-out, training, state. Subclasses define the network.

A trained network in a model file: history and weights, checked when they are read.

Going on from the network of an earlier fit.

The base class of neural classifiers: classes as targets, logits and probabilities.

The base class of neural regressors: numbers as targets, standardised for the network.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import torch
from sklearn.base import ClassifierMixin, RegressorMixin

from twinwl.arguments import CLASS_WEIGHT, FLAG, MAX_ITEMS, RANDOM_STATE, integer, items, number, one_of
from twinwl.arrays import Bool, Float32, Float64, Int64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.coercion import GraphsLike
from twinwl.models.base import Constraints, GraphEstimator, RandomState, seeds
from twinwl.models.calibration import ConformalIntervals, ConformalSets, PredictsIntervals, PredictsSets
from twinwl.models.hold_out import hold_out, hold_out_scaffolds, scaffolds_of
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS, positive_class, predicted_codes
from twinwl.models.state import classes_from_state, classes_to_state
from twinwl.models.targets import (
    Answered,
    Measurements,
    Targets,
    codes_of,
    numbers_of,
    one_each,
    per_task,
    probabilities_of,
    side_by_side,
)
from twinwl.neural.devices import DEVICES, PRECISIONS, device_of, seeded
from twinwl.neural.outputs import Outputs, TaskOutputs, TaskTable
from twinwl.neural.training import (
    CALLBACKS,
    Callbacks,
    Examples,
    Held,
    History,
    call_back,
    predict_logits,
    train,
)
from twinwl.terminal import ProgressBar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def history_to_state(history: History) -> dict[str, object]:
    """Return the curves as lists of numbers."""
    return asdict(history)


def history_from_state(state: object) -> History:
    """Undo `history_to_state`.

    >>> history_from_state(history_to_state(History([0.5], best_epoch=0))).train_loss
    [0.5]
    """
    if isinstance(state, dict):
        state = {"validation_score": [], **state}  # which files of version 0.1 do not have
    if not isinstance(state, dict) or set(state) != {field.name for field in fields(History)}:
        raise TwinWLError("the model has no history of its training; the file is damaged")
    for name, value in state.items():
        curve = isinstance(value, list) and all(isinstance(entry, float) for entry in value)
        if type(value) is not int if name == "best_epoch" else not curve:
            raise TwinWLError(f"{name} in the model's history is not a curve; the file is damaged")
    if not -1 <= state["best_epoch"] < max(1, len(state["train_loss"])):
        raise TwinWLError("the best epoch of the model's history is not in it; the file is damaged")
    return History(**state)


def weights_to_state(module: torch.nn.Module) -> dict[str, Values]:
    """Return the weights by name."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def network_from_state(build: Callable[[], torch.nn.Module], state: object) -> torch.nn.Module:
    """Return a network with its weights.

    The network is first built without memory and its shapes are compared with those of the arrays, so that a
    file cannot cause a large allocation.

    Parameters
    ----------
    build
        Returns a fresh network.
    state
        From `weights_to_state`.

    >>> network = torch.nn.Linear(2, 3)
    >>> network_from_state(lambda: torch.nn.Linear(2, 3), weights_to_state(network))
    Linear(in_features=2, out_features=3, bias=True)
    """
    with torch.device("meta"):
        module = build()
    own = module.state_dict()
    if not isinstance(state, dict) or set(state) != set(own):
        raise TwinWLError("the weights do not fit the network; the file is damaged")
    for name, wanted in own.items():
        given = state[name]
        fits = isinstance(given, np.ndarray) and given.shape == tuple(wanted.shape)
        if not fits or torch.from_numpy(np.empty(0, given.dtype)).dtype != wanted.dtype:
            raise TwinWLError(f"the weights do not fit the network: {name}")
    weights = {name: torch.from_numpy(value.copy()) for name, value in state.items()}
    module.load_state_dict(weights, assign=True)
    if any(buffer.is_meta for buffer in module.buffers()):  # of a user's network: not part of its state
        module = build()
        module.load_state_dict(weights)
    return module.eval()


def check_same_shape(earlier: dict[str, object], now: dict[str, object], free: Collection[str]) -> None:
    """Refuse to go on if a parameter that is not about training has changed.

    >>> check_same_shape({"hidden": 64, "patience": 15}, {"hidden": 32, "patience": 5}, {"patience"})
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: warm_start: hidden was 64 and is 32; set it back, or warm_start=False
    """
    for name, value in now.items():
        before = earlier.get(name)
        if name not in free and before is not value and before != value:
            raise TwinWLError(
                f"warm_start: {name} was {shown(before)} and is {shown(value)}; set it back, or "
                "warm_start=False"
            )


def check_same_targets(earlier: Any, now: Any) -> None:  # noqa: ANN401  (estimators)
    """Refuse to go on with other classes or tasks; what the estimator was is then put back."""
    old = getattr(earlier, "classes_", None)
    same = earlier.tasks_ == now.tasks_
    if same and old is not None:
        new = now.classes_
        pairs = [(old, new)] if earlier.tasks_ is None else list(zip(old, new, strict=True))
        same = all(np.array_equal(before, after) for before, after in pairs)
    if not same:
        wanted = f"classes {old}" if earlier.tasks_ is None else f"tasks {earlier.tasks_} with classes {old}"
        vars(now).clear()
        vars(now).update(vars(earlier))
        raise TwinWLError(
            f"warm_start: y has other classes or tasks than before, {wanted}; give the same, or set "
            "warm_start=False"
        )


def network_of(earlier: Any, now: Any) -> torch.nn.Module:  # noqa: ANN401
    """Return a copy of the earlier network; that of a regressor answers in the units of the new targets."""
    module: torch.nn.Module = copy.deepcopy(earlier.module_)
    if hasattr(earlier, "scale_"):
        factor = np.asarray(earlier.scale_) / np.asarray(now.scale_)
        shift = (np.asarray(earlier.mean_) - np.asarray(now.mean_)) / np.asarray(now.scale_)
        last: Any = module.second
        with torch.no_grad():
            last.weight.mul_(torch.from_numpy(np.atleast_1d(factor)[:, None]).to(last.weight.dtype))
            last.bias.mul_(torch.from_numpy(np.atleast_1d(factor)).to(last.bias.dtype))
            last.bias.add_(torch.from_numpy(np.atleast_1d(shift)).to(last.bias.dtype))
    return module


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
        As for `twinwl.neural.training.train`.
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

            history = train(
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
        if isinstance(X, Answered):
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


class NeuralGraphClassifier(PredictsSets, ClassifierMixin, NeuralGraphEstimator):
    """Base of the neural classifiers: trained on the cross-entropy.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        Weight of each class in the loss.
    scoring : str or None
        What the epoch is chosen by: ``"accuracy"``, ``"balanced_accuracy"``, ``"matthews_corrcoef"``,
        ``"roc_auc"`` or ``"average_precision"``, of several tasks its mean, ties by the loss. None: accuracy;
        of several tasks, the loss alone.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        As for `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    """

    _constraints: ClassVar[Constraints] = {"class_weight": CLASS_WEIGHT, "scoring": (one_of(*SCORINGS), None)}

    _per_task = ("classes_", "conformal_")

    class_weight: object
    classes_: Values

    @per_task(side_by_side)
    def decision_function(self, X: GraphsLike) -> Float32:
        """Return the logits, shape (n_graphs, n_classes); of two classes their difference, (n_graphs,).

        Of several tasks, which have two classes each, one column per task.
        """
        return self._decisions(self._outputs(X))

    def _decisions(self, logits: Float32) -> Float32:
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits  # noqa: PLR2004

    @per_task(one_each)
    def predict_proba(self, X: GraphsLike) -> Float64 | list[Float64]:
        """Return the probability of each class, shape (n_graphs, n_classes), in the order of ``classes_``.

        Of several tasks a list with one array per task.
        """
        decisions = self.decision_function(X)
        return probabilities_of(decisions.astype(np.float64))

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Values:
        """Return the likeliest class of each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Targets:
        targets = Targets.of(y, n_graphs, sample_weight, self.class_weight, groups, known)
        self.classes_ = targets.classes
        return targets

    def _answers(self, y: object, n_graphs: int, name: str) -> Int64:
        codes = codes_of(y, self.classes_, n_graphs)
        if name == "validation_data" and (codes < 0).any():
            first = int(np.flatnonzero(codes < 0)[0])
            raise TwinWLError(f"validation_data: the class of graph {first} is not in y: {self.classes_}")
        return codes

    def _keep_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        self.conformal_ = None
        if outputs is not None:
            probabilities = probabilities_of(self._decisions(outputs).astype(np.float64))
            self.conformal_ = ConformalSets.fitted(probabilities, np.asarray(answers, np.int64))

    def _own_outputs(self, outputs: Outputs, place: int) -> Outputs:
        own = outputs[..., [place, place]]
        own[..., 0] = 0
        return own

    @property
    def _n_outputs(self) -> int:
        return len(self.classes_)

    def _decision_about(self, outputs: Float32) -> Decision:
        """Compare the predicted class with the second most likely one."""
        wanted, other = np.argsort(-outputs, kind="stable")[:2].tolist()
        weights = np.zeros(len(outputs), np.float32)
        weights[wanted], weights[other] = 1.0, -1.0
        return Decision(self.classes_[wanted], self.classes_[other], weights, 0.0)

    def _own_to_state(self) -> dict[str, object]:
        return {**classes_to_state(self.classes_), **self._conformal_to_state()}

    def _own_from_state(self, state: Mapping[str, object]) -> None:
        self.classes_ = classes_from_state(state)
        self._conformal_from_state(state, len(self.classes_))


class NeuralGraphRegressor(PredictsIntervals, RegressorMixin, NeuralGraphEstimator):
    """Base of the neural regressors: trained on the mean squared error of standardised targets.

    Parameters
    ----------
    scoring : str or None
        What the epoch is chosen by: ``"r2"``, ``"neg_root_mean_squared_error"`` or
        ``"neg_mean_absolute_error"``, of several tasks its mean, each in standard deviations of its targets.
        None: the loss, the squared error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        As for `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    """

    _constraints: ClassVar[Constraints] = {"scoring": (one_of(*NUMBER_SCORINGS), None)}

    _per_task = ("mean_", "scale_", "conformal_")

    mean_: float
    scale_: float

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Float64:
        """Return a number for each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        return self._outputs(X)[:, 0].astype(np.float64) * self.scale_ + self.mean_

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Measurements:
        targets = Measurements.of(y, n_graphs, sample_weight, groups, known)
        self.mean_, self.scale_ = targets.mean, targets.scale
        return targets

    def _answers(self, y: object, n_graphs: int, name: str) -> Float64:  # noqa: ARG002
        return (numbers_of(y, n_graphs) - self.mean_) / self.scale_

    def _keep_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        self.conformal_ = None
        if outputs is not None:
            numbers = outputs[:, 0].astype(np.float64)
            self.conformal_ = ConformalIntervals.fitted(
                self.scale_ * numbers, self.scale_ * np.asarray(answers, np.float64)
            )

    def _own_outputs(self, outputs: Outputs, place: int) -> Outputs:
        return outputs[..., [place]]

    @property
    def _n_outputs(self) -> int:
        return 1

    def _decision_about(self, outputs: Float32) -> Decision:
        number = float(outputs[0]) * self.scale_ + self.mean_
        return Decision(number, None, np.array([self.scale_], np.float32), self.mean_)

    def _own_to_state(self) -> dict[str, object]:
        numbers = {"target_mean": self.mean_, "target_scale": self.scale_}
        return {**numbers, **self._conformal_to_state()}

    def _own_from_state(self, state: Mapping[str, object]) -> None:
        for name in ("mean", "scale"):
            value = state.get(f"target_{name}")
            if not isinstance(value, float) or not math.isfinite(value) or (name == "scale" and value <= 0):
                raise TwinWLError(f"the {name} of the model's targets is not a number; the file is damaged")
            setattr(self, f"{name}_", value)
        self._conformal_from_state(state)
