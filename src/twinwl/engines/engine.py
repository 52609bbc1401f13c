"""What runs tasks: `engine_of` makes an engine, whose `run` calls one pure function once for each task.

An engine only moves work: results come in any order, and a task whose worker died is run again. So a function
must give the same result each time it is called, and write files atomically where it writes any.
"""

from __future__ import annotations

import signal
import traceback
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self, TypeVar, cast

import cloudpickle

from twinwl.arguments import NAME, checked, integer, one_of
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

ENGINES = ("local", "ray")
RETRIES = 3
_MAX_WORKERS = 4096

Result = TypeVar("Result")


def engine_of(name: str = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """Return an engine, to be used in a ``with`` block.

    Parameters
    ----------
    name
        ``"local"``: processes on this machine. ``"ray"``: tasks on a Ray cluster (extra ``cluster``).
    workers
        Number of tasks that run at the same time; None uses all processors. One local worker runs tasks in
        this process.
    address
        Address of a running Ray cluster, such as ``"10.0.0.5:6379"``, or ``"auto"`` to find one that was
        started on this machine. None starts Ray on this machine and stops it after the block; where the
        program has already called ``ray.init``, that connection is used and kept.

    >>> with engine_of("local", workers=1) as engine:
    ...     sorted(engine.run(divmod, [(7, 2), (9, 4)]))
    [(0, (3, 1)), (1, (2, 1))]
    """
    name = checked("engine", name, one_of(*ENGINES))
    workers = checked("workers", workers, integer(1, _MAX_WORKERS), None)
    address = checked("address", address, NAME, None)
    if name == "ray":
        from twinwl.engines.on_ray import RayEngine  # noqa: PLC0415  (needs an extra)

        return RayEngine(workers, address)
    if address is not None:
        raise TwinWLError(f"address: got {shown(address)}, but the engine is 'local'; set engine to 'ray'")
    from twinwl.engines.local import LocalEngine  # noqa: PLC0415

    return LocalEngine(workers)


def compile_kernels() -> None:
    """De-duplicate a few small graphs, which compiles the kernels that most work needs."""
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (only workers need it)
    from twinwl.isomorphism.deduplication import deduplicate  # noqa: PLC0415

    path, ring = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    deduplicate(GraphBatch.from_edges([path, ring, ring]))


class Engine(ABC):
    """Runs tasks between ``__enter__`` and ``__exit__``.

    Attributes
    ----------
    workers : int
        Number of tasks that run at the same time.
    """

    workers: int

    @abstractmethod
    def __enter__(self) -> Self:
        """Start or connect."""

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all tasks and workers of this engine."""

    @abstractmethod
    def run(
        self,
        function: Callable[..., Result],
        tasks: Iterable[tuple[object, ...]],
        *,
        shared: tuple[object, ...] = (),
        warm_up: Callable[[], object] | None = compile_kernels,
    ) -> Iterator[tuple[int, Result]]:
        """Call a function for each task; yield the number of the task and its result as they complete.

        Parameters
        ----------
        function
            A pure function of a module.
        tasks
            Tuples of arguments that can be pickled. They are taken one by one, shortly before they run.
        shared
            Further arguments, the same for all tasks, which follow those of the task. They travel once.
        warm_up
            Called once per machine before all tasks, so that kernels are compiled once; None calls nothing.

        Raises
        ------
        TwinWLError
            If the workers of a task died four times. Errors of a task itself are raised as they are.
        """


class Outcome:
    """What a call gave: a result, or an error that is raised again where the result is asked for."""

    def __init__(self, result: object, error: BaseException | None = None) -> None:
        self._result, self._error = result, error

    @classmethod
    def of(cls, function: Callable[..., object], *arguments: object) -> Outcome:
        """Call a function."""
        try:
            return cls(function(*arguments))
        except Exception as error:  # noqa: BLE001  (raised again by `get`)
            return cls(None, _portable(error))

    def packed(self) -> bytes:
        """Return bytes for another process; a result that cannot be pickled is an error."""
        try:
            return cast("bytes", cloudpickle.dumps(self))
        except Exception as error:  # noqa: BLE001
            return cast("bytes", cloudpickle.dumps(Outcome(None, _portable(error))))

    def get(self) -> object:
        """Return the result, or raise the error."""
        if self._error is not None:
            raise self._error
        return self._result


def died(index: int, task: tuple[object, ...], reason: str) -> TwinWLError:
    """Return the error for a task whose workers died too often."""
    return TwinWLError(
        f"task {index} {shown(task)}: its worker died {RETRIES + 1} times ({reason}); if memory ran out, use "
        "fewer workers or smaller tasks"
    )


def described_exit(code: int | None) -> str:
    """Say how a process ended.

    >>> described_exit(-9), described_exit(3)
    ('signal SIGKILL', 'exit code 3')
    """
    if code is not None and code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def _portable(error: Exception) -> Exception:
    """Return an error that another process can load; a bug keeps the lines of code that led to it."""
    if not isinstance(error, TwinWLError):
        error.add_note("in a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        copy = cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:  # noqa: BLE001  (whatever its own code raises)
        copy = None
    return error if isinstance(copy, type(error)) else RuntimeError(f"{type(error).__name__}: {error}")
