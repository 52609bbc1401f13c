"""The history of a training run, epoch by epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        What the epoch is chosen by on the held-out part, where an estimator has a ``scoring``; else empty.
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

    def figures(self) -> list[str]:
        """Return the current figures of the training as text, the most important first.

        >>> History([0.5], [0.4], [0.8125], best_epoch=0).figures()
        ['validation 81.2 %', 'best 81.2 %', 'loss 0.500']
        """
        parts = [f"loss {self.train_loss[-1]:.3f}"]
        if self.validation_score:
            now, best = self.validation_score[-1], self.validation_score[self.best_epoch]
            parts = [f"validation score {now:.3f}", f"best {best:.3f}", *parts]
        elif self.validation_accuracy:
            now, best = self.validation_accuracy[-1], self.best_validation_accuracy
            parts = [f"validation {100 * now:.1f} %", f"best {100 * best:.1f} %", *parts]
        elif self.validation_loss:
            now, best = self.validation_loss[-1], self.validation_loss[self.best_epoch]
            parts = [f"validation loss {now:.3f}", f"best {best:.3f}", *parts]
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

        panels = [
            ("loss", [("training", self.train_loss), ("held out", self.validation_loss)]),
            ("accuracy, %", [("held out", self.validation_accuracy), ("watched", self.monitor_accuracy)]),
            ("score", [("held out", self.validation_score)]),
        ]
        drawn = [(name, [curve for curve in curves if curve[1]]) for name, curves in panels]
        drawn = [(name, curves) for name, curves in drawn if curves] or [("loss", [])]
        figure = Figure(figsize=(5 * len(drawn), 3.2), layout="constrained")
        for place, (name, curves) in enumerate(drawn, start=1):
            axes = figure.add_subplot(1, len(drawn), place, xlabel="epoch", ylabel=name)
            axes.spines[["top", "right"]].set_visible(False)
            colours = {"training": "0.55", "held out": "tab:blue", "watched": "tab:orange"}
            for label, values in curves:
                shown = [100 * value for value in values] if name.startswith("accuracy") else values
                axes.plot(range(1, len(shown) + 1), shown, label=label, color=colours[label], marker=".")
            if self.best_epoch >= 0:
                axes.axvline(
                    self.best_epoch + 1, color="0.8", zorder=0, label=f"epoch kept: {self.best_epoch + 1}"
                )
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axes.lines:
                axes.legend(frameon=False)
        return figure
