"""Files inside a zip or a folder, read into memory and never unpacked onto the disk."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ArchiveMembers"]

_MAX_BYTES = 4 * 2**30  # of one file
_MAX_RATIO, _RATIO_FROM = 1000, 256 * 2**20  # text never packs this well: a bomb does
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # encrypted
    NotImplementedError,  # packed by a method Python lacks
    UnicodeDecodeError,
)


class ArchiveMembers:
    """The files of a zip or of a folder and its subfolders, by their names inside it.

    Parameters
    ----------
    path
        A zip file or a folder.

    Raises
    ------
    TwinWLError
        If there is no such path, or it is not a readable zip.

    >>> import io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.txt").write_text("1")
    ...     with ArchiveMembers(Path(folder)) as members:
    ...         members.names, members.read("a.txt")
    (['a.txt'], b'1')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        if path.is_dir():
            found = [*path.glob("*"), *path.glob("*/*")]
            self.names = sorted(file.relative_to(path).as_posix() for file in found if file.is_file())
            return
        if not path.exists():
            raise TwinWLError(f"{path} does not exist; give the path of a zip or of a folder")
        try:
            self._zip = zipfile.ZipFile(path)
            self.names = sorted(info.filename for info in self._zip.infolist() if not info.is_dir())
        except _BROKEN as error:
            raise TwinWLError(f"{path} is not a readable zip ({error}); get it anew") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of one file."""
        try:
            if self._zip is None:
                return (self.path / PurePosixPath(name)).read_bytes()
            self._check_size(self._zip.getinfo(name))
            with closing(self._zip.open(name)) as member:
                return member.read()
        except _BROKEN as error:
            raise TwinWLError(f"{self.path}: cannot read {name} ({error}); get the file anew") from error

    def _check_size(self, info: zipfile.ZipInfo) -> None:
        bomb = info.file_size > _RATIO_FROM and info.file_size > _MAX_RATIO * max(info.compress_size, 1)
        if bomb or info.file_size > _MAX_BYTES:
            raise TwinWLError(
                f"{self.path}: {info.filename} unpacks from {info.compress_size:,} to {info.file_size:,} "
                "bytes, which looks like an attack; if it is genuine, unpack it and give the folder"
            )
