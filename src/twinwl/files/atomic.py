"""Atomic writes: a file is written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from twinwl.errors import TwinWLError


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` only if the block ends without error.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and renamed; after any
    error ``path`` is unchanged and the temporary file is removed.

    Parameters
    ----------
    path
        The file to write; its folder must exist. Anything that is not a file, such as ``/dev/stdout``, is
        written to directly.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with atomic_write(Path(folder, "note.txt")) as stream:
    ...     _ = stream.write(b"whole")
    >>> Path(folder, "note.txt").read_bytes()
    b'whole'
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:  # a device or a pipe: renaming would replace it by a file
            yield stream
        return
    # A part of the name: the whole may already be as long as a name can be. The name is known before the file exists,  # noqa: E501
    # so that a signal that arrives while it is created leaves nothing behind.
    temporary = target.parent / f".{target.name[:20]}.{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as stream:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o777)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as `atomic_write` does; errors are a `TwinWLError` that names the file."""
    with errors_of_writing(path), atomic_write(path) as stream:
        yield stream


@contextlib.contextmanager
def errors_of_writing(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a `TwinWLError` that names the file."""
    try:
        yield
    except OSError as error:
        raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
