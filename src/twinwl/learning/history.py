"""The history of a training run, epoch by epoch."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["History"]


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
    monitor_accuracy : list of float
        On data that is only monitored and never used for decisions; empty if there is none.
    best_epoch : int
        The epoch whose weights were kept; -1 before the first.

    Examples
    --------
    >>> history = History(validation_loss=[0.7, 0.5], validation_accuracy=[0.5, 0.5], best_epoch=1)
    >>> history.n_epochs
    2
    """

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    monitor_accuracy: list[float] = field(default_factory=list)
    best_epoch: int = -1

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
        if self.validation_accuracy:
            now, best = self.validation_accuracy[-1], self.best_validation_accuracy
            parts = [f"validation {100 * now:.1f} %", f"best {100 * best:.1f} %", *parts]
        elif self.validation_loss:
            now, best = self.validation_loss[-1], self.validation_loss[self.best_epoch]
            parts = [f"validation loss {now:.3f}", f"best {best:.3f}", *parts]
        if self.monitor_accuracy:
            parts.append(f"watched {100 * self.monitor_accuracy[-1]:.1f} %")
        return parts
