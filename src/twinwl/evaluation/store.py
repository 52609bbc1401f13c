"""The result store: JSON lines, one per finished fold.

One process writes to a store at a time: it holds a lock of the operating system, which the system releases
when the process ends for any reason. Reading needs no lock. A process that is killed while writing leaves at
most one broken last line, which readers skip and after which the next writer starts a new line.
"""

from __future__ import annotations

import contextlib
import json
import numbers
import os
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import IO, TypedDict, cast

from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, warn_caller

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
_KEY_FIELDS = {
    "dataset": str, "digest": str, "method": str, "version": int, "config": dict, "splits": str, "seed": int,
    "fold": int,
}  # fmt: skip
_LINES_LISTED = 10
_PACKAGES = ("twinwl", "numpy", "scipy", "numba", "scikit-learn", "torch")


class Row(TypedDict, total=False):
    """One finished fold of one configuration; the first fields, up to ``fold``, identify it.

    A metric that is in ``metrics`` and not in ``scores`` is undefined on that fold. A missing ``task`` means
    classification, a missing ``scoring`` means that the hold-out was scored by accuracy, a
    missing ``positive`` that the last of two classes was the positive one. With several
    ``tasks``, the score of a metric is the mean over them, and ``metric@task`` that of one. ``inputs`` is
    what the method used besides the structure of the graphs (`twinwl.evaluation.evaluate.inputs_of`); results
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


def versions() -> dict[str, str]:
    """Return the versions of everything that may change a result."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


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
        self._stream: IO[bytes] | None = None

    def rows(self) -> list[Row]:
        """Return all results; if one was written twice, the newer one.

        Broken lines are reported with their numbers in one warning. A line of a newer format is an error,
        because this version might misread it.
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
        broken = []
        for number, line in enumerate(content.split(b"\n"), start=1):
            row = _parsed(line)
            if row is not None and row["format"] > FORMAT:
                raise TwinWLError(
                    f"{self.path}, line {number}: written in format {row['format']}, this version knows "
                    f"{FORMAT}; use the newer twinwl or another store"
                )
            if row is not None:
                found[row_key(row)] = row
            elif line.strip():
                broken.append(number)
        if broken:
            listed = ", ".join(map(str, broken[:_LINES_LISTED])) + ", …" * (len(broken) > _LINES_LISTED)
            warn_caller(f"{self.path}: skipped broken lines {listed} ({len(broken)} in all)")
        return list(found.values())

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from writing while the block runs.

        Raises
        ------
        TwinWLError
            If another process is writing to the store, or the file cannot be written.
        """
        with self._writing():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            stream = self.path.open("ab+")
        with stream:
            try:
                if fcntl is not None:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TwinWLError(
                    f"the store {self.path} is in use: another process is writing to it; wait until it has "
                    "ended, or choose another store"
                ) from error
            self._stream = stream
            try:
                yield
            finally:
                self._stream = None

    def append(self, row: Row) -> Row:
        """Append one result as a whole line, flush it to the disk, and return it as `rows` will."""
        if self._stream is None:
            with self.held():
                return self.append(row)
        stored: Row = {**row, "format": FORMAT}
        line = json.dumps(stored, sort_keys=True, allow_nan=False).encode() + b"\n"
        with self._writing():
            if self._stream.seek(0, os.SEEK_END):
                self._stream.seek(-1, os.SEEK_END)
                # A killed writer may have left half a line: start a new one behind it.
                line = line if self._stream.read(1) == b"\n" else b"\n" + line
            self._stream.write(line)
            self._stream.flush()
            os.fsync(self._stream.fileno())
        return stored

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TwinWLError(
                f"cannot write to the store {self.path} ({error.strerror or error}); what it held is intact. "
                "Free some space or choose another --store, and run again: finished folds are not repeated"
            ) from error


def _parsed(line: bytes) -> Row | None:
    """Return a line if it has all fields that identify and summarise it, or is of a newer format."""
    try:
        row = json.loads(line)
        complete = row["format"] > FORMAT or (
            all(isinstance(row[name], kind) for name, kind in _KEY_FIELDS.items())
            and all(isinstance(score, numbers.Real) for score in row["scores"].values())
        )
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return None
    return cast("Row", row) if complete else None
