"""Jobs over shards: run on any engine, noted step by step, and continued after they were stopped.

A job owns a folder. Each finished task writes its files under their final names and is then noted in
``journal.jsonl``, with the digest of its input. A job that is started again skips what is noted, and refuses
to go on if an input or a setting has changed since. At the end ``manifest.json`` takes the journal's place.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from twinwl.corpus.manifest import FORMAT, JOURNAL, LOCK, MANIFEST, WORK, alone_in, clear, read_manifest
from twinwl.engines.engine import Engine, engine_of
from twinwl.errors import GraphInputError, TwinWLError, gist, held_warnings, shown, warn_caller
from twinwl.files.atomic import errors_of_writing, written
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from twinwl.corpus.running import Running


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
