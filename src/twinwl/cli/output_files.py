"""Files that a command writes: refused early where they cannot be, and never left half-written."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

__all__ = ["check_output", "errors_of_writing", "written"]


def check_output(path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """Refuse a file that could not be written in the end, before any work is done.

    >>> check_output(Path("model.twinwl"))

    Raises
    ------
    TwinWLError
        If the folder does not exist or is closed to us, or the ending is none of those given.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise TwinWLError(f"cannot write {str(path)!r}: its name must end in {' or '.join(endings)}")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: its folder does not exist; create it first")
    if path.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: that is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise TwinWLError(f"cannot write {str(path)!r}: its folder is not open for writing")


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears as a whole once the block ends, or not at all.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "out.csv")
    >>> with written(target) as stream:
    ...     _ = stream.write(b"index")
    >>> target.read_bytes()
    b'index'
    """
    with errors_of_writing(path), atomic_write(path) as stream:
        yield stream


@contextmanager
def errors_of_writing(path: Path) -> Iterator[None]:
    """Turn what the operating system says into an error of the project, naming the file."""
    try:
        yield
    except OSError as error:
        raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
