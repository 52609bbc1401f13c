"""Warnings of the project as lines for people, in place of Python's own form with file and code."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["warnings_as_lines"]


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each `TwinWLWarning` once, as a line on standard error; other warnings stay as they are.

    >>> from twinwl.errors import warn_caller
    >>> with warnings_as_lines():
    ...     warn_caller("left out 2 rows")
    """
    from twinwl.errors import TwinWLWarning  # noqa: PLC0415  (the help page must not pay for it)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TwinWLWarning)
        usual = warnings.showwarning
        said: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
            if issubclass(category, TwinWLWarning):
                text = " ".join(str(message).split())
                if text not in said:
                    said.add(text)
                    typer.secho(f"twinwl: {text}", fg=typer.colors.YELLOW, err=True)
            else:
                usual(message, category, *where, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield
