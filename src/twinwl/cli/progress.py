"""A progress bar for whoever waits at a terminal, once the wait is long enough to wonder."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["DelayedProgress"]

DELAY = 2.0
_LONGEST = 45  # of a description: a SMILES can be longer than a line, and would squeeze out the rest of it


class DelayedProgress:
    """Show what is going on after two seconds, on standard error, and only if that is a terminal.

    Parameters
    ----------
    description
        What is being done.
    total
        How much there is to do; None where nobody knows.

    Examples
    --------
    >>> with DelayedProgress("counting") as progress:
    ...     for step in range(3):
    ...         progress.advance()
    """

    def __init__(self, description: str, total: int | None = None) -> None:
        from rich.console import Console  # noqa: PLC0415  (the help page must not pay for these)
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = [SpinnerColumn(), TextColumn("{task.description}")]
        if total is not None:
            columns += [BarColumn(), TaskProgressColumn()]
        else:
            columns += [TextColumn("{task.completed:,.0f}")]
        self._progress = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        short = description if len(description) <= _LONGEST else description[: _LONGEST - 1] + "…"
        self._task = self._progress.add_task(short, total=total)
        self._lock = threading.Lock()
        self._over = self._shown = False
        self._timer = threading.Timer(DELAY, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._shown:
                self._progress.stop()

    def advance(self, steps: int = 1) -> None:
        """Tell that some of the work is done."""
        self._progress.advance(self._task, steps)

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._shown = True
                self._progress.start()
