"""Functions of the user that are called after each epoch of a training."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

from twinwl.arguments import Constraint
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twinwl.learning.history import History

Callbacks: TypeAlias = "Callable[[History], object] | Sequence[Callable[[History], object]] | None"


def _functions(value: Any) -> list[Callable[[History], object]]:  # noqa: ANN401
    found = list(value) if isinstance(value, list | tuple) else [value]
    if not all(callable(function) and not isinstance(function, type) for function in found):
        raise TypeError
    return found


CALLBACKS = (Constraint("a function of the history, or a list of such functions", _functions), None)


def call_back(callbacks: Callbacks, history: History) -> bool:
    """Call each function with a copy of the history; return whether one of them returned True.

    >>> from twinwl.learning.history import History
    >>> call_back(lambda history: history.n_epochs == 2, History([0.5, 0.4], best_epoch=1))
    True

    Raises
    ------
    TwinWLError
        If a function raises an exception: it says which function and epoch, and has the exception as cause.
    """
    stop = False
    for place, function in enumerate([] if callbacks is None else _functions(callbacks)):
        try:
            stop |= function(copy.deepcopy(history)) is True
        except Exception as error:
            name = getattr(function, "__qualname__", type(function).__qualname__)
            raise TwinWLError(
                f"callbacks[{place}] ({name}) failed after epoch {history.n_epochs}: "
                f"{type(error).__name__}: {error}"
            ) from error
    return stop
