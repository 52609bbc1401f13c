"""The ``twinwl`` command: what all subcommands share.

A subcommand is a module of this package with a function ``register(app)``. It imports what it needs inside
the command, so that ``twinwl --help`` answers at once.

Warnings and log messages of the project as single lines.
"""

import importlib
import io
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

import twinwl
from twinwl.cli.options import Group, add
from twinwl.errors import TwinWLError, TwinWLWarning, gist, shown, spell_settings
from twinwl.terminal import printable, say

# Parameters whose options have other names than theirs.
_OPTION_OF = {"ignore_features": "ignore-attributes", "ignore_node_attributes": "ignore-attributes"}


def as_option(parameter: str, value: object) -> str:
    """Return how a parameter of the library is set on the command line, for messages.

    >>> as_option("ignore_features", True), as_option("edge_labels", False)
    ('--ignore-attributes', '--no-edge-labels')
    >>> as_option("edge_label", "weight"), as_option("target", ...)
    ('--edge-label weight', '--target')
    """
    option = _OPTION_OF.get(parameter, parameter.replace("_", "-"))
    if value is False:
        return f"--no-{option}"
    return f"--{option}" if value is True or value is ... else f"--{option} {shlex.quote(str(value))}"


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each `TwinWLWarning` once, as a line on standard error; other warnings are not changed.

    Warnings that differ only in their numbers count as the same, unless they are about different files.

    >>> from twinwl.errors import warn_caller
    >>> with warnings_as_lines():
    ...     warn_caller("left out 2 rows")
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", TwinWLWarning)
        usual = warnings.showwarning
        shown_before: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
            if issubclass(category, TwinWLWarning):
                text = " ".join(str(message).split())
                *source, rest = text.split(": ", maxsplit=1)
                about = f"{source}{gist(rest)}"
                if about not in shown_before:
                    shown_before.add(about)
                    say(f"twinwl: {text}", error=True, colour="yellow")
            else:
                usual(printable(str(message)), category, *where, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield


def log_as_lines() -> None:
    """Print log messages, such as why the first run takes longer, if standard error is a terminal."""
    if sys.stderr.isatty():
        log = logging.getLogger("twinwl")
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("twinwl: %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


# The sections of the help page, and in their order: the command, its module, and the function there.
_SUBCOMMANDS = {
    "Models": ("train", "evaluate", "predict", "explain", "methods", "demo"),
    "Graphs": ("compare", "hash", "dedup", "search", "audit", "datasets"),
    "Large collections": ("corpus",),
    "Research": ("power", "ceiling", "features", "reproduce"),
}

# Options that became parameters of `--set`.
_SET = {
    "train": "n-iter features readout initial kernel-approximation layers hops hidden root-mark refit device",
    "evaluate": "readout refit device",
    "features": "n-iter features readout initial min-df max-features",
    "corpus": "n-iter features readout initial min-df max-features",
}

# Commands and options of earlier versions, and what to use now.
_REMOVED = {
    "corpus head": "corpus info --rows N",
    "corpus sample": "corpus info --rows N --seed S",
    "corpus hash": "corpus info --rows N, which shows hashes, or Corpus.hashes() in Python",
    "--workers": "--jobs",
    "--splits": "--split",
    "--ignore-features": "--ignore-attributes",
    "--network": "--set readout=NAME",
    "--skip-invalid": "nothing: it is the default",
    "--balanced": "--set class_weight=balanced",
    "--epochs": "--set max_epochs=N",
    "--subgraph-network": "--set readout=NAME",
    **{
        f"{command} --{name}": f"--set {name.replace('-', '_')}=VALUE"
        for command, names in _SET.items()
        for name in names.split()
    },
}

_EXIT_CODE = 2  # the same as for a wrong option
_INTERRUPTED = 130  # 128 + SIGINT, the convention of shells
_BROKEN_PIPE = 141  # 128 + SIGPIPE


class _ErrorsAsOneLine(Group):
    """Print errors and warnings of the project as single lines instead of tracebacks."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **options: Any) -> Any:  # noqa: ANN401  (see below)
        with _errors_as_one_line(debug=False):
            return super().make_context(info_name, _check_removed(args), *more, **options)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002
        """Return the commands in the order of the help page; groups come last otherwise."""
        return [name for names in _SUBCOMMANDS.values() for name in names]

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401  (the type is click's or, in a later typer, its own copy)
        with _errors_as_one_line(debug=bool(ctx.params.get("debug"))), warnings_as_lines():
            return super().invoke(ctx)


def _check_removed(args: list[str]) -> list[str]:
    """Refuse what earlier versions had, and name its successor.

    >>> _check_removed(["train", "--method=gin"])
    ['train', '--method=gin']
    """
    for argument in (*args[1:2], *(word for word in args if word.startswith("--"))):
        name = argument.partition("=")[0]
        for key in (name, f"{args[0]} {name}"):
            if key in _REMOVED:
                raise TwinWLError(f"{key} no longer exists; use {_REMOVED[key]}")
    return args


@contextmanager
def _errors_as_one_line(*, debug: bool) -> Iterator[None]:
    spell_settings(as_option)
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
        _end_with(_message_of(error))
        raise typer.Exit(_EXIT_CODE) from error
    except Exception as error:
        # The parser's errors quote the argument, which may contain control characters.
        if isinstance(getattr(error, "message", None), str):
            error.message = printable(error.message)  # type: ignore[attr-defined]
        raise
    finally:
        spell_settings(None)


def _message_of(error: TwinWLError | OSError | MemoryError) -> str:
    """Return the message; file names in errors of the operating system are shortened."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    if isinstance(error, OSError) and error.strerror and not isinstance(error, TwinWLError):
        what = "cannot write to standard output" if error.filename is None else shown(str(error.filename))
        return f"{what}: {error.strerror}"
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


for _panel, _names in _SUBCOMMANDS.items():
    for _name in _names:
        _module = importlib.import_module(f"twinwl.cli.{_name}")
        if hasattr(_module, "register"):
            _module.register(app, _panel)
        else:
            add(app, getattr(_module, _name), _name, _panel)


def main() -> None:
    """Run the command line; the exit code is right even if the output cannot be written."""
    # A stream that was closed at the start (>&-) is opened, so that no other file gets its descriptor.
    # Standard output is then not writable: a command that prints something fails, others do not.
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what the encoding lacks is printed as a question mark
    log_as_lines()
    try:
        app()
    finally:
        for stream in (sys.stdout, sys.stderr):
            # If Python flushed at exit, a failure would print a traceback.
            try:
                stream.flush()
            except OSError:  # already reported: all output is flushed when it is printed
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
