"""Files inside a zip or a folder, read into memory and never unpacked to disk."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from twinwl.datasets.formats.text_files import bounded, check_ratio, open_file
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from types import TracebackType

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    IndexError,  # a member without a name
    ValueError,  # a member that starts before the file, or a date that does not exist
    RuntimeError,  # encrypted
    NotImplementedError,  # packed by a method Python lacks
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
        If the path does not exist, is not a readable zip, would unpack to far more than real data does, or
        has member names outside its folder.

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
        with open_file(path) as stream:  # refuses what is not a file or not readable
            packed = stream.seek(0, 2)
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise TwinWLError(f"{path} is not a readable zip ({error}); get it again") from error
        members = [member for member in self._zip.infolist() if not member.filename.endswith("/")]
        self.names = sorted(member.filename for member in members)
        try:
            # Entries may overlap, so what they say they take up counts for nothing beside the file's size.
            check_ratio(packed, sum(member.file_size for member in members), str(path))
            self._check_names()
        except TwinWLError:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of one file, which must be small enough to be parsed as a whole."""
        if self._zip is None:
            with open_file(self.path / PurePosixPath(name)) as stream:
                return bounded(stream, f"{self.path}: {name}")
        try:
            with self._zip.open(name) as member:
                return bounded(member, f"{self.path}: {name}")
        except TwinWLError:
            raise
        except _BROKEN as error:
            raise TwinWLError(f"{self.path}: cannot read {name} ({error}); get the file again") from error

    def check_sums(self) -> None:
        """Compare the content of every file of a zip with its checksum."""
        try:
            damaged = None if self._zip is None else self._zip.testzip()
        except _BROKEN as error:
            raise TwinWLError(f"{self.path} is not a readable zip ({error}); get it again") from error
        if damaged is not None:
            raise TwinWLError(f"{self.path}: its member {damaged} is damaged; get it again")

    def _check_names(self) -> None:
        for name in self.names:
            place = PurePosixPath(name.replace("\\", "/"))
            if place.is_absolute() or ".." in place.parts:
                raise TwinWLError(
                    f"{self.path}: the member name {name!r} is outside its folder; pack it again"
                )
