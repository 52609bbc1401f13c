"""The trainer: cross-entropy or squared error, Adam, early stopping on a held-out part, and curves.

In this order: seeds, threads and devices of torch; the curves (`History`) and callbacks; averages of weights;
and training itself (`train`, `predict_logits`).
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from twinwl.arguments import Constraint
from twinwl.arrays import Float32, Float64, Int64
from twinwl.errors import TwinWLError
from twinwl.models.metrics import score_decisions
from twinwl.models.targets import is_known
from twinwl.neural.sparse import SparseAwareAdam

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEVICES = ("auto", "cpu", "cuda", "mps")

T = TypeVar("T")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch within the block, and restore its generator afterwards.

    >>> with seeded(0):
    ...     first = torch.rand(1)
    >>> with seeded(0):
    ...     bool(torch.rand(1) == first)
    True
    """
    with torch.random.fork_rng(devices=list(range(torch.cuda.device_count()))):
        torch.manual_seed(seed)
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit torch to one thread within the block: more threads would slow small batches down.

    One thread also sums in a fixed order, so a result does not depend on the number of cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def device_of(name: str, *, or_else: str | None = None) -> torch.device:
    """Return a device by its name; ``"auto"`` is the first available of cuda, mps and cpu.

    Parameters
    ----------
    name
        One of `DEVICES`.
    or_else
        The device to use if there is no such one, as for a model trained elsewhere; None raises an error.

    >>> device_of("cpu")
    device(type='cpu')
    """
    is_there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    there = [kind for kind, here in is_there.items() if here]
    if name == "auto":
        return torch.device(there[0])
    if name in there:
        return torch.device(name)
    if or_else is not None:
        return torch.device(or_else)
    raise TwinWLError(
        f"device: got {name!r}, which torch does not find here; there is {' and '.join(there)}. "
        "device='auto' takes the best there is"
    )


def own_device(module: torch.nn.Module) -> torch.device:
    """Return the device of a network's weights; the processor if it has none."""
    return next((weight.device for weight in module.parameters()), torch.device("cpu"))


def move_to(value: T, device: torch.device) -> T:
    """Return an input of a network with all its tensors on a device; arrays and numbers stay unchanged.

    >>> move_to((torch.ones(1), 3), torch.device("meta"))[0].device
    device(type='meta')
    """
    return change_tensors(value, lambda tensor: tensor.to(device))


def change_tensors(value: T, change: Callable[[Tensor], Tensor]) -> T:
    """Return an input of a network with each of its tensors changed."""
    if isinstance(value, Tensor):
        return change(value)  # type: ignore[return-value]
    if isinstance(value, tuple) and not isinstance(value, torch.Size):
        parts = [change_tensors(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


# ---------------------------------------------------------------------- callbacks and curves

Callbacks: TypeAlias = "Callable[[History], object] | Sequence[Callable[[History], object]] | None"


def _functions(value: Any) -> list[Callable[[History], object]]:  # noqa: ANN401
    functions = list(value) if isinstance(value, list | tuple) else [value]
    if not all(callable(function) and not isinstance(function, type) for function in functions):
        raise TypeError
    return functions


CALLBACKS = (Constraint("a function of the history, or a list of such functions", _functions), None)


def call_back(callbacks: Callbacks, history: History) -> bool:
    """Call each function with a copy of the history; return whether one of them returned True.

    >>> call_back(lambda history: history.n_epochs == 2, History([0.5, 0.4], best_epoch=1))
    True
    """
    functions = [] if callbacks is None else _functions(callbacks)
    # A list, not a generator, so that each one is called.
    stops = [function(copy.deepcopy(history)) is True for function in functions]
    return any(stops)


@dataclass
class History:
    """Curves of one training run; entry i of each list belongs to epoch i, counted from 0.

    Attributes
    ----------
    train_loss : list of float
        Mean loss over the batches of the epoch, while the weights change.
    validation_loss, validation_accuracy : list of float
        On the held-out part, after the epoch; empty if there is none. Regressors and models of several tasks
        have no accuracy.
    validation_score : list of float
        The score on the held-out part by which the best epoch is chosen, if an estimator has a ``scoring``;
        else empty.
    monitor_accuracy : list of float
        On data that is only monitored and never used for decisions; empty if there is none.
    best_epoch : int
        The epoch whose weights were kept; -1 before the first.

    >>> history = History(validation_loss=[0.7, 0.5], validation_accuracy=[0.5, 0.5], best_epoch=1)
    >>> history.n_epochs
    2
    """

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    monitor_accuracy: list[float] = field(default_factory=list)
    best_epoch: int = -1
    validation_score: list[float] = field(default_factory=list)

    @property
    def n_epochs(self) -> int:
        """Number of epochs that were run."""
        return max(len(self.train_loss), len(self.validation_loss))

    @property
    def best_validation_accuracy(self) -> float:
        """Accuracy on the held-out part at the epoch that was kept; NaN without a held-out part."""
        return self.validation_accuracy[self.best_epoch] if self.validation_accuracy else float("nan")

    def current_numbers(self) -> list[str]:
        """Return the current numbers of the training as text, the most important first.

        >>> History([0.5], [0.4], [0.8125], best_epoch=0).current_numbers()
        ['validation 81.2 %', 'best 81.2 %', 'loss 0.500']
        """
        parts = [f"loss {self.train_loss[-1]:.3f}"]
        for name, curve, form in (
            ("validation score", self.validation_score, "{:.3f}"),
            ("validation", [100 * value for value in self.validation_accuracy], "{:.1f} %"),
            ("validation loss", self.validation_loss, "{:.3f}"),
        ):
            if curve:
                now, best = form.format(curve[-1]), form.format(curve[self.best_epoch])
                parts = [f"{name} {now}", f"best {best}", *parts]
                break
        if self.monitor_accuracy:
            parts.append(f"watched {100 * self.monitor_accuracy[-1]:.1f} %")
        return parts

    def plot(self) -> Figure:
        """Return the curves as a figure of matplotlib: losses and, where there are any, accuracies.

        >>> len(History([0.7, 0.5], [0.8, 0.6], [0.5, 0.75], best_epoch=1).plot().axes)
        2
        """
        from matplotlib.figure import Figure  # noqa: PLC0415  (heavy)
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

        held, watched = (
            [100 * value for value in x] for x in (self.validation_accuracy, self.monitor_accuracy)
        )
        panels = {
            "loss": {"training": self.train_loss, "held out": self.validation_loss},
            "accuracy, %": {"held out": held, "watched": watched},
            "score": {"held out": self.validation_score},
        }
        drawn = {name: curves for name, curves in panels.items() if any(curves.values()) or name == "loss"}
        colours = {"training": "0.55", "held out": "tab:blue", "watched": "tab:orange"}
        figure = Figure(figsize=(5 * len(drawn), 3.2), layout="constrained")
        for place, (name, curves) in enumerate(drawn.items(), start=1):
            axes = figure.add_subplot(1, len(drawn), place, xlabel="epoch", ylabel=name)
            axes.spines[["top", "right"]].set_visible(False)
            for label, values in curves.items():
                if values:
                    axes.plot(
                        range(1, len(values) + 1), values, label=label, color=colours[label], marker="."
                    )
            if self.best_epoch >= 0:
                best = self.best_epoch + 1
                axes.axvline(best, color="0.8", zorder=0, label=f"epoch kept: {best}")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axes.lines:
                axes.legend(frameon=False)
        return figure


Weights: TypeAlias = dict[str, Tensor]


def weights_of(module: nn.Module) -> Weights:
    """Return a copy of a network's weights."""
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


class WeightAverage:
    """The mean of the weights after each of the last epochs.

    Parameters
    ----------
    n_epochs
        Number of epochs; with 1 the network is left unchanged.

    Attributes
    ----------
    recent : deque of dict
        Weights after the last epochs.

    >>> line, average = nn.Linear(1, 1, bias=False), WeightAverage(2)
    >>> for weight in (1.0, 2.0, 4.0):
    ...     _ = line.weight.data.fill_(weight)
    ...     with average.apply_to(line):
    ...         print(line.weight.item())
    1.0
    1.5
    3.0
    >>> line.weight.item()
    4.0
    """

    def __init__(self, n_epochs: int) -> None:
        self.recent: deque[Weights] = deque(maxlen=n_epochs)

    @contextmanager
    def apply_to(self, module: nn.Module) -> Iterator[None]:
        """Add the weights of an epoch, and give the network the mean within the block."""
        if self.recent.maxlen == 1:
            yield
            return
        self.recent.append(weights_of(module))
        module.load_state_dict({name: self._mean(name) for name in self.recent[-1]})
        yield
        module.load_state_dict(self.recent[-1])

    def _mean(self, name: str) -> Tensor:
        *before, last = (weights[name] for weights in self.recent)
        if not last.is_floating_point():  # such as the number of batches that a layer has seen
            return last
        total = last.clone()
        for value in before:  # stacked, they would take as much memory again
            total += value
        return total.div_(len(self.recent))


# ---------------------------------------------------------------------- training

_ROWS_AT_ONCE = 1024


class Examples(Protocol):
    """The input of a network for many graphs, one row per graph.

    Examples that are not all in memory also have ``shuffled(random)``, which returns all rows in a random
    order in which they can be read fast. Examples with expensive rows have ``rows_at_once``, the number of
    rows to evaluate at a time.
    """

    def __len__(self) -> int: ...

    def take(self, rows: Int64) -> object:
        """Return the input of the network for these rows."""


class LabelledSet(NamedTuple):
    """Examples with their targets, to learn from or to score on.

    Attributes
    ----------
    examples : Examples
    targets : array of int64 or float64, shape (n,) or (n, n_tasks)
        As for `train`.
    weights : array of float64 like ``targets``, or None
        Weight of each entry in the loss and the scores; None weighs all equally.
    scoring : str or None
        The score by which the best epoch is chosen, such as ``"roc_auc"``.
    positive : int
        Code of the positive class, if there are two.
    """

    examples: Examples
    targets: Int64 | Float64
    weights: Float64 | None = None
    scoring: str | None = None
    positive: int = 1


def train(
    module: nn.Module,
    examples: Examples,
    targets: Int64 | Float64,
    *,
    sample_weight: Float64 | None = None,
    validation: LabelledSet | None = None,
    monitor: LabelledSet | None = None,
    max_epochs: int = 100,
    batch_size: int = 32,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
    patience: int = 15,
    average_epochs: int = 1,
    random_state: int = 0,
    device: str = "cpu",
    progress: Callable[[History], bool] | None = None,
) -> History:
    """Train a network in place, and leave it with the weights of its best epoch.

    Parameters
    ----------
    module
        Maps what ``examples.take`` returns to logits of shape (rows, classes). If it has a method
        ``recalibrate(examples)``, this is called after each epoch.
    examples
        The training part.
    targets : array, shape (n,) or (n, n_tasks)
        Class codes 0, 1, … with the cross-entropy as loss, or floats with the squared error of the network's
        only output. With several tasks there is one output per task, and targets are either codes 0 and 1
        (below 0 if unknown) with the logistic loss, or floats (NaN if unknown) with the squared error. The
        loss is then the mean over the known entries.
    sample_weight : array of shape (n,), or (n, n_tasks), optional
        Weight of each row in the loss; only ratios matter.
    validation
        The held-out part. The best epoch has the highest score on it by its ``scoring``; in a tie, the lowest
        loss. Without a ``scoring`` the score is the accuracy. Numbers and several tasks have no accuracy, so
        without a ``scoring`` the loss decides. Training stops after ``patience`` epochs
        without a better one. Without a held-out part the last epoch is kept.
    monitor
        Examples whose accuracy is only recorded, such as a test fold for its curve. Numbers and several tasks
        have no accuracy.
    weight_decay
        Decoupled from the gradient (AdamW).
    average_epochs
        The network that is scored and kept after an epoch has the mean of the weights of this many last
        epochs; training itself continues from the last weights.
    random_state
        Seed of batch order and dropout. torch's global generator is not changed.
    device : {"auto", "cpu", "cuda", "mps"}
        Where to train; ``"auto"`` is the first available of cuda, mps and cpu. Afterwards the network is
        on the processor again.
    progress
        Called with the history after each epoch; training stops if it returns True.

    Returns
    -------
    History

    >>> class Points:
    ...     def __init__(self, x):
    ...         self.x = torch.as_tensor(x, dtype=torch.float32)
    ...     def __len__(self):
    ...         return len(self.x)
    ...     def take(self, rows):
    ...         return self.x[torch.as_tensor(rows)]
    >>> x = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    >>> y = np.array([0, 0, 1, 1])
    >>> with seeded(0):
    ...     line = nn.Linear(1, 2)
    >>> history = train(line, Points(x), y, max_epochs=200, learning_rate=0.1, random_state=0)
    >>> predict_logits(line, Points(x)).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """
    target_device = device_of(device)
    weights = _scaled_weights(sample_weight, targets)
    weights = None if weights is None else weights.float().to(target_device)  # mps has no double precision
    answers = torch.as_tensor(targets if targets.dtype.kind == "i" else targets.astype(np.float32))
    answers = answers.to(target_device)
    module.to(target_device)
    history = History()
    best: Weights | None = None
    average = WeightAverage(average_epochs)
    generator = np.random.default_rng(random_state)
    with (
        seeded(random_state),
        single_threaded(),
        SparseAwareAdam(module, learning_rate, weight_decay) as optimiser,
    ):
        for epoch in range(max_epochs):
            if validation is not None and epoch - 1 - history.best_epoch >= patience:
                break
            history.train_loss.append(
                _run_epoch(module, examples, answers, weights, optimiser, batch_size, generator)
            )
            with average.apply_to(module):
                if hasattr(module, "recalibrate"):
                    module.recalibrate(examples)  # type: ignore[operator]
                if monitor is not None:
                    _, accuracy, _ = _evaluate(module, monitor)
                    history.monitor_accuracy += [] if accuracy is None else [accuracy]
                if validation is None or _note_validation(module, validation, history):
                    history.best_epoch = epoch
                    # None: the last weights are kept anyway.
                    best = None if validation is None and average_epochs == 1 else weights_of(module)
            if progress is not None and progress(history):
                break
    if best is not None:
        module.load_state_dict(best)
    module.cpu().eval()
    return history


def blocks_of(examples: Examples) -> list[Int64]:
    """Return all rows in blocks to evaluate: of 1,024, unless the examples name a number of their own."""
    n_rows, step = len(examples), int(getattr(examples, "rows_at_once", _ROWS_AT_ONCE))
    return [np.arange(low, min(low + step, n_rows)) for low in range(0, n_rows, step)]


def predict_logits(module: nn.Module, examples: Examples) -> Float32:
    """Return the network's logits for all rows, shape (n, n_classes); it is in evaluation mode afterwards."""
    module.eval()
    with torch.no_grad(), single_threaded():
        device = own_device(module)
        parts = [module(move_to(examples.take(rows), device)).cpu() for rows in blocks_of(examples)]
    return torch.cat(parts).numpy() if parts else np.empty((0, 0), np.float32)


def _scaled_weights(sample_weight: Float64 | None, targets: Int64 | Float64) -> Tensor | None:
    """Scale weights to mean 1, so that they do not change the step size on average."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    counted = weights if targets.ndim == 1 else weights[is_known(targets)]
    mean = counted.mean() if len(counted) else 1.0
    if not mean > 0:
        raise TwinWLError("every graph has a weight of zero; give some a positive weight")
    return torch.as_tensor(weights / mean)


def _run_epoch(
    module: nn.Module,
    examples: Examples,
    answers: Tensor,
    weights: Tensor | None,
    optimiser: SparseAwareAdam,
    batch_size: int,
    generator: np.random.Generator,
) -> float:
    """Train for one epoch, and return the mean loss over its batches."""
    module.train()
    total = 0.0
    shuffled = getattr(examples, "shuffled", lambda random: random.permutation(len(examples)))
    for rows in _batches(shuffled(generator), batch_size):
        optimiser.zero_grad()
        outputs = module(move_to(examples.take(rows), answers.device))
        picked = torch.as_tensor(rows).to(answers.device)
        loss = _loss(outputs, answers[picked], None if weights is None else weights[picked])
        try:
            loss.backward()  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            raise TwinWLError(
                f"the gradient cannot be computed ({error}); a network of your own must not keep tensors of "
                "an earlier step, nor change in place what it needs later"
            ) from error
        optimiser.step()
        total += loss.item() * len(rows)
    optimiser.flush()
    mean = total / len(examples)
    if not np.isfinite(mean):
        raise TwinWLError(
            f"the training loss became {mean}; lower learning_rate, or look for huge values in the input"
        )
    return mean


def _loss(outputs: Tensor, answers: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean loss of some rows; of several tasks, over the entries that are known."""
    if answers.ndim > 1:
        known = answers == answers if answers.is_floating_point() else answers >= 0  # noqa: PLR0124  (not NaN)
        if not known.any():
            return 0 * outputs.sum()  # zero, but connected to the weights, for ``backward``
        outputs, answers = outputs[known], answers[known]
        weights = None if weights is None else weights[known]
    elif answers.is_floating_point():
        outputs = outputs[:, 0]
    losses: Callable[..., Tensor]
    if answers.is_floating_point():
        losses = functional.mse_loss
    elif outputs.ndim > 1:
        losses = partial(functional.cross_entropy, ignore_index=-1)  # a class that was not learnt has no loss
    else:  # one output for two classes: the loss of the logistic regression
        losses, answers = functional.binary_cross_entropy_with_logits, answers.to(outputs.dtype)
    if weights is None:
        return losses(outputs, answers)
    return (losses(outputs, answers, reduction="none") * weights).mean()


def _batches(order: Int64, batch_size: int) -> list[Int64]:
    """Cut an order into batches; a last batch of one row, which has no variance, joins the one before."""
    bounds = list(range(batch_size, len(order), batch_size))
    if bounds and bounds[-1] == len(order) - 1:
        bounds.pop()
    return np.split(order, bounds)


def _note_validation(module: nn.Module, held: LabelledSet, history: History) -> bool:
    """Record loss and accuracy on the held-out part, and return whether the epoch is the best so far."""
    score, accuracy, loss = _evaluate(module, held)
    history.validation_loss.append(loss)
    if accuracy is not None:
        history.validation_accuracy.append(accuracy)
    if score is not None:
        history.validation_score.append(score)
    best, scores = history.best_epoch, history.validation_score or history.validation_accuracy
    if best < 0:
        return True
    if not scores:
        return loss < history.validation_loss[best]
    return (scores[-1], -loss) > (scores[best], -history.validation_loss[best])


def _evaluate(module: nn.Module, held: LabelledSet) -> tuple[float | None, float | None, float]:
    """Return the score, if there is a scoring; the accuracy, None for numbers and several tasks; the loss."""
    logits = predict_logits(module, held.examples).astype(np.float64)
    weights = _scaled_weights(held.weights, held.targets)
    loss = _loss(torch.from_numpy(logits), torch.as_tensor(held.targets), weights).item()
    accuracy = None
    if held.targets.ndim == 1 and held.targets.dtype.kind != "f":
        accuracy = float(np.average(logits.argmax(axis=1) == held.targets, weights=held.weights))
    return None if held.scoring is None else _score(logits, held), accuracy, loss


def _score(logits: Float64, held: LabelledSet) -> float:
    """Return the score by ``held.scoring``; of several tasks, the mean of those for which it is defined."""
    assert held.scoring is not None  # noqa: S101  (asked by `_evaluate`)
    if held.targets.ndim == 1:
        if logits.shape[1] <= 2:  # noqa: PLR2004  (of two classes the difference, of numbers the only one)
            logits = logits[:, -1] - (logits[:, 0] if logits.shape[1] > 1 else 0)
        scores = [score_decisions(held.targets, logits, held.scoring, held.weights, held.positive)]
    else:
        weights = np.ones(held.targets.shape) if held.weights is None else held.weights
        scores = [
            score_decisions(answers[known], outputs[known], held.scoring, weight[known])
            for answers, outputs, weight in zip(held.targets.T, logits.T, weights.T)
            if (known := is_known(answers)).any()
        ]
    defined = [score for score in scores if not np.isnan(score)]
    if not defined:
        raise TwinWLError(
            f"scoring: {held.scoring} is undefined on the {len(held.targets)} held-out graphs, which lack a "
            "class; hold more out, or choose another scoring"
        )
    return float(np.mean(defined))
