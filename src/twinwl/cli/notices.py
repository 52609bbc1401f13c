"""Warnings and log messages of the project as single lines."""

from __future__ import annotations

import logging
import re
import shlex
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from twinwl.terminal import printable, say

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARAMETER = re.compile(
    r"""\b(node_label|edge_label|on_error|target|smiles_column|kind|atoms)=(["'])([^"']*)\2"""
)

_FLAGS = {
    "ignore_features=True": "--ignore-attributes",
    "ignore_node_attributes=True": "--ignore-attributes",
    "edge_labels=True": "--edge-labels",
    "edge_labels=False": "--no-edge-labels",
    "fresh=True": "--fresh",
}


def in_options(message: str) -> str:
    """Replace parameter names in a message of the library by the options of the command line.

    >>> in_options('pass ignore_features=True, edge_labels=False or edge_label="weight"')
    'pass --ignore-attributes, --no-edge-labels or --edge-label weight'
    >>> in_options('name the column with target="…"')
    'name the column with --target'
    """
    named = _PARAMETER.sub(_as_option, message)
    for parameter, option in _FLAGS.items():
        named = named.replace(parameter, option)
    return named


def _as_option(found: re.Match[str]) -> str:
    value = "" if found[3] == "…" else f" {shlex.quote(found[3])}"
    return f"--{found[1].replace('_', '-')}{value}"


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each `TwinWLWarning` once, as a line on standard error; other warnings are not changed.

    Warnings that differ only in their numbers count as the same, unless they are about different files.

    >>> from twinwl.errors import warn_caller
    >>> with warnings_as_lines():
    ...     warn_caller("left out 2 rows")
    """
    from twinwl.errors import TwinWLWarning, gist  # noqa: PLC0415  (keeps --help fast)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TwinWLWarning)
        usual = warnings.showwarning
        said: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
            if issubclass(category, TwinWLWarning):
                text = in_options(" ".join(str(message).split()))
                *source, rest = text.split(": ", maxsplit=1)
                about = f"{source}{gist(rest)}"
                if about not in said:
                    said.add(about)
                    say(f"twinwl: {text}", error=True, colour="yellow")
            else:
                usual(printable(str(message)), category, *where, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield


def log_as_lines() -> None:
    """Print log messages, such as why the first run takes longer, if standard error is a terminal."""
    if sys.stderr.isatty():
        log = logging.getLogger("twinwl")
        log.addHandler(_LineHandler())
        log.setLevel(logging.INFO)


class _LineHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(f"twinwl: {record.getMessage()}", error=True, dim=True)
