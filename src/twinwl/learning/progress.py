"""A progress bar with live accuracy, where there is a terminal to show it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twinwl.learning.history import History

__all__ = ["progress_bar"]

_BAR_AND_TIME = 20  # columns of the slash, of a bar that still is one, of the time and of the gaps in between


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
    console = Console(stderr=True)
    room = console.width - len(title) - 2 * len(str(max_epochs)) - _BAR_AND_TIME
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=max_epochs, figures="")
        yield lambda history: bar.update(task, completed=history.n_epochs, figures=_figures(history, room))


def _figures(history: History, room: int) -> str:
    """Say where training stands: the most telling figures first, as many as there is room for.

    >>> from twinwl.learning.history import History
    >>> history = History([0.5], [0.4], [0.8125], best_epoch=0)
    >>> _figures(history, room=50)
    'validation 81.2 %, best 81.2 %, loss 0.500'
    >>> _figures(history, room=40)
    'validation 81.2 %, best 81.2 %'
    """
    parts = [f"loss {history.train_loss[-1]:.3f}"]
    if history.validation_accuracy:
        now, best = history.validation_accuracy[-1], history.best_validation_accuracy
        parts = [f"validation {_percent(now)}", f"best {_percent(best)}", *parts]
    if history.monitor_accuracy:
        parts.append(f"watched {_percent(history.monitor_accuracy[-1])}")
    while len(parts) > 1 and len(", ".join(parts)) > room:
        parts.pop()
    return ", ".join(parts)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
