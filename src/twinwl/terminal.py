"""Printing to a terminal: control characters in names from files are shown as escapes.

Control characters can change the title or colours of a terminal, overwrite earlier lines or reverse text. All
output of twinwl goes through `say` or `new_console`, so that the content of a file cannot do this.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType

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
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def say(
    text: str, *, error: bool = False, colour: str | None = None, dim: bool = False, end: str = "\n"
) -> None:
    """Print a text on standard output, or on standard error.

    >>> say("3 graphs")
    3 graphs
    """
    import typer  # noqa: PLC0415  (imported only if something is printed)

    shown = printable(text)
    if colour or dim:
        shown = typer.style(shown, fg=colour, dim=dim or None)
    typer.echo(shown + end, err=error, nl=False)


def new_console(*, error: bool = False, soft_wrap: bool = False, markup: bool = False) -> Console:
    """Return a rich console, for tables and colours.

    Text in brackets is interpreted only with ``markup``, which must not be used for text from files.

    >>> new_console().print("[bold]3[/] graphs")
    [bold]3[/] graphs
    """
    return _console_class()(stderr=error, soft_wrap=soft_wrap, highlight=False, markup=markup, emoji=False)


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
