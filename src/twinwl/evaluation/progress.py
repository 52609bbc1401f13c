"""A bar for long evaluations: what is running, how far it is, how long it may still take."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["evaluation_progress"]

_ALL_BUT_TITLE = 36  # columns of a short bar, both times, the slash and the gaps in between
_SHORTEST_TITLE = 10


@contextlib.contextmanager
def evaluation_progress(
    title: str, total: int, *, show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many steps are done; it does nothing where no bar is shown.

    Parameters
    ----------
    title
        What is running.
    total
        Number of steps.
    show
        None shows the bar where standard error is a terminal.
    """
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda _done: None
        return
    from rich.console import Console  # noqa: PLC0415  (only a shown bar needs it)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    room = max(_SHORTEST_TITLE, console.width - 2 * len(str(total)) - _ALL_BUT_TITLE)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title if len(title) <= room else title[: room - 1] + "…", total=total)
        yield lambda done: bar.update(task, completed=done)
