"""The bar that shows how far a download has come."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["transfer_progress"]


@contextlib.contextmanager
def transfer_progress(
    name: str, total: int | None, done: int = 0, shown: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error while the block runs.

    Parameters
    ----------
    name
        What is being transferred.
    total
        Its length in bytes, or None where that is not known.
    done
        How much of it is there already.
    shown
        Whether to show anything; None where standard error is a terminal.

    Yields
    ------
    callable
        To be called with each number of bytes that has come.

    >>> with transfer_progress("MUTAG.zip", 10, shown=False) as advance:
    ...     advance(10)
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda _n_bytes: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total, completed=done)
        yield lambda n_bytes: progress.advance(task, n_bytes)
