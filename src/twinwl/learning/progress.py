"""A progress bar with live accuracy, where there is a terminal to show it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twinwl.learning.history import History

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(
    title: str, max_epochs: int, *, show: bool | None = None
) -> Iterator[Callable[[History], None] | None]:
    """Yield what `train` calls after each epoch: a bar, or None where nothing is to be shown.

    Parameters
    ----------
    title
        What is being trained.
    max_epochs
        Length of the bar; early stopping ends before it.
    show
        True and False decide; None shows the bar where standard error is a terminal.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  (only where there is something to show)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=max_epochs, figures="")
        yield lambda history: bar.update(task, completed=history.n_epochs, figures=_figures(history))


def _figures(history: History) -> str:
    """Say in a few words where training stands.

    >>> from twinwl.learning.history import History
    >>> _figures(History([0.5], [0.4], [0.8125], best_epoch=0))
    'loss 0.500, validation 81.2 %, best 81.2 % (epoch 1)'
    """
    parts = [f"loss {history.train_loss[-1]:.3f}"]
    if history.validation_accuracy:
        parts.append(f"validation {history.validation_accuracy[-1]:.1%}".replace("%", " %"))
        best = f"{history.best_validation_accuracy:.1%}".replace("%", " %")
        parts.append(f"best {best} (epoch {history.best_epoch + 1})")
    if history.monitor_accuracy:
        parts.append(f"watched {history.monitor_accuracy[-1]:.1%}".replace("%", " %"))
    return ", ".join(parts)
