"""Errors and warnings of twinwl.

Every message names the graph (by its index), the wrong value, and what to do about it.
"""

import importlib
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from types import ModuleType
from typing import Any, Self

_LONGEST, _END = 1000, 300  # characters of a message, and of its end, which has the remedy


class TwinWLError(ValueError):
    """Base class of all errors that twinwl raises: what is wrong, where, and what to do about it.

    Parameters
    ----------
    message
        What is wrong; often the whole text.
    graph
        Index of the graph in the input, if the error is about a single one.
    parameter, value, remedy
        The argument, what was passed for it, and what to do.

    Attributes
    ----------
    message : str
        What is wrong, without the graph, the parameter and the remedy.
    graph, parameter, remedy
        As passed, or None.
    value : str or None
        The value, shortened as messages show it.

    >>> str(TwinWLError("got 0, expected 1", 3, parameter="n_nodes", remedy="count again"))
    'graph 3: n_nodes: got 0, expected 1; count again'
    """

    def __init__(
        self,
        message: str = "",
        graph: int | None = None,
        *,
        parameter: str | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.graph, self.parameter, self.remedy = message, graph, parameter, remedy
        self.value = None if value is None else shown(value)  # the value may be large, or not be pickled

    def __str__(self) -> str:
        """Return one line; the middle of a very long one is left out."""
        places = [None if self.graph is None else f"graph {self.graph}", self.parameter]
        text = ": ".join([*filter(None, places), self.message])
        return _shorten(f"{text}; {self.remedy}" if self.remedy else text)

    def at(self, graph: int | None) -> Self:
        """Return the same error about another graph, or about none in particular."""
        moved = copy(self)
        moved.graph = graph
        return moved


@contextmanager
def prefix_errors(what: object) -> Iterator[None]:
    """Begin the message of an error that is raised inside with a name: of a file, a task, a graph.

    >>> with prefix_errors("pairs.g6"):
    ...     raise TwinWLError("it is empty")
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: pairs.g6: it is empty
    """
    try:
        yield
    except TwinWLError as error:
        kind = GraphInputError if isinstance(error, GraphInputError) else TwinWLError
        raise kind(f"{what}: {error}") from error


def _shorten(message: str) -> str:
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST - _END - 3]} … {message[-_END:]}"


class GraphInputError(TwinWLError):
    """An input graph is not valid; ``graph`` is its index, or None if the error is not about a single one."""


class LabelError(GraphInputError):
    """A value cannot be a label.

    Attributes
    ----------
    position : int or None
        Place of the value in the sequence that was being encoded.
    """

    position: int | None = None


class GraphIndexError(TwinWLError, IndexError):
    """A graph index is out of range."""


class MissingExtraError(TwinWLError, ImportError):
    """A required optional dependency is not installed."""


class TwinWLWarning(UserWarning):
    """Part of the input was changed or ignored; the message says how much."""


# The extra of pyproject.toml that installs each optional package; None if there is no such extra.
_EXTRA_OF: dict[str, str | None] = {
    "gensim": "baselines",
    "grakel": "baselines",
    "pandas": None,
    "pyarrow": "parquet",
    "ray": "cluster",
    "rdkit": "chem",
    "torch": "neural",
    "torch_geometric": "baselines",
}


def import_extra(module: str, extra: str | None) -> ModuleType:
    """Import an optional dependency, or raise an error with the command that installs it.

    >>> import_extra("math", extra=None).__name__
    'math'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module.partition(".")[0], extra) from error


def import_name(module: str, name: str) -> Any:  # noqa: ANN401  (a class or a function, by its name)
    """Import a name from a module; if a package of an extra is missing, the error has the install command.

    >>> import_name("twinwl.errors", "TwinWLError")
    <class 'twinwl.errors.TwinWLError'>
    """
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA_OF or isinstance(error, MissingExtraError):
            raise
        # Most baselines that need torch need more of their extra next: one command has to be enough.
        extra = "baselines" if module.startswith("twinwl.baselines.") else _EXTRA_OF[package]
        raise _missing(package, extra) from error


def _missing(package: str, extra: str | None) -> MissingExtraError:
    wanted = f"twinwl[{extra}]" if extra else package
    return MissingExtraError(
        f"this needs the package {package!r}, which is not installed; run: pip install '{wanted}'"
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that lists the known names, with the most similar one first.

    >>> nearest("sise", ["size", "edges"])
    "did you mean 'size'? Known: 'edges', 'size'"
    >>> nearest("colour", ["size", "edges"])
    "known: 'edges', 'size'"
    """
    names = sorted(known)
    listing = ", ".join(repr(candidate) for candidate in names)
    close = get_close_matches(str(name)[:100], names, n=1)
    return f"did you mean {close[0]!r}? Known: {listing}" if close else f"known: {listing}"


class _Shortener(reprlib.Repr):
    """Shortens values for messages; also handles integers that are too long for Python to print."""

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002
        return f"<an integer of {x.bit_length()} bits>" if x.bit_length() > 256 else repr(x)  # noqa: PLR2004

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002
        text = " ".join(repr(x).split())  # on one line, whatever it is
        return text if len(text) <= self.maxother else f"{text[: self.maxother - 3]}..."


_shortener = _Shortener()
_shortener.maxstring = _shortener.maxother = 100


def shown(value: object) -> str:
    """Return a value for use in a message: like `repr`, but short.

    >>> shown("CC"), shown(10**5000)
    ("'CC'", '<an integer of 16610 bits>')
    """
    return _shortener.repr(value)


_spelling: Callable[[str, object], str] | None = None


def setting(**given: object) -> str:
    """Return how a user sets a parameter, for a remedy; the command line shows its option instead.

    >>> f"pass {setting(edge_labels=True)} or name the column with {setting(target=...)}"
    'pass edge_labels=True or name the column with target="…"'
    """
    ((name, value),) = given.items()
    if _spelling is not None:
        return _spelling(name, value)
    quoted = "…" if value is ... else value
    return f'{name}="{quoted}"' if isinstance(quoted, str) else f"{name}={quoted!r}"


def spell_settings(spelling: Callable[[str, object], str] | None) -> None:
    """Choose how `setting` writes parameters from now on; None writes them as Python."""
    global _spelling  # noqa: PLW0603  (one process speaks one language)
    _spelling = spelling


def first_line(error: BaseException) -> str:
    r"""Return the first line of what an error says, or its class, for use in another message.

    >>> first_line(OSError("a page is damaged\nat byte 12")), first_line(KeyError("a")), first_line(OSError())
    ('a page is damaged', 'a', 'OSError')
    """
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def warn_caller(message: str) -> None:
    """Issue a `TwinWLWarning` that points to the line of the user's code that called twinwl.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("merged 2 repeated edges")
    >>> str(caught[0].message)
    'merged 2 repeated edges'
    """
    package = __name__.partition(".")[0]
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == package:  # noqa: SLF001
        level += 1
        try:
            sys._getframe(level)  # noqa: SLF001
        except ValueError:  # everything above is twinwl itself
            break
    warnings.warn(_shorten(message), TwinWLWarning, stacklevel=level + 1)


@contextmanager
def held_warnings() -> Iterator[list[str]]:
    """Collect the warnings of twinwl, to be summarised; other warnings are passed on at the end.

    >>> with held_warnings() as messages:
    ...     warn_caller("merged 2 repeated edges")
    >>> messages
    ['merged 2 repeated edges']
    """
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TwinWLWarning)
        yield messages
    for each in caught:
        if issubclass(each.category, TwinWLWarning):
            messages.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def gist(message: str) -> str:
    """Return a message without its numbers, to find messages that differ only in them.

    >>> gist("merged 2 repeated edges") == gist("merged 1,000 repeated edges")
    True
    """
    return re.sub(r"[0-9][0-9,]*", "#", message)


def warn_kinds(messages: Iterable[str], several: str) -> None:
    """Warn of the first message of each kind; if there are more, ``several`` is added with their number.

    >>> warn_kinds([], " (in {:,} files)")
    """
    kinds: dict[str, list[str]] = {}
    for message in messages:
        kinds.setdefault(gist(message), []).append(message)
    for same in kinds.values():
        warn_caller(same[0] + (several.format(len(same)) if len(same) > 1 else ""))
