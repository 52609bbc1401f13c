"""The ``twinwl`` command: what all subcommands share.

A subcommand is a module of this package with a function ``register(app)``. It imports what it needs inside
the command, so that ``twinwl --help`` answers at once.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import twinwl
from twinwl.cli.notices import in_options, log_as_lines, warnings_as_lines
from twinwl.errors import TwinWLError, shown
from twinwl.terminal import printable, say

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["app", "main"]

# In the order of the help page. A new subcommand is its module and one line here.
_SUBCOMMANDS = [
    "demo",
    "compare",
    "hashing",
    "dedup",
    "datasets",
    "evaluate",
    "reproduce",
    "features",
    "train",
    "predict",
    "explain",
]

_EXIT_CODE = 2  # as for a wrong option: what was asked for cannot be done
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_NOBODY_READS = 141  # 128 + SIGPIPE


class _ErrorsAsOneLine(TyperGroup):
    """The one place where errors and warnings of the project become lines instead of tracebacks."""

    def make_context(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401  (see below)
        with _errors_as_one_line(debug=False):
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401  (the type is click's or, in a later typer, its own copy)
        with _errors_as_one_line(debug=bool(ctx.params.get("debug"))), warnings_as_lines():
            return super().invoke(ctx)


@contextmanager
def _errors_as_one_line(*, debug: bool) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        _end_with("interrupted")
        raise typer.Exit(_INTERRUPTED) from error
    except BrokenPipeError as error:  # as in `twinwl hash … | head -1`: nothing is wrong
        raise typer.Exit(_NOBODY_READS) from error
    except (TwinWLError, OSError, MemoryError) as error:
        if debug:
            raise
        _end_with(in_options(_said_by(error)))
        raise typer.Exit(_EXIT_CODE) from error
    except Exception as error:
        # An error of the parser quotes the argument that is wrong.
        if isinstance(getattr(error, "message", None), str):
            error.message = printable(error.message)  # type: ignore[attr-defined]
        raise


def _said_by(error: TwinWLError | OSError | MemoryError) -> str:
    """Return the message; what the operating system says may name a file of any length."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error})" if str(error) else "there is not enough memory"
    if isinstance(error, OSError) and not isinstance(error, TwinWLError) and error.filename is not None:
        return f"{shown(str(error.filename))}: {error.strerror}"
    return str(error)


def _end_with(message: str) -> None:
    with suppress(OSError):  # nobody hears it; the exit code still says it
        say(f"twinwl: {' '.join(message.split())}", error=True, colour="red")


app = typer.Typer(
    cls=_ErrorsAsOneLine,
    help="Classify, compare, hash and de-duplicate graphs beyond 1-WL.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"twinwl {twinwl.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    debug: Annotated[  # read where errors end up
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    pass


for _name in _SUBCOMMANDS:
    importlib.import_module(f"twinwl.cli.{_name}").register(app)


def main() -> None:
    """Run the command line, and end with the right exit code also where the output cannot be written."""
    _prepare_streams()
    log_as_lines()
    try:
        app()
    finally:
        for stream in (sys.stdout, sys.stderr):
            # Python would do it after everything else, and then a failure could only be a traceback.
            try:
                stream.flush()
            except (OSError, TwinWLError):  # reported when it was met: whatever is printed is flushed at once
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _StandardOutput(io.TextIOWrapper):
    """Standard output that says so when it cannot be written to."""

    def write(self, text: str) -> int:
        with self._named_in_errors():
            return super().write(text)

    def flush(self) -> None:
        with self._named_in_errors():
            super().flush()

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise TwinWLError(f"cannot write to standard output: {error.strerror}") from error


def _prepare_streams() -> None:
    """Make both streams ready for any text, and for being closed or full.

    One that the process was started without (``>&-``) is opened, so that no other file takes its place.
    Standard output cannot be written to then: a command that prints something fails, the others do not.
    """
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    # A terminal that lacks a character shows a question mark rather than stopping half-way.
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding, lines, at_once = sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.write_through
        sys.stdout = _StandardOutput(
            sys.stdout.detach(), encoding, "replace", line_buffering=lines, write_through=at_once
        )
