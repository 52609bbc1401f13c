"""Jobs over shards: run on any engine, recorded step by step, and resumed after they were stopped.

A job owns a folder. Each finished task writes its files under their final names and is then recorded in
``journal.jsonl``, with the digest of its input. A job that is started again skips what is recorded, and
refuses to resume if an input or a setting has changed since. At the end ``manifest.json`` replaces the
journal.
"""

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self, TypedDict

from twinwl.arguments import FLAG, NAME, Constraint, checked, instance, integer, number, old_names, one_of
from twinwl.arrays import Fields
from twinwl.corpus.shards import OWN_TYPES, Part, digest_of
from twinwl.engines import Engine, engine_of
from twinwl.errors import GraphInputError, TwinWLError, first_line, held_warnings, setting, shown, warn_kinds
from twinwl.files.storage import errors_of_writing, lock, open_to_write
from twinwl.terminal import ProgressBar

MANIFEST, JOURNAL, LOCK = "manifest.json", "journal.jsonl", ".lock"
FORMAT = "twinwl corpus 1"
OF_GRAPHS = ("build", "dedup")
"""Jobs whose result is a corpus."""
VOCABULARY = "vocabulary.twinwl"
"""File of the vocabulary of features."""
WORK = "work"
"""Folder within that of a job for files that are needed only while it runs."""

_LEAST_MEMORY = 1 << 29
_ROWS_HERE = 30_000  # fewer take no longer than processes need to load libraries and kernels


def _remedy() -> str:
    return f"give another folder, or start again with {setting(fresh=True)}"


def _bytes(value: str) -> int:
    match = re.fullmatch(r"([0-9.]+) *([kmgt]?)(i?)b", value.strip().lower())
    if match is None:
        raise ValueError
    amount, prefix, is_binary = match.groups()
    power = " kmgt".index(prefix or " ")
    return int(float(amount) * (1024 if is_binary else 1000) ** power)


_MEMORY = (Constraint("a number of bytes, such as '1GiB'", _bytes), integer(1))


class RunOptions(TypedDict, total=False):
    """The fields of `Running`, as keyword arguments of methods."""

    fresh: bool
    engine: str
    workers: int | None
    address: str | None
    memory: int | str
    verbose: bool | None
    on_event: Callable[[Fields], object] | None


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
    verbose : bool or None
        Whether to show a progress bar; None shows it if standard error is a terminal.
    on_event : function or None
        Called with a dictionary for each finished task, and at the end.
    """

    fresh: bool = False
    engine: str = "local"
    workers: int | None = None
    address: str | None = None
    memory: int | str = "1GiB"
    verbose: bool | None = None
    on_event: Callable[[Fields], object] | None = None

    def __post_init__(self) -> None:
        checked("fresh", self.fresh, FLAG)
        checked("verbose", self.verbose, FLAG, None)
        if self.on_event is not None and not callable(self.on_event):
            raise TwinWLError(f"on_event: got {shown(self.on_event)}, expected a function of one dictionary")
        memory = checked("memory", self.memory, *_MEMORY)
        if memory < _LEAST_MEMORY:
            raise TwinWLError(
                f"memory: got {shown(self.memory)}, expected at least 512MiB: Python and its libraries take "
                "half of that"
            )
        object.__setattr__(self, "memory", memory)
        engine_of(self.engine, self.workers, self.address)  # refuses wrong values, before any work


Running.__init__ = old_names(progress="verbose")(Running.__init__)  # type: ignore[method-assign]


def read_manifest(folder: Path) -> Fields:
    """Read the manifest of a finished job, and check the values that are used: it may be a stranger's.

    Raises
    ------
    TwinWLError
        If the folder is not a corpus, or not finished, or the manifest holds what no job writes.
    """
    path = folder / MANIFEST
    try:
        manifest: Fields = json.loads(path.read_bytes())
        _check_manifest(manifest)
    except FileNotFoundError as error:
        if (folder / JOURNAL).exists():
            raise TwinWLError(
                f"{folder}: not finished; run the command that began it again to resume"
            ) from error
        what = "no folder" if not folder.is_dir() else "not a corpus: it has no manifest.json"
        raise TwinWLError(f"{folder}: {what}; make one with twinwl corpus build") from error
    except OSError as error:
        raise TwinWLError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TwinWLError(
            f"{path}: not the manifest of a corpus, or damaged ({first_line(error)}); build it in another "
            "folder"
        ) from error
    return manifest


def _text(pattern: str, expected: str) -> Constraint:
    def accept(value: str) -> str:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError
        return value

    return Constraint(expected, accept)


_MOST = 1 << 53
_COUNT = integer(0, _MOST)
_COUNTS = ("rows", "errors", "nodes", "edges")
_DIGEST = _text("[0-9a-f]{32}", "32 hexadecimal digits")
# The fields of a manifest that are not counts.
_FIELDS = {
    # A name cannot lead out of the folder.
    "name": _text(r"\w[\w.-]{0,99}", "the name of a file, without a folder"),
    "input": _DIGEST,
    "digest": _DIGEST,
    "format": one_of(FORMAT),
    "job": one_of("build", "dedup", "overlap", "features", "predict", "hash"),
    "source": _text(r"[^\ud800-\udfff]*", "the name of a file"),
    "seconds": number(0, _MOST),
    **dict.fromkeys(("shards", "node_labels", "edge_labels"), instance(list)),
    **dict.fromkeys(("settings", "columns"), instance(dict)),
}
# There a stage counts columns.
_OF_JOURNAL = _FIELDS | {"stage": NAME, "columns": _COUNT, "first_error": instance(str)}


def _check_manifest(manifest: Fields) -> None:
    _check_fields("", manifest, ("format", "job", "seconds", "shards", "settings"))
    checked("atoms", manifest["settings"].get("atoms"), NAME, None)
    has_graphs = manifest["job"] in OF_GRAPHS
    of_shard = ["name", "input", "digest", "rows"]
    if has_graphs:
        more = ("graphs", "groups", "largest_group") if manifest["job"] == "dedup" else ()
        _check_fields("", manifest, (*_COUNTS, *more, "columns"))
        of_shard += [*_COUNTS, "source", "first_row", "largest", "node_labels", "edge_labels"]
    for place, entry in enumerate(manifest["shards"]):
        _check_fields(f"shards[{place}]: ", entry, of_shard)
    n_rows = sum(entry["rows"] for entry in manifest["shards"])
    if has_graphs and (n_rows != manifest["rows"] or not n_rows):
        raise TwinWLError(
            f"rows: got {manifest['rows']}, and {n_rows} in the shards; expected equal numbers above 0"
        )
    if has_graphs and not OWN_TYPES.items() <= manifest["columns"].items():
        raise TwinWLError(f"columns: got {shown(manifest['columns'])}, expected those of a shard")


def _check_fields(
    where: str, fields: Fields, names: Iterable[str], of: Mapping[str, Constraint] = _FIELDS
) -> None:
    for name in names:
        checked(f"{where}{name}", fields.get(name), of.get(name, _COUNT))


def clear(folder: Path) -> None:
    """Delete what a job left in a folder, and nothing else: a manifest.json may belong to another program."""
    records = [path for path in (folder / MANIFEST, folder / JOURNAL) if path.is_file()]
    if any(FORMAT.encode() in path.read_bytes()[:100] for path in records):
        for name in ("shards", "errors", "groups", WORK):
            shutil.rmtree(folder / name, ignore_errors=True)
        for path in (folder / VOCABULARY, *records):  # what says whose folder it is goes last
            path.unlink(missing_ok=True)


class Task(NamedTuple):
    """One step of a job.

    Attributes
    ----------
    name : str
        What is recorded; unique within a stage.
    digest : str
        Of its input.
    arguments : tuple
        What the function of the stage is called with.
    rows : int
        Number of rows that it reads, for the progress.
    output : Path
        The file that exists when the task is done.
    """

    name: str
    digest: str
    arguments: tuple[object, ...]
    rows: int
    output: Path


def part_task(part: Part, output: Path, digest: str = "") -> Task:
    """Return the task that reads a shard and writes a file; ``digest`` is of what else it reads."""
    name = digest_of(part.digest, digest) if digest else part.digest
    return Task(output.name, name, (part, str(output)), part.stop - part.first, output)


class _Recorded(Fields):
    """What the journal says of a task; a field that it lacks is an error that names the file."""

    path: Path

    def __missing__(self, name: str) -> None:
        raise TwinWLError(f"{self.path} is damaged (a line has no {name!r}); {_remedy()}")


class Job:
    """A job and its folder, which is created, or resumed where it was left; to be used in a ``with`` block.

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

    Attributes
    ----------
    finished : dict or None
        The manifest, if the job was finished before.
    """

    def __init__(self, folder: Path, what: str, settings: Fields, running: Running) -> None:
        self.folder, self.what, self.running = folder, what, running
        self.finished: Fields | None = None
        self._header = json.loads(json.dumps({"format": FORMAT, "job": what, "settings": settings}))
        self._done: dict[tuple[str, str], Fields] = {}
        self._start = time.perf_counter()
        self._engine: Engine | None = None
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with errors_of_writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            strangers = sorted({path.name for path in self.folder.iterdir()} - {LOCK})
        if strangers and not {MANIFEST, JOURNAL}.intersection(strangers):
            raise TwinWLError(
                f"{self.folder} holds {shown(strangers[0])} and no corpus; give an empty or a new folder"
            )
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):  # where nothing can be written, nothing can be mixed up
                stream = held.enter_context((self.folder / LOCK).open("ab"))
                busy = "another job is writing to it; wait for its end, or give another folder"
                lock(stream, f"{self.folder}: {busy}")
            if self.running.fresh:
                with errors_of_writing(self.folder):
                    clear(self.folder)
            if (self.folder / MANIFEST).exists():
                self.finished = read_manifest(self.folder)
                self._check_header(self.finished)
                self._done = {(self.what, entry["name"]): entry for entry in self.finished["shards"]}
            else:
                self._read_journal()
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def _read_journal(self) -> None:
        """Read what is done, if anything; a last line that was cut off is dropped."""
        path = self.folder / JOURNAL
        *lines, rest = path.read_bytes().split(b"\n") if path.exists() else [b""]
        if rest:
            with open_to_write(path) as stream:
                stream.write(b"".join(line + b"\n" for line in lines))
        if not lines:
            self._record(self._header)
            return
        try:
            header, *entries = [_Recorded(json.loads(line)) for line in lines]
            _check_fields("", header, ("format", "job", "settings"))
            for entry in entries:
                entry.path = path
                needed = ["rows", "digest"] if entry.get("stage") == self.what else []
                _check_fields("", entry, ("stage", "name", "input", "seconds", *needed, *entry), _OF_JOURNAL)
                self._done[entry.pop("stage"), entry["name"]] = entry
        except (ValueError, TypeError, RecursionError) as error:
            raise TwinWLError(f"{path} is damaged ({first_line(error)}); {_remedy()}") from error
        self._check_header(header)
        if entries:
            self._start -= entries[-1]["seconds"]

    def _check_header(self, header: Fields) -> None:
        """Refuse a folder that was made in another way."""
        if header["format"] != FORMAT or header["job"] != self.what:
            raise TwinWLError(
                f"{self.folder} holds the result of {shown(header['job'])}, not of {self.what!r}; "
                "give another folder"
            )
        before, now = header["settings"], self._header["settings"]
        for name in sorted(before.keys() | now.keys()):
            if before.get(name) != now.get(name):
                raise TwinWLError(
                    f"{self.folder} was begun with {name} = {shown(before.get(name))}, now it is "
                    f"{shown(now.get(name))}; {_remedy()}"
                )

    def _reopen(self) -> None:
        """Turn the manifest into a journal again: there is more to do."""
        if self.what != "build":
            raise TwinWLError(f"{self.folder} was made from another corpus; {_remedy()}")
        entries = [{"stage": self.what, **entry, "seconds": 0.0} for entry in self._done.values()]
        with open_to_write(self.folder / JOURNAL) as stream:
            stream.write(b"".join(json.dumps(line).encode() + b"\n" for line in [self._header, *entries]))
        (self.folder / MANIFEST).unlink()
        self.finished = None

    def _record(self, entry: Fields) -> None:
        path = self.folder / JOURNAL
        with errors_of_writing(path), path.open("ab") as stream:
            stream.write(json.dumps(entry).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    @property
    def seconds(self) -> float:
        """How long the job has run, with earlier runs."""
        return round(time.perf_counter() - self._start, 3)

    def subfolder(self, name: str) -> Path:
        """Create a folder within that of the job."""
        path = self.folder / name
        with errors_of_writing(path):
            path.mkdir(exist_ok=True)
        return path

    def work(self, name: str) -> Path:
        """Return the path of a file that is needed only while the job runs."""
        return self.subfolder(WORK) / name

    def run_shards(
        self,
        function: Callable[..., Fields],
        parts: Sequence[Part],
        shared: tuple[object, ...],
        digest: str = "",
    ) -> list[Fields]:
        """Run the last stage, in which ``function(part, output, *shared)`` writes one shard per shard."""
        output = self.subfolder("shards")
        tasks = [part_task(part, output / Path(part.path).name, digest) for part in parts]
        return self.run(self.what, function, tasks, shared)

    def run(
        self, stage: str, function: Callable[..., Fields], tasks: Sequence[Task], shared: tuple[object, ...]
    ) -> list[Fields]:
        """Run the tasks of a stage that are not yet done; return the result of each, in the order of tasks.

        A task whose input is bad does not stop the others: the first such error is raised at the end.

        Parameters
        ----------
        stage
            What is recorded and shown.
        function
            A pure function of a module, which writes the output of a task.
        tasks
            What to do.
        shared
            Further arguments, the same for all tasks.
        """
        done: dict[str, Fields] = {}
        for task in tasks:
            entry = self._done.get((stage, task.name))
            if entry is not None and entry["input"] != task.digest:
                raise TwinWLError(
                    f"{self.folder}: the input of {entry['name']!r} has changed since it was made; "
                    f"{_remedy()}"
                )
            if entry is not None and task.output.exists():
                done[task.name] = entry
        left = [task for task in tasks if task.name not in done]
        if left and self.finished is not None:
            self._reopen()
        if not left:
            return [done[task.name] for task in tasks]
        failures: list[str] = []
        warnings: list[str] = []
        total = sum(task.rows for task in tasks)
        rows_before = rows_done = total - sum(task.rows for task in left)
        aside = sum(entry.get("errors", 0) for entry in done.values())
        began = time.perf_counter()
        title = stage if stage == self.what else f"{self.what}: {stage}"
        with ProgressBar(title, total, done=rows_done, show=self.running.verbose) as bar:
            calls = [(function, task.arguments, shared) for task in left]
            for number, (result, problem, messages) in self._engine_for(left).run(_call_guarded, calls):
                task = left[number]
                warnings += messages
                if problem is not None:
                    failures.append(problem)
                    continue
                entry = {"name": task.name, "input": task.digest, **result}
                self._record({"stage": stage, **entry, "seconds": self.seconds})
                done[task.name] = entry
                rows_done += task.rows
                aside += entry.get("errors", 0)
                rate = (rows_done - rows_before) / max(time.perf_counter() - began, 1e-9)
                bar.reach(rows_done)
                bar.note(f"{rate:,.0f}/s", *([f"{aside:,} set aside"] if aside else []))
                self._report(
                    {
                        "event": "task",
                        "stage": stage,
                        "name": task.name,
                        "rows": task.rows,
                        "errors": entry.get("errors", 0),
                        "done": rows_done,
                        "total": total,
                        "set_aside": aside,
                        "rows_per_second": round(rate, 1),
                        "seconds_left": round((total - rows_done) / rate, 1) if rate else None,
                    }
                )
        warn_kinds(warnings, " (in one of {:,} shards with such cases)")
        if failures:
            more = f" ({len(failures) - 1} more shards failed)" if len(failures) > 1 else ""
            raise GraphInputError(f"{failures[0]}{more}; the rest is done and kept")
        return [done[task.name] for task in tasks]

    def _engine_for(self, left: Sequence[Task]) -> Engine:
        """Return the engine of the job; a single task, or a few quick ones, need no other process."""
        running = self.running
        if self._engine is None:
            is_quick = running.workers is None and sum(task.rows for task in left) < _ROWS_HERE
            if running.engine == "local" and (len(left) == 1 or is_quick):
                return engine_of("local", 1)
            engine = engine_of(running.engine, running.workers, running.address)
            self._engine = self._held.enter_context(engine)
        return self._engine

    def _report(self, event: Fields) -> None:
        if self.running.on_event is not None:
            self.running.on_event(event)

    def finish(self, shards: Sequence[Fields], **more: object) -> Fields:
        """Write the manifest and remove what was only needed on the way."""
        if self.finished is None or shards != self.finished["shards"]:
            self.finished = {**self._header, **more, "seconds": self.seconds, "shards": shards}
            with open_to_write(self.folder / MANIFEST) as stream:
                stream.write(json.dumps(self.finished, indent=1).encode() + b"\n")
        (self.folder / JOURNAL).unlink(missing_ok=True)
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        for temporary in self.folder.glob("*/.*.tmp"):  # of processes that were killed
            temporary.unlink(missing_ok=True)
        counts = {name: value for name, value in self.finished.items() if name not in {"shards", "format"}}
        self._report({"event": "done", **counts})
        return self.finished


def _call_guarded(
    function: Callable[..., Fields], arguments: tuple[object, ...], shared: tuple[object, ...]
) -> tuple[Fields, str | None, list[str]]:
    """Call a function; bad input is reported, all else is raised. Warnings come back as text."""
    with held_warnings() as messages:
        try:
            return function(*arguments, *shared), None, messages
        except GraphInputError as error:
            return {}, str(error), messages
