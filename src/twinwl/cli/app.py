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

# In the order of the help page. A new subcommand is its module and one line here.
_SUBCOMMANDS = [
    "demo",
    "compare",
    "hashing",
    "dedup",
    "corpus",
    "audit",
    "power",
    "ceiling",
    "datasets",
    "evaluate",
    "reproduce",
    "features",
    "train",
    "predict",
    "explain",
]

_EXIT_CODE = 2  # the same as for a wrong option
_INTERRUPTED = 130  # 128 + SIGINT, the convention of shells
_BROKEN_PIPE = 141  # 128 + SIGPIPE


class _ErrorsAsOneLine(TyperGroup):
    """Print errors and warnings of the project as single lines instead of tracebacks."""

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
        raise typer.Exit(_BROKEN_PIPE) from error
    except (TwinWLError, OSError, MemoryError) as error:
        if debug:
            raise
        _end_with(in_options(_message_of(error)))
        raise typer.Exit(_EXIT_CODE) from error
    except Exception as error:
        # The parser's errors quote the argument, which may contain control characters.
        if isinstance(getattr(error, "message", None), str):
            error.message = printable(error.message)  # type: ignore[attr-defined]
        raise


def _message_of(error: TwinWLError | OSError | MemoryError) -> str:
    """Return the message; file names in errors of the operating system are shortened."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    if isinstance(error, OSError) and not isinstance(error, TwinWLError) and error.filename is not None:
        return f"{shown(str(error.filename))}: {error.strerror}"
    return str(error)


def _end_with(message: str) -> None:
    with suppress(OSError):  # standard error may be closed; the exit code still reports the failure
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
    debug: Annotated[  # read by _ErrorsAsOneLine
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    pass


for _name in _SUBCOMMANDS:
    importlib.import_module(f"twinwl.cli.{_name}").register(app)


def main() -> None:
    """Run the command line; the exit code is right even if the output cannot be written."""
    _prepare_streams()
    log_as_lines()
    try:
        app()
    finally:
        for stream in (sys.stdout, sys.stderr):
            # If Python flushed at exit, a failure would print a traceback.
            try:
                stream.flush()
            except (OSError, TwinWLError):  # already reported: all output is flushed when it is printed
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _StandardOutput(io.TextIOWrapper):
    """Standard output whose write errors name it."""

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
    """Prepare both streams for any text, and for being closed or full.

    A stream that was closed at the start (``>&-``) is opened on the null device, so that no other file gets
    its descriptor. Standard output is then not writable: a command that prints something fails, others do
    not.
    """
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    # Characters that the encoding lacks are printed as question marks.
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding, lines, at_once = sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.write_through
        sys.stdout = _StandardOutput(
            sys.stdout.detach(), encoding, "replace", line_buffering=lines, write_through=at_once
        )
