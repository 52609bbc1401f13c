"""The engine on Ray: every task is a Ray task, on whichever node of the cluster is free."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import cloudpickle

from twinwl.engines.engine import RETRIES, Engine, Outcome, compile_kernels, died
from twinwl.errors import TwinWLError, first_line, import_extra, shown
from twinwl.refinement.threads import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

_SECONDS_TO_CONNECT = 5.0
_SECONDS_TO_STOP = 5.0
_OBJECT_STORE_BYTES = 200 << 20  # results are small: large ones are files
# What opens a connection of HTTP/2, which Ray speaks; a server answers with its settings.
_FRAME_BYTES, _TYPE_OF_FRAME, _SETTINGS = 9, 3, b"\x04"
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS + b"\0" * 5
# What Ray prints to standard output about workers that died; the engine itself reports what matters.
_NOISE = (
    r"worker died or was killed|retries remaining|will be retried|marked dead|died unexpectedly|"
    r"Raylet is terminated"
)

Result = TypeVar("Result")


class RayEngine(Engine):
    """Ray tasks, on this machine or on an existing cluster."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = _imported_ray()
        self._asked, self._address = workers, address
        self._stack = contextlib.ExitStack()
        self._warm: set[object] = set()

    def __enter__(self) -> Self:
        self._stack.enter_context(connected(self._asked, self._address))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of tasks that run at the same time; without a number given, as the cluster is now."""
        return self._asked or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(
        self,
        function: Callable[..., Result],
        tasks: Iterable[tuple[object, ...]],
        *,
        shared: tuple[object, ...] = (),
        warm_up: Callable[[], object] | None = compile_kernels,
    ) -> Iterator[tuple[int, Result]]:
        """Call a function for each task, as `Engine.run` describes."""
        ray = self._ray
        call = ray.remote(num_cpus=1, max_retries=RETRIES)(_call)
        if warm_up is not None and warm_up not in self._warm:
            self._call_on_each_node(call, warm_up)
            self._warm.add(warm_up)
        job = ray.put(cloudpickle.dumps((function, shared)))
        fresh = enumerate(tasks)
        running: dict[Any, tuple[int, tuple[object, ...]]] = {}
        try:
            while True:
                while len(running) < self.workers and (item := next(fresh, None)) is not None:
                    running[call.remote(job, cloudpickle.dumps(item[1]))] = item
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    index, task = running.pop(reference)
                    yield index, cast("Result", self._outcome(reference, index, task).get())
        finally:
            self._cancel(list(running))

    def _outcome(self, reference: object, index: int, task: tuple[object, ...]) -> Outcome:
        try:
            return cast("Outcome", cloudpickle.loads(self._ray.get(reference)))
        except self._ray.exceptions.RayError as error:
            raise died(index, task, first_line(error)) from error

    def _call_on_each_node(self, call: Any, warm_up: Callable[[], object]) -> None:  # noqa: ANN401
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        job = cloudpickle.dumps((warm_up, ()))
        nodes = [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]
        # A node may leave meanwhile, or be busy with other work: neither must stop ours.
        places = [NodeAffinitySchedulingStrategy(node, soft=True) for node in nodes]
        references = [
            call.options(num_cpus=0, scheduling_strategy=place).remote(job, cloudpickle.dumps(()))
            for place in places
        ]
        for reference in references:
            self._outcome(reference, 0, ("warm-up",)).get()

    def _cancel(self, references: list[Any]) -> None:
        """Interrupt tasks; they may clean up what they were writing, for some seconds."""
        if not references or not self._ray.is_initialized():
            return
        for reference in references:
            self._ray.cancel(reference)
        self._ray.wait(references, num_returns=len(references), timeout=_SECONDS_TO_STOP)


def _imported_ray() -> Any:  # noqa: ANN401
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", _NOISE)  # read when Ray is imported
    return import_extra("ray", "cluster")


@contextlib.contextmanager
def connected(workers: int | None, address: str | None) -> Iterator[None]:
    """Connect to a cluster or start Ray on this machine, quietly; leave a connection that was there alone.

    Parameters
    ----------
    workers
        Number of processors of a Ray that is started here; None uses all.
    address
        As for `twinwl.engines.engine.engine_of`.
    """
    ray = _imported_ray()
    if ray.is_initialized():
        yield
        return
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False, "include_dashboard": None}
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent from the user's machine
        settings: dict[str, object] = {
            "address": "local",
            "num_cpus": workers or available_threads(),
            "object_store_memory": _OBJECT_STORE_BYTES,
            "include_dashboard": False,
        }
    else:
        _check_reachable(address)
        settings = {"address": address}
    try:
        ray.init(**quiet | settings)
    except Exception as error:
        where = (
            "Ray does not start here" if address is None else f"address: no Ray cluster at {shown(address)}"
        )
        raise TwinWLError(f"{where}: {first_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Ask whether a server of the right kind answers: Ray itself tries for two minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address in {"auto", "local"}:
        return
    if not host or not port.isdecimal():
        raise TwinWLError(
            f"address: got {shown(address)}, expected host:port, such as '10.0.0.5:6379', or 'auto'"
        )
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(_FRAME_BYTES)
    except (OSError, OverflowError) as error:
        raise TwinWLError(
            f"address: nothing answers at {shown(address)} ({error}); start a cluster with ray start --head, "
            "or leave the address out to start Ray on this machine"
        ) from error
    if answer[_TYPE_OF_FRAME : _TYPE_OF_FRAME + 1] != _SETTINGS and "RAY_USE_TLS" not in os.environ:
        raise TwinWLError(f"address: the server at {shown(address)} is not a Ray cluster; check the port")


def _call(job: bytes, message: bytes) -> bytes:
    """Run one task in a worker of Ray."""
    os.environ.setdefault("TWINWL_NUM_THREADS", "1")
    return Outcome.of(_unpacked_call, job, message).packed()


def _unpacked_call(job: bytes, message: bytes) -> object:
    function, shared = cloudpickle.loads(job)
    return function(*cloudpickle.loads(message), *shared)
