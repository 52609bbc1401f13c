"""How a job runs: on which engine, with how much memory, and whom it tells about its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from twinwl.arguments import FLAG, NAME, Constraint, checked, integer
from twinwl.engines.engine import engine_of
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_MEMORY = 1 << 29
_UNITS = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_UNITS |= {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def _bytes(value: object) -> int:
    text = NAME.accept(value).strip().lower().replace(" ", "")
    digits = text.rstrip("bikmgt")
    return int(float(digits) * _UNITS[text[len(digits) :]])


def _function(value: object) -> object:
    if not callable(value):
        raise TypeError
    return value


_MEMORY = (Constraint("a number of bytes, such as '1GiB'", _bytes), integer(1))
_FUNCTION = Constraint("a function of one dictionary", _function)


class RunOptions(TypedDict, total=False):
    """The fields of `Running`, as keyword arguments of methods."""

    fresh: bool
    engine: str
    workers: int | None
    address: str | None
    memory: int | str
    progress: bool | None
    on_event: Callable[[dict[str, Any]], object] | None


@dataclass(frozen=True)
class Running:
    """How a job runs; results do not depend on any of it.

    Attributes
    ----------
    fresh : bool
        Whether to delete what an earlier run left in the folder.
    engine, workers, address
        As in `twinwl.engines.engine.engine_of`.
    memory : int or str
        Bytes for each process; ``"1GiB"`` is a number of bytes too.
    progress : bool or None
        Whether to show a progress bar; None shows it if standard error is a terminal.
    on_event : function or None
        Called with a dictionary for each finished task, and at the end.
    """

    fresh: bool = False
    engine: str = "local"
    workers: int | None = None
    address: str | None = None
    memory: int | str = "1GiB"
    progress: bool | None = None
    on_event: Callable[[dict[str, Any]], object] | None = None

    def __post_init__(self) -> None:
        checked("fresh", self.fresh, FLAG)
        checked("progress", self.progress, FLAG, None)
        checked("on_event", self.on_event, _FUNCTION, None)
        memory = checked("memory", self.memory, *_MEMORY)
        if memory < _LEAST_MEMORY:
            raise TwinWLError(
                f"memory: got {shown(self.memory)}, expected at least 512MiB: Python and its libraries take "
                "half of that"
            )
        object.__setattr__(self, "memory", memory)
        engine_of(self.engine, self.workers, self.address)  # refuses wrong values, before any work

    def tell(self, event: dict[str, Any]) -> None:
        """Hand an event to the user's function."""
        if self.on_event is not None:
            try:
                self.on_event(event)
            except (TwinWLError, OSError):
                raise
            except Exception as error:
                raise TwinWLError(f"on_event: failed with {type(error).__name__}: {error}") from error
