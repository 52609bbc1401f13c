"""The ``twinwl`` command: what all subcommands share.

A subcommand is a module of this package with a function ``register(app)``. It imports what it needs inside
the command, so that ``twinwl --help`` answers at once.
"""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import twinwl
from twinwl.cli.notices import in_options, log_as_lines
from twinwl.errors import TwinWLError, shown

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


class _ErrorsAsOneLine(TyperGroup):
    """The one place where an error of the project becomes a message instead of a traceback."""

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401  (the type is click's or, in a later typer, its own copy)
        try:
            return super().invoke(ctx)
        except (TwinWLError, OSError) as error:
            if ctx.params.get("debug") or isinstance(error, BrokenPipeError):
                raise
            message = in_options(" ".join(_said_by(error).split()))
            typer.secho(f"twinwl: {message}", fg=typer.colors.RED, err=True)
            raise typer.Exit(_EXIT_CODE) from error


def _said_by(error: TwinWLError | OSError) -> str:
    """Return the message; what the operating system says may name a file of any length."""
    if isinstance(error, OSError) and not isinstance(error, TwinWLError) and error.filename is not None:
        return f"{shown(str(error.filename))}: {error.strerror}"
    return str(error)


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
        typer.echo(f"twinwl {twinwl.__version__}")
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
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark rather than stopping half-way.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    log_as_lines()
    app()
