"""The local engine: processes on this machine, one task each at a time.

Each worker has a pipe of its own, so that the task of a worker that died is known. (In the pools of
`concurrent.futures` and joblib one death takes all tasks with it.) Workers are started as joblib's are, by
fork and exec: no threads are copied, and a script needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar, cast

import cloudpickle
from joblib.externals.loky.backend import get_context

from twinwl.engines.engine import RETRIES, Engine, Outcome, compile_kernels, described_exit, died
from twinwl.refinement.threads import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType, TracebackType

_SECONDS_TO_STOP = 5.0
_THREADS = ("TWINWL", "NUMBA", "OMP", "OPENBLAS", "MKL")

Result = TypeVar("Result")


class LocalEngine(Engine):
    """Processes on this machine; a single worker is this process itself."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_threads() if workers is None else workers
        self._idle: list[_Worker] = []
        self._warm: set[object] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stop(self._idle)
        self._idle = []

    def run(
        self,
        function: Callable[..., Result],
        tasks: Iterable[tuple[object, ...]],
        *,
        shared: tuple[object, ...] = (),
        warm_up: Callable[[], object] | None = compile_kernels,
    ) -> Iterator[tuple[int, Result]]:
        """Call a function for each task, as `Engine.run` describes."""
        if self.workers == 1:
            for index, task in enumerate(tasks):
                yield index, function(*task, *shared)
            return
        if warm_up is not None and warm_up not in self._warm:
            for _, outcome in self._spread(warm_up, [()], ()):
                outcome.get()
            self._warm.add(warm_up)
        for index, outcome in self._spread(function, tasks, shared):
            yield index, cast("Result", outcome.get())

    def _spread(
        self, function: Callable[..., object], tasks: Iterable[tuple[object, ...]], shared: tuple[object, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """Keep every worker busy with one task, and yield outcomes."""
        fresh = (_Try(number, task) for number, task in enumerate(tasks))
        again: deque[_Try] = deque()
        job = cloudpickle.dumps((function, shared))
        busy: dict[Connection, tuple[_Worker, _Try]] = {}
        knows: set[_Worker] = set()
        try:
            while True:
                while len(busy) < self.workers:
                    attempt = again.popleft() if again else next(fresh, None)
                    if attempt is None:
                        break
                    worker = self._idle.pop() if self._idle else _Worker(self.workers)
                    busy[worker.pipe] = worker, attempt
                    message = cloudpickle.dumps(attempt.task)
                    with contextlib.suppress(OSError):  # it has died: the loop below notices
                        worker.pipe.send((None if worker in knows else job, message))
                    knows.add(worker)
                if not busy:
                    return
                for pipe in wait(list(busy)):
                    worker, attempt = busy.pop(cast("Connection", pipe))
                    outcome = worker.answer()
                    if outcome is not None:
                        self._idle.append(worker)
                        yield attempt.number, outcome
                        continue
                    if attempt.deaths == RETRIES:
                        raise died(attempt.number, attempt.task, described_exit(worker.process.exitcode))
                    again.append(attempt._replace(deaths=attempt.deaths + 1))
        finally:
            _stop([worker for worker, _ in busy.values()])


class _Try(NamedTuple):
    """A task, and how many workers died of it."""

    number: int
    task: tuple[object, ...]
    deaths: int = 0


class _Worker:
    """One process with its pipe."""

    def __init__(self, workers: int) -> None:
        context = get_context("loky")
        self.pipe, theirs = context.Pipe()
        # The other end of the lifeline is closed when this process ends, however it ends.
        lifeline, self._lifeline = context.Pipe(duplex=False)
        threads = str(max(1, available_threads() // workers))
        environment = {f"{name}_NUM_THREADS": threads for name in _THREADS}
        self.process = context.Process(target=_work, args=(theirs, lifeline), env=environment)
        self.process.start()
        theirs.close()
        lifeline.close()

    def answer(self) -> Outcome | None:
        """Receive an outcome; None means that the worker has died."""
        try:
            return cast("Outcome", cloudpickle.loads(self.pipe.recv_bytes()))
        except (EOFError, OSError):
            self.process.join()
            self.close()
            return None

    def close(self) -> None:
        """Close this end of the pipes, after which an idle worker ends."""
        self.pipe.close()
        self._lifeline.close()


def _stop(workers: list[_Worker]) -> None:
    """End workers: they may clean up what they were writing, for some seconds."""
    for worker in workers:
        worker.process.terminate()
        worker.close()
    for worker in workers:
        worker.process.join(_SECONDS_TO_STOP)
        if worker.process.is_alive():
            os.kill(worker.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # joblib's have no kill()
            worker.process.join()


def _work(pipe: Connection, lifeline: Connection) -> None:
    """Do what comes through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one decides
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, args=(lifeline,), daemon=True).start()
    job: list[object] = []
    with contextlib.suppress(EOFError, OSError):  # the first process is gone
        while True:
            new_job, message = pipe.recv()
            pipe.send_bytes(Outcome.of(_call, job, new_job, message).packed())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends anyway


def _call(job: list[object], new_job: bytes | None, message: bytes) -> object:
    """Call the function of the job, which is sent once, with the arguments of a task."""
    if new_job is not None:
        job[:] = cloudpickle.loads(new_job)
    function, shared = cast("tuple[Callable[..., object], tuple[object, ...]]", job)
    return function(*cloudpickle.loads(message), *shared)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End by an exception, so that half-written files are removed, and once: not again while leaving."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


def _leave_with_parent(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_SECONDS_TO_STOP)
    os._exit(1)
