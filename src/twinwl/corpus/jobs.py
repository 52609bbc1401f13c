"""Jobs over shards: run on any engine, noted step by step, and continued after they were stopped.

A job owns a folder. Each finished task writes its files under their final names and is then noted in
``journal.jsonl``, with the digest of its input. A job that is started again skips what is noted, and refuses
to go on if an input or a setting has changed since. At the end ``manifest.json`` takes the journal's place.

How a job runs: on which engine, with how much memory, and whom it tells about its progress.

The folder of a job: one job at a time, its manifest read and checked, and what a job left deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypedDict

from twinwl.arguments import FLAG, NAME, Constraint, checked, instance, integer, number, one_of
from twinwl.corpus.shards import OWN_TYPES
from twinwl.engines import Engine, engine_of
from twinwl.errors import GraphInputError, TwinWLError, first_line, gist, held_warnings, shown, warn_caller
from twinwl.files.atomic import errors_of_writing, written
from twinwl.graphs.atom_labels import ATOMS
from twinwl.terminal import ProgressBar

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
        As in `twinwl.engines.engine_of`.
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


try:
    import fcntl
except ImportError:  # Windows has no such locks; jobs are not kept apart there
    fcntl = None  # type: ignore[assignment]

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
LOCK = ".lock"
"""Empty file, which is locked while a job runs: the lock ends with the process, whatever ends that."""
FORMAT = "twinwl corpus 1"
OF_GRAPHS = ("build", "dedup")
"""Jobs whose result is a corpus."""
VOCABULARY = "vocabulary.twinwl"
"""File of the vocabulary of features."""
WORK = "work"
"""Folder within that of a job for what it needs only while it runs."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a finished job, and check every value that is used: it may be a stranger's.

    Raises
    ------
    TwinWLError
        If the folder is no corpus, or not finished, or the manifest holds what no job writes.
    """
    path = folder / MANIFEST
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        _check(found)
    except FileNotFoundError as error:
        if (folder / JOURNAL).exists():
            raise TwinWLError(
                f"{folder}: not finished; run the command that began it again to go on"
            ) from error
        what = "no folder" if not folder.is_dir() else "not a corpus: it has no manifest.json"
        raise TwinWLError(f"{folder}: {what}; make one with twinwl corpus build") from error
    except OSError as error:
        raise TwinWLError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TwinWLError(
            f"{path}: not the manifest of a corpus, or damaged ({first_line(error)}); build it in another "
            "folder"
        ) from error
    return found


def _text(expected: str, pattern: str) -> Constraint:
    def accept(value: str) -> None:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError

    return Constraint(expected, accept)


def _columns(value: dict[str, str]) -> None:
    if not OWN_TYPES.items() <= value.items() or not all(isinstance(kind, str) for kind in value.values()):
        raise ValueError


def _counts(value: dict[str, int]) -> None:
    for count in value.values():
        _COUNT.accept(count)


_COUNT = integer(0, 1 << 53)
_COUNTS = dict.fromkeys(("rows", "errors", "nodes", "edges"), _COUNT)
_DIGEST = _text("32 hexadecimal digits", "[0-9a-f]{32}")
_ATOMS = Constraint(f"{ATOMS.expected} or null", lambda value: value is None or ATOMS.accept(value))
_MANIFEST = {
    "format": one_of(FORMAT),
    "job": one_of("build", "dedup", "overlap", "hash", "features", "predict"),
    "settings": instance(dict),
    "seconds": number(0),
    "shards": instance(list),
}
_GRAPHS = {**_COUNTS, "columns": Constraint("the types of the columns of a shard", _columns)}
_MORE_OF_JOB = {
    "build": _GRAPHS,
    "dedup": _GRAPHS | dict.fromkeys(("graphs", "groups", "largest_group"), _COUNT),
    "overlap": {"overlap": Constraint("counts", _counts)},
}
_SETTINGS = {"kind": one_of("molecules", "graph6", "edges"), "atoms": _ATOMS, "directed": FLAG}
_SHARD = {
    "name": _text("the name of a file, without a folder", r"\w[\w.-]{0,99}"),
    "input": _DIGEST,
    "digest": _DIGEST,
    "rows": integer(0, 1 << 24),
}
_SHARD_OF_GRAPHS = _COUNTS | _SHARD | {"source": NAME, "first_row": _COUNT, "largest": _COUNT}
_SHARD_OF_GRAPHS |= dict.fromkeys(("node_labels", "edge_labels"), instance(list))
_SHARD_OF_JOB = dict.fromkeys(OF_GRAPHS, _SHARD_OF_GRAPHS) | {"features": _SHARD | {"entries": _COUNT}}


def _check(found: dict[str, Any]) -> None:
    _check_fields("", found, _MANIFEST)
    _check_fields("", found, _MORE_OF_JOB.get(found["job"], {}))
    has_graphs = found["job"] in OF_GRAPHS
    if has_graphs:
        _check_fields("settings: ", found["settings"], _SETTINGS)
    for place, entry in enumerate(found["shards"]):
        _check_fields(f"shards[{place}]: ", entry, _SHARD_OF_JOB.get(found["job"], _SHARD))
    if len({entry["name"] for entry in found["shards"]}) < len(found["shards"]):
        raise TwinWLError("two shards have the same name")
    n_rows = sum(entry["rows"] for entry in found["shards"])
    if has_graphs and not 0 < n_rows == found["rows"]:
        raise TwinWLError(
            f"rows: got {found['rows']}, and {n_rows} in the shards; expected equal numbers above 0"
        )


def _check_fields(where: str, found: object, fields: Mapping[str, Constraint]) -> None:
    if not isinstance(found, dict):
        raise TwinWLError(f"{where}got {shown(found)}, expected an object")
    for name, constraint in fields.items():
        if name not in found:
            raise TwinWLError(f"{where}{name} is missing")
        checked(f"{where}{name}", found[name], constraint)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other jobs out of a folder.

    Raises
    ------
    TwinWLError
        If another job is running in it.
    """
    stream = None
    with contextlib.suppress(OSError):  # where nothing can be written, nothing can be mixed up
        stream = (folder / LOCK).open("ab")
    with stream or contextlib.nullcontext():
        if stream is not None and fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TwinWLError(
                    f"{folder}: another job is writing to it; wait until that ends, or give another folder"
                ) from error
            except OSError:  # a file system without locks
                pass
        yield


def clear(folder: Path) -> None:
    """Delete what a job left in a folder, and nothing else: a manifest.json may be of another program."""
    with errors_of_writing(folder):
        noted = [path for path in (folder / MANIFEST, folder / JOURNAL) if path.is_file()]
        if not any(FORMAT.encode() in path.read_bytes()[:100] for path in noted):
            return
        for name in ("shards", "errors", "groups", WORK):
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
        for path in (folder / VOCABULARY, *noted):  # what tells whose folder it is goes last
            path.unlink(missing_ok=True)


_SECONDS_HERE = 3.0  # starting processes takes that long, until they have loaded libraries and kernels


class Task(NamedTuple):
    """One step of a job.

    Attributes
    ----------
    name : str
        What is noted; unique within a stage.
    digest : str
        Of its input.
    arguments : tuple
        What the function of the stage is called with.
    rows : int
        Number of rows that it reads, for the progress.
    output : Path
        The file that is there when the task is done.
    """

    name: str
    digest: str
    arguments: tuple[object, ...]
    rows: int
    output: Path


@dataclass
class Job:
    """A job and its folder, which is created, or continued where it was left; to be used in a ``with`` block.

    Parameters
    ----------
    folder
        Where results go.
    what
        The command: ``"build"``, ``"dedup"``, …
    settings
        All that the result depends on besides the input; as JSON.
    running
        How to run.
    """

    folder: Path
    what: str
    settings: Mapping[str, Any]
    running: Running
    finished: dict[str, Any] | None = None
    """The manifest, if the job was finished before."""
    _done: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _start: float = field(default_factory=time.perf_counter)
    _seconds: float = 0.0
    _engine: Engine | None = None
    _lock: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401, PYI036  (handed on)
        with self._lock:
            if self._engine is not None:
                self._engine.__exit__(*error)

    def __post_init__(self) -> None:
        self.settings = json.loads(json.dumps(self.settings))
        with errors_of_writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            strangers = sorted({path.name for path in self.folder.iterdir()} - {LOCK})
        if strangers and not {MANIFEST, JOURNAL}.intersection(strangers):
            raise TwinWLError(
                f"{self.folder} holds {shown(strangers[0])} and no corpus; give an empty or a new folder"
            )
        with contextlib.ExitStack() as lock:
            lock.enter_context(alone_in(self.folder))
            self._begin()
            self._lock = lock.pop_all()

    def _begin(self) -> None:
        if self.running.fresh:
            clear(self.folder)
        if (self.folder / MANIFEST).exists():
            self.finished = read_manifest(self.folder)
            self._check(self.finished)
            for entry in self.finished["shards"]:
                self._done[self.what, entry["name"]] = entry
        elif (self.folder / JOURNAL).exists():
            self._continue()
        else:
            self._note({"format": FORMAT, "job": self.what, "settings": self.settings})

    def _continue(self) -> None:
        """Read the journal; a last line that was cut off is dropped."""
        path = self.folder / JOURNAL
        lines = path.read_bytes().split(b"\n")
        if lines[-1]:
            with written(path) as stream:
                stream.write(b"\n".join([*lines[:-1], b""]))
        if len(lines) == 1:  # stopped while the first line was written
            self._note({"format": FORMAT, "job": self.what, "settings": self.settings})
            return
        try:
            header, *entries = [json.loads(line) for line in lines[:-1]]
            self._check(header)
            for entry in entries:
                self._done[entry.pop("stage"), entry["name"]] = entry
                self._seconds = entry["seconds"]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, TwinWLError):
                raise
            raise TwinWLError(f"{path} is damaged; {self._remedy}") from error

    def _check(self, header: Mapping[str, Any]) -> None:
        """Refuse a folder that was made in another way."""
        if header["format"] != FORMAT or header["job"] != self.what:
            raise TwinWLError(
                f"{self.folder} holds the result of {shown(header['job'])}, not of {self.what!r}; "
                "give another folder"
            )
        there = header["settings"]
        for name in sorted(there.keys() | self.settings.keys()):
            if there.get(name) != self.settings.get(name):
                raise TwinWLError(
                    f"{self.folder} was begun with {name} = {shown(there.get(name))}, now it is "
                    f"{shown(self.settings.get(name))}; {self._remedy}"
                )

    def _reopen(self) -> None:
        """Turn the manifest into a journal again: there is more to do."""
        if self.what != "build":
            raise TwinWLError(f"{self.folder} was made from another corpus; {self._remedy}")
        header = {"format": FORMAT, "job": self.what, "settings": self.settings}
        entries = [{"stage": self.what, **entry, "seconds": 0.0} for entry in self._done.values()]
        with written(self.folder / JOURNAL) as stream:
            stream.write(b"".join(json.dumps(line).encode() + b"\n" for line in [header, *entries]))
        (self.folder / MANIFEST).unlink()
        self.finished = None

    @property
    def _remedy(self) -> str:
        return "give another folder, or start again with fresh=True"

    def run(
        self,
        stage: str,
        function: Callable[..., dict[str, Any]],
        tasks: Sequence[Task],
        shared: tuple[object, ...] = (),
        microseconds: int = 20,
    ) -> list[dict[str, Any]]:
        """Run the tasks of a stage that are not yet done; return what each gave, in the order of tasks.

        A task whose input is bad does not stop the others: the first such error is raised at the end.

        Parameters
        ----------
        stage
            What is noted and shown.
        function
            A pure function of a module, which writes the output of a task.
        tasks
            What to do.
        shared
            Further arguments, the same for all tasks.
        microseconds
            About how long a row takes: a stage of a few seconds needs no other processes.
        """
        found: dict[int, dict[str, Any]] = {}
        for place, task in enumerate(tasks):
            entry = self._done.get((stage, task.name))
            if entry is not None:
                if entry["input"] != task.digest:
                    raise TwinWLError(
                        f"{self.folder}: the input of {entry['name']!r} has changed since it was made; "
                        f"{self._remedy}"
                    )
                if task.output.exists():
                    found[place] = entry
        left = [place for place in range(len(tasks)) if place not in found]
        if not left:
            return [found[place] for place in range(len(tasks))]
        if self.finished is not None:
            self._reopen()
        failures: list[str] = []
        report = _Report(self, stage, tasks, found)
        said: Counter[str] = Counter()
        with report:
            engine = self._engine_for([tasks[place] for place in left], microseconds)
            for number, (result, problem, messages) in engine.run(
                _guarded, [(function, tasks[place].arguments, shared) for place in left]
            ):
                task = tasks[left[number]]
                said.update(messages)
                if problem is not None:
                    failures.append(problem)
                    continue
                entry = {"name": task.name, "input": task.digest, **result}
                self._note({"stage": stage, **entry, "seconds": round(self.seconds, 3)})
                found[left[number]] = entry
                report.finished(task, entry)
        _warn(said)
        if failures:
            more = f" ({len(failures) - 1} more shards failed)" if len(failures) > 1 else ""
            raise GraphInputError(f"{failures[0]}{more}; the rest is done and kept")
        return [found[place] for place in range(len(tasks))]

    def _engine_for(self, tasks: Sequence[Task], microseconds: int) -> Engine:
        """Return the engine of the job; a single task, or a few quick ones, need no other process."""
        running = self.running
        if self._engine is None:
            seconds = sum(task.rows for task in tasks) * microseconds / 1e6
            is_quick = running.workers is None and seconds < _SECONDS_HERE
            if running.engine == "local" and (len(tasks) == 1 or is_quick):
                return engine_of("local", 1)
            self._engine = engine_of(running.engine, running.workers, running.address).__enter__()
        return self._engine

    def _note(self, entry: Mapping[str, Any]) -> None:
        path = self.folder / JOURNAL
        with errors_of_writing(path), path.open("ab") as stream:
            stream.write(json.dumps(entry).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    @property
    def seconds(self) -> float:
        """How long the job has run, with earlier runs."""
        return self._seconds + time.perf_counter() - self._start

    def work(self, name: str) -> Path:
        """Return the path of a file that is needed only while the job runs."""
        path = self.folder / WORK / name
        with errors_of_writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def finish(self, shards: Iterable[Mapping[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Write the manifest and remove what was only needed on the way."""
        if self.finished is None or list(shards) != self.finished["shards"]:
            manifest = {
                "format": FORMAT,
                "job": self.what,
                "settings": self.settings,
                **more,
                "seconds": round(self.seconds, 3),
                "shards": list(shards),
            }
            with written(self.folder / MANIFEST) as stream:
                stream.write(json.dumps(manifest, indent=1).encode() + b"\n")
            self.finished = manifest
        (self.folder / JOURNAL).unlink(missing_ok=True)
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        for left_over in self.folder.glob("*/.*.tmp"):  # of processes that were killed
            left_over.unlink(missing_ok=True)
        if self.running.on_event is not None:
            told = {name: value for name, value in self.finished.items() if name not in {"shards", "format"}}
            self.running.tell({"event": "done", **told})
        return self.finished


def _guarded(
    function: Callable[..., dict[str, Any]], arguments: tuple[object, ...], shared: tuple[object, ...]
) -> tuple[dict[str, Any], str | None, list[str]]:
    """Call a function; bad input is reported, all else is raised. Warnings come back as text."""
    with held_warnings() as messages:
        try:
            result, problem = function(*arguments, *shared), None
        except GraphInputError as error:
            result, problem = {}, str(error)
    return result, problem, messages


def _warn(messages: Counter[str]) -> None:
    """Warn once for each kind of message."""
    kinds: dict[str, list[str]] = {}
    for message in messages:
        kinds.setdefault(gist(message), []).append(message)
    for alike in kinds.values():
        count = sum(messages[message] for message in alike)
        warn_caller(alike[0] if count == 1 else f"{alike[0]} (in one of {count:,} shards with such cases)")


class _Report:
    """Progress of a stage: a bar, and events."""

    def __init__(
        self, job: Job, stage: str, tasks: Sequence[Task], found: Mapping[int, Mapping[str, Any]]
    ) -> None:
        self._job, self._stage = job, stage
        self._total = sum(task.rows for task in tasks)
        self._before = self._done = sum(tasks[place].rows for place in found)
        self._aside = sum(entry.get("errors", 0) for entry in found.values())
        self._start = time.perf_counter()
        self._bar = ProgressBar(
            f"{job.what}: {stage}" if stage != job.what else stage,
            self._total,
            done=self._done,
            show=job.running.progress,
        )

    def __enter__(self) -> None:
        self._bar.__enter__()

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401, PYI036  (handed on)
        self._bar.__exit__(*error)

    def finished(self, task: Task, entry: Mapping[str, Any]) -> None:
        """Count a task."""
        self._done += task.rows
        self._aside += entry.get("errors", 0)
        rate = (self._done - self._before) / max(time.perf_counter() - self._start, 1e-9)
        self._bar.reach(self._done)
        notes = [f"{rate:,.0f}/s"] + ([f"{self._aside:,} set aside"] if self._aside else [])
        self._bar.note(*notes)
        if self._job.running.on_event is not None:
            self._job.running.tell(
                {
                    "event": "task",
                    "stage": self._stage,
                    "name": task.name,
                    "rows": task.rows,
                    "errors": entry.get("errors", 0),
                    "done": self._done,
                    "total": self._total,
                    "set_aside": self._aside,
                    "rows_per_second": round(rate, 1),
                    "seconds_left": round((self._total - self._done) / rate, 1) if rate else None,
                }
            )
