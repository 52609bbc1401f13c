"""The result store: JSON lines, one per finished fold, safe against interruption and concurrent writers.

A line is appended under a lock in one write and flushed to disk. A process that is killed while writing
leaves at most one broken last line, which the next reader skips and after which the next writer starts a new
line.
"""

from __future__ import annotations

import contextlib
import errno
import json
import numbers
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypedDict, cast

from twinwl.errors import TwinWLError, warn_caller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.datasets.dataset import Dataset

try:
    from fcntl import LOCK_EX, LOCK_UN, flock
except ImportError:  # no such lock outside POSIX; appending is still one write

    def flock(_descriptor: int, _operation: int) -> None:  # type: ignore[misc]
        """Do without."""

    LOCK_EX = LOCK_UN = 0  # type: ignore[misc]

FORMAT = 1
_KEY_FIELDS = {
    "dataset": str, "digest": str, "method": str, "version": int, "config": dict, "splits": str, "seed": int,
    "fold": int,
}  # fmt: skip
_LINES_LISTED = 10
_FOLD_FIELDS = {"validation_score", "curves", "epochs", "best_epoch", "n_test", "n_leaked"}


class Row(TypedDict, total=False):
    """One finished fold of one configuration; the first fields, up to ``fold``, identify it.

    A metric that is in ``metrics`` and not in ``scores`` is undefined on that fold. A missing ``task`` means
    classification, a missing ``scoring`` means that the hold-out was scored by accuracy, a
    missing ``positive`` that the last of two classes was the positive one. With several
    ``tasks``, the score of a metric is the mean over them, and ``metric@task`` that of one. ``inputs`` is
    what the method used besides the structure of the graphs (`twinwl.evaluation.fold_run.inputs_of`); results
    of earlier versions and of estimators of other packages lack it.
    """

    format: int
    dataset: str
    digest: str
    method: str
    version: int
    config: dict[str, object]
    splits: str
    seed: int
    fold: int
    scores: dict[str, float]
    metrics: list[str]
    validation_score: float | None
    curves: dict[str, list[float]]
    epochs: int
    best_epoch: int
    n_test: int
    n_leaked: int
    seconds: float
    peak_memory: int
    versions: dict[str, str]
    task: str
    scoring: str
    tasks: list[str]
    positive: str
    inputs: list[str]


def key_of(
    data: Dataset,
    method: str,
    version: int,
    config: dict[str, object],
    splits: str,
    *,
    seed: int = 0,
    fold: int = 0,
) -> Row:
    """Return the fields that identify a unit: the beginning of a row.

    >>> from twinwl import load_dataset
    >>> key_of(load_dataset("TWINS", n_pairs=2), "stwin", 1, {}, "10 folds", fold=3)["fold"]
    3
    """
    return {
        "dataset": data.name,
        "digest": data.digest,
        "method": method,
        "version": version,
        "config": config,
        "splits": splits,
        "seed": seed,
        "fold": fold,
    }


def row_key(row: Row) -> str:
    """Return the key of a result, which is the same for the same unit, whatever its scores."""
    return json.dumps([row.get(name) for name in _KEY_FIELDS], sort_keys=True)


class ResultStore:
    """A file of results, one JSON object per line.

    Parameters
    ----------
    path
        The file; it is created by the first `append`.

    >>> import tempfile
    >>> store = ResultStore(Path(tempfile.mkdtemp(), "results.jsonl"))
    >>> _ = store.append({"dataset": "TWINS", "digest": "", "method": "m", "version": 1, "config": {},
    ...               "splits": "seeded", "seed": 0, "fold": 0, "scores": {"accuracy": 1.0}})
    >>> [row["scores"] for row in store.rows()]
    [{'accuracy': 1.0}]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.name:
            raise TwinWLError(f"store: got {str(path)!r}, expected the name of a file")

    @property
    def side_file(self) -> Path:
        """The file to which broken lines are copied."""
        return self.path.with_name(self.path.name + ".broken")

    def rows(self) -> list[Row]:
        """Return all results; if one was written twice, the newer one.

        Broken lines are reported with their numbers in one warning and copied to `side_file`; the store
        itself is not changed. A line of a newer format is an error, because this version might misread it.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TwinWLError(
                f"cannot read the store {str(self.path)!r} ({error.strerror or error}); name a file"
            ) from error
        found: dict[str, Row] = {}
        broken: list[tuple[int, bytes]] = []
        for number, line in enumerate(content.split(b"\n"), start=1):
            if not line.strip():
                continue
            row = _parsed(line)
            if row is None:
                broken.append((number, line))
                continue
            if row["format"] > FORMAT:
                raise TwinWLError(
                    f"{self.path}, line {number}: written in format {row['format']}, this version knows "
                    f"{FORMAT}; use the newer twinwl or another store"
                )
            found[row_key(row)] = row
        if broken:
            self._set_aside(broken)
        return list(found.values())

    def rows_after(self, place: int) -> tuple[list[Row], int]:
        """Return the results after a position in the file, and the position of the next ones.

        Broken or incomplete lines are skipped; `rows` reports them.
        """
        try:
            with self.path.open("rb") as stream:
                stream.seek(place)
                whole, end, _ = stream.read().rpartition(b"\n")
        except OSError:
            return [], place
        found = [row for line in whole.split(b"\n") if (row := _parsed(line)) and row["format"] <= FORMAT]
        return found, place + len(whole) + len(end)

    def append(self, row: Row) -> Row:
        """Append one result as a whole line, safe against other writers and interruption.

        Returns
        -------
        Row
            The result as `rows` will return it.
        """
        stored: Row = {**row, "format": FORMAT}
        line = json.dumps(stored, sort_keys=True, allow_nan=False).encode() + b"\n"
        with self._open() as stream, _locked(stream.fileno()):
            end = stream.seek(0, os.SEEK_END)
            if end:
                stream.seek(end - 1)
                # A killed writer may have left half a line: start a new one behind it.
                line = line if stream.read(1) == b"\n" else b"\n" + line
            _write_whole(stream.fileno(), line, end)
        return stored

    def check_writable(self) -> None:
        """Refuse a file that cannot be written to, before any result is computed."""
        with self._open():
            pass

    @contextlib.contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as stream:
                yield stream
        except OSError as error:
            raise TwinWLError(
                f"cannot write to the store {self.path} ({error.strerror or error}); what it held is intact. "
                "Free some space or choose another --store, and run again: finished folds are not repeated"
            ) from error

    def _set_aside(self, broken: list[tuple[int, bytes]]) -> None:
        listed = ", ".join(str(number) for number, _ in broken[:_LINES_LISTED])
        more = ", …" if len(broken) > _LINES_LISTED else ""
        with contextlib.suppress(OSError):  # the report matters more than the copy
            kept = self.side_file.read_bytes().split(b"\n") if self.side_file.exists() else []
            fresh = [line for _, line in broken if line not in kept]
            with self.side_file.open("ab") as stream:
                stream.writelines(line + b"\n" for line in fresh)
        warn_caller(
            f"{self.path}: skipped broken lines {listed}{more} ({len(broken)} in all); "
            f"copies are in {self.side_file.name}"
        )


def _parsed(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("format"), int):
        return None
    return cast("Row", row) if row["format"] > FORMAT or _is_complete(row) else None


def _is_complete(row: dict[str, object]) -> bool:
    """Return whether a line has all fields that are needed to identify and summarise it."""
    scores = row.get("scores")
    return (
        all(isinstance(row.get(name), kind) for name, kind in _KEY_FIELDS.items())
        and isinstance(scores, dict)
        and all(isinstance(score, numbers.Real) for score in scores.values())
        and isinstance(row.get("metrics", []), list)
        and len(_FOLD_FIELDS & row.keys()) in {0, len(_FOLD_FIELDS)}
    )


def _write_whole(descriptor: int, line: bytes, end: int) -> None:
    """Write a line completely or not at all, even if the disk is full."""
    try:
        written = os.write(descriptor, line)
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, end)
        raise
    if written != len(line):
        os.ftruncate(descriptor, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    flock(descriptor, LOCK_EX)
    try:
        yield
    finally:
        flock(descriptor, LOCK_UN)
