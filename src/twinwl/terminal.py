"""What reaches a terminal: names from files are shown with their control characters written out.

A terminal obeys what it is sent: a title, a colour, a jump back over what was said before, text that runs
backwards. All that twinwl prints goes through `say` or through a `new_console`, on standard output and on
standard error alike, so that none of this can come out of a file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType

__all__ = ["new_console", "one_line", "printable", "say"]

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_WRITTEN_OUT = {code: repr(chr(code))[1:-1] for code in [*_CONTROLS, *_DIRECTIONS]}
_WRITTEN_OUT_KEEPING_LINES = {code: text for code, text in _WRITTEN_OUT.items() if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    r"""Write out what a terminal would obey; line breaks and tabs stay.

    >>> print(printable("a\x1b]0;title\x07b \u202e"))
    a\x1b]0;title\x07b \u202e
    """
    return text.translate(_WRITTEN_OUT_KEEPING_LINES)


def one_line(text: str) -> str:
    r"""Write out line breaks and tabs as well.

    >>> print(one_line("first\nsecond"))
    first\nsecond
    """
    return text.translate(_WRITTEN_OUT)


def say(
    text: str, *, error: bool = False, colour: str | None = None, dim: bool = False, end: str = "\n"
) -> None:
    """Print a text on standard output, or on standard error.

    >>> say("3 graphs")
    3 graphs
    """
    import typer  # noqa: PLC0415  (whoever prints nothing does not pay for it)

    shown = printable(text)
    if colour or dim:
        shown = typer.style(shown, fg=colour, dim=dim or None)
    typer.echo(shown + end, err=error, nl=False)


def new_console(*, error: bool = False, soft_wrap: bool = False, markup: bool = False) -> Console:
    """Return a console of rich, for tables and colours.

    Brackets are brackets unless ``markup`` is asked for, which only text of the program itself may be.

    >>> new_console().print("[bold]3[/] graphs")
    [bold]3[/] graphs
    """
    return _console_class()(stderr=error, soft_wrap=soft_wrap, highlight=False, markup=markup, emoji=False)


@cache
def _console_class() -> type[Console]:
    from rich.console import Console  # noqa: PLC0415
    from rich.segment import Segment  # noqa: PLC0415

    class SafeConsole(Console):
        """Writes out control characters in all text, but not in what rich itself sends."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text, style, control = segment
                yield segment if control else Segment(printable(text), style)

        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  (called while the error is handled; the command line ends it)

    return SafeConsole
