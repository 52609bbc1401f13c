"""The folder of a job: one job at a time, its manifest read and checked, and what a job left deleted."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

from twinwl.arguments import FLAG, NAME, Constraint, checked, instance, integer, number, one_of
from twinwl.corpus.shards import OWN_TYPES
from twinwl.errors import TwinWLError, first_line, shown
from twinwl.files.atomic import errors_of_writing
from twinwl.graphs.atom_labels import ATOMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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
