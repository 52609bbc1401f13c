"""Work shared by several processes: a unit is claimed before it is run, so that only one process runs it.

A claim is a lock of the operating system on a small file next to the store. The system releases it when its
owner ends for any reason, so the unit of a killed process is free at once. Where there are no such locks
(Windows, some network drives) nothing is claimed; work may then be repeated, but results are still right.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sys
import time
from typing import TYPE_CHECKING, Self

from twinwl.evaluation.store import ResultStore, Row, row_key

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


_SECONDS_BETWEEN_LOOKS = 0.5


class SharedWork:
    """Units that this process and others with the same store run, each unit once.

    Parameters
    ----------
    keys
        The units to run, as keys from `row_key`.
    store
        The store of results.
    claims
        The claims of this process.
    suffices
        Function that returns whether a stored result has everything that is needed.
    end
        Value of ``time.monotonic()`` after which nothing is started or waited for.
    """

    def __init__(
        self,
        keys: Sequence[str],
        store: ResultStore,
        claims: Claims,
        suffices: Callable[[Row], bool],
        end: float,
    ) -> None:
        self._keys, self._store, self._claims, self._suffices, self._end = keys, store, claims, suffices, end
        self._row_of_key = {row_key(row): row for row in store.rows()}
        self._read_up_to = 0

    @property
    def missing(self) -> list[str]:
        """The units that no process has finished yet, as far as is known."""
        return [key for key in self._keys if not self._is_done(key)]

    @property
    def rows(self) -> list[Row]:
        """The available results, in the order of the keys."""
        return [self._row_of_key[key] for key in self._keys if key in self._row_of_key]

    def rounds(self) -> Iterator[Iterator[str]]:
        """Yield streams of keys to run, until all results are available or the time is up.

        Each key is claimed when it is taken from its stream. Units claimed by other processes are waited for;
        if such a process ends without a result, the unit is part of the next stream.
        """
        while self.missing and time.monotonic() < self._end:
            ours = self._claimed()
            first = next(ours, None)
            if first is not None:
                yield itertools.chain([first], ours)
            self._catch_up()
            if first is None and self.missing:
                time.sleep(_SECONDS_BETWEEN_LOOKS)

    def finish(self, row: Row) -> None:
        """Store the result of a unit, then release its claim."""
        key = row_key(row)
        self._row_of_key[key] = self._store.append(row)
        self._claims.release(key)

    def _claimed(self) -> Iterator[str]:
        for key in self.missing:
            if time.monotonic() >= self._end:
                return
            if self._claims.take(key):
                self._catch_up()  # its last owner may have finished it since we looked
                if self._is_done(key):
                    self._claims.release(key)
                else:
                    yield key

    def _is_done(self, key: str) -> bool:
        return key in self._row_of_key and self._suffices(self._row_of_key[key])

    def _catch_up(self) -> None:
        fresh, self._read_up_to = self._store.rows_after(self._read_up_to)
        self._row_of_key |= {row_key(row): row for row in fresh}


class Claims:
    """The units that this process has claimed; they are released when the block ends.

    Parameters
    ----------
    store
        The file of results; the claims are in a folder next to it, which is removed after the run.

    >>> import tempfile
    >>> from pathlib import Path
    >>> store = Path(tempfile.mkdtemp(), "results.jsonl")
    >>> with Claims(store) as mine, Claims(store) as theirs:
    ...     mine.take("fold 3"), theirs.take("fold 3"), theirs.take("fold 4")
    (True, False, True)
    """

    def __init__(self, store: Path) -> None:
        self.folder = store.with_name(store.name + ".claims")
        self._descriptor_of_key: dict[str, int | None] = {}

    def take(self, key: str) -> bool:
        """Claim a unit; return False if another owner has it."""
        if key in self._descriptor_of_key:
            return False
        try:
            descriptor = self._locked_file(key)
        except BlockingIOError:
            return False
        except OSError:
            descriptor = None  # no locks here: everybody runs everything
        self._descriptor_of_key[key] = descriptor
        return True

    def release(self, key: str) -> None:
        """Release a claim."""
        descriptor = self._descriptor_of_key.pop(key)
        if descriptor is not None:
            # Removed while it is locked: a process that already has it open notices that it is gone.
            with contextlib.suppress(OSError):
                self._path(key).unlink()
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for key in list(self._descriptor_of_key):
            self.release(key)
        with contextlib.suppress(OSError):  # not ours alone: others may have claims in it
            self.folder.rmdir()

    def _path(self, key: str) -> Path:
        return self.folder / hashlib.sha256(key.encode()).hexdigest()

    def _locked_file(self, key: str) -> int | None:
        if sys.platform == "win32":
            return None
        path = self._path(key)
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):  # the folder was removed just now
                descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(descriptor), path.stat()):
                        return descriptor
                except BaseException:
                    os.close(descriptor)
                    raise
                os.close(descriptor)  # its former owner removed it before we had the lock: not a claim
