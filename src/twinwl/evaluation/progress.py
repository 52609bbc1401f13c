"""A bar for long evaluations: what is running, how far it is, how long it may still take."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["evaluation_progress"]


@contextlib.contextmanager
def evaluation_progress(
    title: str, total: int, *, show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """Give a function that advances the bar; it does nothing where no bar is shown.

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
        yield lambda _steps: None
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
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)
