"""The base classes of the neural estimators: hold-out, training, state. Subclasses define the network."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import nn

from twinwl.arguments import CLASS_WEIGHT, FLAG, MAX_ITEMS, RANDOM_STATE, integer, items, number, one_of
from twinwl.arrays import Fields, Float32, Float64, Int64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.building import GraphsLike
from twinwl.models import base
from twinwl.models.base import GraphEstimator, TaskEstimator, seeds, with_parameters
from twinwl.models.calibration import ClassHead, NumberHead, hold_out, hold_out_scaffolds, scaffolds_of
from twinwl.models.explanation import Decision, best_two
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS, HeldOut, positive_class
from twinwl.models.targets import TargetTable, encode, is_known, name_task
from twinwl.neural import training
from twinwl.neural.training import Examples, History, LabelledSet
from twinwl.terminal import ProgressBar

# The model of one task, or of an earlier fit, is of the same class.
# ruff: noqa: SLF001

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def weights_to_state(module: nn.Module) -> dict[str, Values]:
    """Return the weights by name."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def network_from_state(build: Callable[[], nn.Module], state: object) -> nn.Module:
    """Return a network with its weights.

    The network is first built without memory and its shapes are compared with those of the arrays, so that a
    file cannot cause a large allocation.

    Parameters
    ----------
    build
        Returns a fresh network.
    state
        From `weights_to_state`.

    >>> network = nn.Linear(2, 3)
    >>> network_from_state(lambda: nn.Linear(2, 3), weights_to_state(network))
    Linear(in_features=2, out_features=3, bias=True)
    """
    with torch.device("meta"):
        module = build()
    own = module.state_dict()
    if not isinstance(state, dict) or set(state) != set(own):
        raise TwinWLError("the weights do not fit the network; the file is damaged")
    for name, wanted in own.items():
        array = state[name]
        fits = isinstance(array, np.ndarray) and array.shape == tuple(wanted.shape)
        if not fits or torch.from_numpy(np.empty(0, array.dtype)).dtype != wanted.dtype:
            raise TwinWLError(f"the weights do not fit the network: {name}")
    weights = {name: torch.from_numpy(value.copy()) for name, value in state.items()}
    module.load_state_dict(weights, assign=True)
    if any(buffer.is_meta for buffer in module.buffers()):  # of a user's network: not part of its state
        module = build()
        module.load_state_dict(weights)
    return module.eval()


def network_of(earlier: NeuralGraphEstimator, targets: TargetTable) -> nn.Module:
    """Return a copy of the earlier network; that of a regressor answers in the units of the new targets."""
    old: list[Any] = [getattr(head, "classes", None) for head in earlier.heads_]
    new: list[Any] = [getattr(head, "classes", None) for head in targets.heads]
    if earlier.tasks_ != targets.names or not all(map(np.array_equal, old, new)):
        tasks = "" if earlier.tasks_ is None else f"tasks {earlier.tasks_} with "
        raise TwinWLError(
            f"warm_start: y has other classes or tasks than before, {tasks}classes {earlier._per_task(old)}; "
            "give the same, or set warm_start=False"
        )
    module: Any = copy.deepcopy(earlier.module_)
    last = module.second
    with torch.no_grad():
        for row, (before, now) in enumerate(zip(earlier.heads_, targets.heads)):
            if isinstance(now, NumberHead):
                last.weight[row] *= before.scale / now.scale
                last.bias[row] *= before.scale / now.scale
                last.bias[row] += (before.mean - now.mean) / now.scale
    return module


@with_parameters
class TrainingParameters(GraphEstimator):
    """The parameters of all estimators that train a network; see `NeuralGraphEstimator`."""

    _constraints = {
        "dropout": (number(0, 1, below=True),),
        "max_epochs": (integer(1, 1_000_000),),
        "batch_size": (integer(1, MAX_ITEMS),),
        "learning_rate": (number(0, 10, above=True),),
        "weight_decay": (number(0, 100),),
        "patience": (integer(1, 1_000_000),),
        "validation_fraction": (number(0, 1, above=True, below=True), None),
        "refit": (FLAG,),
        "average_epochs": (integer(1, 1_000),),
        "warm_start": (FLAG,),
        "callbacks": training.CALLBACKS,
        "device": (one_of(*training.DEVICES),),
        "random_state": RANDOM_STATE,
        "verbose": (FLAG, integer(0), None),
    }

    _removed = {
        "hold_outs": "leave it out (one hold-out chooses the epoch), or pass validation_data",
        "precision": "leave it out: training is in single precision",
    }
    _not_saved = ("callbacks",)

    _: KW_ONLY
    dropout: float = 0.5
    max_epochs: int = 100
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    patience: int = 15
    validation_fraction: float | None = 0.1
    verbose: bool | int | None = None
    device: str = "auto"
    refit: bool = False
    average_epochs: int = 1
    warm_start: bool = False
    callbacks: training.Callbacks = None


@with_parameters
class NeuralGraphEstimator(TaskEstimator, TrainingParameters):
    """Base of the neural estimators; a subclass defines how graphs become examples, and the network.

    A subclass implements ``_fit_examples(batch)``, which fits encoders and alphabets on the training part;
    ``_examples(batch)``, which encodes other graphs with them; and ``_build_module(n_outputs)``, which is
    called with torch seeded. `NeuralGraphClassifier` and `NeuralGraphRegressor` define what is learnt. One
    network learns several tasks, with one output per task.

    Parameters
    ----------
    max_epochs : int
        The largest number of epochs.
    batch_size : int
        Number of graphs in a mini-batch.
    learning_rate, weight_decay : float
        Parameters of the optimiser, Adam with decoupled weight decay.
    patience : int
        Stop after this many epochs without a better score on the held-out graphs.
    validation_fraction : float or None
        Share of the training graphs held out to choose the epoch; None trains on all of them, for
        ``max_epochs``.
    scoring : str or None
        What the epoch is chosen by on the held-out graphs.
    refit : bool
        After the number of epochs is chosen, train a fresh network on all graphs, those held out (or of
        ``validation_data``) too, for that number.
    average_epochs : int
        The network has the mean of the weights of this many epochs, up to the one that is kept.
    warm_start : bool
        Let ``fit`` continue from the weights and the encoders of the fit before, on the same or other graphs;
        Adam starts anew. Only parameters of training may change in between.
    callbacks : function, list of functions or None
        Called with the `History` so far after each epoch, those of a refit included; training stops after an
        epoch for which one returns True. Model files do not keep them.
    device : {"auto", "cpu", "cuda", "mps"}
        Where the network is trained and evaluated; ``"auto"`` is the first available of cuda, mps and cpu. A
        model that was trained on a device that is missing here predicts on the processor.
    random_state : int, RandomState, Generator or None
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    verbose : bool, int or None
        Show a progress bar; None shows it if standard error is a terminal.

    Attributes
    ----------
    module_ : nn.Module
        The trained network.
    history_ : History
        Curves of the training that chose the number of epochs.
    held_out_ : array of int64, or None
        The training graphs that were held out to choose the epoch, as row numbers of ``X``; not saved.
    held_out_outputs_ : array of float32, shape (n_held, n_outputs), or None
        Outputs about them, or about ``validation_data``, of the network that had not learnt from them: with
        ``refit``, not the final one; not saved.
    n_epochs_ : int
        Number of epochs that the final network was trained for; not saved.
    """

    _renamed = {"progress": "verbose"}

    _: KW_ONLY
    scoring: str | None = None

    _fitted_attribute = "history_"
    _shared: ClassVar[tuple[str, ...]] = ("history_", "n_epochs_", "held_out_", "_fitted_with")
    _learns_tasks = False

    # ------------------------------------------------------------------ what a subclass implements

    def _fit_examples(self, batch: GraphBatch) -> Examples:
        """Fit encoders on these graphs, and encode them."""
        raise NotImplementedError

    def _examples(self, batch: GraphBatch) -> Examples:
        """Encode graphs with the fitted encoders."""
        raise NotImplementedError

    def _build_module(self, n_outputs: int) -> nn.Module:
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
            table (see `TaskEstimator`), NaN where a target is unknown, with two classes per task.
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
        targets = self._read_targets(y, len(batch), sample_weight, groups)
        start = None
        if self.warm_start and hasattr(self, self._fitted_attribute):
            free = {*NeuralGraphEstimator._constraints, "class_weight"} - {"dropout"}
            for name, value in self.get_params(deep=False).items():
                before = self._fitted_with.get(name)
                if name not in free and before is not value and before != value:
                    raise TwinWLError(
                        f"warm_start: {name} was {shown(before)} and is {shown(value)}; set it back, or "
                        "warm_start=False"
                    )
            start = network_of(self, targets)
        self._begin(targets)
        batch = targets.graphs_that_count(batch)
        training.device_of(self.device)  # refuse one that is not there before the work of encoding
        split_seed, *other_seeds = seeds(self.random_state, 3)
        grouped = targets.groups is not None or batch.atoms is None
        scaffolds = None if grouped else functools.partial(scaffolds_of, batch)
        kept, held = split_rows(self.validation_fraction, validation_data, targets, split_seed, scaffolds)
        # Encoders are fitted on the kept part only: held-out graphs are encoded as new graphs will be.
        rows = self._label(
            self._learnt_examples(batch if held is None else batch[kept], start), targets, kept
        )
        if held is None:
            validation = self._held(validation_data, "validation_data")
        else:  # the weights of training also apply to the choice of the epoch
            validation = self._label(self._examples(batch[held]), targets, held)
        self._train(rows, validation, self._held(monitor_data, "monitor_data"), other_seeds, start)
        self.held_out_ = None if held is None else targets.rows[held]
        if self.refit and validation is not None:
            self._refit(batch, targets, validation_data, other_seeds, start)
        return self

    def _begin(self, targets: TargetTable) -> None:
        """Keep what predictions need of the targets."""
        for name, head in zip(targets.names or (), targets.heads, strict=bool(targets.names)):
            if isinstance(head, ClassHead) and len(head.classes) > 2:  # noqa: PLR2004
                raise TwinWLError(
                    f"task {name!r}: got {len(head.classes)} classes, expected 2 where a network learns "
                    "several tasks; train that task alone, or use STwinSVC"
                )
        self.tasks_, self.heads_ = targets.names, list(targets.heads)

    def _label(self, examples: Examples, targets: TargetTable, rows: Int64) -> LabelledSet:
        """Return examples with the targets ``rows``."""
        importance = targets.importance()
        weights = None if importance is None else self._squeeze(importance[rows])
        return LabelledSet(examples, self._squeeze(targets.answers[rows]), weights)

    def _squeeze(self, table: Any) -> Any:  # noqa: ANN401
        """Return a table with one column per task, or the only column: then each class has an output."""
        return table[:, 0] if self.tasks_ is None else table

    def _train(
        self,
        rows: LabelledSet,
        validation: LabelledSet | None,
        monitor: LabelledSet | None,
        seeds: Sequence[int],
        start: nn.Module | None = None,
    ) -> None:
        """Train a network, and choose its epoch.

        The two seeds are those of weights and of training; ``start`` is the network of an earlier fit.
        """
        self.module_: Any  # of the class that `_build_module` returns
        self.module_, self.history_ = self._train_module(
            rows, self.max_epochs, seeds, start, validation, monitor
        )
        self.n_epochs_ = self.history_.best_epoch + 1
        self._fitted_with = self.get_params(deep=False)
        self.held_out_outputs_ = self._held_out = None
        if validation is not None:
            self.held_out_outputs_ = training.predict_logits(self.module_, validation.examples)
            answers = validation.targets.reshape(-1, len(self.heads_))
            decisions = self._task_decisions(self.held_out_outputs_)
            learnt = np.nanmean(rows.targets.reshape(-1, len(self.heads_)), axis=0)
            held = []
            for place, head in enumerate(self.heads_):
                known = is_known(answers[:, place])
                judged = decisions[place][known], answers[known, place]
                self.heads_[place] = head.calibrated(*judged)
                held.append(HeldOut(head, *judged, mean=float(learnt[place])))
            again = ", before the refit on all graphs" if self.refit else ""
            chosen = f"best of {self.history_.n_epochs} epochs: {self.history_.best_epoch + 1}{again}"
            self._held_out = f"{len(answers):,} graphs; {chosen}", held

    def _train_module(
        self,
        rows: LabelledSet,
        max_epochs: int,
        seeds: Sequence[int],
        start: nn.Module | None,
        validation: LabelledSet | None = None,
        monitor: LabelledSet | None = None,
    ) -> tuple[nn.Module, History]:
        module_seed, train_seed = seeds
        if validation is not None:
            head = self.heads_[0]  # of several tasks, each has the classes 0 and 1
            single = self.tasks_ is None and isinstance(head, ClassHead)
            positive = positive_class(head.classes) if single else 1
            validation = validation._replace(scoring=self.scoring, positive=positive)
        with training.seeded(module_seed):
            module = self._build_module(self._n_outputs) if start is None else copy.deepcopy(start)
        with ProgressBar(
            type(self).__name__, max_epochs, show=None if self.verbose is None else bool(self.verbose)
        ) as bar:

            def after_epoch(history: History) -> bool:
                bar.advance()
                bar.note(*history.current_numbers())
                return training.call_back(self.callbacks, history)

            history = training.train(
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
        targets: TargetTable,
        validation_data: tuple[GraphsLike, object] | None,
        seeds: Sequence[int],
        start: nn.Module | None,
    ) -> None:
        """Train a network on all graphs for the number of epochs that was chosen."""
        everything = np.arange(len(targets.rows))
        _, answers, weights, *_ = self._label(None, targets, everything)  # type: ignore[arg-type]
        if validation_data is not None:
            graphs, y = validation_data
            held = self._new_graphs(graphs, "take as validation_data")
            batch = concatenate([batch, held])
            more = self._encode(y, len(held), "validation_data")
            if weights is not None:
                # Other graphs have the mean weight: of their class; of numbers and tasks, of all.
                usual = np.broadcast_to(weights.mean(axis=0), more.shape)
                if answers.ndim == 1 and answers.dtype.kind != "f":
                    usual = (np.bincount(answers, weights) / np.bincount(answers))[more]
                weights = np.concatenate([weights, usual])
            answers = np.concatenate([answers, more])
        rows = LabelledSet(self._learnt_examples(batch, start), answers, weights)
        self.module_, history = self._train_module(rows, self.n_epochs_, seeds, start)
        self.n_epochs_ = history.n_epochs  # fewer, if a callback stopped

    def _learnt_examples(self, batch: GraphBatch, start: nn.Module | None) -> Examples:
        """Encode graphs to learn from: with the encoders of the earlier fit, if there is one."""
        return self._fit_examples(batch) if start is None else self._examples(batch)

    def _held(self, data: tuple[GraphsLike, object] | None, name: str) -> LabelledSet | None:
        if data is None:
            return None
        pair = items(name, data, "a pair (graphs, targets)")
        if len(pair) != 2:  # noqa: PLR2004
            raise TwinWLError(f"{name}: got {len(pair)} entries, expected a pair (graphs, targets)")
        graphs, y = pair
        batch = self._new_graphs(graphs, f"take as {name}")
        return LabelledSet(self._examples(batch), self._encode(y, len(batch), name))

    def _encode(self, y: object, n_graphs: int, name: str) -> Int64 | Float64:
        """Return targets of other graphs as the network learns them; ``name`` says what they are for."""
        targets = self._same_tasks(y, n_graphs, name, empty=True)
        if not targets.known.any():
            raise TwinWLError(f"{name}: all targets are missing; give some that are known")
        table: Any = np.full(targets.known.shape, np.nan if self._learns_numbers else np.int64(-1))
        for place, (column, known, head) in enumerate(zip(targets.columns, targets.known.T, self.heads_)):
            with name_task(self.tasks_, place):
                table[known, place] = encode(head, column[known])
            unseen = np.flatnonzero(known & ~is_known(table[:, place]))
            if name == "validation_data" and len(unseen):
                raise TwinWLError(f"{name}: the class of graph {unseen[0]} is not in y: {head.classes}")
        return self._squeeze(table)

    @property
    def held_out_decisions_(self) -> Any:  # noqa: ANN401
        """Decision values of the held-out graphs, by the network that had not learnt from them."""
        return self._per_task(self._task_decisions(self.held_out_outputs_))

    @property
    def _n_outputs(self) -> int:
        """Number of the network's outputs: one per task, or one per class of the only task."""
        alone = self.tasks_ is None and not self._learns_numbers
        return len(self.heads_[0].classes) if alone else len(self.heads_)

    def _task_decisions(self, outputs: Any) -> list[Any]:  # noqa: ANN401
        """Return the decision values of each task: of two classes the logit of the second."""
        if outputs.shape[1] == len(self.heads_):
            return list(outputs.T)
        return [outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs]  # noqa: PLR2004

    def _decisions(self, X: GraphsLike) -> list[Float64]:
        self._check_fitted()
        examples = self._examples(self._new_graphs(X, "predict"))
        with self._network_on_device() as network:
            return self._task_decisions(training.predict_logits(network, examples))

    def _decision_about(self, outputs: Float32) -> Decision:
        """Say what the outputs about one graph mean: a number, or a class against the second most likely."""
        head = self.heads_[0]
        if isinstance(head, NumberHead):
            number = float(outputs[0]) * head.scale + head.mean
            return Decision(number, None, np.array([head.scale], np.float32), head.mean)
        wanted, other, weights = best_two(outputs)
        return Decision(head.classes[wanted], head.classes[other], weights.astype(np.float32), 0.0)

    def _select(self, place: int) -> Self:
        """Return the model of one task: the last layer of its network has the outputs of that task."""
        model = super()._select(place)

        def own(rows: Any) -> Any:  # noqa: ANN401  (of two classes, the first has the logit 0)
            part = rows[[place] if self._learns_numbers else [place, place]]
            part[: len(part) - 1] = 0
            return part

        model.module_ = copy.deepcopy(self.module_)
        last = model.module_.second
        last.weight, last.bias = (nn.Parameter(own(each.detach())) for each in (last.weight, last.bias))
        last.out_features = model._n_outputs
        held = getattr(self, "held_out_outputs_", None)  # a loaded model has none
        model.held_out_outputs_ = None if held is None else own(held.T).T
        return model

    @contextmanager
    def _network_on_device(self) -> Iterator[Any]:
        """Put the network on ``device`` in the block; files and explanations need it on the processor."""
        try:
            yield self.module_.to(training.device_of(self.device, or_else="cpu"))
        finally:
            self.module_.cpu()

    def plot_history(self) -> Figure:
        """Return the learning curves as a figure of matplotlib, to show or to save (``.savefig``)."""
        self._check_fitted()
        return self.history_.plot()

    # ------------------------------------------------------------------ model files

    def _network_to_state(self) -> Fields:
        """Return history, weights and what is kept of the targets for a model file."""
        self._check_fitted()
        return {
            "history": self.history_,
            "weights": weights_to_state(self.module_),
            "tasks": self.tasks_,
            "heads": self.heads_,
        }

    def _network_from_state(self, state: Fields, **shape: int) -> None:
        """Undo `_network_to_state`; the encoders, which decide the network's shape, must be set before.

        ``shape`` is passed to `_build_module`: what can be measured on a network with memory alone.
        """
        self.tasks_ = restore(tuple[str, ...] | None, state["tasks"])
        self.heads_ = restore(self._kept["heads"], state["heads"])
        if len(self.heads_) != len(self.tasks_ or self.heads_[:1]):
            raise TwinWLError("the model's outputs do not fit its tasks; the file is damaged")
        self.history_ = restore(History, state["history"], "history")
        build = functools.partial(self._build_module, self._n_outputs, **shape)
        self.module_ = network_from_state(build, state["weights"])
        self._fitted_with = self.get_params(deep=False)


def split_rows(
    fraction: float | None,
    validation_data: object,
    targets: TargetTable,
    seed: int,
    scaffolds: Callable[[], Int64] | None = None,
) -> tuple[Int64, Int64 | None]:
    """Return which targets are learnt from and which are held out to choose the epoch, None for no such.

    If ``scaffolds`` returns those of the graphs, whole ones are held out where there are enough, so that
    intervals and sets of classes hold for new scaffolds too.
    """
    if validation_data is not None or fraction is None:
        return np.arange(len(targets.rows)), None
    split = None if scaffolds is None else hold_out_scaffolds(targets.codes, fraction, seed, scaffolds())
    return split or hold_out(targets.codes, fraction, seed, targets.groups)


@with_parameters
class NeuralGraphClassifier(base.GraphClassifier, NeuralGraphEstimator):
    """Base of the neural classifiers: trained on the cross-entropy.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        Weight of each class in the loss.
    scoring : str or None
        What the epoch is chosen by: one of ``twinwl.models.metrics.SCORINGS``, of several tasks its mean,
        ties by the loss. None: accuracy; of several tasks, the loss alone.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    """

    _constraints = {"class_weight": CLASS_WEIGHT, "scoring": (one_of(*SCORINGS), None)}

    _: KW_ONLY
    class_weight: object = None


class NeuralGraphRegressor(base.GraphRegressor, NeuralGraphEstimator):
    """Base of the neural regressors: trained on the mean squared error of standardised targets.

    Parameters
    ----------
    scoring : str or None
        What the epoch is chosen by: one of ``twinwl.models.metrics.NUMBER_SCORINGS``, of several tasks its
        mean, each in standard deviations of its targets. None: the loss, the squared error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    """

    _constraints = {"scoring": (one_of(*NUMBER_SCORINGS), None)}

    @property
    def mean_(self) -> float | list[float]:
        """Mean of the training targets."""
        return self._per_task([head.mean for head in self.heads_])

    @property
    def scale_(self) -> float | list[float]:
        """Standard deviation of the training targets."""
        return self._per_task([head.scale for head in self.heads_])
