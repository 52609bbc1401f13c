"""Printing to a terminal: control characters in names from files are shown as escapes.

Control characters can change the title or colours of a terminal, overwrite earlier lines or reverse text. All
output of twinwl goes through `say` or `new_console`, so that the content of a file cannot do this.

The progress bar, shown in a terminal after a short delay.
"""

from __future__ import annotations

import itertools
import sys
import textwrap
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal, Self, TypeVar

if TYPE_CHECKING:
    from rich import progress
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import Progress

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_WRITTEN_OUT = {code: repr(chr(code))[1:-1] for code in [*_CONTROLS, *_DIRECTIONS]}
_WRITTEN_OUT_KEEPING_LINES = {code: text for code, text in _WRITTEN_OUT.items() if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    r"""Replace control characters by escapes, except line breaks and tabs.

    >>> print(printable("a\x1b]0;title\x07b \u202e"))
    a\x1b]0;title\x07b \u202e
    """
    return text.translate(_WRITTEN_OUT_KEEPING_LINES)


def one_line(text: str) -> str:
    r"""Replace control characters by escapes, including line breaks and tabs.

    >>> print(one_line("first\nsecond"))
    first\nsecond
    """
    return text.translate(_WRITTEN_OUT)


def aligned(table: list[list[str]]) -> str:
    """Return rows of cells as lines of text: the first column starts, the others end, at one place.

    >>> print(aligned([["", "pairs"], ["brec", "400"]]))
          pairs
    brec    400
    """
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in table
    )


def in_blocks(table: list[list[str]], width: int, widest: int = 22) -> str:
    """Return rows of cells as lines of at most ``width`` characters, by `aligned`.

    Cells are wrapped; columns that do not fit beside the first one follow in further blocks.

    >>> print(in_blocks([["", "one method", "two"], ["accuracy", "0.7", "0.8"]], width=16, widest=8))
                 one
              method
    accuracy     0.7
    <BLANKLINE>
              two
    <BLANKLINE>
    accuracy  0.8
    """
    wrapped = [[textwrap.wrap(cell, widest, break_on_hyphens=False) or [""] for cell in row] for row in table]
    lines = [line for row in wrapped for line in itertools.zip_longest(*row, fillvalue="")]
    first, *columns = zip(*lines)
    blocks, room = [], width - max(map(len, first))
    while columns:
        ends = list(itertools.accumulate(2 + max(map(len, column)) for column in columns))
        n_fitting = max(1, sum(end <= room for end in ends))
        blocks.append(aligned([list(row) for row in zip(first, *columns[:n_fitting])]))
        columns = columns[n_fitting:]
    return "\n\n".join(blocks)


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, in the plural if needed.

    >>> counted(1, "node"), counted(1200, "edge")
    ('1 node', '1,200 edges')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def say(text: str, *, error: bool = False, colour: str | None = None, end: str = "\n") -> None:
    """Print a text on standard output, or on standard error.

    >>> say("3 graphs")
    3 graphs
    """
    import typer  # noqa: PLC0415  (imported only if something is printed)

    printed = printable(text)
    if colour:
        printed = typer.style(printed, fg=colour)
    typer.echo(printed + end, err=error, nl=False)


def new_console(*, error: bool = False, markup: bool = False) -> Console:
    """Return a rich console, for tables and colours.

    Text in brackets is interpreted only with ``markup``, which must not be used for text from files.

    >>> new_console().print("[bold]3[/] graphs")
    [bold]3[/] graphs
    """
    return _console_class()(stderr=error, highlight=False, markup=markup, emoji=False)


@cache
def _console_class() -> type[Console]:
    from rich.console import Console  # noqa: PLC0415
    from rich.segment import Segment  # noqa: PLC0415

    class SafeConsole(Console):
        """Replaces control characters in all text, but not those that rich itself sends."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text, style, control = segment
                yield segment if control else Segment(printable(text), style)

        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  (called while the error is handled; the command line ends it)

    return SafeConsole


Item = TypeVar("Item")

DELAY = 2.0
_SHORTEST_TITLE = 10
_SHORTEST_BAR = 10
_TIMES = 26  # columns of the time so far and the time left, with their gaps


class ProgressBar:
    """A progress bar on standard error, shown after two seconds and only if that is a terminal.

    Parameters
    ----------
    title
        What is being done; shortened if the terminal is narrow.
    total
        Number of steps; None if it is unknown.
    done
        Number of steps that are already done.
    unit
        What is counted: steps, or bytes of a transfer.
    show
        True always shows the bar, at once; False never shows it; None decides as described above.

    >>> with ProgressBar("counting", total=3) as bar:
    ...     for step in range(3):
    ...         bar.advance()
    """

    def __init__(
        self,
        title: str,
        total: int | None = None,
        *,
        done: int = 0,
        unit: Literal["steps", "bytes"] = "steps",
        show: bool | None = None,
    ) -> None:
        self._done, self._at_once = done, show is True
        self._progress: Progress | None = None
        if not (self._at_once or (show is None and _is_watched())):
            return
        from rich.progress import Progress  # noqa: PLC0415  (loaded only if something may be shown)

        console = new_console(error=True)
        room = console.width - _TIMES - 2 * len(f"{total or 0:,}") - _SHORTEST_BAR
        longest = max(_SHORTEST_TITLE, room)
        title = title if len(title) <= longest else f"{title[: longest - 1]}…"
        self._room = room - len(title)  # for notes
        self._progress = Progress(*_columns(total, unit), console=console, transient=console.is_terminal)
        self._task = self._progress.add_task(title, total=total, completed=done, note="", count="")
        self._timer = threading.Timer(DELAY, self._progress.start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._progress is not None:
            (self._progress if self._at_once else self._timer).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is None:
            return
        self._timer.cancel()
        if self._timer.is_alive():  # it may be starting the bar right now
            self._timer.join()
        if self._progress.live.is_started:
            self._progress.stop()

    def advance(self, steps: int = 1) -> None:
        """Count some of the work as done."""
        self.reach(self._done + steps)

    def reach(self, done: int) -> None:
        """Set the number of steps that are done."""
        self._done = done
        if self._progress is not None:
            self._progress.update(self._task, completed=done, count=f"{done:,}")

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; each counts as done when the next one is asked for."""
        for item in items:
            yield item
            self.advance()

    def note(self, *parts: str) -> None:
        """Show a note after the bar: the first parts, as many as fit."""
        if self._progress is None:
            return
        fitting = list(parts)
        while len(fitting) > 1 and len(", ".join(fitting)) > self._room:
            fitting.pop()
        self._progress.update(self._task, note=", ".join(fitting))


def _is_watched() -> bool:
    """Return whether standard error is a terminal; programs without a console may have none."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _columns(total: int | None, unit: str) -> list[progress.ProgressColumn]:
    from rich import progress  # noqa: PLC0415

    title, bar = progress.TextColumn("{task.description}", markup=False), progress.BarColumn()
    note = progress.TextColumn("{task.fields[note]}", markup=False)
    elapsed, left = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
    if unit == "bytes":
        return [title, bar, progress.DownloadColumn(), progress.TransferSpeedColumn(), left]
    if total is None:
        # Nothing is shown where nothing is counted: a 0 that stays would look like a standstill.
        return [title, progress.TextColumn("{task.fields[count]}"), note, elapsed]
    return [title, bar, progress.MofNCompleteColumn(), note, elapsed, progress.TextColumn("left:"), left]
