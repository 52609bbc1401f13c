"""What runs tasks: `engine_of` makes an engine, whose `run` calls one pure function once for each task.

An engine only moves work: results come in any order, and a task whose worker died is run again. So a function
must give the same result each time it is called, and write files atomically where it writes any.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import socket
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, Self, TypeVar, cast

import cloudpickle
from joblib.externals.loky.backend import get_context

from twinwl.arguments import NAME, checked, integer, one_of
from twinwl.errors import TwinWLError, first_line, import_extra, shown

ENGINES = ("local", "ray")
RETRIES = 3
_MAX_WORKERS = 4096
_SECONDS_TO_STOP = 5.0
_SECONDS_TO_CONNECT = 5.0
_THREADS = ("TWINWL", "NUMBA", "OMP", "OPENBLAS", "MKL")
_OBJECT_STORE_BYTES = 200 << 20  # results are small: large ones are files
# What Ray prints to standard output about workers that died; the engine itself reports what matters.
_NOISE = (
    r"worker died or was killed|retries remaining|will be retried|marked dead|died unexpectedly|"
    r"Raylet is terminated"
)

Result = TypeVar("Result")
Task = tuple[object, ...]


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
        return RayEngine(workers, address)
    if address is not None:
        raise TwinWLError(f"address: got {shown(address)}, but the engine is 'local'; set engine to 'ray'")
    return LocalEngine(workers)


def compile_kernels() -> None:
    """De-duplicate a few small graphs, so that the kernels of most work are compiled before workers start."""
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (only workers need it)
    from twinwl.isomorphism.deduplication import deduplicate  # noqa: PLC0415

    path, ring = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    deduplicate(GraphBatch.from_edges([path, ring, ring]))


def _n_processors() -> int:
    from twinwl.refinement.colours import available_threads  # noqa: PLC0415  (loads numba)

    return available_threads()


class WorkerDiedError(Exception):
    """The process that ran a task has ended."""


class Engine(ABC):
    """Runs tasks between ``__enter__`` and ``__exit__``.

    Attributes
    ----------
    workers : int
        Number of tasks that run at the same time.
    """

    workers: int
    _is_here = False

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """Stop the workers of this engine."""

    def run(
        self,
        function: Callable[..., Result],
        tasks: Iterable[Task],
        *,
        shared: Task = (),
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

        Raises
        ------
        TwinWLError
            If the workers of a task died four times. Errors of a task itself are raised unchanged.
        """
        if self._is_here:
            yield from ((number, function(*task, *shared)) for number, task in enumerate(tasks))
            return
        # Keep every worker busy with one task; run a task whose worker died again.
        compile_kernels()
        job = self._share(cloudpickle.dumps((function, shared)))
        fresh = ((number, task, 0) for number, task in enumerate(tasks))
        again: list[tuple[int, Task, int]] = []
        running: dict[Any, tuple[int, Task, int]] = {}
        try:
            while True:
                while len(running) < self.workers:
                    attempt = again.pop() if again else next(fresh, None)
                    if attempt is None:
                        break
                    running[self._start(job, cloudpickle.dumps(attempt[1]))] = attempt
                if not running:
                    return
                done = self._wait(list(running))
                number, task, deaths = running.pop(done)
                try:
                    result, error = cloudpickle.loads(self._answer(done))
                except WorkerDiedError as death:
                    if deaths == RETRIES:
                        raise TwinWLError(
                            f"task {number} {shown(task)}: its worker died {deaths + 1} times ({death}); if "
                            "memory ran out, use fewer workers or smaller tasks"
                        ) from death
                    again.append((number, task, deaths + 1))
                    continue
                if error is not None:
                    raise error
                yield number, result
        finally:
            self._stop(list(running))

    # What an engine is made of: a handle stands for a task that runs.

    def _share(self, job: bytes) -> Any:  # noqa: ANN401
        """Return what `_start` needs to know of a job."""
        return job

    @abstractmethod
    def _start(self, job: Any, task: bytes) -> Any:  # noqa: ANN401
        """Start a task; return its handle."""

    @abstractmethod
    def _wait(self, handles: list[Any]) -> Any:  # noqa: ANN401
        """Return a handle whose task has ended."""

    @abstractmethod
    def _answer(self, handle: Any) -> bytes:  # noqa: ANN401
        """Return what `_call` returned, or raise a `WorkerDiedError`."""

    @abstractmethod
    def _stop(self, handles: list[Any]) -> None:
        """End tasks."""


def _call(function: Callable[..., object], task: bytes, shared: Task) -> bytes:
    """Return the pickled result and None, or None and the error; a bug keeps the lines that led to it."""
    try:
        return cast("bytes", cloudpickle.dumps((function(*cloudpickle.loads(task), *shared), None)))
    except Exception as error:  # noqa: BLE001  (raised again where the result is asked for)
        if not isinstance(error, TwinWLError):
            error.add_note("in a worker:\n" + "".join(traceback.format_exception(error)))
        return cast("bytes", cloudpickle.dumps((None, error)))


class LocalEngine(Engine):
    """Processes on this machine, one task each at a time; a single worker is this process itself.

    Each worker has a pipe of its own, so that the task of a worker that died is known. (In the pools of
    `concurrent.futures` and joblib one death takes all tasks with it.) Workers are started as joblib's are,
    by fork and exec: no threads are copied, and a script needs no ``if __name__ == "__main__"``.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = _n_processors() if workers is None else workers
        self._is_here = self.workers == 1
        self._idle: list[_Worker] = []

    def __exit__(self, *error: object) -> None:
        self._stop(self._idle)
        self._idle = []

    def _start(self, job: bytes, task: bytes) -> _Worker:
        worker = self._idle.pop() if self._idle else _Worker(self.workers)
        with contextlib.suppress(OSError):  # it has died: `_answer` notices
            worker.pipe.send((None if worker.job is job else job, task))
        worker.job = job
        return worker

    def _wait(self, handles: list[_Worker]) -> _Worker:
        (first, *_) = wait([worker.pipe for worker in handles])
        return next(worker for worker in handles if worker.pipe is first)

    def _answer(self, handle: _Worker) -> bytes:
        try:
            answer = handle.pipe.recv_bytes()
        except (EOFError, OSError) as error:
            handle.process.join()
            code = handle.process.exitcode or 0
            raise WorkerDiedError(f"signal {-code}" if code < 0 else f"exit code {code}") from error
        self._idle.append(handle)
        return answer

    def _stop(self, handles: list[_Worker]) -> None:
        for worker in handles:
            worker.process.terminate()
            worker.process.join()
            worker.pipe.close()


class _Worker:
    """One process, with its pipe and the job that it was sent."""

    def __init__(self, workers: int) -> None:
        context = get_context("loky")
        self.pipe, theirs = context.Pipe()
        self.job: bytes | None = None
        threads = str(max(1, _n_processors() // workers))
        environment = {f"{name}_NUM_THREADS": threads for name in _THREADS}
        # A daemon: an interrupt between two lines of `Engine.run` may leave a worker in no list, and this
        # process would wait for it for ever.
        self.process = context.Process(target=_work, args=(theirs,), env=environment, daemon=True)
        self.process.start()
        theirs.close()


def _work(pipe: Connection) -> None:
    """Do what comes through the pipe, until this process or the first one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one decides
    messages: queue.SimpleQueue[tuple[bytes | None, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, messages), daemon=True).start()
    while True:
        job, task = messages.get()
        if job is not None:
            function, shared = cloudpickle.loads(job)
        with contextlib.suppress(OSError):  # the first process is gone
            pipe.send_bytes(_call(function, task, shared))


def _receive(pipe: Connection, messages: queue.SimpleQueue[tuple[bytes | None, bytes]]) -> None:
    """Pass messages on; once the other end is closed, however that process ended, end this one."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv())
    os._exit(1)


class RayEngine(Engine):
    """Ray tasks, on whichever node of a cluster is free, or on this machine."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", _NOISE)  # read when Ray is imported
        self._ray = import_extra("ray", "cluster")
        self._asked, self._address = workers, address
        self._is_ours = False

    def __enter__(self) -> Self:
        """Connect to a cluster or start Ray on this machine, quietly; keep a connection that exists."""
        if self._ray.is_initialized():
            return self
        address = self._address
        settings: dict[str, object] = {"address": address}
        if address is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent from the user's machine
            settings = {"address": "local", "num_cpus": self._asked or _n_processors()}
            settings |= {"object_store_memory": _OBJECT_STORE_BYTES, "include_dashboard": False}
        try:
            if address not in {None, "auto", "local"}:  # is it there? Ray itself would try for minutes
                host, _, port = str(address).removeprefix("ray://").rpartition(":")
                socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT).close()
            self._ray.init(logging_level=logging.ERROR, log_to_driver=False, **settings)
        except Exception as error:
            raise TwinWLError(
                f"address: got {shown(address)}, expected host:port of a cluster that was started with ray "
                f"start --head, 'auto', or None to start Ray on this machine ({first_line(error)})"
            ) from error
        self._is_ours = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_ours:
            self._ray.shutdown()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of tasks that run at the same time; without a number given, as the cluster is now."""
        return self._asked or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _share(self, job: bytes) -> Any:  # noqa: ANN401
        return self._ray.put(job)

    def _start(self, job: Any, task: bytes) -> Any:  # noqa: ANN401
        return self._ray.remote(max_retries=0, num_cpus=1)(_call_remotely).remote(job, task)

    def _wait(self, handles: list[Any]) -> Any:  # noqa: ANN401
        return self._ray.wait(handles, num_returns=1)[0][0]

    def _answer(self, handle: Any) -> bytes:  # noqa: ANN401
        try:
            return cast("bytes", self._ray.get(handle))
        except self._ray.exceptions.RayError as error:
            raise WorkerDiedError(first_line(error)) from error

    def _stop(self, handles: list[Any]) -> None:
        if handles and self._ray.is_initialized():
            for handle in handles:
                self._ray.cancel(handle)
            self._ray.wait(handles, num_returns=len(handles), timeout=_SECONDS_TO_STOP)


def _call_remotely(job: bytes, task: bytes) -> bytes:
    os.environ.setdefault("TWINWL_NUM_THREADS", "1")
    function, shared = cloudpickle.loads(job)
    return _call(function, task, shared)
